/**
 * Where a conversion's output goes: names by the field's habits, and places that need an explicit `-o`.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { AssayError, shellWord } from '@assay/core';
import { outputName } from '@assay/convert';
import { UsageError } from '../usage-error.ts';

/** An input and where its output goes, as the user would write both. */
export interface Target {
  readonly input: string;
  readonly output: string;
  /** Why nothing may be written there unless the user says so with `-o`; whether there is anything to write comes first. */
  readonly needsOutput?: string;
}

/**
 * Pairs inputs with outputs: `-o` is a file for one input, else a folder; without it an output lies beside its input.
 * @throws {AssayError} `CONVERT_OUTPUT_COLLISION`, `SINK_NO_FOLDER`, `SINK_NOT_A_FILE`
 * @throws {TypeError} for an output of no name, or of the name that elsewhere means standard output
 */
export async function chooseTargets(inputs: readonly string[], output: string | undefined): Promise<readonly Target[]> {
  if (output === '' || output === '-') throw new UsageError('an output is a file or a folder: give its path with -o');
  const asFolder = output !== undefined && (inputs.length > 1 || output.endsWith(sep) || (await isFolder(output)));
  if (asFolder && !(await isFolder(output))) throw await notAFolder(output);
  const targets: Target[] = [];
  for (const input of inputs) {
    if (output !== undefined) {
      targets.push({ input, output: asFolder ? join(output, outputName(basename(input))) : output });
    } else {
      targets.push(await besideInput(input));
    }
  }
  refuseCollisions(targets);
  return targets;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function notAFolder(output: string): Promise<AssayError> {
  const isThere = await stat(output).then(() => true, () => false);
  return new AssayError(isThere ? 'SINK_NOT_A_FILE' : 'SINK_NO_FOLDER', {
    message: `${output}: ${isThere ? 'is no folder' : 'there is no such folder'}`,
    hint: isThere ? 'Several inputs need a folder: choose another.' : `Make it first: mkdir -p ${shellWord(output)}`,
    context: { path: output },
  });
}

async function besideInput(input: string): Promise<Target> {
  const name = basename(input);
  const resolved = await realpath(input).catch(() => resolve(input));
  if (isInCache(resolve(input)) || isInCache(resolved)) {
    return { input, output: suggestedOutput(input), needsOutput: 'is inside a download cache, which is not ours to write to' };
  }
  if (extname(name).toLowerCase() === '.safetensors') {
    return { input, output: suggestedOutput(input), needsOutput: 'is a checkpoint under a .safetensors name, so the output needs another name' };
  }
  const folder = dirname(input);
  const converted = outputName(name);
  return { input, output: folder === '.' && !input.startsWith('.') ? converted : join(folder, converted) };
}

function suggestedOutput(input: string): string {
  const name = basename(input);
  return extname(name).toLowerCase() === '.safetensors' ? name.replace(/\.safetensors$/i, '-fixed.safetensors') : outputName(name);
}

/** The error of an input whose output needs a name. */
export function needsOutput({ input, output, needsOutput: why = '' }: Target): AssayError {
  return new AssayError('CONVERT_NEEDS_OUTPUT', {
    message: `${input}: ${why}`,
    hint: `Say where: assay convert ${shellWord(input)} -o ${shellWord(output)}`,
    context: { path: input },
  });
}

/** Hub caches are `models--org--name/{blobs,snapshots}`; ModelScope's are `owner--name/snapshots` and `hub/models/owner/name`. */
function isInCache(path: string): boolean {
  return /[\\/](?:models|datasets|spaces)--[^\\/]+[\\/](?:blobs|snapshots)[\\/]|[\\/]modelscope[\\/](?:hub[\\/])?models[\\/]/.test(path);
}

function refuseCollisions(targets: readonly Target[]): void {
  const seen = new Map<string, string>();
  for (const { input, output, needsOutput: refused } of targets) {
    if (refused !== undefined) continue;
    const place = resolve(output);
    const first = seen.get(place);
    if (first !== undefined) {
      throw new AssayError('CONVERT_OUTPUT_COLLISION', {
        message: `${input}: would be written to ${output}, as would ${first}`,
        hint: 'Convert them one at a time, each with its own -o.',
        context: { path: output, inputs: [first, input] },
      });
    }
    seen.set(place, input);
  }
}

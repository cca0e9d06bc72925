/**
 * Where a conversion's output goes: names by the field's habits, and places that need an explicit `-o`.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { AssayError } from '@assay/core';
import { outputName } from '@assay/convert';

/** An input and where its output goes, as the user would write both. */
export interface Target {
  readonly input: string;
  readonly output: string;
}

/**
 * Pairs inputs with outputs: `-o` is a file for one input, else a folder; without it an output lies beside its input.
 * @throws {AssayError} `CONVERT_OUTPUT_COLLISION`, `CONVERT_NEEDS_OUTPUT`, `SINK_NOT_A_FILE`
 */
export async function chooseTargets(inputs: readonly string[], output: string | undefined): Promise<readonly Target[]> {
  const asFolder = output !== undefined && (inputs.length > 1 || output.endsWith(sep) || (await isFolder(output)));
  if (asFolder && !(await isFolder(output))) throw notAFolder(output);
  const targets: Target[] = [];
  for (const input of inputs) {
    if (output !== undefined) {
      targets.push({ input, output: asFolder ? join(output, outputName(basename(input))) : output });
    } else {
      targets.push({ input, output: await besideInput(input) });
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

function notAFolder(output: string): AssayError {
  return new AssayError('SINK_NOT_A_FILE', {
    message: `${output}: is not a folder, and several inputs need one`,
    hint: `Make it first: mkdir -p ${output}`,
    context: { path: output },
  });
}

async function besideInput(input: string): Promise<string> {
  const name = basename(input);
  const resolved = await realpath(input).catch(() => resolve(input));
  if (isInCache(resolve(input)) || isInCache(resolved)) {
    throw needsOutput(input, 'is inside a download cache, which is not ours to write to');
  }
  if (extname(name).toLowerCase() === '.safetensors') {
    throw needsOutput(input, 'has a .safetensors name already, so the output needs another');
  }
  const folder = dirname(input);
  const converted = outputName(name);
  return folder === '.' && !input.startsWith('.') ? converted : join(folder, converted);
}

function needsOutput(input: string, why: string): AssayError {
  const suggestion = basename(input).replace(/(\.safetensors)?$/i, '-fixed.safetensors');
  return new AssayError('CONVERT_NEEDS_OUTPUT', {
    message: `${input}: ${why}`,
    hint: `Say where: assay convert ${input} -o ${suggestion}`,
    context: { path: input },
  });
}

/** Hub caches are `models--org--name/{blobs,snapshots}`; ModelScope's are `owner--name/snapshots` and `hub/models/owner/name`. */
function isInCache(path: string): boolean {
  return /[\\/](?:models|datasets|spaces)--[^\\/]+[\\/](?:blobs|snapshots)[\\/]|[\\/]modelscope[\\/](?:hub[\\/])?models[\\/]/.test(path);
}

function refuseCollisions(targets: readonly Target[]): void {
  const seen = new Map<string, string>();
  for (const { input, output } of targets) {
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

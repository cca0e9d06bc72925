/**
 * assay inspect PATH...
 */
import type { Command } from 'commander';
import { isAssayError, isOk } from '@assay/core';
import type { Console } from '../console.ts';
import { exitCodeOf, exitCodeOfError } from '../exit-code.ts';
import { worstExitCode } from '../exit-code.ts';
import type { InspectReport } from '../jobs/inspect.ts';
import { interruptible } from '../signal.ts';
import type { Define } from './define.ts';

interface Options {
  readonly select?: string;
  readonly all?: boolean;
}

/** Defines the command. */
export function defineInspect(command: Command, define: Define): void {
  command
    .name('inspect')
    .description('Say what files really are: format, tensors, dtypes, shapes, bytes, metadata. Reads headers only.')
    .argument('<path...>', 'files')
    .option('--select <path>', 'which value of a checkpoint holds the weights, as a dotted path')
    .option('--all', 'list every tensor')
    .addHelpText('after', '\nExamples:\n  $ assay inspect model.safetensors\n  $ assay inspect checkpoint.ckpt --select ema --json');
  define<Options>(command, run);
}

async function run(paths: string[], { select, all = false }: Options, console: Console): Promise<number> {
  const [{ inspect }, { renderInspection }, { renderError }] = await Promise.all([
    import('../jobs/inspect.ts'),
    import('../render/inspection.ts'),
    import('../render/error.ts'),
  ]);
  const files: InspectReport[] = [];
  const exitCodes: number[] = [];
  await interruptible(async (signal) => {
    for (const path of paths) {
      try {
        const report = await inspect(path, { signal, ...(select === undefined ? {} : { select }) });
        files.push(report);
        exitCodes.push(exitCodeOf(report));
        for (const line of renderInspection(report, console, { all })) console.line(line);
        if (report.error !== undefined) for (const line of renderError(report.error)) console.complain(line);
      } catch (error) {
        if (!isAssayError(error) || paths.length === 1) throw error;
        exitCodes.push(exitCodeOfError(error));
        for (const line of renderError(error)) console.complain(line);
      }
    }
  });
  const findings = files.flatMap((file) => [...file.findings]);
  console.document({
    schema: 'assay.inspect/1',
    ok: isOk(findings) && files.length === paths.length,
    complete: files.length === paths.length,
    findings,
    files: files.map(({ error, ...file }) => ({ ...file, ...(error === undefined ? {} : { error: describeError(error) }) })),
  });
  return worstExitCode(exitCodes);
}

function describeError({ code, message, hint, context }: NonNullable<InspectReport['error']>): object {
  return { code, message, hint, context };
}

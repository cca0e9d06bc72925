/**
 * assay inspect PATH...
 */
import type { Command } from 'commander';
import { isAssayError, isOk, type AssayError, type Report } from '@assay/core';
import type { Console } from '../console.ts';
import { exitCodeOf, exitCodeOfError, exitCodes, worstExitCode } from '../exit-code.ts';
import type { InspectReport } from '../jobs/inspect.ts';
import { interruptible } from '../signal.ts';
import type { Define } from './define.ts';

interface Options {
  readonly select?: string;
  readonly all?: boolean;
}

/** A file that could not even be opened. */
interface Unopened extends Report {
  readonly path: string;
  readonly error: AssayError;
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
  const [{ inspect }, { errorFindings }, { renderInspection }, { renderError }, { describeError }] = await Promise.all([
    import('../jobs/inspect.ts'),
    import('../jobs/error-findings.ts'),
    import('../render/inspection.ts'),
    import('../render/error.ts'),
    import('../render/error-document.ts'),
  ]);
  const files: (InspectReport | Unopened)[] = [];
  const outcomes: number[] = [];
  await interruptible(async (signal) => {
    for (const path of paths) {
      try {
        const report = await inspect(path, { signal, ...(select === undefined ? {} : { select }) });
        files.push(report);
        outcomes.push(exitCodeOf(report));
        for (const line of renderInspection(report, console, { all })) console.line(line);
        if (report.error !== undefined) for (const line of renderError(report.error)) console.complain(line);
      } catch (error) {
        if (!isAssayError(error)) throw error;
        files.push({ path, ok: false, complete: exitCodeOfError(error) === exitCodes.wrongInput, findings: errorFindings(error, path), error });
        outcomes.push(exitCodeOfError(error));
        for (const line of renderError(error)) console.complain(line);
      }
    }
  });
  const findings = files.flatMap((file) => [...file.findings]);
  console.document({
    schema: 'assay.inspect/1',
    ok: isOk(findings),
    complete: files.every(({ complete }) => complete),
    findings,
    files: files.map(({ error, ...file }) => ({ ...file, ...(error === undefined ? {} : { error: describeError(error) }) })),
  });
  return worstExitCode(outcomes);
}

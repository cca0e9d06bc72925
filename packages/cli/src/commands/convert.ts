/**
 * assay convert INPUT... [-o OUT]
 */
import { type Command, Option } from 'commander';
import { isAssayError, isOk, type AssayError, type CopyRunner, type DigestAlgorithm } from '@assay/core';
import type { Console } from '../console.ts';
import { exitCodeOf, exitCodeOfError, worstExitCode } from '../exit-code.ts';
import type { ConvertOptions, FileConversion } from '../jobs/convert.ts';
import type { Target } from '../jobs/output-path.ts';
import { interruptible } from '../signal.ts';
import type { Define } from './define.ts';
import { threadCount } from './thread-count.ts';

interface Options {
  readonly output?: string;
  readonly dryRun?: boolean;
  readonly select?: string;
  readonly onAlias: NonNullable<ConvertOptions['onAlias']>;
  readonly force?: boolean;
  readonly digest: boolean;
  readonly reader: NonNullable<ConvertOptions['reader']>;
  readonly threads?: number;
}

/** Defines the command. */
export function defineConvert(command: Command, define: Define): void {
  command
    .name('convert')
    .description('Turn PyTorch checkpoints into safetensors, without Python and without running pickle.')
    .argument('<input...>', 'checkpoints: .bin .pt .pth .ckpt')
    .option('-o, --output <path>', 'a file for one input, else a folder; default: beside the input')
    .option('--dry-run', 'show the plan; write nothing')
    .option('--select <path>', 'which value of the checkpoint holds the weights, as a dotted path')
    .addOption(
      new Option('--on-alias <policy>', 'names that share one tensor: store it once and record the others, copy, or fail')
        .choices(['record', 'copy', 'fail'])
        .default('record'),
    )
    .option('--force', 'replace an output that exists (never an input)')
    .option('--no-digest', 'compute no SHA-256 of the output')
    .addOption(new Option('--reader <kind>', 'how the input is read').choices(['auto', 'mmap', 'pread']).default('auto'))
    .option('--threads <count>', 'worker threads; default: one a core', threadCount)
    .addHelpText(
      'after',
      '\nExamples:\n  $ assay convert pytorch_model.bin\n  $ assay convert last.ckpt -o weights.safetensors --select ema\n' +
        '  $ assay convert model.bin --dry-run --json | jq .plan',
    );
  define<Options>(command, run);
}

async function run(inputs: string[], options: Options, console: Console): Promise<number> {
  // Threads come up while the rest is loaded.
  await using runner = options.dryRun === true ? undefined : await startThreads(options);
  const [{ createConverter, planOutputs }, { renderConversion }, { renderError }, { conversionDocument }] = await Promise.all([
    import('../jobs/convert.ts'),
    import('../render/conversion.ts'),
    import('../render/error.ts'),
    import('../render/conversion-document.ts'),
  ]);
  const outcomes: { readonly target: Target; readonly conversion?: FileConversion; readonly error?: AssayError }[] = [];
  await interruptible(async (signal) => {
    const onProgress = await console.onProgress();
    const targets = await planOutputs(inputs, options.output);
    await using converter = createConverter({
      ...jobOptions(options),
      signal,
      ...(runner === undefined ? {} : { runner }),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    for (const target of targets) {
      try {
        const conversion = await converter.convert(target);
        console.progressDone();
        outcomes.push({ target, conversion });
        console.event({ event: 'file', input: target.input, output: target.output, ok: true });
        for (const line of renderConversion(conversion, console)) console.line(line);
      } catch (error) {
        console.progressDone();
        if (!isAssayError(error)) throw error;
        outcomes.push({ target, error });
        console.event({ event: 'file', input: target.input, output: target.output, ok: false, code: error.code });
        for (const line of renderError(error)) console.complain(line);
      }
    }
  });
  console.document(conversionDocument(outcomes));
  return worstExitCode(
    outcomes.map(({ conversion, error }) => {
      if (error !== undefined) return exitCodeOfError(error);
      const findings = [...(conversion?.report ?? conversion?.plan)?.findings ?? [], ...(conversion?.plan.leftOut ?? [])];
      return exitCodeOf({ ok: isOk(findings), complete: true, findings });
    }),
  );
}

async function startThreads({ threads, reader }: Options): Promise<CopyRunner & AsyncDisposable> {
  const { createCopyRunner } = await import('@assay/node');
  return createCopyRunner({ reader, ...(threads === undefined ? {} : { threads }) });
}

function jobOptions({ dryRun, select, onAlias, force, digest, reader, threads }: Options): ConvertOptions {
  return {
    onAlias,
    reader,
    digests: digest ? (['sha256'] satisfies DigestAlgorithm[]) : [],
    ...(dryRun === undefined ? {} : { dryRun }),
    ...(select === undefined ? {} : { select }),
    ...(force === undefined ? {} : { force }),
    ...(threads === undefined ? {} : { threads }),
  };
}

/**
 * assay sums PATH...
 */
import { type Command, Option } from 'commander';
import type { DigestAlgorithm } from '@assay/core';
import type { Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { interruptible } from '../signal.ts';
import type { Define } from './define.ts';
import { startTasks } from './start-tasks.ts';
import { threadCount } from './thread-count.ts';

interface Options {
  readonly algorithm: DigestAlgorithm;
  readonly tag?: boolean;
  readonly threads?: number;
}

/** Defines the command. */
export function defineSums(command: Command, define: Define): void {
  command
    .name('sums')
    .description('Print digests of files, in the format that sha256sum -c and assay verify -c read.')
    .argument('<path...>', 'files, folders (every file below), or - for standard input')
    .addOption(
      new Option('--algorithm <name>', 'which digest').choices(['sha256', 'md5', 'sha1', 'git-blob-sha1', 'crc32']).default('sha256'),
    )
    .option('--tag', 'BSD style lines, which name the algorithm; always for crc32 and git-blob-sha1')
    .option('--threads <count>', 'worker threads; default: one a core', threadCount)
    .addHelpText('after', '\nExamples:\n  $ assay sums *.safetensors > SHA256SUMS\n  $ assay sums model/ --algorithm md5 --tag');
  define<Options>(command, run);
}

async function run(paths: string[], { algorithm, tag = false, threads }: Options, console: Console): Promise<number> {
  await using tasks = await startTasks(threads);
  const [{ sums }, { formatChecksumLine }, { renderComplaint }] = await Promise.all([
    import('../jobs/sums.ts'),
    import('@assay/verify'),
    import('../render/error.ts'),
  ]);
  const report = await interruptible(async (signal) => {
    const onProgress = await console.onProgress();
    return sums(paths, {
      algorithm,
      signal,
      tasks,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  });
  console.progressDone();
  // The digests are the result: --quiet keeps them.
  // Bare digests of these lengths are read as nothing, or as another algorithm's.
  const tagged = tag || algorithm === 'crc32' || algorithm === 'git-blob-sha1';
  for (const { path, digest } of report.files) console.result(formatChecksumLine({ name: path, digest, algorithm }, { tag: tagged }));
  for (const line of report.findings.flatMap(renderComplaint)) console.complain(line);
  console.document({ schema: 'assay.sums/1', ...report });
  return exitCodeOf(report);
}

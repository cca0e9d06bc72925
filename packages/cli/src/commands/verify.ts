/**
 * assay verify [PATH...]
 */
import { type Command, Option } from 'commander';
import type { Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import type { VerifyOptions } from '../jobs/verify.ts';
import { interruptible } from '../signal.ts';
import type { Define } from './define.ts';
import { startTasks } from './start-tasks.ts';
import { threadCount } from './thread-count.ts';

interface Options {
  readonly sha256?: string;
  readonly md5?: string;
  readonly against?: string;
  readonly check?: string;
  readonly structure?: boolean;
  readonly ignoreMissing?: boolean;
  readonly strict?: boolean;
  readonly failOn: 'error' | 'warning';
  readonly threads?: number;
}

/** Defines the command. */
export function defineVerify(command: Command, define: Define): void {
  command
    .name('verify')
    .description('Compare files with what they should be, and say what they are where they are not.')
    .argument('[path...]', 'files, or - for standard input')
    .option('--sha256 <hex>', 'the SHA-256 that the one file must have')
    .option('--md5 <hex>', 'the MD5 that the one file must have')
    .option('--against <file>', 'a checksum file that lists the paths, or another copy of the file')
    .option('-c, --check <file>', 'a checksum file, GNU or BSD, or - for standard input: verify what it lists')
    .option('--structure', 'prove that the file is whole by its own structure; enough where nothing else is known')
    .option('--ignore-missing', 'with -c: a listed file that is missing is no error')
    .option('--strict', 'with -c: a malformed line is an error')
    .addOption(new Option('--fail-on <severity>', 'what makes the run fail').choices(['error', 'warning']).default('error'))
    .option('--threads <count>', 'worker threads; default: one a core', threadCount)
    .addHelpText(
      'after',
      '\nExamples:\n  $ assay verify model.safetensors --sha256 9f3a07c2...\n  $ assay verify -c SHA256SUMS\n' +
        '  $ assay verify model.safetensors --structure\n  $ curl -s https://example.org/model.bin | assay verify - --sha256 9f3a07c2...',
    );
  define<Options>(command, run);
}

async function run(paths: string[], options: Options, console: Console): Promise<number> {
  // Threads for the files of a list come up while the rest is loaded; for one file this thread is enough.
  await using tasks = await startTasks(options.check !== undefined && paths.length === 0 ? options.threads : 1);
  const [{ verify }, { renderVerification }] = await Promise.all([import('../jobs/verify.ts'), import('../render/verification.ts')]);
  const report = await interruptible(async (signal) => {
    const onProgress = await console.onProgress();
    return verify(paths, {
      ...jobOptions(options),
      signal,
      tasks,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  });
  console.progressDone();
  // A file that is not ok is what --quiet is to show.
  for (const line of await renderVerification(report, console)) console.result(line);
  console.document({ schema: 'assay.verify/1', ...report });
  return exitCodeOf(report, options.failOn);
}

function jobOptions({ sha256, md5, against, check, structure, ignoreMissing, strict, threads }: Options): VerifyOptions {
  return {
    digests: { ...(sha256 === undefined ? {} : { sha256 }), ...(md5 === undefined ? {} : { md5 }) },
    ...(against === undefined ? {} : { against }),
    ...(check === undefined ? {} : { checksumFile: check }),
    ...(structure === undefined ? {} : { structure }),
    ...(ignoreMissing === undefined ? {} : { ignoreMissing }),
    ...(strict === undefined ? {} : { strict }),
    ...(threads === undefined ? {} : { threads }),
  };
}

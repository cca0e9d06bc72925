/**
 * The command line: parse, call one command, turn what comes back into an exit code.
 */
import { Command, CommanderError, Option } from 'commander';
import { Console, type OutputOptions } from './console.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { errorDocument } from './render/error-document.ts';
import { renderError } from './render/error.ts';
import { abortRunning, Interrupted, OutputGone } from './signal.ts';
import { UsageError } from './usage-error.ts';
import { version } from './version.ts';
import type { Define } from './commands/define.ts';
import { defineConvert } from './commands/convert.ts';
import { defineInspect } from './commands/inspect.ts';
import { defineSums } from './commands/sums.ts';
import { defineVerify } from './commands/verify.ts';

/** Runs the command line. Never throws: every outcome is an exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  let gone: OutputGone | undefined;
  onOutputGone((first) => {
    gone = first;
    abortRunning(first);
  });
  let exitCode: number = exitCodes.ok;
  const define: Define = (command, action) => {
    addCommonOptions(command).action(async (paths: string[], options: OutputOptions & object) => {
      const console = new Console(options);
      exitCode = await action(paths, options as never, console).catch((error: unknown) => explain(error, console));
    });
  };
  try {
    await createProgram(define).parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return gone !== undefined && error.exitCode === 0 ? exitCodeWithout(gone, exitCodes.ok) : error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return gone === undefined ? exitCode : exitCodeWithout(gone, exitCode);
}

function createProgram(define: Define): Command {
  const program = new Command('assay')
    .description('Says whether a model weight file is what it should be, and turns pickle checkpoints into safetensors.')
    .version(version, '-V, --version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError('(assay --help shows what there is)')
    .addHelpText('after', `\n${EXIT_CODES}`);
  for (const defineOne of [defineInspect, defineConvert, defineVerify, defineSums]) {
    defineOne(program.command('x').exitOverride().showHelpAfterError('(--help shows what there is)'), define);
  }
  return program;
}

const EXIT_CODES = `Exit codes:
  0    answered, and nothing is wrong
  1    the input is wrong or refused; trying again changes nothing
  2    not answered, for a reason outside the input (I/O, permission, disk)
  64   the command line is wrong
  130  interrupted

Examples:
  $ assay inspect pytorch_model.bin
  $ assay convert pytorch_model.bin
  $ assay verify model.safetensors --sha256 9f3a07c2...
  $ assay sums *.safetensors > SHA256SUMS`;

function addCommonOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('--json', 'print one JSON document').conflicts('ndjson'))
    .option('--ndjson', 'print one JSON event a line')
    .option('--quiet', 'print errors only')
    .option('--no-progress', 'show no progress bar')
    .addOption(new Option('--color <when>', 'colour the output').choices(['auto', 'always', 'never']).default('auto'));
}

function explain(error: unknown, console: Console): number {
  console.progressDone();
  // Said when it happened.
  if (error instanceof OutputGone) return exitCodes.ok;
  if (error instanceof Interrupted) {
    console.complain(`assay: ${error.message}; nothing was left behind`);
    return exitCodes.interrupted;
  }
  if (error instanceof UsageError) {
    console.complain(`assay: ${error.message}`);
    console.complain('       (--help shows what there is)');
    return exitCodes.usage;
  }
  if (console.mode !== 'text') console.document(errorDocument(error));
  for (const line of renderError(error)) console.complain(line);
  return exitCodeOfError(error);
}

/** `assay ... | head` ends quietly; a result that could not be written is no answer. */
function exitCodeWithout({ isClosedPipe }: OutputGone, exitCode: number): number {
  return isClosedPipe ? exitCode : exitCodes.notAnswered;
}

/** Without a listener, an error of a standard stream ends the process with a stack trace. */
function onOutputGone(tell: (gone: OutputGone) => void): void {
  let isTold = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isTold) return;
    isTold = true;
    const gone = new OutputGone(error);
    if (!gone.isClosedPipe) {
      process.stderr.write(`assay: ${gone.message}\n       Make room where the output goes, or send it elsewhere.\n`);
      // The event may come after the program has its exit code.
      process.exitCode = exitCodes.notAnswered;
    }
    tell(gone);
  });
  // There is nobody left to tell.
  process.stderr.on('error', () => undefined);
}

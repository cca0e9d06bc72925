/**
 * The command line: parse, call one command, turn what comes back into an exit code.
 */
import { Command, CommanderError, Option } from 'commander';
import { Console, type OutputOptions } from './console.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { errorDocument } from './render/error-document.ts';
import { renderError } from './render/error.ts';
import { Interrupted } from './signal.ts';
import { version } from './version.ts';
import type { Define } from './commands/define.ts';
import { defineConvert } from './commands/convert.ts';
import { defineInspect } from './commands/inspect.ts';
import { defineSums } from './commands/sums.ts';
import { defineVerify } from './commands/verify.ts';

/** Runs the command line. Never throws: every outcome is an exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  quietOnClosedPipe();
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
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return exitCode;
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
  if (error instanceof Interrupted) {
    console.complain(`assay: ${error.message}; nothing was left behind`);
    return exitCodes.interrupted;
  }
  if (error instanceof TypeError && !isInternal(error)) {
    console.complain(`assay: ${error.message}`);
    console.complain('       (--help shows what there is)');
    return exitCodes.usage;
  }
  if (console.mode !== 'text') console.document(errorDocument(error));
  for (const line of renderError(error)) console.complain(line);
  return exitCodeOfError(error);
}

/** A TypeError of the language, not one that names a caller's mistake. */
function isInternal(error: TypeError): boolean {
  return /undefined|null|not a function|not iterable/.test(error.message);
}

/** `assay ... | head` ends quietly. */
function quietOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.ok);
      throw error;
    });
  }
}

/**
 * The entry of the command line. Loads nothing that the asked-for command does not need: start-up is part of the work.
 */
import process from 'node:process';

const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  const { version } = await import('./version.ts');
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exitCode = code === 'EPIPE' ? 0 : 2;
  });
  process.stdout.write(`${version}\n`);
} else {
  const { runProgram } = await import('./program.ts');
  process.exitCode = await runProgram(args);
}

/**
 * Running the tools of the repository as a person would, whatever runs the tests.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** What a command left behind. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a command is run. */
export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. A non-zero exit is an outcome, not an error. */
export function runCommand(program: string, args: readonly string[], { cwd, env = {} }: CommandOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const windowsShim = process.platform === 'win32' && !program.endsWith('.exe');
    execFile(
      program,
      args,
      { cwd, env: { ...inheritedEnvironment(), ...env }, maxBuffer: 64 << 20, shell: windowsShim },
      (error, stdout, stderr) => {
        const code: unknown = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else reject(error ?? new Error(`${program} ended without an exit code`));
      },
    );
  });
}

/** Runs a program of an installed npm package with this Node. */
export function runTool(packageName: string, args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  return runCommand(process.execPath, [binOf(packageName), ...args], options);
}

/** The script that an npm package installs as its command. */
function binOf(packageName: string): string {
  const folder = createRequire(import.meta.url)
    .resolve.paths(packageName)
    ?.map((modules) => join(modules, packageName))
    .find((candidate) => existsSync(candidate));
  if (folder === undefined) throw new Error(`${packageName} is not installed`);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: string | Record<string, string> };
  const script = typeof bin === 'string' ? bin : Object.values(bin)[0];
  if (script === undefined) throw new Error(`${packageName} has no command`);
  return join(folder, script);
}

/** The npm that came with this Node, else the one on the PATH. */
export function runNpm(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const scripts = [
    process.env['npm_execpath'] ?? '',
    join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js'),
    join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js'),
  ];
  const script = scripts.find((path) => path.endsWith('npm-cli.js') && existsSync(path));
  return script === undefined ? runCommand('npm', args, options) : runCommand(process.execPath, [script, ...args], options);
}

/** Without what `npm test` sets for its own project: it would lead another npm back here. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const kept = /^npm_config_(cache|registry|cafile|offline|prefer_offline)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_') || kept.test(name.toLowerCase())),
  );
}

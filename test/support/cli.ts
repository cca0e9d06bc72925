/**
 * Runs the built command line as its users do: a process of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** Always from dist: what is published. */
export const cliPath: string = join(dirname(fileURLToPath(import.meta.resolve('assay/package.json'))), 'dist', 'main.js');

/** The Node under test: the one that runs the tests, or another version. */
export const nodePath: string = process.env['ASSAY_TEST_NODE'] ?? process.execPath;

export const fixtures: string = fileURLToPath(new URL('../fixtures/', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly stdin?: Uint8Array | string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(nodePath, [cliPath, ...args], {
      cwd: options.cwd,
      env: { ...process.env, NO_COLOR: '1', ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    // A program that does not read its input may close it first.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
    options.onStart?.(child);
  });
}

/** A folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The examples do what they say, run as a person runs them.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, type Outcome } from './commands.ts';
import { root } from './workspace.ts';

const fixture = (name: string): string => join(root, 'test/fixtures', name);
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const example = (name: string, args: readonly string[], cwd: string): Promise<Outcome> =>
  runCommand(process.execPath, [join(root, 'examples', name), ...args], { cwd });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-examples-'));
  return (): void => rmSync(folder, { recursive: true });
});

describe('the demo', () => {
  it('shows the whole way of a real checkpoint on one page, and leaves nothing behind', async () => {
    const before = readdirSync(join(root, 'examples/checkpoint'));
    const outcome = await runCommand(process.execPath, [join(root, 'examples/demo.mjs')], { env: { TMPDIR: folder, TEMP: folder } });
    expect(outcome, outcome.stderr).toMatchObject({ code: 0, stderr: '' });
    const lines = outcome.stdout.split('\n');
    expect(lines.length).toBeLessThan(66);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(join(root, 'examples/checkpoint'))).toEqual(before);
  });
});

describe('verify-download', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer((_, response) => response.end(readFileSync(fixture('plain.pt'))));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/plain.pt`;
  });
  afterAll(() => void server.close());

  it('publishes the right bytes under their name', async () => {
    const outcome = await example('verify-download.mjs', [url, sha256(fixture('plain.pt')), 'plain.pt'], folder);
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(sha256(join(folder, 'plain.pt'))).toBe(sha256(fixture('plain.pt')));
    expect(readdirSync(folder)).toEqual(['plain.pt']);
  });

  it('leaves nothing where the bytes are wrong', async () => {
    const outcome = await example('verify-download.mjs', [url, '0'.repeat(64), 'plain.pt'], folder);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain(sha256(fixture('plain.pt')));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('convert-in-a-pipeline', () => {
  it('writes the golden and says what it did', async () => {
    const outcome = await example('convert-in-a-pipeline.mjs', [fixture('plain.pt'), 'plain.safetensors'], folder);
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    const golden = sha256(fixture('golden/plain.safetensors'));
    expect(sha256(join(folder, 'plain.safetensors'))).toBe(golden);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ output: 'plain.safetensors', sha256: golden, aliases: [] });
  });

  it('refuses what would lose weights, and writes nothing', async () => {
    const outcome = await example('convert-in-a-pipeline.mjs', [fixture('sparse-beside-dense.pt'), 'out.safetensors'], folder);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('TORCH_TENSOR_SPARSE');
    expect(existsSync(join(folder, 'out.safetensors'))).toBe(false);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scratchFolder } from '../conformance/scratch.ts';

const SIZE = 4 << 20;

/** Writes versions of one file, each of one repeated byte, until it is killed; says when it has begun. */
const script = (path: string): string => `
  import { createFile } from '@assay/node';
  for (let version = 1; ; version = (version % 250) + 1) {
    const sink = await createFile(${JSON.stringify(path)}, { size: ${SIZE}, overwrite: true });
    if (version === 1) console.log('begun');
    for (let at = 0; at < ${SIZE}; at += 65536) await sink.writeAt(new Uint8Array(65536).fill(version), at);
    await sink.commit();
  }`;

test('a process killed at any moment leaves the old file or a whole new one, and the next removes what it left', async () => {
  const folder = await scratchFolder();
  const path = join(folder, 'out.bin');
  await writeFile(path, new Uint8Array(SIZE));
  const seen = new Set<number>();
  for (let round = 0; round < 12; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script(path)], { cwd: import.meta.dirname });
    await once(child.stdout, 'data');
    await setTimeout(round * 7);
    child.kill('SIGKILL');
    await once(child, 'close');
    const bytes = await readFile(path);
    expect(bytes.length).toBe(SIZE);
    expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
    seen.add(bytes[0] ?? -1);
    const left = (await readdir(folder)).filter((name) => name !== 'out.bin');
    expect(left.length).toBeLessThanOrEqual(1);
    expect(left.every((name) => name.endsWith('.assay-part'))).toBe(true);
  }
  expect(seen.size).toBeGreaterThan(1);
});

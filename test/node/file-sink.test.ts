import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, link, lstat, mkdir, readFile, readdir, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, openFile } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scratchFolder } from '../conformance/scratch.ts';
import { asNobody } from './as-nobody.ts';
import { failureOf } from './failure.ts';

async function write(path: string, text: string, options: Parameters<typeof createFile>[1] = {}): Promise<void> {
  const sink = await createFile(path, options);
  await sink.writeAt(Buffer.from(text), 0);
  await sink.commit();
}

const textOf = async (path: string): Promise<string> => readFile(path, 'utf8');

describe('an output that exists', () => {
  test('is refused at once', async () => {
    const folder = await scratchFolder();
    const path = join(folder, 'out');
    await writeFile(path, 'old');
    const error = await failureOf(createFile(path));
    expect([error.code, error.context]).toEqual(['SINK_EXISTS', { path }]);
    expect([await textOf(path), await readdir(folder)]).toEqual(['old', ['out']]);
  });

  test.each(['file', 'link that leads nowhere', 'folder'])('is refused when it appears during the run: a %s', async (kind) => {
    const folder = await scratchFolder();
    const path = join(folder, 'out');
    const sink = await createFile(path, { size: 3 });
    if (kind === 'file') await writeFile(path, 'someone else');
    else if (kind === 'folder') await mkdir(path);
    else await symlink('nowhere', path);
    expect((await failureOf(sink.commit())).code).toBe(kind === 'folder' ? 'SINK_NOT_A_FILE' : 'SINK_EXISTS');
    expect(await readdir(folder)).toEqual(['out']);
    if (kind === 'file') expect(await textOf(path)).toBe('someone else');
  });

  test('is replaced where that is allowed, keeping its permissions', async () => {
    const path = join(await scratchFolder(), 'out');
    await writeFile(path, 'old and longer');
    await chmod(path, 0o640);
    await write(path, 'new', { overwrite: true });
    expect(await textOf(path)).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });

  test('is replaced itself when it is a link: what it leads to stays', async () => {
    const folder = await scratchFolder();
    await writeFile(join(folder, 'blob'), 'old');
    await symlink('blob', join(folder, 'out'));
    await write(join(folder, 'out'), 'new', { overwrite: true });
    expect((await lstat(join(folder, 'out'))).isFile()).toBe(true);
    expect(await textOf(join(folder, 'blob'))).toBe('old');
  });
});

describe('an output that is an input', () => {
  test.each(['itself', 'hard link', 'link', 'hard link that appears'])('is refused even with overwriting: %s', async (kind) => {
    const folder = await scratchFolder();
    const input = join(folder, 'in');
    const path = kind === 'itself' ? input : join(folder, 'out');
    await writeFile(input, 'precious');
    if (kind === 'hard link') await link(input, path);
    if (kind === 'link') await symlink(input, path);
    const source = await openFile(input);
    const create = (): ReturnType<typeof createFile> => createFile(path, { overwrite: true, inputs: [source] });
    let work: Promise<unknown>;
    if (kind === 'hard link that appears') {
      const sink = await create();
      await link(input, path);
      work = sink.commit();
    } else {
      work = create();
    }
    expect((await failureOf(work)).code).toBe('SINK_IS_INPUT');
    expect(await textOf(input)).toBe('precious');
    expect((await readdir(folder)).filter((name) => name.endsWith('.assay-part'))).toEqual([]);
    await source[Symbol.asyncDispose]();
  });
});

describe('an output that cannot be', () => {
  test.each([
    ['a folder', async (path: string) => mkdir(path)],
    ['a pipe', async (path: string) => execFileSync('mkfifo', [path])],
  ])('is refused when it is %s', async (_, make) => {
    const path = join(await scratchFolder(), 'out');
    await make(path);
    for (const overwrite of [false, true]) expect((await failureOf(createFile(path, { overwrite }))).code).toBe('SINK_NOT_A_FILE');
  });

  test('says that its folder is missing', async () => {
    const folder = await scratchFolder();
    await writeFile(join(folder, 'file'), 'x');
    expect((await failureOf(createFile(join(folder, 'missing', 'out')))).code).toBe('SINK_NO_FOLDER');
    expect((await failureOf(createFile(join(folder, 'file', 'out')))).code).toBe('SINK_NO_FOLDER');
  });

  test('says when nobody may write there', async () => {
    const folder = await scratchFolder();
    await chmod(folder, 0o555);
    expect((await asNobody(() => failureOf(createFile(join(folder, 'out'))))).code).toBe('IO_PERMISSION');
    await chmod(folder, 0o755);
    expect(await readdir(folder)).toEqual([]);
  });

  test('is refused before a byte is written when the disk has not enough room', async () => {
    const folder = await scratchFolder();
    const error = await failureOf(createFile(join(folder, 'out'), { size: 2 ** 52 }));
    expect([error.code, error.context['needed']]).toEqual(['SINK_NO_SPACE', 2 ** 52]);
    expect(error.context['available']).toBeLessThan(2 ** 52);
    expect(await readdir(folder)).toEqual([]);
  });

  test('says when the process may not write a file of that size, and leaves nothing', async () => {
    const folder = await scratchFolder();
    const script = `
      import { createFile } from '@assay/node';
      const sink = await createFile(${JSON.stringify(join(folder, 'out'))});
      try {
        for (let at = 0; ; at += 65536) await sink.writeAt(new Uint8Array(65536), at);
      } catch (error) {
        await sink.abort();
        console.log(error.code, error.context.system);
      }`;
    const command = 'ulimit -f 1024; exec "$0" --input-type=module --eval "$1"';
    const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8', cwd: import.meta.dirname });
    expect([stdout, stderr]).toEqual(['SINK_FILE_TOO_LARGE EFBIG\n', '']);
    expect(await readdir(folder)).toEqual([]);
  });
});

test('a disk that fills up says SINK_NO_SPACE, on every path to it, and is left empty', async ({ skip }) => {
  const folder = await scratchFolder();
  await writeFile(join(folder, 'in'), new Uint8Array(2 << 20).fill(1));
  await mkdir(join(folder, 'small'));
  const script = `
    import { readdir } from 'node:fs/promises';
    import { createCopyRunner, createFile, openFile } from '@assay/node';
    const codes = [];
    const note = (error) => codes.push(error.code + ' ' + error.context.system);
    const sink = await createFile('${folder}/small/out');
    await sink.writeAt(new Uint8Array(2 << 20), 0).catch(note);
    const source = await openFile('${folder}/in');
    const runner = createCopyRunner({ threads: 2 });
    for (const check of [true, false]) for (const digests of [[], ['sha256']]) {
      const piece = { kind: 'range', source: 0, start: 0, end: 2 << 20 };
      await runner.run([{ parts: [{ kind: 'copy', at: 0, piece, check }] }], [source], sink, { byteLength: 2 << 20, digests }).catch(note);
    }
    await sink.abort();
    await runner[Symbol.asyncDispose]();
    console.log(JSON.stringify([codes, await readdir('${folder}/small')]));`;
  // A file system of 1 MiB, in a namespace of its own: it goes with the process.
  const command = `mount -t tmpfs -o size=1m tmpfs '${folder}/small' || exit 77; exec "$0" --input-type=module --eval "$1"`;
  const options = { encoding: 'utf8', cwd: import.meta.dirname } as const;
  const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'bash', '-c', command, process.execPath, script], options);
  skip(status === null || status === 77 || stderr.startsWith('unshare:'), 'this system lets nobody mount a small file system');
  expect([stdout.trim(), stderr]).toEqual([JSON.stringify([Array.from({ length: 5 }, () => 'SINK_NO_SPACE ENOSPC'), []]), '']);
});

describe('a temporary file', () => {
  test('is beside the target while it is written, and carries its name', async () => {
    const folder = await scratchFolder();
    const sink = await createFile(join(folder, 'model.safetensors'), { size: 10 });
    const [name = '', ...others] = await readdir(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(new RegExp(String.raw`^\.model\.safetensors\.[A-Za-z0-9-]+\.${process.pid}\.[0-9a-f]{12}\.assay-part$`));
    await sink.abort();
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(['x'.repeat(255), '模'.repeat(85), '😀'.repeat(63)])('fits beside a name of 255 bytes', async (name) => {
    const folder = await scratchFolder();
    await write(join(folder, name), 'fits');
    expect(await readdir(folder)).toEqual([name]);
  });

  test('that a dead process of this host left is removed; others stay', async () => {
    const folder = await scratchFolder();
    const sink = await createFile(join(folder, 'a'), { size: 1 });
    const [own = ''] = await readdir(folder);
    await sink.abort();
    const dead = spawnSync(process.execPath, ['--eval', 'console.log(process.pid)'], { encoding: 'utf8' }).stdout.trim();
    const named = (name: string, host: string, pid: string): string => `.${name}.${host}.${pid}.0123456789ab.assay-part`;
    const host = own.split('.').at(-4) ?? '';
    const left = [named('a', host, dead), named('other.bin', host, dead)];
    const kept = [named('a', 'elsewhere-01234567', dead), named('a', host, '1'), named('a', host, String(process.pid)), `.a.${host}.${dead}.assay-part`, 'a.assay-part'];
    for (const name of [...left, ...kept]) await writeFile(join(folder, name), 'x');
    await mkdir(join(folder, named('folder', host, dead)));
    await write(join(folder, 'a'), 'new');
    expect((await readdir(folder)).sort()).toEqual([...kept, 'a', named('folder', host, dead)].sort());
  });

  test('that somebody removed or replaced is not published', async () => {
    const folder = await scratchFolder();
    for (const replace of [false, true]) {
      const sink = await createFile(join(folder, 'out'), { size: 3 });
      const [name = ''] = await readdir(folder);
      await unlink(join(folder, name));
      if (replace) await writeFile(join(folder, name), 'something else');
      expect((await failureOf(sink.commit())).code).toBe('IO_FAILED');
      expect(await readdir(folder)).toEqual([]);
    }
  });
});

test('an output gets the permissions that the user wants for new files', async () => {
  const path = join(await scratchFolder(), 'out');
  const before = process.umask(0o027);
  onTestFinished(() => void process.umask(before));
  await write(path, 'x');
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test('an output larger than what is reserved block by block is whole', async () => {
  const path = join(await scratchFolder(), 'out');
  const sink = await createFile(path, { size: 20 << 20 });
  await sink.writeAt(Uint8Array.of(1), (20 << 20) - 1);
  await sink.commit();
  const bytes = await readFile(path);
  expect([bytes.length, bytes.indexOf(1)]).toEqual([20 << 20, (20 << 20) - 1]);
});

/**
 * A folder of the local disk: its entries, and files opened and created by relative path.
 */
import { mkdir, lstat, readdir, readlink, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { AssayError, checkedRelativePath, type ByteSink, type Entry, type Folder } from '@assay/core';
import { createFile } from './file-sink.ts';
import { openFile } from './file-source.ts';
import { readError, systemErrorName, writeError } from './system-errors.ts';

/** The folder at `path`; nothing is read until it is asked for. Links are listed, never walked into. */
export function openFolder(path: string): Folder {
  const root = resolve(path);
  const within = (relative: string): string => join(root, checkedRelativePath(relative));
  return {
    name: path,
    list: () => listBelow(root),
    open: async (relative) => openFile(within(relative)),
    create: async (relative, options) => {
      const target = within(relative);
      const made = await mkdir(dirname(target), { recursive: true }).catch((cause: unknown) => {
        throw writeError(target, cause, { path: relative });
      });
      return removingFolders(await createFile(target, options), dirname(target), made);
    },
    remove: async (relative) => {
      const target = within(relative);
      const isFolder = await lstat(target).then((stats) => stats.isDirectory()).catch((cause: unknown) => {
        throw readError(target, cause, { path: relative });
      });
      if (isFolder) throw folderRefused(target, relative);
      await unlink(target).catch((cause: unknown) => {
        throw readError(target, cause, { path: relative });
      });
    },
  };
}

function folderRefused(target: string, path: string): AssayError {
  return new AssayError('SOURCE_NOT_A_FILE', {
    message: `${target}: is a folder`,
    hint: 'Give the path of a file.',
    context: { path },
  });
}

/** A sink whose abort also removes the folders that were made for it, from `deepest` up to `highest`, while they are empty. */
function removingFolders(sink: ByteSink, deepest: string, highest: string | undefined): ByteSink {
  if (highest === undefined) return sink;
  let committed = false;
  const abort = async (): Promise<void> => {
    await sink.abort();
    if (committed) return;
    for (let folder = deepest; folder.length >= highest.length; folder = dirname(folder)) {
      if (await rmdir(folder).then(() => false, () => true)) return;
    }
  };
  return {
    name: sink.name,
    ...(sink.locator === undefined ? {} : { locator: sink.locator }),
    writeAt: (bytes, position, options) => sink.writeAt(bytes, position, options),
    readInto: (target, position) => sink.readInto(target, position),
    async commit() {
      await sink.commit();
      committed = true;
    },
    abort,
    [Symbol.asyncDispose]: abort,
  };
}

/** Depth first; siblings by name, a folder as if its name ended in `/`: files then come sorted by their whole path. */
async function* listBelow(root: string): AsyncIterable<Entry> {
  const pending = await entriesOf(root, '');
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    yield entry;
    if (entry.kind === 'folder') pending.push(...(await entriesOf(root, `${entry.path}/`)));
  }
}

/** The entries of one folder, last first. */
async function entriesOf(root: string, prefix: string): Promise<Entry[]> {
  const found = await readdir(join(root, prefix)).catch((cause: unknown) => {
    throw readError(join(root, prefix), cause, { path: prefix });
  });
  const entries: Entry[] = [];
  for (const name of found) {
    const entry = await entryAt(join(root, prefix, name), prefix + name);
    if (entry !== undefined) entries.push(entry);
  }
  const key = ({ path, kind }: Entry): string => (kind === 'folder' ? `${path}/` : path);
  return entries.sort((a, b) => (key(a) < key(b) ? 1 : -1));
}

/** Absent when it vanished since it was listed. */
async function entryAt(absolute: string, path: string): Promise<Entry | undefined> {
  try {
    const stats = await lstat(absolute, { bigint: true });
    const { dev, ino, nlink, mtimeNs, ctimeNs } = stats;
    const facts = { path, device: dev, inode: ino, links: Number(nlink), mtimeNs, ctimeNs };
    if (stats.isSymbolicLink()) return { ...facts, ...(await linkFacts(absolute)) };
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
    return { ...facts, kind, size: Number(stats.size) };
  } catch (cause) {
    if (systemErrorName(cause) === 'ENOENT') return undefined;
    throw readError(absolute, cause, { path });
  }
}

async function linkFacts(absolute: string): Promise<Pick<Entry, 'kind' | 'size' | 'linkTarget' | 'dangling'>> {
  const linkTarget = await readlink(absolute);
  const target = await stat(absolute).catch(() => undefined);
  return { kind: 'link', size: target?.size ?? 0, linkTarget, dangling: target === undefined };
}

/**
 * Gives a finished temporary file its name, and makes the name durable.
 * Without overwriting it cannot replace what appeared meanwhile: link fails where rename would not.
 */
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemErrorName } from './system-errors.ts';

/** Hard links are missing on FAT, exFAT and some network file systems, which say so in several ways. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/** Publishes `temporary` as `target`; throws the system's error, EEXIST where the name is taken. */
export async function publish(temporary: string, target: string, overwrite: boolean): Promise<void> {
  if (overwrite) await rename(temporary, target);
  else await linkAndUnlink(temporary, target);
  await syncFolder(dirname(target));
}

async function linkAndUnlink(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (cause) {
    if (!NO_LINKS.has(systemErrorName(cause) ?? '')) throw cause;
    await renameWhereFree(temporary, target);
    return;
  }
  await unlink(temporary);
}

/** The next best without links: between the look and the renaming a file may still appear. */
async function renameWhereFree(temporary: string, target: string): Promise<void> {
  const taken = await lstat(target).then(
    () => true,
    () => false,
  );
  if (taken) throw Object.assign(new Error(`EEXIST: file already exists, rename`), { code: 'EEXIST', syscall: 'rename' });
  await rename(temporary, target);
}

/** Some file systems cannot sync a folder, and Windows cannot open one; the file itself is synced already. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  try {
    await folder.sync();
  } catch {
    // As above.
  } finally {
    await folder.close();
  }
}

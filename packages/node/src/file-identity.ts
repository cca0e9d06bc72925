/**
 * The identity of a file as one text: it changes when the content may have changed.
 * Knows how the text is built, so that only this file takes it apart again.
 */
import type { BigIntStats } from 'node:fs';
import type { ByteSource } from '@assay/core';

/** Device, inode, size, and the times of the last change of content and of status, in nanoseconds. */
export function identityOf(stats: BigIntStats): string {
  const { size, mtimeNs, ctimeNs } = stats;
  return `${inodeOf(stats)} size:${size} mtime:${mtimeNs} ctime:${ctimeNs}`;
}

/** Device and inode only: the same while a file is written. */
export function inodeOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `file:${dev}:${ino}`;
}

/** Device and inode of a source that is a local file. */
export function inodeOfSource(source: ByteSource): string | undefined {
  return source.locator?.kind === 'path' ? source.locator.identity.split(' ', 1)[0] : undefined;
}

/**
 * Files that a checksum file lists: against the working directory, then against the checksum file's own folder.
 */
import { dirname, resolve } from 'node:path';
import { isAssayError, type ByteSource } from '@assay/core';
import { openFile } from '@assay/node';

/** The absolute paths that a listed name may mean, in the order in which they are tried. */
export function listedPaths(name: string, checksumFile: string): readonly string[] {
  return [...new Set([resolve(name), resolve(dirname(checksumFile), name)])];
}

/** Opens the first of `listedPaths` that is there. @throws {AssayError} as `openFile`, of the first */
export async function openListed(name: string, checksumFile: string): Promise<ByteSource> {
  const [first, second] = listedPaths(name, checksumFile);
  try {
    return await openFile(first ?? name);
  } catch (error) {
    if (second === undefined || !isAssayError(error) || error.code !== 'SOURCE_NOT_FOUND') throw error;
    return openFile(second).catch(() => {
      throw error;
    });
  }
}

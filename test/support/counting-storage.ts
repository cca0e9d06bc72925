/** A storage in memory that counts what is asked of it. */
import type { StorageReader } from '@assay/core';

export interface CountingStorage extends StorageReader {
  readonly reads: { start: number; end: number }[];
  /** The size of the largest array that was read into. */
  largestTarget(): number;
}

/** Without `lend`, bytes come through `readInto` only. */
export function countingStorage(bytes: Uint8Array, { lend = false }: { lend?: boolean } = {}): CountingStorage {
  const reads: { start: number; end: number }[] = [];
  let busy = false;
  let largest = 0;
  return {
    byteLength: bytes.length,
    reads,
    largestTarget: () => largest,
    async readInto(target, start) {
      // A storage behind a deflate stream reads one thing at a time.
      if (busy) throw new Error('a second read before the first has ended');
      busy = true;
      await Promise.resolve();
      busy = false;
      const end = start + target.length;
      if (start < 0 || end > bytes.length) throw new RangeError(`read [${start}, ${end}) of ${bytes.length}`);
      reads.push({ start, end });
      largest = Math.max(largest, target.buffer.byteLength);
      target.set(bytes.subarray(start, end));
    },
    ...(lend
      ? {
          withView<T>(start: number, end: number, use: (lent: Uint8Array) => T): T {
            if (start < 0 || end > bytes.length) throw new RangeError(`view [${start}, ${end}) of ${bytes.length}`);
            reads.push({ start, end });
            return use(bytes.subarray(start, end));
          },
        }
      : {}),
  };
}

/** A source in memory that counts its reads. */
import { createMemorySource, type ByteSource } from '@assay/core';

export interface CountingSource extends ByteSource {
  reads(): number;
  bytesRead(): number;
}

export function countingSource(bytes: Uint8Array, name = 'counted'): CountingSource {
  const inner = createMemorySource(bytes, name);
  let [reads, bytesRead] = [0, 0];
  return {
    name,
    size: bytes.length,
    reads: () => reads,
    bytesRead: () => bytesRead,
    async readInto(target, start, options) {
      reads += 1;
      bytesRead += target.length;
      await inner.readInto(target, start, options);
    },
    identity: () => inner.identity(),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

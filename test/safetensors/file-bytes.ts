/** Safetensors files built by hand. */
import { createMemorySource, type ByteSource } from '@assay/core';

/** The bytes of a text, or the bytes themselves. */
export function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text;
}

/** A file with this header and that many bytes of data. `declared` is the length that it states. */
export function fileOf(header: string | Uint8Array, dataLength = 0, declared?: bigint): Uint8Array {
  const text = bytesOf(header);
  const file = new Uint8Array(8 + text.length + dataLength).fill(7);
  new DataView(file.buffer).setBigUint64(0, declared ?? BigInt(text.length), true);
  file.set(text, 8);
  return file;
}

/** One entry of a header, each part as it is written. */
export function entry(parts: { dtype?: string; shape?: string; offsets?: string; more?: string } = {}): string {
  const { dtype = '"U8"', shape = '[1]', offsets = '[0,1]', more = '' } = parts;
  return `{"dtype":${dtype},"shape":${shape},"data_offsets":${offsets}${more}}`;
}

/** A header with one tensor named `a`, padded so that the data is aligned. */
export function one(parts: Parameters<typeof entry>[0] = {}): string {
  return padded(`{"a":${entry(parts)}}`);
}

/** A header padded with spaces to a multiple of 8. */
export function padded(header: string): string {
  const length = bytesOf(header).length;
  return header + ' '.repeat(Math.ceil(length / 8) * 8 - length);
}

/** A source in memory. */
export function sourceOf(file: Uint8Array): ByteSource {
  return createMemorySource(file, 'x.safetensors');
}

/** A source that counts what is read of it. `size` may be larger than what is there. */
export function countingSource(file: Uint8Array, size: number = file.length): ByteSource & { reads: number[] } {
  const source = sourceOf(file);
  const reads: number[] = [];
  return {
    name: source.name,
    size,
    reads,
    identity: async () => 'one',
    readInto(target, start, options) {
      reads.push(target.length);
      return source.readInto(target, start, options);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

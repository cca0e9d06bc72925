/**
 * Checkpoints in zip form, built in bytes: any pickle, any records. Stored, with right CRC-32s and zip64-free headers.
 */
import { crc32 } from 'node:zlib';
import { pickleOf, type Writable } from './pickle-builder.ts';

const encoder = new TextEncoder();

/** A zip of stored members. */
export function zipOf(members: readonly (readonly [name: string, content: Uint8Array | string])[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, content] of members) {
    const nameBytes = encoder.encode(name);
    const bytes = typeof content === 'string' ? encoder.encode(content) : content;
    // From "version needed" to "extra length": the same in both headers.
    const shared = new Uint8Array(26);
    const view = new DataView(shared.buffer);
    view.setUint16(0, 20, true);
    view.setUint16(2, 0x800, true);
    view.setUint32(10, crc32(bytes), true);
    view.setUint32(14, bytes.length, true);
    view.setUint32(18, bytes.length, true);
    view.setUint16(22, nameBytes.length, true);
    const central = new Uint8Array(46);
    central.set([0x50, 0x4b, 1, 2, 20, 0], 0);
    central.set(shared, 6);
    new DataView(central.buffer).setUint32(42, offset, true);
    directory.push(central, nameBytes);
    parts.push(Uint8Array.of(0x50, 0x4b, 3, 4), shared, nameBytes, bytes);
    offset += 30 + nameBytes.length + bytes.length;
  }
  const directoryBytes = Buffer.concat(directory);
  const end = new Uint8Array(22);
  const view = new DataView(end.buffer);
  end.set([0x50, 0x4b, 5, 6], 0);
  view.setUint16(8, members.length, true);
  view.setUint16(10, members.length, true);
  view.setUint32(12, directoryBytes.length, true);
  view.setUint32(16, offset, true);
  return Buffer.concat([...parts, directoryBytes, end]);
}

/** A checkpoint: a pickle, and records by name without the root folder. */
export function torchZip(
  pickle: Uint8Array | Writable,
  storages: Readonly<Record<string, Uint8Array>> = {},
  records: Readonly<Record<string, string>> = { version: '3\n', byteorder: 'little' },
): Uint8Array {
  const bytes = pickle instanceof Uint8Array ? pickle : pickleOf(pickle);
  return zipOf([
    ['archive/data.pkl', bytes],
    ...Object.entries(storages).map(([key, content]) => [`archive/data/${key}`, content] as const),
    ...Object.entries(records).map(([name, content]) => [`archive/${name}`, content] as const),
  ]);
}

/** The persistent id of a storage. */
export function storage(key: Writable, numel: Writable, storageClass = 'FloatStorage', location: Writable = 'cpu'): Writable {
  const module = storageClass === 'UntypedStorage' ? 'torch.storage' : 'torch';
  return { persistent: { tuple: ['storage', { global: [module, storageClass] }, key, location, numel] } };
}

/** An OrderedDict with entries, as torch pickles it. */
export function orderedDict(entries: readonly (readonly [Writable, Writable])[] = []): Writable {
  return { reduce: [{ global: ['collections', 'OrderedDict'] }, { tuple: [] }], ...(entries.length === 0 ? {} : { entries }) };
}

/** A call of a function of torch._utils. */
export function rebuild(name: string, ...args: readonly Writable[]): Writable {
  return { reduce: [{ global: ['torch._utils', name] }, { tuple: args }] };
}

/** `_rebuild_tensor_v2` with the arguments that torch.save gives it. */
export function tensor(
  from: Writable,
  size: readonly Writable[],
  stride: readonly Writable[],
  offset: Writable = 0,
  ...metadata: readonly Writable[]
): Writable {
  return rebuild('_rebuild_tensor_v2', from, offset, { tuple: size }, { tuple: stride }, false, orderedDict(), ...metadata);
}

/** Float32 values as bytes. */
export function floats(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

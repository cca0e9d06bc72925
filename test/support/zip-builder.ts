/** Zip files byte by byte, right or wrong in any field. Independent of the reader under test. */
import { crc32, deflateRawSync } from 'node:zlib';

/** Fields of a header that may be given instead of the true ones. */
export interface HeaderFields {
  readonly flags?: number;
  readonly method?: number;
  readonly crc32?: number;
  readonly compressedByteLength?: number;
  readonly byteLength?: number;
  readonly name?: string | Uint8Array;
  readonly extra?: Uint8Array;
}

export interface BuiltEntry {
  readonly name: string | Uint8Array;
  readonly data?: Uint8Array | string;
  readonly deflate?: boolean;
  /** Of both headers. */
  readonly flags?: number;
  readonly method?: number;
  /** Sizes and CRC behind the payload, as streams have them. */
  readonly descriptor?: 'none' | 'plain' | 'signed' | 'signed64';
  /** Of CRC in the descriptor. */
  readonly descriptorCrc32?: number;
  /** PyTorch's padding: the payload begins at a multiple of this. */
  readonly alignment?: number;
  /** Sizes, and the offset, in zip64 extra fields. */
  readonly zip64?: boolean;
  readonly local?: HeaderFields;
  readonly central?: HeaderFields & { readonly headerOffset?: number; readonly disk?: number; readonly externalAttributes?: number };
  /** Bytes before the local header that no member claims. */
  readonly gap?: Uint8Array;
  /** In the file, but not in the directory. */
  readonly hidden?: boolean;
}

export interface BuiltEnd {
  readonly prefix?: Uint8Array;
  /** Offsets count the prefix. */
  readonly offsetsCountPrefix?: boolean;
  readonly comment?: Uint8Array;
  readonly commentByteLength?: number;
  readonly suffix?: Uint8Array;
  /** Always there in PyTorch's files. */
  readonly zip64?: boolean;
  readonly count?: number;
  readonly countOnDisk?: number;
  readonly disk?: number;
  readonly directoryStart?: number;
  readonly directoryByteLength?: number;
  /** Between directory and end records. */
  readonly gap?: Uint8Array;
  readonly end64?: { readonly count?: number; readonly directoryStart?: bigint; readonly byteLength?: bigint; readonly disks?: number; readonly start?: bigint };
}

const bytesOf = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? new TextEncoder().encode(text) : text);

/** Bytes that grow by doubling: tests build archives of 200,000 members. */
class Writer {
  #bytes = new Uint8Array(256);
  length = 0;

  put(...chunks: Uint8Array[]): this {
    for (const chunk of chunks) {
      this.#reserve(chunk.length);
      this.#bytes.set(chunk, this.length);
      this.length += chunk.length;
    }
    return this;
  }

  /** Little-endian numbers: [value, bytes] pairs. */
  numbers(...fields: (readonly [number | bigint, 1 | 2 | 4 | 8])[]): this {
    for (const [value, width] of fields) {
      this.#reserve(width);
      let rest = value;
      for (let byte = 0; byte < width; byte += 1) {
        this.#bytes[this.length + byte] = typeof rest === 'bigint' ? Number(BigInt.asUintN(8, rest)) : rest % 256;
        rest = typeof rest === 'bigint' ? rest >> 8n : Math.floor(rest / 256);
      }
      this.length += width;
    }
    return this;
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** An extra field. */
export function extraField(id: number, data: Uint8Array): Uint8Array {
  return new Writer().numbers([id, 2], [data.length, 2]).put(data).bytes();
}

function u64s(...values: number[]): Uint8Array {
  return new Writer().numbers(...values.map((value) => [value, 8] as const)).bytes();
}

/** The bytes of a zip file. */
export function buildZip(entries: readonly BuiltEntry[], end: BuiltEnd = {}): Uint8Array {
  const file = new Writer();
  const directory = new Writer();
  const prefix = end.prefix ?? new Uint8Array(0);
  const origin = end.offsetsCountPrefix === true ? 0 : prefix.length;
  file.put(prefix);
  let listed = 0;
  for (const entry of entries) {
    const central = putMember(file, entry, origin);
    if (entry.hidden === true) continue;
    directory.put(central);
    listed += 1;
  }
  const directoryStart = file.length - origin;
  file.put(directory.bytes(), end.gap ?? new Uint8Array(0));
  putEnd(file, end, { directoryStart, directoryByteLength: directory.length, count: listed, origin });
  return file.put(end.comment ?? new Uint8Array(0), end.suffix ?? new Uint8Array(0)).bytes();
}

/** Writes local header, payload and descriptor; returns the directory's entry. */
function putMember(file: Writer, entry: BuiltEntry, origin: number): Uint8Array {
  const { data = '', deflate = false, descriptor = 'none', zip64 = false, local = {}, central = {} } = entry;
  const plain = bytesOf(data);
  const payload = deflate ? new Uint8Array(deflateRawSync(plain)) : plain;
  const flags = entry.flags ?? 0x800 | (descriptor === 'none' ? 0 : 8);
  const method = entry.method ?? (deflate ? 8 : 0);
  const crc = crc32(plain);
  file.put(entry.gap ?? new Uint8Array(0));
  const headerOffset = file.length - origin;
  const localName = bytesOf(local.name ?? entry.name);
  const later = descriptor !== 'none';
  const sizes = later ? [0, 0] : [payload.length, plain.length];
  const zip64Extra = zip64 ? extraField(1, u64s(sizes[1] as number, sizes[0] as number)) : new Uint8Array(0);
  const padding = paddingField(entry.alignment, file.length + 30 + localName.length + zip64Extra.length);
  const extra = local.extra ?? new Uint8Array(Buffer.concat([zip64Extra, padding]));
  file
    .numbers([0x04034b50, 4], [20, 2], [local.flags ?? flags, 2], [local.method ?? method, 2], [0, 4])
    .numbers([local.crc32 ?? (later ? 0 : crc), 4])
    .numbers([local.compressedByteLength ?? (zip64 ? 0xffff_ffff : (sizes[0] as number)), 4])
    .numbers([local.byteLength ?? (zip64 ? 0xffff_ffff : (sizes[1] as number)), 4])
    .numbers([localName.length, 2], [extra.length, 2])
    .put(localName, extra, payload);
  putDescriptor(file, descriptor, entry.descriptorCrc32 ?? crc, payload.length, plain.length);
  const name = bytesOf(central.name ?? entry.name);
  const centralExtra = central.extra ?? (zip64 ? extraField(1, u64s(plain.length, payload.length, headerOffset)) : new Uint8Array(0));
  return new Writer()
    .numbers([0x02014b50, 4], [0x031e, 2], [20, 2], [central.flags ?? flags, 2], [central.method ?? method, 2], [0, 4])
    .numbers([central.crc32 ?? crc, 4])
    .numbers([central.compressedByteLength ?? (zip64 ? 0xffff_ffff : payload.length), 4])
    .numbers([central.byteLength ?? (zip64 ? 0xffff_ffff : plain.length), 4])
    .numbers([name.length, 2], [centralExtra.length, 2], [0, 2], [central.disk ?? 0, 2], [0, 2], [central.externalAttributes ?? 0, 4])
    .numbers([central.headerOffset ?? (zip64 ? 0xffff_ffff : headerOffset), 4])
    .put(name, centralExtra)
    .bytes();
}

/** PyTorch's `FB` field, which is at least 4 bytes. */
function paddingField(alignment: number | undefined, start: number): Uint8Array {
  if (alignment === undefined) return new Uint8Array(0);
  const fill = (alignment - ((start + 4) % alignment)) % alignment;
  return extraField(0x4246, new Uint8Array(fill).fill(0x5a));
}

function putDescriptor(file: Writer, form: BuiltEntry['descriptor'], crc: number, compressed: number, plain: number): void {
  if (form === 'none' || form === undefined) return;
  const width = form === 'signed64' ? 8 : 4;
  if (form !== 'plain') file.numbers([0x08074b50, 4]);
  file.numbers([crc, 4], [compressed, width], [plain, width]);
}

function putEnd(
  file: Writer,
  end: BuiltEnd,
  true_: { directoryStart: number; directoryByteLength: number; count: number; origin: number },
): void {
  const { end64 = {} } = end;
  if (end.zip64 === true) {
    const start = file.length - true_.origin;
    file
      .numbers([0x06064b50, 4], [end64.byteLength ?? 44n, 8], [0x031e, 2], [45, 2], [0, 4], [0, 4])
      .numbers([end64.count ?? true_.count, 8], [end64.count ?? true_.count, 8], [true_.directoryByteLength, 8])
      .numbers([end64.directoryStart ?? true_.directoryStart, 8])
      .numbers([0x07064b50, 4], [0, 4], [end64.start ?? start, 8], [end64.disks ?? 1, 4]);
  }
  file
    .numbers([0x06054b50, 4], [end.disk ?? 0, 2], [0, 2], [end.countOnDisk ?? end.count ?? true_.count, 2], [end.count ?? true_.count, 2])
    .numbers([end.directoryByteLength ?? true_.directoryByteLength, 4], [end.directoryStart ?? true_.directoryStart, 4])
    .numbers([end.commentByteLength ?? end.comment?.length ?? 0, 2]);
}

/** What torch.save writes, in miniature: padded, with descriptors and zip64 records. */
export function torchLikeZip(root = 'archive', payload: Uint8Array = new Uint8Array(200).map((_, i) => i)): Uint8Array {
  const entry = (name: string, data: Uint8Array | string): BuiltEntry => ({ name: `${root}/${name}`, data, alignment: 64, descriptor: 'signed' });
  const entries = [entry('data.pkl', 'pickle'), entry('byteorder', 'little'), entry('data/0', payload), entry('version', '3\n')];
  return buildZip(entries, { zip64: true });
}

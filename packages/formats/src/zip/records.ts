/**
 * The fixed-size records of a zip file as they lie in bytes (APPNOTE 6.3.10, section 4.3).
 * Knows offsets and markers; judges nothing.
 */
import { toSafeNumber } from '@assay/core';

/** "PK" followed by the record's two bytes, as a little-endian number. */
export const signatures = {
  localHeader: 0x0403_4b50,
  centralHeader: 0x0201_4b50,
  end: 0x0605_4b50,
  end64: 0x0606_4b50,
  locator64: 0x0706_4b50,
  descriptor: 0x0807_4b50,
} as const;

/** Sizes of the fixed parts in bytes. */
export const sizes = { localHeader: 30, centralHeader: 46, end: 22, end64: 56, locator64: 20 } as const;

/** Stands for "see the zip64 record" in 16- and 32-bit fields (4.4.1.4). */
export const MARKER_16 = 0xffff;
/** As `MARKER_16`, of 32 bits. */
export const MARKER_32 = 0xffff_ffff;

/** General purpose flags (4.4.4). */
export const flags = {
  encrypted: 0x1,
  descriptor: 0x8,
  patched: 0x20,
  strongEncryption: 0x40,
  utf8: 0x800,
  maskedHeader: 0x2000,
} as const;

/** A view of the bytes, whatever they lie in. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A 64-bit field as a number, or `undefined` above 2^53-1. */
export function readU64(view: DataView, offset: number): number | undefined {
  return toSafeNumber(view.getBigUint64(offset, true));
}

/** True where the four bytes at `offset` are the signature. */
export function hasSignature(view: DataView, offset: number, signature: number): boolean {
  return offset >= 0 && offset + 4 <= view.byteLength && view.getUint32(offset, true) === signature;
}

/** The end of central directory record. */
export interface EndRecord {
  readonly disk: number;
  readonly directoryDisk: number;
  readonly countOnDisk: number;
  readonly count: number;
  readonly directoryByteLength: number;
  readonly directoryStart: number;
  readonly commentByteLength: number;
}

/** Reads the 22 bytes at `offset`. */
export function readEnd(view: DataView, offset: number): EndRecord {
  return {
    // 0 - signature
    disk: view.getUint16(offset + 4, true),
    directoryDisk: view.getUint16(offset + 6, true),
    countOnDisk: view.getUint16(offset + 8, true),
    count: view.getUint16(offset + 10, true),
    directoryByteLength: view.getUint32(offset + 12, true),
    directoryStart: view.getUint32(offset + 16, true),
    commentByteLength: view.getUint16(offset + 20, true),
  };
}

/** The zip64 end of central directory record; fields above 2^53-1 are `undefined`. */
export interface End64Record {
  /** Of the whole record, with its first 12 bytes. */
  readonly byteLength: number | undefined;
  readonly disk: number;
  readonly directoryDisk: number;
  readonly countOnDisk: number | undefined;
  readonly count: number | undefined;
  readonly directoryByteLength: number | undefined;
  readonly directoryStart: number | undefined;
}

/** Reads the 56 bytes at `offset`. */
export function readEnd64(view: DataView, offset: number): End64Record {
  return {
    // 0 - signature
    byteLength: toSafeNumber(view.getBigUint64(offset + 4, true) + 12n),
    // 12 - version made by, 14 - version needed
    disk: view.getUint32(offset + 16, true),
    directoryDisk: view.getUint32(offset + 20, true),
    countOnDisk: readU64(view, offset + 24),
    count: readU64(view, offset + 32),
    directoryByteLength: readU64(view, offset + 40),
    directoryStart: readU64(view, offset + 48),
  };
}

/** The zip64 locator, which lies directly before the end record. */
export interface Locator64 {
  readonly disk: number;
  readonly end64Start: number | undefined;
  readonly disks: number;
}

/** Reads the 20 bytes at `offset`. */
export function readLocator64(view: DataView, offset: number): Locator64 {
  return {
    // 0 - signature
    disk: view.getUint32(offset + 4, true),
    end64Start: readU64(view, offset + 8),
    disks: view.getUint32(offset + 16, true),
  };
}

/** A local header without its name and extra fields. */
export interface LocalHeader {
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedByteLength: number;
  readonly byteLength: number;
  readonly nameByteLength: number;
  readonly extraByteLength: number;
}

/** Reads the 30 bytes at `offset`. */
export function readLocalHeader(view: DataView, offset: number): LocalHeader {
  return {
    // 0 - signature, 4 - version needed
    flags: view.getUint16(offset + 6, true),
    method: view.getUint16(offset + 8, true),
    // 10 - time, 12 - date: PyTorch writes month 0 and day 0, so they are never looked at.
    crc32: view.getUint32(offset + 14, true),
    compressedByteLength: view.getUint32(offset + 18, true),
    byteLength: view.getUint32(offset + 22, true),
    nameByteLength: view.getUint16(offset + 26, true),
    extraByteLength: view.getUint16(offset + 28, true),
  };
}

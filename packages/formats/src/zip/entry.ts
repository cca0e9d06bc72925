/**
 * One member of a zip file, as its central directory states it.
 */

/** One member as the central directory states it. Offsets are bytes of the file. */
export interface ZipEntry {
  readonly name: string;
  /** Of the name as it is stored, in bytes. */
  readonly nameByteLength: number;
  /** Its place in the directory. */
  readonly index: number;
  readonly flags: number;
  /** 0 is stored, 8 deflate. */
  readonly method: number;
  readonly crc32: number;
  readonly compressedByteLength: number;
  readonly byteLength: number;
  /** Of the local header. */
  readonly headerOffset: number;
  /** Of this entry in the directory. */
  readonly directoryOffset: number;
  readonly externalAttributes: number;
}

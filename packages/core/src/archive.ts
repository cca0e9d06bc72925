/**
 * What every reader returns: named tensors, where their bytes are, and what was noticed.
 */
import type { DType } from './dtype.ts';
import type { Finding } from './findings.ts';
import type { Piece } from './pieces.ts';
import type { Shape } from './shape.ts';
import type { ByteSource } from './source.ts';

/** A container that can be opened as an archive. */
export type Format = 'safetensors' | 'torch-zip';

/** Which bytes of which storage a tensor views; equal views of one storage are aliases. */
export interface StorageView {
  /** Names the storage within its archive. */
  readonly storage: string;
  /** The whole storage, in bytes. */
  readonly storageByteLength: number;
  /** Where the first element lies, in bytes from the storage's start. */
  readonly byteOffset: number;
  /** In elements. */
  readonly stride: readonly number[];
}

/** A tensor by name. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  /** Of the tensor written without gaps. */
  readonly byteLength: number;
  /** Absent where a format has no storages that tensors can share. */
  readonly view?: StorageView;
}

/** A member of the container, for proofs over whole members. Offsets are bytes of the source. */
export interface StoredMember {
  readonly name: string;
  /** Index into the archive's sources. */
  readonly source: number;
  readonly start: number;
  readonly end: number;
  /** Present where the member is a raw deflate stream: what it inflates to. */
  readonly inflatedLength?: number;
  /** Of the (inflated) bytes, as the container states it. */
  readonly crc32?: number;
}

/** Bytes [start, end) of a tensor. */
export interface StreamOptions {
  readonly start?: number;
  readonly end?: number;
  readonly signal?: AbortSignal;
}

/** An opened container. Borrows its sources: who opened them disposes of them. */
export interface TensorArchive extends AsyncDisposable {
  readonly format: Format;
  /** What a person wants to know of the container: "protocol 2", "torch 2.13", byte order. */
  readonly facts: ReadonlyMap<string, string>;
  readonly sources: readonly ByteSource[];
  /** In file order. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** safetensors' `__metadata__`; empty elsewhere. */
  readonly metadata: ReadonlyMap<string, string>;
  readonly members: readonly StoredMember[];
  /** What the file holds beside these tensors: `info` for what is not weights, `error` for weights that cannot be had. */
  readonly leftOut: readonly Finding[];
  readonly findings: readonly Finding[];
  /**
   * Where the bytes of a tensor are, in order.
   * @throws {RangeError} for a name that is not in `tensors`
   */
  locate(name: string): readonly Piece[];
  /** The tensor's bytes, C order, little-endian; a chunk is valid until the next is asked for. */
  stream(name: string, options?: StreamOptions): AsyncIterable<Uint8Array>;
}

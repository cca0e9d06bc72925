/**
 * Where the bytes of a tensor are: plain data that survives structured clone.
 * How they are read is in `read-pieces`.
 */

/** What is done to bytes on their way, after any check of the source. */
export interface Transform {
  /** Reverse the bytes of each group of this many: big-endian to little-endian. */
  readonly swap?: 2 | 4 | 8;
  /** Flip the sign bit of each float of `width` bytes (`all`), or of the first or second one of each pair (`real`, `imaginary`). */
  readonly flip?: { readonly width: 2 | 4 | 8; readonly which: 'all' | 'real' | 'imaginary' };
  /** Negate each integer of this many bytes, in two's complement. */
  readonly negate?: 1 | 2 | 4 | 8;
}

/** Bytes [start, end) of a source. */
export interface RangePiece {
  readonly kind: 'range';
  /** Index into the archive's sources. */
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly transform?: Transform;
}

/** Bytes [from, to) of what the raw deflate stream in [start, end) of a source inflates to. */
export interface InflatedPiece {
  readonly kind: 'inflated';
  readonly source: number;
  readonly start: number;
  readonly end: number;
  /** What the whole stream must inflate to. */
  readonly inflatedLength: number;
  readonly from: number;
  readonly to: number;
  readonly transform?: Transform;
}

/** A view over a storage, in elements of `itemSize` bytes. Proven by its maker to lie within the storage. */
export interface StridedView {
  readonly shape: readonly number[];
  readonly stride: readonly number[];
  readonly offset: number;
  readonly itemSize: number;
}

/** The elements of a view, in C order. */
export interface StridedPiece {
  readonly kind: 'strided';
  /** The whole storage; its own transform is absent. */
  readonly storage: RangePiece | InflatedPiece;
  readonly view: StridedView;
  readonly transform?: Transform;
}

/** Bytes that are in the plan itself. */
export interface InlinePiece {
  readonly kind: 'inline';
  readonly bytes: Uint8Array;
}

/** A run of a tensor's bytes. */
export type Piece = RangePiece | InflatedPiece | StridedPiece | InlinePiece;

/** The bytes a piece yields. */
export function pieceByteLength(piece: Piece): number {
  switch (piece.kind) {
    case 'range':
      return piece.end - piece.start;
    case 'inflated':
      return piece.to - piece.from;
    case 'strided':
      return piece.view.shape.reduce((product, size) => product * size, piece.view.itemSize);
    case 'inline':
      return piece.bytes.length;
  }
}

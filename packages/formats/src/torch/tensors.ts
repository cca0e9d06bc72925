/**
 * From chosen weights to tensors with a place: each call is read and proven, each problem becomes a finding.
 */
import { finding, type Finding, type Piece, type StoredMember, type Subject, type TensorInfo } from '@assay/core';
import type { PickleCall } from '../pickle/records.ts';
import type { TensorProblem } from './problem.ts';
import { readTensor } from './rebuild.ts';
import { placeTensor, type ByteOrder } from './view.ts';

/** Options of `placeTensors`. */
export interface PlaceOptions {
  /** The pickle that the calls come from. */
  readonly where: Subject;
  /** The record of a storage by its key. */
  readonly storageMember: (key: string) => StoredMember | undefined;
  readonly order: ByteOrder;
}

/** Tensors, and what came of the others. */
export interface PlacedTensors {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly pieces: ReadonlyMap<string, readonly Piece[]>;
  /** Sound tensors of a kind that is not read here; severity `error`. */
  readonly refused: readonly Finding[];
  /** Severity `error`. */
  readonly malformed: readonly Finding[];
  /** Warnings and notes. */
  readonly remarks: readonly Finding[];
}

/** More malformed tensors than this say nothing new. */
const MOST = 1000;

/** Reads and proves each tensor. */
export function placeTensors(calls: ReadonlyMap<string, PickleCall>, options: PlaceOptions): PlacedTensors {
  const { where, storageMember, order } = options;
  const tensors = new Map<string, TensorInfo>();
  const pieces = new Map<string, readonly Piece[]>();
  const refused: Finding[] = [];
  const malformed: Finding[] = [];
  const remarks: Finding[] = [];
  const subjectOf = (name: string, call: PickleCall): Subject => ({ ...where, tensor: name, start: call.offset });
  for (const [name, call] of calls) {
    const dense = readTensor(call);
    const placed = dense.kind === 'dense' ? placeTensor(dense, storageMember(dense.storage.key), order) : dense;
    if (placed.kind === 'placed') {
      const { dtype, shape, byteLength, view, repeats } = placed;
      tensors.set(name, { name, dtype, shape, byteLength, view });
      pieces.set(name, placed.pieces);
      if (dense.kind === 'dense' && dense.subclass !== undefined) {
        note(remarks, finding('TORCH_SUBCLASS_UNWRAPPED', 'info', subjectOf(name, call), { class: dense.subclass }));
      }
      if (repeats) {
        const args = { byteLength, storageByteLength: view.storageByteLength };
        note(remarks, finding('TORCH_VIEW_REPEATS', 'warning', subjectOf(name, call), args));
      }
    } else {
      note(placed.kind === 'refused' ? refused : malformed, problemFinding(placed, subjectOf(name, call), call.offset));
    }
  }
  return { tensors, pieces, refused, malformed, remarks };
}

function problemFinding({ code, args }: TensorProblem, subject: Subject, offset: number): Finding {
  return finding(code, 'error', subject, { offset, ...args });
}

function note(list: Finding[], item: Finding): void {
  if (list.length < MOST) list.push(item);
}

/**
 * What a zip archive is, by the names of its members.
 */
import { blameOf, isAssayError, readBytes, type ByteSource, type Facts, type TransferOptions } from '@assay/core';
import { surveyZipDirectory } from '../zip/directory.ts';
import { endsWithDirectory, TAIL_BYTES } from '../zip/end.ts';
import { hasSignature, readLocalHeader, signatures, sizes, viewOf } from '../zip/records.ts';
import type { DetectedKind, DetectOptions, Sign } from './kinds.ts';

/** True for a file that ends like a zip archive, whatever it begins with. */
export async function endsLikeZip(source: ByteSource, transfer: TransferOptions): Promise<boolean> {
  if (source.size < sizes.end) return false;
  return endsWithDirectory(await readBytes(source, Math.max(0, source.size - TAIL_BYTES), source.size, transfer));
}

/** Tells what kind of zip it is; of a broken one by the local headers at its start. */
export async function describeZip(source: ByteSource, head: Uint8Array, options: DetectOptions): Promise<Sign> {
  try {
    const { entries, prefixByteLength } = await surveyZipDirectory(source, options);
    const names = entries.map(({ name }) => name);
    return { kind: kindOf(names), facts: { members: names.length, ...rootOf(names), ...contents(names), ...prefixOf(prefixByteLength) } };
  } catch (error) {
    if (!isAssayError(error) || blameOf(error.code) === 'world') throw error;
    const names = namesAtStart(head);
    return { kind: kindOf(names), facts: { problem: error.code, byteLength: source.size, ...rootOf(names) } };
  }
}

function prefixOf(prefixByteLength: number): Facts {
  return prefixByteLength > 0 ? { prefixByteLength } : {};
}

/** Everything up to the first slash of the first name: PyTorch's root folder. */
function rootOf([first = '']: readonly string[]): { root?: string } {
  const slash = first.indexOf('/');
  return slash > 0 ? { root: first.slice(0, slash) } : {};
}

function kindOf(names: readonly string[]): DetectedKind {
  // Below the root, whichever it is; case is folded so that an odd name is refused by its reader, not overlooked.
  const records = new Set(names.map((name) => name.slice(name.indexOf('/') + 1).toLowerCase()));
  const has = (record: string): boolean => records.has(record);
  if (has('constants.pkl') && has('data.pkl')) return 'torchscript';
  if (has('data.pkl')) return 'torch-zip';
  if (has('archive_format') || [...records].some((record) => /^models\/[^/]+\.json$/.test(record))) return 'torch-export';
  if (has('.data/extern_modules') || has('.data/python_version')) return 'torch-package';
  if (has('model.json') && [...records].some((record) => record.startsWith('tensors/'))) return 'torchscript';
  if (names.length > 0 && names.every((name) => name.endsWith('.npy'))) return 'npz';
  // PyTorch's layout without its pickle: its reader says what is missing.
  const isTorch = (has('version') || has('byteorder') || has('.format_version')) && [...records].some((record) => /^data\/\d+$/.test(record));
  return isTorch ? 'torch-zip' : 'zip';
}

/** A member that somebody zipped up as a download. */
function contents(names: readonly string[]): { contains?: string } {
  const found = names.find((name) => /\.(?:safetensors|bin|pt|pth|ckpt|gguf|onnx|h5)$/i.test(name));
  return found === undefined ? {} : { contains: found };
}

/** The names of local headers within the head, for a file that has lost its directory. */
function namesAtStart(head: Uint8Array): string[] {
  const view = viewOf(head);
  const names: string[] = [];
  for (let at = head.indexOf(0x50); at >= 0; at = head.indexOf(0x50, at + 1)) {
    if (at + sizes.localHeader > head.length || !hasSignature(view, at, signatures.localHeader)) continue;
    const start = at + sizes.localHeader;
    names.push(new TextDecoder().decode(head.subarray(start, start + readLocalHeader(view, at).nameByteLength)));
  }
  return names;
}

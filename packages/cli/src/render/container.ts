/**
 * A container in a few words: "PyTorch zip (torch 2.7 or later), little-endian".
 */
import { escapeName } from './escape.ts';

const KINDS: ReadonlyMap<string, string> = new Map([
  ['safetensors', 'safetensors'],
  ['torch-zip', 'PyTorch zip'],
  ['torchscript', 'TorchScript archive'],
  ['torch-legacy', 'PyTorch file of before 1.6'],
  ['torch-tar', 'PyTorch tar of before 0.1.10'],
  ['torch-package', 'torch.package archive'],
  ['torch-export', 'torch.export archive'],
  ['torch-preview', 'PyTorch preview archive'],
  ['pickle', 'bare pickle'],
  ['git-lfs-pointer', 'a Git LFS pointer'],
  ['html', 'a web page'],
  ['json', 'a JSON document'],
  ['zeros', 'all zeros'],
  ['empty', 'empty'],
  ['unknown', 'no known format'],
  ['gguf', 'GGUF'],
  ['hdf5', 'HDF5'],
  ['text', 'plain text'],
  ['xml', 'an XML document'],
  ['pdf', 'a PDF document'],
  ['zip', 'a zip archive'],
  ['7z', 'a 7-Zip archive'],
  ['rar', 'a RAR archive'],
  ['tar', 'a tar archive'],
  ['gzip', 'compressed by gzip'],
  ['zlib', 'compressed by zlib'],
  ['zstd', 'compressed by Zstandard'],
  ['xz', 'compressed by xz'],
  ['bzip2', 'compressed by bzip2'],
  ['lz4', 'compressed by LZ4'],
  ['npz', 'NumPy .npz'],
  ['npy', 'NumPy array'],
]);

/** The words for a kind of bytes. */
export function kindWords(kind: string): string {
  return KINDS.get(kind) ?? kind;
}

/** A kind of bytes, and the facts of it that are known. */
interface Container {
  readonly kind: string;
  readonly facts: ReadonlyMap<string, string>;
}

/** For who asks what a file is: `PyTorch zip (torch 2.7 or later), little-endian`. */
export function renderContainer({ kind, facts }: Container): string {
  const torch = facts.get('torch');
  const words = torch === undefined ? kindWords(kind) : `${kindWords(kind)} (torch ${escapeName(torch)})`;
  return [words, ...orderWords(facts, ['little', 'big'])].join(', ');
}

/** For who asks what becomes of it: `PyTorch zip, protocol 2`; the byte order where it is unusual. */
export function renderContainerShortly({ kind, facts }: Container): string {
  const protocol = facts.get('protocol');
  return [kindWords(kind), ...(protocol === undefined ? [] : [`protocol ${escapeName(protocol)}`]), ...orderWords(facts, ['big'])].join(', ');
}

function orderWords(facts: ReadonlyMap<string, string>, shown: readonly string[]): readonly string[] {
  const order = facts.get('byte order');
  return order !== undefined && shown.includes(order) ? [`${order}-endian`] : [];
}

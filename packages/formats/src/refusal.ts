/**
 * The errors for files that are not opened here: what was found, and what to do about it.
 */
import { AssayError, shellWord, type ByteSource, type Code } from '@assay/core';
import type { DetectedKind, Detection } from './detect/kinds.ts';

const EXPECTED = 'safetensors, or a checkpoint that torch.save has written as a zip';
const DOWNLOAD_AGAIN = 'Download it again, and compare its size and SHA-256 with the publisher’s.';
const OLD_TORCH = 'Load it with PyTorch (weights_only=True) and save it again: torch.save(torch.load(old, weights_only=True), new).';

/** What a file is that is not opened here, in words. */
export interface Refusal {
  readonly code: Code;
  /** "is …" */
  readonly is: string;
  /** What to do about it. */
  readonly hint: string;
}

type Facts = Detection['facts'];
type Maker = (name: string, facts: Facts) => Refusal;

/**
 * The error for what is not opened here; `undefined` for what is.
 * Its context has `found`, `expected`, `offset` and the facts of the detection.
 */
export function refusalOf(detection: Detection, source: ByteSource): AssayError | undefined {
  const { kind, facts, alsoReadableAs } = detection;
  const refusal = refusalWords(detection, source.name);
  if (refusal === undefined) return undefined;
  const { code, is, hint } = refusal;
  return new AssayError(code, {
    message: `${source.name}: is ${is}; expected ${EXPECTED}`,
    hint,
    context: { offset: 0, ...facts, found: kind, expected: EXPECTED, ...(alsoReadableAs.length === 0 ? {} : { alsoReadableAs }) },
  });
}

/** The words of `refusalOf` alone: facts that a finding carries are words again where it is shown. */
export function refusalWords({ kind, facts }: Pick<Detection, 'kind' | 'facts'>, name: string): Refusal | undefined {
  return refusals.get(kind)?.(name, facts);
}

/** Git LFS takes patterns of paths inside the repository: a last part alone fits anywhere. */
function lastPart(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
}

/** Quoted text of the file, which may hold anything. */
function quoted(fact: Facts[string] | undefined): string {
  return fact === undefined ? '' : `: ${JSON.stringify(fact)}`;
}

function unpack(is: string, command: (name: string) => string): Maker {
  return (name) => ({ code: 'FORMAT_ARCHIVE', is, hint: `Unpack it first: ${command(shellWord(name))}` });
}

function unsupported(is: string, hint: string): Maker {
  return () => ({ code: 'FORMAT_UNSUPPORTED', is, hint });
}

const refusals: ReadonlyMap<DetectedKind, Maker> = new Map<DetectedKind, Maker>([
  ['empty', () => ({ code: 'FORMAT_EMPTY', is: 'empty', hint: DOWNLOAD_AGAIN })],
  [
    'zeros',
    (_, { wholeFileRead, bytesLookedAt }) => ({
      code: 'FORMAT_ZEROS',
      is: wholeFileRead === true ? 'all zeros' : `zeros, in its first bytes and in every sample of it (${String(bytesLookedAt)} bytes looked at)`,
      hint: `Its room was reserved, but its content was never written. ${DOWNLOAD_AGAIN}`,
    }),
  ],
  [
    'git-lfs-pointer',
    (name, { size }) => ({
      code: 'FORMAT_GIT_LFS_POINTER',
      is: `a Git LFS pointer${typeof size === 'number' ? ` to a file of ${size} bytes` : ''}`,
      hint: `Fetch the file that it stands for: git lfs install && git lfs pull --include ${shellWord(lastPart(name))}`,
    }),
  ],
  [
    'html',
    (_, { title }) => ({
      code: 'FORMAT_HTML',
      is: `a web page${quoted(title)}`,
      hint: 'The server sent a page instead of the file: a login, a licence to accept, or an error. Open the address in a browser, then download the file itself (on Hugging Face /resolve/, not /blob/).',
    }),
  ],
  [
    'xml',
    (_, { error, code }) => ({
      code: 'FORMAT_XML',
      is: `an XML document${quoted(error ?? code)}`,
      hint: 'The server sent an answer instead of the file, often because a signed address has expired. Download it again.',
    }),
  ],
  ['json', (_, facts) => jsonRefusal(facts)],
  [
    'text',
    (_, { firstLine }) => ({
      code: 'FORMAT_TEXT',
      is: `plain text${quoted(firstLine)}`,
      hint: 'Is this the right file? A server may also have sent a message instead of it: download it again.',
    }),
  ],
  ['pdf', () => ({ code: 'FORMAT_UNKNOWN', is: 'a PDF document', hint: 'Is this the right file?' })],
  ['unknown', (_, facts) => unknownRefusal(facts)],
  ['gzip', unpack('compressed by gzip', (name) => (/\.gz'?$/.test(name) ? `gzip -dk ${name}` : `gzip -dc < ${name} > unpacked`))],
  ['zlib', unpack('compressed by zlib', (name) => `pigz -dc < ${name} > unpacked`)],
  ['zstd', unpack('compressed by Zstandard', (name) => `zstd -d ${name} -o unpacked`)],
  ['xz', unpack('compressed by xz', (name) => `xz -dc < ${name} > unpacked`)],
  ['bzip2', unpack('compressed by bzip2', (name) => `bzip2 -dc < ${name} > unpacked`)],
  ['lz4', unpack('compressed by LZ4', (name) => `lz4 -d ${name} unpacked`)],
  ['7z', unpack('a 7-Zip archive', (name) => `7z x ${name}`)],
  ['rar', unpack('a RAR archive', (name) => `unrar x ${name}`)],
  ['tar', unpack('a tar archive', (name) => `tar -xf ${name}`)],
  ['zip', zipRefusal],
  ['npz', unsupported('a NumPy .npz archive', 'Save its arrays as safetensors in Python: safetensors.numpy.save_file(dict(numpy.load(path)), new).')],
  ['npy', unsupported('one NumPy array', 'Save it as safetensors in Python: safetensors.numpy.save_file({"array": numpy.load(path)}, new).')],
  ['gguf', unsupported('a GGUF model', 'Its weights are quantised for llama.cpp. Get the original weights of this model.')],
  ['ggml', unsupported('a GGML model', 'Its weights are quantised for an old llama.cpp. Get the original weights of this model.')],
  ['hdf5', unsupported('an HDF5 file, such as Keras writes', 'Load it with its framework and save the weights as safetensors.')],
  ['torchscript', unsupported('a TorchScript program', 'Take its weights out with PyTorch: torch.save(torch.jit.load(path).state_dict(), new). Do so only if you trust it.')],
  ['torch-package', unsupported('a torch.package archive, which holds code', 'Take its weights out with PyTorch, and only if you trust it.')],
  ['torch-export', unsupported('a program of torch.export', 'Take its weights out with PyTorch: torch.save(torch.export.load(path).state_dict, new).')],
  ['torch-legacy', unsupported('a checkpoint in the form before PyTorch 1.6', OLD_TORCH)],
  ['torch-tar', unsupported('a checkpoint in the tar form before PyTorch 0.1.10', 'PyTorch before 2.6 reads it: load it there and save it again with torch.save. Do so only if you trust it.')],
  ['torch-preview', unsupported('an archive of a PyTorch preview release', 'No released PyTorch reads it. Get the weights in another form.')],
  ['pickle', unsupported('a bare pickle, not in any container of PyTorch', 'If you trust it, load it in Python and save the tensors with safetensors.torch.save_file.')],
]);

function jsonRefusal({ isShardIndex, error }: Facts): Refusal {
  if (isShardIndex === true) {
    return {
      code: 'FORMAT_JSON',
      is: 'the index of a sharded model, not weights',
      hint: 'Give the shards that it names, each a file of its own.',
    };
  }
  return {
    code: 'FORMAT_JSON',
    is: `a JSON document${quoted(error)}`,
    hint: 'If a server sent it instead of the file, see what it says (a missing token, a wrong address), then download the file again.',
  };
}

function zipRefusal(name: string, { problem, contains }: Facts): Refusal {
  if (problem === 'ZIP_DIRECTORY_MISSING') {
    return { code: 'ZIP_DIRECTORY_MISSING', is: 'a zip file that ends before its directory', hint: DOWNLOAD_AGAIN };
  }
  return {
    code: 'FORMAT_ARCHIVE',
    is: `a zip archive that is no checkpoint${contains === undefined ? '' : `, with ${JSON.stringify(contains)} inside`}`,
    hint: `Unpack it first: unzip ${shellWord(name)}`,
  };
}

function unknownRefusal({ firstBytes, zerosAtStart, somethingAt }: Facts): Refusal {
  if (zerosAtStart !== undefined) {
    return {
      code: 'FORMAT_UNKNOWN',
      is: `zeros in its first ${String(zerosAtStart)} bytes, with something from byte ${String(somethingAt)} on`,
      hint: `The download has a hole. ${DOWNLOAD_AGAIN}`,
    };
  }
  return { code: 'FORMAT_UNKNOWN', is: `nothing that is known (it begins with ${String(firstBytes)})`, hint: 'Is this the right file, and is it complete?' };
}

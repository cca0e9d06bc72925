/**
 * What to do about a finding: one action, by code or by the group it belongs to.
 */
import { dirname } from 'node:path';
import { isDigestAlgorithm, shellWord, type AssayError, type Code, type Facts, type Finding } from '@assay/core';

const DAMAGED = 'The file was changed or cut on its way. Download or copy it again.';
const NOT_PLAIN = 'Save these weights anew in PyTorch as plain dense tensors, or leave this one out there.';
const HOSTILE = 'No ordinary writer makes such a file. Do not load it; get it from its publisher again.';
const RENAME = 'Rename the tensor and save the checkpoint anew.';
const WRITER = 'Ask its publisher for a file written by the safetensors library, or write it anew.';

const byCode: ReadonlyMap<Code, string> = new Map<Code, string>([
  ['CHECKSUM_CONFLICT', 'Find out which of the two digests is the published one, and delete the other line.'],
  ['CHECKSUM_NAME_REFUSED', 'Name the checksum file yourself with -c, if you trust where its lines point.'],
  ['CHECKSUM_UTF16', 'Write it as UTF-8. PowerShell: assay sums ... | Out-File -Encoding utf8 SHA256SUMS'],
  ['CONVERT_ALIAS_REFUSED', 'Store the tensor once with --on-alias record, or once a name with --on-alias copy.'],
  ['CONVERT_DATA_NEVER_WRITTEN', 'It was saved within skip_data(), or its download was cut. Get the file with its data.'],
  ['CONVERT_NEEDS_OUTPUT', 'Say where with -o.'],
  ['CONVERT_NOTHING_TO_DO', 'Use it as it is.'],
  ['CONVERT_NO_TENSORS', 'See what is inside with assay inspect, and choose with --select.'],
  ['DIGEST_MALFORMED', 'Copy the whole digest: 64 hex digits for SHA-256, 32 for MD5.'],
  ['DIGEST_MISMATCH', 'Download it again, or compare with the digest of the revision that you want.'],
  ['DIGEST_OTHER_ALGORITHM', 'Use the option of the algorithm that made it.'],
  ['FORMAT_ARCHIVE', 'Unpack it first.'],
  ['FORMAT_GIT_LFS_POINTER', 'The repository was cloned without its large files. Run: git lfs pull'],
  ['FORMAT_HTML', 'A server sent a page instead of the file: check the address and your access, then download again.'],
  ['FORMAT_JSON', 'A server sent a message instead of the file: check the address and your access, then download again.'],
  ['FORMAT_NAME_MISLEADS', 'Rename it after what it is.'],
  ['IO_FAILED', 'Check the disk and try again.'],
  ['IO_NO_MEMORY_MAP', 'Read without maps: --reader pread'],
  ['IO_PERMISSION', 'Check who owns the file and its folder.'],
  ['LIMIT_EXCEEDED', 'Weights do not need this much. In the library, limits can be raised for files that you trust.'],
  ['PICKLE_PERSISTENT_ID_TEXT', 'It was saved with pickle protocol 0, which PyTorch itself cannot load again. Save it with the default protocol.'],
  ['SAFETENSORS_HEADER_TOO_LARGE', 'No safetensors file begins like this. Check that this is the file that you meant, then download it again.'],
  ['SINK_EXISTS', 'Choose another name with -o, or replace it with --force.'],
  ['SINK_FILE_TOO_LARGE', 'Write to a disk whose file system takes larger files, or raise the limit (ulimit -f).'],
  ['SINK_IS_INPUT', 'Choose another output.'],
  ['SINK_NO_FOLDER', 'Make the folder first: mkdir -p FOLDER'],
  ['SINK_NO_SPACE', 'Make room, or write to another disk.'],
  ['SINK_NOT_A_FILE', 'Choose another output.'],
  ['SIZE_MISMATCH', 'Download it again.'],
  ['SOURCE_CHANGED', 'Wait until nothing writes to it, then try again.'],
  ['SOURCE_NOT_A_FILE', 'Give the path of a regular file.'],
  ['SOURCE_NOT_FOUND', 'Check the name.'],
  ['SOURCE_SHORT_READ', 'Wait until nothing writes to it, then try again.'],
  ['TORCH_DTYPE_UNSUPPORTED', 'In PyTorch, give it a dtype that safetensors has (tensor.to(...) or tensor.view(...)), and save the checkpoint anew.'],
  ['TORCH_NAME_NOT_TEXT', RENAME],
  ['TORCH_NAME_NOT_UNICODE', RENAME],
  ['TORCH_NAME_RESERVED', RENAME],
  ['TORCH_TENSOR_META', 'Save the checkpoint again after its weights were loaded.'],
  ['TORCH_TENSOR_NESTED', 'In PyTorch: torch.nested.to_padded_tensor(tensor, 0.0), then save the checkpoint anew.'],
  ['TORCH_TENSOR_NUMPY', 'In PyTorch: tensor.cpu(), then save the checkpoint anew.'],
  ['TORCH_TENSOR_QUANTIZED', 'In PyTorch: tensor.dequantize(), then save the checkpoint anew.'],
  ['TORCH_TENSOR_SPARSE', 'In PyTorch: tensor.to_dense(), then save the checkpoint anew.'],
  ['VERIFY_NO_EXPECTATION', 'Give what it should be: --sha256, -c SHA256SUMS or --against FILE. --structure proves its form alone.'],
  ['WORKER_DIED', 'Was the machine out of memory? Try again with --threads 1.'],
]);

const byGroup: readonly (readonly [string, string])[] = [
  ['SAFETENSORS_DATA_', DAMAGED],
  ['SAFETENSORS_HEADER_', DAMAGED],
  ['SAFETENSORS_TOO_SHORT', DAMAGED],
  ['SAFETENSORS_', WRITER],
  ['INDEX_', 'Get the index and its shards again from one revision, or build the index anew.'],
  ['ZIP_DIRECTORY_', DAMAGED],
  ['ZIP_CRC_', DAMAGED],
  ['ZIP_ENTRY_INFLATE', DAMAGED],
  ['ZIP_ENTRY_ENCRYPTED', 'Decrypt it first.'],
  ['ZIP_ENTRY_METHOD', 'Pack it anew, stored or deflated.'],
  ['ZIP_', HOSTILE],
  ['PICKLE_TRUNCATED', DAMAGED],
  ['PICKLE_', HOSTILE],
  ['TORCH_SELECT', 'See what is inside with assay inspect.'],
  ['TORCH_NAME', RENAME],
  ['TORCH_STORAGE', DAMAGED],
  ['TORCH_VIEW_OUT', HOSTILE],
  ['TORCH_', NOT_PLAIN],
  ['CHECKSUM_', 'Write the list anew: assay sums FILES > SHA256SUMS'],
  ['CONVERT_CRC', DAMAGED],
  ['CONVERT_', 'See the plan: assay convert FILE --dry-run'],
  ['SUMS_', 'Name files, or a folder that has some.'],
  ['VERIFY_', 'Name at least one file that is there.'],
  ['FORMAT_', 'Check that this is the file that you meant, then download it again.'],
];

/** The action for a finding; `undefined` for what needs none. */
export function remedyFor({ code, severity }: Pick<Finding, 'code' | 'severity'>): string | undefined {
  if (severity === 'info') return undefined;
  const exact = byCode.get(code);
  if (exact !== undefined || severity === 'warning') return exact;
  return byGroup.find(([prefix]) => code.startsWith(prefix))?.[1];
}

/** Codes whose action on the command line is another than in the library. */
const commandLine: ReadonlySet<Code> = new Set<Code>(['CONVERT_ALIAS_REFUSED', 'DIGEST_OTHER_ALGORITHM', 'LIMIT_EXCEEDED', 'PICKLE_PERSISTENT_ID_TEXT', 'SAFETENSORS_HEADER_TOO_LARGE', 'SINK_EXISTS']);

/** The action for an error: its own, where it works on the command line. */
export function actionFor({ code, hint, context, findings }: AssayError): string | undefined {
  if (code === 'DIGEST_OTHER_ALGORITHM') return otherAlgorithm(context['candidates']) ?? hint;
  if (code === 'SINK_NO_FOLDER' && context['system'] !== undefined) return noFolder(context);
  const refusedTensor = findings.some((one) => one.code === code && byCode.has(code) && code.startsWith('TORCH_'));
  return hint === undefined || refusedTensor || commandLine.has(code) ? remedyFor({ code, severity: 'error' }) : hint;
}

function noFolder({ path, system }: Facts): string | undefined {
  if (system === 'ENOTDIR') return 'A part of its path is a file: choose another folder.';
  return typeof path === 'string' ? `Make it first: mkdir -p ${shellWord(dirname(path))}` : undefined;
}

/** The option of the first algorithm that has one, or the command that computes it. */
function otherAlgorithm(candidates: unknown): string | undefined {
  const names = (Array.isArray(candidates) ? candidates : []).filter((name): name is string => typeof name === 'string' && isDigestAlgorithm(name));
  const option = names.find((name) => name === 'sha256' || name === 'md5');
  if (option !== undefined) return `Give it as --${option}.`;
  return names.length === 0 ? undefined : `Compare it with what this prints: ${names.map((name) => `assay sums FILE --algorithm ${name}`).join(', or: ')}`;
}

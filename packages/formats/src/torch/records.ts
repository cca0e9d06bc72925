/**
 * The records of a checkpoint in zip form (caffe2/serialize/inline_container.cc): which members they are, what the small ones say.
 */
import { AssayError, finding, type Finding, type StoredMember } from '@assay/core';
import type { ByteOrder } from './view.ts';

/** The members of a checkpoint by the names of their records, which leave out the root folder. */
export interface TorchRecords {
  /** The folder that everything is in. */
  readonly root: string;
  readonly byName: ReadonlyMap<string, StoredMember>;
}

/**
 * Sorts members into records. The root is what stands before the first `/` of the first member's name, as in PyTorch.
 * @throws {AssayError} `TORCH_MEMBER_OUTSIDE_ROOT`, `TORCH_PICKLE_MISSING`, `FORMAT_UNSUPPORTED` for TorchScript
 */
export function torchRecords(members: readonly StoredMember[], path: string): TorchRecords {
  const first = members[0]?.name ?? '';
  const slash = first.indexOf('/');
  const root = slash < 0 ? '' : first.slice(0, slash);
  const findings: Finding[] = [];
  const byName = new Map<string, StoredMember>();
  for (const member of members) {
    if (slash >= 0 && member.name.startsWith(`${root}/`)) byName.set(member.name.slice(root.length + 1), member);
    else findings.push(outsideRoot(member, root, path));
  }
  const [outside] = findings;
  if (outside !== undefined) {
    throw new AssayError('TORCH_MEMBER_OUTSIDE_ROOT', {
      message: `${path}: ${JSON.stringify(outside.subject.member)} is not in the folder ${JSON.stringify(root)} of the first member`,
      hint: 'Zip the whole folder of the checkpoint again, so that everything is in one root folder.',
      context: outside.args,
      findings,
    });
  }
  if (byName.has('constants.pkl')) throw torchScript(path, root);
  if (!byName.has('data.pkl')) throw noPickle(path, root);
  return { root, byName };
}

function outsideRoot({ name, start }: StoredMember, root: string, path: string): Finding {
  const args = { found: name, expected: root === '' ? 'one root folder for all' : `${root}/...`, offset: start };
  return finding('TORCH_MEMBER_OUTSIDE_ROOT', 'error', { path, member: name, start }, args);
}

function torchScript(path: string, root: string): AssayError {
  return new AssayError('FORMAT_UNSUPPORTED', {
    message: `${path}: is a TorchScript archive: a program, with its weights inside`,
    hint: 'In PyTorch: torch.save(torch.jit.load(file).state_dict(), "weights.pt"), and open that.',
    context: { kind: 'torchscript', found: `${root}/constants.pkl` },
  });
}

function noPickle(path: string, root: string): AssayError {
  const context = { found: 'none', expected: `${root}/data.pkl` };
  return new AssayError('TORCH_PICKLE_MISSING', {
    message: `${path}: has no ${JSON.stringify(context.expected)}, which says what the tensors are`,
    hint: 'The archive was not written whole, or is no checkpoint. Download it again.',
    context,
    findings: [finding('TORCH_PICKLE_MISSING', 'error', { path }, context)],
  });
}

/** More than any real one has: what is longer is not read to know that it is wrong. */
export const LONGEST_SMALL_RECORD = 1024;

/**
 * The byte order that the record `byteorder` states, little where there is none.
 * @throws {AssayError} `TORCH_BYTE_ORDER_UNKNOWN`
 */
export function readByteOrder(text: string | undefined, path: string, member: string): ByteOrder {
  if (text === undefined || text === 'little' || text === 'big') return text ?? 'little';
  const context = { found: text.slice(0, 40), expected: 'little or big' };
  throw new AssayError('TORCH_BYTE_ORDER_UNKNOWN', {
    message: `${path}: ${JSON.stringify(member)} says ${JSON.stringify(context.found)}, expected little or big`,
    hint: 'The archive was changed after it was saved. Get the original.',
    context,
    findings: [finding('TORCH_BYTE_ORDER_UNKNOWN', 'error', { path, member }, context)],
  });
}

/** A guess at which PyTorch wrote the archive, from the records that came with each. */
export function guessTorch({ byName }: TorchRecords): string {
  if (byName.has('.format_version') && byName.has('.storage_alignment')) return '2.7 or later';
  if (byName.has('.data/serialization_id') && byName.has('byteorder')) return '2.1 or later';
  return byName.has('byteorder') ? '2.0 or later' : '1.6 to 2.0';
}

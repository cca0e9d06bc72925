/**
 * Opens what torch.save writes since 1.6: a zip with a pickle that describes tensors, and a record for each storage.
 * Reads the directory, the local headers, the pickle and three tiny records; never a storage.
 */
import {
  AssayError,
  codes,
  finding,
  readPieces,
  resolveLimits,
  type ByteSource,
  type Code,
  type Fact,
  type Finding,
  type Kernels,
  type Limits,
  type Piece,
  type StoredMember,
  type Subject,
  type TensorArchive,
} from '@assay/core';
import { readPickle, type PickleResult } from '../pickle/machine.ts';
import { readZipDirectory } from '../zip/directory.ts';
import { locateZipMembers } from '../zip/locate.ts';
import { readZipMember } from '../zip/read-member.ts';
import { isCommonplace } from './commonplace.ts';
import { checkExpansion } from './expansion.ts';
import { defaultKernels } from './gather.ts';
import { globalName } from './globals.ts';
import { guessTorch, LONGEST_SMALL_RECORD, readByteOrder, torchRecords, type TorchRecords } from './records.ts';
import { chooseWeights, type ChosenWeights } from './state-dict.ts';
import { placeTensors, type PlacedTensors } from './tensors.ts';
import type { ByteOrder } from './view.ts';

/** Options of `openTorchZip`. */
export interface OpenTorchOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** The path of the part to take as the weights, such as `a.b`. */
  readonly select?: string;
  readonly kernels?: Kernels;
}

/**
 * Opens a checkpoint in zip form.
 * @throws {AssayError} `ZIP_*`, `PICKLE_*`, `TORCH_*`, `LIMIT_EXCEEDED` with all findings; as `ByteSource.readInto`
 */
export async function openTorchZip(source: ByteSource, options: OpenTorchOptions = {}): Promise<TensorArchive> {
  const limits = resolveLimits(options.limits);
  const reading = { limits, ...(options.signal === undefined ? {} : { signal: options.signal }), kernels: options.kernels ?? defaultKernels };
  const directory = await readZipDirectory(source, reading);
  const { members, findings: headerFindings } = await locateZipMembers(source, directory, reading);
  const zipFindings = [...directory.findings, ...headerFindings];
  throwErrors(source, zipFindings);
  const records = torchRecords(members, source.name);
  const pickleMember = recordOf(records, 'data.pkl');
  const where = { path: source.name, member: pickleMember.name };
  const order = await readOrder(source, records, reading);
  const bytes = await readZipMember(source, pickleMember, reading);
  const pickle = readPickle(bytes, { limits, where });
  const weights = chooseWeights(pickle.value, {
    where,
    limits,
    pickleByteLength: bytes.length,
    ...(options.select === undefined ? {} : { select: options.select }),
  });
  const storageMember = (key: string): StoredMember | undefined => records.byName.get(`data/${key}`);
  const placed = placeTensors(weights.tensors, { where, storageMember, order });
  throwErrors(source, [...pickle.findings, ...weights.problems, ...placed.malformed].toSorted((a, b) => (a.subject.start ?? 0) - (b.subject.start ?? 0)));
  const piecesOf = (name: string): readonly Piece[] => placed.pieces.get(name) ?? [];
  checkExpansion({ where: source.name, sourceByteLength: source.size, tensors: placed.tensors.values(), piecesOf, aliases: 'once' }, limits);
  return archiveOf({ source, members, records, order, pickle, weights, placed, zipFindings, where, kernels: reading.kernels });
}

interface Opened {
  readonly source: ByteSource;
  readonly members: readonly StoredMember[];
  readonly records: TorchRecords;
  readonly order: ByteOrder;
  readonly pickle: PickleResult;
  readonly weights: ChosenWeights;
  readonly placed: PlacedTensors;
  readonly zipFindings: readonly Finding[];
  readonly where: Subject;
  readonly kernels: Kernels;
}

function archiveOf(opened: Opened): TensorArchive {
  const { source, members, records, order, pickle, weights, placed, zipFindings, where, kernels } = opened;
  const locate: TensorArchive['locate'] = (name) => {
    const pieces = placed.pieces.get(name);
    if (pieces === undefined) throw new RangeError(`${source.name} has no tensor ${JSON.stringify(name)}`);
    return pieces;
  };
  return {
    format: 'torch-zip',
    facts: new Map([
      ['container', 'PyTorch zip'],
      ['torch', guessTorch(records)],
      ['protocol', String(pickle.protocol)],
      ['byte order', order],
      ['root', records.root],
      ['weights', weights.path === '' ? 'the whole object' : weights.path],
    ]),
    sources: [source],
    tensors: placed.tensors,
    metadata: new Map(),
    members,
    leftOut: [...weights.leftOut, ...placed.refused],
    findings: [...zipFindings, ...pickle.findings, ...unbuiltClasses(pickle, where), ...placed.remarks],
    locate,
    stream(name, { start, end, signal } = {}) {
      const context = { sources: [source], kernels, ...(signal === undefined ? {} : { signal }) };
      const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
      return readPieces(locate(name), context, range);
    },
    // The source is borrowed.
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Names beyond torch's own and Python's containers: listed, never looked up. */
function unbuiltClasses({ globals }: PickleResult, where: Subject): Finding[] {
  return globals
    .filter((global) => !isCommonplace(global))
    .slice(0, 1000)
    .map((global) => finding('TORCH_CLASS_NOT_BUILT', 'info', { ...where, start: global.offset }, { class: globalName(global) }));
}

function recordOf({ byName }: TorchRecords, name: string): StoredMember {
  const member = byName.get(name);
  if (member === undefined) throw new RangeError(`no record ${name}`);
  return member;
}

async function readOrder(source: ByteSource, records: TorchRecords, reading: OpenTorchOptions): Promise<ByteOrder> {
  const member = records.byName.get('byteorder');
  if (member === undefined) return 'little';
  const size = member.inflatedLength ?? member.end - member.start;
  const bytes = size > LONGEST_SMALL_RECORD ? undefined : await readZipMember(source, member, reading);
  const text = bytes === undefined ? `${size} bytes` : new TextDecoder('latin1').decode(bytes);
  return readByteOrder(text, source.name, member.name);
}

const hints: ReadonlyMap<Code, string> = new Map<Code, string>([
  ['TORCH_NAME_DUPLICATE', 'Select one part of the checkpoint by its path, or rename one of the two in PyTorch.'],
  ['TORCH_NAMES_CYCLIC', 'Select one part of the checkpoint by its path.'],
  ['LIMIT_EXCEEDED', 'A view of a few bytes stands for all this. Save a contiguous copy with PyTorch, if it is really wanted.'],
]);

/** One error for all that is wrong, in file order. */
function throwErrors(source: ByteSource, findings: readonly Finding[]): void {
  const worst = findings.find(({ severity }) => severity === 'error');
  if (worst === undefined) return;
  const { code, subject, args } = worst;
  const name = subject.tensor ?? subject.member;
  const place = name === undefined ? source.name : `${source.name}: ${JSON.stringify(name.slice(0, 200))}`;
  throw new AssayError(code, {
    message: `${place}: ${codes.get(code)?.summary ?? code}: found ${JSON.stringify(shown(args['found']))}, expected ${JSON.stringify(shown(args['expected']))}`,
    hint: hints.get(code) ?? 'The file is damaged, or it was made to confuse readers. Download it again, or ask its authors for safetensors.',
    context: { ...args, ...(subject.tensor === undefined ? {} : { tensor: subject.tensor }) },
    findings,
  });
}

function shown(fact: Fact | undefined): Fact {
  return typeof fact === 'bigint' ? String(fact) : (fact ?? null);
}

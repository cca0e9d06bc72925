/**
 * Proof of a zip file: a sound directory, local headers that agree, and the CRC-32 of every member.
 * Never throws for content; small neighbours are read together.
 */
import {
  blameOf,
  crc32FromHex,
  crc32OfZeros,
  crc32ToHex,
  finding,
  inflateMember,
  inflateWithStreams,
  isAssayError,
  isOk,
  readBytes,
  type ByteSource,
  type Finding,
  type HasherProvider,
  type Kernels,
  type Limits,
  type Report,
  type StoredMember,
} from '@assay/core';
import { surveyZipDirectory } from './directory.ts';
import { locateZipMembers } from './locate.ts';

/** Members up to this size are read in groups. */
const SMALL_BYTES = 256 * 1024;
/** One read, of a group or of a part of a large member. */
const READ_BYTES = 1 << 20;

/** Options of a check. */
export interface ZipCheckOptions {
  readonly hashers: HasherProvider;
  /** Only `inflate` is used. */
  readonly kernels?: Pick<Kernels, 'inflate'>;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Called with the number of bytes of the file read for CRCs since the last call. */
  readonly onBytes?: (count: number) => void;
}

/** What a check found. `complete` is false when members could not be read to their end. */
export interface ZipCheck extends Report {
  readonly members: number;
  readonly crcMatched: number;
  readonly crcWrong: number;
}

/**
 * Checks a zip file and the CRC-32 of all its members.
 * Wrong in every member: it was never computed (`torch.serialization.set_crc32_options(False)`), a warning. Wrong in some: damage.
 * @throws {AssayError} only for the world's faults, as `ByteSource.readInto`
 */
export async function checkZip(source: ByteSource, options: ZipCheckOptions): Promise<ZipCheck> {
  const { limits, signal } = options;
  const zipOptions = { ...(limits === undefined ? {} : { limits }), ...(signal === undefined ? {} : { signal }) };
  try {
    const directory = await surveyZipDirectory(source, zipOptions);
    const located = await locateZipMembers(source, directory, zipOptions);
    const structure = [...directory.findings, ...located.findings];
    // Members of an unsound container may be anywhere and any size: nothing is inflated.
    if (!isOk(structure)) return report(structure, located.members.length, new CrcTally());
    const tally = await checkMembers(source, located.members, options);
    return report([...structure, ...tally.findings(source.name)], located.members.length, tally);
  } catch (error) {
    if (!isAssayError(error) || blameOf(error.code) !== 'input') throw error;
    return report([asFinding(source, error)], 0, new CrcTally());
  }
}

function asFinding(source: ByteSource, error: { code: Finding['code']; context: Finding['args'] }): Finding {
  const { offset } = error.context;
  const start = typeof offset === 'number' ? { start: offset } : {};
  return finding(error.code, 'error', { path: source.name, ...start }, error.context);
}

function report(findings: readonly Finding[], members: number, tally: CrcTally): ZipCheck {
  const sorted = findings.toSorted((a, b) => (a.subject.start ?? 0) - (b.subject.start ?? 0));
  const { matched, wrong } = tally.counts();
  return { ok: isOk(sorted), complete: tally.complete, findings: sorted, members, crcMatched: matched, crcWrong: wrong };
}

/** Counts CRCs; only when all are known can a wrong one be judged. */
class CrcTally {
  complete = false;
  #matched = 0;
  /** Right by chance where none was computed: of nothing, the CRC is 0. */
  #matchedEmpty = 0;
  #wrong: { readonly member: StoredMember; readonly found: number; readonly byteLength: number }[] = [];
  #failed: { readonly member: StoredMember; readonly error: { code: Finding['code']; context: Finding['args'] } }[] = [];

  take(member: StoredMember, found: number): void {
    const byteLength = member.inflatedLength ?? member.end - member.start;
    if (found !== member.crc32) this.#wrong.push({ member, found, byteLength });
    else if (byteLength === 0) this.#matchedEmpty += 1;
    else this.#matched += 1;
  }

  fail(member: StoredMember, error: { code: Finding['code']; context: Finding['args'] }): void {
    this.#failed.push({ member, error });
  }

  counts(): { matched: number; wrong: number } {
    return { matched: this.#matched + this.#matchedEmpty, wrong: this.#wrong.length };
  }

  findings(path: string): Finding[] {
    const failed = this.#failed.map(({ member: { name, start, end }, error }) =>
      finding(error.code, 'error', { path, member: name, start, end }, error.context),
    );
    const [first] = this.#wrong;
    if (first !== undefined && this.#matched === 0 && this.#failed.length === 0) {
      return [finding('ZIP_CRC_NEVER_WRITTEN', 'warning', { path }, { members: this.#wrong.length })];
    }
    const wrong = this.#wrong.map(({ member: { name, start, end, crc32 = 0 }, found, byteLength }) => {
      const zeros = found === crc32OfZeros(byteLength);
      return finding('ZIP_CRC_MISMATCH', 'error', { path, member: name, start, end }, { found: crc32ToHex(found), expected: crc32ToHex(crc32), zeros });
    });
    return [...failed, ...wrong];
  }
}

async function checkMembers(source: ByteSource, members: readonly StoredMember[], options: ZipCheckOptions): Promise<CrcTally> {
  const tally = new CrcTally();
  for (const group of groups(members)) {
    options.signal?.throwIfAborted();
    const [only] = group;
    if (only !== undefined && group.length === 1) await checkAlone(source, only, options, tally);
    else await checkTogether(source, group, options, tally);
  }
  tally.complete = true;
  return tally;
}

/** Members in file order; neighbours that are small and stored together, others alone. */
function* groups(members: readonly StoredMember[]): Iterable<StoredMember[]> {
  let group: StoredMember[] = [];
  for (const member of members.toSorted((a, b) => a.start - b.start)) {
    const start = group[0]?.start ?? member.start;
    const joins = isSmall(member) && group.every(isSmall) && member.end - start <= READ_BYTES;
    if (!joins && group.length > 0) {
      yield group;
      group = [];
    }
    group.push(member);
  }
  if (group.length > 0) yield group;
}

function isSmall({ inflatedLength, start, end }: StoredMember): boolean {
  return inflatedLength === undefined && end - start <= SMALL_BYTES;
}

async function checkTogether(source: ByteSource, group: readonly StoredMember[], options: ZipCheckOptions, tally: CrcTally): Promise<void> {
  const start = group[0]?.start ?? 0;
  const end = group.reduce((most, member) => Math.max(most, member.end), start);
  const bytes = await readBytes(source, start, end, transfer(options));
  for (const member of group) {
    const crc = await options.hashers.create('crc32');
    crc.update(bytes.subarray(member.start - start, member.end - start));
    tally.take(member, crc32FromHex(crc.digest()));
  }
  options.onBytes?.(bytes.length);
}

async function checkAlone(source: ByteSource, member: StoredMember, options: ZipCheckOptions, tally: CrcTally): Promise<void> {
  const crc = await options.hashers.create('crc32');
  try {
    for await (const chunk of memberChunks(source, member, options)) crc.update(chunk);
    tally.take(member, crc32FromHex(crc.digest()));
  } catch (error) {
    if (!isAssayError(error) || blameOf(error.code) !== 'input') throw error;
    tally.fail(member, error);
  }
}

async function* memberChunks(source: ByteSource, member: StoredMember, options: ZipCheckOptions): AsyncIterable<Uint8Array> {
  const { start, end, inflatedLength } = member;
  if (inflatedLength !== undefined) {
    const kernels = { inflate: options.kernels?.inflate ?? inflateWithStreams, gather: noGather };
    yield* inflateMember({ source: 0, start, end, inflatedLength }, { sources: [source], kernels, ...transfer(options) });
    options.onBytes?.(end - start);
    return;
  }
  const buffer = new Uint8Array(Math.min(READ_BYTES, end - start));
  for (let position = start; position < end; position += buffer.length) {
    options.signal?.throwIfAborted();
    const chunk = buffer.subarray(0, Math.min(buffer.length, end - position));
    await source.readInto(chunk, position, transfer(options));
    yield chunk;
    options.onBytes?.(chunk.length);
  }
}

function transfer({ signal }: ZipCheckOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function noGather(): never {
  throw new TypeError('members have no strides');
}

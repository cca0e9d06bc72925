/**
 * A header as entries: reads the JSON token by token, knows what each field must be, and notes everything that is odd.
 * Knows nothing of the data behind it: `layout` proves that the ranges fit together.
 */
import type { Limits } from '@assay/core';
import { EntryReader, kindOf, type HeaderEntry } from './header-entry.ts';
import { tokenizeJson, type JsonProblem, type JsonTokenizer } from './header-json.ts';
import { contentOddities, isUnremarkable, nameOddities } from './odd-text.ts';
import type { OddityList } from './oddities.ts';
import { METADATA_KEY } from './reference-facts.ts';

/** What a header says. */
export interface Header {
  /** Of two entries with one name the last counts, as in the reference. */
  readonly entries: ReadonlyMap<string, HeaderEntry>;
  readonly metadata: ReadonlyMap<string, string>;
  /** False when the text is no JSON from some point on. */
  readonly complete: boolean;
}

/** The bytes of a header, from after its length to its end, as a `Header`. `offset` is 8 in a file. */
export function readHeader(bytes: Uint8Array, offset: number, limits: Limits, oddities: OddityList): Header {
  const entries = new Map<string, HeaderEntry>();
  const metadata = new Map<string, string>();
  const json = tokenizeJson(bytes, { maxDepth: limits.maxJsonDepth, offset });
  json.next();
  if (json.kind === '{') {
    noteLeadingPadding(json, offset, oddities);
    readMembers(json, entries, metadata, limits, oddities);
  } else if (json.kind !== 'problem') {
    oddities.add('SAFETENSORS_HEADER_NOT_OBJECT', at(json), { found: json.kind === '[' ? 'array' : json.kind, expected: 'object' });
    json.skipValue();
  }
  const rootEnd = json.end;
  if (json.next() === 'end') noteTrailingPadding(bytes, rootEnd, offset, oddities);
  if (json.problem !== undefined) noteProblem(json.problem, limits, oddities);
  noteClashes(entries, oddities);
  return { entries, metadata, complete: json.problem === undefined };
}

function at(json: JsonTokenizer): { start: number; end: number } {
  return { start: json.start, end: json.end };
}

function readMembers(
  json: JsonTokenizer,
  entries: Map<string, HeaderEntry>,
  metadata: Map<string, string>,
  limits: Limits,
  oddities: OddityList,
): void {
  const reader = new EntryReader(json, limits, oddities);
  let metadataSeen = false;
  while (json.next() === 'key') {
    const name = json.text();
    if (name !== METADATA_KEY) {
      readTensor(json, name, entries, reader, oddities);
      continue;
    }
    if (metadataSeen) oddities.add('SAFETENSORS_DUPLICATE_METADATA', at(json), { key: METADATA_KEY });
    metadataSeen = true;
    json.next();
    readMetadata(json, metadata, limits, oddities);
  }
}

function readTensor(
  json: JsonTokenizer,
  name: string,
  entries: Map<string, HeaderEntry>,
  reader: EntryReader,
  oddities: OddityList,
): void {
  const { start, end } = json;
  if (!isUnremarkable(name)) {
    const odd = nameOddities(name);
    if (odd.length > 0) oddities.add('SAFETENSORS_NAME_ODD', { tensor: name, start, end }, { kinds: odd, length: name.length });
  }
  const first = entries.get(name);
  if (first !== undefined) {
    oddities.add('SAFETENSORS_DUPLICATE_TENSOR', { tensor: name, start, end }, { first: first.nameStart });
    // The later one moves to the end, so that the map stays in the header's order.
    entries.delete(name);
  }
  json.next();
  const entry = reader.read(name, start, end);
  if (json.kind !== 'problem') entries.set(name, entry);
}

function readMetadata(json: JsonTokenizer, metadata: Map<string, string>, limits: Limits, oddities: OddityList): void {
  const { start } = json;
  if (json.kind === 'null') {
    oddities.add('SAFETENSORS_METADATA_NULL', at(json), { found: 'null', expected: 'object' });
    return;
  }
  if (json.kind !== '{') {
    if (json.kind === 'problem') return;
    oddities.add('SAFETENSORS_METADATA_INVALID', at(json), { found: kindOf(json), expected: 'object' });
    json.skipValue();
    return;
  }
  let isTooLarge = false;
  const keys = new Set<string>();
  while (json.next() === 'key') {
    const place = at(json);
    const key = json.text();
    if (keys.has(key)) oddities.add('SAFETENSORS_DUPLICATE_METADATA', place, { key }, { reference: 'accepts' });
    keys.add(key);
    if (json.next() === 'string') {
      isTooLarge ||= json.end - start > limits.maxMetadataBytes;
      if (isTooLarge && oddities.rules === 'strict') continue;
      const value = json.text();
      metadata.set(key, value);
      noteContent(key, value, { start: place.start, end: json.end }, oddities);
    } else if (json.problem === undefined) {
      oddities.add('SAFETENSORS_METADATA_INVALID', at(json), { key, found: kindOf(json), expected: 'string' });
      json.skipValue();
    }
  }
  if (!isTooLarge) return;
  const facts = { limit: 'maxMetadataBytes', found: json.end - start, allowed: limits.maxMetadataBytes };
  oddities.add('LIMIT_EXCEEDED', { start, end: json.end }, facts);
}

function noteContent(key: string, value: string, where: { start: number; end: number }, oddities: OddityList): void {
  const odd = new Set([...contentOddities(key), ...contentOddities(value)]);
  if (odd.size > 0) oddities.add('SAFETENSORS_METADATA_CONTENT', where, { key, kinds: [...odd] });
}

function noteLeadingPadding(json: JsonTokenizer, offset: number, oddities: OddityList): void {
  if (json.start === offset) return;
  oddities.add('SAFETENSORS_HEADER_PADDING', { start: offset, end: json.start }, { where: 'start', expected: '{' });
}

/** Spaces are what the specification allows; serde takes any JSON whitespace, which is all that can be here. */
function noteTrailingPadding(bytes: Uint8Array, rootEnd: number, offset: number, oddities: OddityList): void {
  const odd = bytes.subarray(rootEnd - offset).findIndex((byte) => byte !== 0x20);
  if (odd < 0) return;
  const where = { start: rootEnd + odd, end: offset + bytes.length };
  oddities.add('SAFETENSORS_HEADER_PADDING', where, { where: 'end', expected: 'spaces' });
}

function noteProblem(problem: JsonProblem, limits: Limits, oddities: OddityList): void {
  const { kind, start, end, found, expected } = problem;
  if (kind === 'depth') {
    const facts = { limit: 'maxJsonDepth', found: limits.maxJsonDepth, allowed: limits.maxJsonDepth - 1 };
    oddities.add('LIMIT_EXCEEDED', { start, end }, facts, { reference: 'rejects', isFatal: true });
  } else if (kind === 'utf8') {
    oddities.add('SAFETENSORS_HEADER_UTF8', { start, end }, { found, expected });
  } else {
    // RFC 8259 lets a number be as large as it likes; serde_json does not.
    const verdict = kind === 'number-range' ? ({ specification: 'accepts' } as const) : {};
    oddities.add('SAFETENSORS_HEADER_JSON', { start, end }, { problem: kind, found, expected }, verdict);
  }
}

/** Names that differ in Unicode normalisation only. */
function noteClashes(entries: ReadonlyMap<string, HeaderEntry>, oddities: OddityList): void {
  const normalised = new Map<string, string>();
  for (const { name, nameStart, nameEnd } of entries.values()) {
    if (isUnremarkable(name) || isAscii(name)) continue;
    const form = name.normalize('NFC');
    const other = normalised.get(form) ?? (isAscii(form) && entries.has(form) ? form : undefined);
    if (other !== undefined) {
      oddities.add('SAFETENSORS_NAME_CLASH', { tensor: name, start: nameStart, end: nameEnd }, { other });
    } else {
      normalised.set(form, name);
    }
  }
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text);
}

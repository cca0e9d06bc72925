/**
 * One tensor's entry in a header: dtype, shape, data_offsets.
 * serde also reads an entry written as a list, and a dtype written as `{"F32":null}`; the format does not.
 */
import { isDType, type Dimension, type DType, type Facts, type Limits, type Shape } from '@assay/core';
import type { JsonTokenizer } from './header-json.ts';
import type { OddityCode, OddityException, OddityList } from './oddities.ts';

/** One tensor as the header describes it; a part is `undefined` where it cannot be understood. Offsets are bytes of the file. */
export interface HeaderEntry {
  readonly name: string;
  /** The name in the header. */
  readonly nameStart: number;
  readonly nameEnd: number;
  dtype: DType | undefined;
  shape: Shape | undefined;
  /** The range, in bytes of the data. */
  begin: Dimension | undefined;
  end: Dimension | undefined;
  /** The `data_offsets` in the header. */
  rangeStart: number;
  rangeEnd: number;
}

const FIELDS = ['dtype', 'shape', 'data_offsets'] as const;
type Field = (typeof FIELDS)[number];

/** Reads one entry after another; made once for a header, as a header may hold a hundred thousand. */
export class EntryReader {
  readonly #json: JsonTokenizer;
  readonly #limits: Limits;
  readonly #oddities: OddityList;
  #entry: HeaderEntry = emptyEntry('', 0, 0, 0, 0);
  #knownFields = 0;
  #otherFields: Set<string> | undefined;
  /** Reused: a list that grows by pushing takes room for 17 numbers, a slice only what it holds. */
  readonly #dimensions: Dimension[] = [];

  constructor(json: JsonTokenizer, limits: Limits, oddities: OddityList) {
    this.#json = json;
    this.#limits = limits;
    this.#oddities = oddities;
  }

  /** The entry that the current token begins; ends at its last token, or at a problem of the JSON. */
  read(name: string, nameStart: number, nameEnd: number): HeaderEntry {
    const json = this.#json;
    this.#entry = emptyEntry(name, nameStart, nameEnd, json.start, json.end);
    if (json.kind === '{') {
      this.#fields();
    } else if (json.kind === '[') {
      this.#list();
    } else if (json.kind !== 'problem') {
      this.#note('SAFETENSORS_ENTRY_INVALID', { found: json.kind, expected: 'object' });
    }
    return this.#entry;
  }

  #note(code: OddityCode, args: Facts, exception?: OddityException, start: number = this.#json.start): void {
    this.#oddities.add(code, { tensor: this.#entry.name, start, end: this.#json.end }, args, exception);
  }

  #fields(): void {
    const json = this.#json;
    const { start } = json;
    this.#knownFields = 0;
    this.#otherFields = undefined;
    while (json.next() === 'key') {
      const field = knownField(json);
      this.#noteField(field);
      json.next();
      if (field < 0) json.skipValue();
      else this.#field(field);
    }
    if (json.problem !== undefined || this.#knownFields === 0b111) return;
    const missing = FIELDS.filter((_, index) => (this.#knownFields & (1 << index)) === 0);
    this.#note('SAFETENSORS_FIELD_MISSING', { missing }, {}, start);
  }

  /** Notes a field that is unknown, or there again. `field` is an index, -1 for an unknown one. */
  #noteField(field: number): void {
    if (field >= 0) {
      const bit = 1 << field;
      if ((this.#knownFields & bit) !== 0) this.#note('SAFETENSORS_DUPLICATE_FIELD', { field: FIELDS[field] ?? '' });
      this.#knownFields |= bit;
      return;
    }
    const name = this.#json.text();
    this.#otherFields ??= new Set();
    // serde drops unknown fields unread, so that it never sees one twice.
    if (this.#otherFields.has(name)) this.#note('SAFETENSORS_DUPLICATE_FIELD', { field: name }, { reference: 'accepts' });
    else this.#note('SAFETENSORS_FIELD_UNKNOWN', { field: name });
    this.#otherFields.add(name);
  }

  #field(field: number): void {
    if (field === 0) this.#entry.dtype = this.#dtype();
    else if (field === 1) this.#entry.shape = this.#shape();
    else this.#offsets();
  }

  /** `["F32",[2],[0,8]]`: what serde makes of a struct that is written as a list. */
  #list(): void {
    const json = this.#json;
    const { start, depth } = json;
    let count = 0;
    while (json.next() !== 'problem' && json.depth >= depth) {
      if (count < FIELDS.length) this.#field(count);
      else json.skipValue();
      count += 1;
    }
    if (json.problem !== undefined) return;
    const reference = count === FIELDS.length ? 'accepts' : 'rejects';
    this.#note('SAFETENSORS_ENTRY_INVALID', { found: 'array', expected: 'object', items: count }, { reference }, start);
  }

  #dtype(): DType | undefined {
    const json = this.#json;
    if (json.kind === 'string') {
      const text = json.text();
      if (isDType(text)) return text;
      this.#note('SAFETENSORS_DTYPE_UNKNOWN', { found: text.slice(0, 64) });
      return undefined;
    }
    if (json.problem !== undefined) return undefined;
    const { start } = json;
    const found = kindOf(json);
    const dtype = json.kind === '{' ? readVariant(json) : undefined;
    if (json.kind === '[') json.skipValue();
    if (json.problem !== undefined) return undefined;
    const exception: OddityException = dtype === undefined ? {} : { reference: 'accepts' };
    this.#note('SAFETENSORS_DTYPE_INVALID', { found, expected: 'string' }, exception, start);
    return dtype;
  }

  #shape(): Shape | undefined {
    const json = this.#json;
    const { start } = json;
    if (json.kind !== '[') {
      this.#noteNotAList('SAFETENSORS_SHAPE_INVALID');
      return undefined;
    }
    const dimensions = this.#dimensions;
    let rank = 0;
    let isValid = true;
    while (json.next() !== ']' && json.problem === undefined) {
      const dimension = json.integer();
      if (dimension === undefined) {
        this.#noteNotWhole('SAFETENSORS_SHAPE_INVALID', { axis: rank });
        isValid = false;
      }
      dimensions[rank] = dimension ?? 0;
      rank += 1;
    }
    if (!isValid || json.problem !== undefined) return undefined;
    const shape = dimensions.slice(0, rank);
    const expected = this.#limits.maxUnremarkedRank;
    if (shape.length > expected) this.#note('SAFETENSORS_RANK_HIGH', { found: shape.length, expected }, {}, start);
    return shape;
  }

  #offsets(): void {
    const json = this.#json;
    const entry = this.#entry;
    const { start } = json;
    if (json.kind !== '[') {
      this.#noteNotAList('SAFETENSORS_OFFSETS_INVALID');
      return;
    }
    let begin: Dimension = 0;
    let end: Dimension = 0;
    let isValid = true;
    let count = 0;
    while (json.next() !== ']' && json.problem === undefined) {
      const offset = json.integer();
      if (offset === undefined) {
        this.#noteNotWhole('SAFETENSORS_OFFSETS_INVALID');
        isValid = false;
      } else if (count === 0) {
        begin = offset;
      } else {
        end = offset;
      }
      count += 1;
    }
    if (!isValid || json.problem !== undefined) return;
    entry.rangeStart = start;
    entry.rangeEnd = json.end;
    if (count !== 2) {
      this.#note('SAFETENSORS_OFFSETS_INVALID', { problem: 'not two', found: count, expected: 2 }, {}, start);
    } else if (begin > end) {
      this.#note('SAFETENSORS_OFFSETS_INVALID', { problem: 'backwards', found: end, expected: begin }, {}, start);
    } else {
      entry.begin = begin;
      entry.end = end;
    }
  }

  #noteNotAList(code: OddityCode): void {
    const json = this.#json;
    if (json.problem !== undefined) return;
    this.#note(code, { problem: 'not a list', found: kindOf(json), expected: 'array' });
    json.skipValue();
  }

  #noteNotWhole(code: OddityCode, more: Facts = {}): void {
    const json = this.#json;
    const found = json.kind === 'number' ? json.text().slice(0, 64) : kindOf(json);
    this.#note(code, { problem: 'not a whole number', found, expected: 'an integer from 0 to 2^64-1', ...more });
    json.skipValue();
  }
}

function emptyEntry(name: string, nameStart: number, nameEnd: number, rangeStart: number, rangeEnd: number): HeaderEntry {
  return {
    name,
    nameStart,
    nameEnd,
    dtype: undefined,
    shape: undefined,
    begin: undefined,
    end: undefined,
    rangeStart,
    rangeEnd,
  };
}

/** The index of a field among the known ones; -1 for any other. */
function knownField(json: JsonTokenizer): number {
  // Texts are made only where none of these is written as everybody writes it.
  if (json.is('"dtype"')) return 0;
  if (json.is('"shape"')) return 1;
  if (json.is('"data_offsets"')) return 2;
  return FIELDS.indexOf(json.text() as Field);
}

/** `{"F32":null}`: what serde makes of an enum that is written as a map. Ends after the map, whatever it holds. */
function readVariant(json: JsonTokenizer): DType | undefined {
  const outside = json.depth - 1;
  let dtype: DType | undefined;
  if (json.next() === 'key') {
    const name = json.text();
    if (json.next() === 'null' && json.next() === '}' && isDType(name)) dtype = name;
  }
  json.closeTo(outside);
  return dtype;
}

/** The current token as JSON names its type. */
export function kindOf(json: JsonTokenizer): string {
  if (json.kind === '{') return 'object';
  return json.kind === '[' ? 'array' : json.kind;
}

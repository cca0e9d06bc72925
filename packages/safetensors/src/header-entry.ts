/**
 * One tensor's entry in a header: dtype, shape, data_offsets.
 * serde also reads an entry written as a list, and a dtype written as `{"F32":null}`; the format does not.
 */
import { isDType, type Dimension, type DType, type Limits, type Shape } from '@assay/core';
import type { JsonTokenizer } from './header-json.ts';
import type { OddityCode, OddityList } from './oddities.ts';

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

interface EntryContext {
  readonly json: JsonTokenizer;
  readonly limits: Limits;
  readonly oddities: OddityList;
  readonly entry: HeaderEntry;
}

const FIELDS = ['dtype', 'shape', 'data_offsets'] as const;
type Field = (typeof FIELDS)[number];

/** The entry that the current token begins; ends at its last token, or at a problem of the JSON. */
export function readEntry(
  json: JsonTokenizer,
  name: string,
  nameAt: { readonly start: number; readonly end: number },
  limits: Limits,
  oddities: OddityList,
): HeaderEntry {
  const entry: HeaderEntry = {
    name,
    nameStart: nameAt.start,
    nameEnd: nameAt.end,
    dtype: undefined,
    shape: undefined,
    begin: undefined,
    end: undefined,
    rangeStart: json.start,
    rangeEnd: json.end,
  };
  const context: EntryContext = { json, limits, oddities, entry };
  if (json.kind === '{') {
    readFields(context);
  } else if (json.kind === '[') {
    readList(context);
  } else if (json.kind !== 'problem') {
    add(context, 'SAFETENSORS_ENTRY_INVALID', { found: json.kind, expected: 'object' });
  }
  return entry;
}

function add(
  { json, entry, oddities }: EntryContext,
  code: OddityCode,
  args: Parameters<OddityList['add']>[2],
  verdicts?: Parameters<OddityList['add']>[3],
  start = json.start,
): void {
  oddities.add(code, { tensor: entry.name, start, end: json.end }, args, verdicts);
}

function readFields(context: EntryContext): void {
  const { json } = context;
  const { start } = json;
  const seen = new Seen();
  while (json.next() === 'key') {
    const field = knownField(json);
    const name = field ?? json.text();
    // serde drops unknown fields unread, so that it never sees one twice.
    if (seen.has(name)) add(context, 'SAFETENSORS_DUPLICATE_FIELD', { field: name }, field === undefined ? { reference: 'accepts' } : {});
    else if (field === undefined) add(context, 'SAFETENSORS_FIELD_UNKNOWN', { field: name });
    seen.add(name);
    json.next();
    if (field === undefined) json.skipValue();
    else readField(context, field);
  }
  if (json.problem !== undefined) return;
  const missing = FIELDS.filter((field) => !seen.has(field));
  if (missing.length > 0) add(context, 'SAFETENSORS_FIELD_MISSING', { missing }, {}, start);
}

/** Names of fields; a set only where there are unknown ones. */
class Seen {
  #known = 0;
  #others: Set<string> | undefined;

  has(name: string): boolean {
    const index = FIELDS.indexOf(name as Field);
    return index < 0 ? this.#others?.has(name) === true : (this.#known & (1 << index)) !== 0;
  }

  add(name: string): void {
    const index = FIELDS.indexOf(name as Field);
    if (index < 0) (this.#others ??= new Set()).add(name);
    else this.#known |= 1 << index;
  }
}

function knownField(json: JsonTokenizer): Field | undefined {
  if (json.is('"dtype"')) return 'dtype';
  if (json.is('"shape"')) return 'shape';
  if (json.is('"data_offsets"')) return 'data_offsets';
  const name = json.text();
  return FIELDS.find((field) => field === name);
}

function readField(context: EntryContext, field: Field): void {
  const { entry } = context;
  if (field === 'dtype') entry.dtype = readDType(context);
  else if (field === 'shape') entry.shape = readShape(context);
  else readOffsets(context);
}

/** `["F32",[2],[0,8]]`: what serde makes of a struct that is written as a list. */
function readList(context: EntryContext): void {
  const { json } = context;
  const { start, depth } = json;
  let count = 0;
  while (json.next() !== 'problem' && json.depth >= depth) {
    const field = FIELDS[count];
    count += 1;
    if (field === undefined) json.skipValue();
    else readField(context, field);
  }
  if (json.problem !== undefined) return;
  const verdict = { reference: count === FIELDS.length ? ('accepts' as const) : ('rejects' as const) };
  add(context, 'SAFETENSORS_ENTRY_INVALID', { found: 'array', expected: 'object', items: count }, verdict, start);
}

function readDType(context: EntryContext): DType | undefined {
  const { json } = context;
  if (json.kind === 'string') {
    const text = json.text();
    if (isDType(text)) return text;
    add(context, 'SAFETENSORS_DTYPE_UNKNOWN', { found: text.slice(0, 64) });
    return undefined;
  }
  if (json.problem !== undefined) return undefined;
  const { start } = json;
  const found = kindOf(json);
  const dtype = json.kind === '{' ? readVariant(json) : undefined;
  if (json.problem !== undefined) return undefined;
  if (dtype === undefined) json.skipValue();
  const verdict = dtype === undefined ? {} : ({ reference: 'accepts' } as const);
  add(context, 'SAFETENSORS_DTYPE_INVALID', { found, expected: 'string' }, verdict, start);
  return dtype;
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

function readShape(context: EntryContext): Shape | undefined {
  const { json, limits, oddities, entry } = context;
  const { start } = json;
  if (json.kind !== '[') {
    noteNotAList(context, 'SAFETENSORS_SHAPE_INVALID');
    return undefined;
  }
  const shape: Dimension[] = [];
  let isValid = true;
  while (json.next() !== ']' && json.problem === undefined) {
    const dimension = json.integer();
    if (dimension === undefined) {
      noteNotWhole(context, 'SAFETENSORS_SHAPE_INVALID', { axis: shape.length });
      isValid = false;
    }
    shape.push(dimension ?? 0);
  }
  if (!isValid || json.problem !== undefined) return undefined;
  if (shape.length > limits.maxUnremarkedRank) {
    const where = { tensor: entry.name, start, end: json.end };
    oddities.add('SAFETENSORS_RANK_HIGH', where, { found: shape.length, expected: limits.maxUnremarkedRank });
  }
  return shape;
}

function readOffsets(context: EntryContext): void {
  const { json, entry } = context;
  const { start } = json;
  if (json.kind !== '[') {
    noteNotAList(context, 'SAFETENSORS_OFFSETS_INVALID');
    return;
  }
  const offsets: Dimension[] = [];
  let isValid = true;
  let count = 0;
  while (json.next() !== ']' && json.problem === undefined) {
    const offset = json.integer();
    if (offset === undefined) {
      noteNotWhole(context, 'SAFETENSORS_OFFSETS_INVALID', {});
      isValid = false;
    } else if (count < 2) {
      offsets.push(offset);
    }
    count += 1;
  }
  if (!isValid || json.problem !== undefined) return;
  entry.rangeStart = start;
  entry.rangeEnd = json.end;
  const [begin, end] = offsets;
  if (count !== 2 || begin === undefined || end === undefined) {
    add(context, 'SAFETENSORS_OFFSETS_INVALID', { problem: 'not two', found: count, expected: 2 }, {}, start);
  } else if (begin > end) {
    add(context, 'SAFETENSORS_OFFSETS_INVALID', { problem: 'backwards', found: end, expected: begin }, {}, start);
  } else {
    entry.begin = begin;
    entry.end = end;
  }
}

/** The current token as JSON names its type. */
export function kindOf(json: JsonTokenizer): string {
  if (json.kind === '{') return 'object';
  return json.kind === '[' ? 'array' : json.kind;
}

function noteNotAList(context: EntryContext, code: OddityCode): void {
  const { json } = context;
  if (json.problem !== undefined) return;
  add(context, code, { problem: 'not a list', found: kindOf(json), expected: 'array' });
  json.skipValue();
}

function noteNotWhole(context: EntryContext, code: OddityCode, more: { readonly axis?: number }): void {
  const { json } = context;
  const found = json.kind === 'number' ? json.text().slice(0, 64) : kindOf(json);
  add(context, code, { problem: 'not a whole number', found, expected: 'an integer from 0 to 2^64-1', ...more });
  json.skipValue();
}

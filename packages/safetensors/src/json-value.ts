/**
 * A whole small JSON text as values: objects are Maps, integers are exact. Built without recursion.
 */
import { resolveLimits, type Limits } from '@assay/core';
import { tokenizeJson, type JsonProblem, type JsonTokenizer } from './header-json.ts';

/** A JSON value. A whole number beyond 2^53-1 is a bigint; any other a number. */
export type JsonValue = null | boolean | string | number | bigint | readonly JsonValue[] | ReadonlyMap<string, JsonValue>;

/** A key that an object has twice; the later value counts. Offsets are bytes of the file. */
export interface DuplicateKey {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** A parsed text, or what stopped it. */
export type JsonResult =
  | { readonly ok: true; readonly value: JsonValue; readonly duplicates: readonly DuplicateKey[] }
  | { readonly ok: false; readonly problem: JsonProblem };

/** Options of `parseHeaderJson`. */
export interface ParseJsonOptions {
  readonly limits?: Partial<Limits>;
  /** Where the bytes begin in their file. */
  readonly offset?: number;
}

/**
 * The value of a whole JSON text, with every key that is there twice. Never throws for content.
 * @example
 * const result = parseHeaderJson(new TextEncoder().encode('{"a":9007199254740993}'));
 */
export function parseHeaderJson(bytes: Uint8Array, options: ParseJsonOptions = {}): JsonResult {
  const { maxJsonDepth } = resolveLimits(options.limits);
  const json = tokenizeJson(bytes, { maxDepth: maxJsonDepth, offset: options.offset ?? 0 });
  json.next();
  const duplicates: DuplicateKey[] = [];
  const value = readJsonValue(json, duplicates);
  json.next();
  return json.problem === undefined ? { ok: true, value, duplicates } : { ok: false, problem: json.problem };
}

interface Frame {
  readonly list?: JsonValue[];
  readonly map?: Map<string, JsonValue>;
  key: string;
}

/** The value that the current token begins; ends at its last token, or at a `problem`. */
export function readJsonValue(json: JsonTokenizer, duplicates: DuplicateKey[] = []): JsonValue {
  const open: Frame[] = [];
  for (;;) {
    let value: JsonValue | undefined;
    switch (json.kind) {
      case 'problem':
      case 'end':
        return null;
      case '{':
        open.push({ map: new Map(), key: '' });
        break;
      case '[':
        open.push({ list: [], key: '' });
        break;
      case '}':
      case ']': {
        const closed = open.pop();
        value = closed?.map ?? closed?.list ?? null;
        break;
      }
      case 'key':
        noteKey(json, open.at(-1), duplicates);
        break;
      default:
        value = scalar(json);
    }
    if (value !== undefined) {
      const parent = open.at(-1);
      if (parent === undefined) return value;
      if (parent.map === undefined) parent.list?.push(value);
      else parent.map.set(parent.key, value);
    }
    json.next();
  }
}

function noteKey(json: JsonTokenizer, frame: Frame | undefined, duplicates: DuplicateKey[]): void {
  if (frame === undefined) return;
  frame.key = json.text();
  if (frame.map?.has(frame.key) === true) duplicates.push({ key: frame.key, start: json.start, end: json.end });
}

function scalar(json: JsonTokenizer): JsonValue {
  if (json.kind === 'string') return json.text();
  if (json.kind !== 'number') return json.kind === 'null' ? null : json.kind === 'true';
  const text = json.text();
  const value = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

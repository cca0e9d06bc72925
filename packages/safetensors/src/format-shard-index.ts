/**
 * A shard index as text, as transformers writes it: Python's `json.dumps(index, indent=2, sort_keys=True)` and a line end.
 */
import { AssayError } from '@assay/core';
import type { JsonValue } from './json-value.ts';
import { codePointComparer, isWellFormedText } from './name-order.ts';
import { quoted } from './quoted.ts';
import type { ShardIndex } from './shard-index.ts';

/**
 * The text of an index: sorted keys, two spaces, ASCII only.
 * @throws {AssayError} `SAFETENSORS_NAME_INVALID` for a name that UTF-8 cannot hold
 */
export function formatShardIndex(index: Pick<ShardIndex, 'metadata' | 'weightMap'>): Uint8Array {
  const root = new Map<string, JsonValue>([
    ['metadata', index.metadata],
    ['weight_map', index.weightMap],
  ]);
  return new TextEncoder().encode(`${format(root, '')}\n`);
}

/** An index nests as deep as its metadata, which was read under a depth limit. */
function format(value: JsonValue, indent: string): string {
  if (typeof value === 'string') return asciiJson(value);
  if (value === null || typeof value !== 'object') return String(value);
  const inner = `${indent}  `;
  if (value instanceof Map) {
    const keys = [...(value as ReadonlyMap<string, JsonValue>).keys()];
    keys.sort(codePointComparer(keys));
    return bracketed('{', '}', indent, keys.map((key) => `${asciiJson(key)}: ${format((value as ReadonlyMap<string, JsonValue>).get(key) ?? null, inner)}`));
  }
  return bracketed('[', ']', indent, (value as readonly JsonValue[]).map((item) => format(item, inner)));
}

function bracketed(open: string, close: string, indent: string, items: readonly string[]): string {
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => `${indent}  ${item}`).join(',\n')}\n${indent}${close}`;
}

function asciiJson(text: string): string {
  if (!isWellFormedText(text)) {
    throw new AssayError('SAFETENSORS_NAME_INVALID', {
      message: `the name ${quoted(text)} holds half a surrogate pair`,
      hint: 'Rename the tensor.',
      context: { tensor: text },
    });
  }
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

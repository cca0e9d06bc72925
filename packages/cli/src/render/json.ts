/**
 * Results as JSON: maps become objects without a prototype, bigints keep their digits, bytes become hex.
 */

/** One JSON document, indented. */
export function toJson(value: unknown, indent = 2): string {
  return writeValue(value, indent, '');
}

// Not JSON.stringify: a bigint must print its digits as a number, and names from files must never be keys of `{}`.
function writeValue(value: unknown, indent: number, margin: string): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : 'null';
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('hex'));
  const inner = margin + ' '.repeat(indent);
  if (value instanceof Map) return block('{}', [...value].map(([key, item]) => member(String(key), item, indent, inner)), indent, margin);
  if (Array.isArray(value)) {
    const items = value.map((item) => writeValue(item, indent, inner));
    const short = value.every((item) => typeof item !== 'object' || item === null);
    return short ? `[${items.join(indent === 0 ? ',' : ', ')}]` : block('[]', items, indent, margin);
  }
  const members = Object.entries(value).filter(([, item]) => item !== undefined && typeof item !== 'function');
  return block('{}', members.map(([key, item]) => member(key, item, indent, inner)), indent, margin);
}

function member(key: string, value: unknown, indent: number, margin: string): string {
  return `${JSON.stringify(key)}:${indent === 0 ? '' : ' '}${writeValue(value, indent, margin)}`;
}

function block(brackets: '{}' | '[]', items: readonly string[], indent: number, margin: string): string {
  const [open, close] = [brackets.charAt(0), brackets.charAt(1)];
  if (items.length === 0) return brackets;
  if (indent === 0) return open + items.join(',') + close;
  const inner = `\n${margin}${' '.repeat(indent)}`;
  return `${open}${inner}${items.join(`,${inner}`)}\n${margin}${close}`;
}

/**
 * Text where weights were expected: a Git LFS pointer, a web page, an error in JSON or XML.
 * Quotes the few words that tell what happened; what comes from the file is cut short.
 */
import type { Fact, Facts } from '@assay/core';
import type { Sign } from './kinds.ts';

/** Quoted text ends here. */
const LONGEST_QUOTE = 200;

/** The reading as text, or `undefined` where the head is binary. */
export function describeText(head: Uint8Array, size: number): Sign | undefined {
  const text = decoded(head, size);
  if (text === undefined) return undefined;
  const start = text.trimStart();
  if (/^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\//.test(start)) return pointer(start);
  if (/^(?:<!--[^]*?-->\s*)*<(?:!doctype\s+html|html|head|body|title)\b/i.test(start)) return { kind: 'html', facts: html(start) };
  if (/^<(?:\?xml\b|[A-Za-z][\w:-]*[\s>])/.test(start)) return { kind: 'xml', facts: xml(start) };
  if (/^[{[]/.test(start)) return json(start, head.length === size) ?? plain(text);
  return plain(text);
}

/** UTF-8 without control characters, or UTF-16 with its mark; the head may end inside a character. */
function decoded(head: Uint8Array, size: number): string | undefined {
  const [first, second] = head;
  const utf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = utf16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: head.length < size });
    return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The pointer's own keys: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
function pointer(text: string): Sign {
  const oid = /^oid (?:sha256:)?([0-9a-f]+)$/im.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return {
    kind: 'git-lfs-pointer',
    facts: { ...(oid === undefined ? {} : { oid }), ...(size === undefined ? {} : { size: Number(size) }) },
  };
}

function html(text: string): Facts {
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1];
  return title === undefined ? {} : { title: quote(title) };
}

/** Object stores answer with `<Error><Code>…</Code><Message>…</Message>`. */
function xml(text: string): Facts {
  const [code, message] = [/<Code>([^<]*)/.exec(text)?.[1], /<Message>([^<]*)/.exec(text)?.[1]];
  return { ...(code === undefined ? {} : { code: quote(code) }), ...(message === undefined ? {} : { error: quote(message) }) };
}

function json(text: string, whole: boolean): Sign | undefined {
  if (!whole) return /^[{[]\s*["{[\]}\d]/.test(text) ? { kind: 'json', facts: { isShardIndex: text.includes('"weight_map"') } } : undefined;
  try {
    const value: unknown = JSON.parse(text);
    const error = errorIn(value);
    const isShardIndex = typeof value === 'object' && value !== null && 'weight_map' in value;
    return { kind: 'json', facts: { isShardIndex, ...(error === undefined ? {} : { error: quote(error) }) } };
  } catch {
    return undefined;
  }
}

/** Where servers put their reason. */
const reasons = ['error', 'message', 'detail', 'error_description', 'errors', 'Message', 'msg'] as const;

/** The reason in an error document, looked for three levels deep. */
function errorIn(value: unknown, depth = 3): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  if (Array.isArray(value)) return errorIn(value[0], depth - 1);
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const reason of reasons) {
    const found = fields.has(reason) ? errorIn(fields.get(reason), depth - 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function plain(text: string): Sign {
  return { kind: 'text', facts: { firstLine: quote(text.trim().split(/[\r\n]/, 1)[0] ?? '') } };
}

function quote(text: string): Fact {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  return words.length > LONGEST_QUOTE ? `${words.slice(0, LONGEST_QUOTE)}…` : words;
}

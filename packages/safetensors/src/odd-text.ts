/**
 * What is odd about a text of a file: never an error, as the format allows any text.
 */

/** Why a name deserves a warning. */
export type NameOddity = 'empty' | 'control' | 'bidi' | 'invisible' | 'path' | 'long';

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]/;
const PATH_LIKE = /^[/\\]|(^|[/\\])\.\.([/\\]|$)|^[A-Za-z]:[/\\]/;
const LONG_NAME = 1024;
/** 1 for what most names are made of: ASCII letters, digits, `_` and `-`. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? 1 : 0));
const DOT = 0x2e;

/** True for plain characters and single dots between them. A loop takes half the time of the expressions below. */
export function isUnremarkable(name: string): boolean {
  let previous = DOT;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (PLAIN[code] !== 1 && (code !== DOT || previous === DOT)) return false;
    previous = code;
  }
  return previous !== DOT && name.length <= LONG_NAME;
}

/** Everything odd about a tensor's name. */
export function nameOddities(name: string): NameOddity[] {
  const odd: NameOddity[] = [];
  if (name === '') odd.push('empty');
  if (CONTROL.test(name)) odd.push('control');
  if (BIDI.test(name)) odd.push('bidi');
  if (INVISIBLE.test(name)) odd.push('invisible');
  if (PATH_LIKE.test(name)) odd.push('path');
  if (name.length > LONG_NAME) odd.push('long');
  return odd;
}

/** What a metadata text holds that must not be shown, followed or rendered as it is. */
export type ContentOddity = 'control' | 'bidi' | 'markup' | 'url';

/** Everything remarkable about a metadata key or value. */
export function contentOddities(text: string): ContentOddity[] {
  const odd: ContentOddity[] = [];
  // Line ends and tabs are usual in free text.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(text)) odd.push('control');
  if (BIDI.test(text)) odd.push('bidi');
  if (/<[a-z!/?]/i.test(text)) odd.push('markup');
  if (/[a-z][a-z0-9+.-]{1,20}:\/\/|\b(?:javascript|data):/i.test(text)) odd.push('url');
  return odd;
}

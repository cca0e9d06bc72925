/**
 * Names from files and users, made safe to show: control characters and bidi marks are escaped.
 */

// C0, C1, DEL; zero-width and bidi marks; line and paragraph separators; the byte order mark; lone surrogates.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;

/** The text with everything that could move the cursor, hide or reorder text written as `\u{…}`. */
export function escapeName(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The beginning of a text that nobody reads whole. */
export function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** The name of a tensor or a member, from a file that may give it any: never without a sign, never longer than a few lines. */
export function showName(name: string): string {
  return name === '' ? '""' : escapeName(cut(name));
}

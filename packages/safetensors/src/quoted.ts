/**
 * Text of a file as it may stand in a message: escaped and short.
 */

// C1 controls, bidirectional marks, line separators and invisible characters; JSON escapes those below U+0020.
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** At most this many characters of a name are shown. */
const SHOWN = 80;

/** The text in quotes, every character visible, at most some 80 of them. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return JSON.stringify(shown).replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

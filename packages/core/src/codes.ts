/**
 * The one table of codes: every error and every finding of Assay is named here.
 * Says whose fault a code is and, in one sentence, what it stands for; the words a person reads are the renderer's.
 */

/** Whose fault it is: `input` (exit 1, retrying changes nothing), `world` (exit 2, I/O or permission), `note` (nobody's). */
export type Blame = 'input' | 'world' | 'note';

/** What the table says of a code. */
export interface CodeFacts {
  readonly blame: Blame;
  readonly summary: string;
}

const table = {
  // Sources, sinks and folders
  IO_FAILED: ['world', 'the operating system refused a read or a write'],
  IO_PERMISSION: ['world', 'the operating system denies access'],
  SINK_EXISTS: ['input', 'the output is there already'],
  SINK_IS_INPUT: ['input', 'the output is one of the inputs'],
  SINK_NO_SPACE: ['world', 'the disk has not enough room'],
  SINK_NOT_A_FILE: ['input', 'the output path is a folder or a special file'],
  SOURCE_CHANGED: ['world', 'the source changed while it was read'],
  SOURCE_NOT_A_FILE: ['input', 'the source is a folder, a device, a pipe or a socket'],
  SOURCE_NOT_FOUND: ['input', 'there is no such file'],
  SOURCE_SHORT_READ: ['world', 'the source ended before its size'],
  WORKER_DIED: ['world', 'a worker thread or process ended before its work was done'],

  // Limits
  LIMIT_EXCEEDED: ['input', 'the file asks for more than a limit allows'],

  // What the bytes are
  FORMAT_ARCHIVE: ['input', 'an outer archive or compression that has to be unpacked first'],
  FORMAT_EMPTY: ['input', 'the file is empty'],
  FORMAT_GIT_LFS_POINTER: ['input', 'a Git LFS pointer instead of the file that it points to'],
  FORMAT_HTML: ['input', 'a web page instead of weights'],
  FORMAT_JSON: ['input', 'a JSON document instead of weights'],
  FORMAT_NAME_MISLEADS: ['note', 'the name promises another format than the bytes are'],
  FORMAT_POLYGLOT: ['note', 'the bytes can be read as more than one format'],
  FORMAT_UNKNOWN: ['input', 'no known weight format'],
  FORMAT_UNSUPPORTED: ['input', 'a known format that is not read here'],
  FORMAT_ZEROS: ['input', 'the file is all zeros'],

  // Zip containers
  ZIP_ENTRY_INFLATE_FAILED: ['input', 'a deflated member is damaged or has another size than it states'],

  // Verification
  CHECKSUM_BOM: ['note', 'a checksum file starts with a byte order mark'],
  CHECKSUM_CONFLICT: ['input', 'a checksum file gives two digests of one algorithm for one name'],
  CHECKSUM_EMPTY: ['input', 'a checksum file without one well-formed line'],
  CHECKSUM_LINES_MALFORMED: ['input', 'lines of a checksum file that are no checksum lines'],
  CHECKSUM_NAME_REFUSED: ['input', 'a checksum file that was not named by the user points outside its folder'],
  CHECKSUM_UTF16: ['input', 'a checksum file in UTF-16'],
  DIGEST_MALFORMED: ['input', 'a text that is no hexadecimal digest of its algorithm'],
  DIGEST_MISMATCH: ['input', 'the bytes have another digest than was expected'],
  DIGEST_OTHER_ALGORITHM: ['input', 'a digest as long as those of another algorithm'],
  SIZE_MISMATCH: ['input', 'there are more or fewer bytes than were expected'],
  VERIFY_NOTHING_VERIFIED: ['input', 'no file was verified'],
  VERIFY_NO_EXPECTATION: ['input', 'a file without a digest to compare with'],
} as const;

/** A code of the table. */
export type Code = keyof typeof table;

/** The table of codes, in the order in which it is written. */
export const codes: ReadonlyMap<Code, CodeFacts> = new Map(
  (Object.entries(table) as [Code, readonly [Blame, string]][]).map(([code, [blame, summary]]) => [code, { blame, summary }]),
);

/** Whose fault a code is; decides between exit codes 1 and 2. */
export function blameOf(code: Code): Blame {
  return table[code][0];
}

/** True when `text` is a code of the table. */
export function isCode(text: string): text is Code {
  return codes.has(text as Code);
}

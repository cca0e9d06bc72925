/**
 * Names as words of a shell's command line: a hint that names a file can be pasted as it is.
 */

/** The name as one word of a POSIX shell, and never an option; with control characters, as `$'…'`, which bash and zsh read. */
export function shellWord(name: string): string {
  const path = name.startsWith('-') ? `./${name}` : name;
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  if (!/\p{Cc}/u.test(path)) return `'${path.replaceAll("'", `'\\''`)}'`;
  const escaped = path.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `$'${escaped.replace(/\p{Cc}/gu, (control) => `\\u${(control.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)}'`;
}

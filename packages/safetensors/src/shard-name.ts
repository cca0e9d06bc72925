/**
 * Names of shards as an index gives them: plain relative paths, or why not.
 * Nothing here opens a file; a name that is refused must never reach a file system or a URL.
 */

/** What is wrong with a shard's name. */
export type ShardNameProblem =
  | 'empty'
  | 'nul'
  | 'control'
  | 'backslash'
  | 'url'
  | 'drive'
  | 'absolute'
  | 'step'
  | 'trailing'
  | 'encoded'
  | 'long';

/** The longest path that file systems take, in UTF-16 units. */
const LONGEST = 4096;

/** Why the name is no plain relative path; `undefined` for one that is. */
export function shardNameProblem(name: string): ShardNameProblem | undefined {
  if (name.length > LONGEST) return 'long';
  const problem = plainProblem(name);
  if (problem !== undefined) return problem;
  // A server or a client may decode it once more (huggingface_hub PR 4935). Each round is shorter, so this ends.
  for (let text = name; ; ) {
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return undefined;
    if (plainProblem(decoded) !== undefined) return 'encoded';
    text = decoded;
  }
}

function plainProblem(name: string): ShardNameProblem | undefined {
  if (name === '') return 'empty';
  if (name.includes('\0')) return 'nul';
  if (/[\u0001-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(name)) return 'control';
  if (name.includes('\\')) return 'backslash';
  if (/^[a-z][a-z0-9+.-]+:/i.test(name)) return 'url';
  // A colon also names a stream of a file on Windows.
  if (name.includes(':')) return 'drive';
  if (name.startsWith('/')) return 'absolute';
  const steps = name.split('/');
  if (steps.some((step) => step === '' || step === '.' || step === '..')) return 'step';
  // Windows drops them, so that two names become one.
  return steps.some((step) => /[. ]$/.test(step)) ? 'trailing' : undefined;
}

/** `model-00002-of-00005.safetensors` as its parts; `undefined` for a name without such numbers. */
export function shardNumbers(name: string): { readonly stem: string; readonly number: number; readonly count: number } | undefined {
  const match = /^(.*)-(\d{5,6})-of-(\d{5,6})(\.[^/]*)$/.exec(name);
  if (match === null) return undefined;
  const [, before = '', number = '', count = '', after = ''] = match;
  return { stem: `${before}-of-${count}${after}`, number: Number(number), count: Number(count) };
}

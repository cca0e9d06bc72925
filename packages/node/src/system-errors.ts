/**
 * Turns what the operating system says into the errors of the table of codes.
 * The only place that knows names of system errors.
 */
import { getSystemErrorName } from 'node:util';
import { AssayError, type Code, type Facts } from '@assay/core';

type Fault = readonly [code: Code, found: string, hint: string];

const denied: Fault = ['IO_PERMISSION', 'access is denied', 'Check who may read or write there, or run as somebody who may.'];
const missing: Fault = ['SOURCE_NOT_FOUND', 'there is no such file', 'Check the path.'];
const notAFile: Fault = ['SOURCE_NOT_A_FILE', 'is not a regular file', 'Give the path of a file.'];
const full: Fault = ['SINK_NO_SPACE', 'the disk is full', 'Free some space, or write to another disk.'];
const noFolder: Fault = ['SINK_NO_FOLDER', 'the folder does not exist', 'Create the folder, or write to another one.'];

const readFaults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['EACCES', denied],
  ['EPERM', denied],
  ['ENOENT', missing],
  ['ENOTDIR', missing],
  ['ENAMETOOLONG', missing],
  ['EISDIR', notAFile],
  ['ENXIO', notAFile],
  // NFS: the file behind this handle was replaced or removed.
  ['ESTALE', ['SOURCE_CHANGED', 'was replaced while it was read', 'Try again when nothing writes to it.']],
]);

const writeFaults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['EACCES', denied],
  ['EPERM', denied],
  ['EROFS', ['IO_PERMISSION', 'the file system is read-only', 'Write to another place.']],
  ['ENOSPC', full],
  ['EDQUOT', ['SINK_NO_SPACE', 'the disk quota is used up', 'Free some space, or write to another disk.']],
  ['EFBIG', ['SINK_FILE_TOO_LARGE', 'no file of this size is allowed', 'Write to another file system, or raise the limit (ulimit -f).']],
  ['ENOENT', noFolder],
  ['ENOTDIR', noFolder],
  ['EISDIR', ['SINK_NOT_A_FILE', 'is a folder', 'Give the path of a file.']],
  ['EEXIST', ['SINK_EXISTS', 'is there already', 'Choose another name, or allow overwriting.']],
]);

/** The name of a system error ("ENOSPC"), where `cause` is one. */
export function systemErrorName(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || !('syscall' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

/** The error that Node would throw for a call that failed with `errno`. */
export function systemError(syscall: string, errno: number): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${code}, ${syscall}`), { code, syscall, errno: -errno });
}

/** The error of a read of `name`; what is not a system error comes back untouched. */
export function readError(name: string, cause: unknown, context: Facts = {}): unknown {
  return translated(readFaults, 'could not be read', name, cause, context);
}

/** The error of a write to `name`; what is not a system error comes back untouched. */
export function writeError(name: string, cause: unknown, context: Facts = {}): unknown {
  return translated(writeFaults, 'could not be written', name, cause, context);
}

function translated(faults: ReadonlyMap<string, Fault>, otherwise: string, name: string, cause: unknown, context: Facts): unknown {
  const system = systemErrorName(cause);
  if (system === undefined) return cause;
  const [code, found, hint] = faults.get(system) ?? ['IO_FAILED', `${otherwise} (${system})`, 'Check the disk and its connection, then try again.'];
  return new AssayError(code, { message: `${name}: ${found}`, hint, context: { system, ...context }, cause });
}

/** The error of a source that is no longer what was opened. */
export function sourceChanged(name: string, context: Facts = {}): AssayError {
  return new AssayError('SOURCE_CHANGED', {
    message: `${name}: changed while it was read`,
    hint: 'Try again when nothing writes to it.',
    context,
  });
}

/** The error of an output whose temporary file was removed, replaced or cut by somebody else. */
export function sinkDisturbed(name: string): AssayError {
  return new AssayError('IO_FAILED', {
    message: `${name}: its temporary file was removed or changed by another program`,
    hint: 'Try again when nothing else works in that folder.',
  });
}

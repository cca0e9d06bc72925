/**
 * Names of temporary files, and the removal of those that dead processes left.
 * A name carries host, process and a random part: `.<name>.<host>.<pid>.<random>.assay-part`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync, unlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const SUFFIX = 'assay-part';

/** The longest name that file systems in use take (ext4, XFS, APFS, NTFS). */
const MAX_NAME_BYTES = 255;

/** A name for the temporary file of `target`, a file name; it fits beside it whatever its length. */
export function temporaryName(target: string): string {
  const tail = `.${hostName()}.${process.pid}.${randomBytes(6).toString('hex')}.${SUFFIX}`;
  return `.${cutToBytes(target, MAX_NAME_BYTES - 1 - tail.length)}${tail}`;
}

/**
 * Removes the temporary files in `folder` whose process, on this host, is gone.
 * What cannot be looked at or removed stays: it is not this run's.
 */
export function removeLeftovers(folder: string): void {
  for (const name of namesIn(folder)) {
    const pid = leftoverProcess(name);
    if (pid === undefined || isAlive(pid)) continue;
    const path = join(folder, name);
    try {
      if (lstatSync(path).isFile()) unlinkSync(path);
    } catch {
      // Another run removed it first, or may and we may not.
    }
  }
}

function leftoverProcess(name: string): number | undefined {
  if (!name.startsWith('.') || !name.endsWith(`.${SUFFIX}`)) return undefined;
  const [, host, pid] = /\.([^.]+)\.([1-9]\d*)\.[0-9a-f]{12}\.[^.]+$/.exec(name) ?? [];
  return host === hostName() ? Number(pid) : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: alive, somebody else's.
    return !(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH');
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

let host: string | undefined;

/**
 * The name of the space in which a process number means one process, without dots.
 * On a shared disk two machines may have one host name, and two containers number their processes alike.
 */
function hostName(): string {
  if (host !== undefined) return host;
  const space = [hostname(), textOr('', () => readFileSync('/etc/machine-id', 'utf8')), textOr('', () => readlinkSync('/proc/self/ns/pid'))];
  const readable = hostname().replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 32);
  host = `${readable}-${createHash('sha256').update(space.join('\n')).digest('hex').slice(0, 8)}`;
  return host;
}

function textOr(otherwise: string, read: () => string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function cutToBytes(text: string, bytes: number): string {
  let kept = '';
  let length = 0;
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
}

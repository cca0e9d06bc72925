/**
 * Tar archives by the checksum of their headers, and among them PyTorch's form before 0.1.10.
 */
import { readBytes, type ByteSource } from '@assay/core';
import type { DetectOptions, Sign } from './kinds.ts';

const BLOCK = 512;
/** PyTorch's four members are among the first. */
const MEMBERS_LOOKED_AT = 8;
/** A header's checksum counts its own eight bytes as spaces. */
const CHECKSUM_START = 148;
const CHECKSUM_END = 156;

const torchMembers: ReadonlySet<string> = new Set(['sys_info', 'pickle', 'storages', 'tensors']);

/** The reading as a tar archive, with the names of its first members. */
export async function readTar(source: ByteSource, head: Uint8Array, { signal }: DetectOptions): Promise<Sign | undefined> {
  const names: string[] = [];
  let at = 0;
  while (names.length < MEMBERS_LOOKED_AT && at + BLOCK <= source.size) {
    const inHead = at + BLOCK <= head.length;
    const block = inHead ? head.subarray(at, at + BLOCK) : await readBytes(source, at, at + BLOCK, signal === undefined ? {} : { signal });
    if (!hasChecksum(block)) break;
    names.push(textAt(block, 0, 100).replace(/^\.\//, ''));
    const size = Number.parseInt(textAt(block, 124, 136), 8) || 0;
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (names.length === 0) return undefined;
  const isTorch = names.filter((name) => torchMembers.has(name)).length >= 2;
  return { kind: isTorch ? 'torch-tar' : 'tar', facts: { firstMembers: names } };
}

function hasChecksum(block: Uint8Array): boolean {
  const stated = Number.parseInt(textAt(block, CHECKSUM_START, CHECKSUM_END), 8);
  if (!(stated > 0) || block[0] === 0) return false;
  let sum = 0;
  for (let index = 0; index < BLOCK; index += 1) {
    sum += index >= CHECKSUM_START && index < CHECKSUM_END ? 0x20 : (block[index] ?? 0);
  }
  return sum === stated;
}

function textAt(block: Uint8Array, start: number, end: number): string {
  const field = block.subarray(start, end);
  const zero = field.indexOf(0);
  return new TextDecoder('latin1').decode(zero < 0 ? field : field.subarray(0, zero)).trim();
}

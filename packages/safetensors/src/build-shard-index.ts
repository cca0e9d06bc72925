/**
 * The index of shards that are known, as a value.
 */
import { AssayError, toSafeNumber, type TensorInfo } from '@assay/core';
import type { JsonValue } from './json-value.ts';
import { quoted } from './quoted.ts';
import type { ShardIndex } from './shard-index.ts';
import { shardNameProblem } from './shard-name.ts';

/** A shard and what it holds: an opened archive will do, with its name in the index. */
export interface Shard {
  readonly name: string;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
}

/** Options of `buildShardIndex`. */
export interface BuildShardIndexOptions {
  /** More entries of `metadata`; `total_size` is computed. */
  readonly metadata?: ReadonlyMap<string, string | number>;
}

/**
 * The index of these shards. Pure.
 * @throws {AssayError} `INDEX_TENSOR_REPEATED` for a name in two shards, `INDEX_SHARD_NAME_UNSAFE`
 * @example
 * const text = formatShardIndex(buildShardIndex(shards));
 */
export function buildShardIndex(shards: Iterable<Shard>, options: BuildShardIndexOptions = {}): ShardIndex {
  const weightMap = new Map<string, string>();
  const names = new Set<string>();
  let total = 0n;
  for (const { name, tensors } of shards) {
    const problem = shardNameProblem(name);
    if (problem !== undefined || names.has(name)) {
      throw new AssayError('INDEX_SHARD_NAME_UNSAFE', {
        message: `${quoted(name)} cannot be the name of a shard`,
        hint: 'Give each shard a plain relative name of its own.',
        context: { shard: name, problem: problem ?? 'repeated' },
      });
    }
    names.add(name);
    for (const [tensor, { byteLength }] of tensors) {
      const other = weightMap.get(tensor);
      if (other !== undefined) throw repeated(tensor, other, name);
      weightMap.set(tensor, name);
      total += BigInt(byteLength);
    }
  }
  const totalSize = toSafeNumber(total) ?? total;
  const metadata = new Map<string, JsonValue>([...(options.metadata ?? []), ['total_size', totalSize]]);
  return { weightMap, shards: [...names], totalSize, metadata, findings: [] };
}

function repeated(tensor: string, first: string, second: string): AssayError {
  return new AssayError('INDEX_TENSOR_REPEATED', {
    message: `${quoted(tensor)} is in ${quoted(first)} and in ${quoted(second)}`,
    hint: 'Keep each tensor in one shard.',
    context: { tensor, shards: [first, second] },
  });
}

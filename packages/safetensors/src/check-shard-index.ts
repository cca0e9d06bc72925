/**
 * An index against the shards themselves, both ways.
 */
import { finding, isOk, type Finding, type Report } from '@assay/core';
import type { Shard } from './build-shard-index.ts';
import type { ShardIndex } from './shard-index.ts';

/**
 * Compares what an index says with what its shards hold: every tensor where it should be, none twice, none unlisted, every
 * shard there, the total size right. `shards` are those that were found and opened, by the name under which they lie.
 * @example
 * const { ok, findings } = checkShardIndex(index, [{ name: 'model-00001-of-00002.safetensors', tensors: first.tensors }]);
 */
export function checkShardIndex(index: ShardIndex, shards: Iterable<Shard>): Report {
  const found = new Map([...shards].map((shard) => [shard.name, shard]));
  const named = new Set(index.shards);
  const findings: Finding[] = [...index.findings];
  for (const name of named) {
    if (!found.has(name)) findings.push(finding('INDEX_SHARD_MISSING', 'error', { path: name }));
  }
  const shardsOf = new Map<string, string[]>();
  let total = 0n;
  for (const { name, tensors } of found.values()) {
    if (!named.has(name)) findings.push(finding('INDEX_SHARD_EXTRA', 'warning', { path: name }));
    for (const [tensor, { byteLength }] of tensors) {
      const homes = shardsOf.get(tensor);
      if (homes === undefined) shardsOf.set(tensor, [name]);
      else homes.push(name);
      total += BigInt(byteLength);
    }
  }
  // One by one: there may be more of them than a call may have arguments.
  for (const one of listedTensors(index, found, shardsOf)) findings.push(one);
  for (const one of heldTensors(index, shardsOf)) findings.push(one);
  const isWhole = index.shards.every((name) => found.has(name));
  if (isWhole && index.totalSize !== undefined && BigInt(index.totalSize) !== total) {
    findings.push(finding('INDEX_TOTAL_SIZE', 'warning', {}, { found: index.totalSize, expected: total }));
  }
  return { ok: isOk(findings), complete: isWhole, findings };
}

/** What the index lists, in its order. A shard that is not there has been reported once, not for each of its tensors. */
function* listedTensors(index: ShardIndex, found: ReadonlyMap<string, Shard>, shardsOf: ReadonlyMap<string, readonly string[]>): Iterable<Finding> {
  for (const [tensor, shard] of index.weightMap) {
    const homes = shardsOf.get(tensor);
    if (homes === undefined) {
      if (found.has(shard)) yield finding('INDEX_TENSOR_MISSING', 'error', { path: shard, tensor }, { expected: shard });
    } else if (!homes.includes(shard)) {
      yield finding('INDEX_TENSOR_ELSEWHERE', 'error', { path: homes[0] ?? '', tensor }, { found: homes, expected: shard });
    }
  }
}

/** What the shards hold, in their order. */
function* heldTensors(index: ShardIndex, shardsOf: ReadonlyMap<string, readonly string[]>): Iterable<Finding> {
  for (const [tensor, homes] of shardsOf) {
    const path = homes[0] ?? '';
    if (homes.length > 1) yield finding('INDEX_TENSOR_REPEATED', 'error', { path, tensor }, { found: homes });
    if (!index.weightMap.has(tensor)) yield finding('INDEX_TENSOR_UNLISTED', 'warning', { path, tensor });
  }
}

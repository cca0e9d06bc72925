/**
 * The index of a sharded checkpoint (`model.safetensors.index.json`), read.
 * Names of shards are proven to be plain relative paths, and are used for nothing here.
 */
import {
  finding,
  limitExceeded,
  readBytes,
  resolveLimits,
  type ByteSource,
  type Code,
  type Facts,
  type Finding,
  type Limits,
} from '@assay/core';
import { tokenizeJson, type JsonTokenizer } from './header-json.ts';
import { readJsonValue, type DuplicateKey, type JsonValue } from './json-value.ts';
import { refusalOf } from './refusal.ts';
import { shardNameProblem, shardNumbers } from './shard-name.ts';

/** An index. */
export interface ShardIndex {
  /** The shard of each tensor, in the order of the file. */
  readonly weightMap: ReadonlyMap<string, string>;
  /** Every shard that is named, in the order of first mention. */
  readonly shards: readonly string[];
  /** Bytes of all tensors, as stated; absent where it is not a whole number. */
  readonly totalSize?: number | bigint;
  /** All of `metadata`, `total_size` too. */
  readonly metadata: ReadonlyMap<string, JsonValue>;
  /** What is odd but no error. */
  readonly findings: readonly Finding[];
}

/** Options of `readShardIndex`. */
export interface ReadShardIndexOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** How the index is called in errors; a source has its own name. */
  readonly name?: string;
  /** What every shard's name must end in; `.safetensors` by default. */
  readonly extension?: string;
}

/** Findings beyond this many are not listed: one is enough to refuse an index. */
const LISTED = 1000;

/**
 * Reads an index. Nothing that it names is opened.
 * @throws {AssayError} `INDEX_JSON`, `INDEX_INVALID`, `INDEX_DUPLICATE_KEY`, `INDEX_SHARD_NAME_UNSAFE`, `INDEX_SHARD_EXTENSION`,
 *   `LIMIT_EXCEEDED`, with all findings; as `ByteSource.readInto`
 * @example
 * const { weightMap, shards } = await readShardIndex(source);
 */
export async function readShardIndex(source: ByteSource | Uint8Array, options: ReadShardIndexOptions = {}): Promise<ShardIndex> {
  const { signal, extension = '.safetensors' } = options;
  const limits = resolveLimits(options.limits);
  const name = options.name ?? (source instanceof Uint8Array ? 'index' : source.name);
  const size = source instanceof Uint8Array ? source.length : source.size;
  if (size > limits.maxIndexBytes) {
    throw limitExceeded('maxIndexBytes', { where: name, found: size, allowed: limits.maxIndexBytes });
  }
  const transfer = signal === undefined ? {} : { signal };
  const bytes = source instanceof Uint8Array ? source : await readBytes(source, 0, size, transfer);
  const reader = new IndexReader(bytes, name, limits, extension);
  const index = reader.read();
  const refusal = refusalOf(name, index.findings);
  if (refusal !== undefined) throw refusal;
  return index;
}

class IndexReader {
  readonly #json: JsonTokenizer;
  readonly #name: string;
  readonly #limits: Limits;
  readonly #extension: string;
  readonly #findings: Finding[] = [];
  readonly #weightMap = new Map<string, string>();
  readonly #shards = new Set<string>();
  #metadata: ReadonlyMap<string, JsonValue> = new Map();

  constructor(bytes: Uint8Array, name: string, limits: Limits, extension: string) {
    this.#json = tokenizeJson(bytes, { maxDepth: limits.maxJsonDepth });
    this.#name = name;
    this.#limits = limits;
    this.#extension = extension;
  }

  read(): ShardIndex {
    const json = this.#json;
    if (json.next() === '{') this.#members();
    else this.#invalid('object');
    json.next();
    this.#noteProblem();
    this.#noteGaps();
    const metadata = this.#metadata;
    const totalSize = this.#totalSize(metadata.get('total_size'));
    return {
      weightMap: this.#weightMap,
      shards: [...this.#shards],
      metadata,
      findings: this.#findings,
      ...(totalSize === undefined ? {} : { totalSize }),
    };
  }

  #note(code: Code, args: Facts, severity: 'warning' | 'error' = 'error', place: DuplicateKey | JsonTokenizer = this.#json): void {
    if (this.#findings.length >= LISTED) return;
    this.#findings.push(finding(code, severity, { path: this.#name, start: place.start, end: place.end }, args));
  }

  #invalid(expected: string, more: Facts = {}): void {
    const json = this.#json;
    if (json.problem !== undefined) return;
    this.#note('INDEX_INVALID', { ...more, found: json.kind, expected });
    json.skipValue();
  }

  #members(): void {
    const json = this.#json;
    const seen = new Set<string>();
    while (json.next() === 'key') {
      const key = json.text();
      if (seen.has(key)) this.#note('INDEX_DUPLICATE_KEY', { key: key.slice(0, 256) });
      seen.add(key);
      json.next();
      if (key === 'weight_map') this.#readWeightMap();
      else if (key === 'metadata') this.#readMetadata();
      else json.skipValue();
    }
    if (json.problem === undefined && !seen.has('weight_map')) this.#note('INDEX_INVALID', { missing: 'weight_map' });
  }

  #readMetadata(): void {
    if (this.#json.kind !== '{') {
      if (this.#json.kind !== 'null') this.#invalid('object', { key: 'metadata' });
      return;
    }
    const duplicates: DuplicateKey[] = [];
    const value = readJsonValue(this.#json, duplicates);
    for (const duplicate of duplicates) {
      this.#note('INDEX_DUPLICATE_KEY', { key: duplicate.key.slice(0, 256) }, 'error', duplicate);
    }
    if (value instanceof Map) this.#metadata = value;
  }

  #readWeightMap(): void {
    const json = this.#json;
    if (json.kind !== '{') {
      this.#invalid('object', { key: 'weight_map' });
      return;
    }
    while (json.next() === 'key') {
      const tensor = json.text();
      if (this.#weightMap.has(tensor)) this.#note('INDEX_DUPLICATE_KEY', { key: tensor.slice(0, 256) });
      if (json.next() !== 'string') {
        this.#invalid('string', { key: tensor.slice(0, 256) });
        continue;
      }
      const shard = json.text();
      if (!this.#shards.has(shard)) this.#checkShard(shard);
      this.#weightMap.set(tensor, shard);
    }
  }

  #checkShard(shard: string): void {
    this.#shards.add(shard);
    const facts = { shard: shard.slice(0, 256) };
    const problem = shardNameProblem(shard);
    if (problem !== undefined) this.#note('INDEX_SHARD_NAME_UNSAFE', { ...facts, problem, found: shard.slice(0, 256), expected: 'a plain relative path' });
    else if (!shard.endsWith(this.#extension)) this.#note('INDEX_SHARD_EXTENSION', { ...facts, found: shard.slice(-32), expected: this.#extension });
    const { maxShards } = this.#limits;
    if (this.#shards.size === maxShards + 1) {
      this.#note('LIMIT_EXCEEDED', { limit: 'maxShards', found: this.#shards.size, allowed: maxShards });
    }
  }

  #noteProblem(): void {
    const { problem } = this.#json;
    if (problem === undefined) return;
    const { kind, found, expected } = problem;
    if (kind !== 'depth') {
      this.#note('INDEX_JSON', { problem: kind, found, expected });
      return;
    }
    const { maxJsonDepth } = this.#limits;
    this.#note('LIMIT_EXCEEDED', { limit: 'maxJsonDepth', found: maxJsonDepth, allowed: maxJsonDepth - 1 });
  }

  /** `-00001-of-00003` promises three. */
  #noteGaps(): void {
    const series = new Map<string, { count: number; numbers: Set<number> }>();
    for (const shard of this.#shards) {
      const parts = shardNumbers(shard);
      if (parts === undefined) continue;
      const entry = series.get(parts.stem) ?? { count: parts.count, numbers: new Set() };
      series.set(parts.stem, entry);
      entry.numbers.add(parts.number);
    }
    for (const [stem, { count, numbers }] of series) {
      if (numbers.size === count) continue;
      const missing: number[] = [];
      for (let number = 1; number <= Math.min(count, this.#limits.maxShards) && missing.length < 100; number += 1) {
        if (!numbers.has(number)) missing.push(number);
      }
      this.#note('INDEX_SHARD_GAP', { shards: stem, missing, found: numbers.size, expected: count }, 'warning');
    }
  }

  /** Some writers print it as a float. */
  #totalSize(value: JsonValue | undefined): number | bigint | undefined {
    if (value === undefined) return undefined;
    const isWhole = typeof value === 'bigint' ? value >= 0n : Number.isSafeInteger(value) && Number(value) >= 0;
    if (isWhole) return value as number | bigint;
    const found = typeof value === 'number' || typeof value === 'bigint' ? value : typeof value;
    this.#note('INDEX_TOTAL_SIZE', { found, expected: 'a whole number of bytes' }, 'warning');
    return undefined;
  }
}

/** Read, check and write the safetensors format and its shard index. */
export {
  buildShardIndex,
  type BuildShardIndexOptions,
  type Shard,
} from './build-shard-index.ts';
export {
  checkShardIndex,
} from './check-shard-index.ts';
export {
  checkSafetensors,
  type SafetensorsCheck,
} from './check.ts';
export {
  type SafetensorsOptions,
} from './examine.ts';
export {
  formatShardIndex,
} from './format-shard-index.ts';
export {
  tokenizeJson,
  type JsonOptions,
  type JsonProblem,
  type JsonProblemKind,
  type JsonTokenizer,
  type JsonTokenKind,
} from './header-json.ts';
export {
  parseHeaderJson,
  type DuplicateKey,
  type JsonResult,
  type JsonValue,
  type ParseJsonOptions,
} from './json-value.ts';
export {
  compareCodePoints,
} from './name-order.ts';
export {
  type Rules,
  type Verdict,
} from './oddities.ts';
export {
  openSafetensors,
} from './read.ts';
export {
  readShardIndex,
  type ReadShardIndexOptions,
  type ShardIndex,
} from './shard-index.ts';
export {
  shardNameProblem,
  type ShardNameProblem,
} from './shard-name.ts';
export {
  layoutSafetensors,
  writeSafetensors,
  type LayoutOptions,
  type PlacedTensor,
  type SafetensorsLayout,
  type TensorToWrite,
  type WriteOptions,
} from './write.ts';

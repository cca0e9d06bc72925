/** The shared words of Assay. */
export {
  type Format,
  type StorageView,
  type StoredMember,
  type StreamOptions,
  type TensorArchive,
  type TensorInfo,
} from './archive.ts';
export {
  blameOf,
  codes,
  isCode,
  type Blame,
  type Code,
  type CodeFacts,
} from './codes.ts';
export {
  outputSegments,
  stepOutputBytes,
  type CheckPart,
  type CopyPart,
  type CopyRunner,
  type CopyStep,
  type InflatePart,
  type OutputSegment,
  type RunOptions,
  type RunResult,
  type StepPart,
  type StepResult,
} from './copy-step.ts';
export {
  combineCrc32,
  crc32FromHex,
  crc32OfZeros,
  crc32ToHex,
} from './crc32.ts';
export {
  createMultiHasher,
  digestAlgorithms,
  digestFacts,
  digestSource,
  isDigestAlgorithm,
  type DigestAlgorithm,
  type DigestFacts,
  type DigestSourceOptions,
  type Digests,
  type MultiHasher,
} from './digest.ts';
export {
  Disposer,
} from './disposal.ts';
export {
  dtypeFacts,
  dtypeRank,
  dtypes,
  isDType,
  type DType,
  type DTypeFacts,
  type DTypeFamily,
} from './dtype.ts';
export {
  AssayError,
  errorFromData,
  errorToData,
  isAssayError,
  type AssayErrorData,
  type AssayErrorOptions,
} from './errors.ts';
export {
  executeStep,
  type StepContext,
} from './execute-step.ts';
export {
  finding,
  isOk,
  type Fact,
  type Facts,
  type Finding,
  type Report,
  type Severity,
  type Subject,
} from './findings.ts';
export {
  checkedRelativePath,
  type CreateOptions,
  type Entry,
  type Folder,
} from './folder.ts';
export {
  type HashAlgorithm,
  type Hasher,
  type HasherProvider,
} from './hasher.ts';
export {
  InOrderDigest,
  type ReadBack,
} from './in-order-digest.ts';
export {
  inflateWithStreams,
  type Gather,
  type GatherOptions,
  type Inflate,
  type Kernels,
  type StorageReader,
} from './kernels.ts';
export {
  defaultLimits,
  limitExceeded,
  resolveLimits,
  type LimitName,
  type Limits,
} from './limits.ts';
export {
  createMemoryFolder,
  createMemorySink,
  createMemorySource,
  shortRead,
} from './memory.ts';
export {
  createOneThreadCopyRunner,
  type OneThreadOptions,
} from './one-thread-copy-runner.ts';
export {
  pieceByteLength,
  type InflatedPiece,
  type InlinePiece,
  type Piece,
  type RangePiece,
  type StridedPiece,
  type StridedView,
  type Transform,
} from './pieces.ts';
export {
  type OnProgress,
  type ProgressEvent,
  type ProgressPhase,
} from './progress.ts';
export {
  inflateMember,
  readPiece,
  readPieces,
  sourceAt,
  storageReader,
  type ReadContext,
} from './read-pieces.ts';
export {
  contiguousStride,
  elementCount,
  isContiguous,
  tensorSize,
  toDimension,
  toSafeNumber,
  type Dimension,
  type Shape,
  type TensorSize,
} from './shape.ts';
export { shellWord } from './shell-word.ts';
export {
  type ByteSink,
} from './sink.ts';
export {
  readBytes,
  type ByteSource,
  type Locator,
  type TransferOptions,
} from './source.ts';
export {
  createOneThreadTaskRunner,
  type DigestTask,
  type Task,
  type TaskOptions,
  type TaskResult,
  type TaskRunner,
} from './task-runner.ts';
export {
  applyTransform,
  transformUnit,
} from './transform.ts';
export {
  wasmHashers,
} from './wasm-hashers.ts';

/** Says what bytes really are, and opens every weight container as one archive. */
export { detect, polyglotFinding } from './detect.ts';
export { type DetectedKind, type Detection, type DetectOptions } from './detect/kinds.ts';
export { refusalOf, refusalWords, type Refusal } from './refusal.ts';
export { defaultKernels, gatherStrided } from './torch/gather.ts';
export { checkZip, type ZipCheck, type ZipCheckOptions } from './zip/check.ts';
export {
  readZipDirectory,
  surveyZipDirectory,
  type ZipDirectory,
  type ZipOptions,
} from './zip/directory.ts';
export { locateZipMembers, type LocatedMembers } from './zip/locate.ts';
export { readZipMember, type ReadMemberOptions } from './zip/read-member.ts';
export { openArchive, type OpenOptions } from './open.ts';
export { readPickle, type PickleResult, type ReadPickleOptions } from './pickle/machine.ts';
export { pickleOpcode, pickleOpcodes, HIGHEST_PROTOCOL, type PickleArgument, type PickleOpcode } from './pickle/opcodes.ts';
export {
  isHashable,
  kindOf,
  tupleItems,
  type CallForm,
  type PickleBytes,
  type PickleCall,
  type PickleDict,
  type PickleFloat,
  type PickleGlobal,
  type PicklePersistent,
  type PickleRecord,
  type PickleSequence,
  type PickleValue,
} from './pickle/records.ts';
export { type PickleObserver } from './pickle/state.ts';
export { checkExpansion, type Expansion } from './torch/expansion.ts';
export { LONE_TENSOR_NAME, weightKeys } from './torch/state-dict.ts';
export { openTorchZip, type OpenTorchOptions } from './torch/zip-checkpoint.ts';
export { type ZipEntry } from './zip/entry.ts';

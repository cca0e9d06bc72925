/** Assay on Node: files, memory maps, atomic sinks, native hashes and worker threads. */
export {
  createCopyRunner,
  type CopyRunnerOptions,
} from './copy-runner.ts';
export {
  createFile,
  type CreateFileOptions,
} from './file-sink.ts';
export {
  openFile,
} from './file-source.ts';
export {
  openFolder,
} from './folder.ts';
export {
  nodeHashers,
} from './hashers.ts';
export {
  nodeKernels,
} from './kernels.ts';
export {
  type Reader,
} from './mapped-steps.ts';
export {
  openMappedFile,
} from './mmap-source.ts';
export {
  createTaskRunner,
  type TaskRunnerOptions,
} from './task-runner.ts';

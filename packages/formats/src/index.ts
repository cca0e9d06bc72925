/** Says what bytes really are, and opens every weight container as one archive. */
export { detect, refusalOf, type DetectedKind, type Detection, type DetectOptions } from './detect.ts';
export { defaultKernels, gatherStrided } from './torch/gather.ts';
export { checkZip, type ZipCheck, type ZipCheckOptions } from './zip/check.ts';
export {
  readZipDirectory,
  surveyZipDirectory,
  type ZipDirectory,
  type ZipEntry,
  type ZipOptions,
} from './zip/directory.ts';
export { locateZipMembers, type LocatedMembers } from './zip/locate.ts';
export { readZipMember, type ReadMemberOptions } from './zip/read-member.ts';

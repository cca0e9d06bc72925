/** Verification: streams, files and checksum lists against what was published. */
export {
  parseDigest,
} from './digest-text.ts';
export {
  createExpectation,
  type Expectation,
  type GivenDigests,
} from './expectation.ts';
export {
  algorithmOfName,
  parseChecksumFile,
  type ChecksumFile,
  type ChecksumFileOptions,
  type ChecksumLine,
  type MalformedLine,
} from './expectations/checksum-file.ts';
export {
  type MalformedReason,
} from './expectations/checksum-line.ts';
export {
  formatChecksumLine,
  type ChecksumEntry,
} from './expectations/format-checksum-line.ts';
export {
  explainMismatch,
  type ExplainOptions,
} from './explain.ts';
export {
  checkStructure,
  type StructureOptions,
  type StructureReport,
} from './structure.ts';
export {
  createVerifierStream,
  type VerifierStreamOptions,
} from './verifier-stream.ts';
export {
  verifyChecksumFile,
  type VerifyChecksumOptions,
} from './verify-checksum-file.ts';
export {
  verifyFiles,
  type VerifyInput,
  type VerifyOptions,
} from './verify-file.ts';
export {
  type FileStatus,
  type VerifiedFile,
  type VerifyReport,
  type VerifyTotals,
} from './verify-report.ts';

/** The functions behind the commands, wired for Node: one import that works. */
export { convert, type ConvertOptions, type FileConversion } from './jobs/convert.ts';
export { inspect, type InspectOptions, type InspectReport } from './jobs/inspect.ts';
export { sums, type FileSum, type SumsOptions, type SumsReport } from './jobs/sums.ts';
export { verify, type FileVerification, type VerificationReport, type VerifyOptions } from './jobs/verify.ts';
export { version } from './version.ts';
export { findingWords } from './render/finding.ts';
export { remedyFor } from './render/remedies.ts';

/** Plan a conversion to safetensors as a value, then execute and prove it. */
export {
  type Alias,
  type CheckResult,
  type ConversionPlan,
  type MemberCheck,
  type OnAlias,
  type PlannedTensor,
} from './conversion-plan.ts';
export {
  describePlan,
  type Json,
} from './describe-plan.ts';
export {
  executeConversion,
  type ConversionReport,
  type ExecuteOptions,
} from './execute.ts';
export {
  planConversion,
  type PlanOptions,
} from './plan.ts';
export {
  isOutputHead,
} from './names.ts';
export {
  outputName,
} from './output-name.ts';
export {
  planRefused,
} from './refusals.ts';

/**
 * One checkpoint becomes one safetensors file, wired for Node.
 */
import { lstat } from 'node:fs/promises';
import { Disposer, type CopyRunner, type DigestAlgorithm, type Limits, type OnProgress, type TensorArchive } from '@assay/core';
import { executeConversion, planConversion, planRefused, type OnAlias, type ConversionPlan, type ConversionReport } from '@assay/convert';
import { openArchive } from '@assay/formats';
import { createCopyRunner, createFile, openFile, type Reader } from '@assay/node';
import { chooseTargets, needsOutput, type Target } from './output-path.ts';

/** Options of `convert`. */
export interface ConvertOptions {
  /** A file for one input, else a folder. Without it the output lies beside the input. */
  readonly output?: string;
  /** Plan only; nothing is written. */
  readonly dryRun?: boolean;
  /** Which value of the checkpoint holds the weights, as a dotted path. */
  readonly select?: string;
  /** What becomes of names that share one storage: default `record`. */
  readonly onAlias?: OnAlias;
  /** Replace an output that exists; never an input. */
  readonly force?: boolean;
  /** Digests of the output, computed alongside: default SHA-256. */
  readonly digests?: readonly DigestAlgorithm[];
  readonly reader?: Reader;
  readonly threads?: number;
  /** A runner of yours, borrowed; without it one is started here, with `threads` and `reader`. */
  readonly runner?: CopyRunner;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
}

/** What came of one input. `report` is absent after a dry run. */
export interface FileConversion {
  readonly input: string;
  readonly output: string;
  /** What the input is: container, protocol, byte order. */
  readonly facts: ReadonlyMap<string, string>;
  readonly inputByteLength: number;
  readonly plan: ConversionPlan;
  /** After a dry run: the output is there already, and only `force` would replace it. */
  readonly outputExists?: boolean;
  readonly report?: ConversionReport;
}

/** Converts one checkpoint after another on the same threads. */
export interface Converter extends AsyncDisposable {
  /** @throws {AssayError} as `convert` */
  convert(target: Target): Promise<FileConversion>;
}

/**
 * Converts one checkpoint.
 * @throws {AssayError} everything that stops it: nothing is left behind then. With several problems, all are in `findings`.
 */
export async function convert(input: string, options: ConvertOptions = {}): Promise<FileConversion> {
  const [target] = await planOutputs([input], options.output);
  if (target === undefined) throw new TypeError('no input');
  await using converter = createConverter(options);
  return await converter.convert(target);
}

/**
 * Pairs inputs with outputs before any work is done.
 * @throws {AssayError} `CONVERT_OUTPUT_COLLISION`, `SINK_NO_FOLDER`, `SINK_NOT_A_FILE`
 */
export function planOutputs(inputs: readonly string[], output: string | undefined): Promise<readonly Target[]> {
  return chooseTargets(inputs, output);
}

/** A converter of any number of checkpoints; its threads come up at once, while the first is read and planned. */
export function createConverter(options: ConvertOptions = {}): Converter {
  const owned = options.dryRun === true || options.runner !== undefined ? undefined : createCopyRunner(runnerOptions(options));
  const runner = options.dryRun === true ? undefined : (options.runner ?? owned);
  return {
    convert: (target) => convertTo(target, options, runner),
    [Symbol.asyncDispose]: async () => owned?.[Symbol.asyncDispose](),
  };
}

async function convertTo(target: Target, options: ConvertOptions, runner: CopyRunner | undefined): Promise<FileConversion> {
  const { input, output } = target;
  const { select, onAlias, limits, signal } = options;
  await using owned = new Disposer();
  const source = owned.use(await openFile(input));
  const common = { ...(limits === undefined ? {} : { limits }), ...(signal === undefined ? {} : { signal }) };
  const archive = owned.use(await openArchive(source, { ...common, ...(select === undefined ? {} : { select }) }));
  const plan = planConversion(archive, { ...(onAlias === undefined ? {} : { onAlias }), ...(limits === undefined ? {} : { limits }) });
  // A file that cannot be converted anyway needs no output.
  if (plan.ok && target.needsOutput !== undefined) throw needsOutput(target);
  const conversion = { input, output, facts: archive.facts, inputByteLength: source.size, plan };
  if (runner === undefined) return { ...conversion, outputExists: options.force !== true && (await isThere(output)) };
  // Before the sink is made: a plan that cannot be executed leaves nothing.
  if (!plan.ok) throw planRefused(plan);
  const report = await write(archive, plan, output, runner, options);
  return { ...conversion, report };
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false);
}

async function write(
  archive: TensorArchive,
  plan: ConversionPlan,
  output: string,
  runner: CopyRunner,
  { force = false, digests = ['sha256'], signal, onProgress }: ConvertOptions,
): Promise<ConversionReport> {
  await using sink = await createFile(output, { size: plan.output.byteLength, overwrite: force, inputs: archive.sources });
  return await executeConversion(plan, archive, {
    runner,
    sink,
    digests,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
}

function runnerOptions({ threads, reader }: ConvertOptions): { threads?: number; reader?: Reader } {
  return { ...(threads === undefined ? {} : { threads }), ...(reader === undefined ? {} : { reader }) };
}

/**
 * The conversion as a library, in its two halves: a plan, which is a value that a pipeline can refuse, store or show, and its
 * execution. This one converts only what loses nothing.
 *
 *     node examples/convert-in-a-pipeline.mjs CHECKPOINT TARGET
 */
import { openArchive } from '@assay/formats';
import { executeConversion, planConversion } from '@assay/convert';
import { createCopyRunner, createFile, openFile } from '@assay/node';

const [input, target] = process.argv.slice(2);
if (input === undefined || target === undefined) {
  console.error('usage: node convert-in-a-pipeline.mjs CHECKPOINT TARGET');
  process.exit(64);
}

// Each owner is disposed of in reverse; on Node 24: await using source = ...
const source = await openFile(input);
const runner = createCopyRunner();
try {
  const archive = await openArchive(source);
  const plan = planConversion(archive, { onAlias: 'record' });

  // Everything is known before one byte is written.
  const lost = plan.leftOut.filter(({ severity }) => severity === 'error');
  if (!plan.ok || lost.length > 0) {
    for (const { code, severity, args } of [...plan.findings, ...lost]) console.error(severity, code, args);
    process.exitCode = 1;
  } else {
    const sink = await createFile(target, { size: plan.output.byteLength, overwrite: false, inputs: [source] });
    const report = await executeConversion(plan, archive, { runner, sink });
    console.log(
      JSON.stringify({
        output: target,
        byteLength: report.byteLength,
        sha256: report.digests.get('sha256'),
        tensors: report.tensors,
        aliases: report.aliases.map(({ name, keptAs }) => `${name} = ${keptAs}`),
      }),
    );
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await runner[Symbol.asyncDispose]();
  await source[Symbol.asyncDispose]();
}

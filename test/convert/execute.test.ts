/** Executing a plan writes exactly what it says, proves it, and publishes nothing when any proof fails. */
import { createHash } from 'node:crypto';
import { createMemorySource, isAssayError, type AssayError, type ByteSource, type CopyRunner, type ProgressEvent } from '@assay/core';
import { executeConversion, planConversion } from '@assay/convert';
import { openSafetensors } from 'safetensors-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { archiveInMemory, expectedBytes, noise, sparseTensor, type ArchiveSpec, type TensorSpec } from './archive-in-memory.ts';
import { convert, runner, watchedSink } from './convert-in-memory.ts';

const plain: ArchiveSpec = {
  storages: { a: { bytes: noise(4000) }, b: { bytes: noise(1000, 2) } },
  tensors: [
    ['w', { storage: 'a', shape: [10, 20] }],
    ['t', { storage: 'a', shape: [20, 30], stride: [1, 20], offset: 300 }],
    ['b', { storage: 'b', shape: [250] }],
  ],
};

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk.slice());
  return new Uint8Array(Buffer.concat(parts));
}

function codeOf(failure: unknown): string {
  if (!isAssayError(failure)) throw failure;
  return failure.code;
}

it('any archive, converted and opened again, has the same tensors byte for byte', async () => {
  const dtype = fc.constantFrom('U8' as const, 'F16' as const, 'F32' as const, 'F64' as const);
  const storage = fc.record({ items: fc.integer({ min: 1, max: 600 }), deflated: fc.boolean() });
  const axes = fc.array(fc.record({ size: fc.integer({ min: 0, max: 6 }), step: fc.integer({ min: 0, max: 12 }) }), { maxLength: 4 });
  const view = fc.record({ storage: fc.nat(2), dtype, axes, offset: fc.nat(20), contiguous: fc.boolean(), swap: fc.boolean() });
  const given = fc.record({ storages: fc.array(storage, { minLength: 3, maxLength: 3 }), views: fc.array(view, { minLength: 1, maxLength: 12 }) });
  await fc.assert(
    fc.asyncProperty(given, fc.constantFrom('record' as const, 'copy' as const), async ({ storages, views }, onAlias) => {
      const spec: ArchiveSpec = {
        storages: Object.fromEntries(storages.map(({ items, deflated }, index) => [`s${index}`, { bytes: noise(items * 8, index + 1), deflated }])),
        tensors: views.flatMap((each, index): [string, TensorSpec][] => {
          const tensor = fitted(each, (storages[each.storage]?.items ?? 0) * 8);
          return tensor === undefined ? [] : [[`t${index}`, tensor]];
        }),
      };
      fc.pre(spec.tensors.length > 0);
      const { bytes, report, failure } = await convert(archiveInMemory(spec), { onAlias, stepBytes: 700 });
      if (bytes === undefined || report === undefined) throw failure;
      const opened = await openSafetensors(createMemorySource(bytes));
      const keptAs = new Map(report.aliases.map(({ name, keptAs: kept }) => [name, kept]));
      expect(opened.tensors.size + keptAs.size).toBe(spec.tensors.length);
      for (const [name, tensor] of spec.tensors) {
        expect(await collect(opened.stream(keptAs.get(name) ?? name))).toEqual(expectedBytes(spec, tensor));
      }
      expect(report).toMatchObject({ ok: true, complete: true, crc: 'matched', byteLength: bytes.length });
      expect(report.digests.get('sha256')).toBe(createHash('sha256').update(bytes).digest('hex'));
    }),
    { numRuns: 60 },
  );
});

interface DrawnView {
  readonly storage: number;
  readonly dtype: 'U8' | 'F16' | 'F32' | 'F64';
  readonly axes: readonly { readonly size: number; readonly step: number }[];
  readonly offset: number;
  readonly contiguous: boolean;
  readonly swap: boolean;
}

/** The drawn view, if it lies within its storage. */
function fitted({ storage, dtype, axes, offset, contiguous, swap }: DrawnView, storageBytes: number): TensorSpec | undefined {
  const width = { U8: 1, F16: 2, F32: 4, F64: 8 }[dtype] as 1 | 2 | 4 | 8;
  const shape = axes.map(({ size }) => size);
  const stride = axes.map(({ step }) => step);
  const count = shape.reduce((product, size) => product * size, 1);
  const last = contiguous ? count - 1 : axes.reduce((sum, { size, step }) => sum + (size - 1) * step, 0);
  if (count > 0 && (offset + last + 1) * width > storageBytes) return undefined;
  return {
    storage: `s${storage}`,
    dtype,
    shape,
    offset: count === 0 ? 0 : offset,
    ...(contiguous ? {} : { stride }),
    ...(swap && width > 1 ? { transform: { swap: width as 2 | 4 | 8 } } : {}),
  };
}

it('reports progress up to the whole output, never backwards', async () => {
  const events: ProgressEvent[] = [];
  const { bytes } = await convert(archiveInMemory(plain), { onProgress: (event) => events.push(event) });
  expect(events.every(({ phase, subject, bytesTotal }) => phase === 'converting' && subject === 'model.pt' && bytesTotal === bytes?.length)).toBe(true);
  expect(events.map(({ bytesDone }) => bytesDone)).toEqual(events.map(({ bytesDone }) => bytesDone).toSorted((a, b) => a - b));
  expect(events.at(-1)?.bytesDone).toBe(bytes?.length);
});

it('computes the digests that are asked for, and none when none is', async () => {
  const { bytes, report } = await convert(archiveInMemory(plain), { digests: ['md5', 'crc32'] });
  expect([...(report?.digests ?? [])]).toHaveLength(2);
  expect(report?.digests.get('md5')).toBe(createHash('md5').update(bytes ?? '').digest('hex'));
  expect((await convert(archiveInMemory(plain), { digests: [] })).report?.digests.size).toBe(0);
});

it.each([false, true])('refuses a member whose CRC-32 is wrong while others match (deflated: %s)', async (deflated) => {
  const a = { bytes: noise(4000), deflated, crc32: 0x1234_5678 };
  const archive = archiveInMemory({ ...plain, storages: { ...plain.storages, a } });
  const { bytes, aborted, failure } = await convert(archive);
  expect([bytes, aborted, codeOf(failure)]).toEqual([undefined, true, 'CONVERT_CRC_MISMATCH']);
  const { context, findings } = failure as AssayError;
  const member = archive.members.find(({ name }) => name === 'archive/data/a');
  expect(context).toMatchObject({ member: 'archive/data/a', start: member?.start, end: member?.end, expected: '12345678', members: 1 });
  expect(findings).toHaveLength(1);
  expect(findings[0]?.args).toMatchObject({ expected: '12345678', tensors: ['t', 'w'], tensorCount: 2 });
});

it('refuses when only the pickle is damaged', async () => {
  const { bytes, failure } = await convert(archiveInMemory({ ...plain, pickleCrc32: 1 }));
  expect([bytes, codeOf(failure)]).toEqual([undefined, 'CONVERT_CRC_MISMATCH']);
  expect((failure as AssayError).context).toMatchObject({ member: 'archive/data.pkl' });
});

it('a wrong CRC-32 of a member that nothing written lies in is not looked at', async () => {
  const spec = { ...plain, storages: { ...plain.storages, optimizer: { bytes: noise(100), crc32: 7 } } };
  expect((await convert(archiveInMemory(spec))).report?.crc).toBe('matched');
});

it('finds damage in bytes between tensors, which are in the output nowhere', async () => {
  const a = noise(4000);
  const spec: ArchiveSpec = { storages: { a: { bytes: a } }, tensors: [['x', { storage: 'a', shape: [10] }], ['y', { storage: 'a', shape: [10], offset: 500 }]] };
  const archive = archiveInMemory(spec);
  const whole = (await convert(archive)).bytes;
  const { start = 0 } = archive.members.find(({ name }) => name === 'archive/data/a') ?? {};
  archive.bytes.set([1, 2, 3], start + 1000);
  const { bytes, failure } = await convert(archive);
  expect(whole).toBeDefined();
  expect([bytes, codeOf(failure)]).toEqual([undefined, 'CONVERT_CRC_MISMATCH']);
});

it.each([0, 1])('converts with a warning where every CRC-32 is wrong, such as %i: none was written', async (crc32) => {
  const storages = { a: { bytes: noise(4000), crc32 }, b: { bytes: noise(1000, 2), crc32, deflated: true } };
  const { bytes, report } = await convert(archiveInMemory({ ...plain, storages, pickleCrc32: crc32 }));
  expect(bytes).toEqual((await convert(archiveInMemory(plain))).bytes);
  expect(report).toMatchObject({ ok: true, crc: 'never-computed' });
  expect(report?.findings.map(({ code, severity }) => [code, severity])).toContainEqual(['CONVERT_CRC_NEVER_WRITTEN', 'warning']);
});

it.each([undefined, 0])('refuses storages that are all zeros under a wrong CRC-32 (the pickle has %s)', async (pickleCrc32) => {
  const zeros = (length: number, deflated: boolean) => ({ bytes: new Uint8Array(length), crc32: 0, deflated });
  const spec: ArchiveSpec = { ...plain, storages: { a: zeros(4000, false), b: zeros(1000, true) } };
  const { bytes, aborted, failure } = await convert(archiveInMemory({ ...spec, ...(pickleCrc32 === undefined ? {} : { pickleCrc32 }) }));
  expect([bytes, aborted, codeOf(failure)]).toEqual([undefined, true, 'CONVERT_DATA_NEVER_WRITTEN']);
});

it('converts storages that are all zeros under the right CRC-32', async () => {
  const spec: ArchiveSpec = { ...plain, storages: { a: { bytes: new Uint8Array(4000) }, b: { bytes: new Uint8Array(1000) } } };
  expect((await convert(archiveInMemory(spec))).report?.crc).toBe('matched');
});

it('one storage of zeros without a CRC-32 beside others with data is no such case', async () => {
  const storages = { a: { bytes: noise(4000), crc32: 0 }, b: { bytes: new Uint8Array(1000), crc32: 0 } };
  expect((await convert(archiveInMemory({ ...plain, storages, pickleCrc32: 0 }))).report?.crc).toBe('never-computed');
});

it('says when the container states no CRC-32', async () => {
  expect((await convert({ ...archiveInMemory(plain), members: [] })).report).toMatchObject({ ok: true, crc: 'absent' });
});

it.each<[code: string, spec: ArchiveSpec]>([
  ['TORCH_TENSOR_SPARSE', { ...plain, leftOut: [sparseTensor] }],
  ['CONVERT_NOTHING_TO_DO', { ...plain, format: 'safetensors' }],
  ['CONVERT_NO_TENSORS', { storages: {}, tensors: [] }],
  ['LIMIT_EXCEEDED', { storages: { a: { bytes: noise(4) } }, tensors: [['bomb', { storage: 'a', shape: [10 ** 12], stride: [0] }]] }],
])('a plan that is not ok is refused with %s and writes nothing', async (code, spec) => {
  const { bytes, aborted, failure } = await convert(archiveInMemory(spec));
  expect([bytes, aborted, codeOf(failure)]).toEqual([undefined, true, code]);
  expect((failure as AssayError).findings.map((finding) => finding.code)).toEqual([code]);
});

it('carries what was left out into the report', async () => {
  const leftOut = [{ ...sparseTensor, code: 'TORCH_LEFT_OUT' as const, severity: 'info' as const }];
  const { report } = await convert(archiveInMemory({ ...plain, leftOut }));
  expect(report?.leftOut).toEqual(leftOut);
});

const changing = (from: number): ((source: ByteSource) => ByteSource) => {
  let asked = 0;
  return (source) => ({ ...source, identity: async () => ((asked += 1) > from ? 'new' : 'old') });
};

it('publishes nothing when the source changed meanwhile', async () => {
  const { bytes, aborted, failure } = await convert(archiveInMemory({ ...plain, source: changing(1) }));
  expect([bytes, aborted, codeOf(failure)]).toEqual([undefined, true, 'SOURCE_CHANGED']);
});

it('a source that changed is told rather than the damage that it explains', async () => {
  const storages = { ...plain.storages, a: { bytes: noise(4000), crc32: 5 } };
  const { failure } = await convert(archiveInMemory({ ...plain, storages, source: changing(1) }));
  expect(codeOf(failure)).toBe('SOURCE_CHANGED');
});

it('starts nothing when the source is no longer the one that was opened', async () => {
  const source = (inner: ByteSource): ByteSource => ({ ...inner, locator: { kind: 'path', path: 'model.pt', identity: 'opened' } });
  const { bytes, failure } = await convert(archiveInMemory({ ...plain, source }));
  expect([bytes, codeOf(failure)]).toEqual([undefined, 'SOURCE_CHANGED']);
});

it('publishes nothing when the source is cut while it is read', async () => {
  const archive = archiveInMemory(plain);
  const cut = createMemorySource(archive.bytes.subarray(0, 2000), 'model.pt');
  const source: ByteSource = { ...cut, size: archive.bytes.length, identity: async () => 'same' };
  const { bytes, aborted, failure } = await convert({ ...archive, sources: [source] });
  expect([bytes, aborted, codeOf(failure)]).toEqual([undefined, true, 'SOURCE_SHORT_READ']);
});

it.each<[title: string, when: 'before' | 'during']>([['before it starts', 'before'], ['while it runs', 'during']])(
  "an abort %s rethrows the signal's reason and leaves nothing",
  async (_, when) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    if (when === 'before') controller.abort(reason);
    const { bytes, aborted, failure } = await convert(archiveInMemory(plain), {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    expect(failure).toBe(reason);
    expect([bytes, aborted]).toEqual([undefined, true]);
  },
);

it('publishes nothing when the header read back is not the one that was written', async () => {
  const archive = archiveInMemory(plain);
  const plan = planConversion(archive);
  const watch = watchedSink(plan.output.byteLength);
  const faulty: CopyRunner = {
    run: async (steps, sources, sink, options) => {
      const result = await runner.run(steps, sources, sink, options);
      await sink.writeAt(new Uint8Array([0xff]), 9);
      return result;
    },
  };
  const failure: unknown = await executeConversion(plan, archive, { runner: faulty, sink: watch.sink }).catch((error: unknown) => error);
  expect(codeOf(failure)).toBe('CONVERT_OUTPUT_WRONG');
  expect((failure as AssayError).context).toEqual({ start: 9, end: plan.output.header.length });
  expect([watch.published, watch.aborted]).toEqual([undefined, true]);
});

it('a failing commit is told, and the sink is aborted', async () => {
  const archive = archiveInMemory(plain);
  const plan = planConversion(archive);
  const watch = watchedSink(plan.output.byteLength);
  const failing = new Error('taken');
  const sink = { ...watch.sink, commit: async () => Promise.reject(failing) };
  await expect(executeConversion(plan, archive, { runner, sink })).rejects.toBe(failing);
  expect(watch.aborted).toBe(true);
});

it('a plan that was stored or sent does the same, but not for another archive', async () => {
  const archive = archiveInMemory(plain);
  const plan = structuredClone(planConversion(archive));
  const watch = watchedSink(plan.output.byteLength);
  await executeConversion(plan, archive, { runner, sink: watch.sink });
  expect(watch.published).toEqual((await convert(archive)).bytes);
  const other = archiveInMemory({ ...plain, storages: { ...plain.storages, more: { bytes: noise(8) } } });
  const refused = watchedSink(plan.output.byteLength);
  await expect(executeConversion(plan, other, { runner, sink: refused.sink })).rejects.toThrow(TypeError);
  expect([refused.published, refused.aborted]).toEqual([undefined, true]);
});

it('a plan that does not write each output byte once is refused', async () => {
  const archive = archiveInMemory(plain);
  const plan = planConversion(archive, { stepBytes: 1 });
  const copies = plan.steps.filter(({ parts }) => parts.some(({ kind }) => kind === 'copy'));
  for (const steps of [copies.slice(1), copies.slice(0, -1), copies.toSpliced(1, 1), [...copies, ...copies.slice(-1)]]) {
    const watch = watchedSink(plan.output.byteLength);
    await expect(executeConversion({ ...plan, steps }, archive, { runner, sink: watch.sink })).rejects.toThrow(TypeError);
    expect([watch.published, watch.aborted]).toEqual([undefined, true]);
  }
});

/** A plan is a pure value: it reads nothing, says where every byte goes, and says what forbids it. */
import { outputSegments, type ByteSource, type StepPart } from '@assay/core';
import { describePlan, planConversion, type ConversionPlan } from '@assay/convert';
import { expect, it } from 'vitest';
import { archiveInMemory, noise, sparseTensor, type ArchiveSpec, type TensorSpec } from './archive-in-memory.ts';

const MIB = 1 << 20;

const unreadable = (source: ByteSource): ByteSource => {
  const fail = (): never => {
    throw new Error('a plan reads nothing');
  };
  return { ...source, readInto: fail, withView: fail, identity: fail };
};

const mixed: ArchiveSpec = {
  source: unreadable,
  storages: { a: { bytes: noise(4000) }, b: { bytes: noise(1000), deflated: true }, unused: { bytes: noise(100) } },
  tensors: [
    ['whole', { storage: 'a', shape: [10, 20] }],
    ['tied', { storage: 'a', shape: [10, 20] }],
    ['transposed', { storage: 'a', shape: [20, 10], stride: [1, 20] }],
    ['tail', { storage: 'a', shape: [3], offset: 900 }],
    ['deflated', { storage: 'b', dtype: 'F16', shape: [200] }],
    ['empty', { storage: 'b', shape: [0] }],
  ],
};

function partsOf({ steps }: ConversionPlan): StepPart[] {
  return steps.flatMap(({ parts }) => [...parts]);
}

it('reads nothing, and gives the same plan again', () => {
  const archive = archiveInMemory(mixed);
  expect(planConversion(archive)).toEqual(planConversion(archive));
});

it('survives structured clone, and its description survives JSON', () => {
  const plan = planConversion(archiveInMemory(mixed));
  expect(structuredClone(plan)).toEqual(plan);
  const described = describePlan(plan);
  expect(JSON.parse(JSON.stringify(described))).toEqual(described);
});

it('describes every output range, every source range and every alias', () => {
  const described = describePlan(planConversion(archiveInMemory(mixed))) as unknown as {
    output: { tensors: { name: string; start: number; end: number; source: unknown[] }[] };
    aliases: unknown;
  };
  const { tensors } = described.output;
  expect(tensors.map(({ name }) => name)).toEqual(['empty', 'tail', 'tied', 'transposed', 'deflated']);
  expect(tensors.slice(1).map(({ start }) => start)).toEqual(tensors.slice(0, -1).map(({ end }) => end));
  expect(tensors.map(({ source }) => source.length)).toEqual([0, 1, 1, 1, 1]);
  expect(described.aliases).toEqual([{ name: 'whole', keptAs: 'tied' }]);
});

it('prints a dimension above 2^53-1 digit by digit', () => {
  const archive = archiveInMemory({ storages: { a: { bytes: noise(4) } }, tensors: [['huge', { storage: 'a', shape: [0] }]] });
  const huge = { ...archive.tensors.get('huge'), name: 'huge', dtype: 'F32' as const, shape: [0, 9_007_199_254_740_993n], byteLength: 0 };
  const plan = planConversion({ ...archive, tensors: new Map([['huge', huge]]) });
  expect(JSON.stringify(describePlan(plan))).toContain('"shape":[0,"9007199254740993"]');
  expect(new TextDecoder().decode(plan.output.header)).toContain('"shape":[0,9007199254740993]');
});

it('writes every output byte once, in steps that follow each other in the output', () => {
  const { steps, output } = planConversion(archiveInMemory(mixed), { stepBytes: 1 });
  const segments = outputSegments(steps);
  expect(segments.map(({ start }) => start)).toEqual([0, ...segments.slice(0, -1).map(({ end }) => end)]);
  expect(segments.at(-1)?.end).toBe(output.byteLength);
  const order = segments.map(({ step }) => step);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

it('joins neighbouring small tensors until a step has 8 MiB, the header with the first', () => {
  const tensors = Array.from({ length: 80 }, (_, index): [string, TensorSpec] => [
    `t${String(index).padStart(2, '0')}`,
    { storage: 'a', dtype: 'U8', shape: [256 << 10], offset: index * (256 << 10) },
  ]);
  const plan = planConversion(archiveInMemory({ storages: { a: { bytes: new Uint8Array(20 * MIB) } }, tensors }));
  const copies = plan.steps.filter(({ parts }) => parts.some(({ kind }) => kind === 'copy'));
  expect(copies.map(({ parts }) => parts.length)).toEqual([33, 32, 16]);
  expect(copies[0]?.parts[0]).toMatchObject({ kind: 'copy', at: 0, piece: { kind: 'inline', bytes: plan.output.header } });
});

it('cuts a large tensor into parts of at most 64 MiB, at pages, that several threads can share', () => {
  const length = 150 * MIB + 4;
  const archive = archiveInMemory({ storages: { a: { bytes: new Uint8Array(length) } }, tensors: [['big', { storage: 'a', shape: [length / 4] }]] });
  const [member] = archive.members.slice(1);
  const plan = planConversion(archive);
  const ranges = partsOf(plan).flatMap((part) => (part.kind === 'copy' && part.piece.kind === 'range' ? [{ ...part.piece, check: part.check }] : []));
  expect(ranges).toHaveLength(3);
  expect(ranges[0]?.start).toBe(member?.start);
  expect(ranges.at(-1)?.end).toBe(member?.end);
  for (const { start, end, check } of ranges) {
    expect(check).toBe(true);
    expect(end - start).toBeLessThanOrEqual(64 * MIB);
    expect((start - (member?.start ?? 0)) % 4096).toBe(0);
  }
  expect(plan.steps.filter(({ parts }) => parts.some((part) => part.kind === 'copy'))).toHaveLength(3);
});

it('cuts a large gather along the output into views of at most 64 MiB, each a step of its own', () => {
  const storages = { a: { bytes: new Uint8Array(4 * MIB) } };
  const tensor: TensorSpec = { storage: 'a', dtype: 'U8', shape: [2, 10, 2048, 4096], stride: [0, 0, 1, 1024] };
  const plan = planConversion(archiveInMemory({ storages, tensors: [['expanded', tensor]] }));
  const gathers = partsOf(plan).flatMap((part) => (part.kind === 'copy' && part.piece.kind === 'strided' ? [part.piece.view] : []));
  expect(gathers.map(({ shape }) => shape.reduce((a, b) => a * b, 1))).toEqual([40, 40, 40, 40].map((n) => n * MIB));
  expect(plan.steps.filter(({ parts }) => parts.length === 1)).toHaveLength(4 + 1);
});

it('checks each byte of a member that is used once, whether copied, between copies or gathered', () => {
  const plan = planConversion(archiveInMemory(mixed));
  expect(plan.checks.map(({ member, holds }) => [member, holds])).toEqual([
    ['archive/data.pkl', 'record'],
    ['archive/data/a', 'tensors'],
    ['archive/data/b', 'tensors'],
  ]);
  for (const check of plan.checks) {
    expect(check.results.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(check.byteLength);
  }
  // One range is fused twice (800 bytes whole, 12 of the tail), and the gap between them and after them is read for its CRC.
  const parts = plan.checks[1]?.results.map(({ step, part }) => plan.steps[step]?.parts[part]?.kind);
  expect(parts).toEqual(['copy', 'check', 'copy', 'check']);
});

it('inflates a deflated member once for all that is contiguous in it', () => {
  const tensors = Array.from({ length: 10 }, (_, index): [string, TensorSpec] => [`t${index}`, { storage: 'a', shape: [5], offset: 45 - index * 5 }]);
  const plan = planConversion(archiveInMemory({ storages: { a: { bytes: noise(200), deflated: true } }, tensors }));
  const inflations = partsOf(plan).flatMap((part) => (part.kind === 'inflate' ? [part] : []));
  expect(inflations).toHaveLength(1);
  expect(inflations[0]?.targets.map(({ from }) => from)).toEqual([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
});

it.each<[code: string, spec: ArchiveSpec]>([
  ['CONVERT_NOTHING_TO_DO', { format: 'safetensors', storages: { a: { bytes: noise(4) } }, tensors: [['w', { storage: 'a', shape: [1] }]] }],
  ['CONVERT_NO_TENSORS', { storages: {}, tensors: [] }],
  ['SAFETENSORS_NAME_INVALID', { storages: { a: { bytes: noise(4) } }, tensors: [['\ud800', { storage: 'a', shape: [1] }]] }],
])('refuses with %s, without steps', (code, spec) => {
  const plan = planConversion(archiveInMemory(spec));
  expect(plan.ok).toBe(false);
  expect(plan.findings.filter(({ severity }) => severity === 'error').map((finding) => finding.code)).toEqual([code]);
  expect(plan.steps).toEqual([]);
});

it('weights that cannot be had make the plan fail by name', () => {
  const plan = planConversion(archiveInMemory({ ...mixed, leftOut: [sparseTensor] }));
  expect(plan.ok).toBe(false);
  expect(plan.leftOut).toEqual([sparseTensor]);
});

it('says why there are no tensors where the weights cannot be had', () => {
  const plan = planConversion(archiveInMemory({ storages: {}, tensors: [], leftOut: [sparseTensor] }));
  expect(plan.ok).toBe(false);
  expect(plan.findings).toEqual([]);
});

it('refuses an expanded view of 4 TB before anything of that size is made', () => {
  const bomb: ArchiveSpec = {
    source: unreadable,
    storages: { a: { bytes: noise(4) } },
    tensors: [['small', { storage: 'a', shape: [1] }], ['bomb', { storage: 'a', shape: [10 ** 12], stride: [0] }]],
  };
  const archive = archiveInMemory(bomb);
  const plan = planConversion(archive);
  expect(plan.ok).toBe(false);
  expect(plan.findings.find(({ code }) => code === 'LIMIT_EXCEEDED')).toMatchObject({
    severity: 'error',
    subject: { tensor: 'bomb' },
    args: { limit: 'maxExpansionRatio', found: 4_000_000_000_004, allowed: 64 * MIB, sourceByteLength: archive.bytes.length },
  });
  expect(plan.steps).toEqual([]);
  expect(planConversion(archive, { limits: { freeExpansionBytes: 5e12 } }).ok).toBe(true);
});

it('tensors of one storage count against the budget together', () => {
  const tensors = Array.from({ length: 2000 }, (_, index): [string, TensorSpec] => [`t${index}`, { storage: 'a', shape: [9000 + index] }]);
  const archive = archiveInMemory({ storages: { a: { bytes: noise(44_000) } }, tensors });
  expect(planConversion(archive).findings.map(({ code }) => code)).toContain('LIMIT_EXCEEDED');
});

it('refuses an archive that locates other bytes than a tensor has', () => {
  const archive = archiveInMemory(mixed);
  expect(() => planConversion({ ...archive, locate: () => [] })).toThrow(RangeError);
});

it('plans 100,000 tensors in one walk over them', () => {
  const work = (count: number): number => {
    let located = 0;
    const tensors = Array.from({ length: count }, (_, index): [string, TensorSpec] => [
      `layer.${index}`,
      { storage: index % 3 === 0 ? 'odd' : 'a', shape: [2, 1], offset: index * 2, ...(index % 7 === 0 ? { stride: [1, 9] } : {}) },
    ]);
    const storages = { a: { bytes: new Uint8Array(count * 8 + 8) }, odd: { bytes: new Uint8Array(count * 8 + 8) } };
    const archive = archiveInMemory({ storages, tensors });
    const plan = planConversion({ ...archive, locate: (name) => ((located += 1), archive.locate(name)) });
    const parts = partsOf(plan).length + plan.checks.reduce((sum, { results }) => sum + results.length, 0);
    return located + parts + plan.findings.length;
  };
  expect(work(100_000) / work(10_000)).toBeLessThan(10.5);
});

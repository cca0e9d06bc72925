/** Tensors that are cut into parts come out whole, and their CRC-32 comes together again. */
import { planConversion } from '@assay/convert';
import { expect, it } from 'vitest';
import { archiveInMemory, noise, type ArchiveSpec } from './archive-in-memory.ts';
import { convert } from './convert-in-memory.ts';

const MIB = 1 << 20;

it('a tensor of 130 MiB, copied and checked in parts', async () => {
  const bytes = new Uint8Array(130 * MIB + 12);
  const pattern = noise(MIB + 1);
  for (let at = 0; at < bytes.length; at += pattern.length) bytes.set(pattern.subarray(0, bytes.length - at), at);
  const archive = archiveInMemory({ storages: { a: { bytes } }, tensors: [['big', { storage: 'a', shape: [bytes.length / 4] }]] });
  const plan = planConversion(archive);
  expect(plan.checks.find(({ member }) => member === 'archive/data/a')?.results).toHaveLength(3);
  const { bytes: output, report } = await convert(archive, { digests: [] });
  expect(report?.crc).toBe('matched');
  expect(Buffer.compare(output?.subarray(plan.output.header.length) ?? bytes, bytes)).toBe(0);
});

it('a view of 144 MiB, gathered in parts that are cut along its second axis', async () => {
  // Element (i, j, k) of the view is i + 3j + k of the storage: windows that slide over it.
  const row = MIB;
  const storage = new Float64Array(row + 32).map((_, index) => index);
  const bytes = new Uint8Array(storage.buffer);
  const spec: ArchiveSpec = {
    storages: { a: { bytes } },
    tensors: [['windows', { storage: 'a', dtype: 'F64', shape: [2, 9, row], stride: [1, 3, 1] }]],
  };
  const archive = archiveInMemory(spec);
  const plan = planConversion(archive);
  const shapes = plan.steps.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'copy' && part.piece.kind === 'strided' ? [part.piece.view.shape] : [])),
  );
  expect(shapes).toEqual([[5, row], [4, row], [5, row], [4, row]]);
  const { bytes: output, report } = await convert(archive, { digests: [] });
  expect(report?.crc).toBe('matched');
  for (let i = 0, at = plan.output.header.length; i < 2; i += 1) {
    for (let j = 0; j < 9; j += 1, at += row * 8) {
      const start = (i + 3 * j) * 8;
      expect(Buffer.compare(output?.subarray(at, at + row * 8) ?? bytes, bytes.subarray(start, start + row * 8))).toBe(0);
    }
  }
});

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAssayError } from '@assay/core';
import { convert, inspect, verify } from 'assay';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixtures, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();
const checkpoints = readdirSync(fixtures).filter((name) => /\.(?:pt|bin|ckpt|pth|pt2)$/.test(name));
const tensors = readdirSync(join(fixtures, 'golden')).filter((name) => name.endsWith('.safetensors')).map((name) => join('golden', name));

/** Where in the file (0 to 1, or from a landmark), and what stands there afterwards. */
const edit = fc.record({
  near: fc.constantFrom('anywhere', 'pickle', 'end'),
  share: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  change: fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('put' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }) }),
    fc.record({ kind: fc.constant('number' as const), value: fc.constantFrom(0, 1, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff) }),
    fc.record({ kind: fc.constant('insert' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
    fc.record({ kind: fc.constant('remove' as const), length: fc.integer({ min: 1, max: 64 }) }),
    fc.record({ kind: fc.constant('cut' as const) }),
  ),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function apply(bytes: Buffer, { near, share, change }: Edit): Buffer {
  const pickle = Math.max(0, bytes.indexOf('data.pkl'));
  const [from, length] = near === 'pickle' ? [pickle, 600] : near === 'end' ? [Math.max(0, bytes.length - 700), 700] : [0, bytes.length];
  const at = Math.min(bytes.length, from + Math.floor(share * length));
  if (change.kind === 'cut') return bytes.subarray(0, at);
  if (change.kind === 'remove') return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.length)]);
  if (change.kind === 'insert') return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at)]);
  const copy = Buffer.from(bytes);
  if (change.kind === 'put') copy.set(change.bytes.subarray(0, Math.max(0, copy.length - at)), at);
  else if (change.kind === 'number' && at + 4 <= copy.length) copy.writeUInt32LE(change.value, at);
  else if (change.kind === 'flip' && at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << change.bit);
  return copy;
}

/** Everything else than an answer or a coded error with an action is a fault of ours. */
async function answered<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!isAssayError(error)) throw error;
    expect(error.message.length).toBeGreaterThan(0);
    expect(error.hint, error.code).toBeDefined();
    return undefined;
  }
}

describe('a real file with a few bytes changed', () => {
  it('is inspected, verified and converted, or refused by a code: never a crash, never anything left behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...checkpoints, ...tensors), fc.array(edit, { minLength: 1, maxLength: 5 }), async (name, edits) => {
        const input = join(folder, `mutated${/\.[^.]+$/.exec(name)?.[0] ?? ''}`);
        const output = join(folder, 'out.safetensors');
        writeFileSync(input, edits.reduce(apply, readFileSync(join(fixtures, name))));
        await inspect(input);
        await verify([input], { structure: true });
        const planned = await answered(convert(input, { output, dryRun: true }));
        if (planned?.plan.ok === true) await answered(convert(input, { output, threads: 1 }));
        rmSync(output, { force: true });
        rmSync(input);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

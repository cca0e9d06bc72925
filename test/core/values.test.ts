import { AssayError, blameOf, codes, contiguousStride, dtypeFacts, dtypeRank, dtypes, elementCount, errorFromData, errorToData, isAssayError, isContiguous, isDType, isOk, finding, limitExceeded, resolveLimits, tensorSize, toDimension, toSafeNumber } from '@assay/core';
import { describe, expect, it } from 'vitest';

describe('codes', () => {
  it('are upper snake case, with one sentence each and no code for two faults', () => {
    expect(codes.size).toBeGreaterThan(100);
    const summaries = [...codes.values()].map(({ summary }) => summary);
    for (const [code, { summary }] of codes) {
      expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/);
      expect(summary, code).toMatch(/^\S.*[^.\s]$/s);
    }
    expect(summaries.length).toBe(codes.size);
    expect([blameOf('SOURCE_CHANGED'), blameOf('FORMAT_EMPTY'), blameOf('FORMAT_POLYGLOT')]).toEqual(['world', 'input', 'note']);
  });
});

describe('AssayError', () => {
  const error = new AssayError('SOURCE_SHORT_READ', { message: 'short', hint: 'again', context: { offset: 3n }, findings: [finding('FORMAT_EMPTY', 'error', {})] });

  it('keeps everything when it travels between threads', () => {
    const revived = errorFromData(structuredClone(errorToData(error)));
    expect(isAssayError(revived)).toBe(true);
    expect({ ...errorToData(revived) }).toEqual({ ...errorToData(error) });
  });

  it('is recognised by brand, and nothing else is', () => {
    expect(isAssayError({ name: 'AssayError', code: 'FORMAT_EMPTY' })).toBe(true);
    for (const other of [new Error('x'), undefined, null, 'AssayError', { name: 'AssayError', code: 'NO_SUCH' }, { code: 'FORMAT_EMPTY' }]) {
      expect(isAssayError(other)).toBe(false);
    }
  });
});

describe('limits', () => {
  it('are the defaults with the caller’s over them', () => {
    expect(resolveLimits({ maxHeaderBytes: 5 })).toMatchObject({ maxHeaderBytes: 5, maxJsonDepth: 128 });
    expect(() => resolveLimits({ maxHeaderBytes: Number.NaN })).toThrow(TypeError);
    expect(() => resolveLimits({ unheardOf: 1 } as never)).toThrow(TypeError);
  });

  it('name themselves when they are passed', () => {
    const { code, context } = limitExceeded('maxZipEntries', { where: 'x', found: 9n, allowed: 4, offset: 2 });
    expect([code, context]).toEqual(['LIMIT_EXCEEDED', { limit: 'maxZipEntries', found: 9n, allowed: 4, offset: 2 }]);
  });
});

describe('dtypes', () => {
  it('are the 22 of safetensors 0.8.0 in the order of its enum', () => {
    expect(dtypes).toEqual(['BOOL', 'F4', 'F6_E2M3', 'F6_E3M2', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0', 'F8_E4M3FNUZ', 'F8_E5M2FNUZ', 'I16', 'U16', 'F16', 'BF16', 'I32', 'U32', 'F32', 'C64', 'F64', 'I64', 'U64']);
    expect(dtypes.map(dtypeRank)).toEqual(dtypes.map((_, rank) => rank));
  });

  it('know their width, their PyTorch name and how they swap', () => {
    expect(dtypeFacts('C64')).toEqual({ bits: 64, family: 'complex', torch: 'complex64', swapWidth: 4 });
    expect(dtypeFacts('F4')).toMatchObject({ bits: 4, swapWidth: 1, torch: 'float4_e2m1fn_x2' });
    expect(dtypeFacts('F6_E2M3').torch).toBeUndefined();
    expect(['F32', 'f32', '__proto__', 'toString'].map(isDType)).toEqual([true, false, false, false]);
  });
});

describe('shapes', () => {
  it('are counted exactly, and products past 2^64-1 are refused even before a 0', () => {
    expect(elementCount([])).toBe(1n);
    expect(elementCount([3, 0, 5])).toBe(0n);
    expect(elementCount([0, 2n ** 64n - 1n])).toBe(0n);
    expect(elementCount([2n ** 64n - 1n])).toBe(2n ** 64n - 1n);
    expect(elementCount([2n ** 64n - 1n, 2n ** 64n - 1n, 0])).toBeUndefined();
    expect(elementCount([4194305, 4194305, 211106198978564])).toBeUndefined();
  });

  it('become bytes only where those are whole and exact', () => {
    expect(tensorSize('F32', [2, 3])).toEqual({ ok: true, byteLength: 24 });
    expect(tensorSize('F4', [3])).toMatchObject({ ok: false, problem: 'not-whole-bytes', bits: 12n });
    expect(tensorSize('F6_E2M3', [4])).toEqual({ ok: true, byteLength: 3 });
    expect(tensorSize('U64', [2 ** 52])).toMatchObject({ ok: false, problem: 'not-exact' });
    expect(tensorSize('U64', [2n ** 62n])).toMatchObject({ ok: false, problem: 'overflow' });
  });

  it('keep a dimension above 2^53-1 as a bigint', () => {
    expect(toDimension(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(toDimension(2n ** 53n + 1n)).toBe(2n ** 53n + 1n);
    expect(toSafeNumber(-1n)).toBeUndefined();
  });

  it('are contiguous whatever the stride of an axis of size 1, or when there is nothing', () => {
    expect(contiguousStride([2, 3, 4])).toEqual([12, 4, 1]);
    expect(isContiguous([2, 1, 4], [4, 99, 1])).toBe(true);
    expect(isContiguous([2, 0], [7, 7])).toBe(true);
    expect(isContiguous([], [])).toBe(true);
    expect(isContiguous([2, 3], [1, 2])).toBe(false);
    expect(isContiguous([2], [0])).toBe(false);
  });
});

describe('isOk', () => {
  it('is false for an error alone', () => {
    expect(isOk([finding('FORMAT_POLYGLOT', 'warning', {})])).toBe(true);
    expect(isOk([finding('FORMAT_EMPTY', 'error', {})])).toBe(false);
  });
});

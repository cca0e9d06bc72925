// Rows T01 to T13 of the conformance list, and P24, P45, P46: tensors behind a pickle, built in bytes.
import { createMemorySource, isAssayError, type AssayError, type Facts, type Limits, type TensorArchive } from '@assay/core';
import { checkExpansion, openTorchZip } from '@assay/formats';
import { describe, expect, test } from 'vitest';
import type { Writable } from '../support/pickle-builder.ts';
import { floats, orderedDict, rebuild, storage, tensor, torchZip } from '../support/torch-builder.ts';

const four = { 0: floats(1, 2, 3, 4) };
const whole = storage('0', 4);

function open(value: Writable, storages: Readonly<Record<string, Uint8Array>> = four, records?: Readonly<Record<string, string>>, limits?: Partial<Limits>): Promise<TensorArchive> {
  return openTorchZip(createMemorySource(torchZip(value, storages, records), 'built.pt'), limits === undefined ? {} : { limits });
}

async function refusal(opened: Promise<TensorArchive>): Promise<AssayError> {
  const error: unknown = await opened.then(
    () => new Error('was not refused'),
    (cause: unknown) => cause,
  );
  if (isAssayError(error)) return error;
  throw error;
}

async function bytesOf(archive: TensorArchive, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive.stream(name)) chunks.push(chunk.slice());
  return new Uint8Array(Buffer.concat(chunks));
}

const one = (value: Writable): Writable => new Map([['w', value]]);

describe('views give the bytes that PyTorch would (T01, T04)', () => {
  const rows: readonly [title: string, value: Writable, shape: number[], bytes: Uint8Array, kind: string][] = [
    ['contiguous', tensor(whole, [2, 2], [2, 1]), [2, 2], floats(1, 2, 3, 4), 'range'],
    ['transposed', tensor(whole, [2, 2], [1, 2]), [2, 2], floats(1, 3, 2, 4), 'strided'],
    ['narrow', tensor(whole, [2], [1], 1), [2], floats(2, 3), 'range'],
    ['stepped', tensor(whole, [2], [2], 1), [2], floats(2, 4), 'strided'],
    ['expanded', tensor(whole, [2, 2], [0, 1]), [2, 2], floats(1, 2, 1, 2), 'strided'],
    ['overlapping windows', tensor(whole, [3, 2], [1, 1]), [3, 2], floats(1, 2, 2, 3, 3, 4), 'strided'],
    ['a scalar', tensor(whole, [], [], 3), [], floats(4), 'range'],
    ['a size as torch.Size', rebuild('_rebuild_tensor', whole, 0, { reduce: [{ global: ['torch', 'Size'] }, { tuple: [{ tuple: [4] }] }] }, { tuple: [1] }), [4], floats(1, 2, 3, 4), 'range'],
    ['a stride of 2^62 on an axis of size 1', tensor(whole, [1, 4], [2n ** 62n, 1]), [1, 4], floats(1, 2, 3, 4), 'range'],
    ['a tag in bytes, as Python 2 wrote it', tensor({ persistent: { tuple: [new TextEncoder().encode('storage'), { global: ['torch', 'FloatStorage'] }, '0', 'cpu', 4] } }, [4], [1]), [4], floats(1, 2, 3, 4), 'range'],
    ['an integer key', tensor(storage(0, 4), [4], [1]), [4], floats(1, 2, 3, 4), 'range'],
  ];
  test.each(rows)('%s', async (_, value, shape, bytes, kind) => {
    await using archive = await open(one(value));
    expect(archive.tensors.get('w')).toMatchObject({ dtype: 'F32', shape, byteLength: bytes.length });
    expect(archive.locate('w')).toMatchObject([{ kind }]);
    expect(await bytesOf(archive, 'w')).toEqual(bytes);
  });

  test('elements that are read more than once are a warning', async () => {
    await using archive = await open(one(tensor(whole, [3, 2], [1, 1])));
    expect(archive.findings).toMatchObject([{ code: 'TORCH_VIEW_REPEATS', severity: 'warning', subject: { tensor: 'w' } }]);
  });

  test('an empty tensor has no pieces, whatever its offset and strides', async () => {
    await using archive = await open(one(tensor(whole, [0, 3], [2n ** 70n, 7], 99)));
    expect(archive.tensors.get('w')).toMatchObject({ shape: [0, 3], byteLength: 0 });
    expect(archive.locate('w')).toEqual([]);
  });
});

describe('a tensor that cannot be is refused with code, found and expected (T05, T06, P45, P46)', () => {
  const call = 'TORCH_CALL_MALFORMED';
  const out = 'TORCH_VIEW_OUT_OF_BOUNDS';
  const rows: readonly [title: string, value: Writable, code: string, facts: Facts][] = [
    ['more elements than the storage', tensor(whole, [5], [1]), out, { found: 5, expected: 4 }],
    ['an offset past the storage', tensor(whole, [2], [1], 3), out, { found: 5, expected: 4 }],
    ['a stride past the storage', tensor(whole, [2, 2], [3, 1]), out, { found: 5, expected: 4 }],
    ['a size of 2^63-1', tensor(whole, [2n ** 63n - 1n], [1]), out, { expected: 4 }],
    ['a stride of 2^63', tensor(whole, [2], [2n ** 63n]), out, { expected: 4 }],
    ['a product past 2^64', tensor(whole, [2n ** 40n, 2n ** 40n], [0, 0]), 'TORCH_SHAPE_OVERFLOW', {}],
    ['a negative size', tensor(whole, [-1], [1]), call, { argument: 'size', found: -1 }],
    ['a negative stride', tensor(whole, [2], [-1], 3), call, { argument: 'stride', found: -1 }],
    ['a negative offset', tensor(whole, [1], [1], -1), call, { argument: 'storage_offset', found: -1 }],
    ['a stride for another rank', tensor(whole, [2, 2], [1]), call, { argument: 'stride', found: 1, expected: 2 }],
    ['a float as a size', tensor(whole, [{ float: 2 }], [1]), call, { argument: 'size', found: 'float' }],
    ['a bool as an offset', tensor(whole, [2], [1], true), call, { argument: 'storage_offset', found: 'bool' }],
    ['a text as a stride', rebuild('_rebuild_tensor_v2', whole, 0, { tuple: [4] }, 'x', false, orderedDict()), call, { argument: 'stride', found: 'text' }],
    ['two arguments (P46)', rebuild('_rebuild_tensor_v2', whole, 0), call, { argument: 'arguments', found: 2, expected: '6 or 7' }],
    ['eight arguments (P46)', tensor(whole, [4], [1], 0, null, null), call, { argument: 'arguments', found: 8 }],
    ['requires_grad that is a call (P45)', rebuild('_rebuild_tensor_v2', whole, 0, { tuple: [4] }, { tuple: [1] }, rebuild('x'), orderedDict()), call, { argument: 'requires_grad' }],
    ['backward hooks (T11)', rebuild('_rebuild_tensor_v2', whole, 0, { tuple: [4] }, { tuple: [1] }, false, orderedDict([[0, { global: ['os', 'system'] }]])), call, { argument: 'backward_hooks' }],
    ['metadata that is unknown', tensor(whole, [4], [1], 0, new Map([['device', true]])), call, { argument: 'metadata', found: 'device' }],
    ['a list as the storage', tensor([1, 2], [2], [1]), call, { argument: 'storage', found: 'list' }],
    ['a call with keywords of a class (P45)', { newobj: [{ global: ['torch._utils', '_rebuild_tensor_v2'] }, { tuple: [whole, 0] }] }, call, { found: 'newobj' }],
    ['state set on a rebuilt tensor (P45)', { ...(tensor(whole, [4], [1]) as { reduce: readonly [Writable, Writable] }), state: { tuple: [whole, 0, { tuple: [2] }, { tuple: [1] }] } }, call, { argument: 'state' }],
    ['items set on a rebuilt tensor (P45)', { ...(tensor(whole, [4], [1]) as { reduce: readonly [Writable, Writable] }), entries: [[0, 1]] }, call, { argument: 'state' }],
    ['a Parameter with data twice', { newobj: [{ global: ['torch.nn.parameter', 'Parameter'] }, { tuple: [tensor(whole, [4], [1])] }], state: { tuple: [tensor(whole, [2], [1]), true] } }, call, { argument: 'state' }],
    ['65 dimensions', tensor(whole, new Array<number>(65).fill(1), new Array<number>(65).fill(1)), call, { argument: 'size', found: 65 }],
    ['a Parameter without data', { newobj: [{ global: ['torch.nn.parameter', 'Parameter'] }, { tuple: [] }] }, call, { argument: 'state' }],
    ['a Parameter of a text', rebuild('_rebuild_parameter', 'x', true, orderedDict()), call, { argument: 'data', found: 'text' }],
    ['a FloatTensor on a LongStorage', { newobj: [{ global: ['torch', 'FloatTensor'] }, { tuple: [] }], state: { tuple: [storage('0', 2, 'LongStorage'), 0, { tuple: [2] }, { tuple: [1] }] } }, call, { found: 'int64', expected: 'float32' }],
    ['a storage shorter than its count (T06)', tensor(storage('0', 5), [4], [1]), 'TORCH_STORAGE_SIZE_MISMATCH', { found: 16, expected: 20 }],
    ['a storage longer than its count (T06)', tensor(storage('0', 3), [3], [1]), 'TORCH_STORAGE_SIZE_MISMATCH', { found: 16, expected: 12 }],
    ['a negative count (T06)', tensor(storage('0', -1), [0], [1]), 'TORCH_PERSISTENT_ID_UNKNOWN', { found: 'key text, location text, count -1' }],
    ['a count of 2^63', tensor(storage('0', 2n ** 63n), [1], [1]), 'TORCH_PERSISTENT_ID_UNKNOWN', {}],
    ['a storage that is not there', tensor(storage('7', 4), [4], [1]), 'TORCH_STORAGE_MISSING', { storage: '7' }],
    ['a storage key that climbs', tensor(storage('../data/0', 4), [4], [1]), 'TORCH_STORAGE_MISSING', { storage: '../data/0' }],
    ['an unknown storage class', tensor(storage('0', 4, 'OddStorage'), [4], [1]), 'TORCH_STORAGE_CLASS_UNKNOWN', { found: 'torch.OddStorage' }],
    ['a persistent id of another kind (P24)', tensor({ persistent: { tuple: ['module', 'x'] } }, [4], [1]), 'TORCH_PERSISTENT_ID_UNKNOWN', {}],
    ['a persistent id that is a number (P24)', tensor({ persistent: 7 }, [4], [1]), 'TORCH_PERSISTENT_ID_UNKNOWN', {}],
    ['wrappers without end', Array.from({ length: 20 }).reduce<Writable>((inner) => rebuild('_rebuild_parameter', inner, true, orderedDict()), 1), call, {}],
  ];
  test.each(rows)('%s', async (_, value, code, facts) => {
    const error = await refusal(open(one(value)));
    expect(error.code).toBe(code);
    expect(error.context).toMatchObject({ tensor: 'w', ...facts });
    expect(error.context).toHaveProperty('found');
    expect(error.context).toHaveProperty('expected');
    expect(error.context['offset']).toBeTypeOf('number');
    expect(error.findings).toMatchObject([{ code, severity: 'error', subject: { path: 'built.pt', tensor: 'w' } }]);
  });

  test('all malformed tensors are named, in file order', async () => {
    const value = new Map([['b', tensor(whole, [9], [1])], ['good', tensor(whole, [4], [1])], ['a', tensor(storage('5', 1), [1], [1])]]);
    const error = await refusal(open(value));
    expect(error.findings.map(({ code, subject }) => [subject.tensor, code])).toEqual([['b', 'TORCH_VIEW_OUT_OF_BOUNDS'], ['a', 'TORCH_STORAGE_MISSING']]);
  });

  test('an empty storage is sound (T06)', async () => {
    await using archive = await open(one(tensor(storage('0', 0), [0], [1])), { 0: new Uint8Array(0) });
    expect(archive.tensors.get('w')?.byteLength).toBe(0);
  });
});

describe('what would grow beyond all proportion is refused before anything is allocated (T02, T03)', () => {
  test.each([
    ['an element expanded to 10^12', [1_000_000, 1_000_000], [0, 0], 4_000_000_000_000],
    ['an element expanded to 2^63-1', [2n ** 63n - 1n], [0], (2n ** 63n - 1n) * 4n],
  ] as const)('%s', async (_, size, stride, found) => {
    const error = await refusal(open(one(tensor(whole, [...size], [...stride]))));
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxExpansionRatio', found } });
  });

  const names = Array.from({ length: 2000 }, (_, index) => `t${index}`);
  const large = { 0: new Uint8Array(64 * 1024) };
  const all = storage('0', 16 * 1024);

  test('2,000 equal views of one storage are one tensor; each for itself would be too much', async () => {
    await using archive = await open(new Map(names.map((name) => [name, tensor(all, [16 * 1024], [1])])), large);
    expect(archive.tensors.size).toBe(2000);
    const expansion = { where: 'x', sourceByteLength: 500_000, tensors: [...archive.tensors.values()], piecesOf: (name: string) => archive.locate(name) };
    expect(checkExpansion({ ...expansion, aliases: 'once' })).toBe(64 * 1024);
    expect(() => checkExpansion({ ...expansion, aliases: 'each' })).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  test('2,000 different views of one storage are limited by what they would become', async () => {
    const value = new Map(names.map((name, index) => [name, tensor(all, [16 * 1024 - index], [1])]));
    const error = await refusal(open(value, large, undefined, { freeExpansionBytes: 1_000_000, maxExpansionRatio: 8 }));
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxExpansionRatio' } });
  });
});

describe('byte order (T08)', () => {
  const big = { 0: Uint8Array.of(0x3f, 0x80, 0, 0) };
  const scalar = one(tensor(storage('0', 1), [], []));

  test('big is swapped', async () => {
    await using archive = await open(scalar, big, { byteorder: 'big' });
    expect(archive.facts.get('byte order')).toBe('big');
    expect(await bytesOf(archive, 'w')).toEqual(floats(1));
  });

  test('absent is little', async () => {
    await using archive = await open(scalar, { 0: floats(1) }, { version: '3\n' });
    expect(await bytesOf(archive, 'w')).toEqual(floats(1));
  });

  test.each(['Big', 'LITTLE', 'little\n', '', 'middle', 'x'.repeat(2000)])('%j is refused', async (byteorder) => {
    const error = await refusal(open(scalar, big, { byteorder }));
    expect(error).toMatchObject({ code: 'TORCH_BYTE_ORDER_UNKNOWN', context: { expected: 'little or big' } });
  });

  test('units: halves of complex numbers, nothing of bytes', async () => {
    const value = new Map([
      ['complex', tensor(storage('0', 1, 'ComplexFloatStorage'), [1], [1])],
      ['bytes', tensor(storage('1', 2, 'ByteStorage'), [2], [1])],
    ]);
    await using archive = await open(value, { 0: new Uint8Array(8), 1: Uint8Array.of(1, 2) }, { byteorder: 'big' });
    expect(archive.locate('complex')).toMatchObject([{ transform: { swap: 4 } }]);
    expect(archive.locate('bytes')[0]).not.toHaveProperty('transform');
  });
});

describe('dtypes (T09)', () => {
  const v3 = (dtype: string, size: readonly number[], bytes: number): Writable =>
    rebuild('_rebuild_tensor_v3', storage('0', bytes, 'UntypedStorage'), 0, { tuple: size }, { tuple: size.map(() => 1) }, false, orderedDict(), { global: ['torch', dtype] });

  test.each([
    ['uint16', 'U16', 2],
    ['uint32', 'U32', 4],
    ['uint64', 'U64', 8],
    ['float8_e4m3fn', 'F8_E4M3', 1],
    ['float8_e5m2', 'F8_E5M2', 1],
    ['float8_e4m3fnuz', 'F8_E4M3FNUZ', 1],
    ['float8_e5m2fnuz', 'F8_E5M2FNUZ', 1],
    ['float8_e8m0fnu', 'F8_E8M0', 1],
    ['bfloat16', 'BF16', 2],
  ])('%s over untyped bytes is %s', async (name, dtype, width) => {
    await using archive = await open(one(v3(name, [3], 3 * width)), { 0: new Uint8Array(3 * width) });
    expect(archive.tensors.get('w')).toMatchObject({ dtype, shape: [3], byteLength: 3 * width });
  });

  test('pairs of float4 are two elements each', async () => {
    await using archive = await open(one(v3('float4_e2m1fn_x2', [3], 3)), { 0: new Uint8Array(3) });
    expect(archive.tensors.get('w')).toMatchObject({ dtype: 'F4', shape: [6], byteLength: 3 });
  });

  test.each([
    ['Double', 'F64', 8], ['Float', 'F32', 4], ['Half', 'F16', 2], ['BFloat16', 'BF16', 2], ['Long', 'I64', 8], ['Int', 'I32', 4], ['Short', 'I16', 2],
    ['Char', 'I8', 1], ['Byte', 'U8', 1], ['Bool', 'BOOL', 1], ['ComplexFloat', 'C64', 8],
  ])('%sStorage, also of cuda, is %s', async (name, dtype, width) => {
    for (const module of ['torch', 'torch.cuda']) {
      const id: Writable = { persistent: { tuple: ['storage', { global: [module, `${name}Storage`] }, '0', 'cuda:0', 2] } };
      await using archive = await open(one(tensor(id, [2], [1])), { 0: new Uint8Array(2 * width) });
      expect(archive.tensors.get('w')).toMatchObject({ dtype, byteLength: 2 * width });
    }
  });

  test.each(['complex128', 'complex32', 'bits8', 'bits16', 'qint8', 'int3'])('%s is refused by name, and tensors beside it are kept', async (name) => {
    await using archive = await open(new Map([['odd', v3(name, [1], 16)], ['w', tensor(storage('1', 4), [4], [1])]]), { 0: new Uint8Array(16), 1: floats(1, 2, 3, 4) });
    expect([...archive.tensors.keys()]).toEqual(['w']);
    expect(archive.leftOut).toMatchObject([{ code: 'TORCH_DTYPE_UNSUPPORTED', severity: 'error', subject: { tensor: 'odd' }, args: { dtype: name } }]);
  });

  test('a dtype that torch does not have is no tensor', async () => {
    const error = await refusal(open(one(v3('float128', [1], 16)), { 0: new Uint8Array(16) }));
    expect(error).toMatchObject({ code: 'TORCH_CALL_MALFORMED', context: { argument: 'dtype', found: 'torch.float128' } });
  });
});

describe('lazy bits become transforms', () => {
  const rows: readonly [storageClass: string, width: number, metadata: readonly string[], transform: object | undefined][] = [
    ['ComplexFloatStorage', 8, ['conj'], { flip: { width: 4, which: 'imaginary' } }],
    ['ComplexFloatStorage', 8, ['neg'], { flip: { width: 4, which: 'all' } }],
    ['ComplexFloatStorage', 8, ['conj', 'neg'], { flip: { width: 4, which: 'real' } }],
    ['HalfStorage', 2, ['neg'], { flip: { width: 2, which: 'all' } }],
    ['DoubleStorage', 8, ['neg'], { flip: { width: 8, which: 'all' } }],
    ['IntStorage', 4, ['neg'], { negate: 4 }],
    ['CharStorage', 1, ['neg'], { negate: 1 }],
    ['FloatStorage', 4, ['conj'], undefined],
    ['BoolStorage', 1, ['neg'], undefined],
  ];
  test.each(rows)('%s of %i bytes, %j', async (storageClass, width, bits, transform) => {
    const metadata = new Map(bits.map((bit) => [bit, true] as const));
    await using archive = await open(one(tensor(storage('0', 1, storageClass), [1], [1], 0, metadata)), { 0: new Uint8Array(width) });
    if (transform === undefined) expect(archive.leftOut).toMatchObject([{ code: 'TORCH_DTYPE_UNSUPPORTED', severity: 'error' }]);
    else expect(archive.locate('w')).toMatchObject([{ transform }]);
  });
});

describe('wrappers are taken off (T11)', () => {
  const inner = tensor(whole, [4], [1]);
  const parameter: Writable = { global: ['torch.nn.parameter', 'Parameter'] };
  const rows: readonly [title: string, value: Writable][] = [
    ['_rebuild_parameter', rebuild('_rebuild_parameter', inner, true, orderedDict())],
    ['_rebuild_parameter_with_state', rebuild('_rebuild_parameter_with_state', inner, true, orderedDict(), new Map([['note', 1]]))],
    ['_rebuild_device_tensor_from_cpu_tensor', rebuild('_rebuild_device_tensor_from_cpu_tensor', inner, { global: ['torch', 'float32'] }, 'xla:0', false)],
    ['Parameter by its arguments', { newobj: [parameter, { tuple: [inner, true] }] }],
    ['Parameter by its state', { newobj: [parameter, { tuple: [] }], state: { tuple: [inner, true, orderedDict()] } }],
    ['Parameter by the state of a tensor', { newobj: [parameter, { tuple: [] }], state: { tuple: [whole, 0, { tuple: [4] }, { tuple: [1] }] } }],
    ['Variable by five items', { newobj: [{ global: ['torch.autograd.variable', 'Variable'] }, { tuple: [] }], state: { tuple: [inner, null, orderedDict(), true, false] } }],
    ['FloatTensor by its state', { newobj: [{ global: ['torch', 'FloatTensor'] }, { tuple: [] }], state: { tuple: [whole, 0, { tuple: [4] }, { tuple: [1] }] } }],
    ['cuda.FloatTensor by its state', { newobj: [{ global: ['torch.cuda', 'FloatTensor'] }, { tuple: [] }], state: { tuple: [whole, 0, { tuple: [4] }, { tuple: [1] }] } }],
    ['_rebuild_tensor of the module torch._utils', rebuild('_rebuild_tensor', whole, 0, { tuple: [4] }, { tuple: [1] })],
  ];
  test.each(rows)('%s', async (_, value) => {
    await using archive = await open(one(value));
    expect(await bytesOf(archive, 'w')).toEqual(floats(1, 2, 3, 4));
  });

  test.each(['torch._tensor', 'torch.tensor'])('a subclass by %s._rebuild_from_type_v2 is kept and named', async (module) => {
    const args: Writable = { tuple: [whole, 0, { tuple: [4] }, { tuple: [1] }, false, orderedDict()] };
    const value: Writable = { reduce: [{ global: [module, '_rebuild_from_type_v2'] }, { tuple: [{ global: ['torch._utils', '_rebuild_tensor_v2'] }, { global: ['my.code', 'Image'] }, args, new Map()] }] };
    await using archive = await open(one(value));
    expect(await bytesOf(archive, 'w')).toEqual(floats(1, 2, 3, 4));
    expect(archive.findings).toContainEqual(expect.objectContaining({ code: 'TORCH_SUBCLASS_UNWRAPPED', severity: 'info', args: { class: 'my.code.Image' } }));
  });

  test('a subclass that is rebuilt by unknown code is refused by name', async () => {
    const value: Writable = { reduce: [{ global: ['torch._tensor', '_rebuild_from_type_v2'] }, { tuple: [{ global: ['os', 'system'] }, { global: ['my.code', 'Image'] }, { tuple: ['id'] }, new Map()] }] };
    await using archive = await open(one(value));
    expect(archive.tensors.size).toBe(0);
    expect(archive.leftOut).toMatchObject([{ code: 'TORCH_TENSOR_WRAPPER', severity: 'error', subject: { tensor: 'w' }, args: { function: 'os.system' } }]);
  });
});

describe('tensors of other kinds are refused by name, and those beside them are kept (T10)', () => {
  test.each([
    ['_rebuild_sparse_tensor', 'TORCH_TENSOR_SPARSE'],
    ['_rebuild_sparse_csr_tensor', 'TORCH_TENSOR_SPARSE'],
    ['_rebuild_qtensor', 'TORCH_TENSOR_QUANTIZED'],
    ['_rebuild_meta_tensor_no_storage', 'TORCH_TENSOR_META'],
    ['_rebuild_wrapper_subclass', 'TORCH_TENSOR_WRAPPER'],
    ['_rebuild_device_tensor_from_numpy', 'TORCH_TENSOR_NUMPY'],
    ['_rebuild_xla_tensor', 'TORCH_TENSOR_NUMPY'],
    ['_rebuild_nested_tensor', 'TORCH_TENSOR_NESTED'],
  ])('%s', async (name, code) => {
    await using archive = await open(new Map([['odd', rebuild(name)], ['w', tensor(whole, [4], [1])]]));
    expect([...archive.tensors.keys()]).toEqual(['w']);
    expect(archive.leftOut).toMatchObject([{ code, severity: 'error', subject: { tensor: 'odd' }, args: { function: `torch._utils.${name}` } }]);
  });

  test('a storage on the meta device has no values', async () => {
    await using archive = await open(new Map([['odd', tensor(storage('9', 4, 'FloatStorage', 'meta'), [4], [1])]]));
    expect(archive.leftOut).toMatchObject([{ code: 'TORCH_TENSOR_META', severity: 'error' }]);
  });
});

describe('shared tensors (T13)', () => {
  test('names of one storage have equal views', async () => {
    const value = new Map([['a', tensor(whole, [4], [1])], ['b', tensor(whole, [4], [1])], ['c', tensor(whole, [2], [1], 2)]]);
    await using archive = await open(value);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => archive.tensors.get(name)?.view);
    expect(a).toEqual({ storage: '0', storageByteLength: 16, byteOffset: 0, stride: [1] });
    expect(b).toEqual(a);
    expect(c).toEqual({ storage: '0', storageByteLength: 16, byteOffset: 8, stride: [1] });
  });
});

// Which part of a checkpoint is the weights, and what the names are: row T12 of the conformance list, and selection.
import { createMemorySource, isAssayError, type AssayError, type TensorArchive } from '@assay/core';
import { openTorchZip, weightKeys, type OpenTorchOptions } from '@assay/formats';
import { describe, expect, test } from 'vitest';
import { PickleBuilder, type Writable } from '../support/pickle-builder.ts';
import { floats, orderedDict, rebuild, storage, tensor, torchZip } from '../support/torch-builder.ts';

const w = tensor(storage('0', 4), [4], [1]);
const state: Writable = new Map([['weight', w]]);
const map = (...entries: readonly (readonly [Writable, Writable])[]): Writable => new Map(entries);

function open(value: Writable | Uint8Array, options: OpenTorchOptions = {}): Promise<TensorArchive> {
  return openTorchZip(createMemorySource(torchZip(value, { 0: floats(1, 2, 3, 4) }), 'built.pt'), options);
}

async function namesOf(value: Writable | Uint8Array, options?: OpenTorchOptions): Promise<string[]> {
  await using archive = await open(value, options);
  return [...archive.tensors.keys()];
}

async function refusal(value: Writable | Uint8Array, options?: OpenTorchOptions): Promise<AssayError> {
  const error: unknown = await open(value, options).then(
    () => new Error('was not refused'),
    (cause: unknown) => cause,
  );
  if (isAssayError(error)) return error;
  throw error;
}

describe('the weights', () => {
  test.each(weightKeys)('are the map under %s rather than tensors beside it', async (key) => {
    await using archive = await open(map(['loose', w], [key, state], ['epoch', 3]));
    expect([...archive.tensors.keys()]).toEqual(['weight']);
    expect(archive.facts.get('weights')).toBe(key);
    expect(archive.leftOut).toEqual([
      { code: 'TORCH_LEFT_OUT', severity: 'info', subject: { path: 'built.pt', member: 'archive/data.pkl' }, args: { path: 'loose', kind: 'tensor', class: 'torch._utils._rebuild_tensor_v2' } },
      { code: 'TORCH_LEFT_OUT', severity: 'info', subject: { path: 'built.pt', member: 'archive/data.pkl' }, args: { path: 'epoch', kind: 'int' } },
    ]);
  });

  test('are under the first known key in the stated order, whatever the order in the file', async () => {
    const value = map(...weightKeys.toReversed().map((key, index) => [key, map([`w${index}`, w])] as const));
    await using archive = await open(value);
    expect(archive.facts.get('weights')).toBe('state_dict');
    expect(archive.tensors.size).toBe(1);
  });

  test('are everything where no known key holds a map of tensors', async () => {
    expect(await namesOf(map(['model', 'resnet'], ['params', w], ['ema', null], ['state_dict', map()], ['module', [w]]))).toEqual(['params', 'module.0']);
  });

  test('are under a known key also where it is an OrderedDict whose tensors are nested', async () => {
    expect(await namesOf(map(['model', orderedDict([['encoder', orderedDict([['weight', w]])]])]))).toEqual(['encoder.weight']);
  });

  test('are a lone tensor, under a name of ours', async () => {
    expect(await namesOf(w)).toEqual(['tensor']);
  });

  test('are the items of a list by their index', async () => {
    expect(await namesOf([w, 5, { tuple: [w] }])).toEqual(['0', '2.0']);
  });
});

describe('names', () => {
  const rows: readonly [title: string, value: Writable, names: string[]][] = [
    ['join keys by dots', map(['a', map(['b', map(['c', w])])]), ['a.b.c']],
    ['are integers in decimal', map([0, w], [-1, map([2n ** 70n, w])]), ['0', '-1.1180591620717411303424']],
    ['may be empty, or those of object properties', map(['', w], ['__proto__', w], ['constructor', map(['', w])]), ['', '__proto__', 'constructor.']],
    ['keep the order of the file', map(['10', w], ['9', w], ['a', w]), ['10', '9', 'a']],
    ['come from lists of pairs, as Python 2 wrote OrderedDict', { reduce: [{ global: ['collections', 'OrderedDict'] }, { tuple: [[['x', w], ['y', w]]] }] }, ['x', 'y']],
    ['come from defaultdict and Counter', map(['d', { reduce: [{ global: ['collections', 'defaultdict'] }, { tuple: [null] }], entries: [['x', w]] }], ['c', { reduce: [{ global: ['collections', 'Counter'] }, { tuple: [map(['y', w])] }] }]), ['d.x', 'c.y']],
  ];
  test.each(rows)('%s', async (_, value, names) => {
    expect(await namesOf(value)).toEqual(names);
  });

  test('the attribute _metadata of a state dict is no name', async () => {
    const value: Writable = { reduce: [{ global: ['collections', 'OrderedDict'] }, { tuple: [] }], entries: [['weight', w]], state: map(['_metadata', orderedDict([['', map(['version', 1])]])]) };
    await using archive = await open(value);
    expect([...archive.tensors.keys()]).toEqual(['weight']);
    expect(archive.leftOut).toMatchObject([{ severity: 'info', args: { path: '_metadata', attribute: true } }]);
  });

  test.each([
    ['a.b and a: {b}', map(['a.b', w], ['a', map(['b', w])]), 'a.b'],
    ['the key 0 and the key "0"', map([0, w], ['0', w]), '0'],
  ] as const)('that two tensors would share are refused: %s', async (_, value, name) => {
    const error = await refusal(value);
    expect(error).toMatchObject({ code: 'TORCH_NAME_DUPLICATE', context: { tensor: name } });
    expect(error.findings).toHaveLength(1);
  });

  test.each([
    ['a tuple', map([{ tuple: ['a', 1] }, w], ['w', w]), 'TORCH_NAME_NOT_TEXT', '<tuple>'],
    ['a bool', map([true, w], ['w', w]), 'TORCH_NAME_NOT_TEXT', '<bool>'],
    ['none, above a map', map([null, map(['x', w])], ['w', w]), 'TORCH_NAME_NOT_TEXT', '<none>'],
    ['an object', map([{ newobj: [{ global: ['__main__', 'S'] }, { tuple: ['k'] }] }, w], ['w', w]), 'TORCH_NAME_NOT_TEXT', '<call>'],
    ['__metadata__', map(['__metadata__', w], ['w', w]), 'TORCH_NAME_RESERVED', '__metadata__'],
  ] as const)('that safetensors cannot hold are refused, and others kept: %s', async (_, value, code, tensor) => {
    await using archive = await open(value);
    expect([...archive.tensors.keys()]).toEqual(['w']);
    expect(archive.leftOut).toMatchObject([{ code, severity: 'error', subject: { tensor } }]);
  });

  test('with a lone surrogate are refused, and others kept', async () => {
    const lone = new PickleBuilder().op('EMPTY_DICT').op('MARK').counted('BINUNICODE', 4, Uint8Array.of(0x61, 0xed, 0xa0, 0x80)).value(w).text('w').value(w).op('SETITEMS').stop();
    await using archive = await open(lone);
    expect([...archive.tensors.keys()]).toEqual(['w']);
    expect(archive.leftOut).toMatchObject([{ code: 'TORCH_NAME_NOT_UNICODE', severity: 'error', subject: { tensor: 'a\ud800' } }]);
  });
});

describe('what is left out is listed, a key at a time', () => {
  test('with kind, class and count, and never one finding a value', async () => {
    const optimizer = map(['state', map([0, map(['exp_avg', w], ['step', 5])], [1, map(['exp_avg', w])])], ['param_groups', [map(['lr', { float: 0.1 }])]]);
    const args: Writable = { newobj: [{ global: ['argparse', 'Namespace'] }, { tuple: [] }], state: map(['lr', 1]) };
    await using archive = await open(map(['state_dict', state], ['optimizer', optimizer], ['args', args], ['text', 'x'], ['storage', storage('0', 4)], ['class', { global: ['a.b', 'C'] }], ['history', [1, 2, 3]]));
    expect(archive.leftOut.map(({ args }) => args)).toEqual([
      { path: 'optimizer', kind: 'map', count: 2, tensors: 2 },
      { path: 'args', kind: 'object', class: 'argparse.Namespace' },
      { path: 'text', kind: 'text' },
      { path: 'storage', kind: 'storage' },
      { path: 'class', kind: 'name', class: 'a.b.C' },
      { path: 'history', kind: 'list', count: 3 },
    ]);
    expect(archive.findings).toMatchObject([
      { code: 'TORCH_CLASS_NOT_BUILT', severity: 'info', args: { class: 'argparse.Namespace' } },
      { code: 'TORCH_CLASS_NOT_BUILT', severity: 'info', args: { class: 'a.b.C' } },
    ]);
  });

  test('values between nested tensors are counted under their top-level key', async () => {
    await using archive = await open(map(['net', 5], ['block', map(['weight', w], ['steps', 1], ['inner', map(['name', 'x'], ['bias', w])])]));
    expect(archive.leftOut.map(({ args }) => args)).toEqual([{ path: 'net', kind: 'int' }, { path: 'block', kind: 'values', count: 2 }]);
  });

  test('a million keys are a thousand findings and a number', async () => {
    const value = map(['state_dict', state], ...Array.from({ length: 3000 }, (_, index) => [`k${index}`, index] as const));
    await using archive = await open(value);
    expect(archive.leftOut).toHaveLength(1001);
    expect(archive.leftOut.at(-1)).toMatchObject({ args: { kind: 'more', count: 2000 } });
  });
});

describe('selection', () => {
  const value = map(['state_dict', state], ['ema', map(['v1.5', map(['w', w], ['x', w])], ['v1', map(['5', map(['y', w])])])], ['list', [map(['z', w])]]);

  test.each([
    ['state_dict', ['weight']],
    ['ema', ['v1.5.w', 'v1.5.x', 'v1.5.y'].slice(0, 3)],
    ['ema.v1', ['5.y']],
    ['list', ['0.z']],
    ['list.0', ['z']],
    ['ema.v1.5.x', ['x']],
  ])('%s', async (select, names) => {
    expect(await namesOf(value, { select })).toEqual(names);
  });

  test('a key that holds dots comes before a path of several keys', async () => {
    await using archive = await open(value, { select: 'ema.v1.5' });
    expect([...archive.tensors.keys()]).toEqual(['w', 'x']);
    expect(archive.facts.get('weights')).toBe('ema.v1.5');
    expect(archive.leftOut.map(({ args }) => args['path'])).toEqual(['state_dict', 'list', 'ema.v1']);
  });

  test('the path of several keys is found where the longer key leads nowhere', async () => {
    expect(await namesOf(value, { select: 'ema.v1.5.y' })).toEqual(['y']);
  });

  test('a path that is not there is refused with the keys that are', async () => {
    expect(await refusal(value, { select: 'model' })).toMatchObject({ code: 'TORCH_SELECT_NOT_FOUND', context: { select: 'model', available: ['state_dict', 'ema', 'list'] } });
    expect(await refusal(map(['epoch', 1], ['state_dict', state]), { select: 'epoch' })).toMatchObject({ code: 'TORCH_NO_TENSORS', context: { select: 'epoch' } });
  });

  test('a path that can be cut in 2^60 ways is not found without trying every cut', async () => {
    const shared = new PickleBuilder().value(state).op('BINPUT', 0).op('POP');
    for (let level = 0; level < 60; level += 1) {
      shared.op('EMPTY_DICT').op('MARK').text('a').op('BINGET', 0).text('a.a').op('BINGET', 0).op('SETITEMS').op('BINPUT', 0).op('POP');
    }
    expect((await refusal(shared.op('BINGET', 0).stop(), { select: `${'a.'.repeat(60)}nothing` })).code).toBe('TORCH_SELECT_NOT_FOUND');
  });
});

describe('an object without a map of tensors is refused by what it is', () => {
  test.each([
    ['a number', 42, 'TORCH_NO_TENSORS', 'int'],
    ['a map of numbers', map(['epoch', 1]), 'TORCH_NO_TENSORS', 'dict'],
    ['an empty map', map(), 'TORCH_NO_TENSORS', 'dict'],
    ['a lone storage', storage('0', 4), 'TORCH_NO_TENSORS', 'persistent'],
    ['a module', { newobj: [{ global: ['my.net', 'Net'] }, { tuple: [] }], state: map(['_parameters', state]) }, 'TORCH_OBJECT_NOT_WEIGHTS', 'my.net.Net'],
  ] as const)('%s', async (_, value, code, found) => {
    expect(await refusal(value)).toMatchObject({ code, context: { found, expected: 'a map of names to tensors' } });
  });

  test('tensors inside an object of an unknown class are not looked for', async () => {
    const config: Writable = { newobj: [{ global: ['__main__', 'Config'] }, { tuple: [] }], state: state };
    await using archive = await open(map(['weight', w], ['config', config]));
    expect([...archive.tensors.keys()]).toEqual(['weight']);
    expect(archive.leftOut).toMatchObject([{ args: { path: 'config', kind: 'object', class: '__main__.Config' } }]);
  });
});

describe('values that share or contain each other', () => {
  /** A list of ten times the one before, `levels` times, around what `seed` pushes. */
  function laughs(levels: number, seed: (builder: PickleBuilder) => PickleBuilder): Uint8Array {
    const builder = seed(new PickleBuilder()).sized('LONG_BINPUT', 4, 0);
    for (let level = 1; level <= levels; level += 1) {
      builder.op('EMPTY_LIST').op('MARK');
      for (let copy = 0; copy < 10; copy += 1) builder.sized('LONG_BINGET', 4, level - 1);
      builder.op('APPENDS').sized('LONG_BINPUT', 4, level);
    }
    return builder.stop();
  }

  test('10^100 lists of nothing are walked once each (P39)', async () => {
    for (const levels of [50, 100]) {
      const error = await refusal(laughs(levels, (builder) => builder.op('EMPTY_LIST')), { limits: { maxWalkedValues: 12 * levels } });
      expect(error.code).toBe('TORCH_NO_TENSORS');
    }
  });

  test('10^100 names of one tensor are refused before one is made (P39)', async () => {
    for (const levels of [50, 100]) {
      const error = await refusal(laughs(levels, (builder) => builder.value(w)), { limits: { maxWalkedValues: 12 * levels + 50 } });
      expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxExpansionRatio' } });
    }
  });

  test('a shared map of one tensor and many numbers is not walked for each of its names', async () => {
    const builder = new PickleBuilder().value(map(['w', w], ...Array.from({ length: 1000 }, (_, index) => [index, index] as const))).op('BINPUT', 0).op('POP').op('EMPTY_DICT').op('MARK');
    for (let name = 0; name < 100; name += 1) builder.text(`k${name}`).op('BINGET', 0);
    const bytes = builder.op('SETITEMS').stop();
    expect(await namesOf(bytes)).toHaveLength(100);
    expect(await refusal(bytes, { limits: { maxWalkedValues: 50_000 } })).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxWalkedValues', found: 100_200 } });
  });

  test('100,000 tuples in each other are refused by their depth (P41)', async () => {
    const deep = Buffer.concat([new PickleBuilder().op('NONE').bytes(), new Uint8Array(100_000).fill(0x85), new PickleBuilder().stop()]);
    expect(await refusal(deep)).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxNesting', found: 1001 } });
  });

  test('a ring beside the weights is left out', async () => {
    const bytes = new PickleBuilder().op('EMPTY_DICT').op('BINPUT', 0).op('MARK').text('state_dict').value(state).text('me').op('BINGET', 0).op('SETITEMS').stop();
    expect(await namesOf(bytes)).toEqual(['weight']);
  });

  test('a ring within the weights is refused', async () => {
    const bytes = new PickleBuilder().op('EMPTY_DICT').op('BINPUT', 0).op('MARK').text('weight').value(w).text('me').op('BINGET', 0).op('SETITEMS').stop();
    expect(await refusal(bytes)).toMatchObject({ code: 'TORCH_NAMES_CYCLIC', context: { found: 'a map that contains itself' } });
  });

  test('a rebuilt tensor that contains itself is refused', async () => {
    const bytes = new PickleBuilder().op('EMPTY_LIST').op('BINPUT', 0).op('POP').value(map(['w', rebuild('_rebuild_parameter', [1], true, orderedDict())])).stop();
    expect((await refusal(bytes)).code).toBe('TORCH_CALL_MALFORMED');
  });
});

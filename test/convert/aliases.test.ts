/** Which names are one tensor, which of them is kept, and what becomes of the others. */
import { isOutputHead, planConversion, type ConversionPlan, type OnAlias } from '@assay/convert';
import { expect, it } from 'vitest';
import { archiveInMemory, noise, type TensorSpec } from './archive-in-memory.ts';

function plan(tensors: readonly (readonly [string, TensorSpec])[], onAlias: OnAlias = 'record'): ConversionPlan {
  const storages = { a: { bytes: noise(96) }, b: { bytes: noise(96, 2) } };
  return planConversion(archiveInMemory({ storages, tensors }), { onAlias });
}

const whole: TensorSpec = { storage: 'a', shape: [4, 6] };
const names = ({ output }: ConversionPlan): string[] => output.tensors.map(({ name }) => name);
const codesOf = ({ findings }: ConversionPlan): [string, string | undefined][] =>
  findings.map(({ code, subject }) => [code, subject.tensor]);

it.each<[title: string, names: readonly string[], kept: string]>([
  ['the smallest name', ['z', 'b', 'c'], 'b'],
  ['the smallest by code point, not by UTF-16', ['\u{1f600}', '\uff21'], '\uff21'],
  ['the embedding, though the head is smaller', ['lm_head.weight', 'model.embed_tokens.weight'], 'model.embed_tokens.weight'],
  ['the embedding, though a nested head is smaller', ['a.lm_head.weight', 'b.embed'], 'b.embed'],
  ['the embedding, though the decoder is smaller', ['cls.predictions.decoder.weight', 'encoder.weight'], 'encoder.weight'],
  ['the smallest head, where there are only heads', ['lm_head.weight', 'cls.predictions.decoder.weight'], 'cls.predictions.decoder.weight'],
  ['a name that only begins like a head', ['lm_headroom.weight', 'model.x'], 'lm_headroom.weight'],
])('keeps %s', (_, given, kept) => {
  const found = plan(given.map((name) => [name, whole]));
  expect(names(found)).toEqual([kept]);
  expect(found.aliases.map(({ keptAs }) => keptAs)).toEqual(given.slice(1).map(() => kept));
  expect(new Set(found.aliases.map(({ name }) => name))).toEqual(new Set(given.filter((name) => name !== kept)));
});

it('records each alias in the metadata, sorted, beside format', () => {
  const { output, aliases } = plan([['w', whole], ['a.b', whole], ['x', { ...whole, storage: 'b' }], ['h', { ...whole, storage: 'b' }]]);
  expect([...output.metadata]).toEqual([['format', 'pt'], ['w', 'a.b'], ['x', 'h']]);
  expect(aliases).toEqual([{ name: 'w', keptAs: 'a.b' }, { name: 'x', keptAs: 'h' }]);
  const json = new TextDecoder().decode(output.header.subarray(8));
  expect(json.startsWith('{"__metadata__":{"format":"pt","w":"a.b","x":"h"}')).toBe(true);
});

it.each<[title: string, other: TensorSpec]>([
  ['another storage', { ...whole, storage: 'b' }],
  ['another dtype', { ...whole, dtype: 'I32' }],
  ['another shape', { storage: 'a', shape: [6, 4] }],
  ['another stride', { storage: 'a', shape: [4, 6], stride: [1, 4] }],
  ['another byte range', { storage: 'a', shape: [3, 6] }],
  ['another offset', { storage: 'a', shape: [2, 6], offset: 6 }],
  ['a lazy negative bit', { ...whole, transform: { flip: { width: 4, which: 'all' } } }],
])('a tensor of %s is no alias', (_, other) => {
  const found = plan([['one', whole], ['two', other]]);
  expect(names(found).toSorted()).toEqual(['one', 'two']);
  expect(found.aliases).toEqual([]);
});

it('partial views of the same range are aliases, whether or not they cover their storage', () => {
  const part: TensorSpec = { storage: 'a', shape: [2, 6], offset: 6 };
  expect(plan([['q', part], ['p', part]]).aliases).toEqual([{ name: 'q', keptAs: 'p' }]);
});

it('empty tensors share nothing', () => {
  const empty: TensorSpec = { storage: 'a', shape: [0, 6] };
  const found = plan([['one', empty], ['two', empty]]);
  expect(names(found)).toEqual(['one', 'two']);
  expect(found.findings).toEqual([]);
});

it('a lone view is written without a word, however little of its storage it covers', () => {
  const found = plan([['one', { storage: 'a', shape: [1], offset: 5 }]]);
  expect(found.findings).toEqual([]);
  expect(names(found)).toEqual(['one']);
});

it("onAlias 'copy' writes every name whole and says so", () => {
  const found = plan([['b', whole], ['a', whole]], 'copy');
  expect(names(found)).toEqual(['a', 'b']);
  expect(found.aliases).toEqual([]);
  expect([...found.output.metadata.keys()]).toEqual(['format']);
  expect(codesOf(found)).toEqual([['CONVERT_ALIAS_COPIED', 'b']]);
  expect(found.ok).toBe(true);
});

it("onAlias 'fail' refuses the plan, naming each alias", () => {
  const found = plan([['c', whole], ['b', whole], ['a', whole]], 'fail');
  expect(codesOf(found)).toEqual([['CONVERT_ALIAS_REFUSED', 'b'], ['CONVERT_ALIAS_REFUSED', 'c']]);
  expect(found.findings.map(({ args }) => args)).toEqual([{ sameAs: 'a' }, { sameAs: 'a' }]);
  expect(found.ok).toBe(false);
  expect(found.steps).toEqual([]);
});

it('an alias called format is written whole, since the metadata means something else by it', () => {
  const found = plan([['format', whole], ['a', whole]]);
  expect(names(found)).toEqual(['a', 'format']);
  expect([...found.output.metadata]).toEqual([['format', 'pt']]);
  expect(codesOf(found)).toEqual([['CONVERT_ALIAS_UNRECORDED', 'format']]);
  expect(found.ok).toBe(true);
});

it('an alias that is a key of the given metadata is written whole', () => {
  const storages = { a: { bytes: noise(96) } };
  const archive = archiveInMemory({ storages, tensors: [['a', whole], ['source', whole]] });
  const found = planConversion(archive, { metadata: new Map([['source', 'a run'], ['format', 'np']]) });
  expect(names(found)).toEqual(['a', 'source']);
  expect([...found.output.metadata]).toEqual([['format', 'np'], ['source', 'a run']]);
});

it('an alias called __metadata__ is refused like any tensor of that name', () => {
  const found = plan([['__metadata__', whole], ['b', whole]]);
  expect(found.ok).toBe(false);
  expect(found.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(['SAFETENSORS_NAME_RESERVED']);
});

it.each(['lm_head.weight', 'language_model.lm_head.bias', 'decoder.weight', 'cls.predictions.decoder.weight', 'proj_out.weight'])(
  '%s is an output head',
  (name) => expect(isOutputHead(name)).toBe(true),
);

it.each(['lm_head', 'xlm_head.weight', 'decoder.embed_tokens.weight', 'mydecoder.weight', 'head.bias'])(
  '%s is not an output head',
  (name) => expect(isOutputHead(name)).toBe(false),
);

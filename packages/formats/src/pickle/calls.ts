/**
 * Names, calls and states, written down where Python would import, call and set.
 */
import { readNameLine } from './operands.ts';
import { kindOf, type CallForm, type PickleCall, type PickleGlobal, type PickleRecord, type PickleValue } from './records.ts';
import type { PickleState } from './state.ts';
import { decodeAscii } from './text.ts';

/** A global by its module and name. */
export function pushGlobal(state: PickleState, module: string, name: string): void {
  const record: PickleGlobal = { kind: 'global', module, name, offset: state.reader.opcodeAt, states: undefined };
  state.push(record);
  let names = state.globals.get(module);
  if (names === undefined) state.globals.set(module, (names = new Map<string, PickleGlobal>()));
  if (!names.has(name)) names.set(name, record);
  state.observer?.global?.(record);
}

/** A global whose module and name are on the stack, wherever they came from. */
export function stackGlobal(state: PickleState): void {
  const name = state.stack.pop();
  const module = state.stack.pop();
  if (typeof name === 'string' && typeof module === 'string') return pushGlobal(state, module, name);
  throw state.fail('PICKLE_TYPE_MISMATCH', `${kindOf(module)} and ${kindOf(name)}`, 'two texts');
}

/** REDUCE: a callable and its arguments are on the stack. */
export function reduce(state: PickleState): void {
  const args = state.stack.pop();
  pushCall(state, 'reduce', state.stack.pop(), args, undefined);
}

/** NEWOBJ and NEWOBJ_EX: the class and its arguments are on the stack. */
export function newObject(state: PickleState, form: 'newobj' | 'newobj-ex', keywords: PickleValue | undefined): void {
  const args = state.stack.pop();
  const callable = state.stack.pop();
  if (keywords !== undefined && !isObject(keywords) && kindOf(keywords) !== 'dict') {
    throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(keywords), 'a dict of keyword arguments');
  }
  pushCall(state, form, callable, args, keywords);
}

/** INST: the class is named, its arguments lie above the last mark. */
export function instance(state: PickleState): void {
  const module = readNameLine(state, decodeAscii);
  const name = readNameLine(state, decodeAscii);
  const items = state.stack.takeToMark();
  pushGlobal(state, module, name);
  pushCall(state, 'inst', state.stack.pop(), { kind: 'tuple', items }, undefined);
}

/** OBJ: the class and its arguments lie above the last mark. */
export function object(state: PickleState): void {
  const [callable, ...items] = state.stack.takeToMark();
  if (callable === undefined) throw state.fail('PICKLE_STACK_UNDERFLOW', 0, 'a class after the mark');
  pushCall(state, 'obj', callable, { kind: 'tuple', items }, undefined);
}

/** BUILD: sets the state of the object below it. */
export function build(state: PickleState): void {
  const value = state.stack.pop();
  const target = state.stack.top();
  if (!isObject(target)) throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'an object to set the state of');
  state.count(1);
  (target.states ??= []).push(value);
  state.observer?.build?.(target, value, state.reader.opcodeAt);
}

function pushCall(state: PickleState, form: CallForm, callable: PickleValue, args: PickleValue, keywords: PickleValue | undefined): void {
  if (!isObject(callable)) throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(callable), 'something that can be called');
  if (!isObject(args) && kindOf(args) !== 'tuple') throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(args), 'a tuple of arguments');
  const record: PickleCall = {
    kind: 'call',
    form,
    callable,
    args,
    keywords,
    offset: state.reader.opcodeAt,
    states: undefined,
    items: undefined,
    entries: undefined,
  };
  state.push(record);
  state.observer?.call?.(record);
}

/** True for what may be anything in Python: a class, the result of a call, something from outside. */
function isObject(value: PickleValue): value is PickleRecord & { states: PickleValue[] | undefined } {
  return typeof value === 'object' && value !== null && (value.kind === 'global' || value.kind === 'call' || value.kind === 'persistent');
}

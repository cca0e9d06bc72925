/**
 * Recognises the calls that rebuild tensors (torch/_utils.py, torch/_tensor.py) and reads their arguments; calls nothing.
 * Says what a tensor views of which storage; whether that lies within it is proven in `view`.
 */
import { kindOf, tupleItems, type PickleCall, type PickleValue } from '../pickle/records.ts';
import { ArgumentReader, type Integer, type LazyBits } from './arguments.ts';
import { dtypeOfClass, torchDType, type TorchDType } from './dtypes.ts';
import { nameOf } from './globals.ts';
import { isProblem, malformed, refused, type TensorProblem } from './problem.ts';
import { storageOf, type TorchStorage } from './storage.ts';

/** A dense tensor as the pickle states it, unproven. Offset and strides count elements. */
export interface DenseTensor extends LazyBits {
  readonly kind: 'dense';
  readonly storage: TorchStorage;
  readonly dtype: TorchDType;
  readonly offset: Integer;
  readonly size: readonly Integer[];
  readonly stride: readonly Integer[];
  /** The class that it was an instance of, where not torch's own. */
  readonly subclass: string | undefined;
}

/** Go on with another value, or another call. */
type Step =
  | DenseTensor
  | TensorProblem
  | { readonly kind: 'unwrap'; readonly value: PickleValue; readonly subclass?: string | undefined }
  | { readonly kind: 'call'; readonly function: string; readonly args: readonly PickleValue[]; readonly subclass: string | undefined };

type Reader = (name: string, args: readonly PickleValue[]) => Step;

const plain: LazyBits = { conj: false, neg: false };

const functions: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['torch._utils._rebuild_tensor', (name, args) => dense(new ArgumentReader(name, args, [4]), plain)],
  ['torch._utils._rebuild_tensor_v2', rebuildV2],
  ['torch._utils._rebuild_tensor_v3', rebuildV3],
  ['torch._utils._rebuild_parameter', (name, args) => rebuildParameter(new ArgumentReader(name, args, [3]))],
  ['torch._utils._rebuild_parameter_with_state', (name, args) => rebuildParameter(new ArgumentReader(name, args, [4]))],
  ['torch._utils._rebuild_device_tensor_from_cpu_tensor', rebuildFromCpu],
  ['torch._tensor._rebuild_from_type_v2', rebuildFromType],
  ['torch._tensor._rebuild_from_type', rebuildFromType],
  ['fastai.torch_core._rebuild_from_type', rebuildFromType],
  ['fastai.torch_core._fa_rebuild_tensor', (_, args) => ({
    kind: 'call',
    function: 'torch._utils._rebuild_tensor_v2',
    args: args.slice(1),
    subclass: nameOf(args[0]),
  })],
  ['torch._utils._rebuild_qtensor', (name) => refused('TORCH_TENSOR_QUANTIZED', { function: name })],
  ['torch._utils._rebuild_sparse_tensor', (name, args) => refused('TORCH_TENSOR_SPARSE', { function: name, layout: layoutOf(args[0]) })],
  ['torch._utils._rebuild_sparse_csr_tensor', (name, args) => refused('TORCH_TENSOR_SPARSE', { function: name, layout: layoutOf(args[0]) })],
  ['torch._utils._rebuild_nested_tensor', (name) => refused('TORCH_TENSOR_NESTED', { function: name })],
  ['torch._utils._rebuild_meta_tensor_no_storage', (name) => refused('TORCH_TENSOR_META', { function: name })],
  ['torch._utils._rebuild_device_tensor_from_numpy', (name) => refused('TORCH_TENSOR_NUMPY', { function: name })],
  ['torch._utils._rebuild_xla_tensor', (name) => refused('TORCH_TENSOR_NUMPY', { function: name })],
  ['torch._utils._rebuild_wrapper_subclass', (name, args) => refused('TORCH_TENSOR_WRAPPER', { function: name, class: nameOf(args[0]) ?? '' })],
]);

/** Classes that old files make by NEWOBJ and fill by BUILD. */
const tensorClasses: ReadonlySet<string> = new Set([
  'torch.Tensor',
  'torch._tensor.Tensor',
  'torch.nn.parameter.Parameter',
  'torch.nn.Parameter',
  'torch.autograd.variable.Variable',
  'torch.autograd.Variable',
]);

/** Layers of wrappers around one tensor: real ones have three at most. */
const MOST_LAYERS = 16;

/** True for the name of a function that rebuilds tensors, or of a class of tensors. */
export function isTensorName(name: string): boolean {
  return functions.has(name) || tensorClasses.has(name);
}

/** True for a call that would rebuild a tensor of any kind, also one that is refused. */
export function isTensorCall(value: PickleValue): value is PickleCall {
  if (typeof value !== 'object' || value === null || value.kind !== 'call') return false;
  const name = nameOf(value.callable);
  return name !== undefined && (isTensorName(name) || classDType(value) !== undefined);
}

/** What a call that rebuilds a tensor says of it. */
export function readTensor(call: PickleCall): DenseTensor | TensorProblem {
  let value: PickleValue = call;
  let subclass: string | undefined;
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    let step = stepOf(value);
    if (step.kind === 'call') {
      subclass ??= step.subclass;
      step = readFunction(step.function, step.args);
    }
    if (step.kind === 'dense') return subclass === undefined ? step : { ...step, subclass };
    if (isProblem(step)) return step;
    if (step.kind === 'call') return malformed('TORCH_CALL_MALFORMED', { function: step.function, found: 'a wrapper in a wrapper', expected: 'a tensor' });
    subclass ??= step.subclass;
    value = step.value;
  }
  return malformed('TORCH_CALL_MALFORMED', { found: `more than ${MOST_LAYERS} wrappers`, expected: 'a tensor' });
}

function stepOf(value: PickleValue): Step {
  const name = isTensorCall(value) ? nameOf(value.callable) : undefined;
  if (name === undefined || !isTensorCall(value)) {
    return malformed('TORCH_CALL_MALFORMED', { argument: 'data', found: kindOf(value), expected: 'a tensor' });
  }
  if (!functions.has(name)) return readInstance(name, value);
  const args = tupleItems(value.args);
  if (args === undefined || value.form !== 'reduce') {
    return malformed('TORCH_CALL_MALFORMED', { function: name, found: value.form, expected: 'a plain call' });
  }
  const step = readFunction(name, args);
  return isChanged(value) && step.kind !== 'refused' ? changedAfterwards(name, value) : step;
}

/** True where something was done to the tensor after the call: BUILD would set another storage (`Tensor.__setstate__`). */
function isChanged({ states, items, entries }: PickleCall): boolean {
  return states !== undefined || items !== undefined || entries !== undefined;
}

function changedAfterwards(name: string, { states }: PickleCall): TensorProblem {
  const found = states === undefined ? 'items' : `${states.length} states`;
  return malformed('TORCH_CALL_MALFORMED', { function: name, argument: 'state', found, expected: 'nothing set after the call' });
}

function readFunction(name: string, args: readonly PickleValue[]): Step {
  const reader = functions.get(name);
  return reader === undefined ? refused('TORCH_TENSOR_WRAPPER', { function: name }) : reader(name, args);
}

function rebuildV2(name: string, args: readonly PickleValue[]): Step {
  const reader = new ArgumentReader(name, args, [6, 7]);
  reader.flag(4, 'requires_grad');
  reader.noHooks(5);
  return dense(reader, reader.lazyBits(6));
}

function rebuildV3(name: string, args: readonly PickleValue[]): Step {
  const reader = new ArgumentReader(name, args, [7, 8]);
  reader.flag(4, 'requires_grad');
  reader.noHooks(5);
  const bits = reader.lazyBits(7);
  const dtypeName = nameOf(reader.at(6));
  const dtype = dtypeName?.startsWith('torch.') === true ? torchDType(dtypeName.slice('torch.'.length)) : undefined;
  if (reader.problem === undefined && dtype === undefined) {
    return malformed('TORCH_CALL_MALFORMED', { function: name, argument: 'dtype', found: dtypeName ?? kindOf(reader.at(6)), expected: 'a dtype of torch' });
  }
  return dense(reader, bits, dtype);
}

/** Arguments 0 to 3 of every dense form: storage, offset, size, stride. */
function dense(reader: ArgumentReader, bits: LazyBits, dtype?: TorchDType): DenseTensor | TensorProblem {
  const offset = reader.count(1, 'storage_offset');
  const size = reader.counts(2, 'size');
  const stride = reader.counts(3, 'stride');
  if (reader.problem !== undefined) return reader.problem;
  if (size.length !== stride.length) {
    return malformed('TORCH_CALL_MALFORMED', { function: reader.function, argument: 'stride', found: stride.length, expected: size.length });
  }
  const storage = storageOf(reader.at(0));
  if (isProblem(storage)) return storage;
  return { kind: 'dense', storage, dtype: dtype ?? storage.dtype, offset, size, stride, ...bits, subclass: undefined };
}

/** `(data, requires_grad, backward_hooks[, state])`. */
function rebuildParameter(reader: ArgumentReader): Step {
  reader.flag(1, 'requires_grad');
  reader.noHooks(2);
  return reader.problem ?? { kind: 'unwrap', value: reader.at(0) };
}

/** `(data, dtype, device, requires_grad)`, of devices whose tensors are saved by way of the CPU. */
function rebuildFromCpu(name: string, args: readonly PickleValue[]): Step {
  const reader = new ArgumentReader(name, args, [4]);
  reader.flag(3, 'requires_grad');
  return reader.problem ?? { kind: 'unwrap', value: reader.at(0) };
}

/** `(function, class, arguments, state)`: the function is called with the arguments, then the result gets the class. */
function rebuildFromType(name: string, args: readonly PickleValue[]): Step {
  const reader = new ArgumentReader(name, args, [4]);
  if (reader.problem !== undefined) return reader.problem;
  const inner = nameOf(reader.at(0));
  const innerArgs = tupleItems(reader.at(2));
  if (inner === undefined || innerArgs === undefined) {
    const found = `${kindOf(reader.at(0))} and ${kindOf(reader.at(2))}`;
    return malformed('TORCH_CALL_MALFORMED', { function: name, argument: 'func', found, expected: 'a function and a tuple of arguments' });
  }
  const subclass = nameOf(reader.at(1));
  return { kind: 'call', function: inner, args: innerArgs, subclass: subclass !== undefined && tensorClasses.has(subclass) ? undefined : subclass };
}

/** An instance whose one BUILD state, or whose arguments, hold the tensor; both would contradict each other. */
function readInstance(name: string, call: PickleCall): Step {
  const { states = [], items, entries } = call;
  const args = tupleItems(call.args) ?? [];
  if (states.length + Math.min(args.length, 1) > 1 || items !== undefined || entries !== undefined) return changedAfterwards(name, call);
  const state = tupleItems(states[0]) ?? [];
  if (state.length === 4) return withClass(call, dense(new ArgumentReader(name, state, [4]), plain));
  const data = state[0] ?? args[0];
  if (data === undefined || data === null) {
    return malformed('TORCH_CALL_MALFORMED', { function: name, argument: 'state', found: kindOf(states[0] ?? null), expected: 'a tensor' });
  }
  return { kind: 'unwrap', value: data };
}

/** A class such as torch.FloatTensor must agree with its storage. */
function withClass(call: PickleCall, tensor: DenseTensor | TensorProblem): DenseTensor | TensorProblem {
  const dtype = classDType(call);
  if (tensor.kind !== 'dense' || dtype === undefined || dtype === tensor.dtype) return tensor;
  return malformed('TORCH_CALL_MALFORMED', { argument: 'storage', found: tensor.dtype.name, expected: dtype.name });
}

function classDType({ callable }: PickleCall): TorchDType | undefined {
  return callable.kind === 'global' ? dtypeOfClass(callable.module, callable.name, 'Tensor') : undefined;
}

function layoutOf(value: PickleValue | undefined): string {
  const args = typeof value === 'object' && value !== null && value.kind === 'call' ? tupleItems(value.args) : undefined;
  const layout = args?.[0];
  return typeof layout === 'string' ? layout.slice(0, 80) : (nameOf(value) ?? 'unknown');
}

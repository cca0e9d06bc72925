/**
 * Plans of a gather, as plain numbers: which boxes of a view make a run of its output, and which
 * parts of the storage a box needs. Pure; all counts are elements.
 */
import type { StridedView } from '@assay/core';

/** One axis: how many elements, how far apart in the storage and in the output. */
export interface GatherAxis {
  readonly size: number;
  readonly source: number;
  readonly target: number;
}

/** A view with its axes joined where they lie one after another; outermost first, the innermost output step is 1. */
export interface GatherView {
  readonly offset: number;
  readonly axes: readonly GatherAxis[];
  readonly elements: number;
}

/** Whole rows of a view, from output element `start`. */
export interface GatherBox {
  readonly start: number;
  readonly elements: number;
  /** Lowest element of the storage that it needs. */
  readonly source: number;
  /** Where that element goes, from the box's start; not 0 where strides are negative. */
  readonly target: number;
  /** Axes of more than one element; storage steps are not negative. */
  readonly axes: readonly GatherAxis[];
}

/** Joins axes that are one in the storage too, and drops those of one element, whatever their stride. */
export function planView(view: StridedView): GatherView {
  const elements = view.shape.reduce((product, size) => product * size, 1);
  const axes: GatherAxis[] = [];
  let target = 1;
  for (let axis = view.shape.length - 1; axis >= 0; axis -= 1) {
    const [size, source] = [view.shape[axis] ?? 1, view.stride[axis] ?? 0];
    const inner = axes[0];
    if (size === 1) continue;
    if (inner !== undefined && source === inner.source * inner.size) axes[0] = { ...inner, size: inner.size * size };
    else axes.unshift({ size, source, target });
    target *= size;
  }
  return { offset: view.offset, axes, elements };
}

/**
 * The box that holds output element `start`, of at most `most` elements.
 * It is rounded out to whole rows, so that a cut row does not walk the storage a second time,
 * but never to more than thrice of what is wanted up to `end`.
 */
export function planBox(view: GatherView, start: number, end: number, most: number): GatherBox {
  const { axes } = view;
  const enough = Math.min(most, end - start);
  let split = axes.findIndex(({ target }) => target <= enough);
  if (split < 0) split = axes.length - 1;
  const axis = axes[split];
  if (axis === undefined) return { start: 0, elements: 1, source: view.offset, target: 0, axes: [] };
  const row = axis.target;
  const first = Math.floor(start / row);
  const index = first % axis.size;
  const rows = Math.min(axis.size - index, Math.max(1, Math.floor(most / row)), Math.ceil(end / row) - first);
  let source = view.offset + index * axis.source;
  for (const { size, source: step, target } of axes.slice(0, split)) source += (Math.floor(start / target) % size) * step;
  return unfolded(first * row, rows * row, source, [{ ...axis, size: rows }, ...axes.slice(split + 1)]);
}

/** Turns axes that run backwards through the storage around. */
function unfolded(start: number, elements: number, lowest: number, axes: readonly GatherAxis[]): GatherBox {
  let [source, target] = [lowest, 0];
  const forwards: GatherAxis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    if (axis.source >= 0) {
      forwards.push(axis);
      continue;
    }
    source += (axis.size - 1) * axis.source;
    target += (axis.size - 1) * axis.target;
    forwards.push({ size: axis.size, source: -axis.source, target: -axis.target });
  }
  return { start, elements, source, target, axes: forwards };
}

/** How a box is read: units of `extent` elements, each holding the axes of `inner`; one unit for each step of `outer`. */
export interface GatherUnits {
  readonly extent: number;
  /** Ascending by storage step. */
  readonly inner: readonly GatherAxis[];
  /** Ascending by storage step. */
  readonly outer: readonly GatherAxis[];
  /** An axis too long for one unit: `inner` has its first `size` elements, and its pieces follow each other. */
  readonly pieces: { readonly axis: GatherAxis; readonly size: number } | undefined;
}

/** What a unit may be. */
export interface UnitLimits {
  /** The longest unit. */
  readonly extent: number;
  /** Unwanted elements between wanted ones are read along when there are no more of them than this. */
  readonly gap: number;
  /** A run this long that is one in the output too is read on its own. */
  readonly run: number;
}

/** Cuts a box into units that are read at once, in the order of the storage. */
export function planUnits(box: GatherBox, limits: UnitLimits): GatherUnits {
  const sorted = box.axes.toSorted((a, b) => a.source - b.source);
  const inner: GatherAxis[] = [];
  let extent = 1;
  for (const [at, axis] of sorted.entries()) {
    const direct = inner.length === 1 && isRun(inner[0]) && extent >= limits.run;
    if (direct || axis.source - extent > limits.gap) return { extent, inner, outer: sorted.slice(at), pieces: undefined };
    const whole = extent + (axis.size - 1) * axis.source;
    if (whole > limits.extent) {
      const size = Math.max(1, Math.floor((limits.extent - extent) / axis.source) + 1);
      extent += (size - 1) * axis.source;
      return { extent, inner: [...inner, { ...axis, size }], outer: sorted.slice(at + 1), pieces: { axis, size } };
    }
    extent = whole;
    inner.push(axis);
  }
  return { extent, inner, outer: [], pieces: undefined };
}

/** True for an axis that is one run in the storage and in the output. */
export function isRun(axis: GatherAxis | undefined): boolean {
  return axis !== undefined && axis.source === 1 && axis.target === 1;
}

/** One read: from where in the storage, to where in the box, with the axes it holds. */
export interface GatherUnit {
  readonly source: number;
  readonly target: number;
  readonly extent: number;
  readonly axes: readonly GatherAxis[];
}

/** The units of a box, lowest first as far as strides do not interleave. */
export function* unitsOf(box: GatherBox, plan: GatherUnits): Iterable<GatherUnit> {
  for (const { source, target } of places(plan.outer, box.source, box.target)) {
    if (plan.pieces === undefined) {
      yield { source, target, extent: plan.extent, axes: plan.inner };
      continue;
    }
    const { axis, size } = plan.pieces;
    const rest = plan.inner.slice(0, -1);
    for (let index = 0; index < axis.size; index += size) {
      const here = Math.min(size, axis.size - index);
      yield {
        source: source + index * axis.source,
        target: target + index * axis.target,
        extent: plan.extent - (size - here) * axis.source,
        axes: [...rest, { ...axis, size: here }],
      };
    }
  }
}

/** Every index of the axes, the last axis slowest, without recursion. */
export function* places(
  axes: readonly GatherAxis[],
  source: number,
  target: number,
): Iterable<{ readonly source: number; readonly target: number }> {
  const index = axes.map(() => 0);
  for (;;) {
    yield { source, target };
    let at = 0;
    for (; at < axes.length; at += 1) {
      const axis = axes[at];
      if (axis === undefined) continue;
      const next = (index[at] ?? 0) + 1;
      if (next < axis.size) {
        index[at] = next;
        source += axis.source;
        target += axis.target;
        break;
      }
      index[at] = 0;
      source -= (axis.size - 1) * axis.source;
      target -= (axis.size - 1) * axis.target;
    }
    if (at === axes.length) return;
  }
}

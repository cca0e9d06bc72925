/**
 * A source whose readers let the event loop run now and then.
 * Work over memory resolves its promises at once: without this, timers and signals would wait for its end.
 */
import { setImmediate } from 'node:timers/promises';
import type { ByteSource } from '@assay/core';

const BREATH_MS = 5;

/** Of all of them: many short reads of many sources hold up the loop as one long one does. */
let last = performance.now();

/** The same source; disposing of it stays its owner's. */
export function responsive(source: ByteSource): ByteSource {
  const withView = source.withView?.bind(source);
  return {
    name: source.name,
    size: source.size,
    ...(source.locator === undefined ? {} : { locator: source.locator }),
    ...(withView === undefined ? {} : { withView }),
    async readInto(target, start, options) {
      if (performance.now() - last > BREATH_MS) {
        await setImmediate();
        last = performance.now();
      }
      await source.readInto(target, start, options);
    },
    identity: () => source.identity(),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

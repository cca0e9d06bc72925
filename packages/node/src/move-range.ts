/**
 * Moves bytes from file to file inside the kernel, with copy_file_range.
 * Serves ranges that nothing has to see; where it does not work, nothing is moved and the caller copies.
 */
import type { ByteSource, StepContext } from '@assay/core';
import type { BlockingSink } from './blocking-files.ts';
import { nativeLibrary } from './native-library.ts';
import { systemError, writeError } from './system-errors.ts';

/** Between two looks at whether to stop. */
const MOVE_BYTES = 64 << 20;

/** Below this the call saves nothing. */
const MIN_MOVED_BYTES = 1 << 20;

/** ENOSPC, EDQUOT, EFBIG: a copy would fail in the same way. */
const NO_ROOM: ReadonlySet<number> = new Set([28, 122, 27]);

/** A mover over these sources and this sink. */
export function moveRange(
  sources: readonly (ByteSource & { readonly descriptor?: number })[],
  sink: BlockingSink,
  { check, wrote }: { readonly check: () => void; readonly wrote: (byteLength: number) => void | Promise<void> },
): NonNullable<StepContext['move']> {
  return async (source, start, end, position) => {
    const from = sources[source]?.descriptor;
    if (from === undefined || end - start < MIN_MOVED_BYTES) return 0;
    const copyFileRange = (await nativeLibrary())?.copyFileRange;
    if (copyFileRange === undefined) return 0;
    let moved = 0;
    while (start + moved < end) {
      check();
      const length = Math.min(MOVE_BYTES, end - start - moved);
      const { value, errno } = copyFileRange(from, start + moved, sink.descriptor, position + moved, length);
      if (NO_ROOM.has(errno)) throw writeError('the output', systemError('copy_file_range', errno));
      // 0: the source ended; reading it will say so. Other errors: across file systems, or not supported there.
      if (value <= 0) break;
      moved += value;
      await wrote(value);
    }
    return moved;
  };
}

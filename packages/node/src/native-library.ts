/**
 * System calls that Node does not offer, through koffi: mmap, copy_file_range, fallocate.
 * koffi is an optional dependency, loaded when first asked for; without it everything works through a buffer.
 */
import { systemError } from './system-errors.ts';

/** What a call came to. */
export interface CallResult {
  /** Bytes, or -1. */
  readonly value: number;
  /** The system's error number, where `value` is -1. */
  readonly errno: number;
}

/** The calls; each is absent where the system has none. Lengths and offsets are bytes. */
export interface NativeLibrary {
  /** Maps a file read-only and shared; `offset` is a multiple of the page size. */
  readonly mapFile?: (descriptor: number, offset: number, byteLength: number) => FileMapping;
  readonly copyFileRange?: (from: number, fromOffset: number, to: number, toOffset: number, byteLength: number) => CallResult;
  allocate?(descriptor: number, byteLength: number): CallResult;
}

/** Mapped bytes; nothing may touch them after `unmap`. */
export interface FileMapping {
  readonly bytes: Uint8Array;
  unmap(): void;
}

/** Elsewhere a C `off_t` is narrower than the `int64_t` declared here. */
const ARCHITECTURES_OF_64_BITS: readonly string[] = ['x64', 'arm64', 'ppc64', 'riscv64', 'loong64', 's390x'];

let loading: Promise<NativeLibrary | undefined> | undefined;

/** The calls of this system, or `undefined` where koffi is not installed or does not run. */
export function nativeLibrary(): Promise<NativeLibrary | undefined> {
  loading ??= load();
  return loading;
}

type Koffi = typeof import('koffi');

async function load(): Promise<NativeLibrary | undefined> {
  if (process.platform === 'win32' || !ARCHITECTURES_OF_64_BITS.includes(process.arch)) return undefined;
  try {
    return bind(await import('koffi'));
  } catch {
    return undefined;
  }
}

function bind(koffi: Koffi): NativeLibrary {
  // The process itself: the C library is part of it, whatever its file is called.
  const library = koffi.load(null);
  const result = (value: number): CallResult => ({ value, errno: value < 0 ? koffi.errno() : 0 });
  return {
    ...mapping(koffi, library),
    ...optional(() => {
      const call = library.func('int64_t copy_file_range(int from, int64_t *fromOffset, int to, int64_t *toOffset, size_t length, unsigned int flags)');
      return {
        copyFileRange: (from, fromOffset, to, toOffset, byteLength) =>
          result(Number(call(from, [fromOffset], to, [toOffset], byteLength, 0))),
      };
    }),
    ...optional(() => {
      const call = library.func('int fallocate(int descriptor, int mode, int64_t offset, int64_t length)');
      return { allocate: (descriptor, byteLength) => result(Number(call(descriptor, 0, 0, byteLength))) };
    }),
  };
}

const PROT_READ = 1;
const MAP_SHARED = 1;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

function mapping(koffi: Koffi, library: ReturnType<Koffi['load']>): NativeLibrary {
  return optional(() => {
    const mmap = library.func('void *mmap(void *address, size_t length, int protection, int flags, int descriptor, int64_t offset)');
    const munmap = library.func('int munmap(void *address, size_t length)');
    return {
      mapFile(descriptor, offset, byteLength) {
        const address: unknown = mmap(null, byteLength, PROT_READ, MAP_SHARED, descriptor, offset);
        if (koffi.address(address) === MAP_FAILED) throw systemError('mmap', koffi.errno());
        return { bytes: new Uint8Array(koffi.view(address, byteLength)), unmap: () => void munmap(address, byteLength) };
      },
    };
  });
}

/** What `find` binds; nothing where the system lacks one of its calls (macOS has neither copy_file_range nor fallocate). */
function optional(find: () => NativeLibrary): NativeLibrary {
  try {
    return find();
  } catch {
    return {};
  }
}

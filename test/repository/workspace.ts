/**
 * The workspace as its files describe it: where it is, its packages and their layers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository's folder. */
export const root: string = join(import.meta.dirname, '../..');

/** Layer by folder: a package imports only from lower layers. The design's table, as far as its packages exist. */
export const layers: ReadonlyMap<string, number> = new Map([
  ['core', 0],
  ['safetensors', 1],
  ['formats', 2],
  ['verify', 3],
  ['convert', 3],
  ['node', 4],
  ['cli', 6],
]);

/** The parts of a package.json that the tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly private?: boolean;
  readonly sideEffects?: unknown;
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly publishConfig?: Readonly<Record<string, unknown>>;
  readonly packageManager?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package that is published. */
export interface Package {
  /** Below `packages/`. */
  readonly folder: string;
  readonly path: string;
  readonly layer: number | undefined;
  readonly manifest: Manifest;
}

/** Parses the package.json in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Every folder below `packages/`, in the order of their names. */
export const packages: readonly Package[] = readdirSync(join(root, 'packages'))
  .sort()
  .map((folder) => {
    const path = join(root, 'packages', folder);
    return { folder, path, layer: layers.get(folder), manifest: readManifest(path) };
  });

/** The files of a folder, as paths below it with `/`, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll('\\', '/'))
    .filter((path) => !path.includes('node_modules/'))
    .sort();
}

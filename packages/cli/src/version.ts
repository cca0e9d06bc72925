/**
 * The version of this package, from its package.json.
 */
import { readFileSync } from 'node:fs';

/** As published, for example `0.1.0`. */
export const version: string = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

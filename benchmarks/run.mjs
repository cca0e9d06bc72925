/**
 * npm run bench [-- --only NAME] [--pairs N] [--dir DIR] [--small]
 * Every figure is a ratio against a peer in the same run. Targets count on tmpfs; a folder on disk is printed only.
 */
import { mkdtempSync, rmSync, statfsSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { jobs } from './jobs.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    pairs: { type: 'string', default: '7' },
    dir: { type: 'string' },
    small: { type: 'boolean', default: false },
  },
});

const base = values.dir ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
const folder = mkdtempSync(join(base, 'assay-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const room = statfsSync(folder);
console.log(`in ${folder}, ${((room.bavail * room.bsize) / 1e9).toFixed(0)} GB free; median of ${values.pairs} rounds after one warm-up`);
console.log(`${'job'.padEnd(50)}${'ours'.padStart(9)}${'rivals'.padStart(18)}${'figure'.padStart(9)}   target`);
const context = { folder, pairs: Number(values.pairs), small: values.small };
let missed = 0;
for (const job of jobs) {
  if (values.only !== undefined && !values.only.some((name) => job.name.includes(name))) continue;
  for (const row of await job.run(context)) {
    missed += row.met === false ? 1 : 0;
    const verdict = row.met === undefined ? '' : row.met ? '  met' : '  MISSED';
    console.log(
      `${row.name.padEnd(50)}${(row.ours ?? '').padStart(9)}${(row.rivals ?? '').padStart(18)}${row.figure.padStart(9)}   ${row.target ?? ''}${verdict}`,
    );
  }
}
process.exitCode = missed > 0 ? 1 : 0;

/**
 * Whole commands, timed from outside: alternating pairs, medians, and the anonymous memory of a process tree.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/**
 * Runs a command; resolves to seconds and, where asked for, the peak of anonymous memory in bytes.
 * @param {string[]} commandLine
 */
export function run([command = '', ...args], { memory = false, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
    let errors = '';
    child.stderr.on('data', (text) => (errors += text));
    let peak = 0;
    const sampler = memory ? setInterval(() => (peak = Math.max(peak, anonymousBytes(child.pid))), 20) : undefined;
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(sampler);
      const seconds = (performance.now() - started) / 1000;
      if (code === 0) resolve({ seconds, peak });
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors.slice(-500)}`));
    });
  });
}

/** The sum of RssAnon over a process and all that it started, in bytes. */
function anonymousBytes(root) {
  const children = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = /^PPid:\s+(\d+)/m.exec(readStatus(entry))?.[1];
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  let sum = 0;
  const waiting = [String(root)];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    sum += Number(/^RssAnon:\s+(\d+) kB/m.exec(readStatus(pid))?.[1] ?? 0) * 1024;
    waiting.push(...(children.get(pid) ?? []));
  }
  return sum;
}

function readStatus(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** The middle of numbers. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs ours and rivals in turn: one warm-up round, then `pairs` rounds.
 * The ratio of a round is ours over the slowest rival; `before` runs, untimed, ahead of each command.
 */
export async function compare(ours, rivals, { pairs, before = () => {} }) {
  const ratios = [];
  const seconds = [[], ...rivals.map(() => [])];
  for (let round = 0; round <= pairs; round += 1) {
    const times = [];
    for (const command of [ours, ...rivals]) {
      before();
      let total = 0;
      for (const step of typeof command[0] === 'string' ? [command] : command) total += (await run(step)).seconds;
      times.push(total);
    }
    if (round === 0) continue;
    times.forEach((time, index) => seconds[index].push(time));
    ratios.push(times[0] / Math.max(...times.slice(1)));
  }
  return { ratio: median(ratios), seconds: seconds.map(median), spread: [Math.min(...ratios), Math.max(...ratios)] };
}

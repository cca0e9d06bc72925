/**
 * The benchmark's jobs: what runs, against what, and the target that counts.
 */
import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { llamaShapes, writeCheckpoint } from './checkpoint-writer.mjs';
import { compare, median, run } from './measure.mjs';

const CLI = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url));
const RIVAL = fileURLToPath(new URL('third-party/torch_convert.py', import.meta.url));
const PYTHON = process.env.ASSAY_BENCH_PYTHON ?? 'python3';
const assay = (...args) => [process.execPath, CLI, ...args];
const seconds = (value) => `${value.toFixed(2)} s`;
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const copy = (from, to) => ['cp', '--reflink=never', '--sparse=never', from, to];

/** On tmpfs fsync costs nothing; elsewhere our output is synced, so the rival's is too. */
const synced = (command, output) => [command, ['sync', output]];

function isTmpfs(folder) {
  return execFileSync('stat', ['-f', '-c', '%T', folder], { encoding: 'utf8' }).trim() === 'tmpfs';
}

/** 2.3 GB as a small Llama has it, and 9 GB as a larger one: wider, and hardly deeper. */
const models = {
  small: { layers: 23 },
  large: { layers: 24, hidden: 4096, inner: 11_264, keys: 512 },
};
/** For a quick look at the benchmark itself. */
const toys = { small: { layers: 2 }, large: { layers: 3, hidden: 4096, inner: 11_264, keys: 512 } };

const checkpoints = new Map();
/** A checkpoint of a model, made once a run. */
function checkpoint({ folder, small }, model = 'small') {
  const path = join(folder, `${model}.bin`);
  if (!checkpoints.has(path)) checkpoints.set(path, writeCheckpoint(path, llamaShapes((small ? toys : models)[model])));
  return path;
}

const row = (name, { ratio, seconds: times }, target, invert = false) => ({
  name,
  ours: seconds(times[0]),
  rivals: times.slice(1).map(seconds).join(' '),
  figure: `${(invert ? 1 / ratio : ratio).toFixed(2)}x`,
  target: target.text,
  met: target.reach === undefined ? undefined : invert ? 1 / ratio >= target.reach : ratio <= target.reach,
});

/**
 * Makes sure that the memory an output needs has been touched: a virtual machine's first touch costs up to ten times
 * the copy, and falls on whichever command runs a few seconds after the last file was removed.
 */
function touchMemory(folder, byteLength) {
  const path = join(folder, 'touched');
  const block = Buffer.alloc(8 << 20);
  const file = openSync(path, 'w');
  for (let done = 0; done < byteLength; done += block.length) writeSync(file, block);
  closeSync(file);
  rmSync(path);
}

async function convertAgainst(context, name, ours, rivals, target, invert) {
  const output = join(context.folder, 'ours.safetensors');
  const theirs = join(context.folder, 'theirs.out');
  const tmpfs = isTmpfs(context.folder);
  const input = checkpoint(context);
  const before = () => {
    for (const path of [output, theirs]) rmSync(path, { force: true });
    if (tmpfs) touchMemory(context.folder, checkpoints.get(input));
  };
  const command = assay('convert', input, '-o', output, '--quiet', ...ours);
  const peers = rivals(theirs).map((peer) => (tmpfs || peer[0] === 'openssl' ? peer : synced(peer, theirs)));
  const result = await compare(command, peers, { pairs: context.pairs, before });
  for (const path of [output, theirs]) rmSync(path, { force: true });
  return [row(name, result, tmpfs ? target : { text: `${target.text} (on tmpfs)` }, invert)];
}

const convertDigest = {
  name: 'convert-digest',
  run: (context) =>
    convertAgainst(
      context,
      'convert, CRC, SHA-256 / slower of cp, openssl',
      [],
      (out) => [copy(checkpoint(context), out), ['openssl', 'dgst', '-sha256', checkpoint(context)]],
      { text: 'at most 1.00', reach: 1 },
    ),
};

const convertPlain = {
  name: 'convert-no-digest',
  run: (context) =>
    convertAgainst(context, 'convert, CRC, --no-digest / cp', ['--no-digest'], (out) => [copy(checkpoint(context), out)], {
      text: 'at most 2.50, aim 1.50',
      reach: 2.5,
    }),
};

const convertTorch = {
  name: 'convert-torch',
  async run(context) {
    const name = 'torch.load(mmap) + save_file / convert';
    if (spawnSync(PYTHON, ['-c', 'import torch, safetensors']).status !== 0) {
      return [{ name, figure: 'not run', target: `needs ${PYTHON} with third-party/requirements.txt (ASSAY_BENCH_PYTHON)` }];
    }
    const target = { text: 'at least 3.00', reach: 3 };
    return convertAgainst(context, name, ['--no-digest'], (out) => [[PYTHON, RIVAL, checkpoint(context), out]], target, true);
  },
};

/** The 9 GB checkpoint and its output: on tmpfs where they fit beside the machine's own needs, else on disk. */
function roomy(context) {
  const { bavail, bsize } = statfsSync(context.folder);
  return context.small || bavail * bsize > 19.5e9 ? context : { ...context, folder: mkdtempSync(join(tmpdir(), 'assay-bench-')) };
}

const convertMemory = {
  name: 'convert-memory',
  async run(given) {
    // The last job: the smaller checkpoint makes room for the larger.
    for (const path of checkpoints.keys()) rmSync(path, { force: true });
    checkpoints.clear();
    const context = roomy(given);
    const peaks = [];
    for (const model of ['small', 'large']) {
      const output = join(context.folder, 'memory.safetensors');
      const input = checkpoint(context, model);
      const runs = [];
      for (let round = 0; round < 3; round += 1) {
        runs.push((await run(assay('convert', input, '-o', output, '--quiet'), { memory: true })).peak);
        rmSync(output);
      }
      rmSync(input);
      peaks.push(Math.max(...runs));
    }
    if (context !== given) rmSync(context.folder, { recursive: true });
    const [small, large] = peaks;
    const ratio = large / small;
    return [
      { name: 'peak memory of convert, 2.3 GB', figure: megabytes(small), target: 'at most 150 MB', met: small <= 150e6 },
      { name: 'peak memory of convert, 9 GB', figure: megabytes(large), target: 'at most 150 MB', met: large <= 150e6 },
      { name: 'peak memory, 9 GB / 2.3 GB', figure: `${ratio.toFixed(2)}x`, target: '0.90 to 1.10', met: ratio >= 0.9 && ratio <= 1.1 },
    ];
  },
};

const verifyOne = {
  name: 'verify-one',
  async run(context) {
    const input = checkpoint(context);
    const digest = execFileSync('sha256sum', [input], { encoding: 'utf8' }).slice(0, 64);
    const ours = assay('verify', input, '--sha256', digest);
    const result = await compare(ours, [['openssl', 'dgst', '-sha256', input]], { pairs: context.pairs });
    return [row('verify one file, SHA-256 / openssl', result, { text: 'at most 1.00', reach: 1 })];
  },
};

const verifyEight = {
  name: 'verify-eight',
  async run(context) {
    const small = await eightFiles(context, context.small ? 16 << 20 : 288 << 20);
    const large = context.small ? [] : await eightFiles(context, 1 << 30);
    return [...small, ...large];
  },
};

async function eightFiles(context, bytes) {
  const files = Array.from({ length: 8 }, (_, index) => join(context.folder, `shard-${index}.bin`));
  files.forEach((file, index) => writeNoise(file, bytes, index));
  const sums = join(context.folder, 'SHA256SUMS');
  writeFileSync(sums, execFileSync('sha256sum', files));
  const rivals = [files.map((file) => ['openssl', 'dgst', '-sha256', file])];
  const result = await compare(assay('verify', '-c', sums, '--quiet'), rivals, { pairs: context.pairs });
  files.forEach((file) => rmSync(file));
  const name = `openssl one by one / verify 8 files of ${bytes >> 20} MiB`;
  return [row(name, result, { text: 'at least 1.80', reach: 1.8 }, true)];
}

function writeNoise(path, byteLength, seed) {
  const block = Buffer.alloc(1 << 20, `${seed} noise `);
  const file = openSync(path, 'w');
  for (let done = 0; done < byteLength; done += block.length) writeSync(file, block);
  fsyncSync(file);
  closeSync(file);
}

const startUp = {
  name: 'version',
  async run({ pairs }) {
    const result = await compare(assay('--version'), [[process.execPath, '-e', '0']], { pairs: Math.max(pairs, 15) });
    return [row('assay --version / node -e 0', result, { text: 'at most 2.50', reach: 2.5 })];
  },
};

const header = {
  name: 'header',
  async run({ folder, pairs }) {
    const measured = [];
    for (const count of [10_000, 100_000]) {
      const path = join(folder, `header-${count}.safetensors`);
      writeManyTensors(path, count);
      const script = `const {openFile}=await import('@assay/node');const {openSafetensors}=await import('safetensors-js');
        const s=await openFile(${JSON.stringify(path)});const t=performance.now();const a=await openSafetensors(s);
        process.stdout.write(String(performance.now()-t)+' '+a.tensors.size);await s[Symbol.asyncDispose]()`;
      const cwd = fileURLToPath(new URL('.', import.meta.url));
      const times = Array.from({ length: pairs }, () =>
        Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', cwd }).split(' ')[0]),
      );
      const { peak } = await run(assay('inspect', path, '--quiet'), { memory: true });
      measured.push({ time: median(times), peak });
      rmSync(path);
    }
    const [few, many] = measured;
    const ratio = many.time / few.time;
    return [
      {
        name: 'open a header of 100,000 tensors / 10,000',
        ours: `${many.time.toFixed(0)} ms`,
        rivals: `${few.time.toFixed(0)} ms`,
        figure: `${ratio.toFixed(1)}x`,
        target: 'at most 12.0',
        met: ratio <= 12,
      },
      { name: 'peak memory of inspect, 100,000 tensors', figure: megabytes(many.peak), target: 'under 300 MB', met: many.peak < 300e6 },
    ];
  },
};

function writeManyTensors(path, count) {
  const entries = Array.from({ length: count }, (_, index) => {
    const name = `model.layers.${String(index).padStart(6, '0')}.weight`;
    return `"${name}":{"dtype":"F32","shape":[4,4],"data_offsets":[${index * 64},${index * 64 + 64}]}`;
  });
  const json = `{"__metadata__":{"format":"pt"},${entries.join(',')}}`;
  const padded = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  writeFileSync(path, Buffer.concat([length, padded, Buffer.alloc(count * 64)]));
}

/** In the order in which they run; the large files are made once and shared. */
export const jobs = [startUp, header, verifyOne, verifyEight, convertPlain, convertDigest, convertTorch, convertMemory];

if (!existsSync(CLI)) throw new Error(`${CLI} is not there: npm run build makes it`);

/**
 * `npm run demo`: a real checkpoint is verified, looked into, converted and verified again, by the commands a person would type.
 * Works on copies in a temporary folder and leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const checkpoint = fileURLToPath(new URL('checkpoint/', import.meta.url));
const assay = join(dirname(fileURLToPath(import.meta.resolve('assay/package.json'))), 'bin/assay.js');
const folder = mkdtempSync(join(tmpdir(), 'assay-demo-'));
const color = process.stdout.isTTY && !('NO_COLOR' in process.env) ? 'always' : 'never';

try {
  for (const name of ['pytorch_model.bin', 'SHA256SUMS', 'model.safetensors.sha256']) {
    copyFileSync(join(checkpoint, name), join(folder, name));
  }

  say('A small Llama, trained for half a minute and saved by PyTorch 2.13 as a pickle.');
  say('A pickle is a program that loading runs. Nothing below ever runs it.');

  say('\n1. Did it arrive whole? Its publisher listed its SHA-256.\n');
  run('verify -c SHA256SUMS', 0);

  say('\n2. What is inside?\n');
  run('inspect pytorch_model.bin', 0);

  say('\n3. Turn it into safetensors, which holds tensors and cannot hold code.\n');
  run('convert pytorch_model.bin', 0);

  say("\n4. Is it right? This digest was made with safetensors' own writer, in Python.\n");
  run('verify -c model.safetensors.sha256', 0);

  say('\n5. And had one bit been flipped on the way?\n');
  flipOneBit('model.safetensors');
  run('verify -c model.safetensors.sha256', 1);

  say('\nThe checkpoint is the published one, its weights are now a safetensors file,');
  say("byte for byte the one that Python's tools write, and damage does not pass.");
  say('Now yours, from this folder:  npx assay convert path/to/pytorch_model.bin');
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * Shows a command as it is typed, runs it, shows its output, and stops the demo if it ends otherwise than it must.
 * @param {string} line
 * @param {number} expectedCode
 */
function run(line, expectedCode) {
  say(`  $ assay ${line}`);
  const options = ['--color', color, '--no-progress'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [assay, ...line.split(' '), ...options], { cwd: folder, encoding: 'utf8' });
  for (const text of shortened(`${stdout}${stderr}`.trimEnd().split('\n'))) say(wrapped(`  ${text}`));
  if (status !== expectedCode) throw new Error(`assay ${line} ended with exit code ${status}, not ${expectedCode}`);
  if (status !== 0) say(`  (exit code ${status})`);
}

/**
 * Long output without its middle, so that the demo is one page.
 * @param {string[]} lines
 */
function shortened(lines) {
  const [head, tail] = [8, 3];
  if (lines.length <= head + tail) return lines;
  return [...lines.slice(0, head), `  (${lines.length - head - tail} lines more)`, ...lines.slice(-tail)];
}

/**
 * A line broken at spaces where it is wider than 80 columns, as deep as it began and a little deeper.
 * @param {string} line
 */
function wrapped(line) {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
  const rows = [''];
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const row = rows[rows.length - 1] ?? '';
    if (stripVTControlCharacters(row + word).length <= 80) rows[rows.length - 1] = row + word;
    else rows.push(indent + word.trimStart());
  }
  return rows.join('\n');
}

/** @param {string} name */
function flipOneBit(name) {
  const path = join(folder, name);
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

/** @param {string} text */
function say(text) {
  console.log(text);
}

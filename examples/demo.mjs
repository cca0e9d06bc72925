/**
 * `npm run demo`: a real checkpoint is verified, looked into, converted and verified again, by the commands a person would type.
 * Works on copies in a temporary folder and leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkpoint = fileURLToPath(new URL('checkpoint/', import.meta.url));
const assay = join(dirname(fileURLToPath(import.meta.resolve('assay/package.json'))), 'bin/assay.js');
const folder = mkdtempSync(join(tmpdir(), 'assay-demo-'));
const color = process.stdout.isTTY && !('NO_COLOR' in process.env) ? 'always' : 'never';

try {
  for (const name of ['pytorch_model.bin', 'SHA256SUMS', 'model.safetensors.sha256']) {
    copyFileSync(join(checkpoint, name), join(folder, name));
  }

  say('A small Llama, trained for half a minute and saved by PyTorch 2.13 as a pickle.');
  say('A pickle is a program: whoever loads it runs it. Nothing below ever does.');

  say('\n1. Did it arrive whole? Its publisher listed its SHA-256.\n');
  run('verify -c SHA256SUMS', 0);

  say('\n2. What is inside?\n');
  run('inspect pytorch_model.bin', 0);

  say('\n3. Turn it into safetensors, which holds tensors and cannot hold code.\n');
  run('convert pytorch_model.bin', 0);

  say("\n4. Is it right? This digest is that of PyTorch's own writer for these tensors.\n");
  run('verify -c model.safetensors.sha256', 0);
  run('inspect model.safetensors', 0);

  say('\n5. And had one bit been flipped on the way?\n');
  flipOneBit('model.safetensors');
  run('verify -c model.safetensors.sha256', 1);

  say('\nThe checkpoint is what was published, its weights are a safetensors file that is');
  say("byte for byte the reference writer's, and damage does not pass. Now on yours:");
  say('  npx assay convert path/to/pytorch_model.bin');
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
  const { status, stdout, stderr } = spawnSync(process.execPath, [assay, ...line.split(' '), '--color', color, '--no-progress'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: '78' },
  });
  for (const text of `${stdout}${stderr}`.trimEnd().split('\n')) say(`  ${text}`.trimEnd());
  if (status !== expectedCode) throw new Error(`assay ${line} ended with exit code ${status}, not ${expectedCode}`);
  if (status !== 0) say(`  (exit code ${status})`);
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

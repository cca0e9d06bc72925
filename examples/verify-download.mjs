/**
 * Downloads a file so that nothing wrong ever appears under its name: the bytes are hashed as they pass, written beside the
 * target, and published only when size and digest are right.
 *
 *     node examples/verify-download.mjs URL SHA256 TARGET
 */
import { createVerifierStream } from '@assay/verify';
import { createFile, nodeHashers } from '@assay/node';

const [url, sha256, target] = process.argv.slice(2);
if (url === undefined || sha256 === undefined || target === undefined) {
  console.error('usage: node verify-download.mjs URL SHA256 TARGET');
  process.exit(64);
}

try {
  const byteLength = await download(url, sha256, target);
  console.log(`${target}: ${byteLength} bytes, as published`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * Resolves when the right bytes are at `target`; rejects, with nothing there, when they are not.
 * @param {string} from
 * @param {string} digest
 * @param {string} path
 */
async function download(from, digest, path) {
  const response = await fetch(from);
  if (!response.ok || response.body === null) throw new Error(`${from}: HTTP ${response.status}`);
  const verifier = createVerifierStream({ digests: { sha256: digest }, hashers: nodeHashers, name: from });
  // Not committed, a sink leaves nothing behind, whichever way this function is left. On Node 24: await using sink = ...
  const sink = await createFile(path, { overwrite: false });
  try {
    let position = 0;
    // The stream fails here, after its last chunk, when the digest is wrong: commit is never reached.
    for await (const chunk of response.body.pipeThrough(verifier)) {
      await sink.writeAt(chunk, position);
      position += chunk.length;
    }
    await sink.commit();
    return position;
  } finally {
    await sink.abort();
  }
}

/**
 * Writes a PyTorch zip checkpoint of float16 tensors, as large as a benchmark needs, as torch.save lays it out.
 * The values are noise: nothing that is measured looks at them.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const ALIGNMENT = 64;
const NOISE = randomFillSync(new Uint8Array(8 << 20));

/** Shapes of a Llama-like model with `layers` layers: about 2.3 GB of float16 at the defaults. */
export function llamaShapes({ layers = 23, hidden = 2048, inner = 5632, keys = 256, vocabulary = 32_000 } = {}) {
  const shapes = new Map([['model.embed_tokens.weight', [vocabulary, hidden]]]);
  for (let layer = 0; layer < layers; layer += 1) {
    const at = `model.layers.${layer}`;
    shapes.set(`${at}.self_attn.q_proj.weight`, [hidden, hidden]);
    shapes.set(`${at}.self_attn.k_proj.weight`, [keys, hidden]);
    shapes.set(`${at}.self_attn.v_proj.weight`, [keys, hidden]);
    shapes.set(`${at}.self_attn.o_proj.weight`, [hidden, hidden]);
    shapes.set(`${at}.mlp.gate_proj.weight`, [inner, hidden]);
    shapes.set(`${at}.mlp.up_proj.weight`, [inner, hidden]);
    shapes.set(`${at}.mlp.down_proj.weight`, [hidden, inner]);
    shapes.set(`${at}.input_layernorm.weight`, [hidden]);
    shapes.set(`${at}.post_attention_layernorm.weight`, [hidden]);
  }
  shapes.set('model.norm.weight', [hidden]);
  shapes.set('lm_head.weight', [vocabulary, hidden]);
  return shapes;
}

/** Writes the checkpoint; returns its size in bytes. */
export function writeCheckpoint(path, shapes) {
  const writer = new ZipWriter(path);
  writer.entry('archive/data.pkl', [pickleStateDict(shapes)]);
  writer.entry('archive/.format_version', [Buffer.from('1')]);
  writer.entry('archive/.storage_alignment', [Buffer.from('64')]);
  writer.entry('archive/byteorder', [Buffer.from('little')]);
  let key = 0;
  for (const shape of shapes.values()) {
    writer.entry(`archive/data/${key}`, noise(elements(shape) * 2, key));
    key += 1;
  }
  writer.entry('archive/version', [Buffer.from('3\n')]);
  return writer.finish();
}

const elements = (shape) => shape.reduce((product, size) => product * size, 1);

function* noise(byteLength, seed) {
  for (let done = 0, turn = seed; done < byteLength; turn += 1) {
    const start = ((turn * 4093) % 1024) * 64;
    const chunk = NOISE.subarray(start, Math.min(NOISE.length, start + byteLength - done));
    done += chunk.length;
    yield chunk;
  }
}

class ZipWriter {
  #file;
  #position = 0;
  #directory = [];

  constructor(path) {
    this.#file = openSync(path, 'w');
  }

  entry(name, chunks) {
    const nameBytes = Buffer.from(name);
    const offset = this.#position;
    const padding = (ALIGNMENT - ((offset + 30 + nameBytes.length + 4) % ALIGNMENT)) % ALIGNMENT;
    const header = Buffer.alloc(30 + nameBytes.length + 4 + padding, 'Z');
    header.fill(0, 0, 30);
    header.writeUInt32LE(0x0403_4b50, 0);
    header.writeUInt16LE(0x0808, 6);
    header.writeUInt16LE(nameBytes.length, 26);
    header.writeUInt16LE(4 + padding, 28);
    nameBytes.copy(header, 30);
    header.write('FB', 30 + nameBytes.length);
    header.writeUInt16LE(padding, 32 + nameBytes.length);
    this.#write(header);
    let [crc, size] = [0, 0];
    for (const chunk of chunks) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      this.#write(chunk);
    }
    const far = offset >= 0xffff_ffff || size >= 0xffff_ffff;
    const descriptor = Buffer.alloc(far ? 24 : 16);
    descriptor.writeUInt32LE(0x0807_4b50, 0);
    descriptor.writeUInt32LE(crc, 4);
    for (const at of far ? [8, 16] : [8, 12]) {
      if (far) descriptor.writeBigUInt64LE(BigInt(size), at);
      else descriptor.writeUInt32LE(size, at);
    }
    this.#write(descriptor);
    this.#directory.push({ nameBytes, offset, crc, size });
  }

  finish() {
    const start = this.#position;
    for (const entry of this.#directory) this.#write(centralHeader(entry));
    const size = this.#position - start;
    const count = this.#directory.length;
    const zip64 = Buffer.alloc(56 + 20 + 22);
    zip64.writeUInt32LE(0x0606_4b50, 0);
    zip64.writeBigUInt64LE(44n, 4);
    zip64.writeUInt16LE(0x031e, 12);
    zip64.writeUInt16LE(45, 14);
    zip64.writeBigUInt64LE(BigInt(count), 24);
    zip64.writeBigUInt64LE(BigInt(count), 32);
    zip64.writeBigUInt64LE(BigInt(size), 40);
    zip64.writeBigUInt64LE(BigInt(start), 48);
    zip64.writeUInt32LE(0x0706_4b50, 56);
    zip64.writeBigUInt64LE(BigInt(this.#position), 64);
    zip64.writeUInt32LE(1, 72);
    zip64.writeUInt32LE(0x0605_4b50, 76);
    zip64.writeUInt16LE(Math.min(count, 0xffff), 84);
    zip64.writeUInt16LE(Math.min(count, 0xffff), 86);
    zip64.writeUInt32LE(Math.min(size, 0xffff_ffff), 88);
    zip64.writeUInt32LE(Math.min(start, 0xffff_ffff), 92);
    this.#write(zip64);
    closeSync(this.#file);
    return this.#position;
  }

  #write(bytes) {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done, bytes.length - done, this.#position + done);
    this.#position += bytes.length;
  }
}

function centralHeader({ nameBytes, offset, crc, size }) {
  const wide = [size, size, offset].filter((value) => value >= 0xffff_ffff);
  const extra = wide.length > 0 ? 4 + wide.length * 8 : 0;
  const header = Buffer.alloc(46 + nameBytes.length + extra);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE(0x0808, 8);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(Math.min(size, 0xffff_ffff), 20);
  header.writeUInt32LE(Math.min(size, 0xffff_ffff), 24);
  header.writeUInt16LE(nameBytes.length, 28);
  header.writeUInt16LE(extra, 30);
  header.writeUInt32LE(Math.min(offset, 0xffff_ffff), 42);
  nameBytes.copy(header, 46);
  if (extra > 0) {
    header.writeUInt16LE(1, 46 + nameBytes.length);
    header.writeUInt16LE(extra - 4, 48 + nameBytes.length);
    wide.forEach((value, index) => header.writeBigUInt64LE(BigInt(value), 50 + nameBytes.length + index * 8));
  }
  return header;
}

/** A state dict of float16 tensors, each with a storage of its own, at protocol 2. */
function pickleStateDict(shapes) {
  const parts = [];
  const raw = (...bytes) => parts.push(Buffer.from(bytes));
  const text = (value) => {
    const bytes = Buffer.from(value);
    const head = Buffer.alloc(5);
    head[0] = 0x58;
    head.writeUInt32LE(bytes.length, 1);
    parts.push(head, bytes);
  };
  const integer = (value) => {
    const bytes = Buffer.alloc(value > 0x7fff_ffff ? 10 : 5);
    if (value > 0x7fff_ffff) {
      bytes.set([0x8a, 8]);
      bytes.writeBigInt64LE(BigInt(value), 2);
    } else {
      bytes[0] = 0x4a;
      bytes.writeInt32LE(value, 1);
    }
    parts.push(bytes);
  };
  const global = (module, name) => parts.push(Buffer.from(`c${module}\n${name}\n`));
  const tuple = (values) => {
    raw(0x28);
    values.forEach(integer);
    raw(0x74);
  };
  raw(0x80, 2);
  global('collections', 'OrderedDict');
  raw(0x29, 0x52, 0x28); // EMPTY_TUPLE REDUCE MARK
  let key = 0;
  for (const [name, shape] of shapes) {
    text(name);
    global('torch._utils', '_rebuild_tensor_v2');
    raw(0x28, 0x28); // MARK MARK
    text('storage');
    global('torch', 'HalfStorage');
    text(String(key));
    text('cpu');
    integer(elements(shape));
    raw(0x74, 0x51); // TUPLE BINPERSID
    integer(0);
    tuple(shape);
    tuple(shape.map((_, axis) => elements(shape.slice(axis + 1))));
    raw(0x89); // NEWFALSE
    global('collections', 'OrderedDict');
    raw(0x29, 0x52, 0x74, 0x52); // EMPTY_TUPLE REDUCE TUPLE REDUCE
    key += 1;
  }
  raw(0x75, 0x2e); // SETITEMS STOP
  return Buffer.concat(parts);
}

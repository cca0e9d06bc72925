/**
 * What convert knows of names: which are output heads, and which a header's metadata can record.
 * Knows nothing of storages.
 */

/** Modules whose every tensor is an output head's. */
const headModules: readonly string[] = ['lm_head', 'generator_lm_head'];

/**
 * Ends of names that output heads have. Dated 2026-11: the left sides of `_tied_weights_keys` in transformers 5.17.0,
 * beside those of Megatron and ChatGLM (`output_layer`) and of PyTorch's word language model (`decoder`).
 */
const headTails: readonly string[] = [
  'decoder.weight',
  'embed_out.weight',
  'head.weight',
  'lm_loss.weight',
  'output.weight',
  'output_layer.weight',
  'output_projection.weight',
  'pred_layer.proj.weight',
  'proj_out.weight',
  'unembedding_projection.weight',
  'vocab_projector.weight',
];

/** True for the name of an output head, which is tied to an embedding and never kept while that has a name. */
export function isOutputHead(name: string): boolean {
  if (headTails.some((tail) => name === tail || name.endsWith(`.${tail}`))) return true;
  return headModules.some((module) => name.startsWith(`${module}.`) || name.includes(`.${module}.`));
}

/** The name of safetensors' metadata in a header: no tensor may have it. */
export const METADATA_NAME = '__metadata__';

/** True when `metadata` has room for an alias of this name: a reader would take `format` or `__metadata__` for something else. */
export function canBeRecorded(name: string, metadata: ReadonlyMap<string, string>): boolean {
  return name !== METADATA_NAME && name !== 'format' && !metadata.has(name);
}

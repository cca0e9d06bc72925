/**
 * What a converted file is called, by the habits of the libraries that will look for it.
 * Knows base names only.
 */

// transformers renames its weights when they become safetensors; every other name keeps its stem.
const TRANSFORMERS = /^pytorch_model((?:-\d+-of-\d+)?(?:\.[A-Za-z0-9_-]+)?)\.bin$/;
const CHECKPOINT = /\.(?:bin|pt|pth|ckpt|pkl|pickle)$/i;

/**
 * The output's base name for an input's base name:
 * `pytorch_model.fp16.bin` becomes `model.fp16.safetensors`, `last.ckpt` becomes `last.safetensors`.
 * @example outputName('pytorch_model-00001-of-00003.bin') === 'model-00001-of-00003.safetensors'
 */
export function outputName(inputName: string): string {
  const known = TRANSFORMERS.exec(inputName);
  if (known !== null) return `model${known[1] ?? ''}.safetensors`;
  return `${inputName.replace(CHECKPOINT, '')}.safetensors`;
}

/**
 * Numbers and words of the format and of its reference reader, safetensors 0.8.0.
 */

/** The one key of a header that is no tensor. */
export const METADATA_KEY = '__metadata__';

/** The reference reader's cap on a header, in bytes (`tensor.rs`, MAX_HEADER_SIZE). */
export const REFERENCE_MAX_HEADER_BYTES = 100_000_000;

/** What huggingface_hub and huggingface.js read of a header, in bytes (SAFETENSORS_MAX_HEADER_LENGTH). */
export const HUB_MAX_HEADER_BYTES = 25_000_000;

/** serde_json refuses the 128th open bracket. */
export const REFERENCE_MAX_DEPTH = 128;

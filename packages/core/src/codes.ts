/**
 * The one table of codes: every error and every finding of Assay is named here.
 * Says whose fault a code is and, in one sentence, what it stands for; the words a person reads are the renderer's.
 */

/** Whose fault it is: `input` (exit 1, retrying changes nothing), `world` (exit 2, I/O or permission), `note` (nobody's). */
export type Blame = 'input' | 'world' | 'note';

/** What the table says of a code. */
export interface CodeFacts {
  readonly blame: Blame;
  readonly summary: string;
}

const table = {
  // Sources, sinks and folders
  IO_FAILED: ['world', 'the operating system refused a read or a write'],
  IO_NO_MEMORY_MAP: ['world', 'files cannot be mapped into memory on this system'],
  IO_PERMISSION: ['world', 'the operating system denies access'],
  SINK_EXISTS: ['input', 'the output is there already'],
  SINK_FILE_TOO_LARGE: ['world', 'the file system or a limit of the process allows no file of this size'],
  SINK_IS_INPUT: ['input', 'the output is one of the inputs'],
  SINK_NO_FOLDER: ['input', 'the folder of the output does not exist'],
  SINK_NO_SPACE: ['world', 'the disk has not enough room'],
  SINK_NOT_A_FILE: ['input', 'the output path is a folder or a special file'],
  SOURCE_CHANGED: ['world', 'the source changed while it was read'],
  SOURCE_NOT_A_FILE: ['input', 'the source is a folder, a device, a pipe or a socket'],
  SOURCE_NOT_FOUND: ['input', 'there is no such file'],
  SOURCE_SHORT_READ: ['world', 'the source ended before its size'],
  WORKER_DIED: ['world', 'a worker thread or process ended before its work was done'],

  // Limits
  LIMIT_EXCEEDED: ['input', 'the file asks for more than a limit allows'],

  // What the bytes are
  FORMAT_ARCHIVE: ['input', 'an outer archive or compression that has to be unpacked first'],
  FORMAT_EMPTY: ['input', 'the file is empty'],
  FORMAT_GIT_LFS_POINTER: ['input', 'a Git LFS pointer instead of the file that it points to'],
  FORMAT_HTML: ['input', 'a web page instead of weights'],
  FORMAT_JSON: ['input', 'a JSON document instead of weights'],
  FORMAT_NAME_MISLEADS: ['note', 'the name promises another format than the bytes are'],
  FORMAT_POLYGLOT: ['note', 'the bytes can be read as more than one format'],
  FORMAT_TEXT: ['input', 'plain text instead of weights'],
  FORMAT_UNKNOWN: ['input', 'no known weight format'],
  FORMAT_UNSUPPORTED: ['input', 'a known format that is not read here'],
  FORMAT_XML: ['input', 'an XML document instead of weights'],
  FORMAT_ZEROS: ['input', 'the file is all zeros'],

  // safetensors
  SAFETENSORS_DATA_HOLE: ['input', 'bytes of the data that belong to no tensor'],
  SAFETENSORS_DATA_LENGTH: ['input', 'the bytes given for a tensor are more or fewer than its range'],
  SAFETENSORS_DATA_OVERLAP: ['input', 'two tensors claim the same bytes'],
  SAFETENSORS_DATA_SHORT: ['input', 'the file ends before its last tensor: it is truncated'],
  SAFETENSORS_DATA_TRAILING: ['input', 'bytes after the last tensor'],
  SAFETENSORS_DTYPE_INVALID: ['input', 'a dtype is not text'],
  SAFETENSORS_DTYPE_UNKNOWN: ['input', 'a dtype that the format does not have'],
  SAFETENSORS_DUPLICATE_FIELD: ['input', 'a tensor has one field twice'],
  SAFETENSORS_DUPLICATE_METADATA: ['input', 'the metadata, or one of its keys, is there twice'],
  SAFETENSORS_DUPLICATE_TENSOR: ['input', 'two tensors have one name'],
  SAFETENSORS_ENTRY_INVALID: ['input', 'the description of a tensor is not an object'],
  SAFETENSORS_FIELD_MISSING: ['input', 'a tensor lacks its dtype, shape or data_offsets'],
  SAFETENSORS_FIELD_UNKNOWN: ['note', 'a tensor has a field that the format does not have'],
  SAFETENSORS_FINDINGS_CUT: ['note', 'more findings of one kind than are listed'],
  SAFETENSORS_HEADER_EMPTY: ['input', 'the header is stated to have no bytes'],
  SAFETENSORS_HEADER_JSON: ['input', 'the header is not valid JSON'],
  SAFETENSORS_HEADER_LARGE: ['note', 'a header that the Hugging Face Hub does not read'],
  SAFETENSORS_HEADER_NOT_OBJECT: ['input', 'the header is JSON, but not an object'],
  SAFETENSORS_HEADER_PADDING: ['note', 'the header is padded otherwise than by spaces at its end'],
  SAFETENSORS_HEADER_PAST_END: ['input', 'the header would end after the end of the file'],
  SAFETENSORS_HEADER_TOO_LARGE: ['input', 'the header is larger than any reader accepts'],
  SAFETENSORS_HEADER_UTF8: ['input', 'the header is not UTF-8 text'],
  SAFETENSORS_METADATA_CONTENT: ['note', 'a metadata value holds markup, a URL or control characters'],
  SAFETENSORS_METADATA_INVALID: ['input', 'the metadata is not a map of text to text'],
  SAFETENSORS_METADATA_NULL: ['note', 'the metadata is null'],
  SAFETENSORS_NAME_CLASH: ['note', 'two names look the same: they differ in Unicode normalisation only'],
  SAFETENSORS_NAME_INVALID: ['input', 'a name or a metadata text that UTF-8 cannot hold'],
  SAFETENSORS_NAME_ODD: ['note', 'a name that is empty, very long, looks like a path or holds invisible characters'],
  SAFETENSORS_NAME_RESERVED: ['input', 'a tensor named __metadata__, which the format reserves'],
  SAFETENSORS_OFFSETS_INVALID: ['input', 'data_offsets are not two whole numbers in ascending order'],
  SAFETENSORS_RANK_HIGH: ['note', 'a tensor of more dimensions than PyTorch can hold'],
  SAFETENSORS_SHAPE_INVALID: ['input', 'a shape is not a list of whole numbers of at least 0'],
  SAFETENSORS_SHAPE_OVERFLOW: ['input', 'a shape has more elements than 64 bits can count'],
  SAFETENSORS_SIZE_FRACTION: ['input', 'elements of less than a byte that do not fill their last byte'],
  SAFETENSORS_SIZE_MISMATCH: ['input', 'the range of a tensor is not the size of its shape and dtype'],
  SAFETENSORS_TOO_SHORT: ['input', 'the file is too short for the length of a header'],
  SAFETENSORS_UNALIGNED: ['note', 'tensors do not start at a multiple of their element size'],

  // Shard indexes
  INDEX_DUPLICATE_KEY: ['input', 'a shard index has one key twice'],
  INDEX_INVALID: ['input', 'a shard index is not an object with a weight_map of names to shards'],
  INDEX_JSON: ['input', 'a shard index is not valid JSON'],
  INDEX_SHARD_EXTENSION: ['input', 'a shard index names a file of another format'],
  INDEX_SHARD_EXTRA: ['note', 'a shard that the index does not name'],
  INDEX_SHARD_GAP: ['input', 'the numbers of the shards have gaps'],
  INDEX_SHARD_MISSING: ['input', 'a shard that the index names is not there'],
  INDEX_SHARD_NAME_UNSAFE: ['input', 'a shard index names something else than a plain relative path'],
  INDEX_TENSOR_ELSEWHERE: ['input', 'a tensor lies in another shard than the index says'],
  INDEX_TENSOR_MISSING: ['input', 'a tensor of the index is in no shard'],
  INDEX_TENSOR_REPEATED: ['input', 'a tensor lies in two shards'],
  INDEX_TENSOR_UNLISTED: ['note', 'a tensor of a shard that the index does not list'],
  INDEX_TOTAL_SIZE: ['note', 'the total size that a shard index states is not that of its tensors'],

  // Zip containers
  ZIP_COMMENT: ['note', 'a comment follows the end of the archive'],
  ZIP_COUNT_MISMATCH: ['input', 'the directory holds another number of entries than its end states'],
  ZIP_CRC_MISMATCH: ['input', 'the bytes of a member are not those that its CRC-32 was computed of'],
  ZIP_CRC_NEVER_WRITTEN: ['note', 'the CRC-32 of every member is wrong: it was never computed'],
  ZIP_DIRECTORY_MALFORMED: ['input', 'the central directory cannot be read'],
  ZIP_DIRECTORY_MISSING: ['input', 'the central directory is missing: the file is truncated'],
  ZIP_DIRECTORY_OUT_OF_RANGE: ['input', 'the central directory would lie outside the file'],
  ZIP_END_DISAGREES: ['input', 'the end records contradict each other or the file'],
  ZIP_ENTRY_ENCRYPTED: ['input', 'a member is encrypted'],
  ZIP_ENTRY_EXTRA_MALFORMED: ['input', 'an extra field of a member is malformed, missing, doubled or contradicts it'],
  ZIP_ENTRY_HIDDEN: ['input', 'a local header that the directory does not list'],
  ZIP_ENTRY_INFLATE_FAILED: ['input', 'a deflated member is damaged or has another size than it states'],
  ZIP_ENTRY_LOCAL_DIFFERS: ['input', 'the header before the bytes of a member contradicts the directory'],
  ZIP_ENTRY_LOCAL_MISSING: ['input', 'there is no local header where the directory says'],
  ZIP_ENTRY_METHOD: ['input', 'a member is compressed by a method that is not read here'],
  ZIP_ENTRY_OUT_OF_RANGE: ['input', 'a member would lie outside the space before the directory'],
  ZIP_ENTRY_OVERLAP: ['input', 'two members share bytes'],
  ZIP_ENTRY_PATCHED: ['input', 'a member is patch data'],
  ZIP_ENTRY_SIZE_MISMATCH: ['input', 'a stored member states two different sizes'],
  ZIP_ENTRY_SPECIAL: ['input', 'a member is a link, a device or another special file'],
  ZIP_FINDINGS_CUT: ['note', 'more findings than are listed'],
  ZIP_MULTI_DISK: ['input', 'the archive is one part of several'],
  ZIP_NAME_COLLISION: ['input', 'the names of two members differ in case only'],
  ZIP_NAME_DUPLICATE: ['input', 'two members have one name'],
  ZIP_NAME_ENCODING: ['input', 'the name of a member is not UTF-8, or is not marked as such'],
  ZIP_NAME_UNSAFE: ['input', 'the name of a member is not a plain relative path'],
  ZIP_PREFIX_BYTES: ['input', 'bytes before the first member'],
  ZIP_SEVERAL_ENDS: ['input', 'more than one end of a central directory: readers disagree about the content'],
  ZIP_TRAILING_BYTES: ['input', 'bytes after the end of the archive'],
  ZIP_UNCLAIMED_BYTES: ['input', 'bytes that belong to no member'],

  // Pickle streams
  PICKLE_ARGUMENT_MALFORMED: ['input', 'the argument of an opcode cannot be read as what it must be'],
  PICKLE_BUFFER_MISSING: ['input', 'an opcode wants a buffer from outside the pickle'],
  PICKLE_EXTENSION: ['input', 'an opcode names an object by its number in a registry outside the pickle'],
  PICKLE_FRAME_CROSSED: ['note', 'an opcode crosses the end of its frame: unpicklers disagree about what follows'],
  PICKLE_LEFT_OVER: ['note', 'values or marks are left on the stack at the end'],
  PICKLE_MARK_MISSING: ['input', 'an opcode needs a mark and there is none'],
  PICKLE_MEMO_MISSING: ['input', 'an opcode asks for a memo slot that was never filled'],
  PICKLE_OPCODE_UNKNOWN: ['input', 'a byte that is no opcode'],
  PICKLE_PERSISTENT_ID_TEXT: ['input', 'a persistent id is given as text'],
  PICKLE_PROTOCOL_REPEATED: ['note', 'the protocol is stated twice, or not at the beginning'],
  PICKLE_PROTOCOL_UNKNOWN: ['input', 'a protocol above 5'],
  PICKLE_STACK_UNDERFLOW: ['input', 'an opcode needs more values than there are'],
  PICKLE_TRAILING_BYTES: ['note', 'bytes after the end of the pickle'],
  PICKLE_TRUNCATED: ['input', 'the pickle ends before it is complete'],
  PICKLE_TYPE_MISMATCH: ['input', 'an opcode is applied to a value of a kind that it cannot be applied to'],

  // PyTorch checkpoints
  TORCH_BYTE_ORDER_UNKNOWN: ['input', 'the byte order of the storages is neither little nor big'],
  TORCH_CALL_MALFORMED: ['input', 'the arguments that rebuild a tensor are too many, too few or of a wrong kind'],
  TORCH_CLASS_NOT_BUILT: ['note', 'a class or function that the file names, and that was neither looked up nor called'],
  TORCH_DTYPE_UNSUPPORTED: ['input', 'a dtype that safetensors does not have'],
  TORCH_LEFT_OUT: ['note', 'a part of the checkpoint that is not among the weights'],
  TORCH_MEMBER_OUTSIDE_ROOT: ['input', 'a member outside the root folder of the archive'],
  TORCH_NAMES_CYCLIC: ['input', 'a map of weights contains itself'],
  TORCH_NAME_DUPLICATE: ['input', 'two tensors get one name'],
  TORCH_NAME_NOT_TEXT: ['input', 'a tensor whose key is neither text nor an integer'],
  TORCH_NAME_NOT_UNICODE: ['input', 'a name with a lone surrogate, which UTF-8 cannot hold'],
  TORCH_NAME_RESERVED: ['input', 'a tensor named __metadata__, which safetensors reserves'],
  TORCH_NO_TENSORS: ['input', 'the checkpoint holds no tensors'],
  TORCH_OBJECT_NOT_WEIGHTS: ['input', 'the checkpoint is an object of a class, such as a whole module, and not a map of tensors'],
  TORCH_PERSISTENT_ID_UNKNOWN: ['input', 'a persistent id that names no storage'],
  TORCH_PICKLE_MISSING: ['input', 'the archive has no data.pkl'],
  TORCH_SELECT_NOT_FOUND: ['input', 'the selected path is not in the checkpoint'],
  TORCH_SHAPE_OVERFLOW: ['input', 'a shape has more elements than 64 bits can count'],
  TORCH_STORAGE_CLASS_UNKNOWN: ['input', 'a storage class whose dtype is not known'],
  TORCH_STORAGE_MISSING: ['input', 'a tensor names a storage that is not in the archive'],
  TORCH_STORAGE_SIZE_MISMATCH: ['input', 'a storage has more or fewer bytes than the pickle states'],
  TORCH_SUBCLASS_UNWRAPPED: ['note', 'a tensor of a subclass, kept as the plain tensor that it is built on'],
  TORCH_TENSOR_META: ['input', 'a tensor on the meta device: it has no values'],
  TORCH_TENSOR_NESTED: ['input', 'a nested (ragged) tensor'],
  TORCH_TENSOR_NUMPY: ['input', 'a tensor whose values are in a numpy array'],
  TORCH_TENSOR_QUANTIZED: ['input', 'a quantised tensor'],
  TORCH_TENSOR_SPARSE: ['input', 'a sparse tensor'],
  TORCH_TENSOR_WRAPPER: ['input', 'a tensor subclass that wraps other tensors'],
  TORCH_VIEW_OUT_OF_BOUNDS: ['input', 'a tensor reaches outside its storage'],
  TORCH_VIEW_REPEATS: ['note', 'a tensor reads elements of its storage more than once'],

  // Verification
  CHECKSUM_BOM: ['note', 'a checksum file starts with a byte order mark'],
  CHECKSUM_CONFLICT: ['input', 'a checksum file gives two digests of one algorithm for one name'],
  CHECKSUM_EMPTY: ['input', 'a checksum file without one well-formed line'],
  CHECKSUM_LINES_MALFORMED: ['input', 'lines of a checksum file that are no checksum lines'],
  CHECKSUM_NAME_REFUSED: ['input', 'a checksum file that was not named by the user points outside its folder'],
  CHECKSUM_UTF16: ['input', 'a checksum file in UTF-16'],
  DIGEST_MALFORMED: ['input', 'a text that is no hexadecimal digest of its algorithm'],
  DIGEST_MISMATCH: ['input', 'the bytes have another digest than was expected'],
  DIGEST_OTHER_ALGORITHM: ['input', 'a digest as long as those of another algorithm'],
  SIZE_MISMATCH: ['input', 'there are more or fewer bytes than were expected'],
  SUMS_NO_FILES: ['input', 'a folder without any file below it'],
  VERIFY_NOTHING_VERIFIED: ['input', 'no file was verified'],
  VERIFY_NO_EXPECTATION: ['input', 'a file without a digest to compare with'],

  // Conversion
  CONVERT_ALIAS_COPIED: ['note', 'a second name of a tensor, written again because copies were asked for'],
  CONVERT_ALIAS_REFUSED: ['input', 'a second name of a tensor, where such names were to be refused'],
  CONVERT_ALIAS_UNRECORDED: ['note', 'a second name of a tensor that the metadata has no room for: it is written again'],
  CONVERT_CRC_MISMATCH: ['input', 'the bytes of a member are not those that its CRC-32 was computed of'],
  CONVERT_CRC_NEVER_WRITTEN: ['note', 'every CRC-32 is wrong: they were never computed, so the bytes could not be proven'],
  CONVERT_DATA_NEVER_WRITTEN: ['input', 'every storage is zeros under a wrong CRC-32: the data was never written'],
  CONVERT_NEEDS_OUTPUT: ['input', 'the output cannot lie beside this input: it needs a name of its own'],
  CONVERT_NOTHING_TO_DO: ['input', 'the file is safetensors already'],
  CONVERT_NO_TENSORS: ['input', 'the file holds no tensors'],
  CONVERT_OUTPUT_COLLISION: ['input', 'two inputs would be written to one output'],
  CONVERT_OUTPUT_WRONG: ['world', 'the output read back is not what was written'],
  CONVERT_OVERLAP: ['note', 'a tensor that shares bytes with another, without being the same: both are written whole'],
} as const;

/** A code of the table. */
export type Code = keyof typeof table;

/** The table of codes, in the order in which it is written. */
export const codes: ReadonlyMap<Code, CodeFacts> = new Map(
  (Object.entries(table) as [Code, readonly [Blame, string]][]).map(([code, [blame, summary]]) => [code, { blame, summary }]),
);

/** Whose fault a code is; decides between exit codes 1 and 2. */
export function blameOf(code: Code): Blame {
  return table[code][0];
}

/** True when `text` is a code of the table. */
export function isCode(text: string): text is Code {
  return codes.has(text as Code);
}

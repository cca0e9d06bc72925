"""Makes golden/ with the real safetensors 0.8.0 (and transformers' way of writing an index).

  python3 test/safetensors/make-goldens.py

golden/<name>.safetensors + golden/<name>.json  what serialize() writes, and what it was given
golden/verdicts.json                            what deserialize() says of hostile headers
golden/index.json                               json.dumps(index, indent=2, sort_keys=True) + "\\n"
"""
import ctypes
import json
import os
import struct

import safetensors
from safetensors import SafetensorError, TensorSpec, deserialize, serialize

assert safetensors.__version__ == "0.8.0"
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}
# As the Python binding names them.
NAMES = {
    "BOOL": "bool", "F4": "float4_e2m1fn_x2", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "I16": "int16",
    "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32", "F32": "float32",
    "C64": "complex64", "F64": "float64", "I64": "int64", "U64": "uint64",
}


def data_of(index, dtype, shape):
    count = 1
    for size in shape:
        count *= size
    return bytes((index * 31 + at * 7) % 256 for at in range(count * BITS[dtype] // 8))


def golden(name, tensors, metadata=None):
    given, buffers = {}, []
    for index, (tensor, dtype, shape) in enumerate(tensors):
        # The binding takes float4's shape in bytes of two elements, and doubles it.
        shape_given = shape[:-1] + [shape[-1] // 2] if dtype == "F4" else shape
        data = data_of(index, dtype, shape)
        buffers.append(ctypes.create_string_buffer(data, max(1, len(data))))
        pointer = ctypes.addressof(buffers[-1])
        given[tensor] = TensorSpec(dtype=NAMES[dtype], shape=shape_given, data_ptr=pointer, data_len=len(data))
    with open(os.path.join(HERE, name + ".safetensors"), "wb") as file:
        file.write(serialize(given, metadata))
    with open(os.path.join(HERE, name + ".json"), "w") as file:
        json.dump({"tensors": tensors, "metadata": metadata}, file, indent=1)
        file.write("\n")


def goldens():
    golden("empty", [])
    golden("empty-with-metadata", [], {"framework": "pt"})
    golden("empty-metadata", [("a", "F32", [1])], {})
    golden("scalar-and-empty", [("scalar", "I64", []), ("none", "F32", [0]), ("none-2", "F32", [3, 0, 2]), ("one", "BF16", [1, 1])])
    golden("all-dtypes", [("t." + dtype, dtype, [2, 4]) for dtype in sorted(NAMES)], {"format": "pt"})
    golden("escapes", [
        ("quote\"", "U8", [1]), ("back\\slash", "U8", [1]), ("slash/", "U8", [1]), ("line\nend\r\ttab", "U8", [1]), ("\b\f", "U8", [1]),
        ("nul\0", "U8", [1]), ("\x01\x1f", "U8", [1]), ("del\x7f", "U8", [1]), ("\u2028\u2029", "U8", [1]), ("", "U8", [1]),
        ("__proto__", "U8", [1]), ("constructor", "U8", [1]), ("../up", "U8", [1]), ("<script>", "U8", [1]),
    ], {"a \"quoted\"\nkey": "a\tvalue\u0000"})
    golden("unicode-order", [
        ("\ue000", "F16", [1]), ("\U0001f600", "F16", [1]), ("\uffff", "F16", [1]), ("\ufeffbom", "F16", [1]), ("z", "F16", [1]),
        ("\u00e9", "F16", [1]), ("e\u0301", "F16", [1]), ("Z", "F16", [1]), ("10", "F16", [1]), ("9", "F16", [1]), ("\ud7ff", "F16", [1]),
    ])
    golden("dtype-before-name", [("a", "BOOL", [3]), ("b", "I64", [1]), ("c", "F32", [2]), ("d", "BF16", [1]), ("e", "F32", [1])])
    for length in range(8):
        golden(f"padding-{length}", [("x" * (length + 1), "U8", [length])])


def entry(dtype='"U8"', shape="[1]", offsets="[0,1]", more=""):
    return '{"dtype":%s,"shape":%s,"data_offsets":%s%s}' % (dtype, shape, offsets, more)


def one(*args, **more):
    return '{"a":%s}' % entry(*args, **more)


def hostile():
    x = b"x"
    yield "plain", one(), x
    yield "unaligned padding", one() + "   ", x
    yield "list entry", '{"a":["U8",[1],[0,1]]}', x
    yield "list entry of 2", '{"a":["U8",[1]]}', x
    yield "list entry of 4", '{"a":["U8",[1],[0,1],1]}', x
    yield "list entry in another order", '{"a":[[1],"U8",[0,1]]}', x
    yield "dtype as variant", one('{"U8":null}'), x
    yield "dtype as variant with a value", one('{"U8":[]}'), x
    yield "dtype as variant with a map", one('{"U8":{}}'), x
    yield "dtype as two variants", one('{"U8":null,"I8":null}'), x
    yield "dtype as no variant", one("{}"), x
    yield "dtype as unknown variant", one('{"u8":null}'), x
    yield "dtype escaped", one('"\\u00558"'), x
    yield "dtype null", one("null"), x
    yield "dtype number", one("4"), x
    yield "dtype list", one('["U8"]'), x
    yield "dtype unknown", one('"U7"'), x
    yield "dtype lower case", one('"u8"'), x
    yield "dtype F4 odd", one('"F4"', "[1]"), x
    yield "dtype F4 even", one('"F4"', "[2]"), x
    yield "dtype F6 times 4", one('"F6_E2M3"', "[4]", "[0,3]"), b"xxx"
    yield "dtype F6 times 3", one('"F6_E3M2"', "[3]", "[0,2]"), b"xx"
    yield "BOOL 2", one('"BOOL"'), b"\x02"
    yield "NaN", one('"F16"', "[1]", "[0,2]"), b"\xff\xff"
    yield "field escaped", '{"a":{"\\u0064type":"U8","shape":[1],"data_offsets":[0,1]}}', x
    yield "field unknown", one(more=',"x":[1,{"y":null}]'), x
    yield "field unknown twice", one(more=',"x":1,"x":2'), x
    yield "field missing", '{"a":{"dtype":"U8","shape":[1]}}', b""
    yield "field twice", one(more=',"dtype":"U8"'), x
    yield "field twice by escape", one(more=',"\\u0073hape":[1]'), x
    yield "entry null", '{"a":null}', b""
    yield "entry number", '{"a":5}', b""
    yield "entry empty", '{"a":{}}', b""
    yield "entry string", '{"a":"U8"}', b""
    yield "unknown field: number out of range", one(more=',"x":1e999'), x
    yield "unknown field: number out of range, negative", one(more=',"x":-1e309'), x
    yield "unknown field: large number", one(more=',"x":1e308'), x
    yield "unknown field: tiny number", one(more=',"x":1e-999'), x
    yield "unknown field: long integer", one(more=',"x":' + "9" * 60), x
    yield "unknown field: leading zero", one(more=',"x":01'), x
    yield "unknown field: no fraction", one(more=',"x":1.'), x
    yield "unknown field: only a sign", one(more=',"x":-'), x
    yield "unknown field: plus", one(more=',"x":+1'), x
    yield "unknown field: no exponent", one(more=',"x":1e'), x
    yield "unknown field: lone surrogate", one(more=',"x":"\\ud800"'), x
    yield "unknown field: 125 brackets", one(more=',"x":' + "[" * 125 + "]" * 125), x
    yield "unknown field: 126 brackets", one(more=',"x":' + "[" * 126 + "]" * 126), x
    yield "unknown field: 125 braces", one(more=',"x":' + '{"a":' * 125 + "1" + "}" * 125), x
    yield "unknown field: 126 braces", one(more=',"x":' + '{"a":' * 126 + "1" + "}" * 126), x
    for text in ["1.0", "1e0", "-0", "-1", '"1"', "null", "18446744073709551616", "[1]", "01", "true", "0x1", "1_0"]:
        yield f"offset {text}", one(offsets=f"[0,{text}]"), x
        yield f"dimension {text}", one(shape=f"[{text}]"), x
    yield "offset -0 first", one(offsets="[-0,1]"), x
    yield "offsets: one", one(offsets="[0]"), x
    yield "offsets: three", one(offsets="[0,1,2]"), x
    yield "offsets: map", one(offsets="{}"), x
    yield "offsets backwards", one('"U8"', "[0]", "[1,0]"), x
    yield "offsets of 2^64-1", one(offsets="[18446744073709551615,18446744073709551615]"), x
    yield "shape: number", one(shape="1"), x
    yield "shape: scalar", one(shape="[]"), x
    yield "shape: null", one(shape="null"), x
    yield "shape: rank 1000", one(shape="[" + ",".join(["1"] * 1000) + "]"), x
    yield "shape: overflow then 0", one('"F32"', "[18446744073709551615,18446744073709551615,0]", "[0,0]"), b""
    yield "shape: 0 then large", one('"F32"', "[0,18446744073709551615,18446744073709551615]", "[0,0]"), b""
    yield "shape: large then 0", one('"F32"', "[18446744073709551615,0]", "[0,0]"), b""
    yield "shape: wraps to 4", one('"U8"', "[4194305,4194305,211106198978564]", "[0,4]"), b"xxxx"
    yield "shape: bits overflow", one('"U8"', "[2305843009213693952]", "[0,1]"), x
    yield "shape: bits just fit", one('"U8"', "[2305843009213693951]", "[0,1]"), x
    yield "shape: 2^53+1 and 0", one('"U8"', "[9007199254740993,0]", "[0,0]"), b""
    yield "size mismatch", one(shape="[2]"), x
    yield "duplicate tensor, same range", '{"a":%s,"a":%s}' % (entry(), entry()), x
    yield "duplicate tensor, by escape", '{"t":%s,"\\u0074":%s}' % (entry(), entry()), x
    yield "duplicate tensor, other range", '{"a":%s,"a":%s}' % (entry(), entry(offsets="[1,2]")), b"xx"
    yield "duplicate tensor, other range, reversed", '{"a":%s,"a":%s}' % (entry(offsets="[1,2]"), entry()), b"xx"
    yield "duplicate tensor, zero then real", '{"a":%s,"a":%s}' % (entry(shape="[0]", offsets="[0,0]"), entry()), x
    yield "duplicate tensor, real then zero", '{"a":%s,"a":%s}' % (entry(), entry(shape="[0]", offsets="[0,0]")), x
    yield "duplicate tensor, first malformed", '{"a":5,"a":%s}' % entry(), x
    yield "duplicate tensor, second malformed", '{"a":%s,"a":5}' % entry(), x
    yield "overlap, full", '{"a":%s,"b":%s}' % (entry(), entry()), x
    yield "overlap, partial", '{"a":%s,"b":%s}' % (entry(shape="[2]", offsets="[0,2]"), entry(shape="[2]", offsets="[1,3]")), b"xxx"
    yield "hole", '{"a":%s,"b":%s}' % (entry(), entry(offsets="[2,3]")), b"xxx"
    yield "first not 0", one(offsets="[1,2]"), b"xx"
    yield "empty tensor inside another", '{"a":%s,"b":%s}' % (entry(shape="[2]", offsets="[0,2]"), entry(shape="[0]", offsets="[1,1]")), b"xx"
    yield "empty tensor past the end", '{"a":%s,"b":%s}' % (entry(), entry(shape="[0]", offsets="[2,2]")), x
    yield "empty tensor at the end", '{"b":%s,"a":%s}' % (entry(shape="[0]", offsets="[1,1]"), entry()), x
    yield "any order", '{"b":%s,"a":%s}' % (entry(offsets="[1,2]"), entry()), b"xx"
    yield "trailing data", one(), b"xy"
    yield "short data", one(shape="[2]", offsets="[0,2]"), x
    yield "metadata null", '{"__metadata__":null}', b""
    yield "metadata null twice", '{"__metadata__":null,"__metadata__":null}', b""
    yield "metadata twice", '{"__metadata__":{},"__metadata__":{}}', b""
    yield "metadata by escape", '{"__metad\\u0061ta__":{"a":"b"}}', b""
    yield "metadata key twice", '{"__metadata__":{"a":"b","a":"c"}}', b""
    for text in ["[]", '[["a","b"]]', "5", '"a"', "true", '{"a":1}', '{"a":null}', '{"a":{}}', '{"a":["b"]}']:
        yield f"metadata {text}", '{"__metadata__":%s}' % text, b""
    yield "tensor named __metadata__", '{"__metadata__":%s}' % entry(), x
    yield "leading space", " " + one(), x
    yield "leading line end", "\n" + one(), x
    yield "trailing tab, line ends", one() + "\t\n\r", x
    yield "trailing NUL", one() + "\0", x
    yield "vertical tab", "\x0b{}", b""
    yield "no-break space", "\u00a0{}", b""
    yield "byte order mark", "\ufeff{}", b""
    yield "UTF-16", "{}".encode("utf-16-le"), b""
    yield "invalid UTF-8", b'{"\xff":1}', b""
    yield "overlong UTF-8", b'{"\xc0\xaf":' + entry().encode() + b"}", x
    yield "overlong UTF-8, 3 bytes", b'{"\xe0\x80\xaf":' + entry().encode() + b"}", x
    yield "truncated UTF-8", b'{"\xe2\x82":' + entry().encode() + b"}", x
    yield "surrogate in UTF-8", b'{"\xed\xa0\x80":' + entry().encode() + b"}", x
    yield "above U+10FFFF", b'{"\xf4\x90\x80\x80":' + entry().encode() + b"}", x
    yield "U+10FFFF", b'{"\xf4\x8f\xbf\xbf":' + entry().encode() + b"}", x
    yield "invalid UTF-8 after the end", b"{}\xff", b""
    for text in ["\\ud83d\\ude00", "\\ude00", "\\ud83d", "\\ud83dx", "\\ud83d\\u0041", "\\ud83d\\n", "\\u00e", "\\x", "\\'", "\\/", "\\u00E9", "\\0"]:
        yield f"escape {text}", '{"%s":%s}' % (text, entry()), x
    yield "control character", '{"a\n":%s}' % entry(), x
    yield "delete character", '{"a\x7f":%s}' % entry(), x
    yield "empty name", '{"":%s}' % entry(), x
    yield "NUL name", '{"\\u0000":%s}' % entry(), x
    yield "prototype name", '{"__proto__":%s}' % entry(), x
    yield "path name", '{"../x":%s}' % entry(), x
    for text in ["", " ", "{", "{}{}", "{},", "[]", "[{}]", "null", "5", '"a"', "true", "tru", "{a:1}", "{'a':1}", '{"a"}', '{"a":}', '{"a" 1}', '{,}', "// c\n{}", "{}// c", "{}/**/", "NaN", "{}}", "]", '{"a":[}'] + [one()[:-1] + ",}", one()[:-2], one()[:-1] + "]"]:
        yield f"text {text[:24]!r}", text, x if "U8" in text else b""


def verdict(file):
    try:
        deserialize(file)
        return {"accepts": True}
    except SafetensorError as error:
        return {"accepts": False, "error": str(error)[:160]}


def verdicts():
    rows = []
    for name, header, data in hostile():
        header = header if isinstance(header, bytes) else header.encode()
        file = struct.pack("<Q", len(header)) + header + data
        rows.append({"name": name, "hex": file.hex(), **verdict(file)})
    for name, file in [
        ("no bytes", b""), ("7 bytes", b"\0" * 7), ("length 0", b"\0" * 8), ("length 0, data", b"\0" * 9), ("length 1", struct.pack("<Q", 1) + b"{"),
        ("length past the end", struct.pack("<Q", 3) + b"{}"), ("length 100000000", struct.pack("<Q", 100_000_000) + b"{}"),
        ("length 100000001", struct.pack("<Q", 100_000_001) + b"{}"), ("length 2^53+1", struct.pack("<Q", 2**53 + 1) + b"{}"),
        ("length 2^63", struct.pack("<Q", 2**63) + b"{}"), ("length 2^64-1", struct.pack("<Q", 2**64 - 1) + b"{}"),
        ("empty header and a byte", struct.pack("<Q", 2) + b"{}x"),
    ]:
        rows.append({"name": name, "hex": file.hex(), **verdict(file)})
    with open(os.path.join(HERE, "verdicts.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def index():
    weight_map = {"b": "model-00002-of-00002.safetensors", "a.\u00e9": "model-00001-of-00002.safetensors", "\U0001f600": "model-00001-of-00002.safetensors", "\ue000\x7f\"": "model-00002-of-00002.safetensors"}
    given = {"metadata": {"total_size": 12345678901, "note": "a\tb", "total_parameters": 7}, "weight_map": weight_map}
    with open(os.path.join(HERE, "index.json"), "w") as file:
        file.write(json.dumps(given, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    goldens()
    verdicts()
    index()

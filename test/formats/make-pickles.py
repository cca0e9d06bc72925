"""
Writes pickles.json: what CPython 3.11 writes and reads, for the tests of the pickle machine.

    python3.11 test/formats/make-pickles.py

`written`: values pickled by the C pickler at every protocol, with what the Python unpickler (Lib/pickle.py) makes of them
when every global is an inert name. `read`: streams written by hand, with what the C unpickler makes of them, null for a refusal.
"""

import collections
import enum
import io
import json
import os
import pickle
import struct
import sys

assert sys.version_info[:2] == (3, 11), sys.version
sys.dont_write_bytecode = True


class Global:
    def __init__(self, module, name):
        self.module, self.name, self.states = module, name, []


class Call:
    def __init__(self, form, callable_, args, keywords=None):
        self.form, self.callable, self.args, self.keywords = form, callable_, args, keywords
        self.states, self.items, self.entries = [], [], {}

    def append(self, item):
        self.items.append(item)

    def extend(self, items):
        self.items.extend(items)

    def add(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.entries[key] = value


class Inert(pickle._Unpickler):
    """Lib/pickle.py's unpickler, which imports and calls nothing."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def find_class(self, module, name):
        return Global(module, name)

    def load_reduce(self):
        args = self.stack.pop()
        self.append(Call("reduce", self.stack.pop(), args))

    def load_newobj(self):
        args = self.stack.pop()
        self.append(Call("newobj", self.stack.pop(), args))

    def load_newobj_ex(self):
        keywords = self.stack.pop()
        args = self.stack.pop()
        self.append(Call("newobj-ex", self.stack.pop(), args, keywords))

    def load_build(self):
        state = self.stack.pop()
        self.stack[-1].states.append(state)

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BUILD[0]] = load_build


def neutral(value, seen):
    """A value as JSON: containers are numbered by first appearance, and are a reference after it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"int": hex(value)}
    if isinstance(value, float):
        return {"float": struct.pack(">d", value).hex()}
    if value == ():
        return {"tuple": []}
    if id(value) in seen:
        return {"ref": seen[id(value)][0]}
    seen[id(value)] = (len(seen), value)
    if isinstance(value, (bytes, bytearray)):
        return {type(value).__name__: value.hex()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return {type(value).__name__: [neutral(item, seen) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[neutral(key, seen), neutral(item, seen)] for key, item in value.items()]}
    if isinstance(value, Global):
        return {"global": [value.module, value.name]}
    parts = {"call": value.form, "callable": neutral(value.callable, seen), "args": neutral(value.args, seen)}
    if value.keywords is not None:
        parts["keywords"] = neutral(value.keywords, seen)
    parts |= {"items": [neutral(item, seen) for item in value.items]} if value.items else {}
    parts |= {"entries": [[neutral(k, seen), neutral(v, seen)] for k, v in value.entries.items()]} if value.entries else {}
    return parts | ({"states": [neutral(state, seen) for state in value.states]} if value.states else {})


class Point:
    def __init__(self, x):
        self.x = x


class Mode(enum.Enum):
    TRAIN = 1


class WithKeywords:
    def __new__(cls, *args, **keywords):
        return object.__new__(cls)

    def __getnewargs_ex__(self):
        return (1,), {"b": 2}


class Bag(list):
    pass


for cls in (Point, Mode, WithKeywords, Bag):
    cls.__module__ = "a.module"
    cls.__qualname__ = cls.__name__
module = type(sys)("a.module")
module.__dict__.update({cls.__name__: cls for cls in (Point, Mode, WithKeywords, Bag)})
sys.modules["a"], sys.modules["a.module"] = type(sys)("a"), module


def values():
    yield "constants", [None, True, False, ..., NotImplemented]
    numbers = [0, 1, 10, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64, 2**100]
    yield "integers", [sign * n for n in numbers for sign in (1, -1)]
    yield "long integers", [2**2031, -(2**2031), 2**2032, 2**2040, -(2**2048), 2**16000]
    yield "floats", [0.0, -0.0, 1.5, -2.25e-300, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")]
    yield "texts", ["", "a", "\u00e9", "\u6f22\u5b57", "\U0001f600", "\ud800", "a\udfffb", "\\u0041", "\\", "\\\\u", "line\nfeed\r", "nul\0", "x" * 300]
    yield "bytes", [b"", b"\x00\xff'\"\\\n", b"y" * 300, bytearray(b"\x80z")]
    yield "containers", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1], {}, {"a": 1}, {1: [2], (3, 4): {}}, {5}, frozenset({6}), set(), frozenset()]
    yield "batches", [[None] * 2005, {n: None for n in range(1005)}, frozenset({7})]
    shared = [1]
    yield "shared", [shared, shared, (shared,), {"k": shared}]
    ring: list = []
    ring.append(ring)
    yield "cyclic list", ring
    loop: dict = {}
    loop["self"] = loop
    yield "cyclic dict", loop
    inner: list = []
    pair = (inner, 1)
    inner.append(pair)
    yield "cyclic tuple", pair
    nested: list = []
    for _ in range(150):
        nested = [nested]
    yield "nested lists", nested
    ordered = collections.OrderedDict(a=1)
    ordered.note = "attribute"
    yield "ordered dict", ordered
    yield "classes", [collections.OrderedDict, Point, len, collections.Counter.most_common]
    yield "object", Point([1])
    yield "enum", Mode.TRAIN
    yield "keywords", WithKeywords()
    bag = Bag([1, 2])
    bag.note = 3
    yield "list subclass", bag
    yield "deque and defaultdict", [collections.deque([1], 3), collections.defaultdict(list, a=[1]), collections.Counter("ab")]
    yield "range, slice, complex", [range(3), slice(1, None, 2), 1 + 2j]


def written():
    for name, value in values():
        for protocol in range(6):
            try:
                data = pickle.dumps(value, protocol)
            except (pickle.PicklingError, TypeError, ValueError):
                continue  # getnewargs_ex, nested names: not before protocol 2 or 4
            inert = Inert(io.BytesIO(data), fix_imports=False).load()
            yield {"name": name, "protocol": protocol, "hex": data.hex(), "value": neutral(inert, {})}


def streams():
    texts = ["1", "-1", "+1", "01", "00", "0", "010", "08", "0x10", "-0x10", "0X1f", "0o17", "0b1", "1_0", "_1", "1_", " 1", "1 ", "\t2", "1L", "1l", "",
             "-", "--1", "1.0", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "00000000000000000000000", "1\0z", "+0", "-0", " 0", "٣",
             "0x", "0_0", "1e3", "True", "0x_f", "0xf_", "000", "0_", "0x8000000000000000", "-01", "+00", "\u00a01"]
    for text in texts:
        line = text.encode("utf-8") + b"\n"
        yield b"I" + line + b"."
        yield b"L" + line + b"."
        yield b"L" + text.encode("utf-8") + b"L\n."
        yield b"Np" + line + b"0Ng" + line + b"."
        yield b"K\x07p1\n0g" + line + b"."
    for text in ["1.5", "-1.5e3", "inf", "-inf", "nan", "Infinity", "-iNf", "1e999", " 1", "1 ", "1_0", "0x1p3", ".5", "5.", ".", "", "e5", "1e", "1\0z", "+1", "1e-999"]:
        yield b"F" + text.encode() + b"\n."
    for text in [b"'a'", b'"a"', b"'a", b"a", b"''", b"'", b"'a\"", b" 'a'", b"'a' ", b"'\\x41'", b"'\\x4'", b"'\\xzz'", b"'\\101\\1\\12'", b"'\\777'", b"'\\q'", b"'\\n\\t\\\\'",
                 b"'a\\'", b"'it's'", b"'\\N{DASH}'", b"'\\u0041'", b"'\\8'"]:
        yield b"S" + text + b"\n."
    for text in [b"", b"a", b"\\u0041", b"\\U0001f600", b"\\U00110000", b"\\u004", b"\\\\u0041", b"\\\\\\u0041", b"\\", b"\xe9", b"\\x41", b"\\ud800", b"\\u", b"\\U0000004"]:
        yield b"V" + text + b"\n."
    for text in [b"a", b"\xc3\xa9", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbfa", b"a\xed\xbf\xbfb\xed\xa0\x80", b"\xed\xa0", b"\xe2\x82"]:
        yield b"X" + struct.pack("<I", len(text)) + text + b"."
        yield b"\x8c" + bytes([len(text)]) + text + b"."
        yield b"\x8d" + struct.pack("<Q", len(text)) + text + b"."
    for data in [b"", b"\x00", b"\x7f", b"\x80", b"\xff", b"\xff\x00", b"\x00\x80", b"\xff" * 7, b"\xff" * 7 + b"\x00", b"\x00" * 20, b"\x01" * 255]:
        yield b"\x8a" + bytes([len(data)]) + data + b"."
        yield b"\x8b" + struct.pack("<i", len(data)) + data + b"."
    yield from [b"\x8b\xff\xff\xff\xff.", b"T\xff\xff\xff\xff.", b"T\x01\x00\x00\x00a.", b"U\x01a.", b"\x8e" + b"\x01" + bytes(7) + b"a.", b"\x96\x01" + bytes(7) + b"a.",
                b"B\x02\x00\x00\x00ab.", b"C\x01a.", b"J\xff\xff\xff\xff.", b"M\xff\xff.", b"G" + struct.pack(">d", 1.5) + b"."]
    # The stack, marks and the memo.
    yield from [b".", b"0.", b"N0.", b"NN.", b"(.", b"(N.", b"N(.", b"N(0.", b"(0.", b"N(1.", b"1.", b"N2.", b"2.", b"(2.", b"(N2t.", b"N(2.", b"]N(0a.", b"]Na.", b"](Na.", b"](a.", b"](e.", b"](NNe.", b"e.", b"(e.",
                b"]e.", b"](N]e.", b"(Na.", b"Na.", b"}NNs.", b"}Ns.", b"}(NNu.", b"}(Nu.", b"}(u.", b"}]Ns.", b"}(]Nu.", b"]NNs.", b"N(NNu.", b"(NNd.", b"(Nd.", b"(d.", b"(]Nd.", b"d.", b"(NNl.", b"l.", b"(Nt.", b"t.",
                b"N\x85.", b"\x85.", b"NN\x86.", b"N\x86.", b"N(N\x86.", b"NNN\x87.", b"NN\x87.", b"\x8f(N\x90.", b"\x8f(\x90.", b"\x8f(]\x90.", b"](N\x90.", b"(N\x91.", b"(]\x91.", b"\x91.", b")(N\x90.",
                b"Nq\x000h\x00.", b"h\x00.", b"q\x00.", b"(q\x00N.", b"Nr\xff\x00\x00\x000j\xff\x00\x00\x00.", b"N\x940h\x00.", b"]\x94h\x00a.", b"K\x01p5\n0K\x02\x940h\x01.", b"K\x01q\x05K\x02\x94h\x01.",
                b"K\x01q\x02K\x02\x94K\x03\x94K\x04\x94h\x02.", b"K\x01q\x00K\x02q\x00h\x00.", b"K\x01q\x01K\x02q\x00K\x03\x94h\x02.", b"(]q\x00N0h\x00t.",
                b"}K\x01K\x02sI01\nK\x03sG" + struct.pack(">d", 1.0) + b"K\x04s.", b"}I01\nK\x02sK\x01K\x03s.", b"}G" + struct.pack(">d", 0.0) + b"K\x02s.", b"}I00\nK\x02sK\x00K\x03s."]
    # Protocol and frames.
    yield from [b"\x80\x00N.", b"\x80\x05N.", b"\x80\x06N.", b"\x80\xffN.", b"N\x80\x02.", b"\x80\x02\x80\x04N.", b"\x80", b"\x95\x02" + bytes(7) + b"N.", b"\x95\x01" + bytes(7) + b"N.", b"\x95\x03" + bytes(7) + b"N.",
                b"\x95\x00" + bytes(7) + b"N.", b"\x95\x02" + bytes(7) + b"J\x01\x00\x00\x00.", b"\x95" + b"\xff" * 8 + b"N.", b"\x95\x0b" + bytes(7) + b"\x95\x02" + bytes(7) + b"N.", b"N.junk", b"", b"N", b"\x00.", b"\xff.",
                b"\x8d" + b"\xff" * 8 + b".", b"\x8e\x00\x00\x00\x00\x00\x01\x00\x00.", b"X\xff\xff\xff\xff.", b"\x97.", b"N\x98.", b"Ppid\n.", b"NQ.", b"\x82\x01.", b"\x82\x00.", b"\x83\x01\x00.", b"\x84\x01\x00\x00\x00."]
    # Names and calls of things that are no classes.
    yield from [b"cbuiltins\nint\n0N.", b"c\nint\n.", b"cbuiltins\n\n.", b"NN\x93.", b"X\x08\x00\x00\x00builtinsN\x93.", b"N)R.", b"](R.", b"NNb.", b"]}b.", b"}}b.", b"N)\x81.", b"NNN\x92.", b"(o.", b"o.", b"(No."]


def read():
    for data in dict.fromkeys(streams()):
        try:
            value = pickle.loads(data)
            yield {"hex": data.hex(), "value": {"is": neutral(value, {})}}
        except Exception:
            yield {"hex": data.hex(), "value": None}


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pickles.json"), "w") as file:
    rows = {"written": list(written()), "read": list(read())}
    file.write("{\n" + ",\n".join(json.dumps(key) + ": [\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in part) + "\n]" for key, part in rows.items()) + "\n}\n")

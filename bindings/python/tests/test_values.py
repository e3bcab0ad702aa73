"""The kinds of values, those that only Python has included."""

import datetime
import enum
import math
import pickle
import struct

import pytest

import tavola


class Color(enum.IntEnum):
    RED = 3


class Point:
    """An object that only pickle can store."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x


@pytest.mark.parametrize(
    "value",
    [0, -1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400, 0.0, -0.0, 1e308, 5e-324, 1.0, "", "x",
     "\0", b"", b"\0", True, False, None, [], {}, [[], {}], {"": [None, True, 1, 1.5, "ü"]},
     {"big": 2**70}, ["\u2028\x00\x1f\x7f\"\\"]],
    ids=repr,
)
def test_values_come_back_equal_and_of_their_type(table, value):
    table["k"] = value
    result = table["k"]
    assert result == value and type(result) is type(value)
    assert repr(result) == repr(value)
    assert table.get_many(["k"]) == {"k": value} and list(table.values()) == [value]


def test_floats_that_are_not_finite(table):
    for value in (math.inf, -math.inf):
        table["k"] = value
        assert table["k"] == value
    table["k"] = math.nan
    assert math.isnan(table["k"])


@pytest.mark.parametrize(
    "value",
    [(1,), {1: 2}, {1, 2}, Point(1), [Point(1)], {"a": (1,)}, {"a": math.nan}, ["\ud800"], 1j,
     datetime.date(2026, 1, 1), object()],
    ids=lambda value: type(value).__name__,
)
def test_objects_that_are_not_json_are_refused_without_a_serializer(table, value):
    table["k"] = "old"
    for write in (table.set, table.add, table.replace, table.swap):
        with pytest.raises(tavola.EncodeError, match="serializer"):
            write("k", value)
    with pytest.raises(TypeError):
        table.set_many({"k": value})
    assert table["k"] == "old"


def test_text_with_surrogates_is_refused_or_pickled(table, cache):
    with pytest.raises(UnicodeEncodeError):
        table["k"] = "\ud800"
    cache["k"] = "\ud800"
    assert cache["k"] == "\ud800"


def test_what_is_nested_too_deeply_is_refused(table):
    deep = []
    for _ in range(400):
        deep = [deep]
    table["k"] = deep
    assert table["k"] == deep
    for _ in range(200):
        deep = [deep]
    with pytest.raises(tavola.EncodeError, match="nested"):
        table["k"] = deep
    loop = []
    loop.append(loop)
    with pytest.raises(tavola.EncodeError):
        table["k"] = loop


def test_subclasses_of_scalars_are_stored_as_scalars(table):
    class Text(str):
        pass

    class Bytes(bytes):
        pass

    table.set_many({"i": Color.RED, "t": Text("abc"), "b": Bytes(b"x"), Text("key"): 1})
    assert table.get_many(["i", "t", "b", "key"]) == {"i": 3, "t": "abc", "b": b"x", "key": 1}
    assert type(table["i"]) is int and type(table["t"]) is str and type(table["b"]) is bytes


def test_bytearrays_and_memory_views_are_bytes(table):
    table["a"], table["b"] = bytearray(b"\x80a"), memoryview(b"xyz")[1:]
    assert table["a"] == b"\x80a" and table["b"] == b"yz"


def test_pickle_stores_any_object_and_leaves_scalars_readable(cache, table):
    values = {"p": Point(3), "t": (1, 2), "s": {1, 2}, "e": Color.RED, "d": {1: 2}, "n": None,
              "l": [1, "a"], "x": "text", "i": 5}
    cache.set_many(values)
    for key, value in values.items():
        assert cache[key] == value and type(cache[key]) is type(value)
    with tavola.open(cache.path) as plain:
        assert plain["x"] == "text" and plain["i"] == 5 and plain["l"] == [1, "a"]
        assert plain["n"] is None
        assert type(plain["p"]) is bytes and pickle.loads(plain["p"]) == Point(3)


def test_a_pickle_that_does_not_load_is_read_as_bytes(cache):
    cache.set_raw("k", b"\x80\x05broken", 0x54100000)
    assert cache["k"] == b"\x80\x05broken"
    cache.set_raw("k", b"cmissing_module\nThing\n.", 0x54100000)
    assert cache["k"] == b"cmissing_module\nThing\n."


def test_a_pickle_runs_no_code_unless_the_table_was_opened_so(table):
    class Evil:
        def __reduce__(self):
            return exec, ("import tavola; tavola.pwned = True",)

    table.set_raw("k", pickle.dumps(Evil()), 0x54100000)
    assert type(table["k"]) is bytes and not hasattr(tavola, "pwned")
    assert type(table.get_many(["k"])["k"]) is bytes
    assert type(dict(table.items())["k"]) is bytes and not hasattr(tavola, "pwned")


def test_a_serializer_of_the_user(table_name):
    class Pack:
        flags = 0x60000001

        def dumps(self, value):
            return struct.pack("<q", value.x)

        def loads(self, data):
            return Point(*struct.unpack("<q", data))

    with tavola.open(table_name, serializer=Pack()) as table:
        table["p"], table["text"] = Point(-5), "abc"
        assert table["p"] == Point(-5) and table["text"] == "abc"
        assert table.get_raw("p")[1] == 0x60000001
        table.set_raw("broken", b"x", 0x60000001)
        assert table["broken"] == b"x"
        with pytest.raises(AttributeError):
            table["q"] = object()
    with tavola.open(table_name) as plain:
        assert plain["p"] == struct.pack("<q", -5)


def test_serializers_are_checked(table_name):
    class Bad:
        def __init__(self, flags, dumped=b""):
            self.flags, self.dumped = flags, dumped

        def dumps(self, value):
            return self.dumped

        loads = dumps

    for flags in (0, 0x54010000, 0x54FFFFFF):
        with pytest.raises(tavola.OptionError, match="high byte"):
            tavola.open(table_name, serializer=Bad(flags))
    with pytest.raises(tavola.OptionError, match="unknown"):
        tavola.open(table_name, serializer="marshal")
    with pytest.raises(AttributeError):
        tavola.open(table_name, serializer=object())
    with tavola.open(table_name, serializer=Bad(1, "text")) as table:
        with pytest.raises(TypeError, match="did not return bytes"):
            table["k"] = Point(1)


def test_values_of_every_size(table):
    for size in (0, 1, 100, 4096, 65535, 65536, 65537, 300_000, 5_000_000):
        value = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        table["k"] = value
        assert table["k"] == value and table.get("k") == value
        assert bytes(table.view("k")) == value and table.value_size("k") == size
        table["k"] = text = "ü" * (size // 2)
        assert table["k"] == text
        assert table.get_many(["k"]) == {"k": text}

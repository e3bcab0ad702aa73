"""A table as a mapping, its options, and its errors."""

import copy
import datetime
import gc
import math
import pickle

import pytest

import tavola


class Point:
    """An object that only pickle can store."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x


def test_it_is_a_mutable_mapping(table):
    from collections.abc import MutableMapping

    assert isinstance(table, MutableMapping)
    table["a"], table["b"] = 1, 2
    assert dict(table) == {"a": 1, "b": 2} == table
    assert len(table) == 2 and "a" in table and "c" not in table
    assert sorted(table) == ["a", "b"] and sorted(table.values()) == [1, 2]
    assert ("a", 1) in table.items() and ("a", 2) not in table.items()
    assert "a" in table.keys() and 2 in table.values() and 5 not in table.values()
    del table["a"]
    with pytest.raises(KeyError, match="a"):
        table["a"]
    with pytest.raises(KeyError):
        del table["a"]
    assert table.pop("b") == 2
    with pytest.raises(KeyError):
        table.pop("b")
    with pytest.raises(KeyError):
        table.popitem()


def test_views_with_a_prefix_know_only_those_keys(table):
    table.update({"user:1": 1, "user:2": 2, "other": 3})
    assert len(table.keys("user:")) == 2 and len(table.items("x")) == 0
    assert "user:1" in table.keys("user:") and "other" not in table.keys("user:")
    assert table.keys(b"user:") & {"user:1", "other"} == {"user:1"}
    assert sorted(table.values("user:")) == [1, 2] and ("other", 3) not in table.items("user:")


def test_update_takes_what_dict_takes(table):
    table.update([("a", 1)], b=2)
    table.update({"c": 3})
    table.update(d=4)
    assert dict(table) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_keys_are_str_or_bytes(table):
    table[b"\xff\x00"] = 1
    table["ü"] = 2
    assert set(table) == {b"\xff\x00", "ü"}
    assert table["ü".encode()] == 2
    for key in (1, None, 1.5, ("a",), bytearray(b"a")):
        with pytest.raises(TypeError, match="a key is str or bytes"):
            table[key] = 1
        with pytest.raises(TypeError):
            table.get(key)
        with pytest.raises(TypeError):
            assert key not in table
    with pytest.raises(UnicodeEncodeError):
        table["\ud800"] = 1


def test_binary_keys_come_back_as_bytes(table_name):
    with tavola.open(table_name, binary_keys=True) as table:
        table["abc"] = 1
        assert list(table) == [b"abc"] and list(table.items("a")) == [(b"abc", 1)]
        table["k"] = 2
        assert dict(pickle.loads(pickle.dumps(table)))[b"k"] == 2


def test_arguments_of_get_and_set_are_checked(table):
    table.set("k", 1)
    assert table.get(key="k") == 1 and table.get("x", default=5) == 5
    table.set(value=2, key="k", ttl=5)
    assert table["k"] == 2
    table.set("k", 3, tags=None, ttl=None)
    for call in (
        lambda: table.get(),
        lambda: table.get("k", 1, 2),
        lambda: table.get("k", key="k"),
        lambda: table.get("k", other=1),
        lambda: table.set("k"),
        lambda: table.set(value=1),
        lambda: table.set("k", 1, 2, 3, 4),
        lambda: table.set("k", 1, wrong=2),
    ):
        with pytest.raises(TypeError):
            call()
    assert table["k"] == 3
    with pytest.raises(TypeError):
        tavola.Table.get(object(), "k")


def test_the_handle_counts_references_right(table):
    import sys

    key, value, default = "key" * 10, b"value" * 10, object()
    before = [sys.getrefcount(one) for one in (key, value, default)]
    for _ in range(1000):
        table.set(key, value, ttl=5)
        table[key] = value
        assert table.get(key) == value and table.get("missing", default) is default
        with pytest.raises(KeyError):
            table["missing"]
        table.get_many([key])
        table.set_many({key: value})
    assert [sys.getrefcount(one) for one in (key, value, default)] == before


def test_a_view_keeps_its_value(table_name):
    table = tavola.open(table_name)
    value = bytes(range(251)) * 4000
    table["k"] = value
    view = table.view("k")
    data, pieces = view.data, view.pieces
    part = pieces[-1][-10:]
    assert view.is_lent and len(view) == len(value)
    table["k"] = b"other"
    table.clear()
    table.close()
    del table
    assert data == value and b"".join(pieces) == value
    del view, pieces, data
    gc.collect()
    assert part == value[-10:]
    with pytest.raises(TypeError):
        part[0] = 1


def test_a_view_of_nothing(table):
    assert table.view("missing") is None and table.view("missing", 5) == 5
    table["k"] = b""
    assert bytes(table.view("k")) == b"" and table.view("k").data == b""


def test_times_are_numbers_or_timedeltas(table):
    table.set("k", 1, ttl=datetime.timedelta(minutes=2))
    assert 119 < table.ttl("k") <= 120
    table.set("k", 1, ttl=0.5)
    assert 0 < table.ttl("k") <= 0.5
    table.set("k", 1, ttl=tavola.NEVER)
    assert table.ttl("k") is None
    for ttl in (0, -1, datetime.timedelta(0)):
        with pytest.raises(tavola.OptionError, match="the option ttl is invalid: it is 0"):
            table.set("k", 2, ttl=ttl)
    with pytest.raises(tavola.OptionError, match="not a number"):
        table.set("k", 2, ttl=math.nan)
    with pytest.raises(TypeError, match="timedelta"):
        table.set("k", 2, ttl="5")
    assert table["k"] == 1


def test_a_key_that_expired_is_missing(table):
    table.set("k", 1, ttl=0.001)
    while table.get("k") is not None:
        pass
    assert "k" not in table and list(table) == [] and len(table) == 0


def test_errors_have_classes_and_the_sentences_of_the_library(table, table_name):
    with pytest.raises(FileNotFoundError, match="there is no table at") as raised:
        tavola.open("missing", create=False)
    assert raised.value.errno == 2 and raised.value.filename.endswith("missing")
    assert isinstance(raised.value, tavola.TableNotFoundError)
    with pytest.raises(FileExistsError, match="already exists"):
        tavola.open(table_name, create="new")
    with pytest.raises(tavola.BadNameError, match="begins with a dot"):
        tavola.open(".hidden")
    with pytest.raises(ValueError, match="a power of two"):
        tavola.open("x", shards=3)
    with pytest.raises(tavola.NotATableError):
        tavola.open(__file__, any_owner=True)
    with pytest.raises(tavola.OptionError, match="create"):
        tavola.open("x", create="maybe")
    with pytest.raises(TypeError):
        tavola.open("x", unknown=1)
    reader = tavola.open(table_name, read_only=True)
    with pytest.raises(tavola.ReadOnlyError, match="read-only"):
        reader["k"] = 1
    table["t"] = "text"
    with pytest.raises(tavola.NotACounterError):
        table.incr("t")
    assert issubclass(tavola.BusyError, TimeoutError)


def test_a_closed_table_says_so(table_name):
    table = tavola.open(table_name)
    table["k"] = 1
    scan = iter(table)
    table.close()
    table.close()
    assert table.closed and "closed" in repr(table)
    for call in (lambda: table["k"], lambda: table.set("k", 1), lambda: len(table), table.stats,
                 lambda: list(table), lambda: table.incr("n"), lambda: table.get_many(["k"])):
        with pytest.raises(tavola.ClosedError, match="closed"):
            call()
    assert list(scan) == ["k"]


def test_handles_are_pickled_and_copied_by_path(table, cache):
    table["k"] = 1
    other = pickle.loads(pickle.dumps(table))
    assert other["k"] == 1 and other is not table
    cache["p"] = Point(1)
    assert pickle.loads(pickle.dumps(cache))["p"] == Point(1)
    assert copy.copy(cache)["p"] == Point(1)
    with tavola.open("private", private=True, max_size=1 << 20) as private:
        private["a"] = 1
        assert private["a"] == 1 and private.private
        with pytest.raises(TypeError, match="private"):
            pickle.dumps(private)
    assert "private" not in tavola.list_tables()


def test_names(table_name):
    tavola.open(table_name).close()
    assert table_name in tavola.list_tables()
    tavola.rename(table_name, table_name + "-2")
    assert tavola.find(table_name) is None
    with tavola.find(table_name + "-2") as found:
        assert tavola.path_of(table_name + "-2") == found.path
    tavola.remove(table_name + "-2")
    with pytest.raises(tavola.TableNotFoundError):
        tavola.remove(table_name + "-2")


def test_a_table_that_was_replaced_is_opened_again(table, table_name):
    table["k"] = "old"
    assert not table.refresh()
    tavola.remove(table_name)
    with tavola.open(table_name) as new:
        new["k"] = "new"
    assert table["k"] == "old"
    assert table.refresh() and table["k"] == "new"


def test_options_of_a_new_table(table_name):
    with tavola.open(table_name, capacity=4 << 20, ttl=60, shards=4, mode=0o640) as table:
        stats = table.stats()
        assert stats["capacity"] == 4 << 20 and stats["ttl_ms"] == 60_000 and stats["shards"] == 4
        import os

        assert os.stat(table.path).st_mode & 0o777 == 0o640
        for n in range(100_000):
            table[str(n)] = b"x" * 100
        assert table.stats()["resident_bytes"] <= 4 << 20 and table.stats()["evicted_new"] > 0


def test_a_scan_meets_every_key_that_stays(table):
    table.set_many({f"stay:{n}": n for n in range(5000)})
    seen, written = set(), 0
    for key in table:
        seen.add(key)
        table[f"new:{written}"] = written
        written += 1
        if written > 20_000:
            break
    assert {key for key in seen if key.startswith("stay:")} == {f"stay:{n}" for n in range(5000)}


def test_two_scans_and_a_scan_in_a_scan(table):
    table.set_many({str(n): n for n in range(1000)})
    pairs = sum(1 for _ in table for _ in zip(range(3), table.items()))
    assert pairs == 3000


def test_uids(table_name):
    with tavola.open(table_name, uids=True) as table:
        table["a"] = [1, 2]
        uid = table.uid_of("a")
        assert table.get_by_uid(uid) == [1, 2] and table.key_of_uid(uid) == "a"
        assert table.delete_by_uid(uid) and not table.delete_by_uid(uid)
        assert table.get_by_uid(uid, "gone") == "gone" and table.key_of_uid(uid) is None
        assert table.uid_of("a") is None


def test_tag_handles_notice_an_invalidation_in_between(table):
    tags = table.tags("news")
    assert len(tags) == 1
    table.invalidate("news")
    table.set("page", "made of old data", tags=tags)
    assert table.get("page") is None
    table.set_many({"a": 1, "b": 2}, tags=["news", "x"])
    assert table.tags_of("a") == ["news", "x"] and table.tags_of("missing") is None
    assert table.invalidate("x") and dict(table) == {}


def test_swap_with_attributes(table):
    assert table.swap("k", 1, default="none", ttl=60, tags="t") == "none"
    assert 59 < table.ttl("k") <= 60 and table.tags_of("k") == ["t"]
    assert table.swap("k", 2) == 1 and table.ttl("k") is None and table.tags_of("k") == []


def test_cas_of_a_missing_key_is_explained(table):
    value, token = table.gets("k")
    assert (value, token) == (None, None) and table.gets("k", 5) == (5, None)
    with pytest.raises(tavola.OptionError, match="use add"):
        table.cas("k", 1, token)


def test_counters_that_are_removed_at_zero(table):
    assert table.incr("refs", 2, remove_zero=True) == 2
    assert table.decr("refs", 2, remove_zero=True) == 0 and "refs" not in table
    assert table.incr("n", 1, initial=-1, remove_zero=True) == 0
    with pytest.raises(OverflowError):
        table.incr("n", 2**63)


def test_a_table_is_compared_by_content_and_not_hashable(table, cache):
    table["a"] = cache["a"] = 1
    assert table == cache == {"a": 1} and table != {"a": 2}
    with pytest.raises(TypeError):
        hash(table)


def test_a_name_may_be_a_path(tmp_path):
    path = tmp_path / "table"
    for name in (path, str(path), bytes(path)):
        with tavola.open(name) as table:
            table.incr("n")
            assert table.path == str(path) == tavola.path_of(name)
    with tavola.open(path) as table:
        assert table["n"] == 3 and table.copy_to(tmp_path / "copy") == 1
    tavola.rename(path, tmp_path / "other")
    tavola.remove(tmp_path / "other")
    with tavola.Queue(tmp_path / "queue") as queue, tavola.Log(tmp_path / "log") as log:
        assert queue.empty() and log.read() == []
    with pytest.raises(TypeError):
        tavola.open(5)

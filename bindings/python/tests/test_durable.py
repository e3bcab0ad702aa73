"""Durable tables: what is there after the memory was lost, as it is by a restart of the machine."""

import contextlib
import datetime
import os
import pathlib
import pickle
import resource
import shelve
import shutil
import struct
import sys
import tempfile
import threading
import time

import pytest
from processes import LIMIT, finish, forked, kill, reap, start

import tavola
import tavola.dbm

#: Where the file `table` of a durable table has its policy and the milliseconds of that.
POLICY = 72
COMMIT, WITHIN, OS = 0, 1, 2


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The path of a durable table that is not there yet, in memory of its own."""
    memory = tempfile.mkdtemp(prefix="tavola-python-", dir="/dev/shm")
    monkeypatch.setenv("TAVOLA_DIR", memory)
    yield tmp_path / "home"
    shutil.rmtree(memory)


def lose_memory():
    """Remove the memory of the table, as a restart of the machine does."""
    (memory,) = pathlib.Path(os.environ["TAVOLA_DIR"]).glob("durable-*")
    memory.unlink()


def policy_of(home):
    return struct.unpack_from("=QQ", (home / "table").read_bytes(), POLICY)


def die_after(change, home, **options):
    """Open the table in a child, change it, and kill the child in the next moment."""

    def child():
        table = tavola.open(home, **options)
        change(table)
        os.kill(os.getpid(), 9)

    reap(forked(child), 9)


def test_a_call_for_many_keys_waits_once(home):
    with tavola.open(home, durable="commit") as table:
        values = {f"many:{i}": i for i in range(200)}
        tags = table.tags("tag")
        calls = {
            "set": lambda: table.set("many:1", 1),
            "set_many": lambda: table.set_many(values),
            "tags": lambda: table.set_many(values, ttl=100, tags=tags),
            "delete_many": lambda: table.delete_many([*values, "none"]),
        }
        for name, call in calls.items():
            before = table.stats()["syncs"]
            result = call()
            assert table.stats()["syncs"] == before + 1, name
        assert result == 200
        assert table.stats()["unsynced_bytes"] == 0


def test_the_policy_of_a_handle(home):
    with tavola.open(home, durable=0.05) as table:
        assert table.durability == 0.05
        with tavola.open(home, durable="commit") as strict:
            assert strict.durability == "commit"
        with tavola.open(home, read_only=True) as reader:
            assert reader.is_durable and reader.durability is None


def test_lists_name_the_directory_and_not_the_memory(home):
    with tavola.open(home, durable="os"), tavola.open("plain"):
        assert sorted(tavola.list_tables()) == sorted([str(home), "plain"])
        (memory,) = pathlib.Path(os.environ["TAVOLA_DIR"]).glob("durable-*")
        with pytest.raises(ValueError, match="name that instead"):
            tavola.remove(memory)
        for name in tavola.list_tables():
            tavola.find(name).close()


def test_all_that_another_process_wrote_comes_back(home):
    finish(start("""if True:
        import sys, tavola
        table = tavola.open(sys.argv[1], durable="os", serializer="pickle")
        table["text"], table["number"], table["json"] = "ü", 7, {"a": [1, None]}
        table["object"] = {1, 2}
        table.set("tagged", "page", ttl=1000, tags=["news"])
        table.set("invalid", "page", tags=["old"])
        table.set_raw("raw", b"\\0", 5)
        table.incr("counter", 41)
        table.set("gone", 1)
        del table["gone"]
        table.invalidate("old")
        table["large"] = b"x" * 1_000_000
        table.set_many({f"k{i}": i for i in range(200)})
    """, home))
    lose_memory()
    with tavola.open(home, serializer="pickle") as table:
        assert table.is_durable and table.durability == "os"
        assert (table["text"], table["number"], table["json"]) == ("ü", 7, {"a": [1, None]})
        assert table["object"] == {1, 2} and table["large"] == b"x" * 1_000_000
        assert table.get_raw("raw") == (b"\0", 5) and table.incr("counter") == 42
        assert "gone" not in table and "invalid" not in table
        assert table.get_many([f"k{i}" for i in range(200)]) == {f"k{i}": i for i in range(200)}
        assert 900 < table.ttl("tagged") <= 1000 and table.ttl("text") is None
        table.invalidate("news")
        assert "tagged" not in table and table.check()["is_clean"]


CHANGES = {
    "set": lambda t: t.set("k", "new"),
    "item": lambda t: t.__setitem__("k", "new"),
    "large": lambda t: t.set("k", "new" * 100_000),
    "set_many": lambda t: t.set_many({"k": "new", "other": 1}),
    "append": lambda t: t.append("k", "new"),
    "cas": lambda t: t.cas("k", "new", t.gets("k")[1]),
    "swap": lambda t: t.swap("k", "new"),
    "delete": lambda t: t.delete("k"),
    "delete_many": lambda t: t.delete_many(["k"]),
    "take": lambda t: t.take("k"),
    "incr": lambda t: t.incr("n", 5),
    "touch": lambda t: t.touch("k", 1000),
    "invalidate": lambda t: t.invalidate("tag"),
    "compute": lambda t: t.get_or_compute("c", lambda: "new"),
    "transact": lambda t: t.transact(lambda t: (t.set("k", "new"), t.incr("n"), t.delete("d"))),
    "savepoint": lambda t: t.transact(lambda t: (t.set("k", "new"), t.roll_back_to(0))),
}


def state(table):
    """Return all keys with what belongs to them; a TTL in hundreds of seconds."""
    ttls = {key: table.ttl(key) for key in table}
    return {key: (table.get_raw(key), ttl and round(ttl, -2)) for key, ttl in ttls.items()}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_killed_process_is_on_disk_when_it_has_returned(home, change, tmp_path):
    def fill(table):
        table.set("k", "old", tags=["tag"])
        table.update({"n": 1, "d": 2})

    with tavola.open(home, durable="commit") as table:
        fill(table)
    die_after(CHANGES[change], home)
    lose_memory()
    with tavola.open(tmp_path / "twin") as twin, tavola.open(home) as table:
        fill(twin)
        CHANGES[change](twin)
        assert state(table) == state(twin)


def test_a_handle_may_be_stricter_than_its_table(home):
    tavola.open(home, durable="os").close()
    assert policy_of(home)[0] == OS
    die_after(lambda table: table.set("k", 1), home, durable="commit", create=False)
    lose_memory()
    assert tavola.open(home)["k"] == 1


@pytest.mark.parametrize("given, policy", [
    ("commit", (COMMIT, 0)), ("os", (OS, 0)), (0.05, (WITHIN, 50)), (2, (WITHIN, 2000)),
    (0.0001, (WITHIN, 1)), (datetime.timedelta(milliseconds=20), (WITHIN, 20)),
])
def test_the_policy_is_that_of_the_table(home, given, policy):
    tavola.open(home, durable=given).close()
    assert policy_of(home) == policy


def test_sync_and_snapshot(home):
    def change(table):
        table["k"] = 1
        table.sync()

    die_after(change, home, durable=3600)
    lose_memory()
    with tavola.open(home) as table:
        assert table["k"] == 1 and table.snapshot() is True
        assert list(home.glob("snapshot-*"))
    lose_memory()
    assert tavola.open(home)["k"] == 1


def test_a_block_that_does_not_commit_leaves_nothing(home):
    def change(table):
        with contextlib.suppress(ZeroDivisionError), table.transaction() as t:
            t["a"] = 1
            1 / 0
        with table.transaction(once=True) as t:
            t["b"] = t.get("a", "none")

    die_after(change, home, durable="commit")
    lose_memory()
    assert dict(tavola.open(home)) == {"b": "none"}


WAITS = {
    "set": lambda t: t.set("n", 1),
    "incr": lambda t: t.incr("sum"),
    "transact": lambda t: t.transact(lambda t: t.set("n", 2)),
    "sync": lambda t: t.sync(),
}


@pytest.mark.parametrize("call", WAITS)
def test_other_threads_run_while_a_call_waits_for_the_disk(home, call):
    """Without the switch interval, they run only if the call releases the interpreter's lock."""
    table, turns, stop = tavola.open(home, durable="commit"), [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    sys.setswitchinterval(2 * LIMIT)
    try:
        thread.start()
        before, until = len(turns), time.monotonic() + LIMIT / 4
        while len(turns) == before and time.monotonic() < until:
            WAITS[call](table)
        assert len(turns) > before
    finally:
        sys.setswitchinterval(0.005)
        stop.set()
        thread.join(LIMIT)


def test_a_table_is_handed_to_processes_and_opened_by_its_path(home):
    table = tavola.open(home, durable=0.01)
    table["a"] = 1
    again = pickle.loads(pickle.dumps(table))
    assert again["a"] == 1 and again.is_durable and again.path == str(home)
    with tavola.open(home, read_only=True) as reader:
        assert reader.is_durable and reader["a"] == 1
        with pytest.raises(tavola.ReadOnlyError):
            reader.sync()
    assert not table.refresh()
    again.close()
    table.close()
    tavola.rename(home, home.with_name("other"))
    assert tavola.open(home.with_name("other"))["a"] == 1


def test_remove(home):
    table = tavola.open(home, durable="os")
    tavola.remove(home)
    assert not home.exists() and tavola.find(home) is None
    table.close()
    assert os.listdir(os.environ["TAVOLA_DIR"]) == []


@pytest.mark.parametrize("given", ["always", 0, -1, True, float("nan"), float("inf")])
def test_an_invalid_policy_is_refused(home, given):
    with pytest.raises(tavola.OptionError, match="durable"):
        tavola.open(home, durable=given)
    assert not home.exists()


def test_what_is_not_durable_says_so(home, table_name):
    with tavola.open(table_name) as table:
        assert table.is_durable is False and table.durability is None
        assert "syncs" not in table.stats()
        for call in (table.sync, table.snapshot):
            with pytest.raises(tavola.OptionError, match="only in memory"):
                call()
        with pytest.raises(tavola.OptionError, match="only in memory"):
            tavola.open(table_name, durable="os")
    with pytest.raises(tavola.OptionError, match="a cache is not durable"):
        tavola.open(home, durable="os", capacity=8 << 20)
    assert not home.exists()
    with pytest.raises(tavola.OptionError, match="private"):
        tavola.open("private", durable="os", private=True)
    with pytest.raises(TypeError):
        tavola.open(home, durable=[])


def test_a_key_may_be_too_long(home):
    with tavola.open(home, durable="os") as table:
        table["k" * 8192] = 1
        with pytest.raises(tavola.KeyTooLongError) as raised:
            table["k" * 8193] = 1
        assert raised.value.status == "KEY_TOO_LONG" and isinstance(raised.value, ValueError)
        assert "8192" in str(raised.value) and len(table) == 1


def test_a_disk_that_fails(home):
    """The limit of a file's size makes a write fail as a broken disk does."""

    def child():
        table = tavola.open(home, durable="commit")
        table["before"] = 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        with pytest.raises(tavola.NotDurableError) as raised:
            table["unsure"] = 1
        assert raised.value.status == "NOT_DURABLE" and isinstance(raised.value, OSError)
        assert raised.value.errno and raised.value.filename == str(home)
        with pytest.raises(tavola.NotDurableError):
            table["after"] = 1
        assert table["before"] == 1 and "after" not in table
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        while not table.snapshot():
            pass
        table["mended"] = 1

    reap(forked(child))
    lose_memory()
    assert sorted(tavola.open(home)) == ["before", "mended", "unsure"]


def test_damaged_files(home):
    with tavola.open(home, durable="commit") as table:
        table["a"], table["b"] = "first", "second"
    lose_memory()
    for journal in home.glob("journal-*"):
        bytes = journal.read_bytes()
        journal.write_bytes(bytes.replace(b"first", b"FIRST"))
    with pytest.raises(tavola.DamagedJournalError) as raised:
        tavola.open(home)
    assert raised.value.status == "DAMAGED_JOURNAL" and raised.value.filename.startswith(str(home))


def test_a_table_that_others_use_in_lost_memory(home):
    ready, begun = os.pipe()
    go, stop = os.pipe()

    def child():
        table = tavola.open(home, durable="commit")
        os.write(begun, b"x")
        os.read(go, 1)
        table["late"] = 1

    pid = forked(child)
    assert os.read(ready, 1) == b"x"
    lose_memory()
    with pytest.raises(tavola.InUseElsewhereError) as raised:
        tavola.open(home)
    assert raised.value.status == "IN_USE_ELSEWHERE" and raised.value.filename == str(home)
    os.write(stop, b"x")
    reap(pid)
    assert tavola.open(home)["late"] == 1
    for end in (ready, begun, go, stop):
        os.close(end)


def test_dbm_and_shelve(home):
    with shelve.Shelf(tavola.dbm.open(home, "c", durable=60)) as shelf:
        shelf["k"] = {"a": (1, 2)}
        shelf.sync()
        assert tavola.dbm.whichdb(home) == "tavola.dbm"
    lose_memory()
    with shelve.Shelf(tavola.dbm.open(home, "r")) as shelf:
        assert shelf["k"] == {"a": (1, 2)}
        shelf.dict.sync()
    with tavola.dbm.open(home, "n", durable="commit") as db:
        assert db.keys() == []
    assert policy_of(home)[0] == COMMIT


def test_sync_of_dbm_is_that_of_the_table(home):
    def child():
        db = tavola.dbm.open(home, "c", durable=3600)
        db["k"] = "v"
        db.sync()
        os.kill(os.getpid(), 9)

    reap(forked(child), 9)
    lose_memory()
    assert tavola.dbm.open(home)["k"] == b"v"


def test_what_django_keeps_may_be_durable(home):
    import tavola.django

    params = {"OPTIONS": {"durable": "commit"}}
    cache = tavola.django.TavolaCache(str(home), params)
    cache.set("session", {"user": (1, 2)}, 1000)
    cache.table.close()
    lose_memory()
    cache = tavola.django.TavolaCache(str(home), params)
    assert cache.get("session") == {"user": (1, 2)} and cache.table.stats()["capacity"] is None


def test_sessions_of_flask(home):
    from flask import Flask, session

    import tavola.flask_session

    def app():
        app = Flask("shop")
        app.session_interface = tavola.flask_session.TavolaSessions(home, durable="commit")

        @app.route("/<word>")
        def add(word):
            session["words"] = [*session.get("words", []), word]
            return ",".join(session["words"])

        return app

    first = app()
    client = first.test_client()
    assert client.get("/a").text == "a"
    cookie = client.get_cookie("session").value
    first.session_interface.table.close()
    lose_memory()
    second = app()
    client = second.test_client()
    client.set_cookie("session", cookie)
    assert client.get("/b").text == "a,b"
    assert second.session_interface.table.is_durable


def test_a_killed_process_holds_nobody_up(home):
    ready, begun = os.pipe()

    def child():
        table = tavola.open(home, durable="commit")
        for number in range(10**9):
            table["n"] = number
            if number == 10:
                os.write(begun, b"x")

    with tavola.open(home, durable="commit") as table:
        pid = forked(child)
        assert os.read(ready, 1) == b"x"
        kill(pid)
        table["mine"] = 1
        assert table["n"] >= 10 and table.check()["is_clean"]
    os.close(ready), os.close(begun)

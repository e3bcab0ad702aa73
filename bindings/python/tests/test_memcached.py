"""The client of memcached: its calls on memcached, `tavola serve` and a table, and its options."""

import signal
import subprocess
import sys
import time
import tracemalloc
import zlib

import memcached_servers as servers
import pytest
from processes import finish, start

import tavola
from tavola import memcached
from tavola.memcached import Client, HashClient, PooledClient

#: So long that no machine is too busy.
PATIENT = {"timeout": 60, "connect_timeout": 60}


@pytest.fixture(params=["memcached", pytest.param("served", marks=pytest.mark.slow), "table"])
def place(request, running, table_name):
    """What a client is given as its server: each kind there is."""
    if request.param == "memcached":
        yield running[0].address
    elif request.param == "table":
        yield f"tavola:{table_name}"
    else:
        server = servers.served(table_name)
        yield server.address
        server.kill()


@pytest.fixture
def client(place, prefix):
    with Client(place, key_prefix=prefix, default_noreply=False, **PATIENT) as client:
        yield client


def test_stores(client):
    assert client.set("k", b"1") is True and client.get("k") == b"1"
    assert client.add("k", b"2") is False and client.add("new", b"2") is True
    assert client.replace("k", b"3") is True and client.replace("none", b"3") is False
    assert client.append("k", b"4") is True and client.append("none", b"4") is False
    assert client.prepend("k", b"2") is True and client.prepend("none", b"2") is False
    assert client.get("k") == client.get(b"k") == b"234"
    assert client.delete("k") is True and client.delete("k") is False
    assert client.get("k") is None and client.get("k", "other") == "other"
    assert client.add("new", b"2", noreply=True) is True and client.get("new") == b"2"


def test_unique_numbers(client):
    assert client.cas("k", b"1", 1) is None and client.gets("k") == (None, None)
    client.set("k", b"1")
    value, number = client.gets("k")
    assert value == b"1" and client.cas("k", b"2", number) is True
    for old in (number, str(number), str(number).encode()):
        assert client.cas("k", b"3", old) is False
    assert client.gets_many(["k", "none"]) == {"k": client.gets("k")}
    assert client.gets("none", 1, 2) == (1, 2) and client.gats("none", 9, 1, 2) == (1, 2)
    assert client.gats("k", 60) == client.gets("k") and client.gat("k", 60) == b"2"
    for wrong in (-1, "x", b"", None, 1 << 64):
        with pytest.raises(memcached.MemcacheIllegalInputError):
            client.cas("k", b"3", wrong)


def test_counters(client):
    assert client.incr("n", 1) is None and client.decr("n", 1) is None
    client.set("n", 5)
    assert client.incr("n", 2) == 7 and client.decr("n", 9) == 0
    assert client.incr("n", (1 << 64) - 1, noreply=True) is None
    assert client.get("n") == b"18446744073709551615"
    client.set("text", "x")
    with pytest.raises(memcached.MemcacheClientError, match="non-numeric"):
        client.incr("text", 1)
    for wrong in (-1, 1 << 64, b"1", 1.5, None):
        with pytest.raises(memcached.MemcacheIllegalInputError):
            client.incr("n", wrong)


def test_expiry(client):
    assert client.touch("k", 60) is False
    client.set("k", b"1", expire=-1)
    assert client.get("k") is None
    client.set_many({"a": b"1", "b": b"2"}, expire=60)
    assert client.touch("a", -1) is True and client.get("a") is None
    assert client.gat("b", -1) == b"2" and client.get("b") is None
    for wrong in (1.5, "1", 1 << 31):
        with pytest.raises(memcached.MemcacheIllegalInputError, match="expire"):
            client.set("k", b"1", expire=wrong)


def test_many(client):
    values = {f"key:{number}": b"%d" % number for number in range(500)}
    assert client.set_many(values) == [] and client.set_multi(list(values.items())) == []
    assert client.get_many([*values, "none"]) == client.get_multi(iter(values)) == values
    assert client.get_many(["key:1", b"key:1"]) == {"key:1": b"1", b"key:1": b"1"}
    assert client.delete_many(list(values)[:300]) is True and client.delete_multi([]) is True
    assert len(client.get_many(values)) == 200 and client.get_many([]) == {}


def test_values_of_all_lengths(client):
    lengths = [0, 1, 1000, 16 << 10, (16 << 10) - 1, 100_000, 900_000]
    lengths += [20_000] * 20
    values = {f"key:{number}": bytes([number]) * n for number, n in enumerate(lengths)}
    assert client.set_many(values) == []
    assert client.get_many(values) == values
    for key, value in values.items():
        assert client.get(key) == value


def test_values_without_a_serde(client, place, prefix):
    for value, stored in [
        ("text", b"text"), (-5, b"-5"), (1.5, b"1.5"), (bytearray(b"a"), b"a"),
        (memoryview(b"ab"), b"ab"), (b"\x00\r\n\xff", b"\x00\r\n\xff"),
    ]:
        client.set("k", value)
        assert client.get("k") == stored and type(client.get("k")) is bytes
    for wrong in ("é", None, [1], True, {}):
        with pytest.raises(memcached.MemcacheIllegalInputError):
            client.set("k", wrong)
    for encoding, stored in [("utf-8", b"\xc3\xa9"), ("UTF8", b"\xc3\xa9"), ("latin-1", b"\xe9")]:
        with Client(place, key_prefix=prefix, encoding=encoding, **PATIENT) as other:
            other.set("k", "é")
            assert other.get("k") == stored


def test_keys(client, place, prefix):
    client.set(b"\xff\x01", b"1")
    assert client.get(b"\xff\x01") == b"1"
    most = 250 - len(prefix)
    assert client.set("k" * most, b"1") is True and client.get("k" * most) == b"1"
    wrong = ["", b"", "a b", "a\r\nb", "a\n", "\ta", b"a\x0bb", "a\x00", "k" * (most + 1), "é"]
    for key in wrong:
        for call in (client.get, client.delete, lambda key: client.set(key, b"1")):
            with pytest.raises(memcached.MemcacheIllegalInputError, match="the key .* is invalid"):
                call(key)
        with pytest.raises(memcached.MemcacheIllegalInputError):
            client.get_many(["k", key])
        with pytest.raises(memcached.MemcacheIllegalInputError):
            client.set_many({"k": b"1", key: b"1"})
    with pytest.raises(TypeError):
        client.get(5)
    with Client(place, allow_unicode_keys=True, **PATIENT) as other:
        other.set("ключ", b"1")
        assert other.get("ключ") == other.get("ключ".encode()) == b"1"
        with pytest.raises(memcached.MemcacheIllegalInputError):
            other.get("é" * 126)


def test_it_looks_like_a_dict(client):
    client["k"] = b"1"
    assert client["k"] == b"1" and "k" in client and "none" not in client
    del client["k"]
    with pytest.raises(KeyError):
        client["k"]
    with pytest.raises(TypeError):
        iter(client)


def test_figures_and_flush(place, prefix):
    with Client(place, key_prefix=prefix, **PATIENT) as client:
        client.set("k", b"1")
        stats = client.stats()
        assert type(stats[b"pid"]) is int and stats[b"hash_is_expanding"] is False
        assert type(stats[b"rusage_user"]) is float and stats[b"version"] == client.version()
        assert client.stats("settings")[b"cas_enabled"] is True
        for call in (client.close, client.quit, client.disconnect_all):
            call()
            assert client.get("k") == b"1"
        assert client.flush_all() is True and client.get("k") is None


def test_what_the_server_refuses(place, prefix):
    with Client(place, key_prefix=prefix, **PATIENT) as client:
        client.set("k", b"1")
        if isinstance(place, str):
            # A table has no limit of 1 MiB.
            assert client.set("k", b"x" * (3 << 20)) is True
            assert client.get("k") == b"x" * (3 << 20)
            return
        with pytest.raises(memcached.MemcacheServerError, match="too large") as raised:
            client.set("k", b"x" * (3 << 20))
        assert not isinstance(raised.value, OSError) and isinstance(raised.value, tavola.Error)
        with pytest.raises(memcached.MemcacheServerError):
            client.set_many({"a": b"1", "b": b"x" * (3 << 20), "c": b"3"})
        assert client.get_many("abc") == {"a": b"1", "c": b"3"}


def test_serdes_of_the_package(place, prefix):
    values = ["text", b"bytes", 5, -(1 << 80), 1.5, None, True, [1, {"a": [None]}], "é"]
    for serde in ("json", "pickle"):
        with Client(place, key_prefix=prefix, serde=serde, **PATIENT) as client:
            for value in values:
                client.set("k", value)
                found = client.get("k")
                assert found == value and type(found) is type(value)
                assert client.get_many(["k"]) == {"k": value}
    with Client(place, key_prefix=prefix, serde="pickle", **PATIENT) as client:
        client.set("k", {1, 2})
        assert client.get("k") == {1, 2}
    with Client(place, key_prefix=prefix, serde="json", **PATIENT) as client:
        assert type(client.get("k")) is bytes
        with pytest.raises(tavola.EncodeError):
            client.set("k", {1, 2})


def test_a_table_behind_a_client_has_the_same_objects(table_name):
    client = Client(f"tavola:{table_name}", serde="json")
    client.set("k", {"a": [1, 2.5]}, expire=60)
    with tavola.open(table_name) as table:
        assert table["k"] == {"a": [1, 2.5]} and 59 < table.ttl("k") <= 60
        table["other"] = "text"
    assert client.get("other") == "text"


def test_serdes_of_the_caller(client, place, prefix):
    class Reversed:
        def serialize(self, key, value):
            return f"{key}={value}"[::-1], 7

        def deserialize(self, key, value, flags):
            if value == b"!":
                raise LookupError("from the serde")
            return key, value[::-1], flags

    with Client(place, serde=Reversed(), key_prefix=prefix, **PATIENT) as other:
        other.set("k", "v")
        assert other.get("k") == ("k", b"k=v", 7)
        other.set(b"k", "v", flags=9)
        assert other.get_many([b"k"]) == {b"k": (b"k", b"b'k'=v", 9)}
        client.set("k", b"!")
        with pytest.raises(LookupError):
            other.get("k")
    functions = {"serializer": lambda key, value: (repr(value), 3),
                 "deserializer": lambda key, value, flags: (value, flags)}
    with Client(place, key_prefix=prefix, **functions, **PATIENT) as other:
        other.set("k", [1])
        assert other.get("k") == (b"[1]", 3)


def test_a_value_that_grows_too_long_is_an_error(client, place, prefix):
    most = 1 << 20
    bomb = zlib.compress(bytes(64 << 20))
    flags = memcached.FLAG_COMPRESSED
    serde = memcached.PickleSerde(max_decompressed=most)
    with Client(place, key_prefix=prefix, serde=serde, **PATIENT) as other:
        for length in (0, 1, most):
            client.set("k", zlib.compress(bytes(length)), flags=flags)
            assert other.get("k") == bytes(length)
        client.set("k", zlib.compress(bytes(most + 1)), flags=flags)
        with pytest.raises(memcached.MemcacheError, match="max_decompressed"):
            other.get("k")
        # A damaged value is returned unchanged.
        client.set("k", bomb[:-1][:500], flags=flags)
        assert other.get("k") == bomb[:500]
        client.set("k", bomb, flags=flags)
        tracemalloc.start()
        with pytest.raises(memcached.MemcacheError, match="max_decompressed"):
            other.get_many(["k"])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * most
    with Client(place, key_prefix=prefix, serde=memcached.pickle_serde, **PATIENT) as other:
        assert other.get("k") == bytes(64 << 20)


def test_what_is_held_leaves_with_the_next_request(running, prefix):
    both = {"key_prefix": prefix, **PATIENT}
    other = Client(running[0].address, **both)
    client = Client(running[0].address, hold_noreply=True, **both)
    assert client.set("k", b"1") is True and other.get("k") is None
    assert client.get("other") is None and other.get("k") == b"1"
    assert client.delete("k") is True and other.get("k") == b"1"
    client.flush()
    assert other.get("k") is None
    client.set_many({"a": b"1", "b": b"2"})
    assert other.get_many(["a", "b"]) == {}
    client.close()
    assert other.get_many(["a", "b"]) == {"a": b"1", "b": b"2"}
    code = (
        "import ctypes, sys; from tavola.memcached import Client\n"
        "client = Client(sys.argv[1], hold_noreply=True, timeout=60)\n"
        "client.set(sys.argv[2], b'at the end')\n"
        # So it is never freed, which would send it as well.
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))\n"
    )
    finish(start(code, f"127.0.0.1:{running[0].port}", f"{prefix}end"))
    assert other.get("end") == b"at the end"
    # Unless it is asked for, nothing is held.
    client = Client(running[0].address, **both)
    client.set("k", b"3")
    assert other.get("k") == b"3"


def test_options_that_cannot_work_are_refused_by_name():
    for name, options in {
        "servers": {"server": "host:0"}, "placement": {"placement": "ring"},
        "timeout": {"timeout": 0}, "connect_timeout": {"connect_timeout": 1e9},
        "weights": {"weights": [1, 2]}, "tls_context": {"tls_context": object()},
        "socket_module": {"socket_module": signal}, "socket_keepalive": {"socket_keepalive": 1},
        "near_ttl": {"near": "x"}, "on_down": {"on_down": "wait"}, "protocol": {"protocol": "udp"},
        "user": {"user": "u"}, "tls_ca": {"tls_cert": "c"}, "hash_tag": {"hash_tag": "abc"},
        "max_failures": {"max_failures": 0}, "max_pool_size": {"max_pool_size": 0},
        "replicas": {"replicas": 1}, "serializer": {"serde": "xml"},
    }.items():
        with pytest.raises(tavola.OptionError, match=name):
            Client(**{"server": "host", **options})
    for wrong in ({"server": []}, {"server": "host", "weights": [-1]}):
        with pytest.raises(tavola.OptionError):
            Client(**wrong)
    with pytest.raises(tavola.OptionError, match="hasher"):
        HashClient(["host"], hasher=object)
    with pytest.raises(tavola.OptionError, match="missing.pem"):
        Client("host", tls_ca="/missing.pem")
    with pytest.raises(memcached.MemcacheIllegalInputError, match="key_prefix"):
        Client("host", key_prefix="a b")
    with pytest.raises(AttributeError):
        Client("host", serde=object())


def test_servers_are_given_as_in_pymemcache(tmp_path, prefix):
    path = tmp_path / "socket"
    unix = subprocess.Popen(["memcached", "-u", "root", "-s", str(path), "-m", "64"])
    try:
        end = time.monotonic() + 60
        while True:
            try:
                Client(path).version()
                break
            except memcached.MemcacheUnsentError:
                assert time.monotonic() < end
                time.sleep(0.005)
        for server in (str(path), f"unix:{path}", path, [path]):
            PooledClient(server, key_prefix=prefix, **PATIENT).set("k", b"1")
            assert Client(server, key_prefix=prefix, **PATIENT).get("k") == b"1"
    finally:
        unix.kill()
        unix.wait()
    assert Client([("::1", 5), "a:6", "b"]).servers == ["[::1]:5", "a:6", "b"]
    heavy = Client(["a", "b"], weights=[1, 9])
    written = Client(["a", "b?weight=9"])
    placed = [heavy.server_of(f"{n}") for n in range(1000)]
    assert placed == [written.server_of(f"{n}") for n in range(1000)] and placed.count("a") < 200


def test_a_class_of_the_caller(table_name):
    class Single(HashClient):
        def __init__(self, server, *args, **kwargs):
            super().__init__([server], *args, **kwargs)

    client = Single(f"tavola:{table_name}", dead_timeout=5, retry_attempts=0, use_pooling=True)
    client.set("k", b"1")
    assert client.get("k") == b"1"

    class Unfinished(Client):
        def __init__(self):
            pass

    with pytest.raises(tavola.ClosedError, match="__init__"):
        Unfinished().get("k")


def test_values_have_one_owner(running, prefix):
    client = Client(running[0].address, key_prefix=prefix, **PATIENT)
    value = b"x" * 100_000
    client.set("k", value)
    before = sys.getrefcount(value)
    for _ in range(50):
        client.set("k", value)
        assert client.get("k") == value
    assert sys.getrefcount(value) == before
    found, new = client.get("k"), bytes(bytearray(5))
    assert sys.getrefcount(found) == sys.getrefcount(new)

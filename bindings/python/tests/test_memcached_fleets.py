"""The client of memcached: fleets that it shares with other clients, failures, threads, forks."""

import socket
import subprocess
import threading
import time

import memcached_servers as servers
import pytest
from processes import forked, reap

import tavola
from tavola import memcached
from tavola.memcached import Client, HashClient

#: So long that no machine is too busy.
PATIENT = {"timeout": 60, "connect_timeout": 60}


def test_the_flags_are_those_of_others(running, prefix):
    pymemcache = pytest.importorskip("pymemcache")
    from pymemcache import serde as theirs
    from pymemcache.client.base import Client as Theirs

    values = ["text", "é", b"bytes", 5, 1 << 80, {"a": (1, 2)}, "x" * 5000, b"y" * 5000, None, True]
    pairs = [(theirs.pickle_serde, memcached.pickle_serde),
             (theirs.compressed_serde, memcached.compressed_serde),
             (theirs.compressed_serde, memcached.pickle_serde)]
    for their_serde, our_serde in pairs:
        other = Theirs(running[0].address, serde=their_serde, key_prefix=prefix.encode())
        ours = Client(running[0].address, serde=our_serde, key_prefix=prefix, **PATIENT)
        for number, value in enumerate(values):
            other.set("k", value, noreply=False)
            assert ours.get("k") == value and type(ours.get("k")) is type(value)
            ours.set("k", value)
            assert other.get("k") == value and type(other.get("k")) is type(value)
        # The same bytes as well, which only differ by the version of pickle.
        assert our_serde.serialize("k", "x" * 5000)[1] in (16, 24)
        other.close()
    assert pymemcache.__version__


@pytest.fixture
def pylibmc():
    found = servers.pylibmc()
    if found is None:
        pytest.skip("pylibmc is not installed: apt-get install python3-pylibmc")
    return found


def test_values_of_pylibmc(running, prefix, pylibmc):
    other = pylibmc.Client([f"127.0.0.1:{running[0].port}"])
    ours = Client(running[0].address, serde=memcached.compressed_serde, **PATIENT)
    for value in ["text", "é", b"bytes", 5, 1 << 80, {"a": (1, 2)}, "x" * 5000, None]:
        other.set(prefix, value, min_compress_len=400)
        assert ours.get(prefix) == value and type(ours.get(prefix)) is type(value)
        ours.set(prefix, value)
        assert other.get(prefix) == value and type(other.get(prefix)) is type(value)


@pytest.mark.parametrize("placement, behaviors", [
    ("libmemcached", {}), ("modula:md5", {"hash": "md5"}), ("consistent", {"ketama": True}),
    ("ketama", {"ketama_weighted": True}),
])
def test_keys_of_pylibmc(running, prefix, pylibmc, placement, behaviors):
    fleet = [f"127.0.0.1:{server.port}" for server in running]
    other = pylibmc.Client(fleet, behaviors=behaviors)
    ours = Client(fleet, placement=placement, **PATIENT)
    check_keys(prefix, ours, other)


def check_keys(prefix, ours, other):
    """Each finds what the other has stored, on several servers."""
    keys = [f"{prefix}{number}" for number in range(200)]
    other.set_multi(dict.fromkeys(keys[:100], b"theirs"))
    ours.set_many(dict.fromkeys(keys[100:], b"ours"))
    for found in (ours.get_many(keys), other.get_multi(keys)):
        assert found == {**dict.fromkeys(keys[:100], b"theirs"), **dict.fromkeys(keys[100:], b"ours")}
    assert len({ours.server_of(key) for key in keys}) == 3


def test_keys_of_pymemcache(running, prefix):
    from pymemcache.client.hash import HashClient as Theirs

    fleet = [server.address for server in running]
    check_keys(prefix, HashClient(fleet, **PATIENT), Theirs(fleet, default_noreply=False))
    # The prefix has no part in it, as there.
    both = {"key_prefix": prefix.encode()}
    check_keys("", HashClient(fleet, **both, **PATIENT), Theirs(fleet, default_noreply=False, **both))


@pytest.mark.parametrize("fleet", [
    [("10.0.0.1", 11211), ("10.0.0.2", 11211)],
    [("cache-1.example.net", 11211), ("cache-2.example.net", 11212), ("::1", 11213)],
    ["/run/a.sock", "unix:/run/b.sock", "10.0.0.9", "[::1]:99"],
    [(f"10.0.0.{number}", 11211) for number in range(16)],
])
def test_the_placement_is_that_of_pymemcache(fleet):
    from pymemcache.client.hash import HashClient as Theirs

    theirs = Theirs(fleet, allow_unicode_keys=True)
    ours = HashClient(fleet, allow_unicode_keys=True)
    # pymemcache calls a server by what it connects to.
    place_of = {}
    for name, given in zip(ours.servers, fleet):
        added = Theirs([given])
        (place_of[name],) = added.clients
    keys = [f"key:{number}" for number in range(2000)] + [chr(n) * 3 for n in range(0xa1, 0x500, 7)]
    placed = [ours.server_of(key) for key in keys]
    assert [place_of[name] for name in placed] == [theirs.hasher.get_node(key) for key in keys]
    assert len(set(placed)) == len(fleet)


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def test_a_server_that_is_down_is_no_miss(running, prefix):
    down = ("127.0.0.1", free_port())
    client = Client(down)
    calls = {
        "get": ("k",), "gets": ("k",), "get_many": (["k"],), "gets_many": (["k"],), "gat": ("k",),
        "set": ("k", 1), "add": ("k", 1), "append": ("k", 1), "cas": ("k", 1, 1),
        "set_many": ({"k": 1},), "delete": ("k",), "delete_many": (["k"],), "incr": ("k", 1),
        "touch": ("k",), "stats": (), "version": (), "flush_all": (),
    }
    for name, arguments in calls.items():
        with pytest.raises(memcached.MemcacheUnsentError, match=str(down[1])) as raised:
            getattr(client, name)(*arguments)
        assert isinstance(raised.value, OSError)
        assert isinstance(raised.value, memcached.MemcacheServerError)
    with pytest.raises(memcached.MemcacheUnsentError):
        "k" in client
    # Of several keys, one on a server that is up does not hide the others.
    fleet = Client([running[0].address, down], placement="modula", **PATIENT)
    keys = [f"{prefix}{number}" for number in range(20)]
    with pytest.raises(memcached.MemcacheUnsentError):
        fleet.get_many(keys)


def test_what_ignore_exc_ignores(running, prefix):
    down = ("127.0.0.1", free_port())
    reads = Client(down, ignore_exc=True)
    assert reads.get("k", 5) == 5 and reads.get_many(["k"]) == {}
    assert reads.gets("k") == (None, None) and "k" not in reads
    with pytest.raises(memcached.MemcacheUnsentError):
        reads.set("k", 1)
    with pytest.raises(memcached.MemcacheIllegalInputError):
        reads.get("a b")
    both = HashClient([running[0].address, down], placement="modula", ignore_exc=True, **PATIENT)
    keys = [f"{prefix}{number}" for number in range(20)]
    failed = both.set_many(dict.fromkeys(keys, b"1"))
    assert {both.server_of(key) for key in failed} == {f"127.0.0.1:{down[1]}"}
    assert both.get_many(keys) == dict.fromkeys(set(keys) - set(failed), b"1")
    lost = failed[0]
    assert both.set(lost, b"1") is False and both.get(lost) is None and both.delete(lost) is False
    assert both.incr(lost, 1) is None and both.touch(lost) is False
    assert both.delete_many(keys) is False and both.flush_all() is False
    with pytest.raises(memcached.MemcacheIllegalInputError):
        both.set("a b", 1)


def test_an_answer_that_does_not_come_is_no_miss(tmp_path):
    server = servers.memcached(tmp_path)
    try:
        client = Client(server.address, timeout=0.3, connect_timeout=60)
        client.set("k", b"1")
        with servers.Stopped(server):
            began = time.monotonic()
            with pytest.raises(memcached.MemcacheUnexpectedCloseError) as raised:
                client.set("k", b"2")
            assert time.monotonic() - began >= 0.3
            assert isinstance(raised.value, memcached.MemcacheUnknownError)
            assert isinstance(raised.value, OSError)
        patient = Client(server.address, **PATIENT)
        assert patient.get("k") in (b"1", b"2")
        server.kill()
        with pytest.raises(memcached.MemcacheServerError):
            patient.get("k")
        # The same port again: nothing has to be done.
        again = servers.memcached(tmp_path, server.port)
        try:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                try:
                    assert patient.get("k") is None
                    break
                except memcached.MemcacheUnsentError:
                    time.sleep(0.05)
            else:
                raise AssertionError("it does not come back")
        finally:
            again.kill()
    finally:
        server.kill()


def test_other_threads_run_while_a_call_waits(tmp_path):
    server = servers.memcached(tmp_path)
    try:
        client = Client(server.address, timeout=20, connect_timeout=20)
        client.set("k", b"1")
        found = []
        waits = threading.Event()

        def get():
            waits.set()
            found.append(client.get("k"))

        with servers.Stopped(server) as stopped:
            thread = threading.Thread(target=get)
            thread.start()
            waits.wait()
            # If the call had the interpreter's lock, this would come when its time is over.
            time.sleep(0.5)
            stopped.go_on()
            thread.join()
        assert found == [b"1"]
    finally:
        server.kill()


def test_threads_share_a_client(running, prefix):
    client = Client([server.address for server in running], key_prefix=prefix, **PATIENT)
    wrong = []

    def work(number):
        values = {f"{number}:{key}": b"%d" % number * (key * 700 + 1) for key in range(40)}
        for _ in range(10):
            client.set_many(values)
            if client.get_many(values) != values:
                wrong.append(number)
            for key in list(values)[::13]:
                if client.get(key) != values[key]:
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_forked_child_has_connections_of_its_own(running, prefix):
    client = Client(running[0].address, key_prefix=prefix, hold_noreply=True, **PATIENT)
    client.set("parent", b"1", noreply=False)

    def child():
        for number in range(200):
            client.set(f"child:{number}", b"%d" % number)
            assert client.get(f"child:{number}") == b"%d" % number

    pid = forked(child)
    for _ in range(200):
        assert client.get("parent") == b"1"
    reap(pid)
    assert client.get("child:199") == b"199"


def test_a_table_in_front_of_the_servers(running, prefix, table_name):
    server = running[0].address
    near = Client(server, key_prefix=prefix, near=table_name, near_ttl=600, **PATIENT)
    far = Client(server, key_prefix=prefix, **PATIENT)
    near.set("k", b"1")
    assert near.get("k") == b"1"
    far.set("k", b"2")
    assert near.get("k") == b"1" and far.get("k") == b"2"
    near.set("k", b"3")
    assert near.get("k") == b"3" and far.get("k") == b"3"


def test_copies_on_further_servers(table_name):
    names = [f"{table_name}-{number}" for number in range(2)]
    client = Client([f"tavola:{name}" for name in names], replicas=1, serde="json")
    client.set("k", [1])
    own = client.server_of("k").removeprefix("tavola:")
    (other,) = set(names) - {own}
    with tavola.open(own) as table, tavola.open(other) as copy:
        assert table["k"] == copy["k"] == [1]
        del table["k"]
        assert client.get("k") == [1], "the copy is read"
        assert table["k"] == [1], "and put back"
        client.delete("k")
        assert "k" not in table and "k" not in copy


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """A certificate for localhost that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
               "-addext", "basicConstraints=critical,CA:FALSE", "-days", "2", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return folder


@pytest.mark.slow
def test_tls(paper, table_name):
    ours = ["--tls-cert", paper / "cert.pem", "--tls-key", paper / "key.pem"]
    try:
        server = servers.served(table_name, *ours)
    except servers.NotServed as error:
        if "built without TLS" in str(error):
            pytest.skip("the command tavola is built without TLS")
        raise
    try:
        address = ("localhost", server.port)
        with Client(address, tls_ca=paper / "cert.pem", **PATIENT) as client:
            client.set("k", b"1" * 100_000)
            assert client.get("k") == b"1" * 100_000
        with pytest.raises(memcached.MemcacheUnsentError):
            Client(address, tls_ca=paper / "cert.pem", tls_name="other", **PATIENT).get("k")
        with pytest.raises(memcached.MemcacheServerError):
            Client(address, **PATIENT).get("k")
    finally:
        server.kill()

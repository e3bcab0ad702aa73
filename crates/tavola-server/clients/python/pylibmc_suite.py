"""pylibmc, over libmemcached, against HOST:PORT or the path of a Unix socket.

pylibmc_suite.py PLACE text|binary [NAME PASSWORD]
"""

import sys

import pylibmc

from checks import EVERY_BYTE, LARGE, Checks


def plain(checks, client):
    check = checks.check
    # Text is answered that it was not stored, and binary that the key was not found.
    missing = lambda error: error in (None, pylibmc.NotFound)
    check("set", lambda: client.set("a", b"one"), True)
    check("get", lambda: client.get("a"), b"one")
    check("get of a missing key", lambda: client.get("none"), None)
    check("add", lambda: client.add("b", b"two"), True)
    check("add of a key that is there", lambda: client.add("b", b"x"), False)
    check("replace", lambda: client.replace("b", b"2"), True)
    check("replace of a missing key", lambda: error_of(lambda: client.replace("none", b"x")), missing)
    check("append", lambda: client.append("b", b">"), True)
    check("prepend", lambda: client.prepend("b", b"<"), True)
    check("nor is it there", lambda: client.get("none"), None)
    check("what was joined", lambda: client.get("b"), b"<2>")
    many = {f"many{number}": b"%d" % number for number in range(200)}
    check("set_multi", lambda: client.set_multi(many), [])
    check("get_multi", lambda: client.get_multi([*many, "none"]), many)
    check("delete_multi", lambda: client.delete_multi(list(many)), True)
    check("nothing of them", lambda: client.get_multi(list(many)), {})
    check("add_multi", lambda: client.add_multi({"b": b"x", "m": b"y"}), ["b"])
    check("get_multi with a prefix", lambda: client.get_multi(["", "x"], key_prefix="m"), {"": b"y"})
    check("delete", lambda: client.delete("a"), True)
    check("delete of a missing key", lambda: client.delete("a"), False)


def unique(checks, client):
    check = checks.check
    client.set("c", b"1")
    value, first = client.gets("c")
    check("gets", lambda: value, b"1")
    check("cas", lambda: client.cas("c", b"2", first), True)
    check("cas with what was", lambda: client.cas("c", b"3", first), False)
    check("it is the first", lambda: client.get("c"), b"2")
    check("gets of a missing key", lambda: client.gets("none"), (None, None))


def counting(checks, client):
    check = checks.check
    client.set("n", 10)
    check("incr", lambda: client.incr("n", 5), 15)
    check("decr", lambda: client.decr("n", 6), 9)
    check("decr below 0", lambda: client.decr("n", 100), 0)
    client.set("n", 10)
    check("get of a number", lambda: client.get("n"), 10)
    missing = pylibmc.NotFound
    check("incr of a missing key", lambda: error_of(lambda: client.incr("none")), missing)
    client.set("n", b"word")
    check("incr of a word", lambda: error_of(lambda: client.incr("n")), lambda error: error)
    client.set_multi({"n1": 1, "n2": 2})
    client.incr_multi(["n1", "n2"], delta=40)
    check("incr_multi", lambda: client.get_multi(["n1", "n2"]), {"n1": 41, "n2": 42})


def error_of(ask):
    try:
        ask()
    except pylibmc.Error as error:
        return type(error)
    return None


def values(checks, client):
    check = checks.check
    check("set of every byte", lambda: client.set("bytes", EVERY_BYTE), True)
    check("get of every byte", lambda: client.get("bytes"), EVERY_BYTE)
    check("set of a large value", lambda: client.set("large", LARGE), True)
    check("get of a large value", lambda: client.get("large"), LARGE)
    check("set of nothing", lambda: client.set("empty", b""), True)
    check("get of nothing", lambda: client.get("empty"), b"")
    # What kind of value it is stands in the flags.
    for value in ("text, ä", 1 << 40, True, {"a": [1, 2.5, None]}):
        check(f"set of {value}", lambda: client.set("kind", value), True)
        check(f"get of {value}", lambda: client.get("kind"), value)
    check("set of what is compressed", lambda: client.set("z", LARGE, min_compress_len=100), True)
    check("get of what is compressed", lambda: client.get("z"), LARGE)
    check("the longest key", lambda: client.set("k" * 250, b"x"), True)
    check("get of the longest key", lambda: client.get("k" * 250), b"x")


def expiry(checks, client):
    check = checks.check
    check("set for an hour", lambda: client.set("t", b"x", time=3600), True)
    check("it is there", lambda: client.get("t"), b"x")
    check("touch", lambda: client.touch("t", 1), True)
    check("touch of a missing key", lambda: client.touch("none", 1), False)
    checks.ends("it ends", lambda: client.get("t"))


def administration(checks, client):
    check = checks.check
    figures = lambda: client.get_stats()[0][1]
    check("stats", lambda: int(figures()["curr_items"]), lambda found: found > 5)
    check("its version", lambda: figures()["version"], lambda found: found[:1].isdigit())
    check("flush_all", client.flush_all, True)
    check("nothing is there", lambda: client.get_multi(["b", "large", "bytes"]), {})


def main():
    place, protocol, *login = sys.argv[1:]
    name, password = login or (None, None)
    client = pylibmc.Client(
        [place],
        binary=protocol == "binary",
        username=name,
        password=password,
        # Microseconds.
        behaviors={"cas": True, "tcp_nodelay": True, "receive_timeout": 20_000_000},
    )
    checks = Checks()
    print(f"# pylibmc {pylibmc.__version__}, libmemcached {pylibmc.libmemcached_version}")
    plain(checks, client)
    unique(checks, client)
    counting(checks, client)
    values(checks, client)
    expiry(checks, client)
    administration(checks, client)
    client.disconnect_all()
    checks.close()


main()

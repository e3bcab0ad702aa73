"""python-memcached against the server at HOST:PORT or the path of a Unix socket."""

import sys

import memcache

from checks import EVERY_BYTE, LARGE, Checks


def plain(checks, client):
    check = checks.check
    check("set", lambda: client.set("a", b"one"), True)
    check("get", lambda: client.get("a"), b"one")
    check("get of a missing key", lambda: client.get("none"), None)
    check("add", lambda: client.add("b", b"two"), True)
    check("add of a key that is there", lambda: client.add("b", b"x"), 0)
    check("replace", lambda: client.replace("b", b"2"), True)
    check("replace of a missing key", lambda: client.replace("none", b"x"), 0)
    check("append", lambda: client.append("b", b">"), True)
    check("prepend", lambda: client.prepend("b", b"<"), True)
    check("append to a missing key", lambda: client.append("none", b"x"), 0)
    check("what was joined", lambda: client.get("b"), b"<2>")
    many = {f"many{number}": b"%d" % number for number in range(200)}
    check("set_multi", lambda: client.set_multi(many), [])
    check("get_multi", lambda: client.get_multi([*many, "none"]), many)
    check("delete_multi", lambda: client.delete_multi(many), 1)
    check("nothing of them", lambda: client.get_multi(many), {})
    check("delete", lambda: client.delete("a"), 1)
    check("delete of a missing key", lambda: client.delete("a"), 1)


def unique(checks, client):
    check = checks.check
    client.set("c", b"1")
    check("gets", lambda: client.gets("c"), b"1")
    check("cas", lambda: client.cas("c", b"2"), True)
    check("cas with what was", lambda: client.cas("c", b"3"), 0)
    check("it is the first", lambda: client.get("c"), b"2")


def counting(checks, client):
    check = checks.check
    client.set("n", 10)
    check("incr", lambda: client.incr("n", 5), 15)
    check("decr", lambda: client.decr("n", 6), 9)
    check("get of a number, which is shorter now", lambda: client.get("n"), 9)
    check("decr below 0", lambda: client.decr("n", 100), 0)
    check("incr of a missing key", lambda: client.incr("none"), None)


def values(checks, client):
    check = checks.check
    check("set of every byte", lambda: client.set("bytes", EVERY_BYTE), True)
    check("get of every byte", lambda: client.get("bytes"), EVERY_BYTE)
    check("set of a large value", lambda: client.set("large", LARGE), True)
    check("get of a large value", lambda: client.get("large"), LARGE)
    check("set of nothing", lambda: client.set("empty", b""), True)
    check("get of nothing", lambda: client.get("empty"), b"")
    # What kind of value it is stands in the flags.
    for value in ("text, ä", 1 << 40, {"a": [1, 2.5, None]}):
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
    check("touch", lambda: client.touch("t", 1), 1)
    checks.ends("it ends", lambda: client.get("t"))


def administration(checks, client):
    check = checks.check
    figures = lambda: client.get_stats()[0][1]
    check("stats", lambda: int(figures()["curr_items"]), lambda found: found > 5)
    settings = lambda: client.get_stats("settings")[0][1]
    check("stats settings", settings, lambda found: "maxconns" in found)
    items = lambda: client.get_stats("items")[0][1]
    check("stats items", items, lambda found: any(name.endswith(":number") for name in found))
    slabs = lambda: client.get_stats("slabs")[0][1]
    check("stats slabs", slabs, lambda found: int(found["active_slabs"]) > 0)
    check("flush_all", client.flush_all, None)
    check("nothing is there", lambda: client.get_multi(["b", "large", "bytes"]), {})


def main():
    place = sys.argv[1]
    server = f"unix:{place}" if place.startswith("/") else f"inet:{place}"
    client = memcache.Client([server], cache_cas=True, socket_timeout=20)
    checks = Checks()
    print(f"# python-memcached {memcache.__version__}")
    plain(checks, client)
    unique(checks, client)
    counting(checks, client)
    values(checks, client)
    expiry(checks, client)
    administration(checks, client)
    client.disconnect_all()
    checks.close()


main()

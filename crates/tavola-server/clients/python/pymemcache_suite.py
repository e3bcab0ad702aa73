"""pymemcache against the server at HOST:PORT or the path of a Unix socket."""

import sys

import pymemcache
from pymemcache.client.base import Client

from checks import EVERY_BYTE, LARGE, Checks


class Flags:
    """Stores a value as it is, with the flags 4711, and gives both back."""

    def serialize(self, key, value):
        return value, 4711

    def deserialize(self, key, value, flags):
        return value, flags


def plain(checks, client):
    check = checks.check
    check("set", lambda: client.set("a", b"one"), True)
    check("get", lambda: client.get("a"), b"one")
    check("get of a missing key", lambda: client.get("none"), None)
    check("add", lambda: client.add("b", b"two"), True)
    check("add of a key that is there", lambda: client.add("b", b"x"), False)
    check("replace", lambda: client.replace("b", b"2"), True)
    check("replace of a missing key", lambda: client.replace("none", b"x"), False)
    check("append", lambda: client.append("b", b">"), True)
    check("prepend", lambda: client.prepend("b", b"<"), True)
    check("append to a missing key", lambda: client.append("none", b"x"), False)
    check("what was joined", lambda: client.get("b"), b"<2>")
    check("get_many", lambda: client.get_many(["a", "b", "none"]), {"a": b"one", "b": b"<2>"})
    many = {f"many{number}": b"%d" % number for number in range(200)}
    check("set_many", lambda: client.set_many(many), [])
    check("get_many of 200", lambda: client.get_many(list(many)), many)
    check("delete_many", lambda: client.delete_many(list(many)), True)
    check("nothing of them", lambda: client.get_many(list(many)), {})
    check("delete", lambda: client.delete("a"), True)
    check("delete of a missing key", lambda: client.delete("a"), False)


def unique(checks, client):
    check = checks.check
    client.set("c", b"1")
    value, first = client.gets("c")
    check("gets", lambda: value, b"1")
    check("cas", lambda: client.cas("c", b"2", first), True)
    check("cas with what was", lambda: client.cas("c", b"3", first), False)
    check("cas of a missing key", lambda: client.cas("none", b"3", first), None)
    check("gets_many", lambda: client.gets_many(["c"])["c"][0], b"2")
    check("gets of a missing key", lambda: client.gets("none"), (None, None))


def counting(checks, client):
    check = checks.check
    client.set("n", b"10")
    check("incr", lambda: client.incr("n", 5), 15)
    check("decr", lambda: client.decr("n", 6), 9)
    check("decr below 0", lambda: client.decr("n", 100), 0)
    check("incr of a missing key", lambda: client.incr("none", 1), None)
    client.set("n", b"18446744073709551615")
    check("incr beyond 64 bits", lambda: client.incr("n", 2), 1)
    client.set("n", b"word")
    refused = pymemcache.exceptions.MemcacheClientError
    check("incr of a word", lambda: error_of(lambda: client.incr("n", 1)), refused)


def error_of(ask):
    try:
        ask()
    except Exception as error:
        return type(error)
    return None


def values(checks, client, with_flags):
    check = checks.check
    check("set of every byte", lambda: client.set("bytes", EVERY_BYTE), True)
    check("get of every byte", lambda: client.get("bytes"), EVERY_BYTE)
    check("set of a large value", lambda: client.set("large", LARGE), True)
    check("get of a large value", lambda: client.get("large"), LARGE)
    check("set of nothing", lambda: client.set("empty", b""), True)
    check("get of nothing", lambda: client.get("empty"), b"")
    check("set with flags", lambda: with_flags.set("flags", b"x"), True)
    check("get with flags", lambda: with_flags.get("flags"), (b"x", 4711))
    check("the longest key", lambda: client.set("k" * 250, b"x"), True)
    check("get of the longest key", lambda: client.get("k" * 250), b"x")


def expiry(checks, client):
    check = checks.check
    check("set for an hour", lambda: client.set("t", b"x", expire=3600), True)
    check("it is there", lambda: client.get("t"), b"x")
    check("touch", lambda: client.touch("t", 1), True)
    check("touch of a missing key", lambda: client.touch("none", 1), False)
    checks.ends("it ends", lambda: client.get("t"))
    check("set that has ended", lambda: client.set("t", b"x", expire=-1), True)
    check("it is not there", lambda: client.get("t"), None)


def administration(checks, client):
    check = checks.check
    check("version", client.version, lambda found: found[:1].isdigit())
    check("stats", lambda: client.stats()[b"pid"], lambda found: found > 0)
    check("stats settings", lambda: client.stats("settings"), lambda found: b"maxconns" in found)
    check("stats items", lambda: client.stats("items"), lambda found: isinstance(found, dict))
    check("set without an answer", lambda: client.set("q", b"x", noreply=True), True)
    check("it was stored", lambda: client.get("q"), b"x")
    check("flush_all", client.flush_all, True)
    check("nothing is there", lambda: client.get_many(["q", "b", "large"]), {})


def main():
    place = sys.argv[1]
    client = Client(place, default_noreply=False, timeout=20, connect_timeout=20)
    checks = Checks()
    print(f"# pymemcache {pymemcache.__version__}")
    plain(checks, client)
    unique(checks, client)
    counting(checks, client)
    values(checks, client, Client(place, serde=Flags(), default_noreply=False))
    expiry(checks, client)
    administration(checks, client)
    client.quit()
    checks.close()


main()

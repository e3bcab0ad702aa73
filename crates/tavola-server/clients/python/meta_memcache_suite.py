"""meta-memcache, by the meta commands alone, against the server at HOST:PORT."""

import random
import sys
from importlib.metadata import version

from meta_memcache import (
    CacheClient,
    Key,
    LeasePolicy,
    RecachePolicy,
    ServerAddress,
    SetMode,
    StalePolicy,
    connection_pool_factory_builder,
)

from checks import EVERY_BYTE, Checks

# It compresses what can be.
LARGE = random.Random(1).randbytes(900_000)


def plain(checks, client):
    check = checks.check
    check("set", lambda: client.set("a", b"one", 0), True)
    check("get", lambda: client.get("a"), b"one")
    check("get of a missing key", lambda: client.get("none"), None)
    check("set, to add", lambda: client.set("b", b"two", 0, set_mode=SetMode.ADD), True)
    check("of a key that is there", lambda: client.set("b", b"x", 0, set_mode=SetMode.ADD), False)
    check("refill of a key that is there", lambda: client.refill("b", b"x", 0), False)
    check("to replace", lambda: client.set("b", b"2", 0, set_mode=SetMode.REPLACE), True)
    check("a missing key", lambda: client.set("no", b"x", 0, set_mode=SetMode.REPLACE), False)
    check("to append", lambda: client.set("b", b">", 0, set_mode=SetMode.APPEND), True)
    check("to prepend", lambda: client.set("b", b"<", 0, set_mode=SetMode.PREPEND), True)
    check("what was joined", lambda: client.get("b"), b"<2>")
    many = [Key(f"many{number}") for number in range(200)]
    for key in many:
        client.set(key, key.key, 0, no_reply=True)
    check("multi_get", lambda: client.multi_get([*many, Key("none")]), {
        **{key: key.key for key in many}, Key("none"): None,
    })
    check("delete", lambda: client.delete("a"), True)
    check("delete of a missing key", lambda: client.delete("a"), False)
    check("invalidate of a missing key", lambda: client.invalidate("a"), True)


def unique(checks, client):
    check = checks.check
    first = client.set_cas("c", b"1", 0)
    check("set_cas", lambda: first, lambda found: found > 0)
    check("get_cas", lambda: client.get_cas("c"), (b"1", first))
    check("set with it", lambda: client.set("c", b"2", 0, cas_token=first), True)
    check("with what was", lambda: client.set("c", b"3", 0, cas_token=first), False)
    check("it is the first", lambda: client.get("c"), b"2")
    check("delete with what was", lambda: client.delete("c", cas_token=first), False)
    last = client.get_cas("c")[1]
    check("delete with what is", lambda: client.delete("c", cas_token=last), True)


def counting(checks, client):
    check = checks.check
    client.set("n", 10, 0)
    check("delta_and_get", lambda: client.delta_and_get("n", 5), 15)
    check("down", lambda: client.delta_and_get("n", -6), 9)
    check("below 0", lambda: client.delta_and_get("n", -100), 0)
    check("of a missing key", lambda: client.delta_and_get("none", 1), None)
    start = lambda: client.delta_initialize_and_get("first", 1, 7, 0)
    check("with a first value", start, 7)
    check("and again", start, 8)
    check("delta", lambda: client.delta("n", 3), True)
    check("get of a number", lambda: client.get("n"), 3)


def values(checks, client):
    check = checks.check
    check("set of every byte", lambda: client.set("bytes", EVERY_BYTE, 0), True)
    check("get of every byte", lambda: client.get("bytes"), EVERY_BYTE)
    check("set of a large value", lambda: client.set("large", LARGE, 0), True)
    check("get of a large value", lambda: client.get("large"), LARGE)
    # What kind of value it is stands in the flags.
    for value in (b"", "text, ä", 1 << 40, {"a": [1, 2.5, None]}):
        check(f"set of {value!r}", lambda: client.set("kind", value, 0), True)
        check(f"get of {value!r}", lambda: client.get("kind"), value)
    # These cross the line as base64, or hashed.
    for key in ("with spaces", "ä", "k" * 300):
        check(f"set of the key {key[:20]}", lambda: client.set(key, b"x", 0), True)
        check(f"get of the key {key[:20]}", lambda: client.get(key), b"x")


def expiry(checks, client):
    check = checks.check
    check("set for an hour", lambda: client.set("t", b"x", 3600), True)
    check("get and touch", lambda: client.get("t", touch_ttl=1800), b"x")
    check("touch", lambda: client.touch("t", 1), True)
    check("touch of a missing key", lambda: client.touch("none", 1), False)
    checks.ends("it ends", lambda: client.get("t"))


def herds(checks, client, other):
    """Of clients that miss at once, one is told to compute."""
    check = checks.check
    lease = LeasePolicy(ttl=30, miss_retries=2, miss_retry_wait=0.01)
    check("get_or_lease", lambda: client.get_or_lease("l", lease), None)
    check("another one waits in vain", lambda: other.get_or_lease("l", lease), None)
    check("it is filled", lambda: client.set("l", b"new", 100), True)
    check("another one has it", lambda: other.get_or_lease("l", lease), b"new")
    recache = RecachePolicy(ttl=200)
    check("get of what ends soon: one misses", lambda: client.get("l", recache_policy=recache), None)
    check("the others have it", lambda: other.get("l", recache_policy=recache), b"new")
    stale = StalePolicy(mark_stale_on_deletion_ttl=30)
    check("delete to stale", lambda: client.delete("l", stale_policy=stale), True)
    check("one misses", lambda: client.get("l"), None)
    check("the others have it still", lambda: other.get("l"), b"new")
    check("set makes it fresh", lambda: client.set("l", b"newer", 100), True)
    check("for all", lambda: other.get("l"), b"newer")


def connect(place):
    host, port = place.split(":")
    pools = connection_pool_factory_builder(connection_timeout=20, recv_timeout=20)
    return CacheClient.cache_client_from_servers([ServerAddress(host, int(port))], pools)


def main():
    client = connect(sys.argv[1])
    checks = Checks()
    print(f"# meta-memcache {version('meta-memcache')}")
    plain(checks, client)
    unique(checks, client)
    counting(checks, client)
    values(checks, client)
    expiry(checks, client)
    herds(checks, client, connect(sys.argv[1]))
    checks.close()


main()

"""redis-py against the server at HOST:PORT or the path of a Unix socket.

    redis_suite.py PLACE [NAME PASSWORD]
"""

import sys

import redis

from checks import EVERY_BYTE, LARGE, Checks


def error_of(ask):
    try:
        ask()
    except Exception as error:
        return type(error)
    return None


def plain(checks, client):
    check = checks.check
    check("ping", client.ping, True)
    check("set", lambda: client.set("a", "one"), True)
    check("get", lambda: client.get("a"), b"one")
    check("get of a missing key", lambda: client.get("none"), None)
    check("set if missing", lambda: client.set("a", "x", nx=True), None)
    check("set if there", lambda: client.set("a", "two", xx=True), True)
    check("set and get", lambda: client.set("a", "three", get=True), b"two")
    check("getset", lambda: client.getset("a", "four"), b"three")
    check("setnx", lambda: client.setnx("a", "x"), False)
    check("append", lambda: client.append("a", "!"), 5)
    check("strlen", lambda: client.strlen("a"), 5)
    check("getrange", lambda: client.getrange("a", 0, 3), b"four")
    check("setrange", lambda: client.setrange("a", 4, "ty"), 6)
    check("type", lambda: client.type("a"), b"string")
    check("exists", lambda: client.exists("a", "a", "none"), 2)
    check("getdel", lambda: client.getdel("a"), b"fourty")
    check("delete of a missing key", lambda: client.delete("a"), 0)
    check("another type", lambda: error_of(lambda: client.zscore("a", "b")), None
          if checks.is_redis else redis.exceptions.ResponseError)


def many(checks, client):
    check = checks.check
    many = {f"many{number}": b"%d" % number for number in range(200)}
    with client.pipeline(transaction=False) as pipeline:
        for key, value in many.items():
            pipeline.set(key, value, ex=1000)
        check("a pipeline of sets", pipeline.execute, [True] * 200)
    check("mget of 200", lambda: client.mget(list(many)), list(many.values()))
    check("keys", lambda: sorted(client.keys("many*")), sorted(key.encode() for key in many))
    check("scan", lambda: set(client.scan_iter("many*", count=50)),
          {key.encode() for key in many})
    check("unlink", lambda: client.unlink(*many), 200)
    check("nothing of them", lambda: client.mget(list(many)), [None] * 200)
    if checks.has_transactions:
        check("mset", lambda: client.mset({"m": "1", "n": "2"}), True)
        check("msetnx", lambda: client.msetnx({"n": "1", "o": "2"}), False)
        check("delete", lambda: client.delete("m", "n", "o"), 2)


def counting(checks, client):
    check = checks.check
    check("incr", lambda: client.incr("n"), 1)
    check("incrby", lambda: client.incrby("n", 41), 42)
    check("decr", lambda: client.decr("n", 50), -8)
    check("incrbyfloat", lambda: client.incrbyfloat("n", 0.5), -7.5)
    check("incr of a fraction", lambda: error_of(lambda: client.incr("n")),
          redis.exceptions.ResponseError)


def values(checks, client):
    check = checks.check
    check("set of every byte", lambda: client.set(b"\0\r\n \xff", EVERY_BYTE), True)
    check("get of every byte", lambda: client.get(b"\0\r\n \xff"), EVERY_BYTE)
    check("set of a large value", lambda: client.set("large", LARGE), True)
    check("get of a large value", lambda: client.get("large"), LARGE)
    check("set of nothing", lambda: client.set("empty", ""), True)
    check("get of nothing", lambda: client.get("empty"), b"")
    with client.pipeline(transaction=False) as pipeline:
        for _ in range(30):
            pipeline.get("large")
        check("a pipeline of large gets", pipeline.execute, [LARGE] * 30)


def expiry(checks, client):
    check = checks.check

    def about(most):
        return lambda found: most - 100 <= found <= most

    check("set for an hour", lambda: client.set("t", "x", ex=3600), True)
    check("ttl", lambda: client.ttl("t"), about(3600))
    check("pttl", lambda: client.pttl("t"), lambda found: 3_500_000 < found <= 3_600_100)
    check("expire", lambda: client.expire("t", 1800, lt=True), True)
    check("expire that is later", lambda: client.expire("t", 3600, lt=True), False)
    check("expireat", lambda: client.expireat("t", 4_000_000_000), True)
    check("expiretime", lambda: client.execute_command("EXPIRETIME", "t"), 4_000_000_000)
    check("persist", lambda: client.persist("t"), True)
    check("ttl of a key that stays", lambda: client.ttl("t"), -1)
    check("getex", lambda: client.getex("t", px=100), b"x")
    checks.ends("it ends", lambda: client.get("t"))
    check("ttl of a missing key", lambda: client.ttl("t"), -2)


def administration(checks, client):
    check = checks.check
    check("info", lambda: client.info()["redis_version"], lambda found: found[:1].isdigit())
    check("config get", lambda: client.config_get("appendonly"), {"appendonly": "no"})
    check("client id", client.client_id, lambda found: found > 0)
    check("client setname", lambda: client.client_setname("me"), True)
    check("echo", lambda: client.echo("hi"), b"hi")
    check("dbsize", client.dbsize, lambda found: found > 0)
    check("flushdb", client.flushdb, True)
    check("nothing is there", client.dbsize, 0)


def main():
    place = sys.argv[1]
    name, password = (sys.argv[2:] + [None, None])[:2]
    if place.startswith("/"):
        client = redis.Redis(unix_socket_path=place, username=name, password=password)
    else:
        host, _, port = place.rpartition(":")
        client = redis.Redis(host=host, port=int(port), username=name, password=password)
    checks = Checks()
    info = client.info()
    checks.is_redis = "tavola_version" not in info
    checks.has_transactions = info["maxmemory"] == 0
    print(f"# redis-py {redis.__version__}")
    plain(checks, client)
    many(checks, client)
    counting(checks, client)
    values(checks, client)
    expiry(checks, client)
    administration(checks, client)
    checks.close()


main()

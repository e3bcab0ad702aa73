"""The adapters: Django, dogpile.cache, Flask, cachetools and dbm, beyond their owners' tests."""

import dbm
import functools
import os
import pickle
import shelve
import threading
import time

import pytest
from processes import forked, kill, reap

import tavola
import tavola.dbm


@pytest.fixture
def django_cache(table_name):
    from django.conf import settings

    if not settings.configured:
        settings.configure(USE_TZ=True)
    from django.core.cache import CacheHandler

    handler = CacheHandler({
        "default": {
            "BACKEND": "tavola.django.TavolaCache",
            "LOCATION": table_name,
            "TIMEOUT": 300,
            "OPTIONS": {"capacity": 8 << 20, "MAX_ENTRIES": 5},
        },
        "other": {
            "BACKEND": "tavola.django.TavolaCache", "LOCATION": table_name, "KEY_PREFIX": "x",
        },
    })
    yield handler
    handler["default"].table.close()


def test_django_shares_a_cache_over_processes(django_cache):
    cache = django_cache["default"]
    cache.set("a", (1, 2))
    cache.set("n", 5)
    reap(forked(lambda: [cache.incr("n") for _ in range(100)] and cache.set("b", {1: 2})))
    assert cache.get_many(["a", "b", "n"]) == {"a": (1, 2), "b": {1: 2}, "n": 105}
    assert 299 < cache.table.ttl(cache.make_key("n")) <= 300
    assert django_cache["other"].get("a") is None
    assert cache.get_or_compute("c", lambda: "computed", 60) == "computed" == cache.get("c")
    assert cache.get_or_compute("c", lambda: "direct", 0) == "direct"


def test_django_keys_that_memcached_refuses(table_name):
    import tavola.django
    from django.core.cache.backends.base import InvalidCacheKey

    cache = tavola.django.MemcachedKeys(table_name, {})
    cache.set("fine", 1)
    with pytest.raises(InvalidCacheKey):
        cache.set("a key with spaces", 1)


@pytest.fixture
def region(table_name):
    from dogpile.cache import make_region

    import tavola.dogpile

    tavola.dogpile.register()
    return make_region().configure(
        "tavola", expiration_time=60, arguments={"name": table_name, "capacity": 8 << 20}
    )


def test_dogpile_computes_once_over_processes(region):
    table = region.backend.table
    calls = tavola.open(table.name + "-calls")

    def compute():
        calls.incr("calls")
        time.sleep(0.05)
        return ("computed",)

    children = [
        forked(lambda: region.get_or_create("k", compute) == ("computed",)) for _ in range(4)
    ]
    for child in children:
        reap(child)
    assert calls["calls"] == 1 and region.get("k") == ("computed",)


def test_a_killed_process_does_not_keep_a_dogpile_lock(region):
    ready, begun = os.pipe()

    def compute():
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(lambda: region.get_or_create("k", compute))
    assert os.read(ready, 1) == b"x"
    kill(child)
    assert region.get_or_create("k", lambda: "mine") == "mine"
    os.close(ready), os.close(begun)


def test_dogpile_locks_are_leases_of_their_keys(region):
    table = region.backend.table
    first, second = region.backend.get_mutex("k" * 100), region.backend.get_mutex("k" * 100)
    assert first.acquire() and second.locked() and not second.acquire(wait=False)
    with pytest.raises(tavola.NotHeldError):
        second.release()
    first.release()
    assert not second.locked() and len(table) == 0
    with pytest.raises(tavola.NotHeldError):
        first.release()
    table[b"\0lock\0a"] = 1
    with pytest.raises(tavola.Error, match="delete the key"):
        region.backend.get_mutex("a").acquire()


def test_a_dogpile_lock_that_was_kept_too_long_is_reported(table_name):
    from tavola.dogpile import TavolaBackend

    backend = TavolaBackend({"name": table_name, "lock_timeout": 0.001})
    first, second = backend.get_mutex("k"), backend.get_mutex("k")
    assert first.acquire() and second.acquire()
    with pytest.raises(tavola.NotHeldError, match="longer lock_timeout"):
        first.release()


def test_flask_caching(table_name):
    from flask import Flask
    from flask_caching import Cache

    app = Flask("shop")
    cache = Cache(app, config={
        "CACHE_TYPE": "tavola.flask_caching.TavolaCache",
        "CACHE_TAVOLA_NAME": table_name,
        "CACHE_KEY_PREFIX": "shop:",
        "CACHE_OPTIONS": {"capacity": 8 << 20},
    })
    calls = []

    @app.route("/")
    @cache.cached(timeout=60)
    def index():
        calls.append(1)
        return "<p>hello</p>"

    client = app.test_client()
    assert client.get("/").data == client.get("/").data == b"<p>hello</p>" and len(calls) == 1
    backend = cache.cache
    backend.set("forever", (1,), timeout=0)
    assert backend.get("forever") == (1,) and backend.table.ttl("shop:forever") is None
    assert backend.get_many("forever", "missing") == [(1,), None]
    assert backend.set_many({"a": 1, "b": 2}) == ["a", "b"]
    assert backend.delete_many("a", "missing") == ["a"]
    assert backend.inc("n") == 1 and backend.dec("n", 3) == -2 and backend.has("n")
    backend.table["of another"] = 1
    backend.clear()
    assert dict(backend.table) == {"of another": 1}


def test_flask_sessions(table_name):
    from flask import Flask, session

    from tavola.flask_session import TavolaSessions

    app = Flask("shop")
    app.session_interface = sessions = TavolaSessions(table_name)

    @app.route("/login/<name>")
    def login(name):
        session["name"] = name
        sessions.regenerate(session)
        return "in"

    @app.route("/me")
    def me():
        return session.get("name", "nobody")

    @app.route("/logout")
    def logout():
        session.clear()
        return "out"

    client, other = app.test_client(), app.test_client()
    assert client.get("/me").data == b"nobody" and sessions.count() == 0
    client.get("/login/ann")
    assert client.get("/me").data == b"ann" and other.get("/me").data == b"nobody"
    assert sessions.count() == 1
    (key,) = sessions.table.keys("session:")
    assert sessions.table.ttl(key) > 3600
    client.get("/login/bob")
    assert client.get("/me").data == b"bob" and sessions.count() == 1
    client.get("/logout")
    assert client.get("/me").data == b"nobody" and sessions.count() == 0
    other.set_cookie("session", "made up")
    assert other.get("/me").data == b"nobody"
    other.get("/login/eve")
    (key,) = sessions.table.keys("session:")
    sessions.table[key] = "broken"
    assert other.get("/me").data == b"nobody"


def test_cached_over_processes(table):
    @tavola.cached(table, key=functools.partial(tavola.hashkey, "square"), info=True)
    def square(x):
        table.incr("calls")
        return x * x

    reap(forked(lambda: square(3) == 9))
    assert square(3) == 9 and table["calls"] == 1
    assert square.cache_info()[:2] == (1, 0)
    assert square.cache_key(3) in table
    square.cache_clear()
    assert len(table) == 0


def test_cached_with_keys_that_are_not_text(table):
    @tavola.cached(table, key=lambda x, y: (x, y))
    def add(x, y):
        return x + y

    assert add(1, 2) == 3 == add(1, 2) and list(table) == ["(1,2)"]


def test_cached_with_a_condition_computes_once(table):
    condition, calls = threading.Condition(), []

    @tavola.cached(table, condition=condition)
    def slow(x):
        calls.append(x)
        time.sleep(0.02)
        return x

    threads = [threading.Thread(target=slow, args=(1,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert calls == [1]


def test_dbm(tmp_path):
    path = tmp_path / "db"
    with pytest.raises(tavola.dbm.error) as raised:
        tavola.dbm.open(path, "r")
    assert raised.value.errno == 2
    with tavola.dbm.open(path, "c", 0o600) as db:
        db["text"], db[b"\xff"] = "ü", bytearray(b"\x00")
        assert db["text"] == "ü".encode() and db[b"\xff"] == b"\x00"
        with pytest.raises(TypeError):
            db["k"] = 5
        with pytest.raises(TypeError):
            db[5]
        assert sorted(db.keys()) == [b"text", b"\xff"]
        key, keys = db.firstkey(), []
        while key is not None:
            keys.append(key)
            key = db.nextkey(key)
        assert sorted(keys) == sorted(db)
    with pytest.raises(tavola.dbm.error, match="already been closed"):
        db["text"]
    with tavola.dbm.open(str(path), "r") as db:
        with pytest.raises(tavola.dbm.error):
            db["k"] = "v"
    assert tavola.dbm.whichdb(path) == "tavola.dbm"
    with tavola.dbm.open(path, "n") as db:
        assert len(db) == 0
    with pytest.raises(tavola.dbm.error):
        tavola.dbm.open(path, "x")


def test_a_shelf_over_dbm(tmp_path):
    with shelve.Shelf(tavola.dbm.open(str(tmp_path / "shelf"), "c")) as shelf:
        shelf["k"] = {"a": (1, 2)}
        assert shelf["k"] == {"a": (1, 2)} and list(shelf) == ["k"]


def test_errors_of_dbm_are_those_of_the_module(tmp_path):
    assert issubclass(tavola.dbm.error, tavola.Error) and issubclass(tavola.dbm.error, OSError)
    assert dbm.error and pickle.loads(pickle.dumps(tavola.dbm.error("x"))).args == ("x",)

"""Measures get and set per call, beside what else Python has; see the script ``bench``."""

import contextlib
import importlib
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import memcached_servers
import tavola
import tavola.memcached as tavola_memcached

SIZES = {"8-32 B": (8, 32), "4-8 KB": (4096, 8192)}
#: How often each measurement is made; the median counts, and the spread is in the JSON.
ROUNDS = 5
#: Stores that take more than some microseconds a call get fewer calls.
SLOW = 3000


#: Whether the processor time of this process counts instead of the clock: it is steadier on a busy
#: machine, and lacks what a server does.
IS_CPU = os.environ.get("BENCH_CLOCK") == "cpu"
CLOCK = time.process_time_ns if IS_CPU else time.perf_counter_ns


def rounds(function, keys, calls):
    """Return the nanoseconds per call: the median of the rounds, the least and the most."""
    times = []
    for _ in range(ROUNDS):
        began = CLOCK()
        function(keys)
        times.append(round((CLOCK() - began) / calls, 1))
    return [statistics.median(times), min(times), max(times)]


def loop_get(get):
    def run(keys):
        for key in keys:
            get(key)

    return run


def loop_set(put, pairs):
    def run(keys):
        for key, value in pairs:
            put(key, value)

    return run


@contextlib.contextmanager
def memcached(folder, make):
    """A memcached on a Unix socket, with the client that a function makes for its path."""
    socket = os.path.join(folder, "memcached")
    command = ["memcached", "-s", socket, "-m", "2000", "-u", "root"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(socket):
            time.sleep(0.01)
        yield make(socket)
    finally:
        process.terminate()
        process.wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(socket)


def pymemcache_client(socket):
    return importlib.import_module("pymemcache.client.base").Client(socket)


def pylibmc_client(socket):
    pylibmc = memcached_servers.pylibmc()
    if pylibmc is None:
        raise ImportError("apt-get install python3-pylibmc")
    return pylibmc.Client([socket], behaviors={"no_block": False})


def tavola_client(**options):
    return lambda socket: tavola_memcached.Client(socket, **options)


#: The clients of memcached, each with a server of its own. The first waits for no answer of a set;
#: so do those with ``held`` in their names, where it leaves with the next request.
CLIENTS = {
    "pymemcache": pymemcache_client,
    "pymemcache, waits": lambda socket: waiting(pymemcache_client(socket)),
    "pylibmc": pylibmc_client,
    "tavola client": tavola_client(),
    "tavola client, held": tavola_client(hold_noreply=True),
}


def waiting(client):
    client.default_noreply = False
    return client


def stores(folder, room):
    """Yield the name of each store, whether it is slow, and its get, set, get_many, set_many."""
    yield "dict", False, lambda stack: dict_calls({})
    yield "tavola", False, lambda stack: tavola_calls(stack.enter_context(
        tavola.open("bench-table", max_size=room)))
    yield "tavola cache", False, lambda stack: tavola_calls(stack.enter_context(
        tavola.open("bench-cache", capacity=room)))
    yield "cachetools LRU", False, lambda stack: dict_calls(
        importlib.import_module("cachetools").LRUCache(10**9))
    yield "UltraDict", "large", lambda stack: dict_calls(ultra_dict(stack, room))
    yield "diskcache", True, lambda stack: disk_calls(stack, folder)
    yield "lmdb", False, lambda stack: lmdb_calls(stack, folder, room)
    for name, make in CLIENTS.items():
        yield name, True, lambda stack, make=make: memcache_calls(
            stack.enter_context(memcached(folder, make)))


def dict_calls(store):
    return {"get": store.get, "set": store.__setitem__}


def tavola_calls(table):
    return {
        "get": table.get, "[]": table.__getitem__, "set": table.set,
        "get_many": table.get_many, "set_many": table.set_many,
    }


def ultra_dict(stack, room):
    store = importlib.import_module("UltraDict").UltraDict(
        full_dump_size=room, buffer_size=room, auto_unlink=True)
    stack.callback(store.unlink)
    return store


def disk_calls(stack, folder):
    cache = importlib.import_module("diskcache").Cache(os.path.join(folder, "diskcache"))
    stack.callback(cache.close)
    return {"get": cache.get, "set": cache.set}


def lmdb_calls(stack, folder, room):
    lmdb = importlib.import_module("lmdb")
    env = lmdb.open(os.path.join(folder, "lmdb"), map_size=room, sync=False, writemap=True)
    stack.callback(env.close)

    def get(key):
        with env.begin() as transaction:
            return transaction.get(key.encode())

    def put(key, value):
        with env.begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    return {"get": get, "set": put}


def memcache_calls(client):
    return {
        "get": client.get, "set": client.set,
        "get_many": getattr(client, "get_many", None) or client.get_multi,
        "set_many": getattr(client, "set_many", None) or client.set_multi,
    }


def loop_batches(call, batches):
    def run(keys):
        for batch in batches:
            call(batch)

    return run


def parts(keys):
    """Return the keys in batches of a hundred."""
    return [keys[start : start + 100] for start in range(0, len(keys), 100)]


def measure(make, value_of, some):
    with contextlib.ExitStack() as stack:
        calls = make(stack)
        put = calls["set"]
        for key in some:
            put(key, value_of[key])
        shuffled = random.Random(1).sample(some, len(some))
        row = {}
        for name in ("get", "[]"):
            if name in calls:
                row[name] = rounds(loop_get(calls[name]), shuffled, len(some))
        pairs = [(key, value_of[key]) for key in shuffled]
        row["set"] = rounds(loop_set(put, pairs), shuffled, len(some))
        if "get_many" in calls:
            many = parts(shuffled)
            row["get_many"] = rounds(loop_batches(calls["get_many"], many), shuffled, len(some))
            dicts = [{key: value_of[key] for key in part} for part in many]
            row["set_many"] = rounds(loop_batches(calls["set_many"], dicts), shuffled, len(some))
        return row


def main(count, wanted=""):
    folder = tempfile.mkdtemp(prefix="tavola-bench-", dir="/dev/shm")
    os.environ["TAVOLA_DIR"] = folder
    results = {"keys": count, "unit": "ns per key", "figures": "median, least, most",
               "clock": "cpu" if IS_CPU else "wall", "python": sys.version.split()[0], "rows": []}
    columns = ("get", "[]", "set", "get_many", "set_many")
    try:
        for size, (least, most) in SIZES.items():
            print(f"\n{count} keys, values of {size}: ns per key; batches have 100 keys")
            print(f"{'':20}" + "".join(f"{column:>10}" for column in columns))
            numbers = random.Random(2)
            keys = [f"key:{number}" for number in range(count)]
            value_of = {key: os.urandom(numbers.randint(least, most)) for key in keys}
            room = max(256 << 20, 3 * count * most)
            for name, is_slow, make in stores(folder, room):
                if not re.search(wanted, name):
                    continue
                is_slow = is_slow is True or (is_slow == "large" and least > 1000)
                some = keys[:SLOW] if is_slow else keys
                try:
                    row = measure(make, value_of, some)
                except (ImportError, FileNotFoundError) as error:
                    print(f"{name:20}  not measured: {error}")
                    continue
                shown = (f"{row[column][0]:.0f}" if column in row else "" for column in columns)
                mark = f"  ({SLOW} keys)" if is_slow else ""
                print(f"{name:20}" + "".join(f"{cell:>10}" for cell in shown) + mark, flush=True)
                row = {"store": name, "values": size, "measured_keys": len(some), **row}
                results["rows"].append(row)
            for name in ("bench-table", "bench-cache"):
                with contextlib.suppress(tavola.Error):
                    tavola.remove(name)
            for name in ("lmdb", "diskcache"):
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])

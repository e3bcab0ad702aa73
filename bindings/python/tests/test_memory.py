"""Memory: a million calls without growth, and a run under valgrind."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest
from processes import HERE
from test_cases import FILE

import tavola

pytestmark = [pytest.mark.slow]


def _resident():
    pages = pathlib.Path("/proc/self/statm").read_text().split()
    # Anonymous memory only: pages of the table count as shared.
    return (int(pages[1]) - int(pages[2])) * resource.getpagesize()


class _Thing:
    def __init__(self, n):
        self.n = n


def _round(cache, number):
    """Make about a hundred calls of every kind; return how many."""
    key, text = f"k{number % 1000}", "x" * (number % 300)
    value = {"a": [number, 1.5, None], "b": text}
    cache[key] = value
    assert cache[key] == value
    cache.set(key, (number,), ttl=60, tags=["t", key])
    assert cache.get(key) == (number,) and key in cache
    cache.swap(key, _Thing(number))
    assert cache.take(key).n == number and cache.get(key, cache) is cache
    cache.add(key, text), cache.replace(key, b"x"), cache.append(key, b"y")
    cache.incr("n"), cache.decr("n", 2), cache.touch(key, 5), cache.ttl(key)
    token = cache.gets(key)[1]
    assert cache.cas(key, number, token) and not cache.cas(key, 1, token)
    many = {f"m{n}": n for n in range(10)}
    cache.set_many(many, ttl=60)
    assert cache.get_many([*many, "missing"]) == many
    assert cache.delete_many(many) == 10
    cache.get_or_compute(f"c{number % 10}", lambda: [number], ttl=60)
    bytes(cache.view(key))
    for wrong in (lambda: cache["missing"], lambda: cache.incr(key + "?", 2**63),
                  lambda: cache.set(key, 1, ttl=0), lambda: cache.get(5)):
        try:
            wrong()
        except (KeyError, OverflowError, tavola.Error, TypeError):
            pass
    if number % 50 == 0:
        with cache.lock("l"), cache.watch(key) as watch:
            assert not watch.wait(0)
        sum(1 for _ in cache.items())
        cache.delete_prefix("c"), cache.invalidate("t"), cache.stats()
        tavola.open(cache.path, serializer="pickle").close()
    return 45


def test_a_million_calls_do_not_grow_the_process(cache):
    number = calls = 0
    while calls < 200_000:
        calls += _round(cache, number)
        number += 1
    before = _resident()
    while calls < 1_000_000:
        calls += _round(cache, number)
        number += 1
    grown = _resident() - before
    assert grown < 1 << 20, f"{grown} bytes"
    assert cache.check()["is_clean"]


def test_the_interpreter_counts_no_growth(cache):
    import gc
    import tracemalloc

    for number in range(300):
        _round(cache, number)
    tracemalloc.start()
    try:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(300, 1300):
            _round(cache, number)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


VALGRIND = """
import sys
sys.path.insert(0, {here!r})
import tavola, test_cases, test_memory
opened = tavola.open
def small(name, **options):
    # A large mapping takes valgrind more than a second.
    if "capacity" not in options:
        options.setdefault("max_size", 8 << 20)
    return opened(name, **options)
tavola.open = small
for number, case in enumerate(test_cases.CASES):
    test_cases.test_case(case, f"case-{{number}}")
with tavola.open("valgrind", capacity=8 << 20, serializer="pickle") as cache:
    for number in range(60):
        test_memory._round(cache, number)
with tavola.open("valgrind-accounts") as table:
    for number in range(20):
        with table.transaction(once=number % 2 == 0) as t:
            t.set("a", "x" * number, ttl=60, tags="t"); t.incr("n"); t.append("a", "y")
            t.roll_back_to(t.savepoint())
        table.transact(lambda t: (t.take("a"), t.abort()))
    assert table.read_together(lambda t: (t["n"], len(t["a"]))) == (20, 20)
with tavola.Queue("valgrind-jobs", maxsize=5) as jobs:
    jobs.put([1]); assert jobs.get() == [1]
with tavola.Log("valgrind-log") as log:
    log.write("info", "one"); assert len(log.read()) == 1
print(len(test_cases.CASES), "cases")
"""


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_valgrind_finds_no_errors_of_the_extension(tmp_path):
    report = tmp_path / "report"
    ran = subprocess.run(
        ["valgrind", "--quiet", f"--log-file={report}", "--num-callers=25",
         "--suppressions=" + str(HERE.parents[2] / "crates/tavola/valgrind.supp"),
         sys.executable, "-c", VALGRIND.format(here=str(HERE))],
        env={**os.environ, "PYTHONMALLOC": "malloc"}, stdout=subprocess.PIPE, text=True,
        timeout=500,
    )
    found = [
        part for part in report.read_text().split("\n==") if "_tavola.abi3.so" in part
    ]
    cases = len(json.loads(FILE.read_text(encoding="utf-8"))["cases"])
    assert ran.returncode == 0 and ran.stdout == f"{cases} cases\n" and cases > 100
    assert found == []

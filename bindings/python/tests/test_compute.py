"""Values that are computed once: leases, memoize, and their asynchronous twins."""

import ast
import asyncio
import threading
import time

import pytest
from processes import finish, forked, kill, reap, start

import tavola


def test_a_value_is_computed_once_and_keeps_its_type(cache):
    calls = []

    def compute():
        calls.append(1)
        return {"answer": (42, None)}

    for _ in range(3):
        assert cache.get_or_compute("k", compute, ttl=60) == {"answer": (42, None)}
    assert len(calls) == 1 and 59 < cache.ttl("k") <= 60


def test_none_is_a_value(table):
    calls = []
    for _ in range(2):
        assert table.get_or_compute("k", lambda: calls.append(1), ttl=60) is None
    assert len(calls) == 1


def test_an_exception_reaches_the_caller_and_others_get_its_sentence(table):
    with pytest.raises(ZeroDivisionError):
        table.get_or_compute("k", lambda: 1 / 0, ttl=60, back_off=60)
    with pytest.raises(tavola.NotComputedError, match="division by zero"):
        table.get_or_compute("k", lambda: 1, ttl=60)
    with pytest.raises(ZeroDivisionError):
        table.get_or_compute("other", lambda: 1 / 0, ttl=60, back_off=0)
    assert table.get_or_compute("other", lambda: 1, ttl=60) == 1


def test_a_value_that_cannot_be_encoded_ends_the_lease(table):
    with pytest.raises(tavola.EncodeError):
        table.get_or_compute("k", lambda: (1, 2), ttl=60, back_off=0)
    assert table.get_or_compute("k", lambda: [1, 2], ttl=60) == [1, 2]


def test_a_stale_value_is_computed_again(table):
    table.set("k", "old", ttl=50)
    assert table.get_or_compute("k", lambda: "new", ttl=60, stale=100) == "new"
    assert table["k"] == "new" and 159 < table.ttl("k") <= 160
    table.set("broken", "old", ttl=50)
    with pytest.raises(ZeroDivisionError):
        table.get_or_compute("broken", lambda: 1 / 0, ttl=60, stale=100, back_off=60)
    assert table.get_or_compute("broken", lambda: 1, ttl=60, stale=100) == "old"


def test_early_keeps_the_kind_of_the_value(table):
    assert table.get_or_compute("k", lambda: [1], ttl=60, early=1.0) == [1]
    assert table["k"] == [1] and table.get_or_compute("k", lambda: 2, ttl=60) == [1]
    outcomes = {
        table.get_or_compute("k", lambda: "early", ttl=60, early=1e12) for _ in range(3)
    }
    assert outcomes == {"early"}


class Packed:
    """A serializer of the application, whose objects are not JSON."""

    def __init__(self, flags):
        self.flags = flags

    def dumps(self, value):
        return repr(value).encode()

    def loads(self, value):
        return tuple(ast.literal_eval(value.decode()))


def test_early_keeps_the_objects_of_a_serializer(table_name):
    with tavola.open(table_name, serializer=Packed(0x60000000)) as table:

        def compute():
            time.sleep(0.01)
            return (1, "two")

        memoized = table.memoize(ttl=60, early=1.0, name="f")(compute)
        for _ in range(2):
            assert table.get_or_compute("k", compute, ttl=60, early=1.0) == (1, "two")
            assert memoized() == (1, "two")
        assert table["k"] == (1, "two") and table.get_many(["k"]) == {"k": (1, "two")}
        assert 0x60000000 < table.get_raw("k")[1] <= 0x6000FFFF
        table.set_raw("other", b"(1,)", 0x60010000)
        assert table["other"] == b"(1,)"


def test_early_needs_flags_of_a_serializer_without_low_bits(table_name):
    with tavola.open(table_name, serializer=Packed(0x60000001)) as table:
        with pytest.raises(tavola.Error, match="low 16 bits"):
            table.get_or_compute("k", lambda: (1,), ttl=60, early=1.0, back_off=0)
        assert table.get_or_compute("k", lambda: (1,), ttl=60) == (1,)
        table.set_raw("other", b"(1,)", 0x60000002)
        assert table["k"] == (1,) and table["other"] == b"(1,)"


def test_tags_are_fetched_before_the_value_is_computed(table):
    def compute():
        table.invalidate("news")
        return "old data"

    assert table.get_or_compute("k", compute, ttl=60, tags=["news"]) == "old data"
    assert table.get("k") is None
    assert table.get_or_compute("k", lambda: "new data", ttl=60, tags="news") == "new data"
    assert table.get("k") == "new data" and table.tags_of("k") == ["news"]


def test_a_full_table_computes_anyway(table_name):
    with tavola.open(table_name, max_size=1 << 20) as table:
        big = "x" * 2_000_000
        assert table.get_or_compute("k", lambda: big, ttl=60) == big
        assert table.get("k") is None


def test_another_thread_waits_for_the_value(table):
    began, go = threading.Event(), threading.Event()
    results = []

    def compute():
        began.set()
        assert go.wait(60)
        return "computed"

    first = threading.Thread(
        target=lambda: results.append(table.get_or_compute("k", compute, ttl=60))
    )
    first.start()
    assert began.wait(60)
    with pytest.raises(tavola.LockTimeout, match="still computing"):
        table.get_or_compute("k", lambda: "wrong", ttl=60, timeout=0)
    second = threading.Thread(
        target=lambda: results.append(table.get_or_compute("k", lambda: "wrong", ttl=60))
    )
    second.start()
    go.set()
    first.join(60)
    second.join(60)
    assert results == ["computed", "computed"]


def test_the_lease_of_a_killed_process_passes_on(table):
    import os

    ready, begun = os.pipe()

    def compute():
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(lambda: table.get_or_compute("k", compute, ttl=60, lease=600))
    assert os.read(ready, 1) == b"x"
    waiter = threading.Timer(0.02, kill, [child])
    waiter.start()
    assert table.get_or_compute("k", lambda: "mine", ttl=60, timeout=60) == "mine"
    waiter.join(60)
    os.close(ready), os.close(begun)


STAMPEDE = """
import os, sys, time, tavola
table = tavola.open(sys.argv[1])
@table.memoize(ttl=600, name="slow")
def slow(x):
    table.incr("computed")
    time.sleep(0.05)
    return x * x
table.incr("ready")
while table["ready"] < 8:
    pass
print([slow(x) for x in range(5)])
"""


def test_eight_processes_compute_each_value_once(table, table_name):
    processes = [start(STAMPEDE, table_name) for _ in range(8)]
    printed = {finish(process) for process in processes}
    assert printed == {"[0, 1, 4, 9, 16]\n"}
    assert table["computed"] == 5


def test_memoize_keys(table):
    calls = []

    @table.memoize(ttl=60, name="f", ignore=("self", "log"))
    def function(self, x, log=None, *, y=0):
        calls.append((x, y))
        return [x, y]

    assert function(object(), 1) == [1, 0] and function(object(), 1, "log") == [1, 0]
    assert function(None, 1, log="log") == [1, 0] and calls == [(1, 0)]
    assert function(None, 1.0) == [1, 0] and function(None, True) == [1, 0]
    assert function(None, 1, y=2) == [1, 2] and function(None, "1") == ["1", 0]
    assert function.cache_key(None, 1, y=2) == "f(1,y=2)" in table
    assert function.invalidate(None, 1, y=2) and "f(1,y=2)" not in table
    assert len(function.cache_key(None, "x" * 1000)) < 60
    assert function.__name__ == "function" and function.__wrapped__ is not None
    function.cache_clear()
    assert len(table) == 0
    with pytest.raises(TypeError, match="same in every process"):
        function(None, object())
    with pytest.raises(ValueError, match="no such parameter"):
        table.memoize(ignore="z")(lambda x: x)
    with pytest.raises(TypeError, match="parentheses"):
        table.memoize(lambda x: x)


def test_memoize_typed_and_tags(table):
    @table.memoize(ttl=60, tag="numbers", typed=True, name="g")
    def function(x):
        return repr(x)

    assert [function(1), function(1.0), function(True)] == ["1", "1.0", "True"]
    assert table.invalidate("numbers") and len(table) == 0


def test_memoize_hands_on_exceptions_to_each_caller(table):
    @table.memoize(ttl=60)
    def broken(x):
        raise KeyError(x)

    for _ in range(3):
        with pytest.raises(KeyError):
            broken(1)


def test_keys_of_calls_are_the_same_in_every_process():
    code = (
        "from tavola._keys import call_key; import datetime, decimal, uuid, enum\n"
        "print(call_key('f', ({'b', 'a', 'c'}, {'y': 1, 'x': frozenset('qwertz')},"
        " datetime.date(2026, 1, 2), decimal.Decimal('1.50'), uuid.UUID(int=5), 1j), {'k': b'x'}))"
    )
    import os

    printed = {
        finish(start(code, env={**os.environ, "PYTHONHASHSEED": str(seed)})) for seed in range(3)
    }
    assert len(printed) == 1


def test_coroutines_compute_once(table):
    calls = []

    @table.memoize(ttl=60, name="page", back_off=60)
    async def page(number):
        calls.append(number)
        await asyncio.sleep(0.01)
        if number < 0:
            raise ValueError("negative")
        return f"page {number}"

    async def main():
        pages = await asyncio.gather(*(page(n % 2) for n in range(50)))
        assert sorted(set(pages)) == ["page 0", "page 1"] and len(pages) == 50
        with pytest.raises(ValueError):
            await page(-1)
        with pytest.raises(tavola.NotComputedError, match="negative"):
            await page(-1)

    asyncio.run(main())
    assert sorted(calls) == [-1, 0, 1] and table["page(1)"] == "page 1"


def test_the_event_loop_runs_while_another_process_computes(table):
    import os

    ready, begun = os.pipe()
    go, started = os.pipe()

    def compute():
        os.write(begun, b"x")
        os.read(go, 1)
        return "theirs"

    child = forked(lambda: table.get_or_compute("k", compute, ttl=60))
    assert os.read(ready, 1) == b"x"

    async def main():
        async def mine():
            return "mine"

        task = asyncio.ensure_future(table.get_or_compute_async("k", mine, ttl=60))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        assert not task.done()
        os.write(started, b"x")
        return await task

    assert asyncio.run(main()) == "theirs"
    reap(child)
    for end in (ready, begun, go, started):
        os.close(end)


def test_a_cancelled_task_gives_its_lease_up(table):
    async def forever():
        await asyncio.Event().wait()

    async def main():
        task = asyncio.ensure_future(
            table.get_or_compute_async("k", forever, ttl=60, lease=3600)
        )
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert table.get_or_compute("k", lambda: "mine", ttl=60, timeout=0) == "mine"


def test_an_asynchronous_wait_has_a_timeout(table):
    lease = table._ask("k", 60, 0, None, 60)[2]

    async def compute():
        return 1

    with pytest.raises(tavola.LockTimeout):
        asyncio.run(table.get_or_compute_async("k", compute, ttl=60, timeout=0))
    assert lease.release()
    assert asyncio.run(table.get_or_compute_async("k", compute, ttl=60, timeout=0)) == 1


def test_watches_notice_changes_of_other_processes(table):
    watch = table.watch("k")
    reap(forked(lambda: table.set("k", 1)))
    assert watch.wait(60) and not watch.wait(0)
    child = forked(lambda: table.set("k", 2))
    assert asyncio.run(watch.wait_async(60))
    assert not asyncio.run(watch.wait_async(0))
    reap(child)
    watch.close()
    with pytest.raises(tavola.ClosedError):
        watch.wait(0)

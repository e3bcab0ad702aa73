"""Handles in forked and spawned processes, in threads, and at the end of the interpreter."""

import gc
import multiprocessing
import os
import signal
import threading
import time

import pytest
from processes import finish, forked, kill, reap, start

import tavola


def test_a_forked_child_uses_the_handle_of_its_parent(table):
    table["a"] = 1

    def child():
        assert table["a"] == 1
        table["b"] = [os.getpid()]
        table.incr("n")
        with table.lock("l"):
            table.get_or_compute("c", lambda: "computed", ttl=60)

    children = [forked(child) for _ in range(4)]
    for pid in children:
        reap(pid)
    assert table["n"] == 4 and table["b"][0] in children and table["c"] == "computed"
    assert table.check()["is_clean"]


def test_a_fork_while_threads_write(table):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            table.incr("n")
            table.set("k", "x" * 100)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()

    def child():
        for _ in range(100):
            table.incr("child")

    for _ in range(20):
        reap(forked(child))
    stop.set()
    for thread in threads:
        thread.join(60)
    assert table["child"] == 2000 and table.check()["is_clean"]


def _count(table, times):
    for _ in range(times):
        table.incr("n")
    return table["n"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(table, method):
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=_count, args=(table, 500)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert table["n"] == 1500


def test_threads_share_a_handle(table):
    errors = []

    def work(number):
        try:
            for step in range(300):
                key = f"{number}:{step}"
                table[key] = {"step": step}
                assert table[key] == {"step": step}
                table.incr("n")
                table.get_many([key] * 100)
                if step % 50 == 0:
                    assert f"{number}:0" in set(table.keys(f"{number}:"))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == [] and table["n"] == 2400 and len(table) == 2401


def test_a_close_while_other_threads_work(table_name):
    table = tavola.open(table_name)
    table.set_many({str(number): number for number in range(2000)})
    began, errors = threading.Barrier(4), []

    def work():
        began.wait(60)
        try:
            while True:
                for _ in table.items():
                    pass
                table.get_many([str(number) for number in range(500)])
                table.watch("x").wait(0)
        except tavola.ClosedError:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    began.wait(60)
    table.close()
    for thread in threads:
        thread.join(60)
    assert errors == [] and not any(thread.is_alive() for thread in threads)


def test_the_collector_runs_at_every_allocation(cache):
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(300):
            cache.set(f"k{number}", {"a": [number, (number,)]}, ttl=60, tags=["t"])
            assert cache[f"k{number}"] == {"a": [number, (number,)]}
            cache.get_many([f"k{n}" for n in range(number)])
            cache.get_or_compute(f"c{number}", list, ttl=60)
        assert len(list(cache.items("k"))) == 300
    finally:
        gc.set_threshold(*thresholds)


def test_a_table_in_a_cycle_is_collected():
    import weakref

    class Serializer:
        flags = 0x61000000
        loads = dumps = bytes

    serializer = Serializer()
    table = tavola.open("cycle", serializer=serializer, private=True, max_size=1 << 20)
    serializer.table = table
    gone = weakref.ref(table)
    del table, serializer
    gc.collect()
    assert gone() is None


EXIT = """
import sys, threading, tavola
table, jobs = tavola.open(sys.argv[1]), tavola.Queue(sys.argv[1] + "-jobs")
def forever(act):
    while True:
        act()
acts = [
    lambda: table.incr("n"),
    lambda: table.get_many([str(n) for n in range(200)]),
    lambda: list(table.items()),
    lambda: jobs.get(timeout=100),
    lambda: table.watch("never").wait(100),
    lambda: table.lock("held").acquire(),
]
table.set_many({str(n): n for n in range(1000)})
lock = table.lock("held")
lock.acquire()
for act in acts:
    threading.Thread(target=forever, args=(act,), daemon=True).start()
print("leaving", flush=True)
"""


def test_the_interpreter_ends_while_threads_and_others_work(table, table_name):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            table.set("0", "x")

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(5):
        assert finish(start(EXIT, table_name)) == "leaving\n"
    stop.set()
    writer.join(60)
    assert table.check()["is_clean"]


AT_EXIT = """
import atexit, sys, tavola
table = tavola.open(sys.argv[1])
class Late:
    def __del__(self):
        table["late"] = 1
late = Late()
atexit.register(lambda: table.set("exit", 1))
import builtins
builtins.kept = (late, table, table.view("big"), iter(table), table.watch("x"))
"""


def test_handles_are_used_and_freed_at_the_end(table, table_name):
    table["big"] = "x" * 100_000
    finish(start(AT_EXIT, table_name))
    assert table["exit"] == 1 and table.check()["is_clean"]


def test_a_writer_that_is_killed_harms_nobody(table):
    def write():
        number = 0
        while True:
            number += 1
            table.set(f"k{number % 100}", "x" * (number % 3000), tags=["t"])
            table.incr("n")
            if number % 7 == 0:
                table.delete(f"k{number % 100}")

    for _ in range(10):
        children = [forked(write) for _ in range(3)]
        goal = table.get("n", 0) + 200
        while table.get("n", 0) < goal:
            pass
        for child in children:
            kill(child)
        table["after"] = "alive"
        assert table["after"] == "alive"
    assert table.check()["is_clean"]


def test_a_stopped_process_is_reported_as_busy(table):
    table.set_lock_timeout(0.05)
    child = forked(lambda: [table.incr("n") for _ in iter(int, 1)])
    while table.get("n", 0) < 100:
        pass
    try:
        # Most stops hit no lock; either way a write returns in time.
        for _ in range(50):
            os.kill(child, signal.SIGSTOP)
            began = time.monotonic()
            try:
                table.incr("n")
            except tavola.BusyError as error:
                assert "locked by" in str(error)
            assert time.monotonic() - began < 60
            os.kill(child, signal.SIGCONT)
    finally:
        os.kill(child, signal.SIGCONT)
        kill(child)

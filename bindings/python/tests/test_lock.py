"""Locks by name over threads and processes."""

import os
import threading
import time

import pytest
from processes import finish, forked, kill, reap, start

import tavola


def test_one_at_a_time(table):
    first, second = table.lock("a"), table.lock("a")
    assert first.acquire() and first.locked() and not second.locked()
    assert not second.acquire(blocking=False) and not second.acquire(timeout=0.01)
    with table.lock("b"):
        pass
    first.release()
    assert second.acquire(blocking=False)
    second.release()
    with pytest.raises(tavola.NotHeldError):
        second.release()
    assert len(table) == 0


def test_a_lock_waits_for_its_release(table):
    lock, began = table.lock("a"), threading.Event()
    lock.acquire()
    got = []

    def wait():
        began.set()
        with table.lock("a"):
            got.append(1)

    thread = threading.Thread(target=wait)
    thread.start()
    assert began.wait(60) and got == []
    lock.release()
    thread.join(60)
    assert got == [1]


COUNT = """
import sys, tavola
table = tavola.open(sys.argv[1])
for _ in range(200):
    with table.lock("counter"):
        table["n"] = table.get("n", 0) + 1
"""


def test_processes_exclude_each_other(table, table_name):
    processes = [start(COUNT, table_name) for _ in range(4)]
    for process in processes:
        finish(process)
    assert table["n"] == 800


def test_the_lock_of_a_killed_process_passes_on(table):
    ready, begun = os.pipe()

    def hold():
        lock = table.lock("a")
        assert lock.acquire()
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(hold)
    assert os.read(ready, 1) == b"x"
    lock = table.lock("a")
    assert not lock.acquire(blocking=False)
    kill(child)
    assert lock.acquire(timeout=60)
    lock.release()
    os.close(ready), os.close(begun)


def test_a_forked_child_does_not_have_the_locks_of_its_parent(table):
    lock = table.lock("a")
    lock.acquire()

    def child():
        with pytest.raises(tavola.NotHeldError):
            lock.release()

    reap(forked(child))
    assert not table.lock("a").acquire(blocking=False)
    lock.release()


def test_a_lease_that_has_ended_is_reported(table):
    lock = table.lock("a", lease=0.001)
    lock.acquire()
    with table.lock("a"):
        pass
    with pytest.raises(tavola.NotHeldError, match="longer lease"):
        lock.release()


def test_a_key_in_the_place_of_a_lock_is_explained(table):
    table[b"\0lock\0a"] = 1
    with pytest.raises(tavola.Error, match="delete the key"):
        table.lock("a").acquire()

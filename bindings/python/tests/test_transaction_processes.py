"""Transactions of several threads and processes: the turn, sums, and the end of a block."""

import gc
import os
import signal
import threading

import pytest
from processes import forked, kill, reap
from test_memory import _resident

import tavola


def test_a_transaction_belongs_to_its_thread(table):
    raised = []

    def use(t):
        for call in (lambda: t["a"], lambda: t.set("a", 2), t._commit):
            try:
                call()
            except tavola.Error as error:
                raised.append(str(error))

    with table.transaction() as t:
        t["a"] = 1
        thread = threading.Thread(target=use, args=(t,))
        thread.start()
        thread.join(60)
    assert len(raised) == 3 and all("another thread" in text for text in raised)
    assert table["a"] == 1


def test_blocks_that_are_left_early_give_the_turn_back(table):
    def leave():
        for _ in range(3):
            with table.transaction(once=True) as t:
                t.incr("left")
                break
        for _ in range(3):
            with table.transaction(once=True) as t:
                t.incr("left")
                continue
        with table.transaction(once=True) as t:
            t.incr("left")
            return t

    assert leave().closed and table["left"] == 5

    def stopped():
        with table.transaction(once=True) as t:
            t["stopped"] = 1
            yield

    generator = stopped()
    next(generator)
    del generator
    gc.collect()
    assert table.transact(lambda t: t.get("stopped", "no"), once=True) == "no"


def test_a_wait_for_the_turn_ends_after_the_lock_timeout(table):
    table.set_lock_timeout(0.05)
    raised = []

    def wait():
        try:
            with table.transaction(once=True):
                raised.append(None)
        except tavola.BusyError as error:
            raised.append(str(error))

    with table.transaction(once=True):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(60)
    assert len(raised) == 1 and "the turn of transactions is locked" in raised[0]


def test_the_turn_of_a_killed_process_passes_on(table):
    ready, begun = os.pipe()

    def hold():
        with table.transaction(once=True) as t:
            t["a"] = 1
            os.write(begun, b"x")
            signal.pause()

    child = forked(hold)
    assert os.read(ready, 1) == b"x"
    kill(child)
    assert table.transact(lambda t: t.get("a", "nothing"), once=True) == "nothing"
    os.close(ready), os.close(begun)


def test_a_forked_child_does_not_give_the_turn_of_its_parent_away(table):
    with table.transaction(once=True) as t:
        t["a"] = 1
        child = forked(t._end)
        reap(child)
        table.set_lock_timeout(0.05)
        child = forked(_finds_the_turn_taken, table)
        reap(child)
    assert table["a"] == 1


def _finds_the_turn_taken(table):
    # A thread, as the copy of this one has noted that it has the turn.
    raised = []

    def begin():
        try:
            table.transact(lambda t: None, once=True)
        except tavola.BusyError:
            raised.append(1)

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join(60)
    assert raised == [1]


def _move(table, times, seed):
    for step in range(times):
        number = seed * 7919 + step * 31
        here, there = f"k{number % 5}", f"k{(number // 5 + 1) % 5}"

        def body(t):
            t[here] = t[here] - 1
            t.incr(there)

        table.transact(body)


def _has_ended(child):
    pid, status = os.waitpid(child, os.WNOHANG)
    assert not pid or os.waitstatus_to_exitcode(status) == 0
    return bool(pid)


def test_processes_keep_a_sum(table):
    table.update({f"k{number}": 100 for number in range(5)})
    children = [forked(_move, table, 200, seed) for seed in range(4)]
    keys = [f"k{number}" for number in range(5)]
    for child in children:
        while not _has_ended(child):
            assert table.read_together(lambda t: sum(t[key] for key in keys)) == 500
    assert sum(table.values()) == 500 and table.check()["is_clean"]


def test_processes_take_turns(table):
    def work():
        for _ in range(100):
            with table.transaction(once=True) as t:
                t["n"] = t.get("n", 0) + 1

    for child in [forked(work) for _ in range(3)]:
        reap(child)
    assert table["n"] == 300


def test_threads_take_turns(table):
    def work():
        for _ in range(200):
            with table.transaction(once=True) as t:
                t["m"] = t.get("m", 0) + 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert table["m"] == 800


def test_many_transactions_do_not_grow_the_process(table):
    def fail(t):
        t["a"] = "x" * 200
        raise ZeroDivisionError

    def round_of(number):
        with table.transaction(once=number % 2 == 0) as t:
            t.set(f"k{number % 50}", "x" * (number % 300), ttl=60, tags="t")
            t.incr("n")
            t.roll_back_to(t.savepoint())
        table.transact(lambda t: t.take(f"k{number % 50}"))
        table.transact(lambda t: t.abort())
        table.read_together(lambda t: t.get("n"))
        with pytest.raises(ZeroDivisionError):
            table.transact(fail)

    for number in range(400):
        round_of(number)
    gc.collect()
    before = _resident()
    for number in range(4000):
        round_of(number)
    gc.collect()
    grown = _resident() - before
    assert grown < 4 << 20, f"{grown} bytes"
    assert table["n"] == 4400

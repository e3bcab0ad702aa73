"""Named locks over threads and processes."""

import contextlib
import gc
import os
import pickle
import signal
import subprocess
import threading
import time

import pytest
from processes import built_command, finish, forked, kill, reap, start

import tavola


def test_one_at_a_time(table):
    first, second = table.lock("a"), table.lock(b"a")
    assert not first.is_held
    assert first.acquire() and first.is_held and first.locked() and not second.is_held
    assert not first.is_shared and not first.owner_died
    assert not second.acquire(blocking=False) and not second.acquire(timeout=0.01)
    assert not first.acquire(blocking=False)
    with table.lock("b"):
        pass
    first.release()
    assert not first.is_held and not first.locked()
    assert second.acquire(blocking=False)
    second.release()
    with pytest.raises(tavola.NotHeldError, match="does not hold the lock b'a'"):
        second.release()
    assert len(table) == 0


def test_a_lock_that_is_not_free_in_time(table):
    late = table.lock("a", timeout=0.01)
    with table.lock("a"):
        with pytest.raises(tavola.LockTimeout, match="'a' was not free in time"):
            with late:
                pytest.fail("two hold the lock")
        assert not late.acquire() and not late.acquire(timeout=0)
        with pytest.raises(TimeoutError), table.lock("a", timeout=0):
            pytest.fail("two hold the lock")
    with late:
        assert late.is_held


def test_several_share_a_lock(table):
    with table.lock("a", shared=True) as one:
        other = table.lock("a", timeout=0, shared=True)
        with other:
            assert one.is_shared and other.is_shared and one.is_held and other.is_held
            assert not table.lock("a").acquire(blocking=False)
        assert not other.is_shared
        assert not table.lock("a").acquire(timeout=0.01)
        reap(forked(lambda: table.lock("a", 60, True).__enter__()))
    alone = table.lock("a")
    assert alone.acquire(blocking=False) and not alone.is_shared
    assert not one.acquire(blocking=False) and not other.acquire(timeout=0.01)
    alone.release()


def test_threads_share_a_lock_through_one_object(table):
    lock, inside = table.lock("a", shared=True), threading.Barrier(2)

    def share():
        with lock:
            inside.wait(60)

    thread = threading.Thread(target=share)
    thread.start()
    share()
    thread.join(60)
    assert not inside.broken and not lock.is_held
    assert table.lock("a").acquire(blocking=False)


def test_a_lock_is_released_when_its_object_is_deleted(table):
    lock = table.lock("a")
    lock.acquire()
    assert not table.lock("a").acquire(blocking=False)
    del lock
    gc.collect()
    assert table.lock("a").acquire(blocking=False)


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


def test_one_that_waits_is_not_overtaken_by_those_that_share(table):
    reader, other = table.lock("a", shared=True), table.lock("a", shared=True)
    reader.acquire()
    writer = threading.Thread(target=lambda: table.lock("a").acquire())
    writer.start()
    while other.acquire(blocking=False):
        other.release()
    # The wait is not given up in between, also if another thread uses the interpreter all the time.
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        assert not other.acquire(blocking=False)
    reader.release()
    writer.join(60)
    assert other.acquire(blocking=False)


class _Stop(Exception):
    pass


def test_a_signal_handler_ends_a_wait(table):
    def stop(*_):
        raise _Stop

    before = signal.signal(signal.SIGUSR1, stop)
    late = table.lock("a")
    try:
        with table.lock("a"):
            with pytest.raises(_Stop):
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
                late.acquire()
        assert not late.is_held
        with late:
            pass
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("name", ["", "x" * 57, "ü" * 29, "a\0b", b"\xff", b""])
def test_bad_names(table, name):
    with pytest.raises(tavola.BadNameError) as raised:
        table.lock(name)
    assert isinstance(raised.value, ValueError) and raised.value.status == "BAD_NAME"


def test_names(table):
    for name in ("x" * 56, "ü" * 28, " ", "a/b"):
        with table.lock(name) as lock:
            assert lock.name == name and not table.lock(name.encode()).acquire(blocking=False)
    with pytest.raises(TypeError, match="str or bytes, not int"):
        table.lock(5)
    with pytest.raises(tavola.ReadOnlyError):
        tavola.open(table.path, read_only=True).lock("a")
    with pytest.raises(TypeError):
        table.lock("a", lease=5)


@pytest.mark.parametrize(
    "options",
    [{"capacity": 8 << 20}, {"durable": "os"}, {"private": True, "max_size": 8 << 20}],
    ids=lambda options: next(iter(options)),
)
def test_locks_of_any_table(tmp_path, table_name, options):
    name = tmp_path / "durable" if "durable" in options else table_name
    with tavola.open(name, **options) as table, table.lock("a"):
        assert not table.lock("a").acquire(blocking=False)


def test_a_pickled_lock_is_the_same_lock(table):
    lock = table.lock("a", timeout=0)
    with lock:
        again = pickle.loads(pickle.dumps(lock))
        assert again.name == "a" and not again.is_held and not again.acquire()
    assert again.acquire() and not lock.acquire()
    again.release()
    shared = table.lock("a", shared=True)
    with shared, pickle.loads(pickle.dumps(shared)) as again:
        assert again.is_shared


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


@contextlib.contextmanager
def _holder(table, **options):
    """A child that holds the lock ``a`` until it is killed; it has it when this returns."""
    ready, begun = os.pipe()

    def hold():
        lock = table.lock("a", **options)
        assert lock.acquire()
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(hold)
    os.close(begun)
    assert os.read(ready, 1) == b"x"
    os.close(ready)
    yield child


def test_the_lock_of_a_killed_process_passes_on(table):
    with _holder(table) as child:
        lock = table.lock("a")
        assert not lock.acquire(blocking=False)
        kill(child)
    assert lock.acquire(timeout=60) and lock.owner_died
    lock.release()
    assert not lock.owner_died
    with lock:
        assert not lock.owner_died


def test_after_a_death_a_lock_is_not_shared(table):
    with _holder(table) as child:
        kill(child)
    with table.lock("a", timeout=60, shared=True) as lock:
        assert lock.owner_died and lock.is_held and not lock.is_shared
        assert not table.lock("a", shared=True).acquire(blocking=False)
    with table.lock("a", shared=True) as lock:
        assert lock.is_shared and not lock.owner_died


def test_the_death_of_one_that_shared_a_lock_is_no_loss(table):
    with _holder(table, shared=True) as child:
        lock = table.lock("a")
        assert not lock.acquire(blocking=False)
        kill(child)
    assert lock.acquire(timeout=60) and not lock.owner_died


def test_a_stopped_process_keeps_its_lock(table):
    with _holder(table) as child:
        os.kill(child, signal.SIGSTOP)
        assert not table.lock("a").acquire(timeout=0.1)
        kill(child)
    assert table.lock("a").acquire(timeout=60)


AT_EXIT = """
import sys, tavola
lock = tavola.open(sys.argv[1]).lock("a")
print(lock.acquire(blocking=False))
"""


def test_the_end_of_the_interpreter_releases_a_lock(table, table_name):
    assert finish(start(AT_EXIT, table_name)) == "True\n"
    with table.lock("a", timeout=0) as lock:
        assert not lock.owner_died


def test_a_forked_child_does_not_hold_the_lock_of_its_parent(table):
    lock = table.lock("a")
    lock.acquire()

    def child():
        assert not lock.is_held and not lock.locked()
        assert not lock.acquire(blocking=False)
        with pytest.raises(tavola.NotHeldError):
            lock.release()

    reap(forked(child))
    reap(forked(lambda: lock.__exit__(None, None, None)))
    assert lock.is_held and not table.lock("a").acquire(blocking=False)
    lock.release()
    assert table.lock("a").acquire(blocking=False)


def test_a_forked_child_deletes_the_lock_of_its_parent(table):
    locks = [table.lock("a")]
    locks[0].acquire()

    def child():
        locks.clear()
        gc.collect()
        assert not table.lock("a").acquire(blocking=False)

    reap(forked(child))
    assert not table.lock("a").acquire(blocking=False)


def test_a_forked_child_takes_the_lock_after_its_parent(table):
    lock = table.lock("a")
    lock.acquire()

    def child():
        with lock:
            assert lock.is_held and not lock.owner_died
            assert not table.lock("a").acquire(blocking=False)
        assert not lock.is_held

    pid = forked(child)
    lock.release()
    reap(pid)
    assert table.lock("a").acquire(blocking=False)


needs_command = pytest.mark.skipif(
    not built_command(), reason="the command tavola has not been built"
)


def _asked(table, *options):
    """Return whether the command gets the lock ``a`` at once."""
    command = [built_command(), "lock", table.path, "a", "--timeout", "0", *options, "--", "true"]
    return {0: True, 1: False}[subprocess.run(command, capture_output=True).returncode]


@needs_command
def test_the_command_waits_for_the_binding(table):
    with table.lock("a"):
        assert not _asked(table) and not _asked(table, "--shared")
    with table.lock("a", shared=True):
        assert not _asked(table) and _asked(table, "--shared")
    assert _asked(table)


@needs_command
def test_the_binding_waits_for_the_command(table):
    for is_killed in (False, True):
        command = subprocess.Popen(
            [built_command(), "lock", table.path, "a", "--", "sh", "-c", "echo held; cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        assert command.stdout.readline() == "held\n"
        lock = table.lock("a")
        assert not lock.acquire(blocking=False)
        if is_killed:
            command.kill()
        command.communicate(timeout=60)
        assert command.returncode == (-signal.SIGKILL if is_killed else 0)
        assert lock.acquire(timeout=60) and lock.owner_died == is_killed
        lock.release()

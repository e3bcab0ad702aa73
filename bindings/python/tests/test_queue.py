"""Queues: the manners of queue.Queue, waits, and jobs of killed workers."""

import os
import pickle
import queue
import subprocess
import threading
import time

import pytest
from processes import built_command, finish, forked, kill, reap, start

import tavola


@pytest.fixture
def jobs(table_name):
    with tavola.Queue(table_name, maxsize=3, item_size=100) as jobs:
        yield jobs


def test_it_is_first_in_first_out_and_bounded(jobs):
    assert jobs.empty() and not jobs.full() and jobs.maxsize == 3 and jobs.item_size == 100
    for item in ("a", 2, [3]):
        jobs.put(item)
    assert jobs.full() and jobs.qsize() == 3
    with pytest.raises(queue.Full):
        jobs.put_nowait("d")
    with pytest.raises(queue.Full):
        jobs.put("d", timeout=0.01)
    assert [jobs.get(), jobs.get_nowait(), jobs.get(block=False)] == ["a", 2, [3]]
    with pytest.raises(queue.Empty):
        jobs.get_nowait()
    with pytest.raises(queue.Empty):
        jobs.get(timeout=0.01)
    with pytest.raises(ValueError):
        jobs.get(timeout=-1)
    assert jobs.empty() and jobs.join(timeout=0)


def test_items_keep_their_kind(jobs):
    for item in ("", "ü", b"", b"\xff", 0, -5, 2.5, None, True, {"a": [1]}):
        jobs.put(item)
        result = jobs.get()
        assert result == item and type(result) is type(item)


def test_items_that_do_not_fit_are_refused(jobs):
    jobs.put("x" * 100)
    assert jobs.get() == "x" * 100
    with pytest.raises(tavola.TooLargeError, match="101 bytes.*at most 100"):
        jobs.put("x" * 101)
    with pytest.raises(tavola.EncodeError):
        jobs.put((1,))
    assert jobs.empty() and not jobs.full()


def test_any_object_with_pickle(table_name):
    with tavola.Queue(table_name, serializer="pickle") as jobs:
        jobs.put((1, {2}))
        assert jobs.get() == (1, {2})
        again = pickle.loads(pickle.dumps(jobs))
        jobs.put((3,))
        assert again.get() == (3,)


def test_a_get_waits_for_a_put_of_another_process(jobs):
    child = forked(lambda: jobs.put("from the child"))
    assert jobs.get(timeout=60) == "from the child"
    reap(child)


def test_a_put_waits_for_room(jobs):
    for number in range(3):
        jobs.put(number)
    thread = threading.Thread(target=jobs.put, args=(3,), kwargs={"timeout": 60})
    thread.start()
    assert [jobs.get(timeout=60) for _ in range(4)] == [0, 1, 2, 3]
    thread.join(60)


def test_a_waiting_get_lets_other_threads_run(jobs):
    results = []
    thread = threading.Thread(target=lambda: results.append(jobs.get(timeout=60)))
    thread.start()
    total = sum(range(100_000))
    jobs.put(total)
    thread.join(60)
    assert results == [total]


def test_a_waiting_get_can_be_interrupted(table_name):
    code = (
        "import sys, tavola\njobs = tavola.Queue(sys.argv[1])\n"
        "try:\n    print('ready', flush=True)\n    jobs.get()\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = start(code, table_name)
    assert process.stdout.readline() == "ready\n"
    # It is either before its wait or in it; both end by the signal.
    import signal

    process.send_signal(signal.SIGINT)
    assert finish(process).endswith("interrupted\n")


def test_jobs_of_a_killed_worker_are_handed_back(table_name):
    jobs = tavola.Queue(table_name, maxsize=10, acknowledge=True)
    for number in range(3):
        jobs.put(number)
    ready, begun = os.pipe()

    def work():
        worker = tavola.Queue(table_name, acknowledge=True)
        assert worker.get() == 0
        worker.task_done()
        assert worker.get() == 1
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(work)
    assert os.read(ready, 1) == b"x"
    assert jobs.qsize() == 1 and not jobs.join(timeout=0)
    kill(child)
    got = []
    while len(got) < 2:
        got.append(jobs.get(timeout=60))
        jobs.task_done()
    assert got == [2, 1] and jobs.join(timeout=60)
    with pytest.raises(ValueError):
        jobs.task_done()
    jobs.close()
    os.close(ready), os.close(begun)


def test_a_job_is_given_back(table_name):
    with tavola.Queue(table_name, acknowledge=True) as jobs:
        jobs.put("a")
        assert jobs.get() == "a" and jobs.qsize() == 0
        jobs.give_back()
        assert jobs.get() == "a"
        jobs.task_done()
        with pytest.raises(tavola.NotHeldError):
            jobs.give_back()


WORKER = """
import queue, sys, tavola
jobs, done = tavola.Queue(sys.argv[1]), tavola.open(sys.argv[2])
while True:
    job = jobs.get(timeout=60)
    if job is None:
        break
    done.incr(str(job))
"""


def test_each_job_goes_to_one_of_many_workers(table, table_name):
    jobs = tavola.Queue(table_name + "-jobs", maxsize=50)
    workers = [start(WORKER, table_name + "-jobs", table_name) for _ in range(4)]
    for number in range(1000):
        jobs.put(number, timeout=60)
    for _ in workers:
        jobs.put(None, timeout=60)
    for worker in workers:
        finish(worker)
    assert dict(table) == {str(number): 1 for number in range(1000)}
    assert jobs.join(timeout=60)


def test_a_closed_queue_says_so(jobs):
    jobs.close()
    with pytest.raises(tavola.ClosedError):
        jobs.put(1)
    with pytest.raises(tavola.ClosedError):
        jobs.qsize()


def test_the_name_of_something_else(table, table_name):
    with pytest.raises(tavola.NotThereError):
        tavola.Queue(table_name)
    with pytest.raises(tavola.TableNotFoundError):
        tavola.Queue(table_name + "-x", create=False)


@pytest.mark.skipif(not built_command(), reason="the command tavola has not been built")
def test_text_is_exchanged_with_the_shell(jobs):
    command = built_command()
    subprocess.run([command, "queue", "push", jobs.path, "resize 17.jpg"], check=True)
    assert jobs.get(timeout=60) == "resize 17.jpg"
    jobs.put("resize 18.jpg")
    popped = subprocess.run(
        [command, "queue", "pop", jobs.path], check=True, capture_output=True, text=True
    )
    assert popped.stdout == "resize 18.jpg\n"

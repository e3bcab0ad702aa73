"""A real run of gunicorn: workers that were forked from one handle, of which some are killed."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
from processes import HERE

import tavola


@pytest.fixture
def server(table_name):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--preload", "--workers=4", "--timeout=60",
         f"--bind=127.0.0.1:{port}", "--log-level=error", "gunicorn_app:application"],
        cwd=HERE, env={**os.environ, "TAVOLA_TEST_TABLE": table_name},
    )
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None
                threading.Event().wait(0.05)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def ask(port, path):
    """Return the answer of the server, or ``None`` if the worker died."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    except (http.client.HTTPException, OSError):
        return None
    finally:
        connection.close()


def test_workers_share_a_table_and_survive_killed_ones(server, table_name):
    pids, answers = set(), []

    def write():
        for _ in range(50):
            pids.add(ask(server, "/write"))
        answers.append(ask(server, "/slow"))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert answers == [49] * 8 and ask(server, "/computed") == 1
    assert ask(server, "/hits") == 400 and len(pids) > 1 and None not in pids

    table = tavola.open(table_name)
    jobs = tavola.Queue(table_name + "-jobs", acknowledge=True)
    for round_number in range(3):
        jobs.put(round_number)
        assert ask(server, "/hold") is None
        assert jobs.get(timeout=60) == round_number
        jobs.task_done()
        lock = table.lock("held")
        assert lock.acquire(timeout=60) and lock.owner_died
        lock.release()
        assert isinstance(ask(server, "/write"), int)
    assert table["hits"] == 403 and table.check()["is_clean"]

"""An application for gunicorn, whose handles are opened before it forks its workers."""

import json
import os
import time

import tavola

table = tavola.open(os.environ["TAVOLA_TEST_TABLE"], capacity=8 << 20)
jobs = tavola.Queue(os.environ["TAVOLA_TEST_TABLE"] + "-jobs", acknowledge=True)


@table.memoize(ttl=600, name="slow")
def slow(x):
    table.incr("computed")
    time.sleep(0.05)
    return x * x


def write():
    table.incr("hits")
    table.set(f"k{table['hits'] % 50}", {"pid": os.getpid()}, tags=["t"])
    return os.getpid()


def hold():
    """Take a job and the lock, and end as a killed worker does."""
    lock = table.lock("held")
    lock.acquire()
    jobs.get()
    os.kill(os.getpid(), 9)


ACTIONS = {
    "/write": write,
    "/slow": lambda: slow(7),
    "/hits": lambda: table.get("hits", 0),
    "/computed": lambda: table.get("computed", 0),
    "/hold": hold,
}


def application(environ, start_response):
    answer = json.dumps(ACTIONS[environ["PATH_INFO"]]()).encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]

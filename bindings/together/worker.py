"""A worker in Python: see `test`."""

import os
import queue
import sys

import tavola

table_name, queue_name, journal_path, stop_path = sys.argv[1:]
table = tavola.open(table_name)
jobs = tavola.Queue(queue_name, acknowledge=True)
table.set("text of python", "grüße")
table.set("list of python", [1, "zwei", None])
jobs.put("grüße of python")
journal = os.open(journal_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
while not os.path.exists(stop_path):
    table.incr("count")
    os.write(journal, b"1\n")
    try:
        job = jobs.get(timeout=0.01)
    except queue.Empty:
        continue
    table.add(f"done {job}", "python")
    jobs.task_done()

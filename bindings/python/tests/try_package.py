"""Tries an installed package, without anything else."""

import sys

import tavola
import tavola.dbm

with tavola.open("try", capacity=8 << 20, ttl=60) as table:
    table["key"] = {"list": [1, 2.5, None, True, "ü"]}
    assert table["key"] == {"list": [1, 2.5, None, True, "ü"]}
    assert table.incr("n", 5) == 5 and table.get(key="missing", default=1) == 1
    assert table.memoize(ttl=60, name="double")(lambda x: 2 * x)(4) == 8
    with table.lock("lock"):
        assert table.check()["is_clean"]
    assert bytes(table.view("key"))
with tavola.Queue("try-queue") as jobs:
    jobs.put([1])
    assert jobs.get() == [1]
with tavola.Log("try-log") as log:
    log.write("info", "one")
    assert log.read()[0].text == "one"
with tavola.dbm.open("try-dbm", "c") as db:
    db["a"] = "b"
    assert db["a"] == b"b"
print(f"tavola {tavola.__version__} works with Python {sys.version.split()[0]}")

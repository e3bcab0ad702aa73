"""The log that all processes write to, and the handler of the module logging."""

import io
import logging
import os
import threading

import pytest
from processes import finish, forked, reap, start

import tavola


@pytest.fixture
def log(table_name):
    with tavola.Log(table_name) as log:
        yield log


def test_lines_are_read_in_order_with_their_writers(log):
    log.write("info", "one")
    reap(forked(lambda: log.write("error", "two")))
    log.write("trace", b"\xff")
    lines = log.read()
    assert [line.text for line in lines] == ["one", "two", b"\xff"]
    assert [line.level for line in lines] == ["INFO", "ERROR", "TRACE"]
    assert lines[0].pid == os.getpid() != lines[1].pid
    assert lines[0].time <= lines[1].time and lines[0].datetime.year >= 2026
    assert log.stats()["lines"] == 3


def test_a_reader_returns_each_line_once(log):
    log.write("info", "old")
    reader = log.reader()
    reader.skip()
    log.write("info", "new")
    assert [line.text for line in reader.lines()] == ["new"]
    assert reader.lines() == [] and reader.follow() == [] and reader.missed == 0


def test_levels_and_texts_are_checked(log):
    with pytest.raises(tavola.OptionError, match="level"):
        log.write("loud", "x")
    with pytest.raises(TypeError):
        log.write("info", 5)
    with pytest.raises(tavola.OptionError, match="overload"):
        tavola.Log("x", overload="forget")


def test_a_drain_writes_lines_out(log):
    out = io.BytesIO()
    log.write("warn", "low on\npaper")
    with log.drain() as drain:
        with pytest.raises(tavola.AlreadyDrainedError):
            log.drain()
        assert drain.finish(out) == 1 and drain.finish(out) == 0
    assert out.getvalue().count(b"\n") == 1 and b"WARN" in out.getvalue()
    log.drain().close()


def test_a_file_that_fails_keeps_the_lines(log):
    class Broken:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def flush(self):
            pass

    log.write("info", "kept")
    with log.drain() as drain:
        with pytest.raises(tavola.SinkError, match="No space left"):
            drain.finish(Broken())
        out = io.BytesIO()
        assert drain.finish(out) == 1 and b"kept" in out.getvalue()


def test_a_drain_runs_in_a_thread(log):
    out, stop = io.BytesIO(), threading.Event()
    drain = log.drain()
    thread = threading.Thread(target=drain.run, args=(out, stop))
    thread.start()
    for number in range(500):
        log.write("info", f"line {number}")
    stop.set()
    thread.join(60)
    assert out.getvalue().count(b"\n") == 500
    drain.close()


def test_the_logging_handler(table_name):
    handler = tavola.LoggingHandler(table_name, size=1 << 20)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger = logging.Logger("shop")
    logger.addHandler(handler)
    logger.critical("a %s", "b")
    logger.warning("ü \ud800")
    logger.debug("d")
    logger.log(5, "t")
    try:
        1 / 0
    except ZeroDivisionError:
        logger.exception("failed")
    lines = handler.log.read()
    assert [line.level for line in lines] == ["ERROR", "WARN", "DEBUG", "TRACE", "ERROR"]
    assert [line.text for line in lines[:3]] == ["shop: a b", "shop: ü \\ud800", "shop: d"]
    assert "ZeroDivisionError" in lines[4].text
    handler.log.close()
    logging.raiseExceptions, before = False, logging.raiseExceptions
    try:
        logger.error("after the close")
    finally:
        logging.raiseExceptions = before


WRITER = """
import logging, sys, threading, tavola
handler = tavola.LoggingHandler(sys.argv[1])
logger = logging.Logger("writer")
logger.addHandler(handler)
def write():
    for number in range(200):
        logger.info("line %d", number)
threads = [threading.Thread(target=write) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_processes_and_threads_write_at_once(log, table_name):
    processes = [start(WRITER, table_name) for _ in range(3)]
    for process in processes:
        finish(process)
    lines = log.read()
    assert len(lines) == 3 * 3 * 200
    assert sorted({line.time for line in lines}) == sorted(set(line.time for line in lines))
    assert [line.time for line in lines] == sorted(line.time for line in lines)

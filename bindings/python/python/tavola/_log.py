"""One log for all processes, and a handler for the module :mod:`logging`."""

import contextlib
import datetime
import logging
import threading
from typing import NamedTuple, Union

from . import _tavola


class LogLine(NamedTuple):
    """A line of a log; from :meth:`Log.read`."""

    #: Seconds since 1970.
    time: float
    #: ``ERROR``, ``WARN``, ``INFO``, ``DEBUG`` or ``TRACE``.
    level: str
    #: The process that wrote it.
    pid: int
    #: The thread that wrote it.
    tid: int
    #: The text; ``bytes`` if it is not UTF-8.
    text: Union[str, bytes]
    #: How many bytes were cut off at the end.
    cut: int

    @property
    def datetime(self):
        """The time as a ``datetime`` in UTC."""
        return datetime.datetime.fromtimestamp(self.time, datetime.timezone.utc)


class Log:
    """A log in shared memory that all processes write to without a system call.

    name: of the file, as for a table. An existing log keeps its size and overload policy.
    size: the space for lines in bytes.
    overload: what happens when the log is full: ``"drop_oldest"`` lines, ``"drop_newest"``, or
        ``"block"`` the writer while there is a drain.
    stderr: whether lines are also shown on the standard error while the log has no drain.

    >>> import tavola
    >>> log = tavola.Log("events")
    >>> log.write("info", "cart 3 is ready")
    >>> [line.text for line in log.read()]
    ['cart 3 is ready']
    """

    def __init__(
        self,
        name,
        size=4 << 20,
        *,
        overload="drop_oldest",
        stderr=False,
        create=True,
        mode=None,
        group=None,
        any_owner=False,
    ):
        if mode is None:
            mode = 0o600 if group is None else 0o660
        self._name = name
        self._log = _tavola.NativeLog(
            name, size, overload, mode, group, any_owner, create, stderr
        )

    @property
    def name(self):
        """The name by which the log was opened."""
        return self._name

    @property
    def path(self):
        """The path of its file."""
        return self._log.path

    def write(self, level, text):
        """Write a line. The level is ``"error"``, ``"warn"``, ``"info"``, ``"debug"`` or
        ``"trace"``; the text is ``str`` or ``bytes``, of which 16,360 bytes are kept."""
        self._log.write(level, text)

    def read(self):
        """Return all lines that are in the log, in the order of time. They stay there.

        >>> import tavola
        >>> log = tavola.Log("read")
        >>> log.write("warn", "low on paper")
        >>> line, = log.read()
        >>> line.level, line.text
        ('WARN', 'low on paper')
        """
        return self.reader().lines()

    def reader(self):
        """Return a :class:`tavola.LogReader`, which returns each line once.

        >>> import tavola
        >>> log = tavola.Log("read once")
        >>> log.write("info", "cart 3 is ready")
        >>> len(log.reader().lines())
        1
        """
        return LogReader(self._log.reader())

    def drain(self):
        """Become the drain of the log: the one who writes its lines out; see
        :class:`tavola.LogDrain`.

        >>> import io, tavola
        >>> log = tavola.Log("written out")
        >>> log.write("info", "cart 3 is ready")
        >>> with log.drain() as drain:
        ...     drain.finish(io.BytesIO())
        1
        """
        return LogDrain(self._log.drain())

    def stats(self):
        """Return numbers about the log as a dict.

        >>> import tavola
        >>> tavola.Log("events").stats()["dropped"]
        0
        """
        return self._log.stats()

    def close(self):
        """Close the log. Its lines stay in it.

        >>> import tavola
        >>> log = tavola.Log("kept")
        >>> log.write("info", "cart 3 is ready")
        >>> log.close()
        >>> len(tavola.Log("kept").read())
        1
        """
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<tavola.Log {self._name!r}>"


class LogReader:
    """Returns each line of a log once, beside its drain; from :meth:`Log.reader`.

    >>> import tavola
    >>> log = tavola.Log("followed")
    >>> reader = log.reader()
    >>> log.write("info", "one")
    >>> [line.text for line in reader.lines()], reader.lines()
    (['one'], [])
    """

    def __init__(self, native):
        self._native = native

    def lines(self):
        """Return the lines that were not returned before, in the order of time."""
        return [LogLine._make(line) for line in self._native.lines(False)]

    def follow(self):
        """Return new lines as :meth:`lines`, except those of the last millisecond, so that the
        order of time holds over all calls.

        >>> import time, tavola
        >>> log = tavola.Log("in order")
        >>> reader = log.reader()
        >>> log.write("info", "one")
        >>> time.sleep(0.01)
        >>> [line.text for line in reader.follow()]
        ['one']
        """
        return [LogLine._make(line) for line in self._native.lines(True)]

    def skip(self):
        """Skip all lines that are in the log.

        >>> import tavola
        >>> log = tavola.Log("skipped")
        >>> log.write("info", "old")
        >>> reader = log.reader()
        >>> reader.skip()
        >>> log.write("info", "new")
        >>> [line.text for line in reader.lines()]
        ['new']
        """
        self._native.skip()

    @property
    def missed(self):
        """How many buffers of 16 KiB were overwritten before they were read."""
        return self._native.missed


class LogDrain:
    """Writes the lines of a log out to a file; from :meth:`Log.drain`.

    >>> import io, tavola
    >>> log, out = tavola.Log("drained"), io.BytesIO()
    >>> log.write("info", "cart 3 is ready")
    >>> with log.drain() as drain:
    ...     drain.finish(out)
    1
    >>> out.getvalue().endswith(b"cart 3 is ready\\n")
    True
    """

    def __init__(self, native):
        self._native = native

    def write_out(self, file):
        """Write the pending lines to a binary file, except those of the last millisecond. Return
        how many.

        >>> import io, time, tavola
        >>> log = tavola.Log("written in steps")
        >>> log.write("info", "one")
        >>> time.sleep(0.01)
        >>> with log.drain() as drain:
        ...     drain.write_out(io.BytesIO())
        1
        """
        return self._native.write_out(file, False)

    def finish(self, file):
        """Write all pending lines to a binary file; return how many. For the end, when the writers
        have ended."""
        return self._native.write_out(file, True)

    def run(self, file, stop=None):
        """Write lines out until the event ``stop`` is set, then the rest.

        >>> import io, threading, tavola
        >>> log, out, stop = tavola.Log("run"), io.BytesIO(), threading.Event()
        >>> drain = log.drain()
        >>> thread = threading.Thread(target=drain.run, args=(out, stop))
        >>> thread.start()
        >>> log.write("info", "one")
        >>> stop.set()
        >>> thread.join()
        >>> drain.close()
        >>> out.getvalue().count(b"\\n")
        1
        """
        stop = stop or threading.Event()
        try:
            while not stop.is_set():
                if not self.write_out(file):
                    self._native.wait()
        finally:
            self.finish(file)

    def close(self):
        """End the drain. Another process can become the drain then.

        >>> import tavola
        >>> log = tavola.Log("passed on")
        >>> first = log.drain()
        >>> first.close()
        >>> log.drain().close()
        """
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _level(number):
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    if number >= logging.INFO:
        return "info"
    return "debug" if number >= logging.DEBUG else "trace"


class LoggingHandler(logging.Handler):
    """A handler for :mod:`logging` that writes records to a log that all processes share.

    log: a :class:`tavola.Log` or its name. options: those of :class:`tavola.Log`.

    >>> import logging, tavola
    >>> handler = tavola.LoggingHandler("app")
    >>> logger = logging.getLogger("shop")
    >>> logger.addHandler(handler)
    >>> logger.error("cart %d is broken", 3)
    >>> [(line.level, line.text) for line in handler.log.read()]
    [('ERROR', 'cart 3 is broken')]
    >>> logger.removeHandler(handler)
    """

    def __init__(self, log, level=logging.NOTSET, **options):
        super().__init__(level)
        self.log = log if isinstance(log, Log) else Log(log, **options)

    def createLock(self):
        """Make no real lock: all threads and processes may write at the same time."""
        self.lock = contextlib.nullcontext()

    def acquire(self):
        """Do nothing: there is no lock."""

    def release(self):
        """Do nothing: there is no lock."""

    def emit(self, record):
        """Write a record to the log."""
        try:
            text = self.format(record).encode("utf-8", "backslashreplace")
            self.log.write(_level(record.levelno), text)
        except Exception:
            self.handleError(record)

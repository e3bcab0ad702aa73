"""Queues of jobs between processes, with the manners of :class:`queue.Queue`."""

import queue
import threading
import time

from . import _tavola
from ._errors import NotHeldError, TooLargeError

#: How long a wait lasts at most before jobs of dead workers are looked for.
_LOOK = 1.0
#: The bit of an element's first word that says that flags follow.
_HAS_FLAGS = 1 << 31
_TEXT = 0x5401_0000


class Queue:
    """A queue of jobs that all processes of the machine share.

    The methods are those of :class:`queue.Queue`, and so are the exceptions ``queue.Empty`` and
    ``queue.Full``. Waits release the interpreter's lock and can be interrupted.

    name: of the file, as for a table. An existing queue keeps its sizes.
    maxsize: how many items fit; their memory is allocated when the queue is created.
    item_size: the longest item in bytes, encoded. A longer one raises
        :class:`tavola.TooLargeError`.
    serializer: as of :func:`tavola.open`.
    acknowledge: a job that was got belongs to this process until it calls :meth:`task_done`. If
        the process dies before, the job is handed back, to the end of the queue. Without it, a job
        is gone when :meth:`get` returns.

    Text items are those of the command ``tavola queue``.

    >>> import tavola
    >>> jobs = tavola.Queue("jobs", maxsize=100, item_size=1000)
    >>> jobs.put("resize 17.jpg")
    >>> jobs.put({"page": 3})
    >>> jobs.qsize(), jobs.get(), jobs.get(timeout=1)
    (2, 'resize 17.jpg', {'page': 3})
    """

    def __init__(
        self,
        name,
        maxsize=1000,
        item_size=4096,
        *,
        serializer=None,
        acknowledge=False,
        create=True,
        mode=None,
        group=None,
        any_owner=False,
    ):
        if mode is None:
            mode = 0o600 if group is None else 0o660
        elements = maxsize if create else None
        # Four bytes for the first word, and four for the flags of items that are not text.
        self._pool = _tavola.JobPool(name, elements, item_size + 8, mode, group, any_owner)
        self._serializer = serializer
        self._acknowledge = acknowledge
        self._held = threading.local()
        self._name = name
        self._pool.reclaim()

    @property
    def name(self):
        """The name by which the queue was opened."""
        return self._name

    @property
    def maxsize(self):
        """How many items fit."""
        return self._pool.counts()[2]

    @property
    def item_size(self):
        """The longest item in bytes, encoded."""
        return self._pool.element_bytes - 8

    @property
    def path(self):
        """The path of its file."""
        return self._pool.path

    def qsize(self):
        """Return the number of items in the queue."""
        return self._pool.counts()[0]

    def empty(self):
        """Return whether the queue is empty.

        >>> import tavola
        >>> jobs = tavola.Queue("new")
        >>> jobs.empty(), jobs.full()
        (True, False)
        """
        return self.qsize() == 0

    def full(self):
        """Return whether no item fits.

        >>> import tavola
        >>> jobs = tavola.Queue("small", maxsize=1)
        >>> jobs.put("resize 17.jpg")
        >>> jobs.full()
        True
        """
        return self._pool.counts()[1] == 0

    def put(self, item, block=True, timeout=None):
        """Add an item; if the queue is full, wait for room, at most ``timeout`` seconds, or raise
        ``queue.Full`` if not ``block``."""
        word, job = self._encode(item)
        element = self._pop(False, block, timeout)
        if element is None:
            raise queue.Full
        self._pool.push_job(element, word, job)

    def put_nowait(self, item):
        """Add an item, or raise ``queue.Full``.

        >>> import queue, tavola
        >>> jobs = tavola.Queue("one", maxsize=1)
        >>> jobs.put_nowait("resize 17.jpg")
        >>> try:
        ...     jobs.put_nowait("resize 18.jpg")
        ... except queue.Full:
        ...     print("try later")
        try later
        """
        self.put(item, block=False)

    def get(self, block=True, timeout=None):
        """Remove and return the first item; if there is none, wait for one, at most ``timeout``
        seconds, or raise ``queue.Empty`` if not ``block``."""
        element = self._pop(True, block, timeout)
        if element is None:
            raise queue.Empty
        try:
            item = self._decode(self._pool.job(element))
        except BaseException:
            self._pool.give_back(element)
            raise
        if self._acknowledge:
            self._mine().append(element)
        else:
            self._pool.finish(element)
        return item

    def get_nowait(self):
        """Remove and return the first item, or raise ``queue.Empty``.

        >>> import queue, tavola
        >>> jobs = tavola.Queue("two")
        >>> jobs.put("resize 17.jpg")
        >>> jobs.get_nowait()
        'resize 17.jpg'
        >>> try:
        ...     jobs.get_nowait()
        ... except queue.Empty:
        ...     print("nothing to do")
        nothing to do
        """
        return self.get(block=False)

    def task_done(self):
        """Say that the job that this thread got first is done. Needed with ``acknowledge``.

        >>> import tavola
        >>> jobs = tavola.Queue("careful", acknowledge=True)
        >>> jobs.put("resize 17.jpg")
        >>> job = jobs.get()
        >>> jobs.task_done()
        """
        held = self._mine()
        if held:
            self._pool.finish(held.pop(0))
        elif self._acknowledge:
            raise ValueError("task_done() called more often than get() in this thread")

    def give_back(self):
        """Return the job that this thread got first to the end of the queue.

        >>> import tavola
        >>> jobs = tavola.Queue("given back", acknowledge=True)
        >>> jobs.put("resize 17.jpg")
        >>> job = jobs.get()
        >>> jobs.give_back()
        >>> jobs.qsize()
        1
        """
        held = self._mine()
        if not held:
            raise NotHeldError("this thread has no job of this queue")
        self._pool.give_back(held.pop(0))

    def join(self, timeout=None):
        """Wait until no item is in the queue, and none is in the hands of a worker that has to
        acknowledge it. Return whether that is so; it is not only after the ``timeout``.

        >>> import tavola
        >>> jobs = tavola.Queue("joined", acknowledge=True)
        >>> jobs.put("resize 17.jpg")
        >>> job = jobs.get()
        >>> jobs.join(timeout=0.1)
        False
        >>> jobs.task_done()
        >>> jobs.join()
        True
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            self._pool.reclaim()
            _, free, all_elements = self._pool.counts()
            if free == all_elements:
                return True
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(0.01)

    def reclaim(self):
        """Hand back the jobs of dead workers, and return how many. Waits do it every second.

        >>> import tavola
        >>> tavola.Queue("jobs").reclaim()
        0
        """
        return self._pool.reclaim()

    def close(self):
        """Close the queue. Jobs that this process holds are handed back later.

        >>> import tavola
        >>> jobs = tavola.Queue("kept")
        >>> jobs.put("resize 17.jpg")
        >>> jobs.close()
        >>> tavola.Queue("kept").get()
        'resize 17.jpg'
        """
        self._pool.close()

    def _mine(self):
        if not hasattr(self._held, "elements"):
            self._held.elements = []
        return self._held.elements

    def _pop(self, is_job, block, timeout):
        if not block:
            timeout = 0
        elif timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        element = self._pool.pop(is_job, 0)
        until = None if timeout is None else time.monotonic() + timeout
        while element is None:
            self._pool.reclaim()
            left = _LOOK if until is None else min(_LOOK, max(0.0, until - time.monotonic()))
            element = self._pool.pop(is_job, left)
            if element is None and until is not None and time.monotonic() >= until:
                return None
        return element

    def _encode(self, item):
        job, flags = _tavola.codec_pair(item, self._serializer)
        if len(job) > self.item_size:
            raise TooLargeError(
                f"the item has {len(job)} bytes, but the queue {self._name!r} accepts at most "
                f"{self.item_size}; create a queue with a larger item_size"
            )
        word = len(job) + 1
        if flags == _TEXT:
            return word, job
        return word | _HAS_FLAGS, flags.to_bytes(4, "little") + job

    def _decode(self, element):
        word = int.from_bytes(element[:4], "little")
        size = (word & ~_HAS_FLAGS) - 1
        start, flags = 4, _TEXT
        if word & _HAS_FLAGS:
            start, flags = 8, int.from_bytes(element[4:8], "little")
        job = element[start : start + max(size, 0)]
        return _tavola.codec_pair(job, self._serializer, flags)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        options = {
            "serializer": self._serializer,
            "acknowledge": self._acknowledge,
            "create": False,
        }
        return _reopen, (type(self), self.path, options)

    def __repr__(self):
        return f"<tavola.Queue {self._name!r}>"


def _reopen(cls, path, options):
    return cls(path, **options)

"""Locks by name over processes."""

import time

from ._errors import Error, LockTimeout, NotHeldError

_PREFIX = b"\0lock\0"


class Lock:
    """A lock by name that one thread of all processes can have; from :meth:`Table.lock`.

    It is a lease of the table. If its owner dies, even by ``kill -9``, the lock passes to the next
    within about 10 ms. A forked child does not have the locks of its parent. A lease lasts at most
    an hour: if its owner keeps the lock longer than ``lease`` seconds, another process can get it,
    and :meth:`release` raises :class:`tavola.NotHeldError`.

    The lock is not reentrant, and takes no key of the table. It is released when this object is
    deleted, so keep the object.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> lock = table.lock("import")
    >>> lock.acquire(), lock.acquire(blocking=False)
    (True, False)
    >>> lock.release()
    """

    def __init__(self, table, name, lease=3600):
        self._table = table
        self._name = name
        self._key = _PREFIX + (name.encode() if isinstance(name, str) else bytes(name))
        self._time = lease
        self._leases = []

    @property
    def name(self):
        """The name of the lock."""
        return self._name

    def acquire(self, blocking=True, timeout=-1):
        """Get the lock; wait for it if ``blocking``, at most ``timeout`` seconds if that is not
        negative. Return whether this thread has it now."""
        until = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        while True:
            outcome, _, extra = self._table._ask(self._key, None, 0, None, self._time)
            if outcome == "won" and extra.is_recorded:
                self._leases.append(extra)
                return True
            if outcome == "won":
                # All records of the shard are in use, so no other process knows of this lease.
                extra.release()
            elif outcome != "wait":
                raise Error(f"the key of the lock {self._name!r} has a value; delete the key")
            left = None if until is None else until - time.monotonic()
            if not blocking or (left is not None and left <= 0):
                return False
            if outcome == "wait":
                extra.wait(left)
            else:
                time.sleep(0.001)

    def release(self):
        """Release the lock. :class:`tavola.NotHeldError` if it passed to another process."""
        if not self._leases:
            raise NotHeldError(f"this object does not hold the lock {self._name!r}")
        if not self._leases.pop().release():
            raise NotHeldError(
                f"the lock {self._name!r} was held for longer than its lease, and has passed on; "
                "give a longer lease, at most 3600 seconds"
            )

    def locked(self):
        """Return whether this object has the lock.

        >>> import tavola
        >>> lock = tavola.open("doc").lock("export")
        >>> with lock:
        ...     lock.locked()
        True
        >>> lock.locked()
        False
        """
        return bool(self._leases)

    def __enter__(self):
        if not self.acquire():
            raise LockTimeout(f"the lock {self._name!r} was not free in time")
        return self

    def __exit__(self, *exception):
        self.release()

    def __repr__(self):
        state = "held" if self._leases else "not held"
        return f"<tavola.Lock {self._name!r}, {state} here>"

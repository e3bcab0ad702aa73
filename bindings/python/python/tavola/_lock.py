"""Named locks over processes."""

from ._errors import LockTimeout, NotHeldError


class Lock:
    """A named lock of a table, which one thread of all processes holds, or several share; from
    :meth:`Table.lock`.

    It is not held until ``with`` or :meth:`acquire` takes it. It has the methods of
    ``threading.Lock``, and is held until it is released, its process dies, or this object is
    deleted: so keep the object. It is not reentrant, and a forked child does not hold what its
    parent holds. A pickled lock is the same lock, not held.

    The command ``tavola lock`` and the other languages take the same locks. If a process is killed
    while it holds the lock, the next one has it within some 20 ms, and :attr:`owner_died` is true.
    A holder that is stopped keeps the lock.

    A thread that waits for the lock to have it alone keeps new sharers out, so it does not wait
    forever; only in the main thread, which handles signals every 50 ms, some may get in between.

    A name has 1 to 56 bytes of UTF-8, without a byte 0. A lock takes 512 bytes and stays as long as
    the table, which has room for 18,716: give names to what there is little of. For names without
    bound, such as one for each user, use :meth:`Table.get_or_compute`: its leases leave nothing
    behind.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> lock = table.lock("import")
    >>> lock.acquire(), lock.acquire(blocking=False)
    (True, False)
    >>> lock.release()
    """

    def __init__(self, table, name, timeout=None, shared=False):
        self._table = table
        self._name = name
        self._timeout = timeout
        self._shared = bool(shared)
        self._native = table._open_lock(name)

    @property
    def name(self):
        """The name of the lock."""
        return self._name

    def acquire(self, blocking=True, timeout=None):
        """Take the lock; return false if it was not free in time.

        If ``blocking``, the call waits at most ``timeout`` seconds. The default is the timeout of
        :meth:`Table.lock`; a negative number is no limit.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> with table.lock("export"):
        ...     table.lock("export").acquire(timeout=0.01)
        False
        """
        if not blocking:
            return self._native.acquire(self._shared, 0)
        return self._native.acquire(self._shared, self._timeout if timeout is None else timeout)

    def release(self):
        """Release the lock. :class:`tavola.NotHeldError` if this process does not hold it by this
        object."""
        if not self._native.release():
            raise self._not_held()

    def locked(self):
        """Return :attr:`is_held`: for code that is written for a ``threading.Lock``.

        >>> import tavola
        >>> tavola.open("doc").lock("export").locked()
        False
        """
        return self._native.is_held

    @property
    def is_held(self):
        """Whether this process holds the lock by this object. In a forked child that is false
        until the child takes the lock itself.

        >>> import tavola
        >>> lock = tavola.open("doc").lock("export")
        >>> with lock:
        ...     lock.is_held
        True
        >>> lock.is_held
        False
        """
        return self._native.is_held

    @property
    def is_shared(self):
        """Whether the lock is held here, and others may hold it, too.

        It is false for the next holder after a death, which has the lock for itself alone, even if
        it asked to share it.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> with table.lock("prices", shared=True) as one, table.lock("prices", shared=True):
        ...     one.is_shared, table.lock("prices").acquire(blocking=False)
        (True, False)
        """
        return self._native.is_shared

    @property
    def owner_died(self):
        """Whether the lock is held here, and the last one that had it for itself alone was killed:
        what the lock guards may be changed in part. Only the first holder after the death sees it.

        >>> import tavola
        >>> with tavola.open("doc").lock("export") as lock:
        ...     lock.owner_died
        False
        """
        return self._native.owner_died

    def __enter__(self):
        if not self.acquire():
            raise LockTimeout(f"the lock {self._name!r} was not free in time")
        return self

    def __exit__(self, *exception):
        # A forked child leaves the block of its parent without an effect on the parent's lock.
        if self._native.release() is None:
            raise self._not_held()

    def __reduce__(self):
        return type(self), (self._table, self._name, self._timeout, self._shared)

    def __repr__(self):
        state = "held" if self.is_held else "not held"
        return f"<tavola.Lock {self._name!r}, {state} here>"

    def _not_held(self):
        return NotHeldError(f"this object does not hold the lock {self._name!r}")

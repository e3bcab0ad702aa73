"""Transactions over several keys, which are run again after a conflict."""

import contextlib
import itertools

from ._errors import Abort, Error

#: After this many conflicts, a transaction waits for the turn.
_CONFLICTS = 8


class Transacting:
    """The calls of a table that run transactions; part of :class:`tavola.Table`."""

    def transact(self, function, *, once=False):
        """Call ``function(t)`` with a :class:`tavola.Transaction`, and return its result. All of
        its changes happen at once, or none.

        If another process or thread has changed a key that the function has read, the function is
        called again; so it must do nothing that cannot be repeated, such as sending mail. After
        eight such conflicts it waits for the turn, which one transaction of the table has at a
        time.

        If the function raises an exception, nothing is changed, and the exception is raised here.
        ``t.abort()`` changes nothing, and ``None`` is returned.

        once: wait for the turn first, and call the function once. A call without the turn that
            changes one of its keys meanwhile makes it fail with :class:`tavola.ConflictError`.

        A cache has no transactions, as it may evict a key at any moment.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table["alice"] = 10
        >>> def pay(t):
        ...     if t.decr("alice", 4) < 0:
        ...         t.abort()
        ...     return t.incr("bob", 4)
        >>> table.transact(pay), table.transact(pay), table.transact(pay)
        (4, 8, None)
        >>> table["alice"], table["bob"]
        (2, 8)
        """
        if once:
            with self.transaction(once=True) as t:
                return function(t)
            return None
        return _run_again(self, _hows(), function)

    @contextlib.contextmanager
    def transaction(self, *, once=False):
        """Return a context manager of a :class:`tavola.Transaction`, which commits at the end of
        the ``with`` block. All of its changes happen at once, or none.

        A block cannot be run again: if another process or thread has changed a key that it has
        read, nothing is changed, and :class:`tavola.ConflictError` is raised.
        :meth:`transact` runs a function again instead.

        After an exception nothing is changed. ``t.abort()`` leaves the block without changes.

        once: wait for the turn first, which one transaction of the table has at a time. If all
            writers of these keys do so, there are no conflicts.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> with table.transaction(once=True) as t:
        ...     t["a"], t["b"] = 1, 2
        >>> table["a"], table["b"]
        (1, 2)
        """
        t = self._begin("turn" if once else "optimistic")
        try:
            yield t
        except Abort as abort:
            t._end()
            if not _is_for(abort, t):
                raise
            return
        except BaseException:
            t._end()
            raise
        if not t._commit():
            raise self._conflict()

    def read_together(self, function):
        """Call ``function(t)`` with a :class:`tavola.Transaction` that only reads, and return its
        result. It sees all keys as they were at one moment.

        If a key was changed between two reads, the function is called again.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.set_many({"alice": 6, "bob": 4})
        >>> table.read_together(lambda t: t["alice"] + t["bob"])
        10
        """
        return _run_again(self, itertools.repeat("read"), function)


def _hows():
    """Yield how the runs of a transaction begin."""
    return itertools.chain(itertools.repeat("optimistic", _CONFLICTS), itertools.repeat("turn"))


def _is_for(abort, t):
    return abort.transaction is None or abort.transaction is t


def _run_again(table, hows, function):
    """Run a function until a run counts: one that has seen all keys at one moment."""
    for how in hows:
        t = table._begin(how)
        try:
            # The writes of a failed run are undone, so that the commit only compares.
            start = t.savepoint()
            result = function(t)
        except Abort as abort:
            if not _is_for(abort, t):
                t._end()
                raise
            if _counts(t, start):
                return None
        except Exception:
            if _counts(t, start):
                raise
        except BaseException:
            t._end()
            raise
        else:
            if t._commit():
                return result


def _counts(t, start):
    """End a run that has failed. Return whether it has seen all keys at one moment."""
    try:
        t.roll_back_to(start)
        return t._commit()
    except Error:
        # It was ended already, or the table cannot compare: the first exception says more.
        t._end()
        return True

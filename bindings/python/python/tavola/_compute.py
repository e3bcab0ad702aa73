"""Values that one process computes while the others wait."""

import asyncio
import time

from ._errors import FullError, LockTimeout
from ._memoize import memoize


def _left(until):
    return None if until is None else max(0.0, until - time.monotonic())


def _too_late(key):
    return LockTimeout(f"another process is still computing the value of {key!r}; try again")


class Computing:
    """The calls of a table that compute missing values; part of :class:`tavola.Table`."""

    def get_or_compute(
        self,
        key,
        function,
        ttl=None,
        *,
        stale=0,
        early=None,
        tags=None,
        lease=10,
        back_off=1,
        timeout=None,
    ):
        """Return the value of a key; call ``function()`` for it if it is missing or stale.

        If several processes and threads ask, one of them computes the value. The others wait, or
        get the stale value. If the computing process dies, another one computes.

        ttl: seconds for which the value is fresh; ``None`` means for ever.
        stale: for how long after that others still get it while one process computes it again.
        early: compute now and then before it is stale (XFetch); 1 is a good number. The flags of
            an application's own serializer must have 0 in their low 16 bits.
        tags: names of tags; they are fetched before the function is called.
        lease: how long computing may take before another process may try.
        back_off: for how long after an exception no process tries again; the others get
            :class:`tavola.NotComputedError`, or the stale value.
        timeout: how long to wait for another process before :class:`tavola.LockTimeout`.

        A value that cannot be stored because the table is full is returned anyway.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.get_or_compute("answer", lambda: 6 * 7, ttl=60)
        42
        >>> table.get_or_compute("answer", lambda: 1 / 0, ttl=60)
        42
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                outcome, value, extra = self._ask(key, ttl, stale, early, lease)
            except FullError:
                return function()
            if outcome == "hit" or (outcome == "stale" and extra is None):
                return value
            if outcome == "wait":
                if not extra.wait(_left(until)) and _left(until) == 0:
                    raise _too_late(key)
            elif outcome == "failed":
                raise extra
            else:
                return self._computed(extra, function, tags, back_off)

    def _computed(self, lease, function, tags, back_off):
        try:
            tags = None if tags is None else self._fetch_tags(tags)
            value = function()
            self._fill(lease, value, tags)
        except BaseException as error:
            self._give_up(lease, error, back_off)
            raise
        return value

    def _fill(self, lease, value, tags):
        try:
            lease.fill(self, value, tags)
        except FullError:
            pass

    def _give_up(self, lease, error, back_off):
        """End a lease after an exception; one that a signal raised is no failure of the value."""
        if not lease.is_recorded:
            return
        if isinstance(error, Exception):
            lease.fail(back_off, str(error) or type(error).__name__)
        else:
            lease.release()

    async def get_or_compute_async(
        self,
        key,
        function,
        ttl=None,
        *,
        stale=0,
        early=None,
        tags=None,
        lease=10,
        back_off=1,
        timeout=None,
    ):
        """Return or compute a value as :meth:`get_or_compute`; ``function`` is a coroutine
        function. The event loop is never blocked: waits are in a thread.

        >>> import asyncio, tavola
        >>> table = tavola.open("doc")
        >>> async def load():
        ...     return "loaded"
        >>> asyncio.run(table.get_or_compute_async("page", load, ttl=60))
        'loaded'
        """
        until = None if timeout is None else time.monotonic() + timeout
        loop = asyncio.get_running_loop()
        while True:
            try:
                outcome, value, extra = self._ask(key, ttl, stale, early, lease)
            except FullError:
                return await function()
            if outcome == "hit" or (outcome == "stale" and extra is None):
                return value
            if outcome == "wait":
                # Short waits, so that many waiting tasks take turns in the threads.
                await loop.run_in_executor(None, extra.wait_briefly)
                if _left(until) == 0:
                    raise _too_late(key)
            elif outcome == "failed":
                raise extra
            else:
                return await self._computed_async(extra, function, tags, back_off)

    async def _computed_async(self, lease, function, tags, back_off):
        try:
            tags = None if tags is None else self._fetch_tags(tags)
            value = await function()
            self._fill(lease, value, tags)
        except BaseException as error:
            self._give_up(lease, error, back_off)
            raise
        return value

    memoize = memoize

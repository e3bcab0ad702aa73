"""Waiting until a key changes."""

import asyncio
import time


class Watch:
    """Waits for changes of one key; from :meth:`Table.watch`.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> watch = table.watch("config")
    >>> watch.wait(timeout=0)
    False
    >>> table["config"] = "new"
    >>> watch.wait(timeout=10)
    True
    >>> watch.close()
    """

    def __init__(self, native):
        self._native = native

    def wait(self, timeout=None):
        """Sleep until the key changes, at most ``timeout`` seconds. Return whether it changed
        since the watch was made, or since the last call that returned true.

        Several changes may be reported as one. The last one is never missed.
        """
        return self._native.wait(timeout)

    async def wait_async(self, timeout=None):
        """Wait as :meth:`wait` without blocking the event loop.

        >>> import asyncio, tavola
        >>> table = tavola.open("doc")
        >>> async def change_and_wait():
        ...     with table.watch("config") as watch:
        ...         table["config"] = "new"
        ...         return await watch.wait_async(timeout=10)
        >>> asyncio.run(change_and_wait())
        True
        """
        until = None if timeout is None else time.monotonic() + timeout
        loop = asyncio.get_running_loop()
        while True:
            left = 0.2 if until is None else min(0.2, max(0.0, until - time.monotonic()))
            if await loop.run_in_executor(None, self._native.wait, left):
                return True
            if until is not None and time.monotonic() >= until:
                return False

    def close(self):
        """End the watch."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

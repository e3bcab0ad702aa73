"""The decorator ``cached``, as in cachetools."""

import contextlib
import functools
import warnings
from typing import NamedTuple, Optional

from ._keys import call_key, text_of
from ._table import Table

_MISSING = object()


class CacheInfo(NamedTuple):
    """The hits and misses of a function in this process; from ``cache_info()``."""

    hits: int
    misses: int
    maxsize: Optional[int]
    currsize: int


class _Calls:
    """The calls of one function, and their results in a cache."""

    def __init__(self, function, cache, key, lock):
        self.function, self.cache, self.key, self.lock = function, cache, key, lock
        self.guard = lock if lock is not None else contextlib.nullcontext()
        self.is_table = isinstance(cache, Table)
        self.hits = self.misses = 0
        self.pending = set()

    def key_of(self, args, kwargs):
        key = self.key(*args, **kwargs)
        if self.is_table and not isinstance(key, (str, bytes)):
            return text_of(key)
        return key

    def find(self, key):
        """Return the value of a key, or a mark that it is missing; count it."""
        try:
            value = self.cache[key]
        except KeyError:
            self.misses += 1
            return _MISSING
        self.hits += 1
        return value

    def store(self, key, value):
        """Store a value, and return the one that counts: another thread may have been faster."""
        with self.guard:
            try:
                return self.cache.setdefault(key, value) if self.lock else self.set(key, value)
            except ValueError:
                # It is too large for the cache.
                return value

    def set(self, key, value):
        self.cache[key] = value
        return value

    def plain(self):
        def wrapper(*args, **kwargs):
            with self.guard:
                self.misses += 1
            return self.function(*args, **kwargs)

        return wrapper

    def alone(self):
        def wrapper(*args, **kwargs):
            key = self.key_of(args, kwargs)
            with self.guard:
                value = self.find(key)
            if value is not _MISSING:
                return value
            return self.store(key, self.function(*args, **kwargs))

        return wrapper

    def with_condition(self, condition):
        def wrapper(*args, **kwargs):
            key = self.key_of(args, kwargs)
            with self.guard:
                condition.wait_for(lambda: key not in self.pending)
                value = self.find(key)
                if value is not _MISSING:
                    return value
                self.pending.add(key)
            try:
                value = self.function(*args, **kwargs)
                with self.guard:
                    with contextlib.suppress(ValueError):
                        self.cache[key] = value
                return value
            finally:
                with self.guard:
                    self.pending.discard(key)
                    condition.notify_all()

        return wrapper

    def clear(self):
        """Remove all results, and forget the hits and misses."""
        with self.guard:
            if self.cache is not None:
                self.cache.clear()
            self.hits = self.misses = 0

    def info(self):
        """Return the hits and misses of this process."""
        with self.guard:
            maxsize = getattr(self.cache, "maxsize", 0 if self.cache is None else None)
            currsize = getattr(self.cache, "currsize", None)
            if currsize is None:
                currsize = 0 if self.cache is None else len(self.cache)
            return CacheInfo(self.hits, self.misses, maxsize, currsize)


def hashkey(*args, **kwargs):
    """Return the key of a call, the same in every process; 1, 1.0 and True are equal.

    >>> import tavola
    >>> tavola.hashkey(1, "a", flag=True)
    "(1,'a',flag=1)"
    """
    return call_key("", args, kwargs)


def typedkey(*args, **kwargs):
    """Return the key of a call as :func:`hashkey`, in which 1, 1.0 and True differ.

    >>> import tavola
    >>> tavola.typedkey(1)
    '(int:1)'
    """
    return call_key("", args, kwargs, typed=True)


def cached(cache, key=hashkey, lock=None, condition=None, info=False):
    """Return a decorator that keeps the results of a function in a table, as
    ``cachetools.cached``.

    cache: a table, or any other mapping. Functions that share a table need a ``key`` function
        each, such as ``functools.partial(tavola.hashkey, "name")``.
    key: returns the key of a call. A key that is not ``str`` or ``bytes`` is turned into text.
    lock, condition: a lock for the calls to the cache; a table needs none. With a ``condition``,
        which uses the ``lock`` if there is one, a thread computes a result while others wait for
        it. :meth:`tavola.Table.memoize` does this over processes.
    info: adds ``cache_info()`` with the hits and misses of this process.

    The function gets ``cache``, ``cache_key``, ``cache_lock``, ``cache_condition``,
    ``cache_clear()`` and ``__wrapped__``.

    >>> import tavola
    >>> @tavola.cached(tavola.open("squares", capacity=8 << 20))
    ... def square(x):
    ...     print("computing")
    ...     return x * x
    >>> square(3), square(3)
    computing
    (9, 9)
    """
    if isinstance(condition, bool):
        warnings.warn("give info by its name", DeprecationWarning, stacklevel=2)
        condition, info = None, condition

    def decorate(function):
        calls = _Calls(function, cache, key, lock or condition)
        if cache is None:
            wrapper = calls.plain()
        elif condition is not None:
            wrapper = calls.with_condition(condition)
        else:
            wrapper = calls.alone()
        functools.update_wrapper(wrapper, function)
        wrapper.cache, wrapper.cache_key, wrapper.cache_lock = cache, key, calls.lock
        wrapper.cache_condition = condition
        wrapper.cache_clear = calls.clear
        if info:
            wrapper.cache_info = calls.info
        return wrapper

    return decorate

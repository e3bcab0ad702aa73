"""Functions whose results are kept in a table."""

import functools
import inspect

from ._keys import call_key


class _Calls:
    """The keys of the calls of one function."""

    def __init__(self, function, name, typed, ignore):
        self.name = name or f"{function.__module__}.{function.__qualname__}"
        self.typed = typed
        self.words = {word for word in ignore if isinstance(word, str)}
        self.places = {place for place in ignore if isinstance(place, int)}
        if self.words:
            parameters = list(inspect.signature(function).parameters)
            unknown = self.words.difference(parameters)
            if unknown:
                raise ValueError(f"ignore names {sorted(unknown)}, but {self.name} has no such "
                                 "parameter")
            self.places.update(parameters.index(word) for word in self.words)

    def key(self, args, kwargs):
        if self.places:
            args = [value for place, value in enumerate(args) if place not in self.places]
        if self.words:
            kwargs = {word: kwargs[word] for word in kwargs if word not in self.words}
        return call_key(self.name, args, kwargs, self.typed)


def memoize(
    self,
    ttl=None,
    tag=None,
    typed=False,
    ignore=(),
    early=None,
    stale=0,
    name=None,
    *,
    lease=10,
    back_off=0,
    timeout=None,
):
    """Return a decorator that keeps the results of a function, or a coroutine function, in the
    table.

    If many processes call it with the same arguments at the same time, one of them computes the
    result and the others wait for it.

    ttl, stale, early, lease, back_off, timeout: as of :meth:`get_or_compute`. With the default
        ``back_off`` of 0, each caller gets the exception of its own call.
    tag: a tag, or several, for :meth:`invalidate`.
    typed: whether 1, 1.0 and True are different arguments.
    ignore: names or positions of parameters that do not change the result, such as ``self``.
    name: the name in the keys; module and name of the function if it is not given.

    The function gets ``cache_key(*args)``, which returns the key of a call; ``invalidate(*args)``,
    which removes the result of a call; ``cache_clear()``, which removes all; and ``__wrapped__``.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> @table.memoize(ttl=60, name="square")
    ... def square(x):
    ...     print("computing")
    ...     return x * x
    >>> square(3), square(3)
    computing
    (9, 9)
    >>> square.cache_key(3)
    'square(3)'
    >>> square.invalidate(3), square.invalidate(3)
    (True, False)
    >>> square.cache_clear()
    """
    if callable(ttl):
        raise TypeError("memoize needs parentheses: write @table.memoize() or memoize(ttl=60)")
    if isinstance(ignore, (str, int)):
        ignore = (ignore,)
    tags = [] if tag is None else [tag] if isinstance(tag, (str, bytes)) else list(tag)

    def decorate(function):
        calls = _Calls(function, name, typed, ignore)
        own_tag = f"memoize:{calls.name}"
        options = {
            "ttl": ttl,
            "stale": stale,
            "early": early,
            "tags": [own_tag, *tags],
            "lease": lease,
            "back_off": back_off,
            "timeout": timeout,
        }
        table = self
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args, **kwargs):
                key = calls.key(args, kwargs)
                compute = functools.partial(function, *args, **kwargs)
                return await table.get_or_compute_async(key, compute, **options)

        else:

            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                key = calls.key(args, kwargs)
                compute = functools.partial(function, *args, **kwargs)
                return table.get_or_compute(key, compute, **options)

        def cache_key(*args, **kwargs):
            """Return the key of a call with these arguments."""
            return calls.key(args, kwargs)

        def invalidate(*args, **kwargs):
            """Remove the result of a call with these arguments; return whether it was there."""
            return table.delete(calls.key(args, kwargs))

        def cache_clear():
            """Remove the results of all calls."""
            table.invalidate(own_tag)

        wrapper.cache_key = cache_key
        wrapper.invalidate = invalidate
        wrapper.cache_clear = cache_clear
        wrapper.table = table
        return wrapper

    return decorate

"""A cache backend for Django, shared by all worker processes of the machine.

In the settings:

>>> CACHES = {
...     "default": {
...         "BACKEND": "tavola.django.TavolaCache",
...         "LOCATION": "shop",
...         "OPTIONS": {"capacity": 256 << 20},
...     }
... }

An application gets the cache by ``from django.core.cache import cache``. Without the settings, it
is made so:

>>> from django.core.cache import CacheHandler
>>> cache = CacheHandler(CACHES)["default"]
>>> cache.set("user:7", {"name": "Ann"}, timeout=60)
>>> cache.get("user:7")
{'name': 'Ann'}

``LOCATION`` is the name of the table, or a path with a ``/``. ``OPTIONS`` are those of
:func:`tavola.open` for a new table: ``capacity`` (64 MiB if it is not given), ``max_size``,
``mode``, ``group``, ``lock_timeout``, ``durable`` (for sessions that survive a restart of the
machine: a table of its own, and no cache). ``TIMEOUT``, ``KEY_PREFIX``, ``VERSION`` and
``KEY_FUNCTION`` are Django's. ``MAX_ENTRIES`` and ``CULL_FREQUENCY`` have no effect: the cache
evicts keys by its capacity, those first that nobody reads.

Values are pickled, except text, bytes, numbers and JSON, which other languages can read. So give
the table only to programs that you trust.
"""

import functools

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache, memcache_key_warnings

from ._open import open_cache

_MISSING = object()
#: Options of Django that have no effect here.
_IGNORED = ("MAX_ENTRIES", "CULL_FREQUENCY", "max_entries", "cull_frequency")
_NEVER = float("inf")


class TavolaCache(BaseCache):
    """Keeps the cache of Django in a table in shared memory; see :mod:`tavola.django`.

    >>> import asyncio
    >>> from tavola.django import TavolaCache
    >>> cache = TavolaCache("shop", {"TIMEOUT": 300})
    >>> cache.add("n", 1), cache.add("n", 2), cache.incr("n", 4), cache.decr("n"), cache.get("n")
    (True, False, 5, 4, 4)
    >>> cache.touch("n", timeout=60), cache.has_key("n"), cache.delete("n"), cache.get("n")
    (True, True, True, None)
    >>> cache.set_many({"a": 1, "b": 2})
    []
    >>> cache.get_many(["a", "b", "c"])
    {'a': 1, 'b': 2}
    >>> cache.delete_many(["a", "b"])
    >>> cache.get_or_compute("page", lambda: "<p>a slow page</p>", timeout=60)
    '<p>a slow page</p>'
    >>> cache.clear()

    The asynchronous calls do not block the event loop for longer than the others:

    >>> async def use():
    ...     await cache.aset("n", 1)
    ...     print(await cache.aadd("n", 2), await cache.aincr("n"), await cache.adecr("n"))
    ...     print(await cache.atouch("n"), await cache.ahas_key("n"), await cache.aget("n"))
    ...     print(await cache.adelete("n"))
    >>> asyncio.run(use())
    False 2 1
    True True 1
    True
    """

    pickle_protocol = 5

    def __init__(self, location, params):
        super().__init__(params)
        options = dict(params.get("OPTIONS", {}))
        for ignored in _IGNORED:
            options.pop(ignored, None)
        self._table = open_cache(location or "django-cache", serializer="pickle", **options)

    @property
    def table(self):
        """The table itself, for calls that Django's interface does not have."""
        return self._table

    def _ttl(self, timeout):
        """Return the TTL for a timeout; 0 if the key expires at once."""
        if timeout == DEFAULT_TIMEOUT:
            timeout = self.default_timeout
        if timeout is None:
            return _NEVER
        return max(0, timeout)

    def get(self, key, default=None, version=None):
        """Return the value of a key, or the default."""
        return self._table.get(self.make_and_validate_key(key, version), default)

    def set(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        """Set a key."""
        key, ttl = self.make_and_validate_key(key, version), self._ttl(timeout)
        if ttl == 0:
            self._table.delete(key)
        else:
            self._table.set(key, value, ttl)

    def add(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        """Set a key if it is missing; return whether it was."""
        key, ttl = self.make_and_validate_key(key, version), self._ttl(timeout)
        if ttl == 0:
            return not self._table.exists(key)
        return self._table.add(key, value, ttl)

    def touch(self, key, timeout=DEFAULT_TIMEOUT, version=None):
        """Change the timeout of a key; return whether it exists."""
        key, ttl = self.make_and_validate_key(key, version), self._ttl(timeout)
        if ttl == 0:
            return self._table.delete(key)
        return self._table.touch(key, ttl)

    def delete(self, key, version=None):
        """Remove a key; return whether it existed."""
        return self._table.delete(self.make_and_validate_key(key, version))

    def has_key(self, key, version=None):
        """Return whether a key exists."""
        return self._table.exists(self.make_and_validate_key(key, version))

    def incr(self, key, delta=1, version=None):
        """Add to a number in one step; ``ValueError`` if the key is missing."""
        made = self.make_and_validate_key(key, version)
        value, token = self._table.gets(made, _MISSING)
        while value is not _MISSING:
            changed = value + delta
            if self._keep(made, changed, token):
                return changed
            value, token = self._table.gets(made, _MISSING)
        raise ValueError(f"Key '{key}' not found")

    def _keep(self, key, value, token):
        """Set a key that has this token, and keep its timeout."""
        left = self._table.ttl(key)
        return self._table.cas(key, value, token, _NEVER if left is None else left)

    def get_many(self, keys, version=None):
        """Return a dict of the keys that exist."""
        made = {self.make_and_validate_key(key, version): key for key in keys}
        return {made[key]: value for key, value in self._table.get_many(made).items()}

    def set_many(self, data, timeout=DEFAULT_TIMEOUT, version=None):
        """Set many keys; return those that were not set: none."""
        ttl = self._ttl(timeout)
        made = {self.make_and_validate_key(key, version): value for key, value in data.items()}
        if ttl == 0:
            self._table.delete_many(made)
        else:
            self._table.set_many(made, ttl)
        return []

    def delete_many(self, keys, version=None):
        """Remove many keys."""
        self._table.delete_many([self.make_and_validate_key(key, version) for key in keys])

    def clear(self):
        """Remove all keys of the table, those of other prefixes and versions, too."""
        self._table.clear()

    def get_or_compute(self, key, function, timeout=DEFAULT_TIMEOUT, version=None, **options):
        """Return the value of a key; one process computes it if it is missing, and the others
        wait. The options are those of :meth:`tavola.Table.get_or_compute`."""
        key, ttl = self.make_and_validate_key(key, version), self._ttl(timeout)
        if ttl == 0:
            return function()
        return self._table.get_or_compute(key, function, ttl, **options)


# Django's own asynchronous calls run the synchronous ones in a thread; these calls take about a
# microsecond, so they are made at once.
def _now(name):
    @functools.wraps(getattr(TavolaCache, name))
    async def call(self, *args, **kwargs):
        return getattr(self, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = f"a{name}"
    call.__doc__ = f"Do as ``{name}``."
    return call


for _name in ("get", "set", "add", "touch", "delete", "has_key", "incr", "decr"):
    setattr(TavolaCache, f"a{_name}", _now(_name))


class MemcachedKeys(TavolaCache):
    """A cache that refuses keys that memcached refuses, for code that may run on both.

    >>> from django.core.cache import InvalidCacheKey
    >>> from tavola.django import MemcachedKeys
    >>> cache = MemcachedKeys("shop", {})
    >>> try:
    ...     cache.set("a key with spaces", 1)
    ... except InvalidCacheKey:
    ...     print("refused")
    refused
    """

    def validate_key(self, key):
        """Raise ``InvalidCacheKey`` for a key that memcached would not take."""
        from django.core.cache.backends.base import InvalidCacheKey

        for warning in memcache_key_warnings(key):
            raise InvalidCacheKey(warning)

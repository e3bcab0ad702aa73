"""A backend for Flask-Caching, shared by all worker processes of the machine.

>>> from flask import Flask
>>> from flask_caching import Cache
>>> app = Flask("shop")
>>> app.config.update(
...     CACHE_TYPE="tavola.flask_caching.TavolaCache",
...     CACHE_TAVOLA_NAME="shop",
...     CACHE_OPTIONS={"capacity": 256 << 20},
... )
>>> cache = Cache(app)
>>> @app.route("/")
... @cache.cached(timeout=60)
... def index():
...     return "<p>a slow page</p>"
>>> app.test_client().get("/").text
'<p>a slow page</p>'

``CACHE_DEFAULT_TIMEOUT``, ``CACHE_KEY_PREFIX`` and ``CACHE_IGNORE_ERRORS`` are Flask-Caching's.
``CACHE_OPTIONS`` are those of :func:`tavola.open`; a capacity of 64 MiB if none is given. A timeout
of 0 means that a key never expires.

Values are pickled, except text, bytes, numbers and JSON, which other languages can read. A pickle
can run code when it is read. So give the table only to programs that you trust.
"""

from flask_caching.backends.base import BaseCache

from ._open import open_cache

_NEVER = float("inf")


class TavolaCache(BaseCache):
    """Keeps the cache of Flask-Caching in a table; see :mod:`tavola.flask_caching`.

    >>> from tavola.flask_caching import TavolaCache
    >>> cache = TavolaCache("shop", default_timeout=300, key_prefix="shop:")
    >>> cache.set("a", (1, 2), timeout=60), cache.get("a"), cache.has("a")
    (True, (1, 2), True)
    >>> cache.add("a", 5), cache.delete("a"), cache.get("a")
    (False, True, None)
    >>> cache.set_many({"b": 1, "c": 2})
    ['b', 'c']
    >>> cache.get_many("b", "missing"), cache.get_dict("b", "c")
    ([1, None], {'b': 1, 'c': 2})
    >>> cache.delete_many("b", "c")
    ['b', 'c']
    >>> cache.inc("n"), cache.dec("n", 3)
    (1, -2)
    >>> cache.clear(), len(cache.table)
    (True, 0)
    """

    def __init__(self, name="flask-cache", default_timeout=300, key_prefix="", **options):
        ignore_errors = options.pop("ignore_errors", False)
        super().__init__(default_timeout=default_timeout)
        self.ignore_errors = ignore_errors
        self.key_prefix = key_prefix or ""
        self._table = open_cache(name, serializer="pickle", **options)

    @classmethod
    def factory(cls, app, config, args, kwargs):
        """Return the cache that a configuration describes."""
        kwargs.setdefault("name", config.get("CACHE_TAVOLA_NAME", "flask-cache"))
        kwargs.setdefault("key_prefix", config.get("CACHE_KEY_PREFIX"))
        kwargs.setdefault("ignore_errors", config.get("CACHE_IGNORE_ERRORS", False))
        kwargs.pop("threshold", None)
        return cls(*args, **kwargs)

    @property
    def table(self):
        """The table itself."""
        return self._table

    def _key(self, key):
        return f"{self.key_prefix}{key}"

    def _ttl(self, timeout):
        timeout = self._normalize_timeout(timeout)
        return _NEVER if timeout <= 0 else timeout

    def _normalize_timeout(self, timeout):
        return self.default_timeout if timeout is None else timeout

    def get(self, key):
        """Return the value of a key, or ``None``."""
        return self._table.get(self._key(key))

    def set(self, key, value, timeout=None):
        """Set a key."""
        self._table.set(self._key(key), value, self._ttl(timeout))
        return True

    def add(self, key, value, timeout=None):
        """Set a key if it is missing; return whether it was."""
        return self._table.add(self._key(key), value, self._ttl(timeout))

    def delete(self, key):
        """Remove a key; return whether it existed."""
        return self._table.delete(self._key(key))

    def has(self, key):
        """Return whether a key exists."""
        return self._table.exists(self._key(key))

    def get_many(self, *keys):
        """Return the values of keys, ``None`` for a missing one."""
        found = self._table.get_many([self._key(key) for key in keys])
        return [found.get(self._key(key)) for key in keys]

    def get_dict(self, *keys):
        """Return a dict of keys and their values, ``None`` for a missing one."""
        return dict(zip(keys, self.get_many(*keys)))

    def set_many(self, mapping, timeout=None):
        """Set many keys; return those that were set."""
        made = {self._key(key): value for key, value in mapping.items()}
        self._table.set_many(made, self._ttl(timeout))
        return list(mapping)

    def delete_many(self, *keys):
        """Remove many keys; return those that were removed. At the first missing key it stops,
        unless ``CACHE_IGNORE_ERRORS`` is set, as all backends of Flask-Caching do."""
        removed = []
        for key in keys:
            if self.delete(key):
                removed.append(key)
            elif not self.ignore_errors:
                break
        return removed

    def clear(self):
        """Remove all keys with the prefix; all keys of the table if there is none."""
        if self.key_prefix:
            self._table.delete_prefix(self.key_prefix)
        else:
            self._table.clear()
        return True

    def inc(self, key, delta=1):
        """Add to a number in one step; a missing key counts as 0."""
        return self._table.incr(self._key(key), delta, ttl=self._ttl(None))

    def dec(self, key, delta=1):
        """Subtract from a number in one step; a missing key counts as 0."""
        return self._table.decr(self._key(key), delta, ttl=self._ttl(None))

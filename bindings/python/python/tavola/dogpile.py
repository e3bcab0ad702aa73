"""A backend for dogpile.cache: regions that all processes of the machine share.

>>> import dogpile.cache, tavola.dogpile
>>> tavola.dogpile.register()       # not needed if the package is installed
>>> region = dogpile.cache.make_region().configure(
...     "tavola", expiration_time=3600, arguments={"name": "shop", "capacity": 256 << 20}
... )
>>> @region.cache_on_arguments()
... def price(article):
...     return {"article": article, "cents": 1999}
>>> price(5)["cents"]
1999

Arguments: ``name`` of the table; ``ttl``, after which the table forgets a value (give more than the
``expiration_time`` of the region); ``distributed_lock`` (true if it is not given): one process
computes a value while the others wait; ``lock_timeout``, how long a lock can be kept, 3600 seconds
at most; and these options of :func:`tavola.open`: ``capacity`` (64 MiB if it is not given),
``max_size``, ``shards``, ``mode``, ``group``, ``any_owner``, ``background``.

The bytes are those of the region's serializer, which is pickle if it has no other. A pickle can run
code: use only tables whose writers you trust. ``"tavola"`` is registered as an entry point of the
package; :func:`register` does the same by hand.
"""

import time

from dogpile.cache import register_backend
from dogpile.cache.api import NO_VALUE, BytesBackend

from ._errors import Error, NotHeldError
from ._open import open_cache

#: The arguments that are options of the table. Others are left to proxies of the region.
_OPTIONS = ("capacity", "max_size", "shards", "mode", "group", "any_owner", "background")


class TavolaBackend(BytesBackend):
    """Keeps the values of a region in a table; see :mod:`tavola.dogpile`.

    The region makes the calls of the backend:

    >>> import dogpile.cache, tavola.dogpile
    >>> tavola.dogpile.register()
    >>> region = dogpile.cache.make_region().configure("tavola", arguments={"name": "shop"})
    >>> region.set("key", ("value", 1))
    >>> region.get("key"), len(region.backend.table)
    (('value', 1), 1)
    >>> isinstance(region.backend, tavola.dogpile.TavolaBackend)
    True
    """

    def __init__(self, arguments):
        self._ttl = arguments.get("ttl")
        self._has_lock = arguments.get("distributed_lock", True)
        self._lease = arguments.get("lock_timeout", 3600)
        name = arguments.get("name", "dogpile")
        options = {word: arguments[word] for word in _OPTIONS if word in arguments}
        self._table = open_cache(name, **options)

    @property
    def table(self):
        """The table itself."""
        return self._table

    def get_mutex(self, key):
        """Return a lock over processes for a key."""
        return _Mutex(self._table, key, self._lease) if self._has_lock else None

    def get_serialized(self, key):
        """Return the bytes of a key."""
        return self._table.get(key, NO_VALUE)

    def get_serialized_multi(self, keys):
        """Return the bytes of many keys."""
        keys = list(keys)
        found = self._table.get_many(keys)
        return [found.get(key, NO_VALUE) for key in keys]

    def set_serialized(self, key, value):
        """Set the bytes of a key."""
        self._table.set(key, value, self._ttl)

    def set_serialized_multi(self, mapping):
        """Set the bytes of many keys."""
        self._table.set_many(mapping, self._ttl)

    def delete(self, key):
        """Remove a key."""
        self._table.delete(key)

    def delete_multi(self, keys):
        """Remove many keys."""
        self._table.delete_many(list(keys))


class _Mutex:
    """A lock for one key, with the calls that dogpile makes.

    It is a lease of the table: a region has as many locks as keys, and a named lock would stay.
    """

    def __init__(self, table, key, lease):
        self._table = table
        self._name = key
        self._key = b"\0lock\0" + (key.encode() if isinstance(key, str) else bytes(key))
        self._time = lease
        self._leases = []

    def acquire(self, wait=True):
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
            if not wait:
                return False
            if outcome == "wait":
                extra.wait(None)
            else:
                time.sleep(0.001)

    def release(self):
        if not self._leases:
            raise NotHeldError(f"this object does not hold the lock {self._name!r}")
        if not self._leases.pop().release():
            raise NotHeldError(
                f"the lock {self._name!r} was held for longer than its lease, and has passed on; "
                "give a longer lock_timeout, at most 3600 seconds"
            )

    def locked(self):
        """Return whether any thread or process has the lock."""
        if self.acquire(wait=False):
            self.release()
            return False
        return True


def register():
    """Register the backend under the name ``tavola``, for runs without an installed package.

    >>> import dogpile.cache, tavola.dogpile
    >>> tavola.dogpile.register()
    >>> region = dogpile.cache.make_region().configure("tavola", arguments={"name": "shop"})
    """
    register_backend("tavola", "tavola.dogpile", "TavolaBackend")

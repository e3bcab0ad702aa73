"""The class :class:`Table`."""

from collections.abc import ItemsView, KeysView, MutableMapping, ValuesView

from . import _tavola
from ._compute import Computing
from ._errors import TableNotFoundError
from ._lock import Lock
from ._transaction import Transacting
from ._view import View
from ._watch import Watch

_MISSING = object()


class _Keys(KeysView):
    __slots__ = ("_prefix",)

    def __init__(self, table, prefix):
        super().__init__(table)
        self._prefix = prefix

    def __iter__(self):
        return self._mapping._scan("keys", self._prefix)

    def __len__(self):
        return _length(self)

    def __contains__(self, key):
        return _has_prefix(key, self._prefix) and key in self._mapping


class _Values(ValuesView):
    __slots__ = ("_prefix",)

    def __init__(self, table, prefix):
        super().__init__(table)
        self._prefix = prefix

    def __iter__(self):
        return self._mapping._scan("values", self._prefix)

    def __len__(self):
        return _length(self)

    def __contains__(self, value):
        return any(value == other for other in self)


class _Items(ItemsView):
    __slots__ = ("_prefix",)

    def __init__(self, table, prefix):
        super().__init__(table)
        self._prefix = prefix

    def __iter__(self):
        return self._mapping._scan("items", self._prefix)

    def __len__(self):
        return _length(self)

    def __contains__(self, item):
        key, value = item
        return _has_prefix(key, self._prefix) and self._mapping.get(key, _MISSING) == value


def _length(view):
    if view._prefix is None:
        return len(view._mapping)
    return sum(1 for _ in view._mapping._scan("keys", view._prefix))


def _raw(key):
    return key.encode() if isinstance(key, str) else key


def _has_prefix(key, prefix):
    return prefix is None or _raw(key).startswith(_raw(prefix))


class Table(Computing, Transacting, _tavola.Table, MutableMapping):
    """A key-value table that all processes of the machine share; from :func:`tavola.open`.

    It is a mapping with ``str`` or ``bytes`` keys. ``"a"`` and ``b"a"`` are the same key; a key
    that is UTF-8 comes back as ``str``, any other as ``bytes``. Values are ``str``, ``bytes``,
    ``int``, ``float``, ``bool``, ``None``, and lists and dicts of them; more with a serializer.

    Threads may share a handle, and a forked child may use the handle of its parent. A pickled
    handle opens the table again by its path, so it can be handed to ``multiprocessing``.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> table["alice"] = {"cart": 3}
    >>> table["alice"]
    {'cart': 3}
    >>> "bob" in table, table.get("bob", "nobody")
    (False, 'nobody')
    """

    def __new__(
        cls,
        name,
        *,
        capacity=None,
        ttl=None,
        serializer=None,
        max_size=None,
        create=True,
        read_only=False,
        private=False,
        versions=False,
        uids=False,
        fixed=None,
        binary_keys=False,
        lock_timeout=None,
        shards=None,
        mode=None,
        group=None,
        background=False,
        core_dumps=False,
        any_owner=False,
        durable=None,
    ):
        """Open a table; the options are those of :func:`tavola.open`."""
        options = locals()
        del options["cls"], options["name"], options["__class__"]
        table = super().__new__(cls, name, **options)
        table._name = name
        table._serializer = serializer
        table._durable = durable
        return table

    @property
    def name(self):
        """The name by which the table was opened."""
        return self._name

    def __iter__(self):
        return self._scan("keys")

    def keys(self, prefix=None):
        """Return a view of the keys, all or those with a prefix, in no order.

        The scan takes no lock. A key that is written meanwhile may come twice.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.set_many({"user:1": "ann", "user:2": "bob", "other": "x"})
        >>> sorted(table.keys("user:"))
        ['user:1', 'user:2']
        """
        return _Keys(self, prefix)

    def values(self, prefix=None):
        """Return a view of the values, all or those of keys with a prefix.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.set_many({"user:1": "ann", "user:2": "bob"})
        >>> sorted(table.values("user:"))
        ['ann', 'bob']
        """
        return _Values(self, prefix)

    def items(self, prefix=None):
        """Return a view of the items, all or those of keys with a prefix.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.set_many({"user:1": "ann", "user:2": "bob"})
        >>> sorted(table.items("user:"))
        [('user:1', 'ann'), ('user:2', 'bob')]
        """
        return _Items(self, prefix)

    def pop(self, key, default=_MISSING):
        """Remove a key and return its value, or the default; :class:`KeyError` without one.

        Of several processes that pop a key at the same time, one gets its value.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table["once"] = 1
        >>> table.pop("once"), table.pop("once", None)
        (1, None)
        """
        value = self.take(key, _MISSING)
        if value is not _MISSING:
            return value
        if default is _MISSING:
            raise KeyError(key)
        return default

    def popitem(self):
        """Remove any key, and return it with its value; :class:`KeyError` if there is none.

        >>> import tavola
        >>> table = tavola.open("doc-popitem")
        >>> table["a"] = 1
        >>> table.popitem()
        ('a', 1)
        """
        for key in self._scan("keys"):
            value = self.take(key, _MISSING)
            if value is not _MISSING:
                return key, value
        raise KeyError("the table is empty")

    def setdefault(self, key, default=None):
        """Return the value of a key; set it to the default first if it is missing.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.setdefault("color", "red"), table.setdefault("color", "blue")
        ('red', 'red')
        """
        while True:
            value = self.get(key, _MISSING)
            if value is not _MISSING:
                return value
            if self.add(key, default):
                return default

    def update(self, other=(), /, **more):
        """Set the keys of a mapping, of pairs, and of named arguments.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.update({"a": 1}, b=2)
        >>> table["a"], table["b"]
        (1, 2)
        """
        if hasattr(other, "keys") and not hasattr(other, "items"):
            other = [(key, other[key]) for key in other.keys()]
        self.set_many(other)
        if more:
            self.set_many(more)

    def evict(self, tag):
        """Invalidate a tag; another name of :meth:`invalidate`, as in diskcache.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table.set("page", "<p>", tags="news")
        >>> table.evict("news"), "page" in table
        (True, False)
        """
        return self.invalidate(tag)

    def tags(self, *names):
        """Return handles of tags, for ``tags=`` of calls that set keys.

        Fetch them before you load the data that a value is made of: if a tag is invalidated in
        between, the key is then missing from the beginning.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> tags = table.tags("user:7", "cart")
        >>> table.set("page", "<p>cart</p>", tags=tags)
        >>> table.invalidate("user:7"), table.get("page")
        (True, None)
        """
        return self._fetch_tags(names)

    def lock(self, name, timeout=None, shared=False):
        """Return the lock of that name, for ``with``; see :class:`tavola.Lock`.

        One thread of all processes holds it at a time; with ``shared``, up to 96 hold it together.
        A block waits for the lock as long as it takes, or raises :class:`tavola.LockTimeout` after
        ``timeout`` seconds.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> with table.lock("nightly report") as lock:
        ...     if lock.owner_died:
        ...         print("the last holder was killed: its report may be half written")
        ...     print("only one process is here")
        only one process is here
        """
        return Lock(self, name, timeout, shared)

    def watch(self, key):
        """Return a :class:`tavola.Watch`, which waits for changes of a key.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> with table.watch("config") as watch:
        ...     table["config"] = 2
        ...     watch.wait(timeout=10)
        True
        """
        return Watch(self._watch_key(key))

    def view(self, key, default=None):
        """Return a :class:`tavola.View` of the value of a key, or the default.

        A value of more than about 16 KB is not copied.

        >>> import tavola
        >>> table = tavola.open("doc")
        >>> table["film"] = b"x" * 100_000
        >>> len(table.view("film"))
        100000
        """
        lent = self._lend(key)
        return default if lent is None else View(lent)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        if self.private:
            raise TypeError("a private table cannot be pickled; it is in the memory of a process")
        options = {
            "read_only": self.read_only,
            "serializer": self._serializer,
            "binary_keys": self.binary_keys,
            "durable": self._durable,
        }
        return _reopen, (type(self), self.path, options)

    def __repr__(self):
        if self.closed:
            return f"<tavola.Table {self._name!r}, closed>"
        return f"<tavola.Table {self._name!r} at {self.path}>"


def _reopen(cls, path, options):
    """Open the table of a pickled handle, which must exist."""
    return cls(path, create=False, **options)


def find(name, **options):
    """Return the table of that name, or ``None`` if there is none; see :func:`tavola.open`.

    >>> import tavola
    >>> print(tavola.find("no such table"))
    None
    """
    try:
        return Table(name, create=False, **options)
    except TableNotFoundError:
        return None

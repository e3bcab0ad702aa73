"""Tables with the manners of the module :mod:`dbm`: keys and values are bytes.

>>> import os, tavola.dbm
>>> with tavola.dbm.open(os.environ["TAVOLA_DIR"] + "/example", "c") as db:
...     db["key"] = "value"
...     db[b"key"], db.get("missing"), db.keys()
(b'value', None, [b'key'])

``shelve.Shelf(tavola.dbm.open(name))`` keeps any object. Unlike other dbm modules, several
processes can write at the same time. A database is in memory; with ``durable`` it is on disk, too.
"""

import os
from collections.abc import MutableMapping

from . import _tavola
from ._errors import Error, NotATableError, TableNotFoundError
from ._table import Table

library = "tavola"


class error(Error, OSError):
    """The error of this module, as other dbm modules have one."""


def _bytes(thing, what):
    if isinstance(thing, str):
        return thing.encode("utf-8")
    if isinstance(thing, (bytes, bytearray)):
        return bytes(thing)
    raise TypeError(f"dbm {what}s must be bytes or strings")


class Database(MutableMapping):
    """A table with bytes as keys and values; from :func:`open`.

    >>> import tavola.dbm
    >>> with tavola.dbm.open("database", "n") as db:
    ...     db["a"] = "1"
    ...     db["a"], "b" in db, len(db)
    (b'1', False, 1)
    """

    def __init__(self, table, is_read_only):
        self._table = table
        self._is_read_only = is_read_only

    def _open_table(self):
        if self._table.closed:
            raise error("DBM object has already been closed")
        return self._table

    def _writable(self):
        table = self._open_table()
        if self._is_read_only:
            raise error("The database is opened for reading only")
        return table

    def __getitem__(self, key):
        found = self._open_table().get_raw(_bytes(key, "key"))
        if found is None:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key, value):
        table = self._writable()
        table.set_raw(_bytes(key, "key"), _bytes(value, "value"))

    def __delitem__(self, key):
        if not self._writable().delete(_bytes(key, "key")):
            raise KeyError(key)

    def __contains__(self, key):
        return self._open_table().exists(_bytes(key, "key"))

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._open_table())

    def keys(self):
        """Return a list of all keys.

        >>> import tavola.dbm
        >>> db = tavola.dbm.open("example-keys", "c")
        >>> db["a"] = "1"
        >>> db.keys()
        [b'a']
        """
        return list(self._open_table()._scan("keys"))

    def firstkey(self):
        """Return the first key of a scan, or ``None``, as :mod:`dbm.gnu`.

        >>> import tavola.dbm
        >>> db = tavola.dbm.open("scanned", "n")
        >>> db["a"] = "1"
        >>> db["b"] = "2"
        >>> keys, key = [], db.firstkey()
        >>> while key is not None:
        ...     keys.append(key)
        ...     key = db.nextkey(key)
        >>> sorted(keys)
        [b'a', b'b']
        """
        self._scan = self._open_table()._scan("keys")
        return next(self._scan, None)

    def nextkey(self, key):
        """Return the key after ``key`` in a scan that :meth:`firstkey` began, or ``None``."""
        return next(self._scan, None)

    def setdefault(self, key, default=b""):
        """Return the value of a key; set it to the default first if it is missing.

        >>> import tavola.dbm
        >>> db = tavola.dbm.open("defaults", "n")
        >>> db.setdefault("a", "1"), db.setdefault("a", "2")
        (b'1', b'1')
        """
        key, default = _bytes(key, "key"), _bytes(default, "value")
        if self._open_table().exists(key):
            return self[key]
        self._writable().add(key, default)
        return self[key]

    def clear(self):
        """Remove all keys.

        >>> import tavola.dbm
        >>> db = tavola.dbm.open("cleared", "n")
        >>> db["a"] = "1"
        >>> db.clear()
        >>> len(db)
        0
        """
        self._writable().clear()

    def sync(self):
        """Wait until all changes are on disk, if the table is durable. Others see each change at
        once in any case.

        >>> import os, tavola.dbm
        >>> path = os.environ["TAVOLA_DIR"] + "/on-disk"
        >>> with tavola.dbm.open(path, "c", durable="os") as db:
        ...     db["a"] = "1"
        ...     db.sync()
        """
        table = self._open_table()
        if not self._is_read_only and table.is_durable:
            table.sync()

    def reorganize(self):
        """Return unused memory to the system.

        >>> import tavola.dbm
        >>> tavola.dbm.open("reorganized", "n").reorganize()
        """
        self._writable().compact()

    def close(self):
        """Close the database. Further calls raise :class:`tavola.dbm.error`.

        >>> import tavola.dbm
        >>> db = tavola.dbm.open("closed", "n")
        >>> db.close()
        >>> try:
        ...     db["a"]
        ... except tavola.dbm.error as error:
        ...     print(error)
        DBM object has already been closed
        """
        self._table.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def open(file, flag="r", mode=0o666, durable=None):
    """Open a table as :func:`dbm.open`.

    flag: ``r`` reads only, ``w`` writes to an existing table, ``c`` creates it if it is missing,
    ``n`` makes a new, empty one. mode: of a new file; the umask applies. A name without a ``/`` is
    in the directory of tables. durable: as of :func:`tavola.open`; the file is a directory then.

    >>> import tavola.dbm
    >>> db = tavola.dbm.open("example", "n")
    >>> db["a"] = "1"
    >>> db["a"]
    b'1'
    """
    if flag not in ("r", "w", "c", "n"):
        raise error("Flag must be one of 'r', 'w', 'c', or 'n'")
    name = os.fsdecode(file)
    if flag == "n":
        try:
            _tavola.remove(name)
        except TableNotFoundError:
            pass
    options = {"read_only": flag == "r", "create": flag in ("c", "n"), "binary_keys": True}
    options["durable"] = durable
    if flag in ("c", "n"):
        umask = os.umask(0)
        os.umask(umask)
        options["mode"] = mode & ~umask
    try:
        return Database(Table(name, **options), flag == "r")
    except (TableNotFoundError, NotATableError) as failed:
        raised = error(str(failed))
        raised.errno = getattr(failed, "errno", None)
        raise raised from failed


def whichdb(file):
    """Return ``"tavola.dbm"`` if the file is a table, ``None`` if there is no such file, else the
    answer of :func:`dbm.whichdb`.

    >>> import tavola.dbm
    >>> tavola.dbm.open("example", "n").close()
    >>> tavola.dbm.whichdb("example"), tavola.dbm.whichdb("missing")
    ('tavola.dbm', None)
    """
    import dbm

    try:
        Table(os.fsdecode(file), create=False, read_only=True).close()
    except Error:
        return dbm.whichdb(file)
    return "tavola.dbm"


__all__ = ["Database", "error", "open", "whichdb"]

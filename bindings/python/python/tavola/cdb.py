"""Constant files: keys and values that are written once, as a whole, and read by any process.

A change is a new file, which gets the name of the old one in one step. The files are those of cdb,
which TinyCDB, Postfix and others read and write, or Tavola's own frozen files, which are smaller
and have checksums. Keys and values are bytes; text is stored as UTF-8.

>>> import os, tavola.cdb
>>> path = os.environ["TAVOLA_DIR"] + "/.people.cdb"
>>> with tavola.cdb.Maker(path) as maker:
...     maker.add("alice", "3")
...     maker.add("bob", "4")
>>> people = tavola.cdb.open(path)
>>> people["bob"], people.get("carol"), dict(people)
(b'4', None, {b'alice': b'3', b'bob': b'4'})
"""

import os
from collections.abc import Mapping

from . import _tavola
from ._errors import OptionError

_MODES = ("add", "insert", "replace", "replace0", "warn")


class Constant(Mapping):
    """An open constant file; from :func:`tavola.cdb.open`. Threads may share it.

    A walk yields each key once, with its first value. ``len`` counts records: a key with two values
    counts twice.

    >>> import os, tavola.cdb
    >>> path = os.environ["TAVOLA_DIR"] + "/.constant.cdb"
    >>> tavola.cdb.make(path, [("a", "1"), ("a", "2"), ("b", "3")])
    3
    >>> file = tavola.cdb.Constant(path)
    >>> file["a"], list(file), len(file)
    (b'1', [b'a', b'b'], 3)
    """

    def __init__(self, path, follow=None):
        self._file = _tavola.ConstantFile(path, follow)
        #: The path by which the file was opened.
        self.path = os.fspath(path)

    def __getitem__(self, key):
        value = self._file.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key, default=None):
        """Return the first value of a key, or ``default``.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.get.cdb"
        >>> tavola.cdb.make(path, {"a": "1"})
        1
        >>> tavola.cdb.open(path).get("b", b"")
        b''
        """
        value = self._file.get(key)
        return default if value is None else value

    def getall(self, key):
        """Return a list of all values of a key, in the order in which they were written.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.all.cdb"
        >>> tavola.cdb.make(path, [("a", "1"), ("a", "2")])
        2
        >>> tavola.cdb.open(path).getall("a")
        [b'1', b'2']
        """
        return self._file.get_all(key)

    def __contains__(self, key):
        return self._file.contains(key)

    def __iter__(self):
        return (key for key, _ in self._file.scan(True))

    def __len__(self):
        return self._file.records()

    def items(self):
        """Yield each key with its first value.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.items.cdb"
        >>> tavola.cdb.make(path, [("a", "1"), ("a", "2"), ("b", "3")])
        3
        >>> list(tavola.cdb.open(path).items())
        [(b'a', b'1'), (b'b', b'3')]
        """
        return self._file.scan(True)

    def values(self):
        """Yield the first value of each key.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.values.cdb"
        >>> tavola.cdb.make(path, {"a": "1"})
        1
        >>> list(tavola.cdb.open(path).values())
        [b'1']
        """
        return (value for _, value in self._file.scan(True))

    def records(self):
        """Yield all records, also several of a key.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.records.cdb"
        >>> tavola.cdb.make(path, [("a", "1"), ("a", "2")])
        2
        >>> list(tavola.cdb.open(path).records())
        [(b'a', b'1'), (b'a', b'2')]
        """
        return self._file.scan(False)

    def refresh(self):
        """Open the file that has the name now, if it is another one. Return whether it is.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.moved.cdb"
        >>> tavola.cdb.make(path, {"a": "1"})
        1
        >>> file = tavola.cdb.open(path)
        >>> tavola.cdb.make(path, {"a": "2"})
        1
        >>> file["a"], file.refresh(), file["a"]
        (b'1', True, b'2')
        """
        return self._file.refresh()

    def check(self):
        """Read the whole file, and return how many records there are.
        :class:`tavola.CorruptError` if it is damaged.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.checked.cdb"
        >>> tavola.cdb.make(path, {"a": "1"}, format="frozen")
        1
        >>> tavola.cdb.open(path).check()
        1
        """
        return self._file.check()

    @property
    def format(self):
        """The format: ``"cdb"``, ``"cdb64"`` or ``"frozen"``.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.format.cdb"
        >>> tavola.cdb.make(path, {"a": "1"}, format="cdb64")
        1
        >>> tavola.cdb.open(path).format
        'cdb64'
        """
        return self._file.format()

    @property
    def size_bytes(self):
        """The length of the file in bytes.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.size.cdb"
        >>> tavola.cdb.make(path, {})
        0
        >>> tavola.cdb.open(path).size_bytes
        2048
        """
        return self._file.size_bytes()

    def close(self):
        """Close the file. Walks that have begun go on.

        >>> import os, tavola.cdb
        >>> path = os.environ["TAVOLA_DIR"] + "/.closed.cdb"
        >>> tavola.cdb.make(path, {"a": "1"})
        1
        >>> tavola.cdb.open(path).close()
        """
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<tavola.cdb.Constant {self.path!r}>"


class Maker:
    """Makes a constant file. It has its name when :meth:`finish` has returned, and replaces a file
    of that name in one step. As a context, it finishes the file, or gives it up after an exception.

    format: ``"cdb"``, up to 4 GiB; ``"cdb64"``, the same with numbers of 64 bits; ``"frozen"``, of
    which each key has one value, the first. mode: the rights of the file. Without ``sync`` the call
    does not wait for the disk. ``temporary``, which other modules for cdb want, has no effect: the
    new file has a name of its own in the same directory until it is finished.

    >>> import os, tavola.cdb
    >>> path = os.environ["TAVOLA_DIR"] + "/.made.cdb"
    >>> maker = tavola.cdb.Maker(path, mode=0o600)
    >>> maker.add("key", "value")
    >>> maker.finish()
    1
    """

    def __init__(self, path, temporary=None, *, format="cdb", mode=None, sync=True):
        self._writer = _tavola.ConstantWriter(path, format, mode, sync)
        #: The path of the file.
        self.path = os.fspath(path)

    def add(self, key, value):
        """Add a record, without a look whether the key is there.

        >>> import os, tavola.cdb
        >>> with tavola.cdb.Maker(os.environ["TAVOLA_DIR"] + "/.added.cdb") as maker:
        ...     maker.add("key", b"value")
        """
        self._writer.put(key, value, "add")

    def addmany(self, pairs):
        """Add a record for each pair of a key and a value.

        >>> import os, tavola.cdb
        >>> with tavola.cdb.Maker(os.environ["TAVOLA_DIR"] + "/.many.cdb") as maker:
        ...     maker.addmany([("a", "1"), ("b", "2")])
        """
        put = self._writer.put
        for key, value in pairs:
            put(key, value, "add")

    def put(self, key, value, mode):
        """Put a record, and return whether the key was there. If it was, ``mode`` says what to do:
        ``"insert"`` adds nothing, ``"replace"`` removes the older records, ``"replace0"``
        overwrites them with zeros, ``"warn"`` adds another record, and so does ``"add"``, which
        does not look and returns false. A frozen file takes ``"add"`` only.

        >>> import os, tavola.cdb
        >>> with tavola.cdb.Maker(os.environ["TAVOLA_DIR"] + "/.put.cdb") as maker:
        ...     maker.put("a", "1", "insert"), maker.put("a", "2", "replace")
        (False, True)
        """
        if mode not in _MODES:
            raise OptionError(f"there is no mode {mode!r}; give one of {', '.join(_MODES)}")
        return self._writer.put(key, value, mode)

    def finish(self):
        """Give the file its name, and return how many records it has.

        >>> import os, tavola.cdb
        >>> tavola.cdb.Maker(os.environ["TAVOLA_DIR"] + "/.empty.cdb").finish()
        0
        """
        return self._writer.finish()

    def abandon(self):
        """Give the file up, if it is not finished. A file of that name stays.

        >>> import os, tavola.cdb
        >>> tavola.cdb.Maker(os.environ["TAVOLA_DIR"] + "/.none.cdb").abandon()
        """
        self._writer.abandon()

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        if kind is not None:
            self.abandon()
        elif not self._writer.is_finished:
            self.finish()


def open(path, follow=None):
    """Open a constant file of any format. With ``follow``, the reader looks at the name when it is
    used, at most once in so many seconds, and reads the file that has the name then.

    >>> import os, tavola.cdb
    >>> path = os.environ["TAVOLA_DIR"] + "/.opened.cdb"
    >>> tavola.cdb.make(path, {"a": "1"})
    1
    >>> with tavola.cdb.open(path, follow=1) as file:
    ...     file["a"]
    b'1'
    """
    return Constant(path, follow)


def make(path, pairs, **options):
    """Make a constant file of a mapping, or of pairs; options as of :class:`Maker`. Return how many
    records it has.

    >>> import os, tavola.cdb
    >>> tavola.cdb.make(os.environ["TAVOLA_DIR"] + "/.whole.cdb", {"a": "1", "b": "2"})
    2
    """
    maker = Maker(path, **options)
    try:
        maker.addmany(pairs.items() if hasattr(pairs, "items") else pairs)
        return maker.finish()
    finally:
        maker.abandon()


#: The names that python-cdb has.
init, cdbmake = open, Maker

__all__ = ["Constant", "Maker", "cdbmake", "init", "make", "open"]

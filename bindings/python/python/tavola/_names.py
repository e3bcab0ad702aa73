"""Tables by their names."""

import os

from . import _tavola


def list_tables():
    """Return the names of all tables in the directory of tables, sorted.

    A durable table whose memory is there is named by the path of its own directory.

    >>> import tavola
    >>> table = tavola.open("listed")
    >>> "listed" in tavola.list_tables()
    True
    """
    directory = os.path.dirname(_tavola.path_of("any"))

    def name(path):
        folder, last = os.path.split(path)
        return last if folder == directory else path

    return [name(path) for path in _tavola.list_tables()]


def remove(name, *, any_owner=False):
    """Remove a table. Processes that have it open can use it until they close it.

    >>> import tavola
    >>> tavola.open("old").close()
    >>> tavola.remove("old")
    """
    _tavola.remove(name, any_owner)


def rename(old, new, *, any_owner=False):
    """Rename a table in one step. Processes that have it open keep it.

    >>> import tavola
    >>> tavola.open("draft").close()
    >>> tavola.rename("draft", "final")
    >>> tavola.remove("final")
    """
    _tavola.rename(old, new, any_owner)


def path_of(name):
    """Return the path of the file for a name; there need not be such a table.

    >>> import os, tavola
    >>> tavola.path_of("pages") == os.path.join(os.environ["TAVOLA_DIR"], "pages")
    True
    """
    return _tavola.path_of(name)

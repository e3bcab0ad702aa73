"""Views of values that are not copied."""

import ctypes


def piece_view(owner, address, size):
    """Return a read-only memory view that keeps the owner of the memory alive."""
    array = (ctypes.c_ubyte * size).from_address(address)
    # Each memory view of the array keeps the array, and the array keeps the owner.
    array._owner = owner
    return memoryview(array).cast("B").toreadonly()


class View:
    """The value of a key, as it was when the view was made; from :meth:`Table.view`.

    A value of more than about 16 KB is not copied: its pages stay in use while the view or a
    memory view of it exists. Use it in the process that made it, not in a forked child.

    >>> import tavola
    >>> table = tavola.open("films")
    >>> table["film"] = b"x" * 1_000_000
    >>> view = table.view("film")
    >>> len(view), sum(len(piece) for piece in view.pieces)
    (1000000, 1000000)
    >>> bytes(view.data[:3])
    b'xxx'
    """

    __slots__ = ("_lent", "_pieces")

    def __init__(self, lent):
        self._lent = lent
        self._pieces = [piece_view(lent, *piece) for piece in lent.pieces()]

    @property
    def pieces(self):
        """Read-only memory views of the value, in order: one for each run of pages."""
        return tuple(self._pieces)

    @property
    def data(self):
        """One read-only memory view of the whole value; a copy if it is in several pieces."""
        if len(self._pieces) == 1:
            return self._pieces[0]
        return memoryview(self._lent.copy())

    @property
    def is_lent(self):
        """Whether pages of the table are used, or the value was copied."""
        return self._lent.is_lent

    def __len__(self):
        return sum(len(piece) for piece in self._pieces)

    def __bytes__(self):
        return self._lent.copy()

    def __repr__(self):
        return f"<tavola.View of {len(self)} bytes in {len(self._pieces)} pieces>"

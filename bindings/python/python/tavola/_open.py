"""The function :func:`open`."""

from ._table import Table

#: Bytes of the cache of an adapter.
CAPACITY = 64 << 20


def open(name, **options):
    """Open a table, and create it if it is missing.

    name: a file in ``$TAVOLA_DIR`` or ``/dev/shm/tavola-UID``; with a ``/`` in it, a path.

    For reading and writing values:

    serializer: ``None`` stores ``str``, ``bytes``, ``int``, ``float`` and JSON. ``"pickle"`` stores
        any object; give it only for tables whose writers you trust, since a pickle can run code. An
        object with ``dumps``, ``loads`` and ``flags`` (a number that marks its bytes) encodes what
        is not ``str``, ``bytes``, ``int`` or ``float``. Give flags whose low 16 bits are 0, such as
        ``0x60000000``: ``early`` of :meth:`Table.get_or_compute` needs these bits.
    binary_keys: show all keys as ``bytes``.
    lock_timeout: seconds after which a call raises :class:`tavola.BusyError` if another process
        is stopped while it has a lock; by default a call waits.

    For a new table; an existing one keeps its own:

    capacity: makes it a cache of so many bytes, which evicts keys when it is full.
    ttl: the default time to live of keys in seconds (or a ``timedelta``).
    max_size: the largest size in bytes; it reserves address space, not memory.
    versions: a token of :meth:`Table.gets` changes whenever the key is set.
    fixed: ``(key, value)``: all keys and values have these lengths in bytes.
    uids: every new key gets a uid. shards: the number of locks.
    mode, group: of the file, such as ``0o660`` and a group id.
    durable: the table survives a restart of the machine. Its name is the path of a directory.
        ``"commit"``: a write is on disk when it returns. A number of seconds, such as ``0.05`` (or
        a ``timedelta``): it is on disk after that time. ``"os"``: when the system writes it. An
        existing table keeps its own, unless this one is stricter; then it is that of this handle.

    How it is opened:

    create: ``False`` opens only an existing table, ``"new"`` only creates one.
    read_only: through a mapping that cannot be written to.
    private: in the memory of this process and of its forked children's copies, for tests.
    background: a thread of the library maintains the table.
    core_dumps: include the table in core dumps.
    any_owner: accept a table of another user in a directory such as ``/tmp``.

    >>> import tavola
    >>> cache = tavola.open("cache", capacity=64 << 20, ttl=3600)
    >>> cache.set("alice", [1, 2], ttl=60)
    >>> cache["alice"]
    [1, 2]
    """
    return Table(name, **options)


def open_cache(name, **options):
    """Open the table of an adapter: a cache, unless ``max_size`` or ``durable`` is given."""
    if "max_size" not in options and options.get("durable") is None:
        options.setdefault("capacity", CAPACITY)
    return Table(name, **options)

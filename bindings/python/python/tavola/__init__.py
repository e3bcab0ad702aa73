"""Tavola: a key-value store and cache in shared memory, without a server.

>>> import tavola
>>> cache = tavola.open("pages", capacity=16 << 20, ttl=300)
>>> cache["/"] = "<p>hello</p>"
>>> cache["/"]
'<p>hello</p>'
"""

from ._cached import CacheInfo, cached, hashkey, typedkey
from ._errors import (
    Abort,
    AccessError,
    AlreadyDrainedError,
    AlreadyThereError,
    BadNameError,
    BusyError,
    ClosedError,
    ConflictError,
    CorruptError,
    DamagedJournalError,
    EncodeError,
    EndiannessError,
    Error,
    FileLostError,
    FullError,
    InUseElsewhereError,
    KeyTooLongError,
    LengthsError,
    LockTimeout,
    NoUidsError,
    NotACounterError,
    NotATableError,
    NotComputedError,
    NotConstantError,
    NotDurableError,
    NotHeldError,
    NotThereError,
    OptionError,
    ReadOnlyError,
    ReentrantError,
    SinkError,
    SystemFailure,
    TableExistsError,
    TableNotFoundError,
    TooLargeError,
    TooManyChangesError,
    TooManyParticipantsError,
    VersionError,
    WriteFailedError,
)
from ._lock import Lock
from ._log import Log, LogDrain, LoggingHandler, LogLine, LogReader
from ._names import list_tables, path_of, remove, rename
from ._queue import Queue
from ._table import Table, find
from ._tavola import Tags, Transaction, __version__
from ._view import View
from ._watch import Watch
from ._open import open

#: A TTL that never ends.
NEVER = float("inf")

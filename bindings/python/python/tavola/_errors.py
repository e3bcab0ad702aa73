"""Exceptions. The sentences are those of the library; each says what to do."""


class Error(Exception):
    """The base of all exceptions of this package.

    >>> import tavola
    >>> try:
    ...     tavola.open("missing", create=False)
    ... except tavola.Error as error:
    ...     print(error.status)
    NO_TABLE
    """

    #: The name of the status in the C library, without ``TAVOLA_ERR_``.
    status = "OTHER"

    def __str__(self):
        """Return the sentence, also for those that are an ``OSError`` with a number and a file."""
        return str(self.args[0]) if self.args else ""


class TableNotFoundError(Error, FileNotFoundError):
    """There is no table, queue or log of that name."""

    status = "NO_TABLE"


class TableExistsError(Error, FileExistsError):
    """A table, queue or log of that name exists already."""

    status = "TABLE_EXISTS"


class FullError(Error):
    """There is no room: ``max_size`` is reached, or the file system is full."""

    status = "FULL"


class CorruptError(Error):
    """The table is damaged. The call changed nothing."""

    status = "CORRUPT"


class NotATableError(Error):
    """The file is not a table."""

    status = "NOT_A_TABLE"


class VersionError(Error):
    """The table has another format version."""

    status = "VERSION"


class EndiannessError(Error):
    """The table was created on a machine with another byte order."""

    status = "ENDIANNESS"


class AccessError(Error, PermissionError):
    """The system denied access."""

    status = "PERMISSION"


class ReadOnlyError(Error):
    """The table is open read-only, or is on a read-only file system."""

    status = "READ_ONLY"


class BadNameError(Error, ValueError):
    """The name is not a valid name of a table or a lock."""

    status = "BAD_NAME"


class OptionError(Error, ValueError):
    """An option has an invalid value."""

    status = "BAD_OPTION"


class TooManyParticipantsError(Error):
    """All participant slots are in use by running processes."""

    status = "TOO_MANY_PARTICIPANTS"


class TooLargeError(Error, ValueError):
    """The key and the value, or the item of a queue, are too long."""

    status = "TOO_LARGE"


class LengthsError(Error, ValueError):
    """The table has fixed lengths of keys and values, and accepts no others."""

    status = "LENGTHS"


class NoUidsError(Error):
    """The table has fixed lengths and was created without uids."""

    status = "NO_UIDS"


class NotThereError(Error, LookupError):
    """The file has no queue or log of that name."""

    status = "NO_OBJECT"


class AlreadyThereError(Error):
    """The file has a queue or log of that name already."""

    status = "OBJECT_EXISTS"


class NotHeldError(Error):
    """The process does not hold the element, the lease or the lock."""

    status = "NOT_HELD"


class NotACounterError(Error, ValueError):
    """The value is not a decimal number that fits."""

    status = "NOT_A_COUNTER"


class ReentrantError(Error, RuntimeError):
    """A transaction with the turn began inside another one, or a signal handler wrote to a table
    while its thread was writing."""

    status = "REENTRANT"


class BusyError(Error, TimeoutError):
    """A lock of the table was not released within the lock timeout."""

    status = "BUSY"


class SystemFailure(Error, OSError):
    """Another operation of the system failed; ``errno`` says why."""

    status = "IO"


class AlreadyDrainedError(Error):
    """The log has a drain already."""

    status = "ALREADY_DRAINED"


class SinkError(Error, OSError):
    """Lines of a log could not be written out; they stay in the log."""

    status = "SINK"


class NotComputedError(Error):
    """The last attempt to compute the value failed, in any process, a moment ago."""

    status = "COMPUTE"


class ClosedError(Error, ValueError):
    """The table, queue or log was closed."""

    status = "CLOSED"


class ConflictError(Error):
    """Another process has changed a key that the transaction had read. Nothing was changed; the
    transaction can run again. Only transactions that are not run again raise it."""

    status = "CONFLICT"


class TooManyChangesError(Error):
    """The transaction changes more than 65,536 keys."""

    status = "TOO_MANY_CHANGES"


class NotDurableError(Error, OSError):
    """The disk of a durable table failed. The change was made, but may not survive a power failure;
    or it was refused, as the disk had failed before. Reads go on."""

    status = "NOT_DURABLE"


class KeyTooLongError(Error, ValueError):
    """The key has more than 8192 bytes, which keys of a durable table may not have."""

    status = "KEY_TOO_LONG"


class DamagedJournalError(Error):
    """The files of a durable table are damaged."""

    status = "DAMAGED_JOURNAL"


class InUseElsewhereError(Error):
    """The table is in the shared memory of processes that this one cannot reach."""

    status = "IN_USE_ELSEWHERE"


class NotConstantError(Error, ValueError):
    """The file is not a constant file, or only the beginning of one."""

    status = "NOT_CONSTANT"


class FileLostError(Error):
    """The constant file was shortened by another process, or could not be read, while it was
    open."""

    status = "FILE_LOST"


class WriteFailedError(Error):
    """An earlier call has failed, so the constant file cannot be finished."""

    status = "WRITE_FAILED"


class LockTimeout(Error, TimeoutError):
    """A wait for a lock or a value ended before it was there."""

    status = "TIMEOUT"


class EncodeError(Error, TypeError):
    """The table does not store objects of this type."""

    status = "ENCODE"


class MemcacheError(Error):
    """The base of the exceptions of :mod:`tavola.memcached`, which have pymemcache's names."""

    status = "MEMCACHE"


class MemcacheClientError(MemcacheError):
    """The server refused the request, or the client could not send it in this form. Nothing was
    changed."""

    status = "MEMCACHE_CLIENT"


class MemcacheUnknownCommandError(MemcacheClientError):
    """The server does not know the command."""

    status = "MEMCACHE_COMMAND"


class MemcacheIllegalInputError(MemcacheClientError, ValueError):
    """The key, the value or another argument is not one that memcached can have."""

    status = "MEMCACHE_ILLEGAL"


class MemcacheServerError(MemcacheError):
    """The server could not carry out the request, or could not be reached."""

    status = "MEMCACHE_SERVER"


class MemcacheUnsentError(MemcacheServerError, OSError):
    """The server is down or could not be reached in time. Nothing was sent, so nothing was changed
    and the call can be repeated."""

    status = "MEMCACHE_UNSENT"


class MemcacheUnknownError(MemcacheError):
    """It is not known whether the request was carried out."""

    status = "MEMCACHE_UNKNOWN"


class MemcacheUnexpectedCloseError(MemcacheServerError, MemcacheUnknownError, OSError):
    """The request was sent and its answer is missing: the server closed the connection, sent what
    was not asked for, or was too late. The request may have been carried out."""

    status = "MEMCACHE_UNANSWERED"


class Abort(Exception):
    """Ends a transaction without changes; from :meth:`Transaction.abort`, or raised as it is.

    It is no error: the transaction catches it.

    >>> import tavola
    >>> table = tavola.open("doc")
    >>> def withdraw(t):
    ...     if t.decr("balance", 5) < 0:
    ...         raise tavola.Abort
    ...     return "paid"
    >>> print(table.transact(withdraw), table.get("balance"))
    None None
    """

    def __init__(self, transaction=None):
        super().__init__("the transaction was aborted; nothing was changed")
        #: The transaction that ends; ``None`` means the innermost one.
        self.transaction = transaction


def _all_errors(base):
    for derived in base.__subclasses__():
        yield derived
        yield from _all_errors(derived)


#: The class for each status.
BY_STATUS = {derived.status: derived for derived in _all_errors(Error)}
BY_STATUS["OTHER"] = Error

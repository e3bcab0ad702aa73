# frozen_string_literal: true

module Tavola
  # The error of a call that failed. The message is the sentence of the library, which says what to
  # do. There is a class for each status that a caller can act on.
  #
  # @!attribute [r] status
  #   @return [Symbol, nil] the name of the status in C without `TAVOLA_ERR_`, such as `:FULL`
  # @example
  #   table['name'] = 'alice'
  #   begin
  #     table.increment('name')
  #   rescue Tavola::NotACounterError => error
  #     error.status # => :NOT_A_COUNTER
  #   end
  class Error
  end

  # A lock was not free within the time that the caller gave.
  class TimeoutError < Error
  end

  # @!parse
  #   # An argument is invalid.
  #   class InvalidArgumentError < Error; end
  #   # There is no file of that name.
  #   class NoTableError < Error; end
  #   # A file of that name exists already.
  #   class TableExistsError < Error; end
  #   # There is no room: `max_size` is reached, or the file system is full. The table is intact.
  #   class FullError < Error; end
  #   # Bytes of the table contradict each other. Nothing was changed.
  #   class CorruptError < Error; end
  #   # The file is not a table.
  #   class NotATableError < Error; end
  #   # The table has another version of the format.
  #   class VersionError < Error; end
  #   # The table was created on a machine with the other byte order.
  #   class EndiannessError < Error; end
  #   # The system refused access.
  #   class PermissionError < Error; end
  #   # The table is open for reading only.
  #   class ReadOnlyError < Error; end
  #   # The name is invalid.
  #   class BadNameError < Error; end
  #   # An option is invalid.
  #   class BadOptionError < Error; end
  #   # Living processes use all participant slots of the table.
  #   class TooManyParticipantsError < Error; end
  #   # Key and value together are too long, or a job is too long for its queue.
  #   class TooLargeError < Error; end
  #   # The table has a fixed length for keys and for values, and this one differs.
  #   class LengthsError < Error; end
  #   # The table has fixed lengths and was created without uids.
  #   class NoUidsError < Error; end
  #   # There is no queue or log of that name in the file.
  #   class NoObjectError < Error; end
  #   # A queue or log of that name exists in the file already.
  #   class ObjectExistsError < Error; end
  #   # The caller does not hold the element of the queue.
  #   class NotHeldError < Error; end
  #   # The value is not a decimal number of the expected range.
  #   class NotACounterError < Error; end
  #   # A signal handler tried to write, and had interrupted a write of the same thread.
  #   class ReentrantError < Error; end
  #   # The system reported another error.
  #   class SystemError < Error; end
  #   # The log has a drain already.
  #   class AlreadyDrainedError < Error; end
  #   # Lines of a log could not be written out; they stay in the log.
  #   class SinkError < Error; end
  #   # Another process failed to compute the value a moment ago. The message is its error's.
  #   class NotComputedError < Error; end
  #   # A lock of the table was not free within `lock_timeout`. Nothing was done.
  #   class BusyError < Error; end
  #   # A transaction changes more than 65,536 keys.
  #   class TooManyChangesError < Error; end
  #   # The disk of a durable table failed. The change was made, but may not survive a power
  #   # failure; or it was refused, as the disk had failed before. Reads continue.
  #   class NotDurableError < Error; end
  #   # The key has more than 8192 bytes, which keys of a durable table may not have.
  #   class KeyTooLongError < Error; end
  #   # The files of a durable table are damaged.
  #   class DamagedJournalError < Error; end
  #   # The table is in the shared memory of processes that this one cannot reach.
  #   class InUseElsewhereError < Error; end
  #   # Another process has changed a key that a transaction with `once: true` had read. Nothing was
  #   # changed.
  #   class ConflictError < Error; end
  #   # The object is closed.
  #   class ClosedError < Error; end
end

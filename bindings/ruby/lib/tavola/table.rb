# frozen_string_literal: true

require 'tavola/table/reading'
require 'tavola/table/writing'
require 'tavola/table/many'
require 'tavola/table/hash'
require 'tavola/table/tags'
require 'tavola/table/computing'
require 'tavola/table/locking'
require 'tavola/table/transacting'
require 'tavola/table/durable'
require 'tavola/table/state'

module Tavola
  # A table of keys and values in shared memory, with the manners of a Hash.
  #
  # Keys are strings of any bytes. A Symbol or an Integer as a key means its text, and keys
  # come back as strings. Values are strings, numbers, true, false, nil, and arrays and hashes of
  # them with strings as keys (JSON); other languages read the same values. With `serializer:
  # :marshal` all other objects can be stored, too.
  #
  # Threads may share a table. A forked child uses the tables of its parent, without any hook. A
  # Ractor opens its own. The GVL is held for a short call, and released for waits, scans and
  # batches of more than 64 keys.
  #
  # @!method self.open(name, **options)
  #   Opens a table, and creates it if it does not exist. A name means a file in
  #   {Tavola.directory}; a name with a `/` is a path. The options `capacity` to `group_id` apply to
  #   a new table; a table that exists keeps its own.
  #   @param capacity [Integer] makes the table a cache of so many bytes in all
  #   @param max_size [Integer] the most bytes that the table may grow to
  #   @param ttl [Numeric] how many seconds keys live if they have no time of their own
  #   @param mode [Integer] the mode of the file; 0600 by default
  #   @param shards [Integer] a power of two from 1 to 1024
  #   @param fixed_key [Integer] the length of all keys; such a table stores only bytes
  #   @param fixed_value [Integer] the length of all values then
  #   @param versions [Boolean] true: a token changes each time that a key is set
  #   @param group_id [Integer] the group of the file
  #   @param background [Boolean] true: the handle may start a thread for maintenance
  #   @param core_dumps [Boolean] true: core dumps include the bytes of the table
  #   @param any_owner [Boolean] true: opens the table of another user in a directory like `/tmp`
  #   @param lock_timeout [Numeric] how many seconds a call waits for a lock whose holder is
  #     stopped, before it raises {BusyError}; without limit by default
  #   @param serializer [nil, :marshal, #dump] what stores other objects than those of JSON:
  #     Marshal, or an object with `dump` and `load`. Marshal can run code that the writer of the
  #     table chose, so use it only for tables that you trust.
  #   @param durable [nil, :commit, :os, Numeric] when a change is on disk: when the call returns,
  #     when the system has written it, or after so many seconds. Such a table is there again after
  #     a restart of the machine; its name is the path of a directory. A table that exists keeps
  #     its own policy, unless this one is stricter: then it is that of this handle.
  #   @yield [table] with a block, the table is closed at its end, and its value is returned
  #   @return [Table]
  #   @raise [DamagedJournalError] the files of a durable table are damaged
  #   @raise [InUseElsewhereError] processes use the durable table in another shared memory
  #   @example A cache of 64 MiB that all workers share
  #     cache = Tavola::Table.open('pages', capacity: 64 << 20, ttl: 300)
  #     cache['/'] = '<p>hello</p>'
  #     cache.ttl('/') # => 300
  #   @example A table that survives a restart of the machine
  #     orders = Tavola::Table.open('./orders', durable: :commit)
  #     orders['7'] = 'two apples' # It is on disk when this returns.
  #     orders.durable? # => true
  #
  # @!method self.open_existing(name, **options)
  #   Opens a table that exists.
  #   @raise [NoTableError]
  #   @return [Table]
  #   @example
  #     begin
  #       Tavola::Table.open_existing('carts')
  #     rescue Tavola::NoTableError => error
  #       error.message.include?('carts') # => true
  #     end
  #
  # @!method self.create(name, **options)
  #   Creates a table.
  #   @raise [TableExistsError]
  #   @return [Table]
  #   @example
  #     Tavola::Table.create('carts', max_size: 1 << 24).close
  #
  # @!method self.open_read_only(name, **options)
  #   Opens a table for reading only, with a mapping that cannot be written to.
  #   @raise [NoTableError]
  #   @return [Table]
  #   @example
  #     Tavola.open('carts') { |carts| carts['a'] = 1 }
  #     Tavola::Table.open_read_only('carts') { |carts| carts['a'] } # => 1
  #
  # @!method self.open_private(**options)
  #   Creates a table in the memory of this process, for tests. It allocates all of `max_size`.
  #   @return [Table]
  #   @example
  #     mine = Tavola::Table.open_private(max_size: 1 << 20)
  #     mine['a'] = 1
  #     mine.size # => 1
  #
  # @!method close
  #   Closes the table. A call of another thread that is under way ends first.
  #   @return [nil]
  #   @example
  #     table.close
  #     table.closed? # => true
  #
  # @!method closed?
  #   Returns whether the table is closed.
  #   @return [Boolean]
  #   @example
  #     table.closed? # => false
  #
  # @!method path
  #   Returns the path of the table's file.
  #   @return [String]
  #   @example
  #     File.exist?(table.path) # => true
  #
  # @!method read_only?
  #   Returns whether the table was opened for reading only.
  #   @return [Boolean]
  #   @example
  #     table.read_only? # => false
  #
  # @!method serializer
  #   Returns what `serializer:` was when the table was opened.
  #   @return [nil, :marshal, Object]
  #   @example
  #     table.serializer # => nil
  #
  # @!method lock_timeout=(seconds)
  #   Limits how long a call waits for a lock of the table whose holder lives, but is stopped. nil
  #   is no limit.
  #   @example
  #     table.lock_timeout = 0.5
  #
  # @!method refresh
  #   Opens the table again if its file was removed or replaced.
  #   @return [Boolean] whether the file was replaced
  #   @raise [NoTableError] there is no table of that name any more
  #   @example
  #     table.refresh # => false
  class Table
    include Enumerable

    # Returns a short text for a person.
    # @return [String]
    # @example
    #   table.inspect.start_with?('#<Tavola::Table') # => true
    def inspect
      return "#<#{self.class} closed>" if closed?

      "#<#{self.class} #{path} #{size} keys>"
    end
  end
end

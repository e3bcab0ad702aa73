# frozen_string_literal: true

module Tavola
  # What a table reports about itself, and its maintenance.
  #
  # @!method stats
  #   Returns the state of the table: `:keys`, `:payload_bytes`, `:resident_bytes`, `:max_size`,
  #   `:capacity`, `:hits`, `:misses`, `:writes`, `:expired` and others. Hits and misses are counted
  #   in a cache only. A durable table also has `:syncs`, `:journal_bytes`, `:unsynced_bytes` and
  #   `:snapshot_unix_ms`.
  #   @return [Hash{Symbol => Numeric}]
  #   @example
  #     table['a'] = 'b'
  #     table.stats[:keys] # => 1
  #
  # @!method live_keys
  #   Counts the keys that a read finds (`:live`), and those that have expired and were not removed
  #   yet (`:unreclaimed`).
  #   @return [Hash]
  #   @example
  #     table.live_keys[:live] # => 0
  #
  # @!method processes
  #   Returns the processes that are attached for writing: `:pid`, `:alive`, `:command`.
  #   @return [Array<Hash>]
  #   @example
  #     table['a'] = 1
  #     table.processes.map { |one| one[:pid] } # => [Process.pid]
  #
  # @!method check
  #   Checks the whole table. `:problems` is how many things are wrong, and `:texts` says what.
  #   @return [Hash]
  #   @example
  #     table.check[:problems] # => 0
  #
  # @!method repair
  #   Builds derived data again, and drops what cannot be read. The result is that of a check
  #   afterwards.
  #   @return [Hash]
  #   @example
  #     table.repair[:problems] # => 0
  #
  # @!method compact
  #   Gives back all memory that can be given back, which may take some seconds.
  #   @return [Integer] how many bytes
  #   @example
  #     table.compact >= 0 # => true
  #
  # @!method maintain(budget_bytes = 64 << 20)
  #   Does some maintenance: huge pages, expired keys, eviction, unused memory.
  #   @return [Boolean] whether nothing is left to do
  #   @example
  #     [true, false].include?(table.maintain) # => true
  #
  # @!method remove_expired
  #   Removes all keys that have expired. Writes do so step by step, too.
  #   @return [self]
  #   @example
  #     table.remove_expired.size # => 0
  #
  # @!method reclaim
  #   Reclaims the resources of processes that died. Writes do so from time to time, too.
  #   @return [Integer] how many processes there were
  #   @example
  #     table.reclaim # => 0
  #
  # @!method copy_to(name)
  #   Copies all keys into a new table, while other processes continue to use this one.
  #   @return [Integer] how many keys
  #   @raise [TableExistsError]
  #   @example
  #     table['a'] = 1
  #     table.copy_to('backup') # => 1
  #
  # @!method capacity
  #   Returns how many bytes a cache may take; 0 if the table is not a cache.
  #   @return [Integer]
  #   @example
  #     table.capacity # => 0
  #
  # @!method capacity=(bytes)
  #   Changes how many bytes a cache may take, for all processes.
  #   @raise [BadOptionError] the table is not a cache
  #   @example
  #     Tavola.open('pages', capacity: 8 << 20) do |pages|
  #       pages.capacity = 4 << 20
  #       pages.capacity
  #     end # => 4 << 20
  #
  # @!method max_size=(bytes)
  #   Raises the most bytes that the table may grow to.
  #   @raise [BadOptionError]
  #   @example
  #     Tavola.open('orders', max_size: 16 << 20) do |orders|
  #       orders.max_size = 64 << 20
  #       orders.stats[:max_size]
  #     end # => 64 << 20
  class Table
  end
end

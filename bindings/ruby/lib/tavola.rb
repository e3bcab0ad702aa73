# frozen_string_literal: true

require 'json'
require 'tavola/version'
require 'tavola/tavola'
require 'tavola/errors'
require 'tavola/table'
require 'tavola/queue'
require 'tavola/log'

# Key-value tables, caches, queues and logs in shared memory. All processes of a machine that open a
# table by its name read and change the same keys, in Ruby and in other languages.
#
# @!method self.tables
#   Returns the paths of the tables in {directory}, sorted by name.
#   @return [Array<String>]
#   @example
#     Tavola.open('carts').close
#     Tavola.tables.any? { |path| path.end_with?('/carts') } # => true
#
# @!method self.remove(name, any_owner: false)
#   Removes the file of a table. Processes that have it open keep it until they close it.
#   @param any_owner [Boolean] true: also the table of another user in a directory like `/tmp`
#   @return [Boolean] whether there was a table of that name
#   @raise [NotATableError] the file is not a table, and stays
#   @example
#     Tavola.open('carts').close
#     Tavola.remove('carts') # => true
#     Tavola.remove('carts') # => false
#
# @!method self.rename(from, to)
#   Renames a table atomically. Processes that have it open can continue to use it.
#   @return [nil]
#   @raise [TableExistsError] a table has the new name already
#   @example
#     Tavola.open('carts') { |carts| carts['a'] = 1 }
#     Tavola.rename('carts', 'old carts')
#     Tavola.open('old carts') { |carts| carts['a'] } # => 1
#
# @!method self.directory
#   Returns the directory of named tables: `TAVOLA_DIR`, or `/dev/shm/tavola-UID`.
#   @return [String]
#   @example
#     Tavola.directory == ENV['TAVOLA_DIR'] # => true
#
# @!method self.path_of(name)
#   Returns the file that a name means. A name with a `/` is a path already.
#   @return [String]
#   @raise [BadNameError]
#   @example
#     Tavola.path_of('./carts.tavola') # => './carts.tavola'
#
# @!method self.warning(name)
#   Returns why processes may not see each other's writes to this table, because of its file system.
#   @return [String, nil] a sentence that says what to do, or nil
#   @example
#     Tavola.warning('carts') # => nil
module Tavola
  # The version of the library, as it reports it.
  # @!parse LIBRARY_VERSION = '0.1.0'

  # Opens a table, and creates it if it does not exist. See {Table.open} for the options.
  #
  # @param read_only [Boolean] true: opens a table that exists, for reading only
  # @param create [Boolean] false: raises {NoTableError} if the table does not exist
  # @yield [table] with a block, the table is closed at its end, and its value is returned
  # @return [Table]
  # @example
  #   carts = Tavola.open('carts', capacity: 64 << 20)
  #   carts['alice'] = 3
  #   carts['alice'] # => 3
  def self.open(name, read_only: false, create: true, **options, &block)
    return Table.open_read_only(name, **options, &block) if read_only
    return Table.open(name, **options, &block) if create

    Table.open_existing(name, **options, &block)
  end
end

# frozen_string_literal: true

module Tavola
  # Durable tables: they are there again after a restart of the machine. One is created by `durable:`
  # of {Table.open}, in a directory that its name is the path of; to open one, the path is enough.
  #
  # Writes that wait for the disk release the GVL. A handle does so if it was opened without
  # `durable:` or with `:commit`.
  #
  # @!method durable?
  #   Returns whether the table is durable.
  #   @return [Boolean]
  #   @example
  #     table.durable? # => false
  #
  # @!method sync
  #   Returns when all changes of all processes that were made before are on disk. Call it before
  #   you report what another process has written, or what was written with another policy than
  #   `:commit`.
  #   @return [self]
  #   @raise [NotDurableError] the disk failed
  #   @raise [BadOptionError] the table is not durable
  #   @example
  #     Tavola.open('./users', durable: 0.05) do |users|
  #       users['alice'] = 'admin'
  #       users.sync['alice']
  #     end # => 'admin'
  #
  # @!method snapshot
  #   Writes a snapshot, and removes what the journal does not need any more. Snapshots are also made
  #   automatically. If the disk had failed, one that succeeds lets writes go on.
  #   @return [Boolean] false: another process is just writing one
  #   @raise [SystemError] it could not be written
  #   @raise [BadOptionError] the table is not durable
  #   @example
  #     Tavola.open('./users', durable: :os) { |users| users.snapshot } # => true
  class Table
  end
end

# frozen_string_literal: true

module Tavola
  # Durable tables: they are there again after a restart of the machine. One is created by `durable:`
  # of {Table.open}, in a directory that its name is the path of; to open one, the path is enough.
  #
  # Writes that wait for the disk release the GVL: those of a handle whose {#durability} is
  # `:commit`. A call for many keys waits once.
  #
  # @!method durable?
  #   Returns whether the table is durable.
  #   @return [Boolean]
  #   @example
  #     table.durable? # => false
  #
  # @!method durability
  #   Returns when the changes of this handle are on disk: the policy of the table, or a stricter one
  #   with which the handle was opened. Returns nil if the table is not durable, or open read-only.
  #   @return [Symbol, Float, nil] `:commit`, `:os`, or a number of seconds
  #   @example
  #     Tavola.open('./users', durable: 0.05) { |users| users.durability } # => 0.05
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

# frozen_string_literal: true

require 'tavola'
require_relative 'pstore/roots'

module Tavola
  # Ruby's PStore in shared memory: the same calls, between processes, without writing a file each
  # time.
  #
  # Each root is a key of a table, stored with Marshal, so a transaction costs as much as the roots
  # that it uses. Objects that two roots share become two. Marshal can run code that the writer of
  # the table chose.
  #
  # A transaction is one of the table ({Table#transaction}): all of its changes happen at once, also
  # if the process is killed. It runs once, and has the turn of the table meanwhile, so transactions
  # come one after the other in all processes, as those of PStore do.
  #
  # A name is a table in memory, which is gone after a restart of the machine. With `durable:`, the
  # store is a directory on a disk, and is there again: with `:commit`, a transaction is on disk when
  # it returns.
  #
  # @example
  #   store = Tavola::PStore.new('settings')
  #   store.transaction { store[:color] = 'green' }
  #   store.transaction(true) { store[:color] } # => 'green'
  # @example A store that survives a power failure
  #   store = Tavola::PStore.new('./settings.pstore', durable: :commit)
  #   store.transaction { store[:color] = 'green' } # It is on disk when this returns.
  class PStore
    # The error of a transaction that is used wrongly, as PStore::Error.
    class Error < StandardError
    end

    # So many roots are taken over by one transaction.
    IMPORTED = 10_000
    private_constant :IMPORTED

    # If this is true, a transaction of a durable store is on disk when it returns, whatever the
    # policy of the store; and a store that is created under a path is durable. It changes nothing
    # for a store in memory: a killed process never leaves a part of a transaction anyway.
    # @return [Boolean]
    # @example
    #   Tavola::PStore.new('settings').ultra_safe # => false
    attr_accessor :ultra_safe

    # Takes over the roots of a file of Ruby's PStore.
    #
    # @param file [String] the file of PStore
    # @param name [String] the new store
    # @param durable [nil, :commit, :os, Numeric] as for {#initialize}
    # @return [PStore]
    # @example
    #   require 'pstore'
    #   old = ::PStore.new(File.join(Tavola.directory, 'old'))
    #   old.transaction { old[:a] = 1 }
    #   store = Tavola::PStore.import(old.path, 'new')
    #   store.transaction { store[:a] } # => 1
    def self.import(file, name, durable: nil)
      roots = File.open(file, 'rb') do |io|
        io.flock(File::LOCK_SH)
        io.eof? ? {} : Marshal.load(io)
      end
      raise Error, 'PStore file seems to be corrupted.' unless roots.is_a?(Hash)

      new(name, durable: durable).tap do |store|
        roots.each_slice(IMPORTED) do |some|
          store.transaction { some.each { |root, value| store[root] = value } }
        end
      end
    end

    # @param name [String] a table: a name in {Tavola.directory}, or a path if it has a `/`
    # @param thread_safe [Boolean] true: a thread waits for the transaction of another one
    # @param durable [nil, :commit, :os, Numeric] the store survives a restart of the machine, and
    #   its name is the path of a directory. When a transaction is on disk: when it returns, when
    #   the system has written it, or after so many seconds. A durable store that exists needs no
    #   option.
    # @raise [Error] the directory does not exist, or the file is not readable
    # @example
    #   Tavola::PStore.new('settings', true).path # => 'settings'
    def initialize(name, thread_safe = false, durable: nil)
      @name = name
      @durable = durable
      file = name.include?('/') ? name : nil
      if file && !File.directory?(File.dirname(file))
        raise Error, format('directory %s does not exist', File.dirname(file))
      end
      raise Error, format('file %s not readable', file) if file && File.exist?(file) &&
                                                           !File.readable?(file)

      @ultra_safe = false
      @thread_safe = thread_safe
      @abort = false
      @lock = Thread::Mutex.new
    end

    # Returns the value of a root, or nil.
    # @raise [Error] outside of a transaction
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store[:color] } # => nil
    def [](name)
      in_transaction
      @roots[name]
    end

    # Sets a root.
    # @raise [Error] outside of a transaction, or in one that only reads
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store[:color] = 'green' } # => 'green'
    def []=(name, value)
      in_transaction_wr
      @roots[name] = value
    end

    # Returns the value of a root, or the default, or raises {Error}.
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store.fetch(:color, 'red') } # => 'red'
    def fetch(name, default = Error)
      in_transaction
      @roots.fetch(name) do
        raise Error, format("undefined root name `%s'", name) if default == Error

        default
      end
    end

    # Removes a root and returns its value.
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store.delete(:color) } # => nil
    def delete(name)
      in_transaction_wr
      @roots.delete(name)
    end

    # Returns the names of the roots.
    # @return [Array]
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store.keys } # => []
    def roots
      in_transaction
      @roots.names
    end
    alias keys roots

    # Returns whether a root exists.
    # @return [Boolean]
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { store.key?(:color) } # => false
    def root?(name)
      in_transaction
      @roots.key?(name)
    end
    alias key? root?

    # Returns the name that the store was opened with.
    # @return [String]
    # @example
    #   Tavola::PStore.new('settings').path # => 'settings'
    def path
      @name
    end

    # Ends the transaction and keeps its changes.
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction do
    #     store[:a] = 1
    #     store.commit
    #     store[:a] = 2
    #   end
    #   store.transaction { store[:a] } # => 1
    def commit
      in_transaction
      @abort = false
      throw :pstore_abort_transaction
    end

    # Ends the transaction and drops its changes.
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction do
    #     store[:a] = 1
    #     store.abort
    #   end
    #   store.transaction { store[:a] } # => nil
    def abort
      in_transaction
      @abort = true
      throw :pstore_abort_transaction
    end

    # Runs the block as one transaction: its changes are stored together at its end, or not at all
    # after {#abort} or an exception. Transactions come one after the other, in all processes. One
    # that only reads sees all roots as they were at one moment.
    #
    # @param read_only [Boolean]
    # @yield [store]
    # @return [Object] the value of the block
    # @raise [Error] a transaction in a transaction; or another program has changed a root by other
    #   calls than those of PStore
    # @example
    #   store = Tavola::PStore.new('settings')
    #   store.transaction { |own| own[:a] = 1 }
    #   store.transaction(true) { store.roots } # => [:a]
    def transaction(read_only = false, &block)
      raise Error, 'nested transaction' unless enter

      begin
        @read_only = read_only
        @abort = false
        used = read_only ? existing_table : table
        value = in_turn(used, &block)
        used.sync if @ultra_safe && !read_only && used.durable?
        value
      rescue ConflictError
        raise Error, 'the store was changed during the transaction; run it again'
      rescue ReentrantError
        raise Error, 'nested transaction'
      ensure
        @roots = nil
        @lock.unlock
      end
    end

    private

    def enter
      @thread_safe ? @lock.lock : @lock.try_lock
    rescue ThreadError
      false
    end

    def in_transaction
      raise Error, 'not in transaction' unless @lock.locked?
    end

    def in_transaction_wr
      in_transaction
      raise Error, 'in read-only transaction' if @read_only
    end

    # A file that was removed or replaced is opened again, as PStore does.
    def table
      @table ||= open_table
      @table.refresh
      @table
    rescue NoTableError
      @table.close
      @table = open_table
    end

    def open_table
      is_new = @name.include?('/') && !File.exist?(@name)
      Tavola.open(@name, durable: @durable || (:commit if @ultra_safe && is_new))
    end

    # A store that only reads does not create the table.
    def existing_table
      @table ? table : (@table = Tavola.open(@name, create: false, durable: @durable))
    rescue NoTableError
      nil
    end

    def in_turn(table, &block)
      return run(NoRoots.new, &block) unless table

      table.transaction(once: true) do |t|
        roots = Roots.new(t)
        value = run(roots, &block)
        t.abort if @abort
        roots.save unless @read_only
        value
      end
    end

    def run(roots)
      value = nil
      @roots = roots
      catch(:pstore_abort_transaction) { value = yield(self) }
      value
    end
  end
end

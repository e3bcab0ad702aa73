# frozen_string_literal: true

module Tavola
  # Transactions: several keys are read and changed at once.
  class Table
    # The numbers of `tavola_begin` in the C library.
    BEGIN_OPTIMISTIC = 0
    BEGIN_TURN = 1
    BEGIN_READ_ONLY = 2
    private_constant :BEGIN_OPTIMISTIC, :BEGIN_TURN, :BEGIN_READ_ONLY

    # Runs the block, which reads and changes keys by its {Transaction}, and commits at its end:
    # other processes see all of its changes or none. If the process is killed in the middle,
    # nothing is changed.
    #
    # If another process has changed a key that the block has read, the block runs again. So it must
    # do nothing that cannot be repeated, and it must use the transaction and not the table: what it
    # does with the table itself happens at once, and a change of a key that it has read makes it
    # run again without end.
    #
    # {Transaction#abort}, an exception, `break`, `return` and `throw` leave the block, and nothing
    # is changed; `next` ends it, and commits. A run that another process disturbs may see keys as
    # they were at different moments. It does not count, also if it ends with an exception, `break`,
    # `return` or `abort`: the block runs again. Signals, `exit`, `throw`, Timeout and exceptions
    # that are no StandardError end the block at once. So an exception of {Thread#raise} should be
    # none, for a run that does not count may drop it.
    #
    # @param once [Boolean] true: the block runs only once. It waits for the turn of the table
    #   first, which one transaction has at a time.
    # @yield [transaction]
    # @yieldparam transaction [Transaction]
    # @return [Object, nil] the value of the block; nil after {Transaction#abort}
    # @raise [ConflictError] with `once: true`: a key was changed meanwhile by something without the
    #   turn; its `cause` is the exception of the block, if that has raised one
    # @raise [BadOptionError] the table is a cache, which may evict a key at any moment
    # @raise [BusyError] a lock of the table was not free within `lock_timeout`
    # @example
    #   table['alice'] = 10
    #   table.transaction do |t|
    #     t.abort if t.decrement('alice', 4) < 0
    #     t.increment('bob', 4)
    #   end
    #   table['alice'] # => 6
    #   table['bob'] # => 4
    # @example Once
    #   table.transaction(once: true) { |t| t.increment('alice') } # => 1
    def transaction(once: false)
      raise ArgumentError, 'transaction takes a block' unless block_given?

      run_transaction(once ? BEGIN_TURN : BEGIN_OPTIMISTIC) { |t| catch(t) { yield t } }
    end

    # Runs the block, which reads several keys as they were at one moment. If another process
    # changes one of them meanwhile, the block runs again, also if it has raised an exception.
    #
    # @yield [transaction]
    # @yieldparam transaction [Transaction] one that changes nothing
    # @return [Object, nil] the value of the block
    # @raise [ReadOnlyError] the block changes a key; or the table is open for reading only, and the
    #   block reads more than one key
    # @example
    #   table.set_multi({ 'alice' => 6, 'bob' => 4 })
    #   table.read_together { |t| t['alice'] + t['bob'] } # => 10
    def read_together
      raise ArgumentError, 'read_together takes a block' unless block_given?

      run_transaction(BEGIN_READ_ONLY) { |t| catch(t) { yield t } }
    end
  end

  # What the block of {Table#transaction} reads and changes keys with. It sees its own changes;
  # others see them when the block has ended. It is for the thread that began it, and raises
  # {ClosedError} after the end of the block. At most 65,536 keys are changed by one transaction.
  #
  # Keys, values and options are those of {Table}.
  #
  # @!method get(key)
  #   Returns the value of a key, or nil.
  #   @return [Object, nil]
  #   @example
  #     table['user'] = 'alice'
  #     table.transaction { |t| [t.get('user'), t['nobody']] } # => ['alice', nil]
  #
  # @!method [](key)
  #   Does the same as {#get}.
  #   @example
  #     table.transaction { |t| t['user'] } # => nil
  #
  # @!method key?(key)
  #   Returns whether the key exists.
  #   @return [Boolean]
  #   @example
  #     table.transaction { |t| t.key?('user') } # => false
  #
  # @!method []=(key, value)
  #   Sets a key.
  #   @example
  #     table.transaction { |t| t['user'] = 'alice' }
  #     table['user'] # => 'alice'
  #
  # @!method set(key, value, ttl: nil, tags: nil)
  #   Sets a key. Tags that do not exist yet are created at once.
  #   @return [true]
  #   @example
  #     table.transaction { |t| t.set('page', '<p>hello</p>', ttl: 60, tags: ['home']) } # => true
  #     table.ttl('page') # => 60
  #
  # @!method add(key, value, ttl: nil, tags: nil)
  #   Sets a key only if it does not exist.
  #   @return [Boolean] whether the key was set
  #   @example
  #     table.transaction { |t| [t.add('leader', 'me'), t.add('leader', 'you')] } # => [true, false]
  #
  # @!method replace(key, value, ttl: nil, tags: nil)
  #   Sets a key only if it exists.
  #   @return [Boolean] whether the key was set
  #   @example
  #     table.transaction { |t| t.replace('state', 'done') } # => false
  #
  # @!method append(key, more)
  #   Adds bytes after a value. The key keeps its time and its tags.
  #   @return [Boolean] whether the key exists
  #   @example
  #     table['list'] = 'b,'
  #     table.transaction { |t| t.append('list', 'c,') } # => true
  #     table['list'] # => 'b,c,'
  #
  # @!method remove(key)
  #   Removes a key.
  #   @return [Boolean] whether the key existed
  #   @example
  #     table['job'] = 'first'
  #     table.transaction { |t| t.remove('job') } # => true
  #
  # @!method take(key)
  #   Removes a key and returns its value.
  #   @return [Object, nil]
  #   @example Move a job from one key to another
  #     table['waiting'] = 'first'
  #     table.transaction { |t| t['running'] = t.take('waiting') } # => 'first'
  #     table.keys # => ['running']
  #
  # @!method increment(key, by = 1, initial: 0, ttl: nil, remove_zero: false)
  #   Adds to a signed number of 64 bits, as {Table#increment} does.
  #   @return [Integer] the sum
  #   @raise [NotACounterError]
  #   @example
  #     table.transaction { |t| t.increment('hits', 5) } # => 5
  #
  # @!method decrement(key, by = 1, initial: 0, ttl: nil, remove_zero: false)
  #   Subtracts from a signed number, as {#increment} adds.
  #   @return [Integer] the difference
  #   @example
  #     table.transaction { |t| t.decrement('balance', 3) } # => -3
  #
  # @!method savepoint
  #   Sets a savepoint: {#roll_back_to} undoes what comes after it.
  #   @return [Integer]
  #   @example
  #     table.transaction do |t|
  #       t['order'] = 7
  #       before = t.savepoint
  #       t['gift'] = 'book'
  #       t.roll_back_to(before)
  #     end
  #     table.to_h # => { 'order' => 7 }
  #
  # @!method roll_back_to(savepoint)
  #   Undoes all changes since a savepoint, and forgets the savepoints after it.
  #   @return [nil]
  #   @raise [BadOptionError] the transaction has no such savepoint any more
  #   @example
  #     table.transaction do |t|
  #       before = t.savepoint
  #       t['a'] = 1
  #       t.roll_back_to(before)
  #       t.key?('a')
  #     end # => false
  #
  # @!method abort
  #   Leaves the block: nothing is changed, and {Table#transaction} returns nil.
  #   @example
  #     table.transaction { |t| t['a'] = 1; t.abort } # => nil
  #     table.key?('a') # => false
  #
  # @!method ended?
  #   Returns whether the block has ended.
  #   @return [Boolean]
  #   @example
  #     table.transaction { |t| t }.ended? # => true
  class Transaction
    alias has_key? key?
    alias include? key?
    alias member? key?

    # Removes a key and returns its value, as {Table#delete} does.
    #
    # @return [Object, nil]
    # @example
    #   table.transaction { |t| t.delete('user') { 'nobody' } } # => 'nobody'
    def delete(key)
      value = take_or(key, MISSING)
      return value unless MISSING.equal?(value)

      yield(key) if block_given?
    end

    MISSING = Object.new.freeze
    private_constant :MISSING
  end
end

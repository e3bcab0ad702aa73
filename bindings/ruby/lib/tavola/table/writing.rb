# frozen_string_literal: true

module Tavola
  # Writing and removing keys. `ttl:` is the time to live in seconds; nil is the time of the table,
  # and `:never` no limit. `tags:` is an array of names, or the result of {#fetch_tags}.
  #
  # @!method []=(key, value)
  #   Sets a key. It gets the time of the table, and loses the tags that it had.
  #   @example
  #     table['user'] = 'alice'
  #
  # @!method set(key, value, ttl: nil, tags: nil)
  #   Sets a key. Other processes see the whole old value or the whole new one.
  #   @return [true]
  #   @raise [FullError]
  #   @example
  #     table.set('page', '<p>hello</p>', ttl: 60, tags: ['home']) # => true
  #
  # @!method add(key, value, ttl: nil, tags: nil)
  #   Sets a key only if it does not exist.
  #   @return [Boolean] whether the key was set
  #   @example
  #     table.add('leader', 'me') # => true
  #     table.add('leader', 'you') # => false
  #
  # @!method replace(key, value, ttl: nil, tags: nil)
  #   Sets a key only if it exists.
  #   @return [Boolean] whether the key was set
  #   @example
  #     table.replace('state', 'done') # => false
  #
  # @!method cas(key, value, token, ttl: nil, tags: nil)
  #   Sets a key only if it still has the token of {#gets}.
  #   @return [Boolean] whether the key was set
  #   @example
  #     table['n'] = 1
  #     value, token = table.gets('n')
  #     table.cas('n', value + 1, token) # => true
  #
  # @!method swap(key, value, ttl: nil, tags: nil)
  #   Sets a key and returns the value that it had.
  #   @return [Object, nil]
  #   @example
  #     table['job'] = 'first'
  #     table.swap('job', 'second') # => 'first'
  #
  # @!method take(key)
  #   Removes a key and returns its value. If several processes take a key, one gets the value.
  #   @return [Object, nil]
  #   @example
  #     table['job'] = 'first'
  #     table.take('job') # => 'first'
  #     table.take('job') # => nil
  #
  # @!method remove(key)
  #   Removes a key, without reading its value.
  #   @return [Boolean] whether the key existed
  #   @example
  #     table['job'] = 'first'
  #     table.remove('job') # => true
  #
  # @!method compare_and_remove(key, token)
  #   Removes a key only if it still has the token of {#gets}.
  #   @return [Boolean] whether the key was removed
  #   @example
  #     table['job'] = 'first'
  #     table.compare_and_remove('job', table.gets('job').last) # => true
  #
  # @!method append(key, more)
  #   Adds bytes after a value. The key keeps its time and its tags.
  #   @return [Boolean] whether the key exists
  #   @example
  #     table['list'] = 'b,'
  #     table.append('list', 'c,') # => true
  #     table['list'] # => 'b,c,'
  #
  # @!method prepend(key, more)
  #   Adds bytes before a value. The key keeps its time and its tags.
  #   @return [Boolean] whether the key exists
  #   @example
  #     table['list'] = 'b,'
  #     table.prepend('list', 'a,') # => true
  #     table['list'] # => 'a,b,'
  #
  # @!method touch(key, ttl)
  #   Changes when a key expires: in so many seconds, or never if `ttl` is nil. Without `ttl` the
  #   key gets the time of the table again.
  #   @return [Boolean] whether the key exists
  #   @example
  #     table['session'] = 'alice'
  #     table.touch('session', 1800) # => true
  #     table.touch('session', nil) # => true
  #     table.ttl('session') # => nil
  #
  # @!method persist(key)
  #   Lets a key live without a limit.
  #   @return [Boolean] whether the key exists
  #   @example
  #     table.set('session', 'alice', ttl: 60)
  #     table.persist('session') # => true
  #
  # @!method add_bytes(key, bytes, flags, ttl: nil, tags: nil)
  #   Stores bytes with these flags if the key does not exist.
  #   @return [Boolean] whether they were stored
  #   @example
  #     table.add_bytes('n', '7', 0x54020000) # => true
  #
  # @!method cas_bytes(key, bytes, flags, token, ttl: nil, tags: nil)
  #   Stores bytes with these flags if the key has the token of {#gets_bytes} still.
  #   @return [Boolean] whether they were stored
  #   @example
  #     table['n'] = 7
  #     table.cas_bytes('n', '8', 0x54020000, table.gets_bytes('n').last) # => true
  #
  # @!method set_bytes(key, bytes, flags, ttl: nil, tags: nil)
  #   Stores bytes with these flags, as another program would.
  #   @return [true]
  #   @example
  #     table.set_bytes('n', '7', 0x54020000)
  #     table['n'] # => 7
  #
  # @!method increment(key, by = 1, initial: 0, ttl: nil, remove_zero: false)
  #   Adds to a signed number of 64 bits, in one step. A missing key counts as `initial`.
  #   @param ttl [Numeric] the time of a key that is created
  #   @param remove_zero [Boolean] true: removes the key if the sum is 0
  #   @return [Integer] the sum
  #   @raise [NotACounterError]
  #   @example
  #     table.increment('hits') # => 1
  #     table.increment('hits', 5) # => 6
  #     table.increment('users', 1, remove_zero: true) # => 1
  #     table.decrement('users', 1, remove_zero: true) # => 0
  #     table.key?('users') # => false
  #
  # @!method decrement(key, by = 1, initial: 0, ttl: nil, remove_zero: false)
  #   Subtracts from a signed number, as {#increment} adds.
  #   @return [Integer] the difference
  #   @example
  #     table.decrement('balance', 3) # => -3
  class Table
    # Changes a value atomically: the block gets the old value, or nil, and returns the new one. If
    # another process changes the key meanwhile, the block is called again.
    #
    # @return [Object] the new value
    # @example
    #   table['cart'] = ['apple']
    #   table.modify('cart') { |cart| cart + ['pear'] } # => ['apple', 'pear']
    def modify(key, ttl: nil, tags: nil)
      loop do
        old, token = gets(key)
        value = yield(old)
        is_stored = token ? cas(key, value, token, ttl: ttl, tags: tags)
                          : add(key, value, ttl: ttl, tags: tags)
        return value if is_stored
      end
    end

    # Removes a key and returns its value, as Hash#delete does. A missing key gives the value of the
    # block, or nil. {#remove} is faster if the value is not needed.
    #
    # @return [Object, nil]
    # @example
    #   table['user'] = 'alice'
    #   table.delete('user') # => 'alice'
    #   table.delete('user') { 'nobody' } # => 'nobody'
    def delete(key)
      value = take_or(key, MISSING)
      return value unless MISSING.equal?(value)

      yield(key) if block_given?
    end
  end
end

# frozen_string_literal: true

module Tavola
  # Many keys at once, and iteration.
  #
  # @!method get_multi(*keys)
  #   Returns a hash of the keys that exist. Each key is read at its own moment.
  #   @return [Hash{Object => Object}] by the keys as they were given
  #   @example
  #     table['a'] = 1
  #     table.get_multi('a', 'b') # => { 'a' => 1 }
  #
  # @!method get_multi_bytes(*keys)
  #   Returns a hash of the keys that exist, with their stored bytes and flags.
  #   @return [Hash{Object => Array(String, Integer)}]
  #   @example
  #     table['a'] = 1
  #     table.get_multi_bytes('a', 'b') # => { 'a' => ['1', 0x54020000] }
  #
  # @!method set_multi(values, ttl: nil, tags: nil)
  #   Sets many keys, in order. All get this TTL and these tags.
  #   @param values [Hash]
  #   @param tags [Array<String>, Tags, String, nil]
  #   @return [true]
  #   @example
  #     table.set_multi({ 'a' => 1, 'b' => 2 }, ttl: 60)
  #     table.size # => 2
  #
  # @!method delete_multi(*keys)
  #   Removes many keys.
  #   @return [Integer] how many existed
  #   @example
  #     table['a'] = 1
  #     table.delete_multi('a', 'b') # => 1
  #
  # @!method each
  #   Yields each key with its value, in no particular order. A key that exists during the whole
  #   iteration is yielded; one that is written meanwhile may come twice. The block may change the
  #   table.
  #   @yield [key, value]
  #   @return [self, Enumerator]
  #   @example
  #     table['a'] = 1
  #     table.each { |key, value| [key, value] }
  #     table.map { |key, value| "#{key}=#{value}" } # => ['a=1']
  #
  # @!method each_pair
  #   Does the same as {#each}.
  #   @example
  #     table.each_pair.to_a # => []
  #
  # @!method each_key
  #   Yields each key.
  #   @example
  #     table['a'] = 1
  #     table.each_key.to_a # => ['a']
  #
  # @!method each_prefix(prefix)
  #   Yields each key that begins with `prefix`, with its value. It looks at every key of the table.
  #   @example
  #     table.set_multi({ 'user:1' => 'alice', 'cart:1' => 3 })
  #     table.each_prefix('user:').to_a # => [['user:1', 'alice']]
  #
  # @!method each_key_prefix(prefix)
  #   Yields each key that begins with `prefix`.
  #   @example
  #     table.set_multi({ 'user:1' => 'alice', 'cart:1' => 3 })
  #     table.each_key_prefix('cart:').to_a # => ['cart:1']
  #
  # @!method delete_prefix(prefix)
  #   Removes the keys that begin with `prefix`. It looks at every key of the table; a tag
  #   ({#invalidate}) takes the same time for any number of keys.
  #   @return [Integer] how many were removed
  #   @example
  #     table.set_multi({ 'user:1' => 'alice', 'cart:1' => 3 })
  #     table.delete_prefix('user:') # => 1
  #
  # @!method clear
  #   Removes all keys.
  #   @return [self]
  #   @example
  #     table['a'] = 1
  #     table.clear.size # => 0
  #
  # @!method size
  #   Returns how many keys the table has. Keys that have expired count until they are removed; see
  #   {#live_keys}.
  #   @return [Integer]
  #   @example
  #     table.size # => 0
  class Table
    # Returns all keys.
    # @return [Array<String>]
    # @example
    #   table['a'] = 1
    #   table.keys # => ['a']
    def keys
      each_key.to_a
    end

    # Yields each value.
    # @return [self, Enumerator]
    # @example
    #   table['a'] = 1
    #   table.each_value.to_a # => [1]
    def each_value
      return to_enum(:each_value) { size } unless block_given?

      each { |_, value| yield value }
    end

    # Returns all values.
    # @return [Array]
    # @example
    #   table['a'] = 1
    #   table.values # => [1]
    def values
      each_value.to_a
    end

    # Returns the values of these keys, nil for each that is missing.
    # @return [Array]
    # @example
    #   table['a'] = 1
    #   table.values_at('a', 'b') # => [1, nil]
    def values_at(*keys)
      get_multi(*keys).values_at(*keys)
    end

    # Returns the values of these keys, as Hash#fetch_values does.
    # @return [Array]
    # @raise [KeyError]
    # @example
    #   table['a'] = 1
    #   table.fetch_values('a') # => [1]
    def fetch_values(*keys, &block)
      found = get_multi(*keys)
      keys.map { |key| found.fetch(key, &block) }
    end

    # Returns a hash of these keys, without those that are missing.
    # @return [Hash]
    # @example
    #   table['a'] = 1
    #   table.slice('a', 'b') # => { 'a' => 1 }
    def slice(*keys)
      get_multi(*keys)
    end
  end
end

# frozen_string_literal: true

module Tavola
  # Reading keys.
  #
  # @!method get(key)
  #   Returns the value of a key, or nil. Takes no lock, so it never waits for a writer.
  #   @param key [String, Symbol, Integer]
  #   @return [Object, nil]
  #   @example
  #     table['user'] = 'alice'
  #     table['user'] # => 'alice'
  #     table.get('nobody') # => nil
  #
  # @!method [](key)
  #   Does the same as {#get}.
  #   @example
  #     table['user'] # => nil
  #
  # @!method key?(key)
  #   Returns whether the key exists.
  #   @return [Boolean]
  #   @example
  #     table.key?('user') # => false
  #
  # @!method gets(key)
  #   Returns the value of a key and its token for {#cas}, or nil.
  #   @return [Array(Object, Integer), nil]
  #   @example
  #     table['state'] = 'idle'
  #     value, token = table.gets('state')
  #     table.cas('state', 'busy', token) # => true
  #     table.cas('state', 'idle', token) # => false
  #
  # @!method get_and_touch(key, ttl)
  #   Returns the value of a key, and changes when it expires, as {#touch} does.
  #   @return [Object, nil]
  #   @example
  #     table['session'] = 'alice'
  #     table.get_and_touch('session', 60) # => 'alice'
  #     table.ttl('session') # => 60
  #
  # @!method ttl(key)
  #   Returns how many seconds a key will still live, rounded up.
  #   @return [Integer, nil] nil if the key is missing or never expires
  #   @example
  #     table.set('session', 'alice', ttl: 1800)
  #     table.ttl('session') # => 1800
  #
  # @!method get_bytes(key)
  #   Returns the stored bytes and flags, whatever their kind.
  #   @return [Array(String, Integer), nil]
  #   @example
  #     table['n'] = -3
  #     table.get_bytes('n') # => ['-3', 0x54020000]
  #
  # @!method gets_bytes(key)
  #   Returns the stored bytes and flags, and the token of {#gets}.
  #   @return [Array(String, Integer, Integer), nil]
  #   @example
  #     table['n'] = -3
  #     table.gets_bytes('n').first # => '-3'
  #
  # @!method get_range(key, start, most)
  #   Returns a part of the stored bytes.
  #   @return [String, nil]
  #   @example
  #     table['song'] = 'do re mi'
  #     table.get_range('song', 3, 2) # => 're'
  #
  # @!method value_bytesize(key)
  #   Returns the length of the stored bytes.
  #   @return [Integer, nil]
  #   @example
  #     table['song'] = 'do re mi'
  #     table.value_bytesize('song') # => 8
  class Table
    MISSING = Object.new.freeze
    private_constant :MISSING

    # Returns the value of a key, as Hash#fetch does: a missing key gives the default, or the value
    # of the block, or raises KeyError. Nothing is stored.
    #
    # With keywords it does the same as {#compute}: the value of the block is stored.
    #
    # @return [Object]
    # @raise [KeyError]
    # @example
    #   table.fetch('user', 'nobody') # => 'nobody'
    #   table.fetch('user') { |key| key.upcase } # => 'USER'
    #   table.fetch('user', ttl: 60) { 'alice' } # => 'alice'
    #   table.fetch('user') # => 'alice'
    def fetch(key, *default, **options, &block)
      return compute(key, **options, &block) unless options.empty?
      raise ArgumentError, 'fetch takes a key and at most one default' if default.size > 1

      value = get_or(key, MISSING)
      return value unless MISSING.equal?(value)
      return yield(key) if block
      return default.first unless default.empty?

      raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
    end

    # Returns an element of a nested value, as Hash#dig does.
    # @example
    #   table['user'] = { 'name' => 'alice', 'roles' => ['admin'] }
    #   table.dig('user', 'roles', 0) # => 'admin'
    def dig(key, *rest)
      value = get(key)
      rest.empty? || value.nil? ? value : value.dig(*rest)
    end
  end
end

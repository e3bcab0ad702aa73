# frozen_string_literal: true

require 'moneta'
require 'tavola'

module Moneta
  module Adapters
    # The adapter of Moneta for a table of shared memory.
    #
    #   require 'moneta/adapters/tavola'
    #   store = Moneta.new(:Tavola, table: 'cache', expires: 60)
    #
    # Values and keys are strings, as for every adapter; Moneta's transformers serialize them
    # before. The table knows times, so no proxy for `expires` is needed.
    #
    # @example
    #   store = Moneta::Adapters::Tavola.new(table: 'cache')
    #   store.store('a', 'one', expires: 60) # => 'one'
    #   store.load('a') # => 'one'
    #   store.increment('n', 2) # => 2
    class Tavola < Adapter
      include ExpiresSupport

      supports :create, :increment, :each_key

      # @!method initialize(options = {})
      #   @param options [Hash]
      #   @option options [String] :table the name of a table; `moneta` by default
      #   @option options [::Tavola::Table] :backend a table that is open
      #   @option options [Numeric] :expires the time of keys that get no other
      #   @option options the others are those of {::Tavola::Table.open}
      #   @example
      #     store = Moneta::Adapters::Tavola.new(table: 'cache', capacity: 8 << 20)
      #     store.backend.capacity # => 8 << 20
      backend { |table: 'moneta', **options| ::Tavola.open(table, **options) }

      # Returns whether a key exists. With `expires:` it gets a new time.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').key?('a') # => false
      def key?(key, options = {})
        ttl = ttl_of(options, nil)
        ttl ? @backend.touch(key, ttl) : @backend.key?(key)
      end

      # Yields each key.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').each_key.to_a # => []
      def each_key(&block)
        return enum_for(:each_key) { @backend.size } unless block

        @backend.each_key(&block)
        self
      end

      # Returns the value of a key, or nil. With `expires:` it gets a new time.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').load('a') # => nil
      def load(key, options = {})
        ttl = ttl_of(options, nil)
        string(ttl ? @backend.get_and_touch(key, ttl) : @backend.get(key))
      end

      # Sets a key.
      # @return [String] the value
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').store('a', 'one') # => 'one'
      def store(key, value, options = {})
        @backend.set(key, value, ttl: ttl_of(options))
        value
      end

      # Removes a key and returns its value.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').delete('a') # => nil
      def delete(key, _options = {})
        string(@backend.take(key))
      end

      # Adds to a signed number, which reads as its digits.
      # @return [Integer]
      # @raise [::Tavola::NotACounterError]
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').increment('n') # => 1
      def increment(key, amount = 1, options = {})
        ttl = ttl_of(options)
        sum = @backend.increment(key, amount, ttl: ttl)
        @backend.touch(key, ttl) if ttl
        sum
      end

      # Sets a key if it does not exist.
      # @return [Boolean] whether it was set
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').create('a', 'one') # => true
      def create(key, value, options = {})
        @backend.add(key, value, ttl: ttl_of(options))
      end

      # Removes all keys.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').clear.each_key.to_a # => []
      def clear(_options = {})
        @backend.clear
        self
      end

      # Closes the table.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').close # => nil
      def close
        @backend.close
      end

      # Returns the values of these keys, nil for each that is missing.
      # @example
      #   Moneta::Adapters::Tavola.new(table: 'cache').values_at('a') # => [nil]
      def values_at(*keys, **options)
        return super unless ttl_of(options, nil).nil?

        @backend.values_at(*keys).map { |value| string(value) }
      end

      private

      # A number of the table, which another program or `increment` has stored.
      def string(value)
        value.nil? || value.is_a?(String) ? value : value.to_s
      end

      def ttl_of(options, default = config.expires)
        seconds = expires_value(options, default)
        seconds == false ? :never : seconds
      end
    end
  end
end

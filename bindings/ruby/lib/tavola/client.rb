# frozen_string_literal: true

require 'tavola'

module Tavola
  # The calls of a memcached client (Dalli) over a table, for programs that are written for one: no
  # server, and no socket. Values are stored with Marshal unless they are scalars, or `raw: true` is
  # given. A time of 0 is no limit, and a missing key is nil, as with memcached.
  #
  # With an array of servers it is a client of a fleet, {Fleet}, which has the same calls. Compression,
  # failover and the options of sockets are there, as a table needs none of them.
  #
  # @example
  #   cache = Tavola::Client.new('shop', namespace: 'web', expires_in: 300)
  #   cache.set('user', { name: 'alice' })
  #   cache.get('user') # => { name: 'alice' }
  class Client
    # Conditions of `tavola_store`.
    ALWAYS, ABSENT, PRESENT, TOKEN = 0, 1, 2, 3
    # memcached takes larger times for points in time.
    MONTH = 30 * 24 * 60 * 60
    MISSING = Object.new.freeze
    private_constant :ALWAYS, :ABSENT, :PRESENT, :TOKEN, :MONTH, :MISSING

    # @return [Table] the table
    attr_reader :table

    # Opens a table; with an array of servers, makes a {Fleet}.
    # @example
    #   Tavola::Client.new(['tavola:one']).class # => Tavola::Fleet
    def self.new(table = 'cache', **options)
      return super unless equal?(Client) && table.is_a?(Array)

      # Only here, as programs with tables alone do not load the client of servers.
      require 'tavola/fleet'
      Fleet.new(table, **options)
    end

    # @param table [String, Table] a table, or its name
    # @param namespace [String, nil] what all keys begin with, and a colon
    # @param expires_in [Numeric, nil] the time of keys that get no other, in seconds
    # @param cache_nils [Boolean] true: {#fetch} stores nil, too
    # @param serializer [:marshal, #dump, nil] as for {Table.open}
    # @param options those of a new table, for {Table.open}
    # @example
    #   Tavola::Client.new('shop', capacity: 8 << 20).table.capacity # => 8 << 20
    def initialize(table = 'cache', namespace: nil, expires_in: nil, cache_nils: false,
                   serializer: :marshal, **options)
      @table = table
      unless table.is_a?(Table)
        @table = Tavola.open(table, serializer: serializer, versions: true, **options)
      end
      @prefix = namespace && "#{namespace}:"
      @expires_in = expires_in
      @cache_nils = cache_nils
    end

    # Returns the value of a key, or nil.
    # @example
    #   client.get('a') # => nil
    def get(key, _options = nil)
      @table.get(full(key))
    end

    # Returns a hash of the keys that exist; or yields each of them.
    # @example
    #   client.set('a', 1)
    #   client.get_multi('a', 'b') # => { 'a' => 1 }
    def get_multi(*keys)
      found = short(@table.get_multi(keys.flatten.map { |key| full(key) }))
      return found unless block_given?

      found.each { |key, value| yield key, value }
      nil
    end

    # Returns the value of a key, or stores that of the block.
    # @example
    #   client.fetch('a', 60) { 1 } # => 1
    #   client.fetch('a') { 2 } # => 1
    def fetch(key, ttl = nil, options = nil)
      cache_nils = options&.fetch(:cache_nils, nil) || @cache_nils
      value = @table.__send__(:get_or, full(key), MISSING)
      return value unless MISSING.equal?(value) || (value.nil? && !cache_nils)
      return unless block_given?

      value = yield
      add(key, value, ttl, options) unless value.nil? && !cache_nils
      value
    end

    # Sets a key.
    # @return [Integer] its token
    # @example
    #   client.set('a', 1, 60).is_a?(Integer) # => true
    def set(key, value, ttl = nil, options = nil)
      store(key, value, ALWAYS, nil, ttl, options)
    end

    # Sets a key if it does not exist.
    # @return [Integer, false] its token, or false
    # @example
    #   client.set('a', 1)
    #   client.add('a', 2) # => false
    def add(key, value, ttl = nil, options = nil)
      store(key, value, ABSENT, nil, ttl, options) || false
    end

    # Sets a key if it exists.
    # @return [Integer, false] its token, or false
    # @example
    #   client.replace('a', 2) # => false
    def replace(key, value, ttl = nil, options = nil)
      store(key, value, PRESENT, nil, ttl, options) || false
    end

    # Removes a key.
    # @return [Boolean] whether it existed
    # @example
    #   client.delete('a') # => false
    def delete(key)
      @table.remove(full(key))
    end

    # Adds bytes after a value that was stored raw.
    # @return [Boolean] whether the key exists
    # @example
    #   client.set('a', 'b', 0, raw: true)
    #   client.append('a', 'c') # => true
    def append(key, value)
      @table.append(full(key), value.to_s)
    end

    # Adds bytes before a value that was stored raw.
    # @return [Boolean] whether the key exists
    # @example
    #   client.prepend('a', 'c') # => false
    def prepend(key, value)
      @table.prepend(full(key), value.to_s)
    end

    # Adds to a counter, which is 0 to 2^64 - 1.
    # @param default [Integer, nil] what a missing key becomes; nil: it is not created
    # @return [Integer, nil]
    # @example
    #   client.incr('hits') # => nil
    #   client.incr('hits', 1, 0, 10) # => 10
    #   client.incr('hits', 2) # => 12
    def incr(key, amount = 1, ttl = nil, default = nil)
      count(key, amount, false, ttl, default)
    end

    # Subtracts from a counter, down to 0.
    # @return [Integer, nil]
    # @example
    #   client.set('left', 5)
    #   client.decr('left', 7) # => 0
    def decr(key, amount = 1, ttl = nil, default = nil)
      count(key, amount, true, ttl, default)
    end

    # Changes when a key expires.
    # @return [true, nil] nil: the key does not exist
    # @example
    #   client.touch('a', 60) # => nil
    def touch(key, ttl = nil)
      @table.touch(full(key), seconds(ttl) || :never) || nil
    end

    # Returns the value of a key, and changes when it expires.
    # @example
    #   client.set('a', 1)
    #   client.gat('a', 60) # => 1
    def gat(key, ttl = nil)
      @table.get_and_touch(full(key), seconds(ttl) || :never)
    end

    # Changes a value that exists: the block gets the old one and returns the new one.
    # @return [Integer, false, nil] the token; false: another process was faster; nil: it is missing
    # @example
    #   client.set('a', 1)
    #   client.cas('a') { |value| value + 1 }
    #   client.get('a') # => 2
    def cas(key, ttl = nil, options = nil)
      value, token = @table.gets(full(key))
      return if token.nil?

      store(key, yield(value), TOKEN, token, ttl, options) || false
    end

    # Does the same as {#cas}, but the block gets nil for a missing key, which is then set.
    # @return [Integer, false]
    # @example
    #   client.cas!('a') { |value| value.to_i + 1 }
    #   client.get('a') # => 1
    def cas!(key, ttl = nil, options = nil)
      value, token = @table.gets(full(key))
      return add(key, yield(nil), ttl, options) if token.nil?

      store(key, yield(value), TOKEN, token, ttl, options) || false
    end

    # Returns the value of a key and its token; or yields them.
    # @return [Array(Object, Integer)] the token of a missing key is 0
    # @example
    #   client.get_cas('a') # => [nil, 0]
    def get_cas(key)
      value, token = @table.gets(full(key)) || [nil, 0]
      block_given? ? yield(value, token) : [value, token]
    end

    # Returns a hash of the keys that exist, with their values and tokens; or yields each.
    # @example
    #   client.set('a', 1)
    #   client.get_multi_cas('a', 'b').keys # => ['a']
    def get_multi_cas(*keys)
      found = {}
      keys.flatten.each do |key|
        pair = @table.gets(full(key))
        found[key] = pair if pair
      end
      return found unless block_given?

      found.each { |key, pair| yield key, pair }
      nil
    end

    # Sets a key if it still has this token.
    # @return [Integer, false, nil] the new token; false: it has changed; nil: it is missing
    # @example
    #   client.set('a', 1)
    #   value, token = client.get_cas('a')
    #   client.set_cas('a', 2, token).is_a?(Integer) # => true
    #   client.set_cas('a', 3, token) # => false
    def set_cas(key, value, token, ttl = nil, options = nil)
      return set(key, value, ttl, options) if token.zero?

      store(key, value, TOKEN, token, ttl, options)
    end

    # Does the same as {#set_cas}.
    # @example
    #   client.replace_cas('a', 2, 7) # => nil
    def replace_cas(key, value, token, ttl = nil, options = nil)
      return replace(key, value, ttl, options) if token.zero?

      store(key, value, TOKEN, token, ttl, options)
    end

    # Removes a key if it still has this token.
    # @return [Boolean] whether it was removed
    # @example
    #   token = client.set('a', 1)
    #   client.delete_cas('a', token) # => true
    def delete_cas(key, token = 0)
      token.zero? ? delete(key) : @table.compare_and_remove(full(key), token)
    end

    # Runs the block. memcached clients collect its calls, which a table does not need.
    # @example
    #   client.multi { client.set('a', 1) }
    def multi
      yield self
    end
    alias quiet multi
    alias with multi

    # Removes all keys: those of the namespace, or all of the table.
    # @return [Array(true)]
    # @example
    #   client.flush # => [true]
    def flush(_delay = 0)
      @prefix ? @table.delete_prefix(@prefix) : @table.clear
      [true]
    end
    alias flush_all flush

    # Returns the state of the table, by its name.
    # @return [Hash{String => Hash{String => String}}]
    # @example
    #   client.set('a', 1)
    #   client.stats.values.first['curr_items'] # => '1'
    def stats(_type = nil)
      own = @table.stats
      values = own.transform_keys(&:to_s).transform_values(&:to_s)
      values.update('curr_items' => own[:keys].to_s, 'bytes' => own[:payload_bytes].to_s,
                    'limit_maxbytes' => own[:capacity].to_s, 'get_hits' => own[:hits].to_s,
                    'get_misses' => own[:misses].to_s, 'cmd_set' => own[:sets].to_s,
                    'evictions' => (own[:evicted_new] + own[:evicted_old]).to_s,
                    'pid' => Process.pid.to_s, 'version' => LIBRARY_VERSION)
      { @table.path => values }
    end

    # Returns the version of the library, by the name of the table.
    # @return [Hash{String => String}]
    # @example
    #   client.version.values # => [Tavola::LIBRARY_VERSION]
    def version
      { @table.path => LIBRARY_VERSION }
    end

    # Returns whether the table is open.
    # @return [true]
    # @raise [ClosedError]
    # @example
    #   client.alive! # => true
    def alive!
      raise ClosedError, 'the table is closed; open it again' if @table.closed?

      true
    end

    # Closes the table.
    # @return [nil]
    # @example
    #   client.close # => nil
    def close
      @table.close
    end
    alias reset close

    private

    def full(key)
      key = key.to_s
      raise ArgumentError, 'key cannot be blank' if key.empty?

      @prefix ? @prefix + key : key
    end

    def short(found)
      return found unless @prefix

      found.transform_keys { |key| key.delete_prefix(@prefix) }
    end

    def seconds(ttl)
      ttl = @expires_in if ttl.nil?
      return if ttl.nil? || ttl.to_f.zero?

      ttl = ttl.to_f
      ttl -= Time.now.to_f if ttl > MONTH && ttl > Time.now.to_f
      [ttl, 0.001].max
    end

    def store(key, value, condition, token, ttl, options)
      value = value.to_s if options && options[:raw]
      time = seconds(ttl) || (ttl.nil? ? nil : :never)
      @table.__send__(:store_token, full(key), value, condition, token, time)
    end

    def count(key, amount, is_down, ttl, default)
      raise ArgumentError, "Positive values only: #{amount}" if amount.negative?

      time = seconds(ttl) || (ttl.nil? ? nil : :never)
      @table.__send__(:count_unsigned, full(key), amount, is_down, default, time)
    end
  end
end

# frozen_string_literal: true

require 'digest'
require 'zlib'
require 'tavola/client'
require 'tavola/fleet/inflate'
require 'tavola/servers'

module Tavola
  # No server has taken the request: nothing was changed, and it can be repeated.
  class RingError < Error
  end

  # The request was sent, and no answer came: it may have been carried out or not.
  class NetworkError < Error
  end

  # The server refused the request. Nothing was changed.
  class ServerError < Error
  end

  # A value cannot be stored as it is.
  class MarshalError < Error
  end

  # The stored bytes cannot be read as a value.
  class UnmarshalError < Error
  end

  # A value is longer than `value_max_bytes`, or than the server takes.
  class ValueOverMaxSize < Error
  end

  # The connections of a client; {Fleet} has the calls for programs.
  # @api private
  class Servers
    ERRORS = { 0 => ClosedError, -8 => ServerError, -9 => RingError,
               -10 => NetworkError }.freeze

    # Returns the error of a status of the library.
    def self.error_of(status, why)
      return ValueOverMaxSize.new(why) if status == -8 && why.include?('too large')

      ERRORS.fetch(status, InvalidArgumentError).new(why)
    end
  end

  # A client of a fleet of memcached servers, with the names, options and values of Dalli: both use
  # the same servers for a key, and read each other's values. `Tavola::Client.new` makes one if it
  # gets an array of servers.
  #
  # A failure is never a missing key: a call raises {RingError} or {NetworkError}, also `get_multi`.
  # Values are stored with Marshal, and loaded without being asked, as by Dalli: a program trusts
  # all who can write to its servers.
  #
  # @example
  #   fleet = Tavola::Client.new(['tavola:left', 'tavola:right'], namespace: 'web', expires_in: 300)
  #   fleet.set('user', { name: 'alice' })
  #   fleet.get('user') # => { name: 'alice' }
  class Fleet < Client
    SERIALIZED, COMPRESSED = 1, 2
    LONGEST_KEY = 250
    PLACEMENTS = { ketama: 0, ketama_spy: 1, modula: 3, fast: 4, jump: 5, dalli: 6,
                   rendezvous: 7 }.freeze
    PROTOCOLS = { auto: 0, meta: 1, text: 2, binary: 3 }.freeze
    # Without effect: connections are always kept alive and shared by threads.
    IGNORED = %i[threadsafe keepalive socket_failure_delay sndbuf rcvbuf].freeze
    private_constant :SERIALIZED, :COMPRESSED, :LONGEST_KEY, :PLACEMENTS, :PROTOCOLS, :IGNORED

    # @param servers [Array<String>] `HOST`, `HOST:PORT`, `HOST:PORT:WEIGHT`, the path of a socket,
    #   perhaps with `:WEIGHT`, or `tavola:NAME`, a table of this machine
    # @param namespace [String, Proc, nil] what all keys begin with, and a colon
    # @param expires_in [Numeric, nil] the time of keys that get no other, in seconds
    # @param compress [Boolean] values of `compression_min_size` bytes or more are compressed
    # @param compressor [#compress, #decompress, nil] nil: zlib
    # @param decompressed_max_bytes [Integer] zlib makes no longer value; one that would be longer
    #   raises {UnmarshalError}
    # @param serializer [#dump, nil] nil: only strings and numbers, and nothing is loaded
    # @param socket_timeout [Numeric] bounds a call, in seconds
    # @param down_retry_delay [Numeric] bounds the time between attempts to reach a lost server
    # @param failover [Boolean] true: keys of lost servers go to others, which all clients must do
    # @param placement [Symbol] `:dalli`, `:ketama`, `:ketama_spy`, `:modula`, `:fast`, `:jump`,
    #   `:rendezvous`
    # @param protocol [Symbol] `:auto`, `:meta`, `:text` or `:binary`, which SASL chooses itself
    # @param near [String, nil] a table of this machine in front of the servers; with `near_ttl`
    # @param options `username` and `password`; `tls_authorities`, `tls_certificate`, `tls_key`,
    #   `tls_name`
    # @example
    #   Tavola::Client.new(['tavola:one'], socket_timeout: 0.5, compress: false).get('a') # => nil
    def initialize(servers, namespace: nil, expires_in: nil, cache_nils: false, compress: true,
                   compression_min_size: 4096, compressor: nil, serializer: Marshal,
                   value_max_bytes: 1024 * 1024, decompressed_max_bytes: 64 * 1024 * 1024,
                   digest_class: Digest::MD5, socket_timeout: 1, connect_timeout: nil,
                   socket_max_failures: 2, down_retry_delay: 30, failover: false,
                   placement: :dalli, protocol: :auto, near: nil, near_ttl: nil, **options)
      @list = servers.map { |server| server_text(server.to_s) }.join(',')
      @namespace = namespace
      @expires_in = expires_in
      @cache_nils = cache_nils
      @compress = compress
      @compression_min_size = compression_min_size
      @compressor = compressor
      @serializer = serializer
      @value_max_bytes = value_max_bytes
      @decompressed_max_bytes = decompressed_max_bytes
      @digest_class = digest_class
      @options = { placement: one_of(PLACEMENTS, placement), protocol: one_of(PROTOCOLS, protocol),
                   io_timeout_ms: ms(socket_timeout), max_failures: socket_max_failures,
                   connect_timeout_ms: ms(connect_timeout || socket_timeout),
                   retry_ms: ms(down_retry_delay), on_down: failover ? 1 : 0, near: near,
                   near_ttl_ms: near_ttl && ms(near_ttl) }.merge(security(options))
      # An invalid option is an error of this call.
      connections
    end

    # @return [nil] there is no table
    # @example
    #   Tavola::Client.new(['tavola:one']).table # => nil
    def table
      nil
    end

    def get(key, _options = nil)
      value_of(connections.get(full(key)))
    end

    def get_multi(*keys)
      found = found_of(keys.flatten, false) { |value, _flags, _cas| value }
      return found unless block_given?

      found.each { |key, value| yield key, value }
      nil
    end

    def fetch(key, ttl = nil, options = nil)
      cache_nils = options&.fetch(:cache_nils, nil) || @cache_nils
      found = connections.get(full(key))
      value = value_of(found)
      return value if found && !(value.nil? && !cache_nils)
      return unless block_given?

      value = yield
      add(key, value, ttl, options) unless value.nil? && !cache_nils
      value
    end

    # Sets a key.
    # @return [true]
    # @example
    #   fleet.set('a', 1, 60) # => true
    def set(key, value, ttl = nil, options = nil)
      put(:set, key, value, ttl, options)
    end

    # Sets many keys at once.
    # @return [nil]
    # @example
    #   fleet.set_multi({ 'a' => 1, 'b' => 2 }, 60)
    #   fleet.get_multi('a', 'b') # => { 'a' => 1, 'b' => 2 }
    def set_multi(values, ttl = nil, options = nil)
      stored = values.map { |key, value| [full(key), *encode(key, value, options)] }
      connections.set_many(stored.map { |one| one[0] }, stored.map { |one| one[1] },
                           stored.map { |one| one[2] }, exptime(ttl), quiet?)
    end

    def add(key, value, ttl = nil, options = nil)
      put(:add, key, value, ttl, options)
    end

    def replace(key, value, ttl = nil, options = nil)
      put(:replace, key, value, ttl, options)
    end

    def delete(key)
      connections.delete(full(key), quiet?)
    end

    # Removes many keys at once.
    # @return [Integer] how many existed
    # @example
    #   fleet.set('a', 1)
    #   fleet.delete_multi('a', 'b') # => 1
    def delete_multi(*keys)
      connections.delete_many(keys.flatten.map { |key| full(key) }, quiet?)
    end

    def append(key, value)
      connections.store(:append, full(key), value.to_s, 0, 0, 0, quiet?) == :stored
    end

    def prepend(key, value)
      connections.store(:prepend, full(key), value.to_s, 0, 0, 0, quiet?) == :stored
    end

    def touch(key, ttl = nil)
      connections.touch(full(key), exptime(ttl)) || nil
    end

    def gat(key, ttl = nil)
      value_of(connections.get_and_touch(full(key), exptime(ttl)))
    end

    # Changes a value that exists: the block gets the old one and returns the new one.
    # @return [true, false, nil] false: another process was faster; nil: it is missing
    # @example
    #   fleet.set('a', 1)
    #   fleet.cas('a') { |value| value + 1 } # => true
    def cas(key, ttl = nil, options = nil)
      found = connections.gets(full(key))
      return unless found

      put_cas(key, yield(value_of(found)), found[2], ttl, options) || false
    end

    def cas!(key, ttl = nil, options = nil)
      found = connections.gets(full(key))
      return add(key, yield(nil), ttl, options) unless found

      put_cas(key, yield(value_of(found)), found[2], ttl, options) || false
    end

    def get_cas(key)
      found = connections.gets(full(key))
      pair = found ? [value_of(found), found[2]] : [nil, 0]
      block_given? ? yield(*pair) : pair
    end

    def get_multi_cas(*keys)
      found = found_of(keys.flatten, true) { |value, _flags, cas| [value, cas] }
      return found unless block_given?

      found.each { |key, pair| yield key, pair }
      nil
    end

    def set_cas(key, value, token, ttl = nil, options = nil)
      token.zero? ? set(key, value, ttl, options) : put_cas(key, value, token, ttl, options)
    end

    def replace_cas(key, value, token, ttl = nil, options = nil)
      token.zero? ? replace(key, value, ttl, options) : put_cas(key, value, token, ttl, options)
    end

    # Removes a key if its token is still this one. The servers have no such command, so it is
    # refused, except for the token 0, which any key has.
    # @return [Boolean] whether the key existed
    # @example
    #   fleet.delete_cas('a') # => false
    def delete_cas(key, token = 0)
      return delete(key) if token.zero?

      raise ServerError, 'there is no removal by a token; set the key by set_cas to expire at once'
    end

    # Runs the block, in which stores and removals do not wait for an answer; they have happened, or
    # were lost, when it is over. What they return says nothing.
    # @example
    #   fleet.quiet { fleet.set('a', 1) }
    #   fleet.get('a') # => 1
    def quiet
      state = Thread.current
      before = state.thread_variable_get(quiet_name)
      state.thread_variable_set(quiet_name, true)
      yield self
    ensure
      state.thread_variable_set(quiet_name, before)
      connections.flush unless before
    end
    alias multi quiet

    # Yields the client, which threads may share.
    # @example
    #   fleet.with { |client| client.get('a') } # => nil
    def with
      yield self
    end

    # Removes all keys of all servers, of other namespaces as well.
    # @return [Array<true>] one for each server
    # @example
    #   fleet.flush # => [true, true]
    def flush(delay = 0)
      connections.flush_all(delay)
      connections.names.map { true }
    end
    alias flush_all flush

    def stats(type = nil)
      connections.stats(type.to_s.empty? ? nil : type.to_s)
    end

    # Sets the figures of the servers to 0.
    # @return [nil]
    # @example
    #   fleet.reset_stats # => nil
    def reset_stats
      stats('reset')
      nil
    end

    def version
      connections.versions.transform_values { |version| version.values.first }
    end

    # Returns the name of the server that has a key, whether it is up or not.
    # @return [String]
    # @example
    #   fleet.server_of('a').start_with?('tavola:') # => true
    def server_of(key)
      connections.server_of(full(key))
    end

    # Returns whether a server answers.
    # @return [true]
    # @raise [RingError]
    # @example
    #   fleet.alive! # => true
    def alive!
      version && true
    end

    # Closes the connections. The next call makes others.
    # @return [nil]
    # @example
    #   fleet.close # => nil
    def close
      open = @connections
      @connections = nil
      open&.close
    end
    alias reset close

    private

    def connections
      @connections ||= Servers.new(@list, @options)
    end

    # HOST[:PORT[:WEIGHT]], PATH[:WEIGHT] or tavola:NAME, as the library reads it.
    def server_text(text)
      text = text.delete_prefix('memcached://')
      raise ArgumentError, "#{text.inspect} is no server" if text.empty? || text.match?(/[,?\s]/)
      return text if text.start_with?('tavola:')

      name, weight = text.start_with?('/') ? text.split(/:(?=\d+\z)/, 2) : split_host(text)
      weight ? "#{name}?weight=#{weight}" : name
    end

    def split_host(text)
      host, port, weight = text.match(/\A(\[[^\]]+\]|[^:]+)(?::(\d+))?(?::(\d+))?\z/)&.captures
      unless host
        raise ArgumentError, "#{text.inspect} is no server; write HOST:PORT:WEIGHT or a path"
      end

      [port ? "#{host}:#{port}" : host, weight]
    end

    def one_of(choices, name)
      choices.fetch(name) do
        raise ArgumentError, "#{name.inspect} is not one of #{choices.keys.join(', ')}"
      end
    end

    def ms(seconds)
      milliseconds = (seconds.to_f * 1000).ceil
      raise ArgumentError, 'times must be above 0' unless milliseconds.positive?

      milliseconds
    end

    # Passwords and TLS. Other names are no options.
    def security(options)
      known = IGNORED + %i[username password tls_authorities tls_certificate tls_key tls_name]
      unknown = options.keys - known
      raise ArgumentError, "there is no option #{unknown.join(', ')}" unless unknown.empty?

      user = options[:username]
      tls = options.slice(:tls_authorities, :tls_certificate, :tls_key, :tls_name)
      tls[:tls] = 1 if tls[:tls_authorities]
      user ? tls.merge(login: 1, user: user, password: options[:password].to_s) : tls
    end

    def full(key)
      key = key.to_s
      raise ArgumentError, 'key cannot be blank' if key.empty?

      prefix = @namespace.respond_to?(:call) ? @namespace.call : @namespace
      prefix = prefix ? "#{prefix}:" : ''
      all = prefix + key
      return all if all.bytesize <= LONGEST_KEY

      # As Dalli shortens it.
      digest = @digest_class.hexdigest(all)
      room = LONGEST_KEY - 6 - digest.size - [prefix.size - 1, 0].max
      "#{prefix}#{key[0, room]}:md5:#{digest}"
    end

    def exptime(ttl)
      ttl = (ttl.nil? ? @expires_in : ttl).to_f
      return ttl.zero? ? 0 : -1 unless ttl.positive?

      now = Time.now.to_i
      ttl += now if ttl > MONTH && ttl < now
      [ttl.ceil, (1 << 31) - 1].min
    end

    def quiet_name
      @quiet_name ||= :"tavola_quiet_#{object_id}"
    end

    def quiet?
      Thread.current.thread_variable_get(quiet_name) || false
    end

    # Returns [bytes, flags].
    def encode(key, value, options)
      is_raw = (options && options[:raw]) || @serializer.nil?
      bytes, flags = is_raw ? [plain(value, options), 0] : [dump(value), SERIALIZED]
      compress = options&.fetch(:compress, nil)
      if (compress.nil? ? @compress : compress) && bytes.bytesize >= @compression_min_size
        bytes = @compressor ? @compressor.compress(bytes) : Zlib::Deflate.deflate(bytes)
        flags |= COMPRESSED
      end
      if bytes.bytesize > @value_max_bytes
        raise ValueOverMaxSize, "the value of #{key} has #{bytes.bytesize} bytes, more than " \
                                "value_max_bytes: #{@value_max_bytes}"
      end

      [bytes, flags]
    end

    def plain(value, options)
      return value.to_s if (options && options[:raw]) || value.is_a?(String) ||
                           value.is_a?(Numeric)

      raise MarshalError, 'without a serializer, values are strings and numbers; give raw: true'
    end

    def dump(value)
      @serializer.dump(value)
    rescue StandardError => error
      raise MarshalError, "the value cannot be stored: #{error.message}"
    end

    # Returns the value of [bytes, flags, cas], or nil.
    def value_of(found)
      return unless found

      bytes, flags, = found
      bytes = inflate(bytes) if flags & COMPRESSED != 0
      return bytes if flags & SERIALIZED == 0 || @serializer.nil?

      load(bytes)
    end

    def inflate(bytes)
      @compressor ? @compressor.decompress(bytes) : Inflate.bounded(bytes, @decompressed_max_bytes)
    rescue StandardError => error
      raise UnmarshalError, "the value cannot be decompressed: #{error.message}"
    end

    def load(bytes)
      @serializer.load(bytes)
    rescue StandardError => error
      raise UnmarshalError, "the value cannot be loaded: #{error.message}"
    end

    def found_of(keys, with_cas)
      found = {}
      answers = connections.get_many(keys.map { |key| full(key) }, with_cas)
      keys.zip(answers) do |key, answer|
        found[key] = yield(value_of(answer), answer[1], answer[2]) if answer
      end
      found
    end

    def put(kind, key, value, ttl, options)
      bytes, flags = encode(key, value, options)
      connections.store(kind, full(key), bytes, flags, exptime(ttl), 0, quiet?) == :stored
    end

    # Returns true, false if the token is another, nil if the key is missing.
    def put_cas(key, value, token, ttl, options)
      bytes, flags = encode(key, value, options)
      case connections.store(:cas, full(key), bytes, flags, exptime(ttl), token, false)
      when :stored then true
      when :exists then false
      end
    end

    def count(key, amount, is_down, ttl, default)
      raise ArgumentError, "Positive values only: #{amount}" if amount.negative?

      connections.count(full(key), amount, is_down, default, exptime(ttl))
    end
  end
end

# frozen_string_literal: true

require 'active_support'
require 'active_support/cache'
# Classes of entries are loaded when Marshal meets them.
begin
  require 'active_support/core_ext/marshal'
rescue LoadError
  nil # Newer versions of Rails leave this to Zeitwerk.
end
require 'tavola'

module ActiveSupport
  module Cache
    # A cache store of Rails in a table of shared memory: all workers of a machine share it, without
    # a server.
    #
    #   config.cache_store = :tavola_store, 'pages', { capacity: 64.megabytes, expires_in: 1.hour }
    #
    # The entries are those of Rails, with its coder and its compression, and are bytes for other
    # languages. A value that is written with `raw: true` is text, or an integer, and can be counted
    # with {#increment}; other languages read it, too.
    #
    # An error of the table is logged, and is a miss or a write that was not done.
    #
    # @example
    #   cache = ActiveSupport::Cache::TavolaStore.new('pages', capacity: 8 << 20)
    #   cache.fetch('page', expires_in: 60) { '<p>hello</p>' } # => '<p>hello</p>'
    #   cache.read('page') # => '<p>hello</p>'
    class TavolaStore < Store
      # The flags of an entry of Rails.
      ENTRY = 0x54130000
      TEXT = 0x54010000
      INTEGER = 0x54020000
      # Options that {Tavola::Table.open} gets.
      TABLE_OPTIONS = %i[capacity max_size mode shards background core_dumps any_owner group_id
                         lock_timeout].freeze
      # An entry stays so long after it has expired, for `race_condition_ttl`.
      RACE_SECONDS = 300
      private_constant :ENTRY, :TEXT, :INTEGER, :RACE_SECONDS

      # Values that are written raw are text in the local cache, too.
      module LocalCacheWithRaw
        private

        def write_entry(key, entry, **options)
          return super unless options[:raw] && local_cache

          raw = Entry.new(entry.value.to_s)
          raw.expires_at = entry.expires_at
          super(key, raw, **options)
        end
      end

      prepend Strategy::LocalCache
      prepend LocalCacheWithRaw

      # Advertises that the store supports versions of entries.
      # @return [true]
      # @example
      #   ActiveSupport::Cache::TavolaStore.supports_cache_versioning? # => true
      def self.supports_cache_versioning?
        true
      end

      # @return [Tavola::Table] the table
      attr_reader :table

      # @param table [String, Tavola::Table] a table, or its name
      # @param options [Hash] those of every cache store, and those of a new table: `capacity`,
      #   `max_size`, `mode` and others of {Tavola::Table.open}
      # @example
      #   cache = ActiveSupport::Cache::TavolaStore.new('pages', capacity: 8 << 20)
      #   cache.table.capacity # => 8 << 20
      def initialize(table = 'rails', options = nil, **more)
        options = (options || {}).merge(more)
        super(options.except(*TABLE_OPTIONS))
        @table = table
        @table = Tavola.open(table.to_s, **options.slice(*TABLE_OPTIONS)) unless
          table.is_a?(Tavola::Table)
      end

      # Adds to a number. A missing key begins at 0. A value that was not written with `raw: true`
      # is raw afterwards.
      # @return [Integer, nil] nil: the table has an error
      # @example
      #   cache = ActiveSupport::Cache::TavolaStore.new('pages')
      #   cache.increment('hits') # => 1
      def increment(name, amount = 1, options = nil)
        count(:increment, name, amount, options)
      end

      # Subtracts from a number, as {#increment} adds.
      # @return [Integer, nil]
      # @example
      #   cache = ActiveSupport::Cache::TavolaStore.new('pages')
      #   cache.decrement('hits', 3) # => -3
      def decrement(name, amount = 1, options = nil)
        count(:decrement, name, amount, options)
      end

      # Removes the entries whose names match a Regexp, or a pattern of a shell (`page/*`) as a
      # String. It looks at every key of the table.
      # @example
      #   cache = ActiveSupport::Cache::TavolaStore.new('pages')
      #   cache.write('page/1', 'one')
      #   cache.delete_matched(/page/)
      #   cache.exist?('page/1') # => false
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        instrument(:delete_matched, matcher.inspect) do
          matcher = glob(matcher) if matcher.is_a?(String)
          pattern = key_matcher(matcher, options)
          guard(nil) do
            @table.each_key { |key| delete_entry(key, **options) if key.match?(pattern) }
          end
        end
      end

      # Removes the keys that have expired.
      # @example
      #   ActiveSupport::Cache::TavolaStore.new('pages').cleanup
      def cleanup(options = nil)
        guard(nil) { @table.remove_expired }
      end

      # Removes all keys of the table.
      # @example
      #   ActiveSupport::Cache::TavolaStore.new('pages').clear
      def clear(options = nil)
        guard(nil) { @table.clear }
      end

      # Returns the state of the table.
      # @return [Hash]
      # @example
      #   ActiveSupport::Cache::TavolaStore.new('pages').stats[:keys] # => 0
      def stats
        @table.stats
      end

      # Returns a short text for a person.
      # @return [String]
      # @example
      #   ActiveSupport::Cache::TavolaStore.new('pages').inspect.include?('pages') # => true
      def inspect
        "#<#{self.class} table=#{@table.inspect} options=#{options.inspect}>"
      end

      private

      def read_entry(key, **_options)
        guard(nil) { entry_of(*@table.get_bytes(key)) }
      end

      def entry_of(bytes = nil, flags = nil)
        return if bytes.nil?
        return Entry.new(text_of(bytes), compress: false) unless flags & 0xffff0000 == ENTRY

        entry = deserialize_entry(bytes)
        # Without a coder, the bytes are still Marshal's.
        entry.is_a?(String) ? Marshal.load(entry) : entry
      end

      def text_of(bytes)
        text = bytes.force_encoding(Encoding::UTF_8)
        text.valid_encoding? ? text : text.b
      end

      def write_entry(key, entry, **options)
        bytes, flags = options[:raw] ? raw_of(entry.value) : payload_of(entry)
        guard(false) do
          ttl = ttl_of(options)
          if options[:unless_exist]
            @table.add_bytes(key, bytes, flags, ttl: ttl)
          else
            @table.set_bytes(key, bytes, flags, ttl: ttl)
          end
        end
      end

      def raw_of(value)
        return [value.to_s, INTEGER] if value.is_a?(Integer)

        text = value.to_s
        [text, text.encoding == Encoding::BINARY || !text.valid_encoding? ? 0 : TEXT]
      end

      def payload_of(entry)
        payload = serialize_entry(entry)
        [payload.is_a?(String) ? payload : Marshal.dump(payload), ENTRY]
      end

      # Rails looks at the time of the entry; the table removes it then, or a while after.
      def ttl_of(options)
        seconds = options[:expires_in]&.to_f
        return if seconds.nil?

        seconds = 0.001 if seconds <= 0
        options[:race_condition_ttl] && !options[:raw] ? seconds + RACE_SECONDS : seconds
      end

      def read_multi_entries(names, **options)
        keys = names.to_h { |name| [name, normalize_key(name, options)] }
        found = guard({}) { @table.get_multi_bytes(keys.values) }
        keys.each_with_object({}) do |(name, key), results|
          entry = entry_of(*found[key])
          next if entry.nil?

          if entry.expired?
            delete_entry(key, **options)
          elsif !entry.mismatched?(normalize_version(name, options))
            results[name] = entry.value
          end
        end
      end

      def delete_entry(key, **_options)
        guard(false) { @table.remove(key) }
      end

      def delete_multi_entries(keys, **_options)
        guard(0) { @table.delete_multi(keys) }
      end

      def glob(pattern)
        parts = pattern.scan(/\*|\?|[^*?]+/).map do |part|
          { '*' => '.*', '?' => '.' }.fetch(part) { Regexp.escape(part) }
        end
        Regexp.new("^#{parts.join}\\z", Regexp::MULTILINE)
      end

      def count(verb, name, amount, options)
        options = merged_options(options)
        key = normalize_key(name, options)
        instrument(verb, name, amount: amount) do
          guard(nil) do
            @table.public_send(verb, key, amount, ttl: ttl_of(options.merge(raw: true)))
          rescue Tavola::NotACounterError
            count_entry(key, verb == :increment ? amount : -amount, options)
          end
        end
      end

      # A value that was not written raw becomes raw, in one step.
      def count_entry(key, amount, options)
        loop do
          bytes, flags, token = @table.gets_bytes(key)
          return @table.increment(key, amount) if bytes.nil?

          entry = entry_of(bytes, flags)
          sum = entry.value.to_i + amount
          left = entry.expires_at && [entry.expires_at - Time.now.to_f, 0.001].max
          ttl = left || ttl_of(options.merge(raw: true))
          return sum if @table.cas_bytes(key, sum.to_s, INTEGER, token, ttl: ttl)
        end
      end

      def guard(fallback)
        yield
      rescue Tavola::Error => error
        logger&.error("TavolaStore (#{error.class}): #{error.message}")
        fallback
      end
    end
  end
end

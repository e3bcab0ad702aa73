# frozen_string_literal: true

module Tavola
  # Computing a missing value once, in all processes together.
  class Table
    # Returns the value of a key. If it is missing, one of all processes and threads that ask for it
    # runs the block and stores its value; the others wait for it, or get the stale value. If the
    # process that computes is killed, another one computes within about 10 ms.
    #
    # The block must not ask for the same key. An exception of the block is raised in this process;
    # for `back_off` seconds the others get the stale value or {NotComputedError} with its message.
    #
    # @param ttl [Numeric, nil] how many seconds the value is fresh; nil is the time of the table
    # @param stale [Numeric, nil] how many seconds after that the others still get the old value,
    #   while one computes it again
    # @param tags [Array<String>, Tags, nil] fetched before the block runs
    # @param lease [Numeric] how many seconds the block may take before another process may begin
    # @param early [Numeric, nil] 1 lets a process now and then compute before the value is stale
    # @param back_off [Numeric] after an exception, how many seconds no process tries again
    # @return [Object]
    # @raise [NotComputedError]
    # @example
    #   table.compute('report', ttl: 60) { 'a slow report' } # => 'a slow report'
    #   table.compute('report', ttl: 60) { raise 'not run' } # => 'a slow report'
    def compute(key, ttl: nil, stale: nil, tags: nil, lease: 60, early: nil, back_off: 1, &block)
      raise ArgumentError, 'compute takes a block' unless block

      fresh = ttl.nil? ? default_ttl : (ttl unless ttl == :never)
      loop do
        answer = begin
          get_or_lease(key, fresh, stale, lease, early)
        rescue FullError
          return yield(key) # There is no room for a lease, so each process computes by itself.
        end
        return answer unless answer.is_a?(Lease)

        begin
          case answer.outcome
          when :won, :stale_won then return fill(answer, key, tags, back_off, &block)
          when :wait then answer.wait(nil)
          else raise_not_computed(answer.value)
          end
        ensure
          answer.close
        end
      end
    end

    # Returns a proc that does what the block does, and keeps its values in the table: one for each
    # list of arguments. The options are those of {#compute}. Arguments are strings, symbols,
    # numbers, true, false, nil, and arrays and hashes of them.
    #
    # @param name [String, Symbol] what the keys begin with
    # @return [Proc]
    # @example
    #   square = table.memoize('square', ttl: 60) { |n| n * n }
    #   square.call(7) # => 49
    #   table.keys # => ['square(7)']
    def memoize(name, **options, &block)
      raise ArgumentError, 'memoize takes a block' unless block

      lambda do |*args, **keywords|
        compute(memo_key(name, args, keywords), **options) { block.call(*args, **keywords) }
      end
    end

    # Lets a method keep its values in the table: one for each list of arguments, whatever object it
    # is called on. `key:` is a proc that gets the object, and returns what differs between objects.
    #
    # @param owner [Module] the class that has the method
    # @param method [Symbol]
    # @return [Symbol] the name of the method
    # @example
    #   user = Struct.new(:id) do
    #     def report(year)
    #       "#{id} in #{year}"
    #     end
    #   end
    #   table.memoize_method(user, :report, ttl: 60, key: ->(one) { one.id })
    #   user.new(7).report(2024) # => '7 in 2024'
    #   user.new(8).report(2024) # => '8 in 2024'
    def memoize_method(owner, method, key: nil, **options)
      table = self
      memo = Module.new do
        define_method(method) do |*args, **keywords, &block|
          name = "#{owner.name}##{method}"
          name = "#{name}[#{table.__send__(:memo_part, key.call(self))}]" if key
          table.compute(table.__send__(:memo_key, name, args, keywords), **options) do
            super(*args, **keywords, &block)
          end
        end
      end
      owner.prepend(memo)
      method
    end

    private

    def default_ttl
      @default_ttl ||= stats[:ttl_ms]
      @default_ttl.zero? ? nil : @default_ttl / 1000.0
    end

    def fill(lease, key, tags, back_off)
      handles = tags.nil? || tags.is_a?(Tags) ? tags : fetch_tags(*tags)
      begin
        value = yield(key)
      rescue StandardError => error
        lease.fail("#{error.class}: #{error.message}".b.byteslice(0, 88), back_off)
        raise
      end
      begin
        lease.fill(self, value, handles)
      rescue FullError
        value # The table has no room: the caller has its value, and nothing is stored.
      end
      value
    end

    def memo_key(name, args, keywords)
      parts = args.map { |one| memo_part(one) }
      parts.concat(keywords.sort.map { |key, one| "#{key}: #{memo_part(one)}" })
      "#{name}(#{parts.join(', ')})"
    end

    def memo_part(value)
      case value
      when String, Symbol, Integer, Float, true, false, nil then value.inspect
      when Array then "[#{value.map { |one| memo_part(one) }.join(', ')}]"
      when Hash
        pairs = value.map { |key, one| [memo_part(key), memo_part(one)] }
        "{#{pairs.sort.map { |pair| pair.join('=>') }.join(', ')}}"
      else
        raise TypeError, "an argument of class #{value.class} cannot be part of a key"
      end
    end
  end

  # The lease to compute a value, or another process's. {Table#compute} handles it.
  # @api private
  class Lease
  end
end

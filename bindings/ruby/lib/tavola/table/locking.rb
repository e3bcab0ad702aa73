# frozen_string_literal: true

module Tavola
  # Locks and barriers over processes, and watches of keys.
  #
  # A lock is a lease on a key of its own, under which nothing is stored. If its holder dies, in any
  # way, the next one gets the lock within about 10 ms. A holder that is stopped keeps it for
  # `limit` seconds at most.
  class Table
    # Keys of locks begin with this in every language, so that locks hold between them.
    LOCK_PREFIX = "\0lock\0".b.freeze
    # The longest time that a lock is held, in seconds: that of a lease.
    LOCK_LIMIT = 3600
    private_constant :LOCK_PREFIX

    # Runs the block while no other process or thread holds the lock of this name.
    #
    # @param name [String, Symbol] the lock; it needs no key of this name
    # @param timeout [Numeric, nil] how many seconds to wait for it; nil is no limit, 0 not at all
    # @param limit [Numeric] after how many seconds another process may take it, at most 3600
    # @return [Object] the value of the block
    # @raise [TimeoutError] the lock was not free in time
    # @raise [ThreadError] this thread holds the lock already
    # @example
    #   table['n'] = 1
    #   table.lock('n') { table['n'] += 1 }
    #   table['n'] # => 2
    def lock(name, timeout: nil, limit: LOCK_LIMIT)
      held = [Process.pid, Thread.current, name.to_s]
      raise ThreadError, 'deadlock; recursive locking' if locks_held.include?(held)

      lease = acquire(LOCK_PREFIX + name.to_s.b, name, timeout, limit)
      begin
        locks_held[held] = true
        yield
      ensure
        locks_held.delete(held)
        lease.close
      end
    end

    # Returns whether a process or thread holds the lock of this name.
    # @return [Boolean]
    # @example
    #   table.lock('n') { table.locked?('n') } # => true
    #   table.locked?('n') # => false
    def locked?(name)
      lease = get_or_lease(LOCK_PREFIX + name.to_s.b, 1, nil, 1, nil)
      return false unless lease.is_a?(Lease)

      lease.outcome == :wait
    ensure
      lease.close if lease.is_a?(Lease)
    end

    # Watches a key for changes by any process. Without a block it returns a {Watch}. With a block,
    # it yields the new value after each change, until the block breaks or `timeout` seconds pass
    # without a change.
    #
    # @return [Watch, nil]
    # @example
    #   table['config'] = 1
    #   watch = table.watch('config')
    #   table['config'] = 2
    #   watch.wait(10) # => true
    def watch(key, timeout: nil)
      watch = open_watch(key)
      return watch unless block_given?

      begin
        yield get(key) while watch.wait(timeout)
        nil
      ensure
        watch.close
      end
    end

    # Waits until `count` processes or threads have called this with the same key; then all calls
    # return. The key counts the calls, so `count` callers may use it again. It never expires. A
    # process that is killed while it waits may still count: remove the key before the next use.
    #
    # @param count [Integer] how many callers there are, with this one
    # @param timeout [Numeric, nil] seconds; nil is no limit
    # @return [Boolean] false: the others did not come in time, and this call no longer counts
    # @example
    #   other = Thread.new { table.barrier('start', 2) }
    #   table.barrier('start', 2) # => true
    #   other.join
    #   table.barrier('start', 2, timeout: 0.01) # => false
    def barrier(key, count, timeout: nil)
      wait_at_barrier(key, count, timeout)
    end

    private

    def locks_held
      @locks_held ||= {}
    end

    def acquire(key, name, timeout, limit)
      deadline = timeout && now + timeout
      loop do
        lease = get_or_lease(key, 1, nil, limit, nil)
        raise Error, "the lock #{name} is not free: its key has a value" unless lease.is_a?(Lease)
        return lease if lease.outcome == :won && lease.recorded?

        begin
          left = deadline ? [deadline - now, 0].max : nil
          # A lease without a record excludes nobody: too many are held at this moment.
          lease.outcome == :wait ? lease.wait(left) : sleep([left || 0.01, 0.01].min)
        ensure
          lease.close
        end
        next if deadline.nil? || now < deadline

        raise TimeoutError, "the lock #{name} was not free within #{timeout} seconds"
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # A watch of a key, from {Table#watch}, for one thread at a time.
  #
  # @!method wait(timeout = nil)
  #   Waits until the key has changed since the watch was opened, or since the last change that was
  #   reported. Several changes may be reported as one; the last one is never missed.
  #   @param timeout [Numeric, nil] seconds; nil is no limit
  #   @return [Boolean] false: the key has not changed in time
  #   @example
  #     table.watch('config').wait(0) # => false
  #
  # @!method close
  #   Ends the watch.
  #   @return [nil]
  #   @example
  #     table.watch('config').close # => nil
  class Watch
  end
end

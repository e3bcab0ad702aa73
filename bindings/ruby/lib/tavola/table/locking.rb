# frozen_string_literal: true

module Tavola
  # Locks and barriers over processes, and watches of keys.
  class Table
    # Takes the named lock of the table, which the other languages and the command `tavola lock`
    # take as well. Without a block it returns a {Lock}. With a block, it yields the {Lock} and
    # releases it at the end of the block. With `shared: true`, others that share it may hold it at
    # the same time, and nobody exclusively.
    #
    # The lock is held until it is released or its process ends: a holder that is stopped keeps it.
    # If the process is killed, the next one has the lock within about 20 ms, exclusively even with
    # `shared: true`, and {Lock#owner_died?} is true unless the killed process shared the lock.
    #
    # A lock takes 512 bytes and stays as long as the table, which has room for 18,716 of them. So
    # do not make one for each user or key: spread them over some locks, as `"user-#{id % 100}"`,
    # and use {#compute} for values that one process makes.
    #
    # @param name [String, Symbol] 1 to 56 bytes of UTF-8; it needs no key of this name
    # @param timeout [Numeric, nil] how many seconds to wait for it; nil is no limit, 0 not at all
    # @return [Object] the value of the block, or a {Lock}
    # @raise [TimeoutError] the lock was not free in time
    # @raise [ThreadError] this thread is inside a block of this lock already
    # @raise [BadNameError] the name is empty or too long
    # @example
    #   table['n'] = 1
    #   table.lock('n') { table['n'] += 1 }
    #   table['n'] # => 2
    #   table.lock('n') { |held| held.owner_died? } # => false
    #   one = table.lock('prices', shared: true)
    #   two = table.lock('prices', shared: true)
    #   [one.unlock, two.unlock] # => [true, true]
    def lock(name, timeout: nil, shared: false)
      name = name.to_s
      own = [Process.pid, Thread.current, name.b]
      raise ThreadError, 'deadlock; recursive locking' if locks_held.include?(own)
      return take_lock(name, timeout, shared) || not_free(name, timeout) unless block_given?

      held = nil
      begin
        # An exception that another thread raises in this one arrives only after the assignment, so
        # the ensure below sees the lock and releases it.
        held = take_lock(name, timeout, shared)
        not_free(name, timeout) unless held
        locks_held[own] = true
        yield held
      ensure
        locks_held.delete(own)
        held&.unlock
      end
    end

    # @!method locked?(name)
    #   Returns whether a process or thread holds the lock of this name, also if it shares it. Does
    #   not take the lock.
    #   @return [Boolean]
    #   @example
    #     table.lock('n') { table.locked?('n') } # => true
    #     table.locked?('n') # => false

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

    def not_free(name, timeout)
      raise TimeoutError, "the lock #{name} was not free within #{timeout} seconds"
    end
  end

  # A lock that is held, from {Table#lock}. It is released by {#unlock}, at the end of the block of
  # {Table#lock}, and when it is garbage. Another thread may release it. A forked child does not
  # hold the locks of its parent, and does not release them.
  #
  # @!method unlock
  #   Releases the lock.
  #   @return [Boolean] whether it was held by this process
  #   @example
  #     lock = table.lock('report')
  #     lock.unlock # => true
  #     lock.unlock # => false
  #
  # @!method held?
  #   Returns whether this process holds the lock.
  #   @return [Boolean]
  #   @example
  #     lock = table.lock('report')
  #     lock.held? # => true
  #     lock.unlock
  #     lock.held? # => false
  #
  # @!method shared?
  #   Returns whether others may hold the lock as well. After a death it is false.
  #   @return [Boolean]
  #   @example
  #     table.lock('report', shared: true) { |lock| lock.shared? } # => true
  #
  # @!method owner_died?
  #   Returns whether the last process that held the lock exclusively was killed: what the lock
  #   guards may be half changed.
  #   @return [Boolean]
  #   @example
  #     table.lock('report') { |lock| lock.owner_died? } # => false
  class Lock
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

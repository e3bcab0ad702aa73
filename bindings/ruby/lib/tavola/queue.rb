# frozen_string_literal: true

module Tavola
  # A queue of jobs in shared memory, first in, first out, with the manners of Thread::SizedQueue.
  # Any number of processes push and pop at the same time. `tavola queue` in the shell uses the same
  # queues.
  #
  # A job that a process has popped with a block is held until the block has ended. If the process
  # is killed before, the job returns to the end of the queue at the next {#pop} that finds the
  # queue empty, or with {#reclaim}. So a job may run twice, and none is lost.
  #
  # A job is a string, unless the queue is opened with a serializer. Each job says what it is, so a
  # queue may have jobs of other languages: text comes as a String, and JSON as what it holds. What
  # is damaged, or only another serializer can read, comes as a String with its bytes. Marshal is
  # used only by a queue that was opened with it, because it can run code that the writer of a job
  # chose.
  #
  # A queue has a fixed number of places, and a longest job; its memory is allocated when it is
  # created.
  #
  # @!method reclaim
  #   Returns the jobs of dead processes to the queue. {#pop} does so by itself.
  #   @return [Integer] how many there were
  #   @example
  #     queue.reclaim # => 0
  #
  # @!method size
  #   Returns how many jobs wait. Jobs that a process works on are not counted.
  #   @return [Integer]
  #   @example
  #     queue << 'one' << 'two'
  #     queue.size # => 2
  #
  # @!method max
  #   Returns how many places the queue has.
  #   @return [Integer]
  #   @example
  #     queue.max # => 1024
  #
  # @!method job_bytes
  #   Returns how many bytes any job may have. One that is text may have 4 more.
  #   @return [Integer]
  #   @example
  #     queue.job_bytes # => 1024
  #
  # @!method path
  #   Returns the path of the queue's file.
  #   @return [String]
  #   @example
  #     File.exist?(queue.path) # => true
  #
  # @!method close
  #   Closes this handle. Threads that wait with it get nil. Other processes do not notice.
  #   @return [self]
  #   @example
  #     queue.close
  #     queue.pop # => nil
  #
  # @!method closed?
  #   Returns whether this handle is closed.
  #   @return [Boolean]
  #   @example
  #     queue.closed? # => false
  class Queue
    # How often, in seconds, a process that waits looks for jobs and places of dead processes.
    RECLAIM_EVERY = 1
    # The flags of a job, by its serializer (bindings/README.md), and those of any other serializer.
    FLAGS = { JSON => 0x54040000, Marshal => 0x54130000 }.freeze
    FLAGS_OBJECT = 0x54ff0000
    private_constant :RECLAIM_EVERY, :FLAGS, :FLAGS_OBJECT

    # Opens a queue, and creates it if it does not exist. A queue that exists keeps its size.
    #
    # @param name [String] a name in {Tavola.directory}, or a path if it has a `/`
    # @param places [Integer] how many jobs a new queue has room for
    # @param job_bytes [Integer] how many bytes a job of a new queue may have
    # @param mode [Integer, nil] the mode of a new file; 0600 by default
    # @param serializer [nil, :json, :marshal, #dump] nil: jobs are strings
    # @param create [Boolean] false: raises {NoTableError} if the queue does not exist
    # @param table [Table, nil] opens the queue in the file of this table
    # @yield [queue] with a block, the queue is closed at its end, and its value is returned
    # @return [Queue]
    # @example
    #   jobs = Tavola::Queue.open('jobs', serializer: :json)
    #   jobs.push({ 'resize' => 'a.jpg' })
    #   jobs.pop { |job| job['resize'] } # => 'a.jpg'
    def self.open(name, places: 1024, job_bytes: 1024, mode: nil, serializer: nil, create: true,
                  table: nil)
      queue = open_pool(name, places, job_bytes, mode, !create, table)
      queue.__send__(:use, serializer)
      return queue unless block_given?

      begin
        yield queue
      ensure
        queue.close
      end
    end

    # Adds a job at the end. Waits for a free place.
    #
    # @param job [String, Object]
    # @param non_block [Boolean] true: raises ThreadError if all places are taken
    # @param timeout [Numeric, nil] how many seconds to wait; nil is no limit
    # @return [self, nil] nil: there was no place in time
    # @raise [TooLargeError] the job is longer than {#job_bytes}
    # @raise [ClosedQueueError]
    # @example
    #   queue.push('resize 17.jpg').size # => 1
    def push(job, non_block = false, timeout: nil)
      raise ClosedQueueError, 'queue closed' if closed?

      bytes, flags = dump(job)
      element = wait_for(non_block ? 0 : timeout) { |seconds| pop_free(seconds) }
      return put(element, bytes, flags) if element
      raise ClosedQueueError, 'queue closed' if closed?
      raise ThreadError, 'queue full' if non_block
    end
    alias << push
    alias enq push

    # Takes the first job. Waits until there is one; the GVL is released meanwhile.
    #
    # With a block, the job is done when the block ends, and the value of the block is returned. If
    # the block does not end normally (an exception, `break`, Thread#kill), or the process is
    # killed, the job returns to the end of the queue. Without a block, the job is done when it is
    # returned.
    #
    # @param non_block [Boolean] true: raises ThreadError if the queue is empty
    # @param timeout [Numeric, nil] how many seconds to wait; nil is no limit
    # @return [String, Object, nil] nil: no job came in time, or the queue was closed
    # @example
    #   queue << 'resize 17.jpg'
    #   queue.pop { |job| job.split.last } # => '17.jpg'
    #   queue.pop(timeout: 0) # => nil
    def pop(non_block = false, timeout: nil, &block)
      # An exception from another thread must not come between the pop and the block.
      Thread.handle_interrupt(Object => :on_blocking) do
        element = closed? ? nil : wait_for(non_block ? 0 : timeout) { |seconds| pop_job(seconds) }
        return work(element, &block) if element
      end
      raise ThreadError, 'queue empty' if non_block && !closed?
    end
    alias shift pop
    alias deq pop

    # Works on jobs one after the other, until the queue is closed or the block breaks.
    #
    # @yield [job] as with {#pop}
    # @return [self, Enumerator]
    # @example
    #   queue << 'a' << 'b'
    #   queue.each { |job| queue.close if job == 'b' }
    #   queue.closed? # => true
    def each(&block)
      return to_enum unless block

      pop(&block) until closed?
      self
    end

    # Returns whether no job waits.
    # @return [Boolean]
    # @example
    #   queue.empty? # => true
    def empty?
      size.zero?
    end
    alias length size

    # Removes all jobs that wait.
    # @return [self]
    # @example
    #   queue << 'a'
    #   queue.clear.size # => 0
    def clear
      while (element = pop_job(0))
        finish(element)
      end
      self
    end

    # Returns a short text for a person.
    # @return [String]
    # @example
    #   queue.inspect.start_with?('#<Tavola::Queue') # => true
    def inspect
      closed? ? "#<#{self.class} closed>" : "#<#{self.class} #{path} #{size}/#{max} jobs>"
    end

    private

    def use(serializer)
      @serializer = { json: JSON, marshal: Marshal }.fetch(serializer, serializer)
      return if @serializer.nil?
      return if @serializer.respond_to?(:dump) && @serializer.respond_to?(:load)

      raise ArgumentError, 'serializer is nil, :json, :marshal, or an object with dump and load'
    end

    # Returns the bytes of a job and its flags; nil if it is text.
    def dump(job)
      bytes, flags = encode(job)
      most = most_bytes(flags)
      return bytes, flags if bytes.bytesize <= most

      raise TooLargeError, "the job has #{bytes.bytesize} bytes, but the queue accepts at most " \
                           "#{most}; create a queue with larger job_bytes"
    end

    def encode(job)
      # JSON.dump would write what no parser reads, as NaN.
      return JSON.generate(job), FLAGS[JSON] if @serializer == JSON
      return @serializer.dump(job), FLAGS.fetch(@serializer, FLAGS_OBJECT) if @serializer

      bytes = String.try_convert(job)
      return bytes, flags_of(bytes) if bytes

      raise TypeError, "a job is a String, not #{job.class}; open the queue with a serializer"
    end

    # Elements of dead processes come when there are no others.
    def wait_for(timeout)
      element = yield 0
      return element if element

      deadline = timeout && now + timeout
      until closed?
        reclaim
        left = deadline ? deadline - now : RECLAIM_EVERY
        element = yield [[left, RECLAIM_EVERY].min, 0].max
        return element if element || left.negative? || left.zero?
      end
    end

    def work(element)
      is_done = false
      found = read(element, @serializer == JSON ? nil : @serializer)
      raise Error, "element #{element} is not a job; another program uses #{path}" if found.nil?

      job = found.first
      unless block_given?
        is_done = true
        return job
      end
      value = Thread.handle_interrupt(Object => :immediate) { yield job }
      is_done = true
      value
    ensure
      is_done ? finish(element) : give_back(element)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

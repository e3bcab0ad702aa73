# frozen_string_literal: true

require_relative 'test_case'

class QueueTest < TavolaTest
  def setup
    super
    @queue = Tavola::Queue.open('jobs', places: 4, job_bytes: 100)
  end

  def teardown
    @queue.close
    super
  end

  attr_reader :queue

  def test_first_in_first_out
    assert_same queue, queue.push('a')
    queue << 'b' << 'grüße'
    queue.enq("\xff".b)
    assert_equal 4, queue.size
    assert_equal 4, queue.length
    assert_equal %w[a b grüße], [queue.pop, queue.shift, queue.deq]
    assert_equal "\xff".b, queue.pop
    assert queue.empty?
    assert_equal 4, queue.max
    assert_equal 100, queue.job_bytes
  end

  def test_empty_and_full
    assert_raises(ThreadError) { queue.pop(true) }
    assert_nil queue.pop(timeout: 0)
    assert_nil queue.pop(timeout: 0.02)
    4.times { |i| queue << i.to_s }
    assert_raises(ThreadError) { queue.push('x', true) }
    assert_nil queue.push('x', timeout: 0.02)
    assert_same queue, queue.clear
    assert_equal 0, queue.size
    assert_same queue, queue.push('x', timeout: 0)
  end

  def test_what_is_refused
    assert_raises(TypeError) { queue << 5 }
    error = assert_raises(Tavola::TooLargeError) { queue << "\xff".b * 101 }
    assert_equal 'the job has 101 bytes, but the queue accepts at most 100; create a queue with ' \
                 'larger job_bytes', error.message
    assert_same queue, queue << "\xff".b * 100
    # Text has no flags.
    assert_raises(Tavola::TooLargeError) { queue << 'x' * 105 }
    assert_same queue, queue << 'x' * 104
    assert_raises(ArgumentError) { Tavola::Queue.open('jobs', serializer: 7) }
    assert_raises(Tavola::NoTableError) { Tavola::Queue.open('none', create: false) }
    assert_raises(Tavola::NoObjectError) { Tavola::Queue.open('test') }
  end

  def test_serializers
    Tavola::Queue.open('jobs', serializer: :json) do |jobs|
      jobs << { 'a' => [1] }
      assert_equal({ 'a' => [1] }, jobs.pop)
    end
    Tavola::Queue.open('jobs', serializer: :marshal) do |jobs|
      jobs << { a: 1r }
      assert_equal({ a: 1r }, jobs.pop)
    end
  end

  def test_a_block_holds_the_job_until_it_ends
    queue << 'a'
    assert_equal 'A', (queue.pop { |job| assert_equal(0, queue.size) && job.upcase })
    queue << 'b'
    assert_raises(RuntimeError) { queue.pop { raise 'failed' } }
    assert_equal 1, queue.size
    queue.pop { break }
    assert_equal 'b', queue.pop
    # All places are free again.
    4.times { |i| queue.push(i.to_s, true) }
  end

  def test_the_block_may_close_the_queue
    queue << 'a'
    queue.pop { queue.close }
    assert queue.closed?
    Tavola::Queue.open('jobs') do |other|
      assert_equal 0, other.reclaim
      4.times { |i| other.push(i.to_s, true) }
    end
  end

  def test_close_wakes_the_threads_that_wait
    threads = Array.new(2) { Thread.new { queue.pop } }
    threads << Thread.new { queue.each { flunk } }
    eventually { threads.all? { |one| one.status } }
    queue.close
    assert_equal [nil, nil], threads.first(2).map(&:value)
    assert_same queue, threads.last.value
    assert_raises(ClosedQueueError) { queue << 'a' }
    assert_nil queue.pop(true)
    assert_raises(Tavola::ClosedError) { queue.size }
  end

  def test_a_waiting_pop_lets_other_threads_run_and_gets_the_job
    thread = Thread.new { queue.pop(timeout: 30) }
    count = 0
    eventually { (count += 1) > 100 }
    pid = child { queue << 'from another process' }
    assert_equal 'from another process', thread.value
    assert_child(pid)
  end

  def test_interrupts_end_a_wait_and_lose_no_job
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { queue.pop } }
    20.times do |i|
      threads = Array.new(2) { Thread.new { queue.pop { |job| job } } }
      queue << i.to_s
      threads.each(&:kill)
      threads.each { |one| assert one.join(10) }
      queue.clear
      4.times { queue.push('x', true) }
      queue.clear
    end
  end

  def test_the_job_of_a_killed_worker_returns
    queue << 'important'
    pid = child { queue.pop { (table['begun'] = true) && sleep } }
    eventually { table['begun'] }
    assert_equal 0, queue.size
    Process.kill(:KILL, pid)
    wait_for_child(pid)
    assert_equal 'important', queue.pop(timeout: 30)
  end

  def test_reclaim
    queue << 'important'
    pid = child { queue.pop { (table['begun'] = true) && sleep } }
    eventually { table['begun'] }
    assert_equal 0, queue.reclaim
    stop(pid)
    @children.delete(pid)
    assert_equal 1, queue.reclaim
    assert_equal 1, queue.size
  end

  def test_many_processes_and_one_that_is_killed
    workers = Array.new(3) do
      child do
        loop do
          done = Tavola::Queue.open('jobs', create: false) do |jobs|
            jobs.pop(timeout: 20) do |job|
              table.increment("done #{job}")
              job
            end
          end
          break true if done.nil? || done == 'stop'
        end
      end
    end
    victim = child { queue.each { |job| table.increment("done #{job}") } }
    200.times { |i| queue.push("job #{i}", timeout: 30) }
    stop(victim)
    @children.delete(victim)
    # What the victim held comes before the ends.
    queue.reclaim
    3.times { queue.push('stop', timeout: 30) }
    workers.each { |pid| assert_child(pid) }
    missing = (0...200).reject { |i| table.key?("done job #{i}") }
    assert_equal [], missing
  end

  def test_a_queue_in_the_file_of_a_table
    jobs = Tavola::Queue.open('mails', table: table)
    jobs << 'a'
    assert_equal table.path, jobs.path
    assert_equal 'a', Tavola::Queue.open('mails', table: table).pop
  end

  # The form of `tavola queue`: the length plus 1 as 4 bytes, little-endian, and the job. A job that
  # is not text has the highest bit set, and flags before its bytes.
  def test_the_form_that_other_programs_read
    queue << 'resize'
    element = queue.__send__(:pop_job, 0)
    assert_equal ['resize'], queue.__send__(:read, element, nil)
    queue.__send__(:finish, element)
    # `finish` has cleared the word.
    assert place_of("\0\0\0\0resize")
    queue << 'resize'
    assert place_of("\x07\0\0\0resize")
  end

  def test_the_flags_of_jobs_that_are_not_text
    queue << "\xff\xfe".b
    assert place_of(marked("\xff\xfe", 0))
    assert_equal "\xff\xfe".b, queue.pop
    { json: [0x54040000, '[1,"a"]'], marshal: [0x54130000, Marshal.dump([1, 'a'])],
      Upper => [0x54ff0000, 'A'] }.each do |serializer, (flags, bytes)|
      job = serializer == Upper ? 'a' : [1, 'a']
      opened(serializer) do |jobs|
        jobs << job
        assert place_of(marked(bytes, flags)), serializer.inspect
        assert_equal job, jobs.pop
      end
    end
  end

  def test_a_queue_of_json_refuses_what_json_does_not_have
    opened(:json) do |jobs|
      assert_raises(JSON::GeneratorError) { jobs << [Float::NAN] }
      [nil, false, 'text', 2**70].each do |job|
        jobs << job
        assert_equal [job], [jobs.pop(true)]
      end
    end
  end

  def test_jobs_of_other_languages_that_are_not_text
    { ['-5', 0x54020000] => -5, ['[1,2]', 0x54040000] => [1, 2], ["\xff", 0] => "\xff".b,
      ['x', 0x54100000] => 'x'.b }.each do |(bytes, flags), value|
      assert_equal [value], read_raw(marked(bytes, flags))
    end
    assert_nil read_raw([0x80000000].pack('V'))
    assert_nil read_raw([109].pack('V'))
  end

  # Whatever a job is, `pop` returns it; otherwise it would fail in every worker for ever.
  def test_jobs_from_elsewhere_in_a_queue_with_a_serializer
    object = Marshal.dump([:a])
    text = object.dup.force_encoding('UTF-8')
    [:json, :marshal, Upper, nil].each do |serializer|
      opened(serializer) do |jobs|
        { unmarked('hello') => 'hello', unmarked('[1]') => '[1]', unmarked(object) => text,
          marked('{"a":[null]}', 0x54040000) => { 'a' => [nil] }, marked('7', 0x54020000) => 7,
          marked('{"a":', 0x54040000) => '{"a":'.b,
          marked(object, 0x54130000) => serializer == :marshal ? [:a] : object,
          marked("\x04\x08[", 0x54130000) => "\x04\x08[".b,
          marked('A', 0x54ff0000) => serializer == Upper ? 'a' : 'A'.b,
          marked('bad', 0x54ff0000) => 'bad'.b, marked('x', 0x54110000) => 'x'.b }
          .each do |bytes, job|
          write_raw(bytes)
          popped = jobs.pop(true)
          assert_equal job, popped, serializer.inspect
          assert_equal job.encoding, popped.encoding if job.is_a?(String)
          assert jobs.empty?
        end
      end
    end
  end

  # A serializer of an application.
  module Upper
    def self.dump(job)
      job.upcase
    end

    def self.load(bytes)
      raise 'damaged' unless bytes == bytes.upcase

      bytes.downcase.force_encoding('UTF-8')
    end
  end

  def opened(serializer, &block)
    Tavola::Queue.open('jobs', serializer: serializer, &block)
  end

  def marked(bytes, flags)
    [(bytes.bytesize + 1) | 0x80000000, flags].pack('VV') + bytes.b
  end

  def unmarked(bytes)
    [bytes.bytesize + 1].pack('V') + bytes.b
  end

  # Where bytes are in the file of the queue.
  def place_of(bytes)
    File.binread(queue.path, 16 << 20).index(bytes.b)
  end

  # Reads an element that another program has written.
  def read_raw(bytes)
    element = write_element(bytes)
    queue.__send__(:read, element, nil)
  ensure
    queue.__send__(:finish, element)
  end

  # Adds an element to the queue that another program has written.
  def write_raw(bytes)
    queue.__send__(:give_back, write_element(bytes))
  end

  # Writes bytes to an element as another program would, by the file of the queue.
  def write_element(bytes)
    queue.push('marker of the element')
    element = queue.__send__(:pop_job, 0)
    at = place_of("\x16\0\0\0marker of the element")
    File.open(queue.path, 'r+b') { |file| file.pwrite(bytes, at) }
    element
  end
end

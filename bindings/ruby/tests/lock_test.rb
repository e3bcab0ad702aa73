# frozen_string_literal: true

require_relative 'test_case'

class LockTest < TavolaTest
  def test_a_lock_excludes_threads_and_processes
    table['n'] = 0
    pids = Array.new(3) do
      child do
        threads = Array.new(2) { Thread.new { 50.times { table.lock('n') { table['n'] += 1 } } } }
        threads.each(&:join)
      end
    end
    50.times { table.lock('n') { table['n'] += 1 } }
    pids.each { |pid| assert_child(pid) }
    assert_equal 350, table['n']
  end

  def test_the_value_and_the_exceptions_of_the_block
    assert_equal 7, (table.lock('a') { 7 })
    assert_raises(RuntimeError) { table.lock('a') { raise 'x' } }
    assert_equal 7, table.lock(:a) { break 7 }
    assert_equal 7, (table.lock('a') { table.lock('b') { 7 } })
    assert_equal 0, table.size, 'a lock stores no key'
  end

  def test_a_guard
    lock = table.lock('a')
    assert_instance_of Tavola::Lock, lock
    assert lock.held?
    refute lock.shared?
    refute lock.owner_died?
    assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0) }
    assert lock.unlock
    refute lock.held?
    refute lock.unlock
    assert(table.lock('a', timeout: 0) { |held| held.held? && held.unlock && !held.held? })
    assert table.lock('a', timeout: 0).unlock, 'a block that has released it'
    assert_raises(TypeError) { Tavola::Lock.new }
  end

  # One of many, because something on the stack may look like a reference to another one.
  def test_a_guard_that_is_garbage_releases_its_lock
    names = Array.new(20) { |i| "lock #{i}" }
    Fiber.new { names.each { |name| table.lock(name) } && nil }.resume
    eventually do
      GC.start
      names.any? { |name| !table.locked?(name) }
    end
  end

  def test_a_shared_lock
    one = table.lock('a', shared: true)
    two = Thread.new { table.lock('a', shared: true, timeout: 0) }.value
    assert one.shared? && two.shared?
    assert table.locked?('a')
    assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0) }
    assert_child(child { table.lock('a', shared: true, timeout: 0) { |held| held.shared? } })
    assert one.unlock
    assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0.02) }
    assert two.unlock
    refute table.locked?('a')
    table.lock('a') do
      refused = Thread.new do
        assert_raises(Tavola::TimeoutError) { table.lock('a', shared: true, timeout: 0) }
      end
      refused.join
    end
  end

  # 1 to 56 bytes of UTF-8.
  def test_names
    assert_equal 1, (table.lock('ü' * 28, timeout: 0) { 1 })
    [nil, '', 'x' * 57, :"#{'x' * 57}"].each do |name|
      error = assert_raises(Tavola::BadNameError) { table.lock(name) { flunk } }
      assert_match(/1 to 56 bytes/, error.message)
    end
    assert_raises(Tavola::BadNameError) { table.locked?('') }
    assert_raises(ArgumentError) { table.lock("a\0b") { flunk } }
    error = assert_raises(Tavola::Error) { table.lock("\xff") { flunk } }
    assert_equal :ARGUMENT, error.status
    assert_raises(Tavola::ReadOnlyError) do
      Tavola::Table.open_read_only('test') { |reader| reader.lock('new') { flunk } }
    end
  end

  def test_a_table_of_each_kind_has_locks
    Tavola.open('cache', capacity: 4 << 20) { |cache| assert cache.lock('a').unlock }
    Tavola.open('fixed', fixed_key: 8, fixed_value: 8) { |fixed| assert fixed.lock('a').unlock }
    Tavola.open(File.join(@tavola_dir, 'durable'), durable: :commit) do |durable|
      assert(durable.lock('a') { |held| held.held? && durable.locked?('a') })
    end
  end

  def test_the_same_thread_may_not_lock_twice
    error = assert_raises(ThreadError) { table.lock('a') { table.lock('a') { flunk } } }
    assert_equal 'deadlock; recursive locking', error.message
    assert_equal 1, (table.lock('a') { 1 })
  end

  def test_timeout
    table.lock('a') do
      other = Thread.new do
        assert table.locked?('a')
        assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0) { flunk } }
        assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0.05) { flunk } }
      end
      other.join
    end
    refute table.locked?('a')
    assert_equal 1, (table.lock('a', timeout: 0) { 1 })
  end

  def test_the_next_one_learns_that_the_holder_was_killed
    pid = child { table.lock('a') { (table['held'] = true) && sleep } }
    eventually { table['held'] }
    assert table.locked?('a')
    waiter = Thread.new { table.lock('a') { |held| [held.owner_died?, held.shared?] } }
    Process.kill(:KILL, pid)
    wait_for_child(pid)
    assert_equal [true, false], waiter.value
    refute(table.lock('a', timeout: 0) { |held| held.owner_died? })
  end

  # After a death, the next one has the lock exclusively. To ask about it takes nothing away.
  def test_a_shared_lock_after_a_death
    pid = child { table.lock('a') { (table['held'] = true) && sleep } }
    eventually { table['held'] }
    stop(pid)
    @children.delete(pid)
    eventually { !table.locked?('a') }
    lock = table.lock('a', shared: true, timeout: 30)
    assert_equal [true, false], [lock.owner_died?, lock.shared?]
    assert_raises(Tavola::TimeoutError) { table.lock('a', shared: true, timeout: 0) }
    lock.unlock
    lock = table.lock('a', shared: true)
    assert_equal [false, true], [lock.owner_died?, lock.shared?]
  end

  def test_a_killed_process_that_shared_is_no_loss
    pid = child { table.lock('a', shared: true) { (table['held'] = true) && sleep } }
    eventually { table['held'] }
    assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0) }
    waiter = Thread.new { table.lock('a') { |held| held.owner_died? } }
    Process.kill(:KILL, pid)
    wait_for_child(pid)
    assert_equal false, waiter.value
  end

  def test_a_forked_child_does_not_hold_the_lock_of_its_parent
    lock = table.lock('a')
    pid = child do
      table.lock('a', timeout: 0) { false }
    rescue Tavola::TimeoutError
      !lock.held? && !lock.unlock && table.locked?('a')
    end
    assert_child(pid)
    assert lock.held?
    assert_raises(Tavola::TimeoutError) { table.lock('a', timeout: 0) }
    assert lock.unlock
  end

  def test_a_thread_that_waits_for_a_lock_can_be_killed
    [false, true].each do |shared|
      lock = table.lock('a', shared: shared)
      waiters = [!shared, false].map { |shares| Thread.new { table.lock('a', shared: shares) } }
      eventually { waiters.all?(&:stop?) }
      waiters.each { |waiter| waiter.kill.join }
      assert lock.unlock
      refute table.locked?('a'), 'no wait has left anything'
      assert table.lock('a', timeout: 0).unlock
    end
  end

  def test_a_barrier_holds_all_callers_until_the_last_one
    came = table.path + '.came'
    pids = Array.new(2) do
      child do
        File.write(came, "came\n", mode: 'a')
        raise 'not all came' unless table.barrier('b', 3, timeout: 30)

        table.increment('through')
      end
    end
    sleep 0.01 until File.exist?(came) && File.readlines(came).size == 2
    # The callers wait in slices, and pass none of them alone.
    sleep 0.2
    assert_nil table['through']
    assert table.barrier('b', 3, timeout: 30)
    pids.each { |pid| assert_child(pid) }
    assert_equal 2, table['through']
  end

  # The value is `round;dead;expected;waiting`, or the round alone if nobody is expected.
  def waiting_at(key) = table[key].split(';', -1)[3].to_s.split.size

  def test_a_barrier_without_the_others_ends_with_its_timeout
    refute table.barrier('b', 2, timeout: 0)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    refute table.barrier('b', 2, timeout: 0.12)
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :>=, 0.11
    assert_equal 0, waiting_at('b'), 'a call that has returned no longer counts'
    other = Thread.new { table.barrier('b', 2) }
    assert table.barrier('b', 2, timeout: 30), 'a thread that waits lets others run'
    assert other.value
    waiting = Thread.new { table.barrier('b', 2) }
    sleep 0.01 until waiting_at('b') == 1
    waiting.kill.join
    assert_equal 0, waiting_at('b'), 'a thread that was killed no longer counts'
    assert_raises(ArgumentError) { table.barrier('b', 0) }
    assert_raises(ArgumentError) { table.barrier('b', 1 << 32) }
    table['text'] = 'a'
    assert_raises(Tavola::NotACounterError) { table.barrier('text', 2, timeout: 0) }
  end

  def test_watch
    watch = table.watch('a')
    refute watch.wait(0)
    pid = child { table['a'] = 'new' }
    assert watch.wait(30)
    assert_child(pid)
    watch.close
    watch.close
    assert_raises(Tavola::ClosedError) { watch.wait(0) }
  end

  def test_watch_with_a_block
    assert_nil(table.watch('other', timeout: 0.01) { flunk })
    seen = []
    go = Queue.new
    writer = Thread.new { 3.times { |i| go.pop && table['a'] = i + 1 } }
    watcher = Thread.new do
      table.watch('a', timeout: 30) do |value|
        seen << value
        break :done if value == 3

        go << 1
      end
    end
    # The first change may come before the watch is open, so it is repeated.
    eventually { (table['a'] = 0) && !seen.empty? }
    go << 1
    assert_equal :done, watcher.value
    writer.join
    assert_equal 3, seen.last
  end

  def test_a_thread_that_watches_can_be_killed
    watch = table.watch('a')
    thread = Thread.new { watch.wait }
    eventually { thread.stop? || thread.status == 'run' }
    Thread.pass
    thread.kill
    assert thread.join(10)
  end
end

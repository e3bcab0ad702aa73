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

  # The key that the other languages use for a lock.
  def test_a_lock_is_a_lease_of_a_key_that_all_languages_know
    table["\0lock\0taken"] = 'a value'
    error = assert_raises(Tavola::Error) { table.lock('taken') { flunk } }
    assert_equal 'the lock taken is not free: its key has a value', error.message
    refute table.locked?('taken')
    table.remove("\0lock\0taken")
    pid = child { table.compute("\0lock\0taken") { (table['begun'] = true) && sleep } }
    eventually { table['begun'] }
    assert table.locked?('taken')
    stop(pid)
    @children.delete(pid)
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

  def test_a_killed_holder_releases_its_lock
    pid = child { table.lock('a') { (table['held'] = true) && sleep } }
    eventually { table['held'] }
    assert table.locked?('a')
    waiter = Thread.new { table.lock('a') { :mine } }
    Process.kill(:KILL, pid)
    wait_for_child(pid)
    assert_equal :mine, waiter.value
  end

  def test_a_forked_child_does_not_hold_the_lock_of_its_parent
    table.lock('a') do
      pid = child do
        table.lock('a', timeout: 0) { false }
      rescue Tavola::TimeoutError
        true
      end
      assert_child(pid)
      assert table.locked?('a')
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

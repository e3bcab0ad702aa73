# frozen_string_literal: true

require_relative 'test_case'
require 'open3'
require 'rbconfig'

# Forks, exits and deaths.
class ProcessTest < TavolaTest
  # Runs a script in a new interpreter with the gem, and returns its output.
  def script(text, *args)
    paths = $LOAD_PATH.flat_map { |path| ['-I', path] }
    out, status = Open3.capture2e(RbConfig.ruby, *paths, '-rtavola', '-e', text, *args)
    assert status.success?, "#{status}: #{out}"
    out
  end

  def test_a_handle_works_in_forked_children
    table['a'] = 1
    pids = Array.new(4) do |i|
      child do
        table["child #{i}"] = Process.pid
        table.increment('n', 1)
        table['a'] == 1
      end
    end
    pids.each { |pid| assert_child(pid) }
    assert_equal 4, table['n']
    pids.each_with_index { |pid, i| assert_equal pid, table["child #{i}"] }
    table['b'] = 2
    assert_child(child { child_of_child })
  end

  def child_of_child
    pid = fork { exit!(table['b'] == 2 && (table['c'] = 3) ? 0 : 1) }
    Process.wait2(pid).last.success? && table['c'] == 3
  end

  def test_a_fork_while_another_thread_waits
    queue = Tavola::Queue.open('jobs')
    waiter = Thread.new { queue.pop(timeout: 30) }
    eventually { waiter.status }
    assert_child(child { (table['x'] = 1) && table['x'] == 1 })
    queue << 'go'
    assert_equal 'go', waiter.value
  end

  def test_killed_writers_never_block_the_others
    8.times do
      pid = child { loop { |i| table["k#{rand(50)}"] = 'x' * rand(10_000) } }
      before = table.stats[:sets]
      eventually { table.size.positive? && table.stats[:sets] >= before }
      20.times { |i| table["mine #{i}"] = i }
      stop(pid)
      @children.delete(pid)
      20.times { |i| assert_equal i, table["mine #{i}"] }
    end
    assert_equal 0, table.check[:problems]
  end

  def test_a_stopped_writer_is_waited_for_only_so_long
    table.lock_timeout = 0.2
    pid = child { loop { table['k'] = 'x' * 5000 } }
    eventually { table['k'] }
    10.times do
      Process.kill(:STOP, pid)
      begin
        100.times { |i| table["k#{i}"] = i }
      rescue Tavola::BusyError => error
        assert_match(/#{pid}/, error.message)
      end
      Process.kill(:CONT, pid)
    end
  end

  # Its block cannot run again, so the commit waits as long as a `set` does.
  def test_a_transaction_that_runs_once_waits_for_a_stopped_writer
    pid = child { loop { table['k'] = 'x' * 15_000 } }
    eventually { table['k'] }
    stop_with_a_lock(pid)
    runs = 0
    table.lock_timeout = 0.2
    assert_raises(Tavola::BusyError) { table.transaction(once: true) { |t| t['k'] = runs += 1 } }
    table.lock_timeout = nil
    continue = Thread.new { sleep(0.3) && Process.kill(:CONT, pid) }
    table.transaction(once: true) { |t| t['n'] = t['k'] = runs += 1 }
    continue.join
    assert_equal [2, 2], [runs, table['n']]
  end

  def stop_with_a_lock(pid)
    table.lock_timeout = 0.06
    eventually do
      Process.kill(:STOP, pid)
      begin
        table['k'] = 'mine'
        Process.kill(:CONT, pid)
        false
      rescue Tavola::BusyError
        true
      end
    end
  end

  def test_the_interpreter_ends_while_others_write
    writers = Array.new(2) { child { loop { table["k#{rand(100)}"] = 'x' * rand(3000) } } }
    6.times do
      out = script(<<~RUBY)
        table = Tavola.open('test')
        Thread.new { loop { table["t\#{rand(100)}"] = 'y' * rand(3000) } }
        Thread.new { loop { table.each { } } }
        Thread.new { table.watch('never').wait }
        Thread.new { Tavola::Queue.open('jobs').pop }
        Thread.new { table.compute('slow') { sleep } }
        50.times { table.increment('n') }
        puts 'end'
      RUBY
      assert_equal "end\n", out
    end
    writers.each { |pid| stop(pid) }
    @children.clear
    assert_equal 300, table['n']
    assert_equal 0, table.check[:problems]
  end

  def test_nothing_is_closed_twice_at_the_end
    out = script(<<~RUBY)
      table = Tavola.open('test')
      $kept = [table, table.each, table.watch('a'), table.fetch_tags('x'),
               Tavola::Queue.open('jobs'), Tavola::Log.open('log', stderr: false).reader,
               Tavola.open('other', capacity: 1 << 20)]
      table.close
      at_exit { Tavola.open('test') { |one| one['last'] = 'word' } }
      ObjectSpace.each_object(Tavola::Table).count
      puts 'end'
    RUBY
    assert_equal "end\n", out
    assert_equal 'word', table['last']
  end

  def test_ctrl_c_ends_a_wait
    pid = child do
      queue = Tavola::Queue.open('jobs')
      trap(:INT, 'DEFAULT')
      begin
        table['ready'] = 1
        queue.pop
        false
      rescue Interrupt
        true
      end
    end
    eventually { table['ready'] }
    Process.kill(:INT, pid)
    assert_child(pid)
  end

  def test_a_signal_handler_runs_during_a_wait
    pid = child do
      trap(:USR1) { exit!(0) }
      table['ready'] = 1
      table.watch('never').wait
    end
    eventually { table['ready'] }
    Process.kill(:USR1, pid)
    assert_child(pid)
  end

  def test_the_end_of_a_process_frees_its_slot
    before = table.processes.size
    assert_child(child { table['a'] = 1 })
    table.reclaim
    assert_operator table.processes.count { |one| one[:alive] }, :<=, [before, 1].max
  end
end

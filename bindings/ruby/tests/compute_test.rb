# frozen_string_literal: true

require_relative 'test_case'

class ComputeTest < TavolaTest
  def test_a_missing_value_is_computed_and_stored
    assert_equal 'new', (table.compute('a', ttl: 60) { 'new' })
    assert_equal 'new', (table.compute('a', ttl: 60) { flunk })
    assert_equal 60, table.ttl('a')
    assert_equal [1, nil], (table.compute('b') { [1, nil] })
    assert_equal [1, nil], (table.compute('b') { flunk })
    assert_nil table.ttl('b')
    assert_equal 'x' * 5000, (table.compute('c') { |key| assert_equal('c', key) && 'x' * 5000 })
    assert_equal 'x' * 5000, (table.compute('c') { flunk })
    assert_nil(table.compute('d') { nil })
    assert_nil(table.compute('d') { flunk })
    assert_raises(ArgumentError) { table.compute('e') }
  end

  def test_an_exception_reaches_the_caller_and_then_the_others
    error = assert_raises(RuntimeError) { table.compute('a', back_off: 60) { raise 'no database' } }
    assert_equal 'no database', error.message
    error = assert_raises(Tavola::NotComputedError) { table.compute('a') { flunk } }
    assert_equal 'RuntimeError: no database', error.message
    assert_equal :COMPUTE, error.status
    table['a'] = 1
    assert_equal 1, (table.compute('a') { flunk })
  end

  def test_a_block_that_leaves_gives_the_lease_up
    table.compute('a') { break }
    assert_equal 1, (table.compute('a') { 1 })
  end

  def test_a_stale_value_is_served_while_one_computes
    table.compute('a', ttl: 0.05, stale: 100) { 'old' }
    eventually { table.ttl('a') <= 100 }
    computed = 0
    value = nil
    eventually do
      value = table.compute('a', ttl: 100, stale: 100) do
        computed += 1
        assert_equal 'old', (table.compute('a', ttl: 100, stale: 100) { flunk })
        'new'
      end
      computed == 1
    end
    assert_equal 'new', value
    assert_equal 'new', (table.compute('a', ttl: 100, stale: 100) { flunk })
  end

  def test_threads_compute_once
    runs = Queue.new
    go = Queue.new
    threads = Array.new(8) do
      Thread.new do
        go.pop
        table.compute('a', ttl: 60) do
          runs << 1
          Thread.pass until go.num_waiting.zero?
          'value'
        end
      end
    end
    eventually { go.num_waiting == 8 }
    8.times { go << 1 }
    assert_equal ['value'], threads.map(&:value).uniq
    assert_equal 1, runs.size
  end

  def test_processes_compute_once
    pids = Array.new(6) do
      child do
        table.increment('ready')
        Thread.pass until table['ready'] == 6
        table.compute('a', ttl: 60) { table.increment('runs') && 'value' } == 'value'
      end
    end
    pids.each { |pid| assert_child(pid) }
    assert_equal 1, table['runs']
  end

  def test_a_killed_process_passes_the_lease_on
    pid = child { table.compute('a', ttl: 60) { (table['begun'] = true) && sleep } }
    eventually { table['begun'] }
    waiter = Thread.new { table.compute('a', ttl: 60) { 'second' } }
    Process.kill(:KILL, pid)
    wait_for_child(pid)
    assert_equal 'second', waiter.value
  end

  def test_a_waiter_can_be_killed
    pid = child { table.compute('a') { (table['begun'] = true) && sleep } }
    eventually { table['begun'] }
    waiter = Thread.new { table.compute('a') { flunk } }
    eventually { waiter.status == 'sleep' || waiter.status == 'run' }
    waiter.kill
    assert waiter.join(10), 'the thread did not end'
    assert_raises(Timeout::Error) { Timeout.timeout(0.2) { table.compute('a') { flunk } } }
    stop(pid)
  end

  def test_memoize
    runs = []
    square = table.memoize('square', ttl: 60) { |n, by: 2| (runs << n) && n**by }
    assert_equal 9, square.call(3)
    assert_equal 9, square.call(3)
    assert_equal 27, square.call(3, by: 3)
    assert_equal [3, 3], runs
    assert_equal ['square(3)', 'square(3, by: 3)'], table.keys.sort
    assert_raises(TypeError) { square.call(Object.new) }
    refute_equal square.call(1), table.memoize('square') { |n| n.to_s }.call('1')
  end

  def test_memoize_method
    owner = Class.new do
      attr_reader :runs

      def self.name
        'Owner'
      end

      def report(*args)
        @runs = (@runs || 0) + 1
        args.inspect
      end
    end
    assert_equal :report, table.memoize_method(owner, :report, ttl: 60)
    one = owner.new
    assert_equal '[1, {"b"=>2, "a"=>1}]', one.report(1, { 'b' => 2, 'a' => 1 })
    one.report(1, { 'a' => 1, 'b' => 2 })
    assert_equal 1, one.runs
    assert_equal ['Owner#report(1, {"a"=>1, "b"=>2})'], table.keys
  end

  def test_a_full_table_still_returns_the_value
    Tavola.open('small', max_size: 1 << 20) do |small|
      filled = 'x' * 60_000
      begin
        loop { |i| small["k#{rand}"] = filled }
      rescue Tavola::FullError
        assert_equal filled, (small.compute('a') { filled })
      end
    end
  end
end

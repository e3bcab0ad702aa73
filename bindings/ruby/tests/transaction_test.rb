# frozen_string_literal: true

require_relative 'test_case'

# Transactions: all changes of a block happen at once, or none.
class TransactionTest < TavolaTest
  # Another handle of the same table, as another process has.
  def other
    @other ||= Tavola.open('test')
  end

  def teardown
    @other&.close
    super
  end

  def test_all_changes_happen_at_the_end_of_the_block
    result = table.transaction do |t|
      t['a'] = 1
      t.set('b', [1, { 'c' => nil }], ttl: 60, tags: ['t'])
      assert_equal({}, other.to_h)
      :done
    end
    assert_equal :done, result
    assert_equal({ 'a' => 1, 'b' => [1, { 'c' => nil }] }, other.to_h)
    assert_equal 60, other.ttl('b')
    assert_equal ['t'], other.tags('b')
  end

  def test_a_transaction_sees_its_own_changes
    table.merge!({ 'a' => 'old', 'gone' => 'x' * 5000, 'list' => 'b,' })
    table.transaction do |t|
      assert_equal 'old', t['a']
      t['a'] = 'new'
      assert_equal 'new', t.get(:a)
      assert_equal 'x' * 5000, t['gone']
      assert_equal 'x' * 5000, t.take('gone')
      refute t.key?('gone')
      assert_nil t['gone']
      assert_equal [true, false], [t.add('new', 1.5), t.add('new', 2)]
      assert_equal [true, false], [t.replace('new', 2.5, ttl: 9), t.replace('none', 2)]
      assert_equal [true, false], [t.append('list', 'c,'), t.append('none', 'c,')]
      assert_equal [true, false], [t.remove('a'), t.remove('a')]
      assert_equal 2.5, t.delete('new')
      assert_equal 'NEW', (t.delete('new') { |key| key.upcase })
      t['y'] = 'y' * 5000
      assert_equal 'y' * 5000, t['y']
    end
    assert_equal({ 'list' => 'b,c,', 'y' => 'y' * 5000 }, table.to_h)
  end

  def test_counters_are_those_of_the_table
    table['n'] = 5
    table['text'] = 'no number'
    table.transaction do |t|
      assert_equal [6, 16, 13], [t.increment('n'), t.increment('n', 10), t.decrement('n', 3)]
      assert_equal 107, t.increment('from', 7, initial: 100, ttl: 60)
      assert_equal(-1, t.decrement('below'))
      assert_equal 1, t.increment('users', remove_zero: true)
      assert_equal 0, t.decrement('users', remove_zero: true)
      assert_raises(Tavola::NotACounterError) { t.increment('text') }
      assert_raises(RangeError) { t.increment('big', 1, initial: 2**63 - 1) }
      assert_raises(ArgumentError) { t.increment('big', initial: 1, remove_zero: true) }
    end
    assert_equal({ 'n' => 13, 'from' => 107, 'below' => -1, 'text' => 'no number' }, table.to_h)
    assert_equal 60, table.ttl('from')
  end

  def test_values_of_all_kinds
    values = ['text', 'x' * 3000, "\xff\0".b, 7, -2**70, 1.5, nil, true, [1, 'a'], { 'b' => 2 }]
    table.transaction { |t| values.each_with_index { |value, i| t[i] = value } }
    assert_equal values, table.values_at(*(0...values.size))
    assert_equal values, (table.transaction { |t| (0...values.size).map { |i| t[i] } })
    assert_raises(TypeError) { table.transaction { |t| t['a'] = Object.new } }
    Tavola.open('objects', serializer: :marshal) do |objects|
      objects.transaction { |t| t['r'] = { half: 1/2r } }
      assert_equal({ half: 1/2r }, objects.transaction { |t| t['r'] })
    end
    Tavola.open('fixed', fixed_key: 1, fixed_value: 2) do |fixed|
      fixed.transaction { |t| t['k'] = 'ab' }
      assert_equal 'ab', (fixed.read_together { |t| t['k'] })
      assert_raises(Tavola::LengthsError) { fixed.transaction { |t| t['k'] = 'abc' } }
    end
  end

  def test_a_conflict_runs_the_block_again
    table['a'] = 1
    seen = []
    result = table.transaction do |t|
      seen << t['a']
      other['a'] = 10 if seen.size == 1
      t['a'] = seen.last + 1
    end
    assert_equal [1, 10], seen
    assert_equal [11, 11], [result, table['a']]
  end

  # The ninth run has the turn, which keeps other transactions with the turn out, but not a `set`.
  def test_after_eight_conflicts_the_block_has_the_turn
    runs = 0
    table.transaction do |t|
      t['a']
      runs += 1
      if runs < 9
        other['a'] = runs
        table.transaction(once: true) { nil }
      else
        assert_raises(Tavola::ReentrantError) { table.transaction(once: true) { flunk } }
      end
      t['b'] = runs
    end
    assert_equal 9, table['b']
  end

  def test_once_raises_the_conflict
    table['a'] = 1
    runs = 0
    error = assert_raises(Tavola::ConflictError) do
      table.transaction(once: true) do |t|
        runs += 1
        t['b'] = t['a']
        other['a'] = 2
      end
    end
    assert_equal [:CONFLICT, 1], [error.status, runs]
    assert_includes error.message, 'begin it again'
    assert_equal({ 'a' => 2 }, table.to_h)
    assert_equal 2, (table.transaction(once: true) { |t| t['b'] = t['a'] })
  end

  # Threads of one process wait for the turn without the GVL, which its holder needs.
  def test_threads_wait_for_the_turn
    threads = Array.new(4) do
      Thread.new do
        50.times do
          table.transaction(once: true) do |t|
            n = t['n'] || 0
            Thread.pass
            t['n'] = n + 1
          end
        end
      end
    end
    threads.each(&:join)
    assert_equal 200, table['n']
  end

  # While one thread waits for a turn that another process has, the others run as if it did not.
  def test_a_wait_for_the_turn_leaves_the_other_threads_alone
    pid = child do
      table.transaction(once: true) { (other['begun'] = true) && sleep }
    end
    eventually { table['begun'] }
    waiter = Thread.new { table.transaction(once: true) { |t| t['waited'] = true } }
    start = monotonic
    naps = 0
    until monotonic - start > 1
      sleep 0.001
      naps += 1
    end
    assert_nil table['waited']
    stop(pid)
    @children.delete(pid)
    waiter.join
    # With the GVL held in slices of 50 ms, there are about 20.
    assert_operator naps, :>, 60
  end

  def test_a_wait_for_the_turn_can_be_ended
    has_turn = Thread::Queue.new
    may_end = Thread::Queue.new
    holder = Thread.new do
      table.transaction(once: true) { |t| has_turn << 1; may_end.pop; t['holder'] = 1 }
    end
    has_turn.pop
    assert_raises(Timeout::Error) do
      Timeout.timeout(0.2) { table.transaction(once: true) { flunk } }
    end
    table.lock_timeout = 0.1
    assert_raises(Tavola::BusyError) { table.transaction(once: true) { flunk } }
    may_end << 1
    holder.join
    assert_equal 2, (table.transaction(once: true) { 2 })
  end

  def test_an_exception_aborts_and_reaches_the_caller
    error = assert_raises(RuntimeError) { table.transaction { |t| t['a'] = 1; raise 'mine' } }
    assert_equal 'mine', error.message
    assert_raises(RuntimeError) { table.transaction(once: true) { |t| t['a'] = 1; raise } }
    assert_empty table
    assert_equal 5, (table.transaction(once: true) { 5 }), 'the turn was given back'
  end

  # Reads two keys, between which another process changes both in the first run.
  def disturbed(t)
    a = t['a']
    other.transaction { |o| o['a'] = o['b'] = a + 1 } if (@runs += 1) == 1
    a == t['b']
  end

  def disturbed_once
    table.merge!({ 'a' => 1, 'b' => 1 })
    @runs = 0
    result = yield
    assert_equal 2, @runs
    assert_equal({ 'a' => 2, 'b' => 2 }, table.to_h)
    result
  end

  # A block that has seen keys at two moments must not tell anybody about it.
  def test_a_run_that_has_seen_two_moments_does_not_count
    [RuntimeError, NotImplementedError, SystemStackError, Tavola::FullError].each do |kind|
      blame = ->(t) { (t['c'] = 1) && raise(kind, 'a is not b') unless disturbed(t) }
      disturbed_once { table.transaction { |t| blame.(t) } }
      disturbed_once { table.read_together { |t| disturbed(t) || raise(kind, 'a is not b') } }
    end
    assert_equal 5, (disturbed_once { table.transaction { |t| break disturbed(t) ? 5 : 4 } })
    assert_equal 5, (disturbed_once { returning_of_disturbed })
    assert_equal :ok, (disturbed_once do
      table.transaction { |t| disturbed(t) || (t['c'] = 1) && t.abort; :ok }
    end)
    assert_nil $!
  end

  def returning_of_disturbed
    table.transaction { |t| return disturbed(t) ? 5 : 4 }
  end

  def test_an_exception_of_a_run_that_counts_is_raised
    table.merge!({ 'a' => 1, 'b' => 1 })
    runs = 0
    error = assert_raises(RuntimeError) do
      table.transaction { |t| (runs += 1) && t['a'] == t['b'] && raise('same') }
    end
    assert_equal ['same', 1], [error.message, runs]
    reader = Tavola::Table.open_read_only('test')
    assert_raises(RuntimeError) { reader.read_together { |t| t['a'] == t['b'] && raise } }
    reader.close
  end

  # It cannot run again, so it says that there was a conflict, and what came of it.
  def test_once_has_a_conflict_as_well_after_an_exception
    [-> { raise 'a is not b' }, -> { nil }].each_with_index do |way, i|
      table.merge!({ 'a' => 1, 'b' => 1 })
      @runs = 0
      error = assert_raises(Tavola::ConflictError) do
        table.transaction(once: true) { |t| disturbed(t) || (way.call and true) || t.abort }
      end
      assert_equal [1, ['a is not b', nil][i]], [@runs, error.cause&.message]
    end
    assert_equal 5, (table.transaction(once: true) { 5 }), 'the turn was given back'
  end

  # An exception from elsewhere ends the block, whatever the block has seen.
  def test_signals_exits_and_timeouts_end_a_run_at_once
    table.merge!({ 'a' => 1, 'b' => 1 })
    [-> { exit }, -> { raise Interrupt }, -> { throw :out }, -> { raise Timeout::Error },
     -> { Thread.exit }].each do |way|
      @runs = 0
      thread = Thread.new do
        catch(:out) { table.transaction { |t| disturbed(t) || way.call } }
      rescue SystemExit, Interrupt, Timeout::Error
        nil
      end
      thread.join
      assert_equal 1, @runs
    end
    @runs = 0
    assert_raises(Timeout::Error) do
      Timeout.timeout(0.1) { table.transaction { |t| disturbed(t) || sleep } }
    end
    assert_equal 1, @runs
  end

  def test_a_block_that_is_left_changes_nothing
    assert_nil table.transaction { |t| t['a'] = 1; t.abort }
    assert_nil table.transaction(once: true) { |t| t['a'] = 1; t.abort }
    assert_equal 7, (table.transaction(once: true) { |t| t['a'] = 1; break 7 })
    thrown = catch(:out) { table.transaction(once: true) { |t| t['a'] = 1; throw :out, 8 } }
    assert_equal 8, thrown
    assert_equal 9, returning
    killed = Thread.new { table.transaction(once: true) { |t| t['a'] = 1; Thread.exit } }
    killed.join
    assert_empty table
    assert_equal 6, (table.transaction(once: true) { |t| next t['b'] = 6 })
    assert_equal({ 'b' => 6 }, table.to_h)
  end

  def returning
    table.transaction(once: true) do |t|
      t['a'] = 1
      return 9
    end
  end

  def test_savepoints
    table.transaction do |t|
      t['a'] = 1
      first = t.savepoint
      t['a'] = 2
      second = t.savepoint
      t['b'] = 3
      assert_nil t.roll_back_to(second)
      assert_equal [2, nil], [t['a'], t['b']]
      t.remove('a')
      t.roll_back_to(first)
      assert_equal 1, t['a']
      error = assert_raises(Tavola::BadOptionError) { t.roll_back_to(second) }
      assert_equal :BAD_OPTION, error.status
      t['c'] = 4
    end
    assert_equal({ 'a' => 1, 'c' => 4 }, table.to_h)
  end

  def test_read_together_sees_one_moment
    table.merge!({ 'a' => 1, 'b' => 1 })
    runs = 0
    both = table.read_together do |t|
      a = t['a']
      other.transaction { |o| o['a'] = o['b'] = 2 } if (runs += 1) == 1
      [a, t['b']]
    end
    assert_equal [[2, 2], 2], [both, runs]
    assert_raises(Tavola::ReadOnlyError) { table.read_together { |t| t['a'] = 1 } }
    assert_nil(table.read_together { |t| t.abort })
    reader = Tavola::Table.open_read_only('test')
    assert_equal 2, (reader.read_together { |t| t['a'] })
    assert_raises(Tavola::ReadOnlyError) { reader.read_together { |t| [t['a'], t['b']] } }
    assert_raises(Tavola::ReadOnlyError) { reader.transaction { |t| t['a'] = 1 } }
    reader.close
  end

  def test_a_writer_process_is_never_seen_half_done
    table.merge!({ 'a' => 0, 'b' => 0 })
    pid = child { 2000.times { |i| table.transaction { |t| t['a'] = t['b'] = i } } }
    500.times do
      a, b = table.read_together { |t| [t['a'], t['b']] }
      assert_equal a, b
    end
    assert_child(pid)
  end

  def test_a_cache_refuses
    Tavola.open('cache', capacity: 8 << 20) do |cache|
      error = assert_raises(Tavola::BadOptionError) { cache.transaction { flunk } }
      assert_includes error.message, 'a cache may evict a key'
      assert_raises(Tavola::BadOptionError) { cache.read_together { flunk } }
    end
  end

  def test_too_many_changes
    error = assert_raises(Tavola::TooManyChangesError) do
      table.transaction { |t| (0..65_536).each { |i| t[i] = 1 } }
    end
    assert_equal :TOO_MANY_CHANGES, error.status
    assert_empty table
    table.transaction { |t| 500.times { |i| t[i] = i } }
    assert_equal 500, table.size
  end

  def test_a_transaction_is_for_its_block_and_its_thread
    kept = nil
    table.transaction do |t|
      kept = t
      error = assert_raises(ThreadError) { Thread.new { silently { t['a'] } }.value }
      assert_equal 'a transaction belongs to the thread that began it', error.message
      refute t.ended?
      assert_equal 1, Fiber.new { t['a'] = 1 }.resume
    end
    assert kept.ended?
    [-> { kept['a'] }, -> { kept['a'] = 2 }, -> { kept.abort }, -> { kept.increment('a') },
     -> { kept.savepoint }, -> { kept.roll_back_to(0) }, -> { kept.take('a') }].each do |call|
      assert_equal 'the transaction has ended; begin another one',
                   assert_raises(Tavola::ClosedError, &call).message
    end
    assert_raises(ArgumentError) { table.transaction }
    assert_raises(ArgumentError) { table.read_together }
    assert_raises(TypeError) { Tavola::Transaction.new }
    assert_equal({ 'a' => 1 }, table.to_h)
  end

  def silently
    Thread.current.report_on_exception = false
    yield
  end

  def test_a_table_that_is_closed_in_the_block
    mine = Tavola.open('test')
    assert_raises(Tavola::ClosedError) { mine.transaction { |t| mine.close; t['a'] = 1 } }
    assert mine.closed?
    assert_raises(Tavola::ClosedError) { mine.transaction { flunk } }
    assert_empty table
  end

  # A fiber that is never resumed leaves its transaction to the garbage collector.
  def test_a_fiber_that_does_not_come_back
    100.times { Fiber.new { table.transaction { |t| t['a'] = 1; Fiber.yield } }.resume }
    GC.start
    assert_empty table
  end

  # The child leaves the block at its end, as the parent does, and must fail there.
  def test_a_forked_child_does_not_commit_its_parents_transaction
    [false, true].each do |once|
      parent = Process.pid
      pid = nil
      has_forked = false # A run after a conflict must not fork again.
      begin
        table.transaction(once: once) do |t|
          t['a'] = t.increment('n')
          next if has_forked

          has_forked = true
          pid = fork
        end
        exit!(1) if Process.pid != parent
      rescue Exception => error # The child must not run the tests that come next.
        raise if Process.pid == parent

        exit!(error.is_a?(Tavola::ClosedError) && a_child_goes_on ? 0 : 2)
      end
      @children << pid
      assert_child(pid)
    end
    assert_equal({ 'a' => 2, 'n' => 2, 'child' => 2 }, table.to_h)
  end

  def a_child_goes_on
    table.transaction(once: true) { |t| t.increment('child') }
  end

  def test_many_processes_keep_a_sum
    keys = (0...5).map { |i| "account #{i}" }
    table.merge!(keys.to_h { |key| [key, 100] })
    pids = Array.new(4) do |number|
      child do
        random = Random.new(number)
        200.times do |i|
          from, to = keys.sample(2, random: random)
          table.transaction(once: i.odd?) do |t|
            t.decrement(from, 3)
            t.increment(to, 3)
          end
        rescue Tavola::ConflictError
          retry
        end
      end
    end
    200.times { assert_equal 500, (table.read_together { |t| keys.sum { |key| t[key] } }) }
    pids.each { |pid| assert_child(pid) }
    assert_equal 500, table.values_at(*keys).sum
    assert_equal 0, table.check[:problems]
  end

  def test_a_killed_process_has_changed_nothing
    pid = child { table.transaction(once: true) { |t| t['a'] = 1; other['begun'] = true; sleep } }
    eventually { table['begun'] }
    stop(pid)
    @children.delete(pid)
    assert_equal 2, (table.transaction(once: true) { |t| t['b'] = 2 })
    assert_nil table['a']
  end
end

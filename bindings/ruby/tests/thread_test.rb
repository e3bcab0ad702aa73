# frozen_string_literal: true

require_relative 'test_case'

# Threads, Ractors, and what the garbage collector does.
class ThreadTest < TavolaTest
  def test_threads_share_a_table
    threads = Array.new(8) do |i|
      Thread.new do
        200.times do |j|
          table["#{i}:#{j}"] = j
          table.increment('n')
          assert_equal j, table["#{i}:#{j}"]
        end
        table.get_multi((0...200).map { |j| "#{i}:#{j}" }).size
      end
    end
    assert_equal [200] * 8, threads.map(&:value)
    assert_equal 1600, table['n']
  end

  def test_close_while_other_threads_scan
    500.times { |i| table["k#{i}"] = 'x' * 1000 }
    other = Tavola.open('test')
    go = Queue.new
    keys = (0...500).map { |i| "k#{i}" }
    threads = Array.new(4) do
      Thread.new do
        go << 1
        loop do
          other.each { |_key, value| value.size }
          other.get_multi(keys)
          other.check
        end
      rescue Tavola::ClosedError
        :closed
      end
    end
    4.times { go.pop }
    other.close
    assert_equal [:closed] * 4, threads.map(&:value)
  end

  def test_a_long_scan_lets_other_threads_run
    50_000.times { |i| table["k#{i}"] = i }
    count = 0
    counter = Thread.new { loop { (count += 1) && Thread.pass } }
    3.times { assert_equal 50_000, table.each_key.count }
    counter.kill
    assert_operator count, :>, 0
  end

  def test_compaction_moves_nothing_that_is_needed
    skip 'this Ruby cannot compact' unless GC.respond_to?(:compact)
    serializer = Module.new do
      def self.dump(value)
        Marshal.dump(value)
      end

      def self.load(bytes)
        Marshal.load(bytes)
      end
    end
    tables = Array.new(50) { Tavola.open('test', serializer: serializer) }
    garbage = Array.new(10_000) { |i| "garbage #{i}" }
    garbage.clear
    3.times do |i|
      GC.start
      GC.compact
      tables.each do |one|
        one['s'] = [:symbol, i]
        assert_equal [:symbol, i], one['s']
      end
      assert_raises(Tavola::NotACounterError) { table.increment('s') }
      table.set('a', 1, tags: table.fetch_tags('x'))
    end
    GC.verify_compaction_references(toward: :empty) if GC.respond_to?(:verify_compaction_references)
    assert_equal [:symbol, 2], tables.first['s']
  rescue NotImplementedError
    skip 'this system cannot compact'
  end

  def test_objects_that_are_dropped_are_freed
    200.times do
      one = Tavola.open('test')
      one.watch('a')
      one.each
      one['a'] = 1
    end
    GC.start
    assert_operator ObjectSpace.each_object(Tavola::Table).count, :<, 150
    assert_equal 1, table['a']
  end

  def test_memory_is_reported
    require 'objspace'
    assert_operator ObjectSpace.memsize_of(table), :>, 40
  end

  def test_a_ractor_opens_its_own_table
    old = Warning[:experimental]
    Warning[:experimental] = false
    table['a'] = 'from the main one'
    ractor = Ractor.new do
      Tavola::Table.open('test') do |own|
        own['b'] = 5
        own.increment('n', 2)
        own['a']
      end
    end
    assert_equal 'from the main one', ractor.take
    assert_equal 5, table['b']
    assert_equal 2, table['n']
    assert_raises(Ractor::IsolationError, ArgumentError) do
      one = table
      Ractor.new { one['a'] }
    end
  ensure
    Warning[:experimental] = old
  end

  def test_an_object_of_the_wrong_type_is_refused
    method = Tavola::Table.instance_method(:get)
    assert_raises(TypeError) { method.bind_call(Object.new, 'a') }
    assert_raises(TypeError) { Tavola::Queue.open('x', table: Object.new) }
  end
end

# frozen_string_literal: true

require_relative 'test_case'

# A garbage collection at every allocation finds objects that are not kept.
class GcTest < TavolaTest
  # Each allocation takes some milliseconds.
  def limit
    300
  end

  def test_everything_under_gc_stress
    table.set('a', 'text' * 10, tags: ['t'])
    queue = Tavola::Queue.open('jobs', serializer: :json)
    log = Tavola::Log.open('log', stderr: false)
    GC.stress = true
    everything(0, queue, log)
  ensure
    GC.stress = false
  end

  # An object of the serializer that only the table knows is neither lost nor moved unnoticed.
  def test_the_serializer_of_a_table_stays
    tables = Array.new(50) { |i| Tavola.open("own#{i}", serializer: Numbered.new(i)) }
    tables.each { |own| own['a'] = [1] }
    Array.new(10_000) { Object.new }
    GC.start
    GC.compact if GC.respond_to?(:compact)
    Array.new(10_000) { +'other' }
    tables.each_with_index { |own, i| assert_equal [[1], i], own['a'] }
    tables.each(&:close)
  end

  # Notes which of many objects has loaded a value.
  class Numbered
    def initialize(number)
      @number = number
    end

    def dump(value)
      Marshal.dump(value)
    end

    def load(bytes)
      [Marshal.load(bytes), @number]
    end
  end

  def everything(i, queue, log)
    table["k#{i}"] = { 'a' => [i, 1.5, nil, 'x' * 2000] }
    assert_equal [i, 1.5, nil, 'x' * 2000], table["k#{i}"]['a']
    assert_equal ['t'], table.tags('a')
    assert_equal i + 1, table.increment('n')
    assert_equal 'x' * 3000, (table.compute("c#{i}", tags: ['t']) { 'x' * 3000 })
    assert_equal 'x' * 3000, (table.compute("c#{i}") { flunk })
    assert_equal 3, table.get_multi('a', "k#{i}", 'n').size
    table.set_multi((0...65).to_h { |j| ["m#{j}", "v#{j}"] })
    assert_equal 65, table.get_multi((0...65).map { |j| "m#{j}" }).size
    assert_operator table.to_h.size, :>, 65
    assert_equal (i.zero? ? "none" : "k#{i - 1}"), table.swap("s", "k#{i}") || "none"
    assert_equal 65, table.delete_multi((0...65).map { |j| "m#{j}" })
    assert_equal 5, (table.lock('l') { 5 })
    got = table.transaction do |t|
      t.set("t#{i}", { 'a' => 'x' * 2000 }, tags: ['t'])
      t.increment('sum', i + 1)
      [t["t#{i}"]['a'].size, t.delete('s'), t.add('s', "k#{i}")]
    end
    assert_equal [2000, "k#{i}", true], got
    assert_equal i + 1, (table.read_together { |t| t['sum'] })
    queue << { 'i' => i }
    assert_equal i, (queue.pop { |job| job['i'] })
    log.info("line #{i}")
    assert_equal i + 1, log.reader.lines.size
    assert_equal 0, table.check[:problems]
    assert_kind_of Hash, table.stats
    assert_raises(Tavola::NotACounterError) { table.increment('a') }
  end
end

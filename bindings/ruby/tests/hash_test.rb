# frozen_string_literal: true

require_relative 'test_case'

class HashTest < TavolaTest
  def test_fetch
    table['a'] = nil
    assert_nil table.fetch('a')
    assert_nil table.fetch('a', 1)
    assert_equal 1, table.fetch('b', 1)
    assert_equal 'b!', (table.fetch('b') { |key| "#{key}!" })
    error = assert_raises(KeyError) { table.fetch('b') }
    assert_equal 'key not found: "b"', error.message
    assert_equal 'b', error.key
    assert_same table, error.receiver
    assert_raises(ArgumentError) { table.fetch('b', 1, 2) }
    refute table.key?('b')
  end

  def test_dig
    table['a'] = { 'b' => [1, { 'c' => 2 }] }
    assert_equal 2, table.dig('a', 'b', 1, 'c')
    assert_nil table.dig('x', 'b')
    assert_equal({ 'b' => [1, { 'c' => 2 }] }, table.dig('a'))
  end

  def test_the_names_of_hash
    table.store('a', 1)
    assert table.has_key?('a')
    assert table.include?('a')
    assert table.member?('a')
    assert_equal 1, table.length
    refute table.empty?
    assert table.value?(1)
    assert table.has_value?(1)
    refute table.value?(2)
    assert_equal 'a', table.key(1)
    assert_nil table.key(2)
    assert_equal [1, nil], table.values_at('a', 'b')
    assert_equal [1], table.fetch_values('a')
    assert_raises(KeyError) { table.fetch_values('a', 'b') }
    assert_equal [1, 'b'], (table.fetch_values('a', 'b') { |key| key })
    assert_equal({ 'a' => 1 }, table.slice('a', 'b'))
    assert_same table, table.clear
    assert table.empty?
  end

  def test_merge
    assert_same table, table.merge!({ 'a' => 1 }, { 'b' => 2 })
    assert_equal({ 'a' => 1, 'b' => 2 }, table.to_h)
    table.update({ 'a' => 10, 'c' => 3 }) { |key, old, new| "#{key}#{old}#{new}" }
    assert_equal({ 'a' => 'a110', 'b' => 2, 'c' => 3 }, table.to_h)
  end

  def test_iteration
    1000.times { |i| table["k#{i}"] = i }
    pairs = {}
    assert_same(table, table.each { |key, value| pairs[key] = value })
    assert_equal 1000, pairs.size
    assert_equal (0...1000).to_a, pairs.values.sort
    assert_equal 1000, table.each.size
    assert_equal pairs.keys.sort, table.each_key.to_a.sort
    assert_equal 1000, table.each_pair.count
    assert_equal 499_500, table.sum { |_key, value| value }
    assert_equal 1000, table.each_value.to_a.size
    assert_equal 1000, table.values.uniq.size
    assert_equal ['k7', 7], table.find { |_key, value| value == 7 }
    assert_equal({ 'k7' => 7 }, table.select { |_key, value| value == 7 })
    assert_equal 999, table.reject { |_key, value| value == 7 }.size
    assert_equal [['k0', 0]], table.sort_by { |_key, value| value }.first(1)
    assert_equal({ 0 => 'k0' }, table.to_h { |key, value| [value, key] }.slice(0))
  end

  def test_the_block_may_change_the_table_and_leave
    500.times { |i| table["k#{i}"] = i }
    table.each { |key, _| table.remove(key) }
    assert_equal 0, table.size
    500.times { |i| table["k#{i}"] = i }
    assert_equal(:left, table.each { break :left })
    assert_raises(RuntimeError) { table.each { raise 'stop' } }
    assert_raises(Tavola::ClosedError) do
      other = Tavola.open('test')
      other.each { other.close }
      other.size
    end
  end

  def test_delete_if_and_keep_if
    10.times { |i| table["k#{i}"] = i }
    assert_same(table, table.delete_if { |_key, value| value > 4 })
    assert_equal %w[k0 k1 k2 k3 k4], table.keys.sort
    assert_same(table, table.keep_if { |_key, value| value > 2 })
    assert_equal %w[k3 k4], table.keys.sort
    assert_equal 2, table.delete_if.size
  end

  def test_prefixes
    300.times { |i| table.merge!({ "a:#{i}" => i, "b:#{i}" => i }) }
    assert_equal 300, table.each_prefix('a:').count
    assert table.each_key_prefix('b:').all? { |key| key.start_with?('b:') }
    assert_equal 300, table.delete_prefix('a:')
    assert_equal 300, table.size
  end

  def test_many
    values = (0...500).to_h { |i| ["k#{i}", i.even? ? i : "v#{i}"] }
    assert table.set_multi(values, ttl: 60)
    assert_equal 60, table.ttl('k0')
    assert_equal values, table.get_multi(values.keys)
    assert_equal values, table.get_multi(*values.keys, 'missing')
    assert_equal({ k1: 'v1' }, table.get_multi(:k1, :missing))
    assert_equal({}, table.get_multi)
    assert_equal 10, table.delete_multi((0...10).map { |i| "k#{i}" } + ['missing'])
    assert_equal 490, table.delete_multi(values.keys)
    assert_equal 0, table.delete_multi
    assert table.set_multi({})
  end
end

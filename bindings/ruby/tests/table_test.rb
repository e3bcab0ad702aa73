# frozen_string_literal: true

require_relative 'test_case'

class TableTest < TavolaTest
  def test_a_missing_key_is_nil
    assert_nil table['a']
    assert_nil table.get('a')
    refute table.key?('a')
    assert_nil table.gets('a')
    assert_nil table.ttl('a')
    assert_nil table.get_bytes('a')
  end

  def test_keys_are_bytes
    table["\0\xff".b] = 'binary'
    table['grüße'] = 'text'
    table[:symbol] = 1
    table[7] = 2
    assert_equal 'binary', table["\0\xff".b]
    assert_equal 1, table['symbol']
    assert_equal 2, table['7']
    keys = table.keys
    assert_equal ["\0\xff".b, '7', 'grüße'.b, 'symbol'], keys.map(&:b).sort
    assert_equal Encoding::UTF_8, keys.find { |key| key.b == 'grüße'.b }.encoding
    assert_equal Encoding::BINARY, keys.find { |key| key.b == "\0\xff".b }.encoding
    assert_raises(TypeError) { table[Object.new] }
    assert_raises(TypeError) { table[nil] }
    assert_raises(TypeError) { table[1.5] }
  end

  def test_an_empty_key_and_an_empty_value
    table[''] = ''
    assert_equal '', table['']
    assert table.key?('')
  end

  def test_long_values_of_changing_length
    lengths = [0, 1, 23, 24, 1023, 1024, 1025, 8192, 3, 100_000, 20, 3_000_000, 5, 20_000]
    lengths.each { |n| table["k#{n}"] = 'x' * n }
    3.times { lengths.each { |n| assert_equal 'x' * n, table["k#{n}"] } }
  end

  def test_add_and_replace
    refute table.replace('a', 1)
    assert table.add('a', 1)
    refute table.add('a', 2)
    assert table.replace('a', 3)
    assert_equal 3, table['a']
  end

  def test_append_and_prepend
    refute table.append('a', 'x')
    table.set('a', 'b', ttl: 100)
    assert table.append('a', 'c')
    assert table.prepend('a', 'a')
    assert_equal 'abc', table['a']
    assert_equal 100, table.ttl('a')
  end

  def test_take_delete_remove
    table['a'] = 1
    assert_equal 1, table.take('a')
    assert_nil table.take('a')
    table['a'] = nil
    assert_nil table.delete('a')
    refute table.key?('a')
    assert_equal 'a!', (table.delete('a') { |key| "#{key}!" })
    table['a'] = 1
    assert_equal true, table.remove('a')
    assert_equal false, table.remove('a')
  end

  def test_swap
    assert_nil table.swap('a', 'one')
    assert_equal 'one', table.swap('a', { 'two' => 2 }, ttl: 5)
    assert_equal({ 'two' => 2 }, table['a'])
    assert_equal 5, table.ttl('a')
  end

  def test_compare_and_swap
    table['a'] = 'one'
    value, token = table.gets('a')
    assert_equal 'one', value
    assert table.cas('a', 'two', token)
    refute table.cas('a', 'three', token)
    refute table.cas('missing', 'x', token)
    refute table.compare_and_remove('a', token)
    assert table.compare_and_remove('a', table.gets('a').last)
  end

  def test_times
    table.set('a', 1, ttl: 0.5)
    assert_equal 1, table.ttl('a')
    table.set('a', 1, ttl: :never)
    assert_nil table.ttl('a')
    assert table.touch('a', 90)
    assert_equal 90, table.ttl('a')
    assert table.touch('a', nil)
    assert_nil table.ttl('a')
    refute table.touch('b', 90)
    assert table.touch('a', 90)
    assert table.persist('a')
    assert_nil table.ttl('a')
    assert_equal 1, table.get_and_touch('a', 7)
    assert_equal 7, table.ttl('a')
    assert_nil table.get_and_touch('b', 7)
    assert_raises(ArgumentError) { table.set('a', 1, ttl: -1) }
    assert_raises(ArgumentError) { table.set('a', 1, ttl: 0) }
    assert_raises(TypeError) { table.set('a', 1, ttl: '5') }
    assert_raises(ArgumentError) { table.set('a', 1, tll: 5) }
  end

  def test_the_time_of_the_table
    Tavola.open('other', ttl: 60) do |other|
      other['a'] = 1
      assert_equal 60, other.ttl('a')
      other.set('a', 1, ttl: :never)
      assert_nil other.ttl('a')
      other.touch('a')
      assert_equal 60, other.ttl('a')
      other.compute('b') { 1 }
      assert_equal 60, other.ttl('b')
    end
  end

  def test_a_key_expires
    table.set('a', 1, ttl: 0.001)
    eventually { table['a'].nil? }
    assert_equal 0, table.live_keys[:live]
  end

  def test_numbers_are_signed
    assert_equal 5, table.increment('n', 5)
    assert_equal(-2, table.decrement('n', 7))
    assert_equal(-2, table['n'])
    assert_equal 15, table.increment('m', 5, initial: 10)
    assert_equal 20, table.increment('m', 5, initial: 10)
    assert_equal 19, table.decrement('m', 1, initial: 10)
    assert_equal 1, table.increment('t', 1, ttl: 60)
    assert_equal 60, table.ttl('t')
    assert_equal 0, table.decrement('t', 1, remove_zero: true)
    refute table.key?('t')
    assert_raises(RangeError) { table.increment('n', 2**63) }
    assert_raises(RangeError) { table.decrement('n', -2**63) }
  end

  def test_a_value_that_is_no_number
    table['a'] = 'abc'
    error = assert_raises(Tavola::NotACounterError) { table.increment('a') }
    assert_equal :NOT_A_COUNTER, error.status
    assert_raises(Tavola::NotACounterError) { table.increment('a', 1, initial: 3) }
    table['big'] = 2**63 - 1
    assert_raises(Tavola::BadOptionError) { table.increment('big') }
    assert_equal 2**63 - 1, table['big']
  end

  def test_modify_keeps_all_changes_of_threads
    table['list'] = []
    threads = Array.new(4) do |i|
      Thread.new { 25.times { |j| table.modify('list') { |list| list + [i * 25 + j] } } }
    end
    threads.each(&:join)
    assert_equal (0...100).to_a, table['list'].sort
  end

  def test_parts_of_a_value
    table['song'] = 'do re mi'
    assert_equal 're', table.get_range('song', 3, 2)
    assert_equal 'mi', table.get_range('song', 6, 100)
    assert_equal '', table.get_range('song', 100, 2)
    assert_nil table.get_range('missing', 0, 2)
    assert_equal 8, table.value_bytesize('song')
  end

  def test_fixed_lengths_store_bytes
    Tavola::Table.create('fixed', fixed_key: 2, fixed_value: 3) do |fixed|
      fixed['ab'] = 'xyz'
      fixed.set_multi({ 'cd' => 'uvw' })
      assert_equal 'xyz', fixed['ab']
      assert_equal Encoding::BINARY, fixed['ab'].encoding
      assert_equal({ 'ab' => 'xyz', 'cd' => 'uvw' }, fixed.to_h)
      assert_equal 'uvw', fixed.take('cd')
      assert_raises(Tavola::LengthsError) { fixed['abc'] = 'xyz' }
      assert_raises(Tavola::BadOptionError) { fixed.set('ab', 'xyz', ttl: 5) }
    end
  end

  def test_close
    other = Tavola.open('test')
    refute other.closed?
    other.close
    other.close
    assert other.closed?
    error = assert_raises(Tavola::ClosedError) { other['a'] }
    assert_equal 'the table is closed; open it again', error.message
    assert_match(/closed/, other.inspect)
    assert_equal :value, Tavola.open('test') { :value }
  end

  def test_stats_and_maintenance
    table['a'] = 'b'
    assert_equal 1, table.stats[:keys]
    assert_equal({ problems: 0, keys: 1 }, table.check.slice(:problems, :keys))
    assert_equal 0, table.repair[:problems]
    assert_kind_of Integer, table.compact
    assert_equal 1, table.copy_to('copy')
    assert_equal 'b', Tavola.open('copy') { |copy| copy['a'] }
    assert_equal [Process.pid], table.processes.map { |one| one[:pid] }
    assert_equal 0, table.reclaim
    assert_same table, table.remove_expired
    assert_includes [true, false], table.maintain(1 << 20)
  end

  def test_a_cache_evicts
    Tavola.open('cache', capacity: 1 << 20) do |cache|
      assert_equal 1 << 20, cache.capacity
      2000.times { |i| cache["key#{i}"] = 'x' * 1000 }
      assert_operator cache.size, :<, 1500
      assert_operator cache.stats[:evicted_new] + cache.stats[:evicted_old], :>, 0
      cache.capacity = 2 << 20
      assert_equal 2 << 20, cache.capacity
    end
  end

  def test_refresh_finds_a_new_file
    refute table.refresh
    table['a'] = 1
    Tavola.remove('test')
    Tavola.open('test') { |other| other['a'] = 2 }
    assert_equal 1, table['a']
    assert table.refresh
    assert_equal 2, table['a']
  end
end

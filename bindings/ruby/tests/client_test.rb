# frozen_string_literal: true

require_relative 'test_case'
require 'tavola/client'

# The contract of Dalli's client, call by call.
class ClientTest < TavolaTest
  def setup
    super
    @client = Tavola::Client.new('shop')
  end

  attr_reader :client

  def test_get_and_set
    assert_nil client.get('a')
    assert_operator client.set('a', { b: [1, :c] }), :>, 0
    assert_equal({ b: [1, :c] }, client.get('a'))
    client.set('b', nil)
    assert_nil client.get('b')
    client.set('c', false)
    assert_equal false, client.get('c')
    assert_raises(ArgumentError) { client.get('') }
    assert_raises(ArgumentError) { client.set('', 1) }
    client.set('ƒ©åÍÎ', 'unicode')
    assert_equal({ 'ƒ©åÍÎ' => 'unicode' }, client.get_multi('ƒ©åÍÎ'))
    client.set('k' * 500, 1)
    assert_equal 1, client.get('k' * 500)
  end

  def test_add_replace_delete
    assert_equal false, client.replace('a', 1)
    assert_kind_of Integer, client.add('a', 1)
    assert_equal false, client.add('a', 2)
    assert_kind_of Integer, client.replace('a', 3)
    assert_equal 3, client.get('a')
    assert_equal true, client.delete('a')
    assert_equal false, client.delete('a')
  end

  def test_append_and_prepend_of_raw_values
    assert_equal false, client.append('a', 'x')
    client.set('a', 456, 0, raw: true)
    assert_equal true, client.prepend('a', '0')
    assert_equal true, client.append('a', '9')
    assert_equal '04569', client.get('a', raw: true)
  end

  def test_counters
    assert_nil client.incr('n')
    assert_nil client.decr('n')
    assert_equal 10, client.incr('n', 5, 60, 10)
    assert_equal 15, client.incr('n', 5)
    assert_equal 60, client.table.ttl('n')
    assert_equal 0, client.decr('n', 20)
    client.set('raw', 5, 0, raw: true)
    assert_equal 6, client.incr('raw')
    client.set('big', (2**64 - 1).to_s, 0, raw: true)
    assert_equal 0, client.incr('big')
    assert_raises(ArgumentError) { client.incr('n', -1) }
    client.set('text', 'abc')
    assert_raises(Tavola::NotACounterError) { client.incr('text') }
  end

  def test_times
    assert_nil client.touch('a', 60)
    client.set('a', 1, 60)
    assert_equal 60, client.table.ttl('a')
    assert_equal true, client.touch('a', 90)
    assert_equal 90, client.table.ttl('a')
    assert_equal 1, client.gat('a', 30)
    assert_equal 30, client.table.ttl('a')
    assert_equal 1, client.gat('a', 0)
    assert_nil client.table.ttl('a')
    assert_nil client.gat('missing', 30)
    client.set('a', 1, Time.now.to_i + 100)
    assert_includes 99..101, client.table.ttl('a')
    client.set('a', 1, -1)
    eventually { client.get('a').nil? }
  end

  def test_options_of_the_client
    own = Tavola::Client.new(client.table, namespace: 'ns', expires_in: 60)
    own.set('a', 1)
    assert_equal 1, client.get('ns:a')
    assert_equal 60, client.table.ttl('ns:a')
    own.set('b', 1, 0)
    assert_nil client.table.ttl('ns:b')
    assert_equal({ 'a' => 1, 'b' => 1 }, own.get_multi('a', 'b', 'c'))
    client.set('a', 2)
    assert_equal [true], own.flush
    assert_nil own.get('a')
    assert_equal 2, client.get('a')
    assert_equal [true], client.flush_all
    assert_nil client.get('a')
  end

  def test_fetch
    assert_nil client.fetch('a')
    assert_equal 1, (client.fetch('a') { 1 })
    assert_equal 1, (client.fetch('a') { flunk })
    assert_nil(client.fetch('b') { nil })
    assert_equal 2, (client.fetch('b') { 2 })
    assert_nil(client.fetch('c', nil, cache_nils: true) { nil })
    assert_nil(client.fetch('c', nil, cache_nils: true) { flunk })
    own = Tavola::Client.new(client.table, cache_nils: true)
    assert_nil(own.fetch('d') { nil })
    assert_nil(own.fetch('d') { flunk })
    client.set('e', false)
    assert_equal false, (client.fetch('e') { flunk })
  end

  def test_compare_and_swap
    assert_nil(client.cas('a') { flunk })
    client.set('a', 1)
    assert_kind_of Integer, (client.cas('a') { |value| value + 1 })
    assert_equal 2, client.get('a')
    assert_equal false, (client.cas('a') { client.set('a', 9) && 3 })
    # A token changes with each set, even if the value stays.
    assert_equal false, (client.cas('a') { client.set('a', 9) && 3 })
    assert_kind_of Integer, (client.cas!('b') { |value| value.inspect })
    assert_equal 'nil', client.get('b')
    assert_equal [nil, 0], client.get_cas('c')
    value, token = client.get_cas('a')
    assert_equal 9, value
    assert_equal 9, (client.get_cas('a') { |one, _| one })
    newer = client.set_cas('a', 10, token)
    assert_kind_of Integer, newer
    assert_equal false, client.set_cas('a', 11, token)
    assert_kind_of Integer, client.replace_cas('a', 12, newer)
    assert_nil client.replace_cas('missing', 1, newer)
    assert_equal false, client.replace_cas('missing', 1, 0)
    assert_equal false, client.delete_cas('a', newer)
    assert_equal true, client.delete_cas('a', client.get_cas('a').last)
    assert_equal ['b'], client.get_multi_cas('a', 'b').keys
    seen = []
    client.get_multi_cas('b') { |key, (one, _)| seen << [key, one] }
    assert_equal [%w[b nil]], seen
  end

  def test_many
    client.multi { 100.times { |i| client.set("k#{i}", i) } }
    keys = (0...100).map { |i| "k#{i}" }
    assert_equal (0...100).to_a, client.get_multi(keys).values
    seen = {}
    assert_nil(client.get_multi('k1', 'missing') { |key, value| seen[key] = value })
    assert_equal({ 'k1' => 1 }, seen)
    assert_equal 1, (client.with { |one| one.get('k1') })
  end

  def test_state
    client.set('a', 1)
    stats = client.stats
    assert_equal [client.table.path], stats.keys
    assert_equal '1', stats.values.first['curr_items']
    assert_equal [Tavola::LIBRARY_VERSION], client.version.values
    assert client.alive!
    client.close
    assert_raises(Tavola::ClosedError) { client.alive! }
    assert_raises(Tavola::ClosedError) { client.get('a') }
  end

  # Every public name of the client that people know.
  def test_the_names_of_dalli
    require 'dalli'
    names = Dalli::Client.public_instance_methods(false) + Dalli::Client.ancestors
                         .select { |one| one.name.to_s.start_with?('Dalli::') }
                         .flat_map { |one| one.public_instance_methods(false) }
    missing = names.uniq - client.public_methods
    # What is about servers, or private to Dalli.
    assert_equal [], missing - %i[reset_stats cache_nils not_found? dump compress]
  rescue LoadError
    skip 'Dalli is not installed'
  end
end

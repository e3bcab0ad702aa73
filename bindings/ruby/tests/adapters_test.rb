# frozen_string_literal: true

require_relative 'test_case'

# The adapters for Rails, Rack and Moneta. The suites of their owners are in peers_test.rb.
class AdaptersTest < TavolaTest
  def need(library)
    verbose = $VERBOSE
    $VERBOSE = nil
    require library
  rescue LoadError => error
    skip "not installed: #{error.message}"
  ensure
    $VERBOSE = verbose
  end

  def test_rails_cache_store_between_processes
    need 'active_support/cache/tavola_store'
    cache = ActiveSupport::Cache.lookup_store(:tavola_store, 'rails', capacity: 8 << 20,
                                                                      expires_in: 60)
    assert_instance_of ActiveSupport::Cache::TavolaStore, cache
    assert_child(child { cache.write('a', { b: 1 }) })
    assert_equal({ b: 1 }, cache.read('a'))
    assert_equal 60, cache.table.ttl('a')
    assert_child(child { cache.increment('n', 3) == 3 })
    assert_equal '3', cache.read('n', raw: true)
    assert_equal 3, cache.table['n']
    assert_equal 8 << 20, cache.table.capacity
    assert_equal 2, cache.stats[:keys]
    assert_match(/rails/, cache.inspect)
  end

  def test_rails_cache_store_details
    need 'active_support/cache/tavola_store'
    cache = ActiveSupport::Cache::TavolaStore.new(table)
    assert_equal true, cache.write('a', 1, unless_exist: true)
    assert_equal false, cache.write('a', 2, unless_exist: true)
    assert_equal({ 'a' => 1 }, cache.read_multi('a', 'b'))
    assert_equal 5, cache.increment('a', 4), 'an entry becomes a number'
    assert_equal 3, cache.decrement('a', 2)
    cache.write('text', "\xff".b, raw: true)
    assert_equal "\xff".b, cache.read('text')
    cache.write('race', 1, expires_in: 10, race_condition_ttl: 5)
    assert_equal 310, table.ttl('race')
    cache.write('gone', 1, expires_in: 0)
    eventually { !table.key?('gone') }
    assert_equal 2, cache.delete_multi(%w[a text missing])
    cache.write_multi({ 'p/1' => 1, 'p/22' => 2, 'q' => 3 })
    cache.delete_matched('p/?')
    assert_equal %w[p/22 q], cache.read_multi('p/1', 'p/22', 'q').keys
    cache.delete_matched('p*')
    assert_equal %w[q], cache.read_multi('p/22', 'q').keys
    assert_equal 'v', (cache.fetch('f', expires_in: 60) { 'v' })
    assert_equal 'v', (cache.fetch('f') { flunk })
    cache.cleanup
    cache.clear
    assert_equal 0, table.size
  end

  def test_rails_cache_store_survives_errors_of_the_table
    need 'active_support/cache/tavola_store'
    cache = ActiveSupport::Cache::TavolaStore.new('small', max_size: 1 << 20)
    log = StringIO.new
    cache.logger = ::Logger.new(log)
    assert_equal false, cache.write('a', SecureRandom.random_bytes(3_000_000))
    assert_match(/Tavola::FullError/, log.string)
    cache.table.close
    assert_nil cache.read('a')
    assert_nil cache.increment('a')
    assert_equal({}, cache.read_multi('a'))
    assert_equal 'v', (cache.fetch('a') { 'v' })
  ensure
    cache.logger = nil
  end

  def test_rack_sessions
    need 'rack'
    need 'rack/session/tavola'
    app = lambda do |env|
      session = env['rack.session']
      case env['PATH_INFO']
      when '/count' then session['n'] = session['n'].to_i + 1
      when '/drop' then session.options[:drop] = true
      when '/renew' then session.options[:renew] = true
      end
      [200, {}, [session['n'].to_s]]
    end
    stack = Rack::Session::Tavola.new(app, table: 'sessions', expire_after: 600)
    request = Rack::MockRequest.new(stack)
    first = request.get('/count')
    cookie = first['Set-Cookie'][/\A[^;]+/]
    assert_match(/\Arack\.session=\h+\z/, cookie)
    assert_equal '1', first.body
    assert_child(child { request.get('/count', 'HTTP_COOKIE' => cookie).body == '2' })
    assert_equal '3', request.get('/count', 'HTTP_COOKIE' => cookie).body
    key = stack.table.keys.first
    refute_includes key, cookie.split('=').last, 'the key does not reveal the id of the cookie'
    assert_equal 600, stack.table.ttl(key)
    renewed = request.get('/renew', 'HTTP_COOKIE' => cookie)
    fresh = renewed['Set-Cookie'][/\A[^;]+/]
    refute_equal cookie, fresh
    assert_equal '3', request.get('/', 'HTTP_COOKIE' => fresh).body
    assert_equal '1', request.get('/count', 'HTTP_COOKIE' => cookie).body, 'the old id is unknown'
    request.get('/drop', 'HTTP_COOKIE' => fresh)
    assert_equal '', request.get('/', 'HTTP_COOKIE' => fresh).body
    assert_equal '', request.get('/', 'HTTP_COOKIE' => 'rack.session=guessed').body
  end

  # The contract of Moneta's adapters, as its documentation states it.
  def test_moneta_adapter
    need 'moneta/adapters/tavola'
    store = Moneta::Adapters::Tavola.new(table: 'moneta', expires: 60)
    assert_equal 'one', store.store('a', 'one')
    assert_equal 60, store.backend.ttl('a')
    store.store('a', 'one', expires: false)
    assert_nil store.backend.ttl('a')
    assert store.key?('a')
    assert_equal 'one', store.load('a', expires: 30)
    assert_equal 30, store.backend.ttl('a')
    assert store.key?('a', expires: 40)
    assert_equal 40, store.backend.ttl('a')
    assert_equal false, store.create('a', 'two')
    assert_equal true, store.create('b', 'two', expires: 10)
    assert_equal 2, store.increment('n', 2)
    assert_equal(-1, store.decrement('n', 3))
    assert_equal '-1', store.load('n')
    assert_equal ['one', nil], store.values_at('a', 'x')
    assert_equal 'x', store.fetch('x', 'x')
    assert_equal 'x!', (store.fetch('x') { |key| "#{key}!" })
    assert_equal [%w[a one]], store.slice('a', 'x')
    store.merge!('a' => '1', 'c' => '2') { |_key, old, new| old + new }
    assert_equal %w[one1 2], store.values_at('a', 'c')
    assert_equal %w[a b c n], store.each_key.sort
    assert_equal 4, store.each_key.size
    assert_equal '2', store.delete('c')
    assert_nil store.delete('c')
    assert_same store, store.clear
    assert_equal %i[expires create increment each_key].sort, store.features.sort
    store.store("\0\xff".b, "\xff\0".b)
    assert_equal "\xff\0".b, store.load("\0\xff".b)
    assert_nil store.close
  end

  def test_moneta_stack
    need 'moneta/adapters/tavola'
    store = Moneta.new(:Tavola, table: 'moneta', expires: 60)
    store[:key] = { any: ['object'] }
    assert_equal({ any: ['object'] }, store[:key])
    store.store('short', 1, expires: 0.001)
    eventually { store['short'].nil? }
    assert_equal 1, store.increment('counter')
    assert_equal 2, store.each_key.count
  end
end

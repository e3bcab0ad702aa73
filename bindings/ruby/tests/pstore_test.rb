# frozen_string_literal: true

require_relative 'test_case'
require 'tavola/pstore'
require 'pstore'

class PStoreOfTavolaTest < TavolaTest
  Error = Tavola::PStore::Error

  def setup
    super
    @store = Tavola::PStore.new('settings')
  end

  attr_reader :store

  def test_roots
    store.transaction do
      store[:a] = { b: [1, 2r] }
      store['text'] = nil
      assert_equal [:a, 'text'], store.roots
      assert_equal store.roots, store.keys
      assert store.root?(:a)
      assert store.key?('text')
      refute store.root?(:none)
      assert_equal({ b: [1, 2r] }, store.delete(:a))
      assert_nil store.delete(:a)
      assert_nil store.fetch('text')
      assert_equal 7, store.fetch(:none, 7)
      assert_nil store.fetch(:none, nil)
      error = assert_raises(Error) { store.fetch(:none) }
      assert_equal "undefined root name `none'", error.message
    end
    assert_equal ['text'], store.transaction(true) { store.roots }
    assert_equal 'settings', store.path
  end

  # Both have the same calls, and the same words for the same mistakes.
  def test_the_same_surface_and_the_same_sentences_as_pstore
    old = ::PStore.new(File.join(@tavola_dir, 'old'))
    names = ::PStore.public_instance_methods(false)
    assert_equal [], names - Tavola::PStore.public_instance_methods
    mistakes = [
      ->(one) { one[:a] }, ->(one) { one[:a] = 1 }, ->(one) { one.delete(:a) },
      ->(one) { one.roots }, ->(one) { one.root?(:a) }, ->(one) { one.fetch(:a) },
      ->(one) { one.commit }, ->(one) { one.abort },
      ->(one) { one.transaction(true) { one[:a] = 1 } },
      ->(one) { one.transaction(true) { one.delete(:a) } },
      ->(one) { one.transaction { one.fetch(:none) } },
      ->(one) { one.transaction { one.transaction {} } },
      ->(_) { (_.class).new('/no/such/directory/file') }
    ]
    mistakes.each_with_index do |mistake, i|
      theirs = assert_raises(::PStore::Error) { mistake.call(old) }
      ours = assert_raises(Error) { mistake.call(store) }
      # Newer versions of PStore say "key" here.
      their_words = theirs.message.sub('undefined key', 'undefined root name')
      assert_equal their_words, ours.message, "mistake #{i}"
    end
  end

  def test_commit_abort_and_exceptions
    assert_equal(1, store.transaction { store[:a] = 1 })
    assert_nil(store.transaction { store[:a] = 2 and store.abort })
    assert_raises(RuntimeError) { store.transaction { (store[:a] = 3) && raise('x') } }
    store.transaction do
      store[:b] = 1
      store.commit
      flunk
    end
    store.transaction { (store[:c] = 1) && store.abort }
    assert_equal({ a: 1, b: 1 },
                 store.transaction(true) { store.roots.to_h { |one| [one, store[one]] } })
    catch(:out) { store.transaction { (store[:d] = 1) && throw(:out) } }
    refute(store.transaction { store.root?(:d) })
  end

  def test_a_store_that_is_only_read_is_not_created
    other = Tavola::PStore.new('none')
    assert_nil(other.transaction(true) { other[:a] })
    assert_equal [], other.transaction(true) { other.roots }
    refute_includes Tavola.tables.map { |path| File.basename(path) }, 'none'
  end

  def test_a_reader_waits_for_a_writer_and_sees_all_of_it
    store.transaction { store[:a] = store[:b] = 1 }
    pid = child do
      other = Tavola::PStore.new('settings')
      eventually { table['go'] }
      other.transaction(true) { [other[:a], other[:b]] } == [2, 2]
    end
    store.transaction do
      store[:a] = 2
      table['go'] = true
      sleep 0.1
      store[:b] = 2
    end
    assert_child(pid)
  end

  # A block is never run twice, whatever it does besides.
  def test_blocks_run_once
    store.transaction { store[:a] = store[:b] = 0 }
    writer = child do
      own = Tavola::PStore.new('settings')
      500.times { |i| own.transaction { own[:a] = own[:b] = i } }
    end
    runs = 0
    200.times do
      a, b = store.transaction(true) { (runs += 1) && [store[:a], store[:b]] }
      assert_equal a, b
    end
    assert_child(writer)
    assert_equal 200, runs
  end

  def test_objects_that_are_changed_in_place
    store.transaction { store[:list] = [1] }
    store.transaction { store[:list] << 2 }
    store.transaction(true) { store[:list] << 3 }
    list = store.transaction { store[:list].tap { |own| assert_same own, store[:list] } }
    assert_equal [1, 2], list
    # A root that is set is stored as it is at the end.
    store.transaction { store[:other] = (one = []) && (one << 4) }
    assert_equal([4], store.transaction(true) { store[:other] })
  end

  def test_names_of_all_kinds
    names = [:a, 'a', 1, 1.0, nil, true, [:a, 'b'], { c: 1 }, 'ä', 'ä'.encode('ISO-8859-1'), 2r]
    store.transaction { names.each_with_index { |name, i| store[name] = i } }
    store.transaction do
      assert_equal names, store.roots
      assert_equal (0...names.size).to_a, (names.map { |name| store[name] })
      # Both are equal for a Hash, so they are the same root.
      assert_equal 1, store['a'.encode('US-ASCII')]
      assert_equal 6, store[[:a, 'b'.b]]
      store.delete(nil)
      store[:new] = 1
      store.delete('a')
      store['a'] = 2
      assert_equal names - [nil] + [:new], store.roots
    end
    assert_equal names - [nil] + [:new], (store.transaction(true) { store.roots })
    store.transaction { store.roots.each { |name| store.delete(name) } }
    assert_equal [], (store.transaction(true) { store.roots })
    assert_equal 1, table_of_store.size, 'only the list of names is left'
  end

  def table_of_store
    @table_of_store ||= Tavola.open('settings')
  end

  def test_values_come_back_as_they_were
    values = ['text', 'x'.b, 'ä'.encode('ISO-8859-1'), :sym, 2**70, 1.5, nil, 1..2, { a: [nil] }]
    store.transaction { store[:all] = values and values.each { |value| store[value] = value } }
    back = store.transaction(true) { [store[:all], *values.map { |value| store[value] }] }
    assert_equal [values, *values], back
    assert_equal values.grep(String).map(&:encoding), back.drop(1).grep(String).map(&:encoding)
  end

  # A transaction costs what it uses: other roots are neither read nor written.
  def test_a_transaction_touches_its_own_roots_only
    store.transaction { 100.times { |i| store[i] = 'x' * 1000 } }
    table_of_store["r#{Marshal.dump(6)}"] = 'no Marshal'
    store.transaction { store[5] += 'y' }
    assert_equal 'y', store.transaction(true) { store[5] }[-1]
    assert_equal 100, store.transaction(true) { store.roots.size }
    assert_raises(TypeError) { store.transaction { store[6] } }
    assert_equal 'no Marshal', table_of_store["r#{Marshal.dump(6)}"]
  end

  def test_a_change_by_other_calls_is_an_error
    store.transaction { store[:a] = 1 }
    error = assert_raises(Error) do
      store.transaction { (store[:a] += 1) && table_of_store.clear }
    end
    assert_equal 'the store was changed during the transaction; run it again', error.message
    assert_nil(store.transaction { store[:a] })
  end

  def test_two_objects_of_one_store
    other = Tavola::PStore.new('settings')
    error = assert_raises(Error) { store.transaction { other.transaction {} } }
    assert_equal 'nested transaction', error.message
    assert_raises(Error) { store.transaction(true) { other.transaction(true) {} } }
    assert_equal 7, other.transaction { 7 }
  end

  def test_processes_lose_nothing
    pids = Array.new(4) do
      child do
        own = Tavola::PStore.new('settings')
        40.times { own.transaction { own[:n] = (own[:n] || 0) + 1 } }
      end
    end
    pids.each { |pid| assert_child(pid) }
    assert_equal(160, store.transaction(true) { store[:n] })
  end

  def test_a_transaction_of_a_killed_process_has_not_happened
    store.transaction { store[:a] = 1 }
    pid = child do
      own = Tavola::PStore.new('settings')
      own.transaction { (own[:a] = 2) && (table['begun'] = 1) && sleep }
    end
    eventually { table['begun'] }
    stop(pid)
    @children.delete(pid)
    assert_equal(1, store.transaction { store[:a] })
  end

  def test_threads
    safe = Tavola::PStore.new('settings', true)
    threads = Array.new(4) do
      Thread.new { 25.times { safe.transaction { safe[:n] = (safe[:n] || 0) + 1 } } }
    end
    threads.each(&:join)
    assert_equal(100, safe.transaction(true) { safe[:n] })
    assert_raises(Error) { safe.transaction { safe.transaction {} } }
  end

  def test_a_file_that_was_removed_is_made_again
    store.transaction { store[:a] = 1 }
    Tavola.remove('settings')
    assert_nil(store.transaction { store[:a] })
    store.transaction { store[:a] = 2 }
    assert_equal(2, Tavola::PStore.new('settings').transaction { |one| one[:a] })
  end

  def test_values_are_marked_as_those_of_marshal
    store.transaction { store[:a] = [1, 2r] }
    Tavola.open('settings', serializer: :marshal) do |own|
      assert_equal [:a], own['roots']
      assert_equal [1, 2r], own["r#{Marshal.dump(:a)}".b]
      assert_equal([[Marshal.dump([1, 2r]), 0x54130000]],
                   own.keys.reject { |key| key == 'roots' }.map { |key| own.get_bytes(key) })
    end
  end

  def test_values_without_a_mark_are_read
    Tavola.open('settings') do |own|
      own['roots'] = Marshal.dump(%i[a b])
      own["r#{Marshal.dump(:a)}".b] = Marshal.dump([1])
      own["r#{Marshal.dump(:b)}".b] = Marshal.dump('x')
      store.transaction { store[:c] = store[:a] + [store[:b]] }
      assert_equal(%i[a b c], store.transaction(true) { store.roots })
      assert_equal [1, 'x'], Marshal.load(own["r#{Marshal.dump(:c)}".b])
      # What has not changed is not written again.
      assert_equal 0, own.get_bytes("r#{Marshal.dump(:a)}".b)[1]
    end
  end

  def test_a_list_of_names_that_is_none
    Tavola.open('settings') { |own| own['roots'] = Marshal.dump(7) }
    error = assert_raises(Error) { store.transaction { store.roots } }
    assert_equal 'PStore file seems to be corrupted.', error.message
  end

  def test_import
    old = ::PStore.new(File.join(@tavola_dir, 'old'))
    old.transaction { (old[:a] = 1) && old['b'] = [2] }
    new = Tavola::PStore.import(old.path, 'new')
    assert_equal({ a: 1, 'b' => [2] },
                 new.transaction(true) { new.roots.to_h { |one| [one, new[one]] } })
  end
end

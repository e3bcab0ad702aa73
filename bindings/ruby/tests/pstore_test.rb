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
      assert_equal theirs.message, ours.message, "mistake #{i}"
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

  def test_readers_do_not_wait_for_a_writer
    store.transaction { store[:a] = 1 }
    store.transaction do
      store[:a] = 2
      pid = child do
        other = Tavola::PStore.new('settings')
        other.transaction(true) { other[:a] } == 1
      end
      assert_child(pid)
    end
    assert_equal(2, store.transaction(true) { store[:a] })
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

  def test_a_value_that_is_no_hash
    Tavola.open('settings') { |own| own.set_bytes('pstore', Marshal.dump(7), 0x54130000) }
    error = assert_raises(Error) { store.transaction { flunk } }
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

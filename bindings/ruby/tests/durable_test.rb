# frozen_string_literal: true

require_relative 'test_case'
require 'tavola/pstore'
require 'pstore'

# Tables that survive a restart of the machine. The restart is simulated: their memory is removed.
class DurableTest < TavolaTest
  POLICIES = [:commit, 'commit', :os, 'os', 0.005, 1].freeze

  def setup
    super
    @disk = Dir.mktmpdir('tavola-ruby-disk-')
    @home = File.join(@disk, 'users')
  end

  def teardown
    super
    FileUtils.rm_rf(@disk)
  end

  attr_reader :home

  def open(durable = :commit, **options, &block)
    Tavola.open(home, durable: durable, max_size: 16 << 20, **options, &block)
  end

  # Removes the memory, as a restart of the machine does.
  def lose_memory
    files = Dir[File.join(@tavola_dir, 'durable-*')]
    refute_empty files
    files.each { |file| File.unlink(file) }
  end

  def test_the_policies
    POLICIES.each do |policy|
      open(policy) do |one|
        assert one.durable?
        assert_equal policy.is_a?(Numeric) ? policy.to_f : policy.to_sym, one.durability
        assert_equal home, one.path
        assert_same one, one.sync
        assert_equal true, one.snapshot
      end
      Tavola.open(home) { |one| assert one.durable?, 'the path is enough' }
      Tavola.open(home, durable: policy, create: false) { |one| assert one.durable? }
      assert Tavola.remove(home)
      refute File.exist?(home)
    end
    [0, -1, :never, 'soon', true, Float::NAN, 1e9].each do |wrong|
      assert_raises(ArgumentError, wrong.inspect) { open(wrong) }
    end
    Tavola.open("#{home}.volatile", durable: nil) { |one| refute one.durable? }
    assert_raises(Tavola::BadOptionError) { open(:commit, capacity: 1 << 20) }
  end

  def test_a_table_in_memory
    refute table.durable?
    assert_nil table.durability
    refute table.stats.key?(:syncs)
    assert_raises(Tavola::BadOptionError) { table.sync }
    assert_raises(Tavola::BadOptionError) { table.snapshot }
  end

  def write_all(one)
    one['text'] = 'grün'
    one['bytes'] = "\xff\x00".b
    one['map'] = { 'a' => [1, nil] }
    one.increment('n', 41)
    one.increment('n')
    one.set('ttl', 1, ttl: 1000)
    one.set('page', '<p>', tags: %w[home])
    one.set_bytes('flags', 'x', 7)
    one.set_multi((1..100).to_h { |i| ["many #{i}", i] })
    one['removed'] = 1
    one.remove('removed')
    one['large'] = 'x' * 100_000
    one.transaction { |t| t['left'] = t['right'] = 5 }
  end

  def check_all(one)
    assert_equal ['grün', "\xff\x00".b, { 'a' => [1, nil] }, 42],
                 one.values_at('text', 'bytes', 'map', 'n')
    assert_equal Encoding::UTF_8, one['text'].encoding
    assert_includes 900..1000, one.ttl('ttl')
    assert_equal %w[home], one.tags('page')
    assert_equal ['x', 7], one.get_bytes('flags')
    assert_equal 100, one.each_key_prefix('many ').count
    refute one.key?('removed')
    assert_equal 100_000, one['large'].size
    assert_equal [5, 5], one.values_at('left', 'right')
    assert_equal 0, one.check[:problems]
    one.invalidate('home')
    assert_nil one['page']
  end

  def test_all_of_it_comes_back
    POLICIES.each do |policy|
      assert_child(child { open(policy) { |one| write_all(one) && one.sync } })
      lose_memory
      assert_child(child { Tavola.open(home) { |one| check_all(one) || true } })
      lose_memory
      Tavola.open(home) do |one|
        refute one.key?('page'), 'an invalidation is durable, too'
        assert_equal 42, one['n']
      end
      Tavola.remove(home)
    end
  end

  def test_a_process_that_is_killed_right_after_a_set
    pid = child do
      one = open
      one['k'] = 'on disk'
      one.transaction { |t| t['a'] = t['b'] = 1 }
      table['set'] = 1
      one.transaction { |t| (t['a'] = 2) && (table['begun'] = 1) && sleep }
    end
    eventually { table['begun'] }
    stop(pid)
    @children.delete(pid)
    lose_memory
    Tavola.open(home) do |one|
      assert_equal 'on disk', one['k']
      assert_equal [1, 1], one.values_at('a', 'b')
    end
  end

  def test_a_call_for_many_keys_waits_once
    one = open
    tags = one.fetch_tags('tag')
    values = (1..200).to_h { |i| ["many:#{i}", i] }
    calls = {
      set: -> { one['many:1'] = 1 },
      set_multi: -> { one.set_multi(values) },
      tags: -> { one.set_multi(values, ttl: 100, tags: tags) },
      delete_multi: -> { assert_equal 200, one.delete_multi(values.keys, 'none') }
    }
    calls.each do |name, call|
      before = one.stats[:syncs]
      call.call
      assert_equal before + 1, one.stats[:syncs], name
    end
    assert_equal 0, one.stats[:unsynced_bytes]
    one.close
  end

  # A handle may be stricter than its table.
  def test_the_policy_of_a_handle
    open(:os) do |one|
      assert_equal :os, one.durability
      open(:commit) { |strict| assert_equal :commit, strict.durability }
      Tavola::Table.open_read_only(home) { |reader| assert_nil reader.durability }
    end
    killed_after { open(:commit)['k'] = 1 }
    Tavola.open(home) { |one| assert_equal 1, one['k'] }
  end

  def test_key_too_long
    open do |one|
      error = assert_raises(Tavola::KeyTooLongError) { one['k' * 8193] = 1 }
      assert_equal :KEY_TOO_LONG, error.status
      one['k' * 8192] = 1
    end
  end

  def test_damaged_files
    open { |one| 3.times { one['k'] = 'v' } }
    lose_memory
    journal = Dir[File.join(home, 'journal-*')].max
    File.open(journal, 'r+b') { |file| file.seek(4096 + 40) && file.write("\a") }
    error = assert_raises(Tavola::DamagedJournalError) { Tavola.open(home) }
    assert_equal :DAMAGED_JOURNAL, error.status
  end

  def test_in_use_elsewhere
    open do
      lose_memory
      error = assert_raises(Tavola::InUseElsewhereError) { Tavola.open(home) }
      assert_equal :IN_USE_ELSEWHERE, error.status
    end
  end

  # The limit of file sizes stands for a disk that fails.
  def test_not_durable
    open.close
    pid = child do
      one = Tavola.open(home)
      one['before'] = 1
      trap(:XFSZ, 'IGNORE')
      Process.setrlimit(:FSIZE, 4096, Process.getrlimit(:FSIZE)[1])
      error = assert_raises(Tavola::NotDurableError) { one['k'] = 1 }
      assert_equal :NOT_DURABLE, error.status
      assert_raises(Tavola::NotDurableError) { one['other'] = 1 }
      assert_equal 1, one['before']
    end
    assert_child(pid)
  end

  # All of them wait for the disk, as the process that syncs is stopped.
  WRITES = {
    '[]=' => ->(t, k) { t[k] = 1 },
    'set' => ->(t, k) { t.set(k, 1, ttl: 60) },
    'add' => ->(t, k) { t.add(k.succ, 1) },
    'replace' => ->(t, k) { t.replace(k, 1) },
    'cas' => ->(t, k) { t.cas(k, 1, t.gets(k).last) },
    'swap' => ->(t, k) { t.swap(k, 1) },
    'take' => ->(t, k) { t.take(k) },
    'remove' => ->(t, k) { t.remove(k) },
    'append' => ->(t, k) { t.append(k, 'x') },
    'prepend' => ->(t, k) { t.prepend(k, 'x') },
    'touch' => ->(t, k) { t.touch(k, 60) },
    'persist' => ->(t, k) { t.persist(k) },
    'get_and_touch' => ->(t, k) { t.get_and_touch(k, 60) },
    'increment' => ->(t, k) { t.increment(k) },
    'decrement' => ->(t, k) { t.decrement(k, initial: 5) },
    'set_multi' => ->(t, k) { t.set_multi({ k => 1 }) },
    'delete_multi' => ->(t, k) { t.delete_multi(k) },
    'delete_prefix' => ->(t, k) { t.delete_prefix(k) },
    'transaction' => ->(t, k) { t.transaction { |own| own[k] = 1 } },
    'compute' => ->(t, k) { t.compute(k.succ, ttl: 60) { 1 } },
    'invalidate' => ->(t, k) { t.invalidate(k) },
    'sync' => ->(t, k) { t.send(:store_token, k, 1, 0, 0, nil) && t.sync }
  }.freeze

  def test_threads_run_while_others_wait_for_the_disk
    met = 20.times.any? { |round| waits_are_met(round) }
    assert met, 'no process was stopped in a sync'
  end

  def waits_are_met(round)
    one = open
    WRITES.each_key { |name| one.set(name, 7, ttl: 100, tags: [name]) }
    one.increment('counted', 0)
    syncing = child { open { |own| loop { own['again'] = 'x' * 100 } } }
    eventually { one['again'] }
    sleep 0.001 * round
    Process.kill(:STOP, syncing)
    # If a write kept the GVL, nothing would run here, also not this end of it.
    rescuer = child { sleep(20) && Process.kill(:CONT, syncing) }
    began = monotonic
    threads = WRITES.values.zip(WRITES.keys).map { |call, key| Thread.new { call.(one, key) } }
    threads << Thread.new { one.increment('counted') }
    all_wait = threads.none? { |thread| thread.join(0.05) }
    counted = one['counted']
    assert_operator monotonic - began, :<, 15, 'a write kept the GVL'
    Process.kill(:CONT, syncing)
    threads.each(&:join)
    # The change was made before the wait, and is not made a second time.
    assert_equal 1, one['counted']
    all_wait && counted == 1
  ensure
    [syncing, rescuer].compact.each { |pid| stop(pid) }
    @children.clear
    one.close
    Tavola.remove(home)
  end

  # A process that rebuilds a table has its directory locked.
  def test_threads_run_while_another_one_opens_the_table
    open { |one| one['k'] = 1 }
    lose_memory
    File.open(home) do |directory|
      directory.flock(File::LOCK_EX)
      opening = Thread.new { Tavola.open(home) { |one| one['k'] } }
      assert_nil opening.join(0.2), 'it waits'
      directory.flock(File::LOCK_UN)
      assert_equal 1, opening.value
    end
  end

  def test_a_handle_that_is_closed_during_a_write
    one = open
    writer = Thread.new do
      loop { one['k'] = 'x' }
    rescue Tavola::ClosedError
      'closed'
    end
    eventually { one['k'] }
    one.close
    assert_equal 'closed', writer.value
    Tavola.open(home) { |other| assert_equal 'x', other['k'] }
  end

  # Strings of a write that waits belong to it.
  def test_strings_that_are_changed_during_a_write
    one = open
    keys = Array.new(4) { |i| +"key #{i}" }
    value = +'a' * 100
    changer = Thread.new do
      loop { [value, *keys].each { |text| text.replace(text + 'b' * 50) && text.replace(text[0, 5]) } }
    end
    20.times { |i| one[keys[i % 4]] = value }
    changer.kill.join
    assert_equal 0, one.check[:problems]
    one.close
  end

  # Runs the block in a process that is killed where the block ends, and restarts the machine.
  def killed_after
    pid = child { yield && Process.kill(:KILL, Process.pid) && sleep }
    assert_equal Signal.list['KILL'], wait_for_child(pid).termsig
    lose_memory
  end

  def test_pstore
    killed_after do
      store = Tavola::PStore.new(home, durable: :commit)
      store.transaction { store[:a] = [1] }
      store.transaction { (store[:a] << 2) && store[:b] = 1 }
      store.transaction { (store[:b] = 2) && store.abort }
      true
    end
    store = Tavola::PStore.new(home)
    assert_equal([[1, 2], 1], store.transaction(true) { [store[:a], store[:b]] })
    store.transaction { store.delete(:a) }
    assert_equal([:b], store.transaction(true) { store.roots })
    Tavola.remove(home)
    assert_nil(store.transaction { store[:b] })
    assert_path_exists home
  end

  def test_pstore_that_is_ultra_safe
    open(:os).close
    killed_after do
      own = Tavola::PStore.new(home)
      own.ultra_safe = true
      own.transaction { own[:a] = 1 }
      own.transaction { (own[:a] = 2) && own.commit }
      true
    end
    other = Tavola::PStore.new(home)
    assert_equal(2, other.transaction(true) { other[:a] })
  end

  def test_pstore_that_is_ultra_safe_from_the_beginning
    killed_after do
      own = Tavola::PStore.new(home)
      own.ultra_safe = true
      own.transaction { own[:a] = 1 }
    end
    Tavola.open(home) { |one| assert one.durable? }
    store = Tavola::PStore.new(home)
    assert_equal(1, store.transaction(true) { store[:a] })
    memory = Tavola::PStore.new('memory')
    memory.ultra_safe = true
    assert_equal(1, memory.transaction { memory[:a] = 1 })
    Tavola.open('memory') { |one| refute one.durable? }
  end

  def test_pstore_import
    old = ::PStore.new(File.join(@disk, 'old'))
    old.transaction { (old[:a] = 1) && old['b'] = [2] }
    killed_after { Tavola::PStore.import(old.path, home, durable: :commit) }
    store = Tavola::PStore.new(home)
    assert_equal([1, [2]], store.transaction(true) { [store[:a], store['b']] })
  end
end

# frozen_string_literal: true

require 'pstore'
require 'tavola/pstore'

# The stores that are measured, each as an object with `get`, `put` and `close`.
class Stores
  # Wraps lambdas, which cost the same for each store. `fill` sets many keys, if `put` is too slow.
  Store = Struct.new(:get, :put, :fill, keyword_init: true)

  # Why a store is left out, by its name.
  attr_reader :missing

  def initialize(folder)
    @folder = folder
    @missing = {}
    @closing = []
  end

  def close
    @closing.reverse_each(&:call)
  end

  # PStore is not here: a transaction loads all roots, and leaves them as garbage to the others.
  def for_calls
    @for_calls ||= {
      'Tavola::Table' => table, 'Hash' => hash, 'Tavola::Client' => client,
      'TavolaStore' => rails(:tavola_store, 'store'), 'MemoryStore' => rails(:memory_store),
      'FileStore' => rails(:file_store, File.join(@folder, 'files')), 'Dalli, memcached' => dalli
    }.compact
  end

  def for_records
    {
      'Tavola::Table' => table, 'Tavola::PStore' => pstore(Tavola::PStore.new('tavola-pstore')),
      'PStore, one file' => pstore(::PStore.new(File.join(@folder, 'pstore'))),
      'PStore, a file a key' => pstore_files, 'Dalli, memcached' => dalli
    }.compact
  end

  # Stores on a disk, by what is on it when a transaction returns.
  def for_disk(disk)
    durable = { 'commit' => :commit, '0.05' => 0.05, 'os' => :os }.to_h do |name, policy|
      file = File.join(disk, name)
      ["Tavola::PStore, durable: #{name}", pstore(Tavola::PStore.new(file, durable: policy))]
    end
    safe = ::PStore.new(File.join(disk, 'safe'))
    safe.ultra_safe = true
    durable.merge('PStore' => pstore(::PStore.new(File.join(disk, 'file'))),
                  'PStore, ultra_safe' => pstore(safe))
  end

  private

  def table
    @number = (@number || 0) + 1
    table = Tavola.open("bench#{@number}")
    Store.new(get: ->(key) { table[key] }, put: ->(key, value) { table[key] = value })
  end

  def hash
    hash = {}
    Store.new(get: ->(key) { hash[key] }, put: ->(key, value) { hash[key] = value })
  end

  def client
    require 'tavola/client'
    client = Tavola::Client.new('client')
    Store.new(get: ->(key) { client.get(key) }, put: ->(key, value) { client.set(key, value) })
  end

  def rails(*name)
    require 'active_support'
    require 'active_support/cache'
    # MemoryStore does not compress unless it is asked to, so the others do not, either.
    options = { compress: false }
    options[:size] = 1 << 30 if name.first == :memory_store
    cache = ActiveSupport::Cache.lookup_store(*name, options)
    cache.silence!
    Store.new(get: ->(key) { cache.read(key) }, put: ->(key, value) { cache.write(key, value) })
  rescue LoadError => error
    @missing['ActiveSupport'] = error.message
    nil
  end

  # memcached on a socket of its own, as both are on one machine.
  def dalli
    require 'dalli'
    socket = memcached or return
    client = Dalli::Client.new(socket, serializer: Plain, compress: false)
    Store.new(get: ->(key) { client.get(key) }, put: ->(key, value) { client.set(key, value) })
  rescue LoadError => error
    @missing['Dalli'] = error.message
    nil
  end

  # Strings as they are: Marshal would be measured otherwise.
  module Plain
    def self.dump(value)
      value
    end

    def self.load(bytes)
      bytes
    end
  end

  def memcached
    return @socket if defined?(@socket)

    @socket = File.join(@folder, 'memcached.sock')
    user = Process.uid.zero? ? %w[-u root] : []
    pid = spawn('memcached', '-s', @socket, '-m', '2048', *user, err: File::NULL)
    @closing << lambda {
      Process.kill(:TERM, pid)
      Process.wait(pid)
    }
    200.times { File.socket?(@socket) ? break : sleep(0.02) }
    @socket
  rescue Errno::ENOENT
    @missing['memcached'] = 'it is not installed'
    @socket = nil
  end

  def pstore(store)
    Store.new(get: ->(key) { store.transaction(true) { store[key] } },
              put: ->(key, value) { store.transaction { store[key] = value } },
              fill: ->(pairs) { store.transaction { pairs.each { |k, v| store[k] = v } } })
  end

  def pstore_files
    folder = File.join(@folder, 'pstores')
    FileUtils.mkdir_p(folder)
    open = ->(key) { ::PStore.new(File.join(folder, key)) }
    Store.new(get: ->(key) { (store = open.(key)).transaction(true) { store[key] } },
              put: ->(key, value) { (store = open.(key)).transaction { store[key] = value } })
  end
end

# PStore, a file a key.

require "pstore"
require_relative "harness"

class FileAKey
  def initialize(folder)
    @folder = folder
  end

  def put(key, value)
    store = store_of(key)
    store.transaction { store[:value] = value }
  end

  def get(key)
    store = store_of(key)
    store.transaction(true) { store[:value] }
  end

  def close = nil
  def version = "PStore #{PStore::VERSION}, Ruby #{RUBY_VERSION}"

  private

  def store_of(key) = PStore.new(File.join(@folder, key))
end

Harness.run { |job| FileAKey.new(job["dir"]) }

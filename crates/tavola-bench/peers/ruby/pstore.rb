# PStore, one file: each transaction reads it, and one that writes writes it anew.

require "pstore"
require_relative "harness"

class OneFile
  def initialize(folder)
    @store = PStore.new(File.join(folder, "store.pstore"))
  end

  def put(key, value) = @store.transaction { @store[key] = value }
  def get(key) = @store.transaction(true) { @store[key] }
  def close = nil
  def version = "PStore #{PStore::VERSION}, Ruby #{RUBY_VERSION}"
end

Harness.run { |job| OneFile.new(job["dir"]) }

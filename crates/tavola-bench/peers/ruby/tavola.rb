# Tavola by its extension.

require "tavola"
require_relative "harness"

class Shared
  def initialize(folder)
    @table = Tavola.open(File.join(folder, "store"), max_size: 1 << 30)
  end

  def put(key, value) = @table.set(key, value)
  def get(key) = @table.get(key)
  def close = @table.close
  def version = "Tavola #{Tavola::VERSION}, Ruby #{RUBY_VERSION}"
end

Harness.run { |job| Shared.new(job["dir"]) }

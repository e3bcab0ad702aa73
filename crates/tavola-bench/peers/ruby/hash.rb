# A Hash of this process: the most that Ruby can do.

require_relative "harness"

class Memory
  def initialize
    @values = {}
  end

  def put(key, value) = @values[key] = value
  def get(key) = @values[key]
  def close = nil
  def version = "Ruby #{RUBY_VERSION}"
end

Harness.run { Memory.new }

# The stores of ActiveSupport, not compressed: MemoryStore of this process, FileStore in the job's
# folder. The job's peer says which.

require "active_support"
require "active_support/cache"
require_relative "harness"

class Cache
  def initialize(job)
    @cache = if job["peer"] == "activesupport-memory"
               ActiveSupport::Cache::MemoryStore.new(size: 1 << 30, compress: false)
             else
               ActiveSupport::Cache::FileStore.new(job["dir"], compress: false)
             end
    @cache.silence!
  end

  def put(key, value)
    raise "a write was refused" unless @cache.write(key, value)
  end

  def get(key) = @cache.read(key)
  def close = nil
  def version = "ActiveSupport #{ActiveSupport::VERSION::STRING}, Ruby #{RUBY_VERSION}"
end

Harness.run { |job| Cache.new(job) }

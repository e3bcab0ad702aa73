# frozen_string_literal: true

# Runs Rails' own behaviours of cache stores against TavolaStore, in the folder of their sources:
#
#   ruby tests/peers/rails_store_test.rb SOURCES_OF_RAILS
#
# The tests are those that Rails runs against its stores of files, memory, memcached and Redis.

sources = File.expand_path(ARGV.shift)
behaviors = File.join(sources, 'activesupport/test/cache/behaviors')
$LOAD_PATH.unshift(File.join(sources, 'activesupport/test'))
ENV['RAILS_TEST_EXECUTOR'] = 'threads'

require 'active_support'
require 'active_support/testing/autorun'
require 'active_support/test_case'
require 'active_support/cache'
require 'active_support/cache/tavola_store'
require 'active_support/core_ext/numeric'
require 'active_support/logger'
require 'active_support/testing/method_call_assertions'
require 'tmpdir'
require 'securerandom'

ActiveSupport::TestCase.test_order = :random
ActiveSupport::TestCase.include(ActiveSupport::Testing::MethodCallAssertions)

# The files of behaviours need nothing of Rails' abstract_unit but this.
module AutoloadingFixtures
  def with_autoloading_fixtures(&block)
    with_loading('autoloading_fixtures', &block)
  end
end

Dir[File.join(behaviors, '*.rb')].sort.each do |file|
  require file
rescue LoadError => error
  # A behaviour for pools of connections needs a gem that has nothing to do with a table.
  warn "left out: #{File.basename(file)}: #{error.message}"
end

class TavolaStoreTest < ActiveSupport::TestCase
  def setup
    @tavola_dir = Dir.mktmpdir('tavola-rails-', File.writable?('/dev/shm') ? '/dev/shm' : nil)
    ENV['TAVOLA_DIR'] = @tavola_dir
    @namespace = "test-#{SecureRandom.hex}"
    @cache = lookup_store(expires_in: 60)
    @peek = lookup_store
    @cache.logger = ActiveSupport::Logger.new(File::NULL)
  end

  def teardown
    @cache.table.close
    FileUtils.rm_rf(@tavola_dir)
  end

  def lookup_store(options = {})
    ActiveSupport::Cache.lookup_store(:tavola_store, 'rails',
                                      { namespace: @namespace, max_size: 64 << 20 }.merge(options))
  end

  include CacheStoreBehavior
  include CacheStoreVersionBehavior
  include CacheStoreCoderBehavior
  include LocalCacheBehavior
  include CacheDeleteMatchedBehavior
  include CacheIncrementDecrementBehavior
  include CacheInstrumentationBehavior
  include EncodedKeyCacheBehavior
  include AutoloadingCacheBehavior if defined?(AutoloadingCacheBehavior)
  include FailureSafetyBehavior

  private

  # What FailureSafetyBehavior wants: a store whose table cannot be used.
  def emulating_unavailability
    original = @cache.table
    broken = Tavola.open('broken')
    broken.close
    @cache.instance_variable_set(:@table, broken)
    yield @cache
  ensure
    @cache.instance_variable_set(:@table, original)
  end
end

# frozen_string_literal: true

require_relative 'test_case'
require 'open3'
require 'rbconfig'

# The owners' own tests, from the sources of Debian's packages: Rails' behaviours of cache stores,
# and Ruby's test of PStore. The sources are kept in target/ and never committed.
class PeersTest < TavolaTest
  FOLDER = File.join(ENV['CARGO_TARGET_DIR'] || File.expand_path('../../../target', __dir__),
                     'bindings/ruby/peers')

  def limit
    600
  end

  def sources_of(package)
    folder = File.join(FOLDER, package)
    fetch = File.join(__dir__, 'peers/fetch')
    out, status = Open3.capture2e(fetch, package, folder)
    skip "the sources of #{package} cannot be had here: #{out}" unless status.success?
    folder
  end

  # Runs a suite, and returns how many of its tests passed and failed.
  def suite(script, sources, env = {})
    paths = $LOAD_PATH.select { |path| path.include?('bindings') || path.end_with?('ruby/lib') }
    flags = paths.flat_map { |path| ['-I', File.expand_path(path)] }
    env = { 'TAVOLA_COUNTS' => nil, 'RUBYOPT' => nil, **env }
    out, status = Open3.capture2e(env, RbConfig.ruby, '-W0', *flags,
                                  File.join(__dir__, 'peers', script), sources)
    line = out[/^(\d+ (?:runs|tests), .*)$/]
    assert line, out
    tests, _assertions, failures, errors, skips = line.scan(/\d+/).map(&:to_i)
    bad = failures + errors
    puts "\n#{script}: #{tests - bad - skips} passed, #{bad} failed, #{skips} skipped"
    count(tests - bad - skips, bad, skips)
    assert status.success?, out
    assert_equal 0, bad, out
    tests
  end

  def count(passed, failed, skipped)
    file = ENV.fetch('TAVOLA_COUNTS', nil)
    File.write(file, "#{passed} #{failed} #{skipped}\n", mode: 'a') if file
  end

  def test_the_behaviours_of_rails_cache_stores
    begin
      Gem::Specification.find_by_name('activesupport')
    rescue Gem::MissingSpecError
      skip 'ActiveSupport is not installed'
    end
    assert_operator suite('rails_store_test.rb', sources_of('rails')), :>, 200
  end

  def test_ruby_pstore
    assert_operator suite('ruby_pstore_test.rb', sources_of('ruby3.1')), :>=, 10
  end

  def test_ruby_pstore_with_a_durable_store
    env = { 'TAVOLA_PSTORE_DURABLE' => 'commit' }
    assert_operator suite('ruby_pstore_test.rb', sources_of('ruby3.1'), env), :>=, 10
  end
end

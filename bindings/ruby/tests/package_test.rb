# frozen_string_literal: true

require_relative 'test_case'
require 'open3'

# The gem installs from its sources alone, and works.
class PackageTest < TavolaTest
  def limit
    300
  end

  def test_the_gem_is_built_and_works_in_a_clean_environment
    out, status = Open3.capture2e(File.expand_path('../package', __dir__), @tavola_dir)
    assert status.success?, out
    gem = out.lines.last.chomp
    assert_equal "tavola-#{Tavola::VERSION}.gem", File.basename(gem)
    files, = Open3.capture2e('gem', 'specification', gem, 'files')
    assert_includes files, 'vendor/lib/libtavola.a'
    assert_includes files, 'vendor/include/tavola.h'
    assert_includes files, 'vendor/lib/libtavola_client.a'
    assert_includes files, 'lib/active_support/cache/tavola_store.rb'
  end

  # A place without the library says what to do.
  def test_the_build_says_where_the_library_is_looked_for
    folder = File.join(@tavola_dir, 'a/b/c/ext')
    FileUtils.mkdir_p(folder)
    FileUtils.cp_r(File.expand_path('../ext/tavola', __dir__), folder)
    env = { 'TAVOLA_LIB_DIR' => nil, 'TAVOLA_INCLUDE_DIR' => nil }
    out, status = Open3.capture2e(env, RbConfig.ruby, 'extconf.rb', chdir: "#{folder}/tavola")
    refute status.success?
    assert_includes out, 'cargo build --release --package tavola-capi'
  end

  def test_the_extension_exports_one_symbol
    require 'tavola/fleet'
    %w[tavola servers].each do |name|
      file = $LOADED_FEATURES.grep(%r{/tavola/#{name}\.so\z}).first
      out, status = Open3.capture2('nm', '--dynamic', '--defined-only', file)
      skip 'nm is not installed' unless status.success?
      assert_equal ["Init_#{name}"], out.lines.map { |line| line.split.last }
    end
  end
end

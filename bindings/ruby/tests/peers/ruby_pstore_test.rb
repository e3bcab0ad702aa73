# frozen_string_literal: true

# Runs Ruby's own test of PStore with Tavola::PStore:
#
#   ruby tests/peers/ruby_pstore_test.rb SOURCES_OF_RUBY

sources = File.expand_path(ARGV.shift)
shim = File.join(__dir__, 'shim')
# The children of the test load it, too.
ENV['RUBYLIB'] = ([shim] + $LOAD_PATH.grep(/bindings/)).join(File::PATH_SEPARATOR)
$LOAD_PATH.unshift(shim, File.join(sources, 'tool/lib'))

require 'test/unit'
require 'envutil'
require 'core_assertions'

Test::Unit::TestCase.include(Test::Unit::CoreAssertions)
require File.join(sources, 'test/test_pstore')

# frozen_string_literal: true

# Runs the test files that are named, and adds the counts to the file TAVOLA_COUNTS, one line
# `PASSED FAILED SKIPPED` for each run.

require 'minitest'

module Minitest
  # Writes the counts down at the end of a run.
  class CountReporter < StatisticsReporter
    def report
      super
      failed = failures + errors
      line = "#{count - failed - skips} #{failed} #{skips}\n"
      File.write(ENV.fetch('TAVOLA_COUNTS'), line, mode: 'a') if ENV['TAVOLA_COUNTS']
    end
  end

  # Prints the tests that took long, when TAVOLA_SLOW is set.
  class SlowReporter < Reporter
    def record(result)
      io.puts format('%.1f s %s#%s', result.time, result.klass, result.name) if result.time > 0.5
    end
  end

  def self.plugin_counts_init(options)
    reporter << CountReporter.new(options[:io], options)
    reporter << SlowReporter.new(options[:io], options) if ENV['TAVOLA_SLOW']
  end
  extensions << 'counts'
end

files = ARGV.take_while { |arg| !arg.start_with?('-') }
ARGV.shift(files.size)
files.each { |file| require File.expand_path(file) }
require 'minitest/autorun'

# frozen_string_literal: true

# What a call costs: medians of some rounds, in which the stores take turns.

require 'fileutils'
require 'optparse'
require 'tavola'
require 'tmpdir'
require_relative 'stores'
require_relative 'runs'

$stdout.sync = true
rounds = 5
json = nil
clock = 'time'
OptionParser.new do |options|
  options.on('--rounds N', Integer) { |n| rounds = n }
  options.on('--json FILE') { |file| json = file }
  # On a busy machine: the time of this process on a processor. That of memcached is not in it.
  options.on('--cpu') { (clock = 'cpu') && Runs.clock = Process::CLOCK_PROCESS_CPUTIME_ID }
end.parse!

# Prints a table: a row for each name, a column for each measurement.
def show(title, columns, rows)
  puts "\n#{title}"
  width = rows.keys.map(&:size).max
  puts format("%-#{width}s", '') + columns.map { |name| format('%16s', name) }.join
  rows.each do |name, cells|
    puts format("%-#{width}s", name) + columns.map { |c| format('%16s', figure(cells[c])) }.join
  end
end

def figure(ns)
  return '-' if ns.nil?

  ns < 10_000 ? "#{ns.round} ns" : "#{(ns / 1000).round(1)} us"
end

folder = Dir.mktmpdir('tavola-bench-', File.writable?('/dev/shm') ? '/dev/shm' : nil)
ENV['TAVOLA_DIR'] = folder
begin
  stores = Stores.new(folder)
  puts "ruby #{RUBY_VERSION}, library #{Tavola::LIBRARY_VERSION}, median of #{rounds} rounds, " \
       "#{clock == 'cpu' ? 'processor time of the client' : 'elapsed time'}"
  stores.missing.each { |name, why| puts "left out: #{name}: #{why}" }
  results = {}
  short = ->(i) { 'v' * (8 + i % 25) }
  results['small'] = Runs.calls(stores.for_calls, 100_000, short, 200_000, rounds)
  show('100,000 keys, values of 8 to 32 bytes, per call', %w[get put miss], results['small'])
  results['large'] = Runs.calls(stores.for_calls, 10_000, ->(_) { 'v' * 8192 }, 20_000, rounds)
  show('10,000 keys, values of 8 KB, per call', %w[get put miss], results['large'])
  results['tavola'] = Runs.own_calls(100_000, rounds)
  show('other calls of a table, values of 8 to 32 bytes, per key', ['ns'], results['tavola'])
  [10, 100, 1000].each do |records|
    rows = Runs.records(stores.for_records, records, 10_000, rounds)
    results["records #{records}"] = rows
    show("#{records} records of 8 KB, per put and per get", %w[put get], rows)
  end
  document = JSON.pretty_generate({ 'ruby' => RUBY_VERSION, 'rounds' => rounds, 'clock' => clock,
                                    'unit' => 'ns',
                                    'results' => results })
  json ? File.write(json, "#{document}\n") : puts("\n#{document}")
ensure
  stores&.close
  FileUtils.rm_rf(folder)
end

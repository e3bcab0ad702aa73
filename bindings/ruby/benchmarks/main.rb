# frozen_string_literal: true

# What a call costs: medians of some rounds, in which the stores take turns.

require 'fileutils'
require 'optparse'
require 'json'
require 'tavola'
require 'tmpdir'
require_relative 'stores'
require_relative 'runs'

$stdout.sync = true
rounds = 5
json = nil
disk_parent = Dir.tmpdir
clock = 'time'
OptionParser.new do |options|
  options.on('--rounds N', Integer) { |n| rounds = n }
  options.on('--json FILE') { |file| json = file }
  options.on('--disk DIR') { |directory| disk_parent = directory }
  # On a busy machine: the time of this process on a processor. That of memcached is not in it.
  options.on('--cpu') { (clock = 'cpu') && Runs.clock = Process::CLOCK_PROCESS_CPUTIME_ID }
end.parse!

# Prints a table: a row for each system, a column for each measurement. Returns an object for each
# cell, for the JSON: `name`, `system`, `ns`, and `spread`, the distance between the quartiles.
def show(title, columns, rows)
  puts "\n#{title}"
  width = rows.keys.map(&:size).max
  puts format("%-#{width}s", '') + columns.map { |name| format('%16s', name) }.join
  rows.each do |name, cells|
    puts format("%-#{width}s", name) + columns.map { |c| format('%16s', figure(cells[c])) }.join
  end
  rows.flat_map do |system, cells|
    cells.map do |column, cell|
      # Of the other calls, the rows are calls of one system.
      name, system = column == 'ns' ? [system, 'Tavola::Table'] : [column, system]
      { 'name' => "#{title}: #{name}", 'system' => system, 'ns' => cell.ns.round(1),
        'spread' => cell.spread.round(1) }
    end
  end
end

def figure(cell)
  return '-' if cell.nil?

  ns = cell.ns
  ns < 10_000 ? "#{ns.round} ns" : "#{(ns / 1000).round(1)} us"
end

folder = Dir.mktmpdir('tavola-bench-', File.writable?('/dev/shm') ? '/dev/shm' : nil)
disk = Dir.mktmpdir('tavola-bench-', disk_parent)
ENV['TAVOLA_DIR'] = folder
begin
  stores = Stores.new(folder)
  puts "ruby #{RUBY_VERSION}, library #{Tavola::LIBRARY_VERSION}, median of #{rounds} rounds, " \
       "#{clock == 'cpu' ? 'processor time of the client' : 'elapsed time'}"
  stores.missing.each { |name, why| puts "left out: #{name}: #{why}" }
  results = []
  short = ->(i) { 'v' * (8 + i % 25) }
  calls = %w[get put miss]
  small = Runs.calls(stores.for_calls, 100_000, short, 200_000, rounds)
  results += show('100,000 keys, values of 8 to 32 bytes, per call', calls, small)
  large = Runs.calls(stores.for_calls, 10_000, ->(_) { 'v' * 8192 }, 20_000, rounds)
  results += show('10,000 keys, values of 8 KB, per call', calls, large)
  own = Runs.own_calls(100_000, rounds)
  results += show('other calls of a table, values of 8 to 32 bytes, per key', ['ns'], own)
  [10, 100, 1000].each do |records|
    rows = Runs.records(stores.for_records, records, 10_000, rounds)
    results += show("#{records} records of 8 KB, per call", %w[put get], rows)
  end
  # Of these, only the elapsed time says something.
  Runs.clock = Process::CLOCK_MONOTONIC
  rows = Runs.records(stores.for_disk(disk), 1000, 10_000, rounds)
  results += show('1000 roots of 8 KB on a disk, a transaction, elapsed time', %w[put get], rows)
  document = "[\n#{results.map { |row| JSON.generate(row) }.join(",\n")}\n]\n"
  json ? File.write(json, document) : puts("\n#{document}")
ensure
  stores&.close
  FileUtils.rm_rf([folder, disk])
end

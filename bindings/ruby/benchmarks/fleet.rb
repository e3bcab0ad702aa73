# frozen_string_literal: true

# Tavola::Client beside Dalli on a memcached of its own, by a Unix socket: microseconds a request, by
# the medians of rounds in turn. After `bindings/ruby/build`:
#
#   ruby -I bindings/ruby/lib -I target/bindings/ruby/lib bindings/ruby/benchmarks/fleet.rb [ROUNDS]

require 'dalli'
require 'etc'
require 'tavola/client'
require 'tmpdir'

VALUES = (0...100).to_h { |i| ["key:#{i}", 'v' * 100] }.freeze
LOADS = {
  'set and get' => [400, lambda { |client|
    200.times do
      client.set('key', 'value')
      client.get('key')
    end
  }],
  'get_multi 100' => [2000, ->(client) { 20.times { client.get_multi(*VALUES.keys) } }]
}.freeze

def measure(clients, requests, load, rounds)
  times = Hash.new { |hash, name| hash[name] = [] }
  rounds.times do
    clients.each do |name, client|
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      load.call(client)
      times[name] << ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1e6 / requests)
    end
  end
  times.transform_values { |all| all.sort[all.size / 2] }
end

Dir.mktmpdir do |folder|
  socket = File.join(folder, 'socket')
  pid = spawn('memcached', '-u', Etc.getpwuid.name, '-s', socket, '-t', '2')
  sleep 0.05 until File.socket?(socket)
  clients = { ours: Tavola::Client.new([socket]), dalli: Dalli::Client.new(socket) }
  clients[:ours].set_multi(VALUES)
  LOADS.each do |name, (requests, load)|
    found = measure(clients, requests, load, (ARGV[0] || 15).to_i)
    puts format('%-14s ours %.2f us, Dalli %.2f us, ratio %.2f', name, found[:ours],
                found[:dalli], found[:ours] / found[:dalli])
  end
ensure
  Process.kill(:TERM, pid) if pid
  Process.wait(pid) if pid
end

# frozen_string_literal: true

# Dalli against the server at HOST:PORT or the path of a Unix socket.
#
#     ruby dalli.rb PLACE [binary|meta [NAME PASSWORD]]
#
# Up to Dalli 3.1 there is the binary protocol alone.

require 'dalli'

$count = 0
$failed = 0

# Whether the block returns this; where `expected` is callable, whether that holds.
def check(what, expected)
  $count += 1
  found =
    begin
      yield
    rescue StandardError => e
      e
    end
  good = expected.respond_to?(:call) ? expected.call(found) : found == expected
  return puts("ok #{$count} - #{what}") if good

  $failed += 1
  puts "not ok #{$count} - #{what}: #{found.inspect[0, 200]}"
end

THERE = ->(found) { found && !found.is_a?(StandardError) }
# Dalli 3.0 tells 0 of some refusals.
NONE = ->(found) { !found || found == 0 }

def plain(client)
  check('set', THERE) { client.set('a', 'one') }
  check('get', 'one') { client.get('a') }
  check('get of a missing key', nil) { client.get('none') }
  check('add', THERE) { client.add('b', 'two', nil, raw: true) }
  check('add of a key that is there', false) { client.add('b', 'x') }
  check('replace', THERE) { client.replace('b', '2', nil, raw: true) }
  check('replace of a missing key', NONE) { client.replace('none', 'x') }
  check('nor is it there', nil) { client.get('none') }
  check('append', true) { client.append('b', '>') }
  check('prepend', true) { client.prepend('b', '<') }
  check('append to a missing key', false) { client.append('none', 'x') }
  check('what was joined', '<2>') { client.get('b') }
  check('delete', true) { client.delete('a') }
  check('delete of a missing key', NONE) { client.delete('a') }
  check('fetch', 'new') { client.fetch('f') { 'new' } }
  check('fetch of a key that is there', 'new') { client.fetch('f') { 'newer' } }
end

def many(client)
  many = (0...200).to_h { |number| ["many#{number}", number] }
  check('sets without answers', THERE) do
    client.multi { many.each { |key, value| client.set(key, value) } } || true
  end
  check('get_multi', many) { client.get_multi(*many.keys, 'none') }
  check('get_multi_cas', ->(found) { found['many7'][0] == 7 && found['many7'][1].positive? }) do
    client.get_multi_cas('many7', 'none')
  end
  check('deletes without answers', THERE) do
    client.multi { many.each_key { |key| client.delete(key) } } || true
  end
  check('nothing of them', {}) { client.get_multi(*many.keys) }
end

def unique(client)
  client.set('c', 1)
  check('cas', THERE) { client.cas('c') { |value| value + 1 } }
  check('it is changed', 2) { client.get('c') }
  check('cas of a missing key', nil) { client.cas('none') { |_| raise 'called' } }
  _, first = client.get_cas('c')
  check('set_cas', THERE) { client.set_cas('c', 3, first) }
  check('set_cas with what was', false) { client.set_cas('c', 4, first) }
  check('cas that another one was before', false) do
    client.cas('c') do |value|
      client.set('c', 'another')
      value
    end
  end
  check('replace_cas with what was', false) { client.replace_cas('c', 4, first) }
  check('delete_cas with what was', false) { client.delete_cas('c', first) }
  _, last = client.get_cas('c')
  check('delete_cas', true) { client.delete_cas('c', last) }
  check('it is gone', nil) { client.get('c') }
end

def counting(client)
  check('incr of a missing key', nil) { client.incr('n') }
  check('incr with a first value', 10) { client.incr('n', 1, nil, 10) }
  check('incr', 15) { client.incr('n', 5) }
  check('decr', 9) { client.decr('n', 6) }
  check('decr below 0', 0) { client.decr('n', 100) }
  client.set('n', '18446744073709551615', nil, raw: true)
  check('incr beyond 64 bits', 1) { client.incr('n', 2) }
  client.set('n', 'word', nil, raw: true)
  check('incr of a word', ->(found) { found.is_a?(Dalli::DalliError) }) { client.incr('n') }
end

def values(client)
  bytes = "#{(0..255).to_a.pack('C*')}\r\nEND\r\n".b
  large = '0123456789' * 90_000
  { 'every byte' => bytes, 'nothing' => '', 'text' => 'text, ä',
    'an object' => { 'a' => [1, 2.5, nil] }, 'what is compressed' => 'x' * 100_000 }
    .each do |kind, value|
      check("set of #{kind}", THERE) { client.set('kind', value) }
      check("get of #{kind}", value) { client.get('kind') }
    end
  check('set of a large value', THERE) { client.set('large', large, nil, raw: true) }
  check('get of a large value', large) { client.get('large') }
  check('the longest key', THERE) { client.set('k' * 250, 'x') }
  check('get of the longest key', 'x') { client.get('k' * 250) }
end

def expiry(client)
  check('set for an hour', THERE) { client.set('t', 'x', 3600) }
  check('it is there', 'x') { client.get('t') }
  check('gat', 'x') { client.gat('t', 1800) }
  check('gat of a missing key', nil) { client.gat('none', 1) }
  check('touch', true) { client.touch('t', 1) }
  check('touch of a missing key', nil) { client.touch('none', 1) }
  stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
  sleep 0.05 while client.get('t') && Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
  check('it ends', nil) { client.get('t') }
end

def administration(client)
  check('version', /\A\d+\.\d+/.method(:match?)) { client.version.values[0] }
  check('stats', ->(found) { found['curr_items'].to_i > 5 }) { client.stats.values[0] }
  check('stats settings', ->(found) { found.key?('maxconns') }) do
    client.stats(:settings).values[0]
  end
  check('stats items', ->(found) { found.is_a?(Hash) }) { client.stats(:items).values[0] }
  check('reset_stats', [true]) { client.reset_stats }
  check('flush', [true]) { client.flush }
  check('nothing is there', {}) { client.get_multi('b', 'f', 'large') }
end

place, protocol, name, password = ARGV
options = { socket_timeout: 20, compress: true, value_max_bytes: 4 << 20, raise_errors: true }
options.update(username: name, password: password) if name
options[:protocol] = protocol.to_sym if protocol && Dalli::VERSION >= '3.2'
Dalli.logger.level = Logger::FATAL
client = Dalli::Client.new(place, options)
puts "# Dalli #{Dalli::VERSION}, Ruby #{RUBY_VERSION}"
[:plain, :many, :unique, :counting, :values, :expiry, :administration].each do |part|
  send(part, client)
end
client.close
puts "1..#{$count}"
exit($failed.zero? ? 0 : 1)

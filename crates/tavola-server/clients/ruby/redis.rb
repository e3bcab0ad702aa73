# frozen_string_literal: true

# redis-rb against the server at HOST:PORT or the path of a Unix socket.
#
#     ruby redis.rb PLACE [NAME PASSWORD]

require 'redis'

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

def plain(client)
  check('ping', 'PONG') { client.ping }
  check('set', 'OK') { client.set('a', 'one') }
  check('get', 'one') { client.get('a') }
  check('get of a missing key', nil) { client.get('none') }
  check('set if missing', false) { client.set('a', 'x', nx: true) }
  check('set if there', true) { client.set('a', 'two', xx: true, ex: 1000) }
  check('getset', 'two') { client.getset('a', 'three') }
  check('append', 6) { client.append('a', '!') }
  check('getrange', 'three') { client.getrange('a', 0, -2) }
  check('strlen', 6) { client.strlen('a') }
  check('type', 'string') { client.type('a') }
  check('del', 1) { client.del('a', 'none') }
  check('incr', 1) { client.incr('n') }
  check('incrby', 42) { client.incrby('n', 41) }
  check('decr', 41) { client.decr('n') }
  check('incrbyfloat', 41.5) { client.incrbyfloat('n', 0.5) }
  check('incr of a fraction', ->(found) { found.is_a?(Redis::CommandError) }) { client.incr('n') }
end

def values(client)
  bytes = "#{(0..255).to_a.pack('C*')}\r\n".b
  large = '0123456789' * 90_000
  check('set of every byte', 'OK') { client.set("\0\r\n", bytes) }
  check('get of every byte', bytes) { client.get("\0\r\n").b }
  check('set of a large value', 'OK') { client.set('large', large) }
  check('get of a large value', large) { client.get('large') }
  keys = (0...200).map { |number| "many#{number}" }
  check('a pipeline of sets', ['OK'] * 200) do
    client.pipelined { |pipeline| keys.each { |key| pipeline.set(key, "of #{key}", ex: 1000) } }
  end
  check('mget', keys.map { |key| "of #{key}" } << nil) { client.mget(*keys, 'none') }
  check('scan_each', keys.sort) { client.scan_each(match: 'many*').to_a.uniq.sort }
  check('unlink', 200) { client.unlink(*keys) }
end

def expiry(client)
  check('setex', 'OK') { client.setex('t', 3600, 'x') }
  check('ttl', ->(found) { found > 3500 && found <= 3600 }) { client.ttl('t') }
  check('expire', true) { client.expire('t', 1800) }
  check('persist', true) { client.persist('t') }
  check('ttl of a key that stays', -1) { client.ttl('t') }
  check('pexpire', true) { client.pexpire('t', 50) }
  ending = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
  sleep 0.02 while client.get('t') && Process.clock_gettime(Process::CLOCK_MONOTONIC) < ending
  check('it ends', nil) { client.get('t') }
  check('info', ->(found) { found['redis_version'] =~ /\A\d/ }) { client.info }
  check('config', { 'appendonly' => 'no' }) { client.config(:get, 'appendonly') }
  check('flushdb', 'OK') { client.flushdb }
  check('dbsize', 0) { client.dbsize }
end

place, name, password = ARGV
options = { timeout: 20 }
options.merge!(username: name, password: password) if name
if place.start_with?('/')
  options[:path] = place
else
  host, port = place.split(':')
  options.merge!(host: host, port: port.to_i)
end
client = Redis.new(**options)
puts "# redis-rb #{Redis::VERSION}"
plain(client)
values(client)
expiry(client)
puts "1..#{$count}"
exit($failed.zero? ? 0 : 1)

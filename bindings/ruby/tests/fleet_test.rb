# frozen_string_literal: true

require_relative 'test_case'
require 'socket'
require 'tavola/client'

# Tavola::Client with servers: memcached, tables, servers that are lost, and Dalli beside it.
class FleetTest < TavolaTest
  # A memcached on a free port of this machine.
  class Server
    attr_reader :port

    def initialize
      20.times do
        probe = TCPServer.new('127.0.0.1', 0)
        @port = probe.addr[1]
        probe.close
        @pid = spawn('memcached', '-u', Etc.getpwuid.name, '-l', '127.0.0.1', '-p', @port.to_s,
                     '-U', '0', err: File::NULL)
        return if answers?

        stop
      end
      raise 'memcached does not start'
    end

    def name
      "127.0.0.1:#{@port}"
    end

    def answers?
      600.times do
        return false if Process.wait(@pid, Process::WNOHANG)

        TCPSocket.new('127.0.0.1', @port).close
        return true
      rescue SystemCallError
        sleep 0.05
      end
      false
    end

    def signal(name)
      Process.kill(name, @pid)
    end

    # Stops it, and waits until none of its threads runs any more.
    def pause
      signal(:STOP)
      600.times do
        states = Dir["/proc/#{@pid}/task/*/stat"].map { |file| File.read(file)[/\) (\w)/, 1] }
        return if states.all?('T')

        sleep 0.01
      end
      raise 'memcached does not stop'
    end

    def stop
      signal(:KILL)
      Process.wait(@pid)
    rescue SystemCallError
      nil
    end

    # The flags and the bytes of a key as the server has them.
    def stored(key)
      TCPSocket.open('127.0.0.1', @port) do |socket|
        socket.write("get #{key}\r\n")
        return unless socket.gets =~ /\AVALUE \S+ (\d+) (\d+)/

        [$1.to_i, socket.read($2.to_i)]
      end
    end
  end

  def setup
    super
    skip 'there is no memcached' unless system('command -v memcached >/dev/null')
    @servers = []
  end

  def teardown
    @servers&.each(&:stop)
    super
  end

  def servers(count)
    made = Array.new(count) { Server.new }
    @servers.concat(made)
    made
  end

  VALUES = ['abc', '', 'é', "\xFF\x00\r\n".b, 5, -1, 1.5, nil, true, [1, { 'a' => :b }],
            'x' * 4095, 'y' * 5000, Array.new(3000) { |i| i }, 2**70].freeze

  def test_calls
    client = Tavola::Client.new(servers(2).map(&:name), namespace: 'ns')
    assert_instance_of Tavola::Fleet, client
    VALUES.each_with_index do |value, i|
      assert_equal true, client.set("k#{i}", value)
      value.nil? ? assert_nil(client.get("k#{i}")) : assert_equal(value, client.get("k#{i}"))
    end
    many = VALUES.each_with_index.to_h { |value, i| ["m#{i}", value] }
    client.set_multi(many, 60)
    assert_equal many, client.get_multi(many.keys + ['none'])
    assert_equal 2, client.delete_multi('m0', 'm1', 'none')
    assert_equal [nil, 0], client.get_cas('none')
    assert_equal [false, true], [client.add('k0', 1), client.add('new', 1)]
    assert_equal [true, false], [client.replace('k0', 1), client.replace('none', 1)]
    value, token = client.get_cas('k0')
    assert_equal 1, value
    assert_equal [true, false, nil], %w[k0 k0 none].map { |key| client.set_cas(key, 2, token) }
    assert_equal true, client.cas('k0') { |old| old + 1 }
    assert_nil(client.cas('none') { flunk })
    assert_equal true, client.cas!('bang') { |old| old.inspect }
    assert_equal ['nil', 3], [client.get('bang'), client.get('k0')]
    assert_equal({ 'k0' => 3 }, client.get_multi_cas('k0', 'none').transform_values(&:first))
    assert_equal [nil, 5, 6, 0], [client.incr('n'), client.incr('n', 1, nil, 5), client.incr('n'),
                                  client.decr('n', 100)]
    assert_equal [true, nil], [client.touch('k0', 60), client.touch('none', 60)]
    assert_equal [3, nil], [client.gat('k0', 60), client.gat('none', 60)]
    client.set('raw', 'b', 0, raw: true)
    assert_equal [true, true, false], [client.append('raw', 'c'), client.prepend('raw', 'a'),
                                       client.append('none', 'c')]
    assert_equal 'abc', client.get('raw')
    assert_equal [9, 9], [client.fetch('f') { 9 }, client.fetch('f') { flunk }]
    assert_equal [true, false], [client.delete('f'), client.delete('f')]
    client.quiet { 300.times { |i| client.set("q#{i}", i) } }
    assert_equal 300, client.get_multi((0...300).map { |i| "q#{i}" }).size
    other = Tavola::Client.new(@servers.map(&:name), namespace: 'ns')
    client.quiet { client.set('now', 1) }
    assert_equal 1, other.get('now'), 'what was quiet is done when the block is over'
    client.gat('now', -1)
    assert_nil other.get('now'), 'gat gives the key its new time'
    assert_equal 2, client.version.size
    assert_equal 2, client.stats.count { |_name, figures| figures['pid'] }
    long = 'k' * 400
    [long, 'a b', "line\n", 'é'].each do |key|
      client.set(key, key.size)
      assert_equal key.size, client.get(key)
    end
    client.close
    assert_equal 400, client.get(long), 'the connections are made again'
    assert_equal [true, true], client.flush
    assert_nil client.get('k0')
  end

  def test_what_is_refused
    client = Tavola::Client.new(servers(1).map(&:name))
    assert_raises(ArgumentError) { client.get('') }
    assert_raises(Tavola::MarshalError) { client.set('a', proc {}) }
    assert_raises(Tavola::ValueOverMaxSize) { client.set('a', Random.bytes(2_000_000)) }
    big = Tavola::Client.new([@servers[0].name], value_max_bytes: 1 << 30, compress: false)
    assert_raises(Tavola::ValueOverMaxSize) { big.set('a', Random.bytes(2_000_000)) }
    client.set('text', 'abc')
    assert_match(/non-numeric/, assert_raises(Tavola::ServerError) { client.incr('text') }.message)
    plain = Tavola::Client.new([@servers[0].name], serializer: nil)
    assert_equal "\x04\bI\"\babc\x06:\x06ET".b, plain.get('text'), 'nothing is loaded'
    assert_raises(Tavola::MarshalError) { plain.set('a', [1]) }
    plain.set('broken', 'zz')
    TCPSocket.open('127.0.0.1', @servers[0].port) do |socket|
      [[1, 'zz'], [2, 'zz']].each do |flags, bytes|
        socket.write("set broken #{flags} 0 2\r\n#{bytes}\r\n")
        socket.gets
        assert_raises(Tavola::UnmarshalError) { client.get('broken') }
      end
    end
    assert_raises(ArgumentError) { Tavola::Client.new(['a:1'], bogus: 1) }
    assert_raises(ArgumentError) { Tavola::Client.new(['a b']) }
    assert_raises(Tavola::InvalidArgumentError) { Tavola::Client.new([]) }
    assert_raises(ArgumentError) { Tavola::Client.new(['a:1'], placement: :other) }
  end

  # A server that is silent or gone: its keys raise, those of the others are there.
  # Stores bytes with the flag of a compressed value.
  def store_compressed(bytes)
    TCPSocket.open('127.0.0.1', @servers[0].port) do |socket|
      socket.write("set grown 2 0 #{bytes.bytesize}\r\n", bytes, "\r\n")
      assert_equal "STORED\r\n", socket.gets
    end
  end

  # Returns the most memory that the block had, above what there was before.
  def peak_kb
    kb = ->(name) { File.read('/proc/self/status')[/#{name}:\s+(\d+) kB/, 1].to_i }
    File.write('/proc/self/clear_refs', '5')
    before = kb.call('VmRSS')
    yield
    kb.call('VmHWM') - before
  end

  def test_a_value_that_grows_too_long_is_an_error
    names = servers(1).map(&:name)
    most = 1 << 20
    client = Tavola::Client.new(names, serializer: nil, decompressed_max_bytes: most)
    [0, 1, most].each do |length|
      store_compressed(Zlib.deflate('a' * length))
      assert_equal 'a' * length, client.get('grown')
    end
    store_compressed(Zlib.deflate('a' * (most + 1)))
    error = assert_raises(Tavola::UnmarshalError) { client.get('grown') }
    assert_match(/decompressed_max_bytes/, error.message)
    store_compressed(Zlib.deflate('a' * most)[0...-1])
    assert_raises(Tavola::UnmarshalError) { client.get('grown') }
    deflate = Zlib::Deflate.new
    bomb = Array.new(256) { deflate.deflate("\0" * most) }.join + deflate.finish
    store_compressed(bomb)
    used_kb = peak_kb { assert_raises(Tavola::UnmarshalError) { client.get('grown') } }
    assert_operator used_kb, :<, 64 << 10
    assert_raises(Tavola::UnmarshalError) { Tavola::Client.new(names).get('grown') }
  end

  def test_failures_are_no_misses
    all = servers(3)
    client = Tavola::Client.new(all.map(&:name), socket_timeout: 0.3, down_retry_delay: 0.2)
    keys = (0...60).map { |i| "key#{i}" }
    client.set_multi(keys.to_h { |key| [key, 1] })
    lost, kept = keys.partition { |key| client.server_of(key) == all[1].name }
    all[1].pause
    assert_raises(Tavola::NetworkError) { client.get(lost[0]) }
    assert_raises(Tavola::NetworkError, Tavola::RingError) { client.get_multi(keys) }
    assert_raises(Tavola::NetworkError, Tavola::RingError) { client.fetch(lost[0]) { flunk } }
    assert_raises(Tavola::NetworkError, Tavola::RingError) { client.set_multi(lost[0] => 2) }
    assert_equal kept.size, client.get_multi(kept).size
    all[1].signal(:CONT)
    found = nil
    600.times do
      found = client.get(lost[0])
      break
    rescue Tavola::Error
      sleep 0.05
    end
    assert_includes [1, 2], found, 'the server is used again'
    all[2].stop
    gone = Tavola::Client.new([all[2].name])
    assert_match(/#{all[2].port}/, assert_raises(Tavola::RingError) { gone.get('a') }.message)
    assert_raises(Tavola::RingError) { gone.version }
  end

  def test_processes_and_threads
    client = Tavola::Client.new(servers(1).map(&:name))
    client.set('parent', 'p')
    pids = (0...3).map do |number|
      fork do
        same = (0...200).all? do |i|
          client.set("c#{number}", i)
          client.get("c#{number}") == i
        end
        exit!(same ? 0 : 1)
      end
    end
    threads = (0...4).map do |number|
      Thread.new do
        (0...200).all? do |i|
          value = "#{number}:#{i}" * (i % 3 == 0 ? 1000 : 1)
          client.set("t#{number}", value)
          client.get_multi("t#{number}", 'parent') == { "t#{number}" => value, 'parent' => 'p' }
        end
      end
    end
    assert threads.map(&:value).all?
    pids.each { |pid| assert Process.wait2(pid)[1].success? }
  end

  def test_a_call_that_waits_does_not_stop_other_threads
    server = servers(1)[0]
    client = Tavola::Client.new([server.name], socket_timeout: 2)
    client.set('a', 1)
    server.pause
    ticks = 0
    waiting = Thread.new { assert_raises(Tavola::NetworkError) { client.get('a') } }
    ticks += 1 while waiting.join(0.01).nil?
    assert_operator ticks, :>, 5
  end

  def test_tables
    client = Tavola::Client.new(['tavola:left', 'tavola:right'])
    values = (0...50).to_h { |i| ["k#{i}", { 'n' => i }] }
    client.set_multi(values, 60)
    assert_equal values, client.get_multi(values.keys)
    server = servers(1)[0]
    near = Tavola::Client.new([server.name], near: 'front', near_ttl: 600)
    plain = Tavola::Client.new([server.name])
    plain.set('k', 'first')
    assert_equal 'first', near.get('k')
    plain.set('k', 'second')
    assert_equal 'first', near.get('k')
    near.set('k', 'third')
    assert_equal %w[third third], [near.get('k'), plain.get('k')]
    assert_raises(Tavola::InvalidArgumentError) { Tavola::Client.new(['a:1'], near: 'front') }
  end

  # Dalli and this client read each other's values on three servers.
  def test_dalli
    begin
      require 'dalli'
    rescue LoadError
      skip 'Dalli is not installed'
    end
    Dalli.logger.level = Logger::ERROR
    list = servers(3).map(&:name)
    weighted = [list[0], "#{list[1]}:3", "#{list[2]}:2"]
    [[list, {}], [weighted, { namespace: 'app' }], [list, { compress: false }]].each do |names, set|
      pair = [Tavola::Client.new(names, **set), Dalli::Client.new(names, **set)]
      [[0, 1], [1, 0]].each do |writer, reader|
        VALUES.each_with_index do |value, i|
          pair[writer].set("k#{i}", value)
          read = pair[reader].get("k#{i}")
          value.nil? ? assert_nil(read) : assert_equal(value, read)
          raw = pair[writer].set("r#{i}", value, 0, raw: true)
          assert raw
          assert_equal pair[writer].get("r#{i}"), pair[reader].get("r#{i}")
        end
        keys = (0...200).map { |i| "many:#{i}" } + ['l' * 251, 'm' * 300, 'a b', 'é']
        keys.each { |key| pair[writer].set(key, key) }
        # Dalli names long keys as the servers have them.
        assert_equal keys.sort, pair[reader].get_multi(*keys).values.sort
      end
      pair[0].delete('n')
      assert_equal 7, pair[0].incr('n', 1, nil, 7)
      assert_equal 8, pair[1].incr('n')
    end
    Tavola::Client.new(list).set('flags', 'z' * 9000)
    assert_equal [3], @servers.filter_map { |server| server.stored('flags')&.first }
  end
end

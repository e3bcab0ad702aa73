# frozen_string_literal: true

require_relative 'test_case'
require 'net/http'
require 'rbconfig'
require 'socket'

# A real cluster of Puma: two workers share a table, and one of them is killed while it writes.
class PumaTest < TavolaTest
  def start
    Gem::Specification.find_by_name('puma')
    @port = TCPServer.open('127.0.0.1', 0) { |server| server.addr[1] }
    paths = $LOAD_PATH.select { |path| path.include?('bindings') }
    env = { 'RUBYLIB' => paths.map { |path| File.expand_path(path) }.join(File::PATH_SEPARATOR) }
    @server = spawn(env, RbConfig.ruby, '-W0', '-S', 'puma', '--quiet', '--workers', '2',
                    '--threads', '2:2', '--preload', '--bind', "tcp://127.0.0.1:#{@port}",
                    File.join(__dir__, 'puma/config.ru'),
                    out: File.join(@tavola_dir, 'puma.log'), err: %i[child out], pgroup: true)
    eventually(40) { get('/pid') }
  rescue Gem::MissingSpecError
    skip 'Puma is not installed'
  end

  def get(path)
    Net::HTTP.start('127.0.0.1', @port, open_timeout: 5, read_timeout: 20,
                                       max_retries: 0) do |http|
      http.get(path).body
    end
  rescue SystemCallError, EOFError, Net::OpenTimeout, Net::ReadTimeout
    nil
  end

  def teardown
    if @server
      Process.kill(:TERM, @server)
      begin
        Timeout.timeout(10) { Process.wait(@server) }
      rescue Timeout::Error
        Process.kill(:KILL, -@server)
        Process.wait(@server)
      end
    end
    super
  end

  def test_workers_share_a_table_and_one_is_killed_while_it_writes
    start
    pids = []
    eventually(40) { (pids |= [get('/pid')].compact).size == 2 }
    web = Tavola.open('web')
    20.times { assert get('/count') }
    assert_equal 20, web['hits']
    Array.new(8) { Thread.new { assert_equal 'page', get('/page') } }.each(&:join)
    assert_equal 1, web['renders'], 'the page was rendered once for both workers'

    writer = Thread.new { get('/forever') }
    eventually { web['writer'] }
    victim = web['writer']
    assert_includes pids, victim.to_s
    sets = web.stats[:sets]
    eventually { web.stats[:sets] > sets + 100 }
    Process.kill(:KILL, victim)
    writer.join
    20.times { eventually { get('/count') } }
    assert_operator web['hits'], :>=, 40
    eventually(40) { (pids |= [get('/pid')].compact).size == 3 }
    web.reclaim
    assert_equal 0, web.check[:problems]
    web.close
  end
end

# frozen_string_literal: true

# Every test has a directory of tables of its own, which is removed at its end.

require 'minitest'
require 'tavola'
require 'tmpdir'
require 'fileutils'
require 'timeout'

class TavolaTest < Minitest::Test
  # No test may hang for longer than this.
  LIMIT = 60

  attr_reader :table

  def self.scratch
    File.writable?('/dev/shm') ? '/dev/shm' : Dir.tmpdir
  end

  def setup
    @tavola_dir = Dir.mktmpdir('tavola-ruby-', TavolaTest.scratch)
    @old_dir = ENV['TAVOLA_DIR']
    ENV['TAVOLA_DIR'] = @tavola_dir
    @children = []
    @table = Tavola.open('test', max_size: 64 << 20)
  end

  def teardown
    @children.each { |pid| stop(pid) }
    @table.close
    FileUtils.rm_rf(@tavola_dir)
    ENV['TAVOLA_DIR'] = @old_dir
  end

  # Raised and not thrown, so that only this test fails.
  class TooSlow < Exception
  end

  def run
    Timeout.timeout(limit, TooSlow) { super }
  end

  def limit
    LIMIT
  end

  # Runs the block in a child, whose exit code is 0 if the block returns something true.
  def child
    pid = fork do
      code = 3
      begin
        code = yield ? 0 : 1
      rescue Exception => error # The parent sees only the exit code.
        warn error.full_message unless error.is_a?(SignalException)
      ensure
        exit!(code)
      end
    end
    @children << pid
    pid
  end

  def wait_for_child(pid)
    @children.delete(pid)
    Process.wait2(pid).last
  end

  def assert_child(pid)
    status = wait_for_child(pid)
    assert status.success?, "the child ended with #{status}"
  end

  def stop(pid)
    Process.kill(:KILL, pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end

  # Waits until the block is true, for at most some seconds.
  def eventually(seconds = 20)
    deadline = monotonic + seconds
    until yield
      flunk 'it did not happen in time' if monotonic > deadline
      sleep 0.005
    end
  end

  def monotonic
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# frozen_string_literal: true

require_relative 'test_case'

class LogTest < TavolaTest
  def setup
    super
    @log = Tavola::Log.open('events', bytes: 1 << 20, stderr: false)
  end

  attr_reader :log

  def test_lines_and_levels
    reader = log.reader
    log.error('e').warn('w').info('i').debug('d').trace("grüße\n2")
    lines = reader.lines
    assert_equal ['e', 'w', 'i', 'd', "grüße\n2"], lines.map(&:text)
    assert_equal [1, 2, 3, 4, 5], lines.map(&:level)
    assert_equal [Process.pid], lines.map(&:pid).uniq
    assert_match(/\A\d{4}-\d\d-\d\dT.*Z  INFO \d+\/\d+ i\z/, lines[2].printed)
    assert_in_delta Time.now.to_f, lines[0].time.to_f, 60
    assert_equal [], reader.lines
    assert_equal [], log.reader.skip.lines
    assert_equal 0, reader.missed
    assert_equal 5, log.stats[:lines]
    assert_equal 0, log.dropped
    assert_raises(Tavola::InvalidArgumentError) { log.line(9, 'x') }
    reader.close
    assert_raises(Tavola::ClosedError) { reader.lines }
  end

  def test_lines_of_a_killed_process_stay
    pid = child { log.info('last words') && sleep }
    eventually { log.stats[:lines] == 1 }
    stop(pid)
    @children.delete(pid)
    reader = Tavola::Log.open('events', read_only: true).reader
    assert_equal ['last words'], reader.lines.map(&:text)
  end

  def test_drain
    drain = log.drain
    assert_raises(Tavola::AlreadyDrainedError) { log.drain }
    log.info('hello')
    path = File.join(@tavola_dir, 'out')
    File.open(path, 'w') { |file| assert_equal 1, drain.finish(file) }
    assert_match(/ hello\n\z/, File.read(path))
    drain.close
    assert_raises(Tavola::ClosedError) { drain.pass(1) }
  end

  def test_logger
    logger = Tavola::Logger.new(log, level: :info, progname: 'web')
    refute logger.debug?
    logger.debug('not written')
    logger.info('one')
    logger.warn { 'two' }
    logger.error('other') { 'three' }
    logger.fatal(ArgumentError.new('four'))
    logger.unknown(nil)
    logger << "five\n"
    logger.log(::Logger::INFO, 'six')
    lines = log.reader.lines
    assert_equal ['web: one', 'web: two', 'other: three', 'web: four (ArgumentError)', 'web: web',
                  'five', 'web: six'], lines.map { |line| line.text.lines.first.chomp }
    assert_equal [3, 2, 1, 1, 1, 3, 3], lines.map(&:level)
    logger.formatter = proc { |severity, _time, _name, message| "#{severity}|#{message}\n" }
    reader = log.reader.skip
    logger.warn('seven')
    assert_equal ['WARN|seven'], reader.lines.map(&:text)
    assert_same log, logger.shared_log
    logger.close
    assert log.closed?
  end

  def test_logger_by_name_and_device
    Tavola::Logger.new('other', stderr: false).info('hello')
    assert_equal 1, Tavola::Log.open('other', create: false).stats[:lines]
    logger = ::Logger.new(Tavola::LogDevice.new(log))
    logger.error('broken')
    line = log.reader.lines.first
    assert_equal 1, line.level
    assert_match(/ERROR -- : broken\z/, line.text)
    logger.close
    assert log.closed?
  end

  def test_what_is_refused
    assert_raises(Tavola::NoTableError) { Tavola::Log.open('none', create: false) }
    assert_raises(Tavola::NoObjectError) { Tavola::Log.open('test') }
    assert_raises(ArgumentError) { Tavola::Log.open('x', overload: :explode) }
    log.close
    assert_raises(Tavola::ClosedError) { log.info('x') }
  end

  def test_lines_of_many_processes_and_threads
    pids = Array.new(3) do |i|
      child do
        threads = Array.new(2) do |j|
          Thread.new { 100.times { |n| log.info("#{i} #{j} #{n}") } }
        end
        threads.each(&:join)
      end
    end
    pids.each { |pid| assert_child(pid) }
    texts = log.reader.lines.map(&:text)
    assert_equal 600, texts.uniq.size
  end

  def test_a_writer_waits_for_the_drain_of_another_thread
    full = Tavola::Log.open('full', bytes: 65_536, overload: :block, stderr: false)
    drain = full.drain
    written = Queue.new
    drainer = Thread.new do
      File.open(File::NULL, 'w') { |null| drain.pass(null) && Thread.pass while written.empty? }
    end
    500.times { |i| full.info("line #{i} #{'x' * 1000}") }
    written << true
    drainer.join
    assert_equal 0, full.dropped
    drain.close
    full.close
  end

  def test_lines_are_shown_while_there_is_no_drain
    _out, err = capture_subprocess_io { Tavola::Log.open('shown').warn('look') }
    assert_match(/ WARN .* look$/, err)
  end
end

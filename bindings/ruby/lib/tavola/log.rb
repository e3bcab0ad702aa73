# frozen_string_literal: true

require 'logger'

module Tavola
  # A log in shared memory that all processes write lines to, without a lock and without a system
  # call. A line is kept even if its writer is killed right after. Lines can be read until they are
  # overwritten; `tavola log` in the shell shows them, follows them, and writes them to a file.
  #
  # While no drain writes the lines out, each line is also shown on standard error, unless the log
  # is opened with `stderr: false`.
  #
  # @!method line(level, text)
  #   Writes a line of a level of {LEVELS}, by its number.
  #   @return [self]
  #   @example
  #     log.line(3, 'hello')
  #
  # @!method dropped
  #   Returns how many lines were lost since the log was created, for lack of room.
  #   @return [Integer]
  #   @example
  #     log.dropped # => 0
  #
  # @!method bytes
  #   Returns how many bytes of lines the log has room for.
  #   @return [Integer]
  #   @example
  #     log.bytes # => 4 << 20
  #
  # @!method path
  #   Returns the path of the log's file.
  #   @return [String]
  #   @example
  #     File.exist?(log.path) # => true
  #
  # @!method stats
  #   Returns the state of the log: `:lines`, `:awaiting`, `:dropped`, `:used_bytes` and others.
  #   @return [Hash]
  #   @example
  #     log.info('hello')
  #     log.stats[:lines] # => 1
  #
  # @!method show_on_stderr=(is_shown)
  #   Sets whether lines are shown on standard error while the log has no drain.
  #   @example
  #     log.show_on_stderr = false
  #
  # @!method close
  #   Closes the log.
  #   @return [nil]
  #   @example
  #     log.close # => nil
  #
  # @!method closed?
  #   Returns whether the log is closed.
  #   @return [Boolean]
  #   @example
  #     log.closed? # => false
  #
  # @!method reader
  #   Opens a reader, which begins with the oldest line of the log.
  #   @return [Reader]
  #   @example
  #     log.info('hello')
  #     log.reader.lines.map(&:text) # => ['hello']
  #
  # @!method drain
  #   Opens the drain, which writes lines out. A log has one at a time.
  #   @return [Drain]
  #   @raise [AlreadyDrainedError]
  #   @example
  #     drain = log.drain
  #     log.info('hello')
  #     File.open(File::NULL, 'w') { |file| drain.finish(file) } # => 1
  #     drain.close
  class Log
    # The numbers of the levels.
    LEVELS = { error: 1, warn: 2, info: 3, debug: 4, trace: 5 }.freeze

    # Opens a log, and creates it if it does not exist. A log that exists keeps its size.
    #
    # @param bytes [Integer, nil] room for lines; 4 MiB by default
    # @param overload [:drop_oldest, :drop_newest, :block] what happens to a line without room
    # @param mode [Integer, nil] the mode of a new file; 0600 by default
    # @param create [Boolean] false: raises {NoTableError} if the log does not exist
    # @param read_only [Boolean] true: opens a log that exists, for {#reader}
    # @param stderr [Boolean] false: lines are not shown on standard error
    # @return [Log]
    # @example
    #   events = Tavola::Log.open('events', bytes: 1 << 20, stderr: false)
    #   events.warn('cart 3 is late')
    def self.open(name, bytes: nil, overload: :drop_oldest, mode: nil, create: true,
                  read_only: false, stderr: true)
      unless %i[drop_oldest drop_newest block].include?(overload)
        raise ArgumentError, 'overload is :drop_oldest, :drop_newest or :block'
      end

      how = read_only ? :read_only : (create ? :open : :existing)
      log = open_log(name, bytes, overload, mode, how)
      log.show_on_stderr = stderr unless read_only
      log
    end

    # Writes a line.
    # @return [self]
    # @example
    #   log.error('the disk is full')
    def error(text)
      line(1, text)
    end

    # Writes a line.
    # @return [self]
    # @example
    #   log.warn('the disk is almost full')
    def warn(text)
      line(2, text)
    end

    # Writes a line.
    # @return [self]
    # @example
    #   log.info('cart 3 is ready')
    def info(text)
      line(3, text)
    end

    # Writes a line.
    # @return [self]
    # @example
    #   log.debug('3 rows')
    def debug(text)
      line(4, text)
    end

    # Writes a line.
    # @return [self]
    # @example
    #   log.trace('select took 2 ms')
    def trace(text)
      line(5, text)
    end

    # A line, as {Reader#lines} returns it.
    #
    # @!attribute [r] text
    #   @return [String]
    # @!attribute [r] level
    #   @return [Integer] one of the values of {LEVELS}
    # @!attribute [r] unix_ns
    #   @return [Integer] nanoseconds since 1970
    # @!attribute [r] pid
    #   @return [Integer] the process that wrote the line
    # @!attribute [r] tid
    #   @return [Integer] the thread that wrote it
    # @!attribute [r] cut
    #   @return [Integer] how many bytes at the end had no room
    # @!attribute [r] printed
    #   @return [String] the line as `tavola log show` prints it
    class Line
      # Returns when the line was written.
      # @return [Time]
      # @example
      #   log.info('hello')
      #   log.reader.lines.first.time <= Time.now # => true
      def time
        Time.at(unix_ns / 1_000_000_000, unix_ns % 1_000_000_000, :nanosecond)
      end
    end

    # Reads the lines of a log, and leaves them for others.
    #
    # @!method lines
    #   Returns the lines that this reader has not returned before, in the order of their times.
    #   @return [Array<Line>]
    #   @example
    #     reader = log.reader
    #     log.info('hello')
    #     reader.lines.size # => 1
    #     reader.lines # => []
    #
    # @!method skip
    #   Skips all lines that the log has now.
    #   @return [self]
    #   @example
    #     log.info('hello')
    #     log.reader.skip.lines # => []
    #
    # @!method missed
    #   Returns how many pieces of the log were overwritten before they were read.
    #   @return [Integer]
    #   @example
    #     log.reader.missed # => 0
    #
    # @!method close
    #   Closes the reader.
    #   @return [nil]
    #   @example
    #     log.reader.close # => nil
    class Reader
    end

    # Writes the lines of a log out, in the order of their times.
    #
    # @!method pass(io)
    #   Writes the lines that are due to a file, a pipe or a terminal. Lines of the last millisecond
    #   may not be due yet.
    #   @return [Integer] how many lines
    #   @example
    #     log.drain.pass(File.open(File::NULL, 'w')) # => 0
    #
    # @!method finish(io)
    #   Writes all lines, at the end, when the writers have ended.
    #   @return [Integer] how many lines
    #   @example
    #     log.info('hello')
    #     log.drain.finish(File.open(File::NULL, 'w')) # => 1
    #
    # @!method close
    #   Closes the drain.
    #   @return [nil]
    #   @example
    #     log.drain.close # => nil
    class Drain
    end
  end

  # A Logger that writes to a shared log. The level of a line is a field of it, and time, process
  # and thread are those of the log; so the text is only the message, with the name of the program
  # before it if there is one.
  #
  # @example
  #   logger = Tavola::Logger.new(log, progname: 'web')
  #   logger.warn('cart 3 is late')
  #   log.reader.lines.first.text # => 'web: cart 3 is late'
  class Logger < ::Logger
    # The levels of Logger as those of a log.
    LEVEL_OF = { DEBUG => 4, INFO => 3, WARN => 2, ERROR => 1, FATAL => 1, UNKNOWN => 1 }.freeze
    private_constant :LEVEL_OF

    # @return [Log] the log that it writes to
    attr_reader :shared_log

    # @param log [Log, String] a log, or its name
    # @param level [Integer, Symbol, String] lines below this level are not written
    # @param progname [String, nil]
    # @param formatter [#call, nil] makes the text of a line, as for Logger
    # @param options for {Log.open}, if `log` is a name
    # @example
    #   logger = Tavola::Logger.new('events', level: :info, stderr: false)
    #   logger.info('cart 3 is ready') # => true
    def initialize(log, level: DEBUG, progname: nil, formatter: nil, **options)
      super(nil, level: level, progname: progname, formatter: formatter)
      @shared_log = log.is_a?(Log) ? log : Log.open(log, **options)
    end

    # Writes a line, as Logger#add does.
    # @return [true]
    # @example
    #   Tavola::Logger.new(log).add(Logger::INFO, 'hello') # => true
    def add(severity, message = nil, progname = nil)
      severity ||= UNKNOWN
      return true if severity < level

      progname = @progname if progname.nil?
      if message.nil?
        message, progname = block_given? ? [yield, progname] : [progname, @progname]
      end
      @shared_log.line(LEVEL_OF.fetch(severity, 3), text_of(severity, message, progname))
      true
    end
    alias log add

    # Writes a line of the level `info`, as Logger#<< does.
    # @return [self]
    # @example
    #   Tavola::Logger.new(log) << 'hello'
    def <<(message)
      @shared_log.info(message.to_s.chomp)
      self
    end

    # Closes the log.
    # @return [nil]
    # @example
    #   Tavola::Logger.new(log).close
    def close
      @shared_log.close
    end

    private

    def text_of(severity, message, progname)
      if @formatter
        name = format_severity(severity)
        return @formatter.call(name, Time.now, progname, message).to_s.chomp
      end
      text = case message
             when ::String then message
             when ::Exception
               "#{message.message} (#{message.class})\n#{message.backtrace&.join("\n")}"
             else message.inspect
             end
      (progname ? "#{progname}: #{text}" : text).chomp
    end
  end

  # A device for any other logger: an object with `write` and `close`.
  #
  # @example
  #   logger = Logger.new(Tavola::LogDevice.new(log))
  #   logger.error('the disk is full')
  #   log.reader.lines.first.level # => 1
  class LogDevice
    # How Ruby's own formatter begins a line.
    LEVEL_OF = { 'D' => 4, 'I' => 3, 'W' => 2, 'E' => 1, 'F' => 1, 'A' => 1 }.freeze
    private_constant :LEVEL_OF

    # @param log [Log, String] a log, or its name
    # @param options for {Log.open}, if `log` is a name
    def initialize(log, **options)
      @log = log.is_a?(Log) ? log : Log.open(log, **options)
    end

    # Writes a line. Its level is read off the text if Ruby's own formatter made it.
    # @return [Integer] how many bytes
    # @example
    #   Tavola::LogDevice.new(log).write("hello\n") # => 6
    def write(text)
      level = LEVEL_OF.fetch(text[/\A([DIWEFA]), \[/, 1], 3)
      @log.line(level, text.chomp)
      text.bytesize
    end

    # Closes the log.
    # @return [nil]
    # @example
    #   Tavola::LogDevice.new(log).close
    def close
      @log.close
    end
  end
end

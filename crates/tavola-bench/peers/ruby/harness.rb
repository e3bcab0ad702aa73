# What the programs in Ruby share: a store says how it is used, the harness does the rest.
#
# A program takes one job, a JSON object, as its argument and prints a JSON line a phase. The loops,
# the clock, keys, values and the comparison of every answer are the harness's, as in c/harness.c.
#
# A store has: put(key, value), get(key), close, version.

require "json"

class Harness
  # Operations between two looks at the clock.
  STRIDE = 16
  # A put may take so many times as long as the other phases, so that all of the keys are there.
  PUT_TIMES = 8

  # Does the job of the program's argument on the store that the block opens.
  def self.run(&open)
    new(JSON.parse(ARGV.last), open).work
  rescue StandardError => error
    puts JSON.generate("error" => error.message.lines.first.to_s.strip)
    exit 1
  end

  def initialize(job, open)
    @job = job
    @case = job["case"]
    @open = open
    @keys = Array.new(@case["keys"]) { |index| format("k%07d", index) }
    @values = []
    @there = 0
    @passes = 0
  end

  def work
    @store = @open.call(@job)
    @case["phases"].each { |phase| play(phase) }
    @store.close
    puts JSON.generate("end" => true, "version" => @store.version, "bytes" => 0,
                       "keys" => @there, "peak_rss_bytes" => peak_rss_bytes)
  end

  private

  def play(phase)
    case phase
    when "put", "write" then time(phase, @keys.size, true) { |index| put(index) }
    when "get", "read" then time(phase, @there, false) { |index| get(index) }
    else raise "it knows no phase #{phase}"
    end
  end

  # Digits of the key and of how often all keys were put; the last digit changes with every pass and
  # comes first.
  def value(index)
    word = format("%08x", (index * 2_654_435_761 + @passes) & 0xffff_ffff).reverse
    length = @case["value_bytes"]
    (word * (length / 8 + 1))[0, length]
  end

  def put(index)
    @store.put(@keys[index], @next[index])
    @values[index] = @next[index]
    @there = index + 1 if index >= @there
  end

  def get(index)
    @wrong = true unless @store.get(@keys[index]) == @values[index]
  end

  # Goes over the keys again and again. Values are made before each pass, which does not count.
  def time(phase, keys, puts)
    @wrong = false
    @limit_ns = (@case["limit_ms"] || 1_000_000) * 1_000_000 * (puts ? PUT_TIMES : 1)
    @done = @spent_ns = 0
    @cpu = 0.0
    while @done < @case["loops"] && @spent_ns <= @limit_ns && keys.positive?
      if puts
        @passes += 1
        @next = Array.new(keys) { |index| value(index) }
      end
      pass([keys, @case["loops"] - @done].min) { |index| yield index }
    end
    tell(phase)
  end

  def pass(count)
    cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    begin_ns = now_ns
    index = 0
    while index < count
      yield index
      index += 1
      break if (index % STRIDE).zero? && @spent_ns + now_ns - begin_ns > @limit_ns
    end
    @spent_ns += now_ns - begin_ns
    @cpu += Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
    @done += index
  end

  def tell(phase)
    line = { "phase" => phase, "ops" => @done, "seconds" => @spent_ns / 1e9, "cpu_seconds" => @cpu,
             "verified" => !@wrong }
    line["note"] = "only #{@done} of #{@case["loops"]} within its time" if @done < @case["loops"]
    puts JSON.generate(line)
    $stdout.flush
  end

  def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  def peak_rss_bytes = File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i * 1024
end

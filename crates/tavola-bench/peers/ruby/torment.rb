# A process of a trial of the torment table, on PStore: one file, a transaction an operation.
# The parts, the board and the values are those of src/compare/torment.

require "fileutils"
require "json"
require "pstore"

STRIDE = 16
SLOT_BYTES = 64
FEW = 3

# The file in which processes note how far they have come.
class Board
  def initialize(path, slot)
    @file = File.open(path, "r+b")
    @slot = slot
  end

  def note(numbers)
    @file.pwrite(numbers.pack("Q5"), @slot * SLOT_BYTES)
  end

  def stop?
    @file.pread(8, 0).unpack1("Q") != 0
  end
end

# Keys and values that say what they are.
module Value
  def self.key(prefix, index) = format("%s%07d", prefix, index)

  def self.value(key, number, value_bytes)
    unit = format("%s:%016x:", key, number)
    length = value_bytes + number * 37 % 251
    (unit * (length / unit.bytesize + 1))[0, length]
  end

  # The number of the put that put this value; nil if none did.
  def self.number_of(key, value, value_bytes)
    return nil unless value.start_with?("#{key}:")
    number = value[key.bytesize + 1, 16].to_s.to_i(16)
    value == value(key, number, value_bytes) ? number : nil
  end

  # The last put to key `index` of those up to `last`; nil: there was none.
  def self.due(index, keys, last)
    number = last - (last - index) % keys
    number.positive? ? number : nil
  end
end

# One file, rewritten by each transaction.
class Store
  def initialize(folder)
    FileUtils.mkdir_p(folder)
    @store = PStore.new(File.join(folder, "store.pstore"))
    get("a0000000")
  end

  def put(key, value) = @store.transaction { @store[key] = value }
  def get(key) = @store.transaction(true) { @store[key] }
  def remove(key) = @store.transaction { @store.delete(key) }

  def add_one(key)
    @store.transaction { @store[key] = (@store[key] || 0) + 1 }
    "a transaction"
  end

  def hold(key)
    get(key)
    "an open store, of which readers hold nothing"
  end
end

# What a process does.
class Part
  def initialize(job)
    @job = job
    @board = Board.new(job["board"], job["slot"])
    @ops = @acked = @wrong = @vanished = 0
    @answer = { "opened" => false }
    @deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + job["millis"] / 1000.0
    @prefix = job["prefixes"][0]
  end

  def play
    @store = Store.new(@job["store"])
    @answer["opened"] = true
    note
    send(@job["role"])
  rescue SystemCallError, PStore::Error, ArgumentError, TypeError, EOFError, NoMemoryError => error
    @answer["error"] = error.message
  ensure
    @answer["done"] = @ops
    puts "", JSON.generate(@answer)
  end

  private

  def note = @board.note([1, @ops, @acked, @wrong, @vanished])

  def go_on?
    @ops += 1
    note
    return false if @job["ops"].positive? && @ops >= @job["ops"]
    return true unless (@ops % STRIDE).zero?
    Process.clock_gettime(Process::CLOCK_MONOTONIC) < @deadline && !@board.stop?
  end

  def key_of(number) = Value.key(@prefix, number % @job["keys"])

  def put(number)
    key = key_of(number)
    @store.put(key, Value.value(key, number, @job["value_bytes"]))
  end

  def write
    number = @job["from"]
    loop do
      put(number)
      @acked = number
      break unless go_on?
      number += 1
    end
  end

  def read
    random = Random.new(@job["seed"])
    seen = {}
    loop do
      key = Value.key(@job["prefixes"][random.rand(@job["prefixes"].size)], random.rand(@job["keys"]))
      value = @store.get(key)
      number = value && Value.number_of(key, value, @job["value_bytes"])
      if value && number.nil?
        @wrong += 1
      elsif (number || 0) < (seen[key] || 0)
        @vanished += 1
      else
        seen[key] = number
      end
      break unless go_on?
    end
  end

  def verify
    verifyfull
    @answer["works"] = takes_a_put?
  end

  def verifyfull
    keys, last = @job.values_at("keys", "from")
    count = { "good" => 0, "lost" => 0, "torn" => 0 }
    (0...[keys, last + 2].min).each do |index|
      key = Value.key(@prefix, index)
      value = @store.get(key)
      number = value && Value.number_of(key, value, @job["value_bytes"])
      state = if value && number.nil? then "torn"
              elsif number == Value.due(index, keys, last) || number == last + 1 then "good"
              else "lost"
              end
      count[state] += 1
    end
    @answer.merge!(count)
  end

  # A store that is read well may still refuse: that is no fault of what was read.
  def takes_a_put?
    @store.put("zprobe00", "probe")
    @store.get("zprobe00") == "probe"
  rescue SystemCallError, PStore::Error => error
    @answer["means"] = error.message
    false
  end

  def remove
    (1..@job["from"] / 2).each { |number| @store.remove(key_of(number)) }
    (1..FEW).each { |number| put(number) }
    key = key_of(FEW)
    @answer["works"] = @store.get(key) == Value.value(key, FEW, @job["value_bytes"])
  end

  def probe
    key, value = "k" * @job["key_bytes"], "v" * @job["value_bytes"]
    begin
      @store.put(key, value)
    rescue SystemCallError, PStore::Error, ArgumentError, TypeError => error
      @answer.merge!("seen" => "refused", "means" => error.message)
      return
    end
    found = @store.get(key)
    @answer["seen"] = if found == value then "same" elsif found then "other" else "missing" end
  end

  def hold
    @answer["means"] = @store.hold(Value.key(@prefix, 0))
    go_on?
    until @board.stop? || Process.clock_gettime(Process::CLOCK_MONOTONIC) >= @deadline
      sleep 0.002
    end
  end

  def count
    loop do
      @answer["means"] = @store.add_one("counter")
      break unless go_on?
    end
  end

  def total
    @answer["total"] = @store.get("counter") || 0
  end
end

Part.new(JSON.parse(ARGV.last)).play

# frozen_string_literal: true

# The measurements. All times are nanoseconds for one call.
module Runs
  # A cell of a slow store is measured for about this long.
  SECONDS = 0.5
  WARM_SECONDS = 0.1

  class << self
    # What measures: CLOCK_MONOTONIC, or CLOCK_PROCESS_CPUTIME_ID on a machine that is busy.
    attr_writer :clock

    def now
      Process.clock_gettime(@clock, :nanosecond)
    end
  end
  self.clock = Process::CLOCK_MONOTONIC

  module_function

  # The median of some times, and their spread: the distance between the quartiles.
  Figure = Struct.new(:ns, :spread) do
    def self.of(values)
      sorted = values.sort
      at = ->(share) { sorted[(share * (sorted.size - 1)).round] }
      new(at.call(0.5), at.call(0.75) - at.call(0.25))
    end
  end

  # The time of a call in a loop, without that of the loop itself. Stops early when it takes long.
  def per_call(count, limit: SECONDS)
    GC.start
    # Memory that the last store gave back is taken again first.
    warm_up(count) { |i| yield i }
    start = Runs.now
    done = 0
    until done >= count
      step = [done.zero? ? 1 : 500, done, count - done].select(&:positive?).min
      i = done
      stop = done + step
      while i < stop
        yield i
        i += 1
      end
      done = stop
      break if Runs.now - start > limit * 1e9
    end
    (Runs.now - start).fdiv(done) - empty_loop
  end

  def warm_up(count)
    start = Runs.now
    count.times do |i|
      yield i
      break if Runs.now - start > WARM_SECONDS * 1e9
    end
  end

  def empty_loop
    @empty_loop ||= begin
      call = ->(i) { i }
      start = Runs.now
      i = 0
      while i < 1_000_000
        call.call(i)
        i += 1
      end
      (Runs.now - start) / 1e6
    end
  end

  # The keys are read and written in an order that does not follow their places in memory.
  def calls(stores, keys, value_of, count, rounds)
    names = Array.new(keys) { |i| "key:#{i}".freeze }
    values = Array.new([keys, 1000].min) { |i| value_of.call(i).freeze }
    order = Array.new(count) { |i| (i * 7919) % keys }
    absent = Array.new(1000) { |i| "absent:#{i}".freeze }
    stores.each_value { |one| fill(one, names, values) }
    samples = Hash.new { |hash, name| hash[name] = Hash.new { |own, what| own[what] = [] } }
    rounds.times do
      stores.each do |name, one|
        get, put = one.get, one.put
        own = samples[name]
        own['get'] << per_call(count) { |i| get.call(names[order[i]]) }
        own['put'] << per_call(count) { |i| put.call(names[order[i]], values[i % values.size]) }
        own['miss'] << per_call(count) { |i| get.call(absent[i % 1000]) }
      end
    end
    samples.transform_values { |own| own.transform_values { |all| Figure.of(all) } }
  end

  def fill(store, names, values)
    pairs = names.each_with_index.map { |name, i| [name, values[i % values.size]] }
    store.fill ? store.fill.call(pairs) : pairs.each { |name, value| store.put.call(name, value) }
  end

  def own_calls(keys, rounds)
    table = Tavola.open('own')
    names = Array.new(keys) { |i| "key:#{i}".freeze }
    table.set_multi(names.to_h { |name| [name, 'v' * 16] })
    groups = names.each_slice(100).to_a
    pairs = groups.map { |group| group.to_h { |name| [name, 'v' * 16] } }
    hot = names.first(1000)
    tests = {
      'get of 1,000 keys' => ->(i) { table[hot[i % 1000]] },
      'put of 1,000 keys' => ->(i) { table[hot[i % 1000]] = 'v' * 16 },
      'key?' => ->(i) { table.key?(names[i % keys]) },
      'increment' => ->(i) { table.increment("n#{i % 100}") },
      'compute, a hit' => ->(i) { table.compute(names[i % keys], ttl: 60) { 'v' } },
      'cas of gets' => ->(i) { table.cas(names[i % keys], 'v', table.gets(names[i % keys]).last) },
      'lock' => ->(_) { table.lock('lock') { nil } }
    }
    many = {
      'get_multi of 100' => ->(i) { table.get_multi(groups[i % groups.size]) },
      'set_multi of 100' => ->(i) { table.set_multi(pairs[i % groups.size]) }
    }
    rows = tests.transform_values { |test| time(test, 100_000, 1, rounds) }
    rows.merge!(many.transform_values { |test| time(test, 2000, 100, rounds) })
    whole = ->(_) { table.each { |_key, value| value } }
    rows['each'] = time(whole, 3, table.size, rounds)
    rows.transform_values { |figure| { 'ns' => figure } }
  end

  def time(test, count, keys, rounds)
    Figure.of(Array.new(rounds) { per_call(count) { |i| test.call(i) } / keys })
  end

  # Records of 8 KB, put and got again and again.
  def records(stores, records, count, rounds)
    names = Array.new(records) { |i| "record#{i}".freeze }
    values = Array.new(10) { |i| ('a'.ord + i).chr * 8192 }
    stores.each_value { |one| fill(one, names, values) }
    samples = Hash.new { |hash, name| hash[name] = { 'put' => [], 'get' => [] } }
    rounds.times do
      stores.each do |name, one|
        put, get = one.put, one.get
        # A record gets another value each time: PStore writes nothing if nothing has changed.
        samples[name]['put'] << per_call(count) do |i|
          put.call(names[i % records], values[(i + i / records) % 10])
        end
        samples[name]['get'] << per_call(count) { |i| get.call(names[i % records]) }
      end
    end
    samples.transform_values { |own| own.transform_values { |all| Figure.of(all) } }
  end
end

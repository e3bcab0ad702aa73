# frozen_string_literal: true

# Runs under valgrind: the common cases, and as many times as the argument says one of every other
# call.

require 'tavola'
require_relative 'cases_runner'

CasesRunner.cases.each do |one|
  # Values of megabytes take valgrind long and show nothing that shorter ones do not.
  next if JSON.generate(one).include?('"times":500000')

  problem = CasesRunner.new(one, 'case').run
  abort problem if problem
end

once = lambda do |round|
  Tavola.open("test#{round}", max_size: 8 << 20, serializer: :marshal) do |table|
    table.set('a', { b: 1r }, ttl: 60, tags: %w[x y])
    table.compute('c', tags: ['x'], stale: 5, ttl: 5) { 'x' * 3000 }
    table.compute('c') { abort }
    begin
      table.compute('failing') { raise 'no' }
    rescue RuntimeError
      table.fetch('failing', ttl: 1) { abort } rescue Tavola::NotComputedError
    end
    table.lock('l') { table.locked?('l') }
    table.watch('a').wait(0)
    many = (0...300).to_h { |i| ["k#{i}", [:symbol, 'x' * i]] }
    table.set_multi(many)
    abort unless table.get_multi(many.keys) == many
    abort unless table.to_h.size > 300
    table.each { break }
    table.delete_prefix('k1')
    table.stats && table.check && table.processes && table.compact && table.live_keys
    table.increment('a') rescue Tavola::NotACounterError
    table.transaction do |t|
      t.set('long', 'x' * 3000, ttl: 60, tags: %w[x y])
      before = t.savepoint
      abort unless t['long'] == 'x' * 3000 && t.append('long', 'y') && t.take('long').size == 3001
      t.roll_back_to(before)
      t.increment('number', initial: 5)
      100.times { |i| t["t#{i}"] = [:symbol, i] }
    end
    table.transaction(once: true) { |t| t.delete('long') && t.abort }
    table.transaction { |t| t['b'] = 1 and raise 'no' } rescue RuntimeError
    table.transaction { |t| t['b'] = 1 and break }
    table.transaction(once: true) { |t| t['n'] = t['n'].inspect + table.swap('n', 1).inspect } \
      rescue Tavola::ConflictError
    abort unless table.read_together { |t| t['t0'] + t['t1'] } == [:symbol, 0, :symbol, 1]
    Fiber.new { table.transaction { |t| t['b'] = 1 and Fiber.yield } }.resume
    table.copy_to("copy#{round}")
  end

  queue = Tavola::Queue.open('jobs', places: 4)
  queue << 'a' << 'b'
  queue.pop { |job| job }
  queue.pop { raise } rescue RuntimeError
  queue.pop(timeout: 0.01)
  queue.reclaim
  log = Tavola::Log.open("log#{round}", stderr: false)
  20.times { |i| log.info("line #{i}") }
  abort unless log.reader.lines.size == 20
  Tavola::Logger.new(log).error('x')
  File.open(File::NULL, 'w') { |file| log.drain.finish(file) }
  Tavola.tables
  Tavola.open('none', create: false) rescue Tavola::NoTableError
  pid = fork { Tavola.open("test#{round}") { |table| table['child'] = 1 } }
  Process.wait(pid)
end
Integer(ARGV.fetch(0)).times(&once)
# A string that is left now was kept because something on the stack looked like it.
3.times { GC.start }
puts 'end'

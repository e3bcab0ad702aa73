# frozen_string_literal: true

require_relative 'test_case'
require 'open3'
require 'rbconfig'

# Memory errors and leaks under valgrind, and memory that grows.
class MemoryTest < TavolaTest
  # valgrind is slow on a busy machine.
  def limit
    600
  end

  def test_valgrind_finds_no_error_of_the_extension
    skip 'valgrind is not installed' unless system('valgrind --version', out: File::NULL)
    xml = File.join(@tavola_dir, 'valgrind.xml')
    paths = $LOAD_PATH.flat_map { |path| ['-I', path] }
    out, status = Open3.capture2e(
      'valgrind', '--xml=yes', "--xml-file=#{xml}", '--leak-check=full', '--num-callers=30',
      '--show-leak-kinds=definite', '--undef-value-errors=no', '--error-limit=no',
      RbConfig.ruby, *paths, File.join(__dir__, 'memory_script.rb'), ROUNDS.to_s
    )
    assert status.success?, out
    assert_equal "end\n", out.lines.last
    assert_equal [], ours(File.read(xml))
  end

  ROUNDS = 6

  # Ruby frees little at its end, which valgrind reports. An error or a leak is ours if the extension
  # is in one of its two innermost frames: its own memory comes from malloc, and that of a string
  # from Ruby. What a handle takes from Ruby, the extension must free, and forgets it in every round
  # if it does. Values that were not initialized are not looked for, because Ruby's garbage
  # collector reads its whole stack.
  def ours(text)
    text[/\A.*?<\/valgrindoutput>/m].scan(/<error>.*?<\/error>/m).filter_map do |error|
      kind = error[/<kind>(.*?)<\/kind>/, 1]
      frames = error[/<stack>.*?<\/stack>/m].scan(/<frame>.*?<\/frame>/m)
      names = frames.map { |frame| frame[/<fn>(.*?)<\/fn>/, 1] || '?' }
      own = frames.index { |frame| frame[/<obj>(.*?)<\/obj>/, 1].to_s.end_with?('tavola.so') }
      handle = names.take(4).any? { |name| name.start_with?('rb_data_typed_object') } &&
               error[/<leakedblocks>(\d+)</, 1].to_i >= ROUNDS
      "#{kind}: #{names.join(' < ')}" if own && own < (handle ? 4 : 2)
    end
  end

  def test_the_filter_finds_what_is_ours
    frame = ->(object) { "<frame><obj>/x/#{object}</obj><fn>f</fn></frame>" }
    error = lambda do |kind, *objects|
      "<error><kind>#{kind}</kind><leakedblocks>#{ROUNDS}</leakedblocks>" \
        "<stack>#{objects.map(&frame).join}</stack></error>"
    end
    text = error.call('InvalidRead', 'libruby.so', 'libruby.so', 'tavola.so') +
           error.call('InvalidWrite', 'vgpreload.so', 'tavola.so') +
           error.call('Leak_DefinitelyLost', 'vg.so', 'tavola.so', 'libruby.so') +
           error.call('Leak_DefinitelyLost', 'vg.so', 'libruby.so', 'tavola.so') +
           error.call('Leak_DefinitelyLost', 'vg.so', 'ruby.so', 'ruby.so', 'tavola.so')
                .sub('ruby.so</obj><fn>f', 'ruby.so</obj><fn>rb_data_typed_object_zalloc') +
           '</valgrindoutput>'
    assert_equal ['InvalidWrite: f < f', 'Leak_DefinitelyLost: f < f < f',
                  'Leak_DefinitelyLost: f < rb_data_typed_object_zalloc < f < f'], ours(text)
  end

  def resident_kb
    GC.start
    File.read('/proc/self/status')[/VmRSS:\s+(\d+)/, 1].to_i -
      File.read('/proc/self/status')[/RssShmem:\s+(\d+)/, 1].to_i
  end

  # 20,000 rounds of 50 calls.
  def test_a_million_operations_do_not_grow
    values = ['text', 'x' * 3000, 7, 1.5, nil, [1, { 'a' => 'b' }], "\xff\0".b]
    queue = Tavola::Queue.open('jobs')
    keys = (0...70).map { |i| "key #{i}" }
    round = lambda do |i|
      5.times do |j|
        key = keys[(i + j) % 70]
        table[key] = values[(i + j) % 7]
        table[key]
        table.gets(key)
        table.set(key, i, ttl: 60, tags: ['t'])
        table.increment(key)
        table.take(key)
        table.compute(key, ttl: 60) { 'v' }
        table.key?('missing')
      end
      table.increment('text') rescue nil
      queue << 'job'
      queue.pop { |job| job }
      table.get_multi(keys.first(5))
      table.lock('l') { nil }
      if (i % 100).zero?
        table.set_multi(keys.to_h { |key| [key, 'v'] })
        table.get_multi(keys)
        table.each { |_key, value| value }
        table.watch('a').wait(0)
        Tavola.open('test') { |other| other['a'] }
      end
    end
    table['text'] = 'no number'
    2000.times(&round)
    before = resident_kb
    20_000.times(&round)
    grown = resident_kb - before
    assert_operator grown, :<, 4096, "#{grown} KiB more after a million calls"
  end

  # Those that commit, and those that end in every other way.
  def test_twenty_thousand_transactions_do_not_grow
    round = lambda do |i|
      once = i.odd?
      table.transaction(once: once) { |t| t.increment('n') && t['text'] = 'x' * 2000 }
      table.transaction(once: once) { |t| (t['a'] = i) && t.savepoint && t.abort }
      table.transaction(once: once) { |t| (t['a'] = i) && break }
      table.transaction(once: once) { |t| (t['a'] = i) && raise } rescue RuntimeError
      table.read_together { |t| t['n'] && t['text'] }
      conflict(once)
    end
    1000.times(&round)
    before = resident_kb
    4000.times(&round)
    grown = resident_kb - before
    assert_equal 5000, table['n']
    assert_operator grown, :<, 4096, "#{grown} KiB more after 24,000 transactions"
  end

  def conflict(once)
    runs = 0
    table.transaction(once: once) do |t|
      t['hot']
      table.increment('hot') if (runs += 1) == 1
      t['cold'] = runs
    end
  rescue Tavola::ConflictError
    raise unless once
  end
end

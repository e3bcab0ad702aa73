# frozen_string_literal: true

require_relative 'test_case'
require_relative 'examples'
require 'tavola/client'
require 'tavola/fleet'
require 'tavola/pstore'

# Every example of the documentation runs, and its values are as it says.
class ExamplesTest < TavolaTest
  # What an example may use: an empty table, a queue, a log and a client.
  class Room
    def initialize(test)
      @test = test
    end

    def table
      @table ||= Tavola.open('table', max_size: 16 << 20)
    end

    def queue
      @queue ||= Tavola::Queue.open('queue')
    end

    def log
      @log ||= Tavola::Log.open('log', stderr: false)
    end

    def client
      @client ||= Tavola::Client.new('client', max_size: 16 << 20)
    end

    def fleet
      @fleet ||= Tavola::Client.new(['tavola:left', 'tavola:right'])
    end

    def same(expected, value, line)
      expected.nil? ? @test.assert_nil(value, line) : @test.assert_equal(expected, value, line)
    end

    def run(one)
      instance_eval(Examples.checked(one.code), one.file, one.line + 1)
    end
  end

  NEEDS = { 'active_support' => 'active_support/cache/tavola_store',
            'rack/' => 'rack/session/tavola', 'moneta' => 'moneta/adapters/tavola' }.freeze

  def self.add(one)
    define_method("test_#{one.name}") do
      NEEDS.each { |word, library| need(library) if one.file.include?("lib/#{word}") }
      Dir.chdir(@tavola_dir) { Room.new(self).run(one) }
    end
  end

  def need(library)
    verbose = $VERBOSE
    $VERBOSE = nil
    require 'rack' if library.start_with?('rack')
    require library
  rescue LoadError => error
    skip "not installed: #{error.message}"
  ensure
    $VERBOSE = verbose
  end

  Dir[File.join(Examples::ROOT, 'lib/**/*.rb')].sort.each do |file|
    Examples.in_comments(file).each { |one| add(one) }
  end
  [File.join(Examples::ROOT, 'README.md'), *Examples::GUIDE].each do |file|
    Examples.in_page(file).each { |one| add(one) } if File.exist?(file)
  end

  # The files that document a class.
  FILES = {
    'Tavola::Table' => 'tavola/table{,/*}.rb', 'Tavola::Watch' => 'tavola/table{,/*}.rb',
    'Tavola::Lock' => 'tavola/table{,/*}.rb',
    'Tavola::Tags' => 'tavola/table{,/*}.rb', 'Tavola::Transaction' => 'tavola/table{,/*}.rb',
    'Tavola::Queue' => 'tavola/queue.rb', 'Tavola::Client' => 'tavola/client.rb',
    'Tavola::Fleet' => 'tavola/{client,fleet}.rb',
    'Tavola::PStore' => 'tavola/pstore.rb', 'Tavola::Log' => 'tavola/log.rb',
    'Tavola::Logger' => 'tavola/log.rb', 'Tavola::LogDevice' => 'tavola/log.rb',
    'Tavola::Log::Reader' => 'tavola/log.rb', 'Tavola::Log::Drain' => 'tavola/log.rb'
  }.freeze
  ADAPTERS = {
    'ActiveSupport::Cache::TavolaStore' => 'active_support/cache/tavola_store.rb',
    'Moneta::Adapters::Tavola' => 'moneta/adapters/tavola.rb',
    'Rack::Session::Tavola' => 'rack/session/tavola.rb'
  }.freeze

  # Each public method has an example, as a comment or as that of the method that it is an alias of.
  FILES.merge(ADAPTERS).each do |name, files|
    define_method("test_each_call_has_an_example_#{name}") do
      need(files.delete_suffix('.rb')) if ADAPTERS.key?(name)
      owner = Object.const_get(name)
      named = named_in(files)
      assert_equal [], owner.public_instance_methods(false).map(&:to_s) - named
      own = owner.singleton_methods(false).map { |call| "self.#{call}" }
      assert_equal [], own - named
    end
  end

  def test_each_call_has_an_example_tavola
    calls = Tavola.singleton_methods(false).map { |name| "self.#{name}" }
    assert_equal [], calls - named_in('{tavola,tavola/**/*}.rb')
  end

  # Returns the calls that these files document with an example.
  def named_in(files)
    lines = Dir[File.join(Examples::ROOT, 'lib', files)].flat_map do |file|
      File.readlines(file, chomp: true)
    end
    named = documented_in(lines)
    lines.grep(/\A\s*alias (\S+) (\S+)/) { named << $1 if named.include?($2) }
    named
  end

  def documented_in(lines)
    names = []
    lines.each_with_index do |line, i|
      case line
      when /@!method (self\.)?([^\s(]+)/ then names << "#{$1}#{$2}"
      when /\A\s*def (self\.)?([^\s(;]+)/
        names << "#{$1}#{$2}" if example_before?(lines, i)
      when /attr_(?:reader|accessor) :(\w+)/ then names << $1 << "#{$1}="
      end
    end
    names
  end

  def example_before?(lines, i)
    i -= 1
    while i >= 0 && lines[i].match?(/\A\s*#/)
      return true if lines[i].include?('@example')

      i -= 1
    end
    false
  end
end

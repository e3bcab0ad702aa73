# frozen_string_literal: true

require_relative 'test_case'
require_relative 'examples'
require 'tavola/client'
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
  [File.join(Examples::ROOT, 'README.md'), Examples::GUIDE].each do |file|
    Examples.in_page(file).each { |one| add(one) } if File.exist?(file)
  end

  # Each public method has an example, as a comment or as that of the method that it is an alias of.
  def test_every_public_call_is_documented_with_an_example
    lines = Dir[File.join(Examples::ROOT, 'lib/**/*.rb')].flat_map do |file|
      File.readlines(file, chomp: true)
    end
    named = documented_in(lines)
    lines.grep(/\A\s*alias (\S+) (\S+)/) { named << $1 if named.include?($2) }
    [Tavola::Table, Tavola::Queue, Tavola::Log, Tavola::Client, Tavola::PStore, Tavola::Logger,
     Tavola::LogDevice, Tavola::Log::Reader, Tavola::Log::Drain, Tavola::Watch,
     Tavola::Tags, Tavola::Transaction].each do |owner|
      missing = owner.public_instance_methods(false).map(&:to_s) - named
      assert_equal [], missing, owner.name
    end
    calls = Tavola.singleton_methods(false) + Tavola::Table.singleton_methods(false)
    assert_equal [], calls.map { |name| "self.#{name}" } - named
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

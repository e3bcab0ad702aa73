# frozen_string_literal: true

require_relative 'test_case'

class NamesTest < TavolaTest
  def test_tables_remove_rename
    Tavola.open('b c').close
    assert_equal ['b c', 'test'], Tavola.tables.map { |path| File.basename(path) }.sort
    assert_equal @tavola_dir, Tavola.directory
    assert_equal File.join(@tavola_dir, 'x'), Tavola.path_of('x')
    Tavola.rename('b c', 'd')
    assert_raises(Tavola::TableExistsError) { Tavola.rename('d', 'test') }
    assert Tavola.remove('d')
    refute Tavola.remove('d')
    assert_raises(Tavola::BadNameError) { Tavola.path_of('') }
    assert_raises(ArgumentError) { Tavola.open("a\0b") }
  end

  def test_ways_to_open
    assert_raises(Tavola::NoTableError) { Tavola.open('none', create: false) }
    assert_raises(Tavola::NoTableError) { Tavola.open('none', read_only: true) }
    assert_raises(Tavola::NoTableError) { Tavola::Table.open_existing('none') }
    assert_raises(Tavola::TableExistsError) { Tavola::Table.create('test') }
    assert_raises(ArgumentError) { Tavola.open('test', capazity: 5) }
    assert_raises(Tavola::BadOptionError) { Tavola.open('small', max_size: 5) }
    table['a'] = 1
    Tavola.open('test', read_only: true) do |reader|
      assert reader.read_only?
      assert_equal 1, reader['a']
      error = assert_raises(Tavola::ReadOnlyError) { reader['a'] = 2 }
      assert_equal :READ_ONLY, error.status
      assert_kind_of Tavola::Error, error
      assert_kind_of StandardError, error
    end
    Tavola::Table.open_private(max_size: 1 << 20) do |mine|
      mine['a'] = 1
      assert_equal({ 'a' => 1 }, mine.to_h)
    end
    assert_raises(TypeError) { Tavola::Table.new }
  end

  def test_a_file_that_is_not_a_table
    path = File.join(@tavola_dir, 'text')
    File.write(path, 'not a table' * 1000)
    error = assert_raises(Tavola::NotATableError) { Tavola.open(path) }
    assert_includes error.message, path
    assert_raises(Tavola::NotATableError) { Tavola.remove(path) }
    assert File.exist?(path)
  end

  def test_a_full_table
    Tavola.open('small', max_size: 1 << 20) do |small|
      error = assert_raises(Tavola::FullError) { 100.times { |i| small["k#{i}"] = 'x' * 50_000 } }
      assert_equal :FULL, error.status
      assert_equal 0, small.check[:problems]
    end
  end

  def test_a_subclass
    own = Class.new(Tavola::Table)
    own.open('test') { |one| assert_instance_of own, one }
  end

  def test_the_mode_of_the_file
    Tavola.open('shared', mode: 0o640).close
    assert_equal 0o640, File.stat(Tavola.path_of('shared')).mode & 0o777
  end
end

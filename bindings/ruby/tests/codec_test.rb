# frozen_string_literal: true

require_relative 'test_case'

class CodecTest < TavolaTest
  Point = Struct.new(:x, :y)

  def stored(value, where = table)
    where['k'] = value
    where.get_bytes('k')
  end

  def test_each_kind_comes_back
    values = ['text', 'grüße', "\xff\0".b, 0, 1, -1, 2**62, -2**62, 2**64, -10**30, 0.0, -0.0, 1.5,
              1e20, 1e-7, 1.7976931348623157e308, 5e-324, Float::INFINITY, -Float::INFINITY, nil,
              true, false, [], {}, [1, 'a', nil, [true]], { 'a' => { 'b' => [1.5] } }]
    values.each do |value|
      table['k'] = value
      back = table['k']
      value.nil? ? assert_nil(back) : assert_equal(value, back)
      assert_equal value.class, back.class
      assert_equal value.encoding, back.encoding if value.is_a?(String)
    end
    table['k'] = Float::NAN
    assert_predicate table['k'], :nan?
    table['k'] = -0.0
    assert_equal(-Float::INFINITY, 1 / table['k'])
  end

  def test_the_bytes_that_other_languages_read
    assert_equal ['text'.b, 0x54010000], stored('text')
    assert_equal ['ascii'.b, 0x54010000], stored('ascii'.encode('US-ASCII'))
    assert_equal ["\xff".b, 0], stored("\xff")
    assert_equal ['abc'.b, 0], stored('abc'.b)
    assert_equal ["\xe9".b, 0], stored("\xe9".dup.force_encoding('ISO-8859-1'))
    assert_equal ['-42', 0x54020000], stored(-42)
    assert_equal ['1.5', 0x54030000], stored(1.5)
    assert_equal ['1.0', 0x54030000], stored(1.0)
    assert_equal ['1e+20', 0x54030000], stored(1e20)
    assert_equal ['1.5e-07', 0x54030000], stored(1.5e-7)
    assert_equal ['inf', 0x54030000], stored(Float::INFINITY)
    assert_equal ['null', 0x54040000], stored(nil)
    assert_equal ['[1,"a"]', 0x54040000], stored([1, 'a'])
  end

  def test_the_low_bits_of_the_flags_belong_to_leases
    table.set_bytes('k', '7', 0x54020123)
    assert_equal 7, table['k']
  end

  def test_values_of_other_programs_are_bytes
    [0x54100000, 0x54110000, 0x54120000, 0x54130000, 0x54140000, 0x54ff0000, 1, 0x7fffffff]
      .each do |flags|
      table.set_bytes('k', 'bytes', flags)
      assert_equal 'bytes', table['k']
      assert_equal Encoding::BINARY, table['k'].encoding
    end
  end

  def test_bytes_that_do_not_decode_are_returned
    { 0x54020000 => ['', '-', '1x', '0x10', '1_000', ' 1'],
      0x54030000 => ['', '.', '1e', '1.5x', '0x1p3', '1_0.0', 'Infinity'],
      0x54040000 => ['{', '', '[1,]', "\xff", 'NaN'] }.each do |flags, all|
      all.each do |bytes|
        table.set_bytes('k', bytes, flags)
        assert_equal bytes.b, table['k'], "flags #{flags.to_s(16)}"
      end
    end
    table.set_bytes('k', "\xff", 0x54010000)
    assert_equal "\xff".b, table['k']
    assert_nil $!
  end

  def test_what_is_refused_without_a_serializer
    [:symbol, Object.new, Point.new(1, 2), { a: 1 }, { 1 => 2 }, [:a], [Float::NAN], ["\xff"],
     1r, 1..2, Time.now].each do |value|
      error = assert_raises(TypeError) { table['k'] = value }
      assert_match(/serializer: :marshal/, error.message)
    end
    deep = 200.times.inject([]) { |inner, _| [inner] }
    assert_raises(TypeError) { table['k'] = deep }
    refute table.key?('k')
  end

  def test_marshal
    Tavola.open('test', serializer: :marshal) do |own|
      [Point.new(1, 2), :symbol, { a: [1r] }, [1, :b], 1..2].each do |value|
        own['k'] = value
        assert_equal value, own['k']
        assert_equal 0x54130000, own.get_bytes('k').last
        assert_equal Marshal.dump(value), table['k'], 'other handles see bytes'
      end
      assert_equal ['1', 0x54020000], stored(1, own)
      assert_equal ['null', 0x54040000], stored(nil, own)
      own.set_bytes('k', "\x04\x08broken", 0x54130000)
      assert_equal "\x04\x08broken".b, own['k']
      assert_raises(TypeError) { own['k'] = proc {} }
    end
  end

  # Hides an object from the other processes.
  module Reversed
    def self.dump(value)
      JSON.generate(value).reverse
    end

    def self.load(bytes)
      JSON.parse(bytes.reverse)
    end
  end

  def test_an_object_as_serializer
    Tavola.open('test', serializer: Reversed) do |own|
      own['k'] = { 'a' => 1 }
      assert_equal({ 'a' => 1 }, own['k'])
      assert_equal '}1:"a"{', table['k']
      GC.compact if GC.respond_to?(:compact)
      assert_equal({ 'a' => 1 }, own['k'])
      assert_same Reversed, own.serializer
    end
    assert_raises(ArgumentError) { Tavola.open('test', serializer: 7) }
  end

  def test_an_exception_of_the_serializer_is_raised_and_nothing_is_stored
    broken = Module.new do
      def self.dump(_)
        raise 'not today'
      end

      def self.load(_)
        raise 'not today'
      end
    end
    Tavola.open('test', serializer: broken) do |own|
      assert_raises(RuntimeError) { own['k'] = [1] }
      assert_raises(RuntimeError) { own.set_multi({ 'a' => 1, 'k' => [1] }) }
      refute own.key?('a')
      own.set_bytes('k', 'x', 0x54ff0000)
      assert_equal 'x', own['k'], 'a read never fails because of the value'
    end
  end
end

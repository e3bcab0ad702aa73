# frozen_string_literal: true

require_relative 'test_case'

class TagsTest < TavolaTest
  def test_invalidate
    table.set('a', 1, tags: %w[x y])
    table.set('b', 2, tags: 'y')
    table.set('c', 3)
    assert_equal %w[x y], table.tags('a').sort
    assert_equal [], table.tags('c')
    assert_nil table.tags('missing')
    assert table.invalidate('x')
    refute table.invalidate('unknown')
    assert_equal({ 'b' => 2, 'c' => 3 }, table.get_multi('a', 'b', 'c'))
    assert table.invalidate('unknown', :y)
    assert_nil table['b']
    assert_raises(ArgumentError) { table.invalidate }
  end

  def test_handles_that_were_fetched_before
    tags = table.fetch_tags('x', ['y'])
    assert_equal 2, tags.size
    assert tags.frozen?
    table.invalidate('y')
    assert table.add('a', 1, tags: tags)
    assert_nil table['a']
  end

  def test_an_invalidation_during_a_computation_is_not_missed
    value = table.compute('page', ttl: 60, tags: ['user']) do
      table.invalidate('user')
      'old data'
    end
    assert_equal 'old data', value
    refute table.key?('page')
  end

  def test_too_many_tags
    assert_raises(Tavola::BadOptionError) { table.set('a', 1, tags: (0..16).map(&:to_s)) }
    assert table.set('a', 1, tags: (0..15).map(&:to_s))
    assert_equal 16, table.tags('a').size
  end
end

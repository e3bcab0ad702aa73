# frozen_string_literal: true

module Tavola
  # Tags: names that keys have, and that are invalidated all at once.
  #
  # @!method tags(key)
  #   Returns the names of the tags that a key has.
  #   @return [Array<String>, nil]
  #   @example
  #     table.set('page', '<p>hello</p>', tags: ['home', 'user:7'])
  #     table.tags('page') # => ['home', 'user:7']
  #
  # @!method invalidate(*names)
  #   Invalidates tags: from this moment all keys that have one of them are missing, for all
  #   processes. This takes the same time for any number of keys.
  #   @return [Boolean] whether there was such a tag
  #   @example
  #     table.set('page', '<p>hello</p>', tags: ['home'])
  #     table.invalidate('home') # => true
  #     table['page'] # => nil
  #
  # @!method fetch_tags(*names)
  #   Returns the handles of tags, for `tags:`. Fetch them before you load the source data of a
  #   value: if a tag is invalidated meanwhile, the key is then missing from the beginning.
  #   {#compute} does this by itself.
  #   @return [Tags]
  #   @example
  #     tags = table.fetch_tags('home', 'user:7')
  #     table.invalidate('user:7')
  #     table.set('page', 'loaded before', tags: tags)
  #     table['page'] # => nil
  class Table
  end

  # Handles of tags, from {Table#fetch_tags}. Do not keep them for long: a cache may evict a tag
  # that no key was set or read with for a while.
  #
  # @!method size
  #   Returns how many tags there are.
  #   @return [Integer]
  #   @example
  #     table.fetch_tags('home').size # => 1
  class Tags
  end
end

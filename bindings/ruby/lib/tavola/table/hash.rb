# frozen_string_literal: true

module Tavola
  # What a Hash has beside reading and writing keys.
  class Table
    alias has_key? key?
    alias include? key?
    alias member? key?
    alias store []=
    alias length size

    # Returns whether the table has no keys.
    # @return [Boolean]
    # @example
    #   table.empty? # => true
    def empty?
      size.zero?
    end

    # Returns all keys and values as a Hash.
    # @return [Hash{String => Object}]
    # @example
    #   table['a'] = 1
    #   table.to_h # => { 'a' => 1 }
    def to_h(&block)
      hash = {}
      each { |key, value| hash[key] = value }
      block ? hash.to_h(&block) : hash
    end
    alias to_hash to_h

    # Sets the keys of these hashes. With a block, a key that exists gets the value of the block, as
    # with Hash#merge!; that is atomic for each key.
    #
    # @yield [key, old, new]
    # @return [self]
    # @example
    #   table['a'] = 1
    #   table.merge!({ 'a' => 2 }, { 'b' => 3 }) { |_key, old, new| old + new }
    #   table['a'] # => 3
    def merge!(*hashes)
      hashes.each do |hash|
        next set_multi(hash) unless block_given?

        hash.each do |key, value|
          next if add(key, value)

          modify(key) { |old| old.nil? ? value : yield(key, old, value) }
        end
      end
      self
    end
    alias update merge!

    # Returns whether a key has this value.
    # @return [Boolean]
    # @example
    #   table['a'] = 1
    #   table.value?(1) # => true
    def value?(value)
      each_value.any? { |one| one == value }
    end
    alias has_value? value?

    # Returns a key that has this value, or nil.
    # @return [String, nil]
    # @example
    #   table['a'] = 1
    #   table.key(1) # => 'a'
    def key(value)
      each { |key, one| return key if one == value }
      nil
    end

    # Returns a Hash of the keys for which the block is true.
    # @return [Hash, Enumerator]
    # @example
    #   table.merge!({ 'a' => 1, 'b' => 2 })
    #   table.select { |_key, value| value > 1 } # => { 'b' => 2 }
    def select(&block)
      to_h.select(&block)
    end
    alias filter select

    # Returns a Hash of the keys for which the block is false.
    # @return [Hash, Enumerator]
    # @example
    #   table.merge!({ 'a' => 1, 'b' => 2 })
    #   table.reject { |_key, value| value > 1 } # => { 'a' => 1 }
    def reject(&block)
      to_h.reject(&block)
    end

    # Removes the keys for which the block is true. A key that has another value by then stays.
    # @return [self, Enumerator]
    # @example
    #   table.merge!({ 'a' => 1, 'b' => 2 })
    #   table.delete_if { |_key, value| value > 1 }
    #   table.keys # => ['a']
    def delete_if
      return to_enum(:delete_if) { size } unless block_given?

      each_key do |key|
        value, token = gets(key)
        compare_and_remove(key, token) if token && yield(key, value)
      end
      self
    end

    # Removes the keys for which the block is false. A key that has another value by then stays.
    # @return [self, Enumerator]
    # @example
    #   table.merge!({ 'a' => 1, 'b' => 2 })
    #   table.keep_if { |_key, value| value > 1 }
    #   table.keys # => ['b']
    def keep_if
      return to_enum(:keep_if) { size } unless block_given?

      delete_if { |key, value| !yield(key, value) }
    end
  end
end

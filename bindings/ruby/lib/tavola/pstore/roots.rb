# frozen_string_literal: true

module Tavola
  class PStore
    # The roots in a transaction. A root is loaded when it is first used. Its object may be changed
    # in place, so all objects that were loaded are compared at the end with what was there.
    #
    # The key of a root is `r` with its name in Marshal's form. The key `roots` has all names in the
    # order in which they came, and is written only when a root comes or goes.
    class Roots
      NAMES = 'roots'
      # These flags mark a value of Marshal. The table has no serializer, so it is read as bytes.
      FLAGS = 0x54130000
      private_constant :NAMES, :FLAGS

      def initialize(transaction)
        @transaction = transaction
        @values = {}
        # The stored bytes of each root that was asked for; nil if there were none.
        @stored = {}
      end

      def [](name)
        load(name)
        @values[name]
      end

      def []=(name, value)
        load_bytes(name)
        @values[name] = value
      end

      def fetch(name)
        load(name)
        @values.fetch(name) { yield }
      end

      def delete(name)
        load(name)
        @values.delete(name)
      end

      def key?(name)
        load(name)
        @values.key?(name)
      end

      # Returns the names in the order in which they came.
      def names
        old = stored_names
        gone = old.select { |name| @stored.key?(name) && !@values.key?(name) }
        (old - gone) + (@values.keys - old)
      end

      # Writes what has changed.
      def save
        names = self.names if @stored.any? { |name, bytes| bytes.nil? == @values.key?(name) }
        @stored.each { |name, bytes| save_root(name, bytes) }
        put(NAMES, Marshal.dump(names)) if names
      end

      private

      def put(key, bytes)
        @transaction.__send__(:put_bytes, key, bytes, FLAGS)
      end

      def load(name)
        return if @stored.key?(name)

        bytes = load_bytes(name)
        @values[name] = Marshal.load(bytes) if bytes
      end

      # A name may be changed later by the caller, as a key of a Hash may not.
      def load_bytes(name)
        @stored.fetch(name) { @stored[name] = @transaction[key_of(name)] }
      end

      def save_root(name, old)
        if !@values.key?(name)
          @transaction.remove(key_of(name)) if old
        elsif (new = Marshal.dump(@values[name])) != old
          put(key_of(name), new)
        end
      end

      def key_of(name)
        "r#{Marshal.dump(plain(name))}".b
      end

      # Strings that are equal are the same root, also if their encodings have other names.
      def plain(name)
        case name
        when String
          string = String.new(name)
          name.ascii_only? ? string.force_encoding(Encoding::UTF_8) : string
        when Array then name.map { |part| plain(part) }
        else name
        end
      end

      def stored_names
        @stored_names ||= begin
          bytes = @transaction[NAMES]
          names = bytes ? Marshal.load(bytes) : []
          raise Error, 'PStore file seems to be corrupted.' unless names.is_a?(Array)

          names
        end
      end
    end

    # The roots of a table that does not exist.
    class NoRoots
      def [](_name)
        nil
      end

      def fetch(_name)
        yield
      end

      def key?(_name)
        false
      end

      def names
        []
      end
    end
    private_constant :Roots, :NoRoots
  end
end

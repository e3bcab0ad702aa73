# frozen_string_literal: true

# Stands in for Ruby's `pstore`, so that Ruby's own tests run with Tavola's: in memory, or with the
# policy TAVOLA_PSTORE_DURABLE.

require 'tavola/pstore'

if ENV['TAVOLA_PSTORE_DURABLE']
  class PStore < Tavola::PStore
    def initialize(name, thread_safe = false)
      super(name, thread_safe, durable: ENV.fetch('TAVOLA_PSTORE_DURABLE'))
    end
  end

  # The tests remove their store as a file; a durable one is a directory.
  module RemovesStores
    def unlink(name)
      File.directory?(name) ? Tavola.remove(name) : super
    end
  end
  File.singleton_class.prepend(RemovesStores)
else
  PStore = Tavola::PStore
end

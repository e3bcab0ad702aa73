# frozen_string_literal: true

# Stands in for Ruby's `pstore`, so that Ruby's own tests run with Tavola's.

require 'tavola/pstore'

PStore = Tavola::PStore

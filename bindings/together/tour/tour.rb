# The tour's table from Ruby: see `scripts/tour`.
require 'tavola'

table = Tavola.open(ARGV[0])
name = table['U+1F48E'].split(';')[0]
before = table.swap('tour/last', 'Ruby')
visits = table.increment('tour/languages')
puts format('  %-14s U+1F48E is %s; before it came %s; tour/languages is %d',
            "Ruby #{RUBY_VERSION}", name, before, visits)

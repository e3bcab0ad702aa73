# frozen_string_literal: true

require_relative 'lib/tavola/version'

Gem::Specification.new do |spec|
  spec.name = 'tavola'
  spec.version = Tavola::VERSION
  spec.summary = 'Tables, caches, queues and logs in shared memory, for all processes of a machine'
  spec.description = 'A key-value store and cache in shared memory with the manners of a Hash, ' \
                     'for the workers of Puma and all other processes of a machine, with ' \
                     'adapters for Rails, Rack, Moneta, PStore and Dalli, and a client of memcached ' \
                     'servers. The libraries are included.'
  spec.authors = ['The Tavola maintainers']
  spec.licenses = ['MIT', 'Apache-2.0']
  spec.required_ruby_version = '>= 3.0'
  # `package` puts the library and the licences beside the sources.
  spec.files = Dir['lib/**/*.rb', 'ext/**/*.{rb,c,h}', 'sig/*.rbs', 'vendor/**/*.{a,h}',
                   'README.md', 'LICENSE-*']
  spec.extensions = ['ext/tavola/extconf.rb', 'ext/tavola_client/extconf.rb']
  spec.require_paths = ['lib']
end

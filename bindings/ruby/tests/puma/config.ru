# frozen_string_literal: true

# A small application for puma_test.rb. The table is opened before the workers are forked.

require 'tavola'

TABLE = Tavola.open('web', capacity: 16 << 20)

run(lambda do |env|
  body = case env['PATH_INFO']
         when '/count' then TABLE.increment('hits').to_s
         when '/page' then TABLE.compute('page', ttl: 60) { TABLE.increment('renders') && 'page' }
         when '/forever'
           TABLE['writer'] = Process.pid
           loop { TABLE["k#{rand(100)}"] = 'x' * rand(5000) }
         else Process.pid.to_s
         end
  [200, { 'Content-Type' => 'text/plain' }, [body]]
end)

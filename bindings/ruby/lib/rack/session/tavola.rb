# frozen_string_literal: true

require 'rack/session/abstract/id'
require 'tavola'

module Rack
  module Session
    # Sessions of Rack in a table of shared memory: all workers of a machine share them.
    #
    #   use Rack::Session::Tavola, table: 'sessions', expire_after: 3600
    #
    # The values are stored with Marshal, so make the table readable only for the application (its
    # mode is 0600 by default). A request that begins while another one of the same session runs
    # sees the session as it was stored last; the one that ends last wins.
    #
    # @example
    #   require 'rack'
    #   count = lambda do |env|
    #     session = env['rack.session']
    #     [200, {}, [(session['n'] = session['n'].to_i + 1).to_s]]
    #   end
    #   stack = Rack::Session::Tavola.new(count, table: 'sessions')
    #   first = Rack::MockRequest.new(stack).get('/')
    #   cookie = first['Set-Cookie'].split(';').first
    #   Rack::MockRequest.new(stack).get('/', 'HTTP_COOKIE' => cookie).body # => '2'
    class Tavola < Abstract::PersistedSecure
      # @return [::Tavola::Table]
      attr_reader :table

      # @param app [#call]
      # @param options [Hash] those of Rack's sessions; `table:` a table or its name; `namespace:`
      #   what keys begin with; `capacity:`, `max_size:` and `mode:` for a new table
      # @example
      #   Rack::Session::Tavola.new(->(_) {}, table: 'sessions').table.size # => 0
      def initialize(app, options = {})
        own = %i[table namespace capacity max_size mode]
        super(app, options.reject { |name, _| own.include?(name) })
        @namespace = options.fetch(:namespace, 'rack:session:')
        @table = options.fetch(:table, 'rack-sessions')
        return if @table.is_a?(::Tavola::Table)

        made = options.slice(:capacity, :max_size, :mode)
        @table = ::Tavola.open(@table, serializer: :marshal, **made)
      end

      # Returns the id and the values of a session. An unknown id gets a new one. Rack calls this for
      # each request that uses its session.
      # @return [Array(Rack::Session::SessionId, Hash)]
      # @example
      #   sessions = Rack::Session::Tavola.new(->(_) {}, table: 'sessions')
      #   sid, values = sessions.find_session(nil, nil)
      #   values # => {}
      #   sessions.find_session(nil, sid).first == sid # => true
      def find_session(_request, sid)
        session = sid && @table[key_of(sid)]
        return [sid, session] if session.is_a?(Hash)

        loop do
          sid = generate_sid
          return [sid, {}] if @table.add(key_of(sid), {}, ttl: ttl_of(default_options))
        end
      end

      # Stores a session. Rack calls this when a request has changed its session.
      # @return [Rack::Session::SessionId] the id
      # @example
      #   sessions = Rack::Session::Tavola.new(->(_) {}, table: 'sessions')
      #   sid, = sessions.find_session(nil, nil)
      #   sessions.write_session(nil, sid, { 'user' => 7 }, { expire_after: 3600 }) # => sid
      #   sessions.find_session(nil, sid).last # => { 'user' => 7 }
      def write_session(_request, sid, session, options)
        @table.set(key_of(sid), session, ttl: ttl_of(options))
        sid
      end

      # Removes a session, and returns a new id unless the cookie is dropped, too. Rack calls this
      # for a session that is destroyed or renewed.
      # @return [Rack::Session::SessionId, nil]
      # @example
      #   sessions = Rack::Session::Tavola.new(->(_) {}, table: 'sessions')
      #   sid, = sessions.find_session(nil, nil)
      #   sessions.delete_session(nil, sid, { drop: true }) # => nil
      #   sessions.table.size # => 0
      def delete_session(_request, sid, options)
        @table.remove(key_of(sid))
        generate_sid unless options[:drop]
      end

      private

      # The private id cannot be computed back to the one in the cookie.
      def key_of(sid)
        @namespace + (sid.respond_to?(:private_id) ? sid.private_id : sid.to_s)
      end

      def ttl_of(options)
        seconds = options[:expire_after]
        seconds && seconds.to_f.positive? ? seconds : nil
      end
    end
  end
end

# memcached by the client Dalli: strings as they are, not compressed.

require "dalli"
require_relative "harness"

class Client
  RAW = { raw: true }.freeze

  def initialize(address)
    @client = Dalli::Client.new(address, compress: false)
    @client.alive!
  end

  def put(key, value)
    raise "a set was refused" unless @client.set(key, value, nil, RAW)
  end

  def get(key) = @client.get(key, RAW)
  def close = @client.close
  def version = "Dalli #{Dalli::VERSION}, Ruby #{RUBY_VERSION}"
end

Harness.run { |job| Client.new(job["address"]) }

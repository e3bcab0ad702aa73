# frozen_string_literal: true

require 'zlib'

module Tavola
  # Decompresses values of memcached servers.
  # @api private
  module Inflate
    # Returns the bytes that zlib has compressed. A short value can be made that fills all memory, so
    # it ends with an error at so many bytes.
    def self.bounded(bytes, most)
      stream = Zlib::Inflate.new
      whole = +''.b
      stream.inflate(bytes) do |part|
        whole << part
        next if whole.bytesize <= most

        raise ArgumentError, "it is longer than #{most} bytes then; give a larger " \
                             'decompressed_max_bytes if those who write it are trusted'
      end
      stream.finish
      whole
    ensure
      stream.reset
      stream.close
    end
  end
end

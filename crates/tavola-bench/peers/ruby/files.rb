# A file a key, written over in place.

require_relative "harness"

class Files
  def initialize(folder)
    @folder = folder
  end

  def put(key, value) = File.binwrite(File.join(@folder, key), value)
  def get(key) = File.binread(File.join(@folder, key))
  def close = nil
  def version = "Ruby #{RUBY_VERSION}"
end

Harness.run { |job| Files.new(job["dir"]) }

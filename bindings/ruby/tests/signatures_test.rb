# frozen_string_literal: true

require_relative 'test_case'
require 'tavola/client'
require 'tavola/fleet'
require 'tavola/pstore'

# The types in sig/ are valid, and name each public call.
class SignaturesTest < TavolaTest
  SIG = File.expand_path('../sig', __dir__)

  def environment
    verbose = $VERBOSE
    $VERBOSE = nil
    require 'rbs'
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(SIG))
    loader.add(library: 'logger', version: nil)
    RBS::Environment.from_loader(loader).resolve_type_names
  rescue LoadError
    skip 'rbs is not installed'
  ensure
    $VERBOSE = verbose
  end

  ADAPTERS = { 'active_support/cache/tavola_store' => 'ActiveSupport::Cache::TavolaStore',
               'moneta/adapters/tavola' => 'Moneta::Adapters::Tavola',
               'rack/session/tavola' => 'Rack::Session::Tavola' }.freeze

  def test_every_public_call_has_a_type
    loaded = environment
    [Tavola::Table, Tavola::Queue, Tavola::Log, Tavola::Log::Reader, Tavola::Log::Drain,
     Tavola::Logger, Tavola::LogDevice, Tavola::PStore, Tavola::Client, Tavola::Fleet, Tavola::Watch,
     Tavola::Lock, Tavola::Tags, Tavola::Transaction].each { |owner| assert_typed(owner, loaded) }
  end

  ADAPTERS.each do |library, name|
    define_method("test_every_public_call_has_a_type_#{library}") do
      load_adapter(library)
      assert_typed(Object.const_get(name), environment)
    end
  end

  # Each file of the gem has its class here or there, so a new adapter is not forgotten.
  def test_every_adapter_is_tested
    lib = File.expand_path('../lib', __dir__)
    files = Dir.glob('*/**/*.rb', base: lib).reject { |file| file.start_with?('tavola/') }
    assert_equal ADAPTERS.keys.sort, files.map { |file| file.delete_suffix('.rb') }.sort
  end

  def assert_typed(owner, loaded)
    builder = RBS::DefinitionBuilder.new(env: loaded)
    name = RBS::Namespace.parse("::#{owner.name}").to_type_name
    typed = builder.build_instance(name).methods.keys
    assert_equal [], owner.public_instance_methods(false) - typed, owner.name
    typed = builder.build_singleton(name).methods.keys
    assert_equal [], owner.singleton_methods(false) - typed, "#{owner.name}."
  end

  def load_adapter(library)
    verbose = $VERBOSE
    $VERBOSE = nil
    require 'rack' if library.start_with?('rack')
    require library
  rescue LoadError => error
    skip "not installed: #{error.message}"
  ensure
    $VERBOSE = verbose
  end

  def test_every_error_has_a_type
    names = environment.class_decls.keys.map(&:to_s)
    errors = Tavola.constants.map { |name| Tavola.const_get(name) }
                   .select { |one| one.is_a?(Class) && one <= StandardError }
    assert_operator errors.size, :>, 25
    assert_equal [], errors.map { |one| "::#{one.name}" } - names
  end
end

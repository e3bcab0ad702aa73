# frozen_string_literal: true

# Runs bindings/cases.json: the cases that every language must answer alike.
#
# Each step becomes a call of `call_NAME`. `run` returns a sentence for each case that failed.
class CasesRunner
  PATH = File.expand_path('../../cases.json', __dir__)

  def self.cases
    JSON.parse(File.read(PATH))['cases']
  end

  # @param name [String] a table of this name is made for the case
  def initialize(one, name)
    @case = one
    @name = name
    @saved = {}
  end

  # Returns what was wrong, or nil. `@current` is what a step calls if it does not say
  # `"of": "table"`.
  def run
    options = (@case['options'] || {}).transform_keys(&:to_sym)
    options[:max_size] ||= 4 << 20
    if (lengths = options.delete(:fixed))
      options[:fixed_key], options[:fixed_value] = lengths
    end
    Tavola.open(@name, **options) do |table|
      @table = @current = table
      @jobs = open_queue if @case['queue']
      problem = steps_problem(@case['steps'])
      return "#{@case['name']}: #{problem}" if problem
    end
    nil
  ensure
    Tavola.remove(@name)
    Tavola.remove("#{@name} jobs")
  end

  private

  def open_queue
    serializer = @case['jobs']&.to_sym
    Tavola::Queue.open("#{@name} jobs", places: @case['queue'], serializer: serializer)
  end

  # What is wrong with a step within another one.
  class Wrong < StandardError
  end

  def steps_problem(steps)
    steps.each_with_index do |step, i|
      problem = step_problem(step)
      return "step #{i + 1} (#{step['call']}): #{problem}" if problem
    end
    nil
  end

  def run_inner(steps)
    problem = steps_problem(steps || [])
    raise Wrong, problem if problem
  end

  def step_problem(step)
    begin
      result = __send__("call_#{step['call']}", step)
    rescue Wrong => error
      return error.message
    rescue Tavola::Error => error
      return "raised #{error.status}: #{error.message}" unless step['error'] == error.status.to_s
      return if error.message == step['message']

      return "the message is #{error.message.inspect}"
    end
    return "no error, but #{result.inspect}" if step['error']

    @saved[step['save']] = result if step['save']
    return unless step.key?('result')

    expected = wanted(step['result'])
    "#{result.inspect} instead of #{expected.inspect}" unless same?(expected, result)
  end

  # 1 and 1.0 differ, and so do text and bytes.
  def same?(expected, result)
    case expected
    when Float then result.is_a?(Float) && (expected == result || (expected.nan? && result.nan?))
    when Array
      result.is_a?(Array) && expected.size == result.size &&
        expected.zip(result).all? { |a, b| same?(a, b) }
    when Hash
      result.is_a?(Hash) && expected.keys.sort == result.keys.sort &&
        expected.all? { |key, one| same?(one, result[key]) }
    when String
      result.is_a?(String) && result == expected && result.encoding == expected.encoding
    else expected.class == result.class && expected == result
    end
  end

  # {"hex": ...} are bytes, {"saved": ...} is an earlier result, {"float": ...} what JSON cannot
  # say, and {"repeat": ...} a long value.
  def wanted(value)
    case value
    when Hash
      return [value['hex']].pack('H*') if value.keys == ['hex']
      return @saved.fetch(value['saved']) if value.keys == ['saved']
      return special_float(value['float']) if value.keys == ['float']
      return repeated(value) if value.key?('repeat') && value.key?('times')

      value.transform_values { |one| wanted(one) }
    when Array then value.map { |one| wanted(one) }
    else value
    end
  end

  def special_float(name)
    { 'inf' => Float::INFINITY, '-inf' => -Float::INFINITY, 'nan' => Float::NAN }.fetch(name) do
      Float(name)
    end
  end

  def repeated(value)
    long = wanted(value['repeat']) * value['times']
    value.key?('then') ? long + wanted(value['then']) : long
  end

  def key(step, name = 'key')
    wanted(step.fetch(name))
  end

  def how(step)
    how = {}
    how[:ttl] = step['ttl'] if step['ttl']
    how[:tags] = wanted(step['tags']) if step['tags']
    how
  end

  def whose(step)
    step['of'] == 'table' ? @table : @current
  end

  def call_get(step)
    whose(step).get(key(step))
  end

  def call_flags(step)
    @table.get_bytes(key(step))&.last
  end

  def call_bytes(step)
    @table.get_bytes(key(step))&.first
  end

  def call_store(step)
    value = wanted(step['value'])
    @table.set_bytes(key(step), value, step['flags'] || 0)
  end

  def call_set(step)
    whose(step).set(key(step), wanted(step['value']), **how(step))
  end

  def call_add(step)
    whose(step).add(key(step), wanted(step['value']), **how(step))
  end

  def call_replace(step)
    whose(step).replace(key(step), wanted(step['value']), **how(step))
  end

  def call_append(step)
    whose(step).append(key(step), wanted(step['value']))
  end

  def call_prepend(step)
    @table.prepend(key(step), wanted(step['value']))
  end

  def call_delete(step)
    whose(step).remove(key(step))
  end

  def call_exists(step)
    whose(step).key?(key(step))
  end

  def call_take(step)
    @table.take(key(step))
  end

  def call_swap(step)
    @table.swap(key(step), wanted(step['value']), **how(step))
  end

  def call_gets(step)
    @table.gets(key(step))&.last
  end

  def call_cas(step)
    @table.cas(key(step), wanted(step['value']), wanted(step['token']), **how(step))
  end

  def call_incr(step)
    whose(step).increment(key(step), step['by'] || 1, initial: step['initial'] || 0,
                                                      ttl: step['ttl'])
  end

  def call_decr(step)
    whose(step).decrement(key(step), step['by'] || 1, initial: step['initial'] || 0,
                                                      ttl: step['ttl'])
  end

  def call_touch(step)
    @table.touch(key(step), step['ttl'])
  end

  def call_ttl(step)
    @table.ttl(key(step))
  end

  def call_get_many(step)
    @table.get_multi(wanted(step['keys']))
  end

  def call_set_many(step)
    @table.set_multi(wanted(step['values']), **how(step))
  end

  def call_delete_many(step)
    @table.delete_multi(wanted(step['keys']))
  end

  def call_keys(_step)
    sorted(@table.each_key)
  end

  def call_prefix_keys(step)
    sorted(@table.each_key_prefix(key(step, 'prefix')))
  end

  def sorted(keys)
    keys.sort_by(&:b)
  end

  def call_delete_prefix(step)
    @table.delete_prefix(key(step, 'prefix'))
  end

  def call_size(_step)
    @table.size
  end

  def call_is_durable(_step)
    @table.durable?
  end

  def call_durability(_step)
    policy = @table.durability
    policy.is_a?(Symbol) ? policy.to_s.encode('UTF-8') : policy
  end

  def call_sync(_step)
    @table.sync
    true
  end

  def call_snapshot(_step)
    @table.snapshot
  end

  def call_clear(_step)
    @table.clear.equal?(@table)
  end

  def call_invalidate(step)
    @table.invalidate(wanted(step['tag']))
    true
  end

  def call_compute(step)
    @table.compute(key(step), **how(step)) { wanted(step['value']) }
  end

  # A handle of its own is a second owner: a thread that locks twice with one handle is an error.
  def call_lock(step)
    Tavola.open(@name, create: false) do |owner|
      how = { timeout: step['wait'] || 0, shared: step['shared'] }
      owner.lock(step['name'], **how) { run_inner(step['steps']) }
      true
    end
  rescue Tavola::TimeoutError
    false
  end

  def call_push(step)
    @jobs.push(wanted(step['value']), true)
    true
  rescue ThreadError
    false
  end

  def call_pop(step)
    job = nil
    @jobs.pop(timeout: 0) do |popped|
      job = popped
      run_inner(step['steps'])
      break if step['give_back']
    end
    job
  end

  def call_waiting(_step)
    @jobs.size
  end

  def call_transaction(step)
    is_committed = @table.transaction(once: step['once']) do |transaction|
      @current = transaction
      run_inner(step['steps'])
      transaction.abort if step['abort']
      true
    ensure
      @current = @table
    end
    is_committed || false
  end
end

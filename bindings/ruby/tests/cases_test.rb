# frozen_string_literal: true

require_relative 'test_case'
require_relative 'cases_runner'

# The cases that every language must answer alike: a test for each.
class CasesTest < TavolaTest
  CasesRunner.cases.each do |one|
    define_method("test_#{one['name']}") do
      problem = CasesRunner.new(one, 'case').run
      assert_nil problem, problem
    end
  end

  def test_the_runner_notices_a_wrong_answer
    wrong = { 'name' => 'wrong', 'steps' => [
      { 'call' => 'set', 'key' => 'a', 'value' => 1, 'result' => true },
      { 'call' => 'get', 'key' => 'a', 'result' => 1.0 }
    ] }
    assert_equal 'wrong: step 2 (get): 1 instead of 1.0', CasesRunner.new(wrong, 'case').run
    wrong['steps'][1] = { 'call' => 'incr', 'key' => 'a', 'error' => 'NOT_A_COUNTER' }
    assert_equal 'wrong: step 2 (incr): no error, but 2', CasesRunner.new(wrong, 'case').run
    wrong['steps'][0]['value'] = 'text'
    wrong['steps'][1]['message'] = 'not a decimal number'
    assert_match(/: step 2 \(incr\): the message is "the v/, CasesRunner.new(wrong, 'case').run)
  end

  def test_the_runner_notices_a_wrong_answer_within_a_step
    inner = [{ 'call' => 'get', 'key' => 'a', 'result' => 1 }]
    [
      { 'call' => 'lock', 'name' => 'l' }, { 'call' => 'pop' }, { 'call' => 'transaction' }
    ].each do |outer|
      wrong = { 'name' => 'wrong', 'queue' => 1, 'steps' => [
        { 'call' => 'push', 'value' => 'job', 'result' => true }, outer.merge('steps' => inner)
      ] }
      assert_equal "wrong: step 2 (#{outer['call']}): step 1 (get): nil instead of 1",
                   CasesRunner.new(wrong, 'case').run
    end
  end
end

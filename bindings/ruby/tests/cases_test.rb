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
  end
end

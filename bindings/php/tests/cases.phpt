--TEST--
bindings/cases.json: the answers that every language gives
--FILE--
<?php
require __DIR__ . '/begin.inc';
require __DIR__ . '/cases.inc';
$cases = new Cases(getenv('TAVOLA_CASES') ?: __DIR__ . '/../../cases.json');
same(true, $cases->run() > 0);
same(true, $cases->steps > 0);

// The runner itself sees a difference in each of these.
$before = [
    ['call' => 'set', 'key' => 'k', 'value' => 'v', 'result' => true],
    ['call' => 'push', 'value' => 'job', 'result' => true],
];
$wrong = [
    ['call' => 'get', 'key' => 'k', 'result' => 1],
    ['call' => 'incr', 'key' => 'k', 'error' => 'NOT_A_COUNTER', 'message' => 'a decimal number'],
    ['call' => 'lock', 'name' => 'l',
        'steps' => [['call' => 'lock', 'name' => 'l', 'result' => true]]],
    ['call' => 'pop', 'result' => 'other'],
    ['call' => 'transaction', 'steps' => [['call' => 'get', 'key' => 'k', 'result' => 1]]],
];
foreach ($wrong as $step) {
    $case = ['name' => 'wrong', 'queue' => 1, 'steps' => [...$before, $step]];
    file_put_contents("$directory/wrong.json", json_encode(['cases' => [$case]]));
    try {
        (new Cases("$directory/wrong.json"))->run();
        $seen = '';
    } catch (Exception $difference) {
        $seen = $difference->getMessage();
    }
    same(true, str_starts_with($seen, "case 'wrong', step 2"), $seen);
    Tavola\Names::remove('case0');
    Tavola\Names::remove('jobs0');
}
echo 'done';
?>
--EXPECT--
done

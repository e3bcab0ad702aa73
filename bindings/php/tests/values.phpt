--TEST--
Values: each kind reads back as it was, and others see the kinds of bindings/README.md
--FILE--
<?php
require __DIR__ . '/begin.inc';
$table = Tavola\Table::open('t');

$kinds = [
    [0, 'text', 'text'], [0, '', ''], [0, "\0\xff", "\0\xff"], [0, str_repeat('x', 100000),
        str_repeat('x', 100000)],
    [0x54020000, 0, '0'], [0x54020000, -42, '-42'],
    [0x54020000, PHP_INT_MAX, '9223372036854775807'], [0x54020000, PHP_INT_MIN,
        '-9223372036854775808'],
    [0x54030000, 1.5, '1.5'], [0x54030000, 0.1, '0.1'], [0x54030000, -0.0, '-0.0'],
    [0x54030000, INF, 'inf'], [0x54030000, -INF, '-inf'], [0x54030000, NAN, 'nan'],
    [0x54040000, null, 'null'], [0x54040000, true, 'true'], [0x54040000, false, 'false'],
    [0x54040000, [], '[]'], [0x54040000, [1, [2.0, 'x']], '[1,[2.0,"x"]]'],
    [0x54040000, ['a' => 1, 'b' => null], '{"a":1,"b":null}'], [0x54040000, [1 => 'one'],
        '{"1":"one"}'],
    [0x54040000, ["\u{1F600}", "\"\\\n\x01/"], '["😀","\\"\\\\\n\\u0001/"]'],
    [0x54040000, ['' => 'empty', 5 => -0.0], '{"":"empty","5":-0.0}'],
];
foreach ($kinds as [$flags, $value, $bytes]) {
    $table->set('key', $value);
    same($value, $table->get('key'));
    same($flags, $table->entry('key')['flags']);
    same(str_replace("\n", '\n', $bytes), str_replace("\n", '\n', $table->getBytes('key')));
}
mt_srand(31);
for ($i = 0; $i < 1000; $i++) {
    $number = unpack('d', pack('q', mt_rand() << 32 ^ mt_rand()))[1];
    $table->set('key', $number);
    same($number, $table->get('key'));
    if (is_finite($number)) {
        $table->set('key', [$number]);
        same([$number], $table->get('key'));
    }
}

/* What other programs write. */
$foreign = [
    [0x54010000, 'grüße', 'grüße'], [0x54020007, '12', 12], [0x54020000, '99999999999999999999',
        '99999999999999999999'],
    [0x54020000, '1x', '1x'], [0x54020000, '', ''], [0x54030000, '1e3', 1000.0], [0x54030000,
        'much', 'much'],
    [0x54040000, '{"a": [1, 2]}', ['a' => [1, 2]]], [0x54040000, '{broken', '{broken'],
        [0x54040000, '"text"', 'text'],
    [0x54100000, 'pickle', 'pickle'], [0x54110000, 'i:5;', 'i:5;'], [0x54130000, 'marshal',
        'marshal'],
    [0x54990000, 'new', 'new'], [7, '12', '12'],
];
foreach ($foreign as [$flags, $bytes, $value]) {
    $table->setBytes('key', $bytes, $flags);
    same($value, $table->get('key'));
}
throws(ValueError::class, fn() => $table->setBytes('key', '', -1));

/* Parts of a value, of one page and of several. */
foreach (['0123456789', str_repeat('0123456789', 20_000)] as $bytes) {
    $table->set('key', $bytes);
    $end = strlen($bytes);
    foreach ([[0, 4], [3, 4], [0, $end], [$end - 2, 2], [$end - 2, 100], [0, PHP_INT_MAX], [5, 0],
        [$end, 5], [$end + 9, 5], [PHP_INT_MAX, PHP_INT_MAX]] as [$start, $most]) {
        same(substr($bytes, $start, $most), $table->getRange('key', $start, $most));
    }
}
$table->set('key', 12345);
same('34', $table->getRange('key', 2, 2), 'the bytes of any kind');
same(null, $table->getRange('missing', 0, 5));
throws(ValueError::class, fn() => $table->getRange('key', -1, 5));
throws(ValueError::class, fn() => $table->getRange('key', 0, -1));

/* What is not stored without a serializer. */
foreach ([new stdClass, [new stdClass], ["\xff"], ["\xff" => 1], [NAN], STDIN, [STDIN],
    fn() => 1] as $value) {
    throws(Tavola\ArgumentException::class, fn() => $table->set('bad', $value));
}
$cycle = [1];
$cycle[] = &$cycle;
throws(Tavola\ArgumentException::class, fn() => $table->set('bad', $cycle));
same(false, $table->exists('bad'));
$one = 1;
$table->set('key', [&$one, &$one]);
same([1, 1], $table->get('key'));
echo 'done';
?>
--EXPECT--
done

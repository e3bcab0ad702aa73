--TEST--
The entries of APCu itself go into a table, as the guide's page "bring your data" does it
--EXTENSIONS--
apcu
--INI--
apc.enable_cli=1
--FILE--
<?php
require __DIR__ . '/begin.inc';
same(false, str_contains((string) new ReflectionExtension('apcu'), 'tavola'));
$values = ['color' => 'red', 'shape' => ['round', 3, ['deep' => null]], 'count' => -7,
    'ratio' => 0.5, 'on' => true, 'nothing' => null, 'empty' => '', "key\0\xff" => "\0\xff"];
foreach ($values as $key => $value) {
    same(true, apcu_store($key, $value, $key === 'shape' ? 3600 : 0));
}

$table = Tavola\Table::open('colors');
foreach (new APCUIterator(null, APC_ITER_KEY | APC_ITER_VALUE | APC_ITER_TTL) as $key => $entry) {
    $table->set($key, $entry['value'], $entry['ttl'] ?: null);
}

same(count($values), count($table));
foreach ($values as $key => $value) {
    same($value, $table->get($key, 'missing'), $key);
    same($key === 'shape', $table->ttl($key) !== null, "the TTL of $key");
}
same(true, $table->ttl('shape') > 3500 && $table->ttl('shape') <= 3600);
echo 'done';
?>
--EXPECT--
done

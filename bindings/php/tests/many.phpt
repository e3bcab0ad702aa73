--TEST--
Many keys in one call, iteration and prefixes
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
$values = [];
for ($i = 0; $i < 500; $i++) {
    $values["key:$i"] = $i % 2 ? $i : "value $i";
}
same(true, $t->setMultiple($values, 60));
same(60, $t->ttl('key:499'));
same($values, $t->getMultiple(array_keys($values)));
same(['key:1' => 1], $t->getMultiple(['none', 'key:1']));
same([], $t->getMultiple([]));
same(true, $t->setMultiple([7 => 'seven', 'x' => 'y']));
same([7 => 'seven'], $t->getMultiple([7]));
same(502, count($t));

$all = iterator_to_array($t);
ksort($all, SORT_STRING);
$expected = $values + [7 => 'seven', 'x' => 'y'];
ksort($expected, SORT_STRING);
same($expected, $all);
$count = 0;
foreach ($t as $key => $value) {
    same('string', gettype($key));
    $count++;
}
same(502, $count);
$found = iterator_to_array($t->prefix('key:4'));
same(111, count($found));
same('value 400', $found['key:400']);
$keys = $t->keys('key:49');
sort($keys, SORT_STRING);
same(['key:49', 'key:490', 'key:491', 'key:492', 'key:493', 'key:494', 'key:495', 'key:496',
    'key:497',
    'key:498', 'key:499'], $keys);
same(502, count($t->keys()));
same([], $t->keys('none'));

/* The methods of \Iterator by hand, and two iterations at once. */
$each = $t->getIterator();
same(true, $each->valid());
same($t[$each->key()], $each->current());
$first = $each->key();
$each->next();
same(false, $first === $each->key());
$each->rewind();
same($first, $each->key());
for ($n = 0; $each->valid(); $each->next()) {
    $n++;
}
same(502, $n);
same(null, $each->current());
same('', $each->key());
$pairs = 0;
foreach ($t->prefix('key:49') as $a => $_) {
    foreach ($t->prefix('key:49') as $b => $_) {
        $pairs++;
    }
}
same(121, $pairs);
foreach ($t as $key => $_) {
    unset($t[$key]);
}
same(0, count($t), 'removing while iterating');

$t->setMultiple($values);
same(2, $t->deleteMultiple(['key:1', 'key:2', 'none']));
same(498, $t->deletePrefix('key:'));
same(0, $t->deletePrefix('key:'));
$t['a'] = 1;
same(true, $t->clear());
same(0, count($t));
throws(Tavola\ArgumentException::class, fn() => $t->setMultiple(['ok' => 1,
    'bad' => new stdClass]));
class Broken { public function __toString(): string { throw new LogicException('no text'); } }
throws(LogicException::class, fn() => $t->getMultiple(['a', new Broken]));
throws(LogicException::class, fn() => $t->deleteMultiple(['a', new Broken]));

/* An iterator keeps its table. */
$each = Tavola\Table::open('other')->getIterator();
gc_collect_cycles();
same([], iterator_to_array($each));
echo 'done';
?>
--EXPECT--
done

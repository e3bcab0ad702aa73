--TEST--
A table as an array: ArrayAccess, Countable, IteratorAggregate
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
$t['a'] = 1;
same(1, $t['a']);
same(true, isset($t['a']));
same(false, isset($t['b']));
same(true, empty($t['b']));
same('x', $t['b'] ?? 'x');
same(null, $t['b']);
$t['a'] += 5;
same(6, $t['a']);
unset($t['a'], $t['never']);
same(0, count($t));
throws(Tavola\ArgumentException::class, function () use ($t) { $t[] = 1; });
throws(TypeError::class, fn() => $t[[]]);
$t['x'] = [1, 2];
same(2, $t['x'][1]);
same(['x' => [1, 2]], iterator_to_array($t));
same(true, $t instanceof ArrayAccess && $t instanceof Countable && $t instanceof Traversable);
throws(Error::class, function () use ($t) { $t->dynamic = 1; });
echo 'done';
?>
--EXPECT--
done

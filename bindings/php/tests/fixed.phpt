--TEST--
A table with fixed lengths stores strings of these lengths
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t', ['fixed' => [4, 8]]);
same(true, $t->set('key1', 'eight by'));
same('eight by', $t->get('key1'));
same(['key1' => 'eight by'], iterator_to_array($t));
throws(Tavola\LengthsException::class, fn() => $t->set('key1', 'short'));
throws(Tavola\LengthsException::class, fn() => $t->set('long key', 'eight by'));
throws(Tavola\ArgumentException::class, fn() => $t->set('key1', 12345678), 'strings only');
throws(Tavola\BadOptionException::class, fn() => $t->set('key1', 'eight by', 5));
throws(Tavola\BadOptionException::class, fn() => Tavola\Table::open('u', ['fixed' => 4]),
    'such as [8, 16]');
same(8, $t->stats()['fixed_value']);
echo 'done';
?>
--EXPECT--
done

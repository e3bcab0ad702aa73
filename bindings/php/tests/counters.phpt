--TEST--
Counters: signed, created when missing, with a first number and a TTL
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
same(1, $t->inc('n'));
same(6, $t->inc('n', 5));
same(-1, $t->dec('n', 7));
same(-2, $t->dec('n'));
same(-2, $t->get('n'));
same(0x54020000, $t->entry('n')['flags']);
same(11, $t->inc('first', 1, 10));
same(12, $t->inc('first', 1, 10));
same(9, $t->dec('down', 1, 10));
same(8, $t->dec('down', 1, 10));
$t->inc('brief', 1, 0, 30);
same(30, $t->ttl('brief'));
$t->inc('brief2', 1, 100, 30);
same(30, $t->ttl('brief2'));
$t->inc('brief', 1, 0, 90);
same(30, $t->ttl('brief'), 'a key that exists keeps its time');

$t->set('text', 'abc');
$thrown = throws(Tavola\NotACounterException::class, fn() => $t->inc('text'));
same('NOT_A_COUNTER', $thrown->getStatus());
same(-28, $thrown->getCode());
throws(Tavola\NotACounterException::class, fn() => $t->inc('text', 1, 5));
same('abc', $t->get('text'));
$t->set('most', PHP_INT_MAX);
throws(Tavola\BadOptionException::class, fn() => $t->inc('most'));
throws(Tavola\BadOptionException::class, fn() => $t->inc('most', 1, 5));
same(PHP_INT_MAX, $t->get('most'));
throws(ValueError::class, fn() => $t->dec('most', PHP_INT_MIN));
same(0, $t->inc('zero', 0));
$t->set('decimal', '41');
same(42, $t->inc('decimal'), 'decimal text of another program');
same('42', $t->get('decimal'));
echo 'done';
?>
--EXPECT--
done

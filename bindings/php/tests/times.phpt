--TEST--
Times: TTL of keys, of the table, touch, persist, and what is no TTL
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;
$t = Table::open('t');
same(null, $t->ttl('none'));
$t->set('a', 1);
same(null, $t->ttl('a'));
$t->set('a', 1, 60);
same(60, $t->ttl('a'));
$t->set('a', 1, 0.5);
same(1, $t->ttl('a'), 'rounded up');
same(true, $t->touch('a', 100));
same(100, $t->ttl('a'));
same(true, $t->persist('a'));
same(null, $t->ttl('a'));
same(true, $t->touch('a', 100));
same(true, $t->touch('a', null));
same(null, $t->ttl('a'));
same(false, $t->touch('none', 1));
same(false, $t->persist('none'));
same(true, $t->add('b', 1, 50));
same(50, $t->ttl('b'));
same(true, $t->replace('b', 1, 40));
same(40, $t->ttl('b'));
[, $token] = $t->gets('b');
same(true, $t->cas('b', $token, 2, 30));
same(30, $t->ttl('b'));
$t->set('b', 1);
same(null, $t->ttl('b'), 'a set without a TTL takes it');
$t->set('c', 1, 20);
$entry = $t->entry('c');
same(true, $entry['ttl'] > 19 && $entry['ttl'] <= 20);
same(true, abs($entry['expires'] - microtime(true) - 20) < 5);
foreach ([0, -5, NAN, 1e20, -0.5] as $ttl) {
    throws(Tavola\ArgumentException::class, fn() => $t->set('c', 1, $ttl), 'TTL');
}
throws(TypeError::class, fn() => $t->set('c', 1, 'soon'));
same(20, $t->ttl('c'));

/* A key that has expired is missing. The clock of a table ticks at least every 10 ms. */
$t->set('short', 1, 0.001);
for ($i = 0; $i < 5000 && $t->exists('short'); $i++) {
    usleep(1000);
}
same(null, $t->get('short'));
$t->removeExpired();
same(1, $t->stats()['expired']);

$brief = Table::open('brief', ['ttl' => 30]);
$brief['a'] = 1;
same(30, $brief->ttl('a'));
$brief->set('b', 1, Table::FOREVER);
same(null, $brief->ttl('b'));
same(1, $brief->inc('n'));
same(30, $brief->ttl('n'));
same(1, $brief->compute('c', fn() => 1));
same(30, $brief->ttl('c'));
echo 'done';
?>
--EXPECT--
done

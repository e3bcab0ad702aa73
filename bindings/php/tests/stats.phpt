--TEST--
Stats, checks and maintenance of a table
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;
$t = Table::open('t', ['capacity' => '8M']);
for ($i = 0; $i < 100; $i++) {
    $t["key$i"] = str_repeat('x', 100);
}
$t['key5'];
$t['none'];
$stats = $t->stats();
same(100, $stats['keys']);
same(100, $stats['live_keys']);
same(8 << 20, $stats['capacity']);
same(true, $stats['payload_bytes'] > 10000 && $stats['resident_bytes'] > $stats['payload_bytes']);
same(1, $stats['participants']);
same(1, preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-/', $stats['uuid']));
same([1000, 10000, 60000], array_column($stats['recent'], 'wanted_ms'));
$me = $t->participants()[0];
same(getmypid(), $me['pid']);
same([true, false], [$me['alive'], $me['stopped']]);
same(['problems' => 0, 'keys' => 100], array_slice($t->check(), 0, 2));
same(0, $t->repair()['problems']);
$t->setCapacity('4M');
same(4 << 20, $t->stats()['capacity']);
$t->setMaxSize('8G');
same(8 << 30, $t->stats()['max_size']);
throws(Tavola\BadOptionException::class, fn() => $t->setCapacity('0'));
throws(Tavola\BadOptionException::class, fn() => $t->setMaxSize('1K'));
same(100, $t->copyTo('copy'));
same(str_repeat('x', 100), Table::openExisting('copy')['key7']);
throws(Tavola\TableExistsException::class, fn() => $t->copyTo('copy'));
$t->clear();
same(true, $t->compact() >= 0);
same(0, $t->reclaim());
$t->setLockTimeout(1.5);
$t->setLockTimeout(null);
throws(Tavola\ArgumentException::class, fn() => $t->setLockTimeout(-1));

/* A full table is an error, and a cache is not. */
$small = Table::open('small', ['max_size' => '1M']);
$full = throws(Tavola\FullException::class, function () use ($small) {
    for ($i = 0; ; $i++) {
        $small["key$i"] = str_repeat('y', 1000);
    }
});
same('FULL', $full->getStatus());
same(0, $small->check()['problems']);
$cache = Table::open('cache', ['capacity' => '1M', 'max_size' => '8M']);
for ($i = 0; $i < 5000; $i++) {
    $cache["key$i"] = str_repeat('y', 1000);
}
$stats = $cache->stats();
same(true, $stats['evicted_new'] + $stats['evicted_old'] > 0);
throws(Tavola\FullException::class, fn() => $cache->set('huge', str_repeat('z', 10 << 20)));
echo 'done';
?>
--EXPECT--
done

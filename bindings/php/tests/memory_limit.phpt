--TEST--
The memory limit of PHP ends a script between two calls of the library, and harms no one else
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
$t['large'] = str_repeat('x', 20 << 20);
$t['taken'] = $t['large'];
$t['fits'] = str_repeat('y', 3 << 20);
ini_set('display_errors', '0');
ini_set('log_errors', '0');
/* Some builds of PHP end the script at the next turn of a loop, and not at once. */
$turn = function () { for ($i = 0; $i < 10; $i++) { usleep(1); } };
foreach (['get' => fn() => $t->get('large'), 'many' => fn() => $t->getMultiple(['large']),
    'take' => fn() => $t->take('taken'), 'each' => fn() => iterator_to_array($t),
    'compute' => fn() => $t->compute('large', fn() => 1),
    'together' => fn() => $t->readTogether(fn($x) => $x->get('large')),
    'transaction' => fn() => $t->transaction(fn($x) => $x->get('large'))] as $how => $read) {
    same(255, ended(child(function () use ($read, $turn) {
        ini_set('memory_limit', '16M');
        $kept = $read();
        $turn();
    })), $how);
}
same(20 << 20, strlen($t['large']));
ini_set('memory_limit', (string) (memory_get_usage(true) + (5 << 20)));
same(3 << 20, strlen($t['fits']), 'near the limit, but it fits');
same(3 << 20, strlen($t->compute('fits', fn() => 'no')));
same(3 << 20, strlen($t->readTogether(fn($x) => $x->get('fits'))));

/* The end of a script within a computation gives the lease up. */
ini_set('memory_limit', '256M');
same(255, ended(child(function () use ($t, $turn) {
    ini_set('memory_limit', '16M');
    $t->compute('lease', function () use ($turn) {
        $value = str_repeat('x', 20 << 20);
        $turn();
        return $value;
    });
})));
same(1, $t->compute('lease', fn() => 1));
same(3, ended(child(fn() => $t->compute('exit', fn() => exit(3)))));
same(1, $t->compute('exit', fn() => 1));

/* And so does the end of a script within a transaction, which changes nothing. */
same(255, ended(child(function () use ($t, $turn) {
    ini_set('memory_limit', '16M');
    $t->transaction(function ($x) use ($turn) {
        $x->set('ended', 1);
        $value = str_repeat('x', 20 << 20);
        $turn();
    }, once: true);
})));
same(null, $t['ended']);
same(1, $t->transaction(fn($x) => $x->inc('turn'), once: true));
same(0, $t->check()['problems']);
echo 'done';
?>
--INI--
memory_limit=256M
--EXPECT--
done

--TEST--
compute and remember in one process
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t', ['serializer' => 'php']);
$calls = 0;
$make = function (string $key) use (&$calls) { $calls++; return ['key' => $key]; };
same(['key' => 'a'], $t->compute('a', $make, ttl: 60));
same(['key' => 'a'], $t->compute('a', $make, ttl: 60));
same(1, $calls);
same(60, $t->ttl('a'));
same(['key' => 'r'], $t->remember('r', 30, $make));
same(30, $t->ttl('r'));
$t->compute('forever', $make);
same(null, $t->ttl('forever'));
foreach ([null, false, 0, '', 1.5, new ArrayObject([1])] as $number => $value) {
    same(serialize($value), serialize($t->compute("v$number", fn() => $value)));
    same(serialize($value), serialize($t->compute("v$number", fn() => 'not called')));
}

/* A failure reaches the caller, and others for a while. */
throws(DomainException::class, fn() => $t->compute('bad',
    fn() => throw new DomainException('no database')));
$thrown = throws(Tavola\NotComputedException::class, fn() => $t->compute('bad', $make),
    'no database');
same('COMPUTE', $thrown->getStatus());
$t->delete('bad');
same(['key' => 'bad'], $t->compute('bad', $make), 'a delete ends the pause');
throws(DomainException::class,
    fn() => $t->compute('again', fn() => throw new DomainException('no'), backOff: 0));
same(['key' => 'again'], $t->compute('again', $make));

/* Stale values. */
same('old', $t->compute('stale', fn() => 'old', ttl: 0.001, stale: 100));
for ($i = 0; $i < 5000; $i++) {
    $now = $t->compute('stale', fn() => 'new', ttl: 60, stale: 100);
    if ($now === 'new') {
        break;
    }
    usleep(1000);
}
same('new', $now);

/* Other keys within the function, and the same key. */
same('inner', $t->compute('outer', fn() => $t->compute('inner', fn() => 'inner')));
throws(Tavola\ArgumentException::class,
    fn() => $t->compute('self', fn() => $t->compute('self', fn() => 1), backOff: 0),
        'wait for itself');
same(1, $t->compute('self', fn() => 1), 'the lease was given up');

/* A key that is set meanwhile wins. */
same('mine', $t->compute('race', function () use ($t) { $t->set('race',
    'theirs'); return 'mine'; }));
same('theirs', $t['race']);
throws(Tavola\ArgumentException::class, fn() => $t->compute('x', $make, stale: -1), 'stale');
throws(Exception::class, fn() => $t->compute('closure', fn() => fn() => 1, backOff: 0), 'Closure');
same(false, $t->exists('closure'));
same(5, $t->compute('early', fn() => 5, ttl: 60, early: 1.0));
same(5, $t->compute('early', fn() => 5, ttl: 60, early: 1.0),
    'the duration in the flags is ignored');
$by = 1;
same(1, $t->compute('reference', function & () use (&$by) { return $by; }));
echo 'done';
?>
--EXPECT--
done

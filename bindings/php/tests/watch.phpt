--TEST--
Waiting: a change of a key, and a barrier of processes
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
$watch = $t->watch('config');
same(false, $watch->wait(0));
$t['config'] = 1;
same(true, $watch->wait(10));
$pid = child(function () use ($t) {
    $t->barrier('go', 2);
    $t['config'] = 2;
});
$t->barrier('go', 2);
while ($t['config'] !== 2) {
    same(true, $watch->wait(20));
}
same(0, ended($pid));
same(false, $t->barrier('alone', 2, 0.01));
same(true, $t->barrier('alone', 1));
throws(ValueError::class, fn() => $t->barrier('alone', 0));

/* A signal ends a wait. */
pcntl_async_signals(true);
pcntl_signal(SIGALRM, fn() => throw new RuntimeException('alarm'));
pcntl_alarm(1);
throws(RuntimeException::class, fn() => $watch->wait() && $watch->wait(), 'alarm');
throws(Tavola\ReadOnlyException::class, fn() => Tavola\Table::readOnly('t')->watch('a'));
echo 'done';
?>
--EXPECT--
done

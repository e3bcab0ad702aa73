--TEST--
Locks: one holder over processes, released when the holder ends or is killed
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
$t = Tavola\Table::open('t');
$lock = $t->lock('a');
same(true, $lock->isHeld());
same(null, $t->lock('a', 0), 'held by this process');
same(true, $t->lock('b', 0)->isHeld(), 'another name');
same(true, $lock->release());
same(false, $lock->isHeld());
same(false, $lock->release());
$lock = $t->lock('a', 0);
unset($lock);
same(true, $t->lock('a', 0)->isHeld(), 'released by the end of the variable');

/* Twenty processes count under the lock. */
$pids = [];
for ($i = 0; $i < 4; $i++) {
    $pids[] = child(function () use ($t) {
        for ($k = 0; $k < 50; $k++) {
            $lock = $t->lock('count');
            $t['n'] = ($t['n'] ?? 0) + 1;
            $lock->release();
        }
    });
}
same([0, 0, 0, 0], array_map('ended', $pids));
same(200, $t['n']);

/* A killed holder does not keep the lock. */
$pid = child(function () use ($t) {
    $lock = $t->lock('killed');
    $t->barrier('held', 2);
    sleep(60);
});
$t->barrier('held', 2);
same(null, $t->lock('killed', 0));
posix_kill($pid, SIGKILL);
same(-SIGKILL, ended($pid));
same(true, $t->lock('killed', 20)->isHeld());

/* A child does not release the lock of its parent. */
$lock = $t->lock('parent');
same(0, ended(child(fn() => $lock->release() || $t->lock('parent', 0) ? 1 : 0)));
same(true, $lock->isHeld());

$t["\0lock\0value"] = 1;
throws(Tavola\ArgumentException::class, fn() => $t->lock('value'), 'has a value');
throws(Tavola\BadOptionException::class, fn() => $t->lock('c', null, 4000));
echo 'done';
?>
--EXPECT--
done

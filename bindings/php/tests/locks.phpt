--TEST--
Locks: held by one, shared, released when the holder ends or is killed
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\{Names, Table};
$t = Table::open('t');
$lock = $t->lock('a');
same([true, false, false], [$lock->isHeld(), $lock->isShared(), $lock->ownerDied()]);
same(null, $t->lock('a', 0), 'held by this process');
same(null, $t->lock('a', 0.01, shared: true), 'held exclusively');
same(true, $t->lock('b', 0)->isHeld(), 'another name');
same(0, count($t), 'a lock is no key');
same(true, $lock->release());
same(false, $lock->isHeld());
same(false, $lock->release());
$lock = $t->lock('a', 0);
unset($lock);
same(true, $t->lock('a', 0)->isHeld(), 'released by the end of the variable');

/* Several share a lock. */
$one = $t->lock('shared', shared: true);
$two = $t->lock('shared', 0, true);
same([true, true], [$one->isShared(), $two->isShared()]);
same(0, ended(child(fn() => $t->lock('shared', 0, true)?->isShared() ? 0 : 1)));
same(null, $t->lock('shared', 0));
$one->release();
same(null, $t->lock('shared', 0.01), 'one still shares it');
unset($two);
$alone = $t->lock('shared', 0);
same([true, false], [$alone->isHeld(), $alone->isShared()]);
same(null, $t->lock('shared', 0, true));

/* Four processes count under the lock. */
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

/** Kills a process that has the lock. */
$kill_holder = function (string $name, bool $shared) use ($t) {
    $pid = child(function () use ($t, $name, $shared) {
        $lock = $t->lock($name, shared: $shared);
        $t->barrier("held $name", 2);
        sleep(60);
    });
    $t->barrier("held $name", 2);
    same(null, $t->lock($name, 0));
    posix_kill($pid, SIGKILL);
    same(-SIGKILL, ended($pid));
};

/* A killed holder does not keep the lock. The next one learns of it, and nobody after it. */
$kill_holder('killed', false);
$next = $t->lock('killed', 60, shared: true);
same([true, true, false], [$next->isHeld(), $next->ownerDied(), $next->isShared()]);
same(null, $t->lock('killed', 0, shared: true), 'it is held exclusively');
$next->release();
$after = $t->lock('killed', 0);
same([true, false], [$after->isHeld(), $after->ownerDied()]);

/* Nothing is half changed if one is killed that shares a lock. */
$kill_holder('killed sharer', true);
$next = $t->lock('killed sharer', 60);
same([true, false], [$next->isHeld(), $next->ownerDied()]);

/* A child does not hold the lock of its parent, and does not release it. */
$lock = $t->lock('parent');
same(0, ended(child(function () use ($lock, $t) {
    same(false, $lock->isHeld());
    same(false, $lock->release());
    same(null, $t->lock('parent', 0));
})));
same(true, $lock->isHeld());
same(null, $t->lock('parent', 0));
same(0, ended(child(fn() => $t->lock('parent', 0) === null ? 0 : 1)), 'after the first child');
$waiter = child(fn() => $t->lock('parent')->isHeld() ? 0 : 1);
$lock->release();
same(0, ended($waiter));

/* The handler of a signal runs during a wait. */
$lock = $t->lock('waited for');
$waits = false;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$waits) {
    if ($waits) {
        $waits = false;
        throw new RuntimeException('signal');
    }
});
$sender = child(function () use ($t, $testPid) {
    while (!$t->exists('interrupted') && posix_getppid() === $testPid) {
        posix_kill($testPid, SIGUSR1);
        usleep(1000);
    }
});
throws(RuntimeException::class, function () use ($t, &$waits) {
    $waits = true;
    $t->lock('waited for');
}, 'signal');
pcntl_signal(SIGUSR1, SIG_IGN);
$t['interrupted'] = true;
same(0, ended($sender));
same(true, $lock->isHeld());
$lock->release();
same(true, $t->lock('waited for', 0)->isHeld(), 'the wait has left nothing');

/* Names. */
same(true, $t->lock(str_repeat('ü', 28), 0)->isHeld());
foreach (['', str_repeat('x', 57)] as $name) {
    throws(Tavola\BadNameException::class, fn() => $t->lock($name), '1 to 56 bytes');
}
throws(ValueError::class, fn() => $t->lock("a\0b"), 'null bytes');

/* A lock is held after its table was closed, and belongs to one table. */
$lock = Table::open('other')->lock('a', 0);
same(null, Table::open('other')->lock('a', 0));
same(true, $t->lock('a', 0)->isHeld());

/* Caches, durable and private tables have locks, too. */
$cache = Table::open('cache', ['capacity' => '4M']);
$durable = Table::open("$directory/durable", ['durable' => 'os', 'max_size' => '8M']);
foreach ([$cache, $durable, Table::private()] as $table) {
    $lock = $table->lock('a', 0);
    same([true, null], [$lock->isHeld(), $table->lock('a', 0)]);
}
unset($cache, $durable, $table, $lock);
Names::remove("$directory/durable");
echo 'done';
?>
--EXPECT--
done

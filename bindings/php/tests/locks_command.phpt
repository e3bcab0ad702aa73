--TEST--
Locks: `tavola lock` and this binding have the same ones
--SKIPIF--
<?php
require __DIR__ . '/command.inc';
echo command() === null ? 'skip the command tavola has not been built' : '';
?>
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
require __DIR__ . '/command.inc';
$t = Tavola\Table::open('t');

/** Returns the exit code of the command, which does not wait for the lock. */
$try = function (string ...$options): int {
    $words = [command(), 'lock', 't', 'report', '--timeout', '0', ...$options, '--', 'true'];
    return proc_close(proc_open($words, [2 => ['file', '/dev/null', 'w']], $pipes));
};
/** Begins a command that has the lock until its input ends. */
$hold = function (): array {
    $words = [command(), 'lock', 't', 'report', '--', 'sh', '-c', 'echo held; cat'];
    $holder = proc_open($words, [['pipe', 'r'], ['pipe', 'w']], $pipes);
    same("held\n", fgets($pipes[1]));
    return [$holder, $pipes];
};

$lock = $t->lock('report');
same([1, 1], [$try(), $try('--shared')]);
$lock->release();
same([0, 0], [$try(), $try('--shared')]);
$lock = $t->lock('report', shared: true);
same([1, 0], [$try(), $try('--shared')]);
$lock->release();

[$holder, $pipes] = $hold();
same([null, null], [$t->lock('report', 0), $t->lock('report', 0, true)]);
array_map('fclose', $pipes);
same(0, proc_close($holder));
same(false, $t->lock('report', 0)->ownerDied());

[$holder, $pipes] = $hold();
posix_kill(proc_get_status($holder)['pid'], SIGKILL);
same(true, $t->lock('report', 60)->ownerDied());
array_map('fclose', $pipes);
proc_close($holder);
same(0, $try(), 'the next one');
echo 'done';
?>
--EXPECT--
done

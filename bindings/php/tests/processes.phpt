--TEST--
Many processes: counters, a killed writer, ends of processes while others write
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;
$t = Table::open('t', ['max_size' => '64M']);

/* Four processes count; no step is lost. */
$pids = [];
for ($i = 0; $i < 4; $i++) {
    $pids[] = child(function () use ($t, $i) {
        $t->barrier('start', 4, 60);
        for ($k = 0; $k < 5000; $k++) {
            $t->inc('sum');
            $t->update('joined', fn($old) => ($old ?? 0) + 1);
            $t["own:$i:" . $k % 50] = str_repeat((string) $i, $k % 3000);
        }
    });
}
same([0, 0, 0, 0], array_map('ended', $pids));
same(20000, $t['sum']);
same(20000, $t['joined']);
same(200, count($t->keys('own:')));
same(0, $t->check()['problems']);

/* Writers that are killed in the middle of a write do not block the others. */
for ($round = 0; $round < 10; $round++) {
    $pid = child(function () use ($t, $round) {
        for ($k = 0; ; $k++) {
            $t->inc('killed');
            $t['v:' . $k % 100] = str_repeat(chr(97 + $k % 26), 5000);
        }
    });
    $from = $t['killed'] ?? 0;
    while (($t['killed'] ?? 0) < $from + 200 + $round) {
        usleep(50);
    }
    posix_kill($pid, SIGKILL);
    same(-SIGKILL, ended($pid));
    foreach ($t->prefix('v:') as $value) {
        same(1, strlen(count_chars($value, 3)), 'a value is whole');
        same(5000, strlen($value));
    }
    $t['after'] = $round;
}
same(0, $t->check()['problems']);

/* Processes end in every way while others write. */
$ends = [fn() => exit(0), fn() => 0, fn() => throw new Exception('end'), fn() => kill_self()];
$writer = child(function () use ($t) {
    while (!$t->exists('stop')) {
        $t->inc('busy');
    }
});
$codes = [];
foreach ($ends as $end) {
    $codes[] = ended(child(function () use ($t, $end) {
        ob_start();
        $each = $t->getIterator();
        $each->valid();
        $lock = $t->lock('end', 30);
        $t->set('x', 1, 5, ['tag']);
        try {
            return $end();
        } catch (Exception) {
            exit(7);
        }
    }));
}
same([0, 0, 7, -SIGKILL], $codes);
$t['stop'] = true;
same(0, ended($writer));
same(true, $t->lock('end', 30)->isHeld());

/* One of many processes computes. */
$pids = [];
for ($i = 0; $i < 6; $i++) {
    $pids[] = child(function () use ($t) {
        $t->barrier('herd', 6, 60);
        same('value', $t->compute('once', function () use ($t) {
            $t->inc('computed');
            usleep(20000);
            return 'value';
        }, ttl: 60));
    });
}
same([0, 0, 0, 0, 0, 0], array_map('ended', $pids));
same(1, $t['computed']);

/* The process that computes is killed; another one computes. */
$pid = child(fn() => $t->compute('passed on', function () use ($t) {
    $t->barrier('computing', 2, 60);
    sleep(60);
}));
$t->barrier('computing', 2, 60);
$waiter = child(fn() => same('second', $t->compute('passed on', fn() => 'second')));
posix_kill($pid, SIGKILL);
same(-SIGKILL, ended($pid));
same(0, ended($waiter));
same('second', $t['passed on']);
same(0, $t->check()['problems']);
echo 'done';
?>
--EXPECT--
done

--TEST--
Transactions of many processes: a sum stays exact, no memory grows, children do not commit
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;
$t = Table::open('t', ['max_size' => '16M']);

/* Four processes move amounts between ten keys, 200 times each. */
for ($i = 0; $i < 10; $i++) {
    $t["account:$i"] = 100;
}
$sum = fn($x) => array_sum(array_map(fn($i) => $x->get("account:$i"), range(0, 9)));
$pids = [];
for ($p = 0; $p < 4; $p++) {
    $pids[] = child(function () use ($t, $sum, $p) {
        mt_srand($p);
        $t->barrier('start', 4, 60);
        for ($k = 0; $k < 200; $k++) {
            [$from, $to, $amount] = [mt_rand(0, 9), mt_rand(0, 9), mt_rand(1, 20)];
            $t->transaction(function ($x) use ($from, $to, $amount) {
                if ($x->dec("account:$from", $amount) < 0) {
                    $x->abort();
                }
                $x->inc("account:$to", $amount);
                $x->inc('moves');
            });
            $t->transaction(fn($x) => $x->inc('all'));
            if ($k % 10 === 0) {
                same(1000, $t->readTogether($sum), 'one moment');
            }
        }
    });
}
same([0, 0, 0, 0], array_map('ended', $pids));
same(1000, $t->readTogether($sum));
same(800, $t['all']);
same(true, $t['moves'] > 0 && $t['moves'] <= 800);

/* With the turn, none of them has a conflict. */
$pids = [];
for ($p = 0; $p < 4; $p++) {
    $pids[] = child(function () use ($t) {
        for ($k = 0; $k < 200; $k++) {
            $t->transaction(fn($x) => $x->set('once', $x->get('once', 0) + 1), once: true);
        }
    });
}
same([0, 0, 0, 0], array_map('ended', $pids));
same(800, $t['once']);

/* The script ends in the function: nothing is changed, and the turn is free. */
foreach ([fn() => exit(3), fn() => kill_self()] as $number => $end) {
    $pid = child(fn() => $t->transaction(function ($x) use ($end) {
        $x->set('ended', 1);
        $end();
    }, once: true));
    same([3, -SIGKILL][$number], ended($pid));
    same(null, $t['ended']);
    same(1, $t->transaction(fn() => 1, once: true));
}

/* A child that was forked in the function commits nothing; its parent does. */
$runs = 0;
try {
    $t->transaction(function ($x) use (&$child, &$runs) {
        $runs++;
        $x->inc('forked');
        $child = pcntl_fork();
        if ($child > 0) {
            same(5, ended($child));
        }
    });
} catch (Tavola\ArgumentException $thrown) {
    exit($child === 0 && str_contains($thrown->getMessage(), 'forked child') ? 5 : 6);
}
same([1, 1], [$runs, $t['forked']]);

/* 20,000 transactions of every kind leave no memory behind. */
$resident = fn() => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
$round = function (int $count) use ($t) {
    for ($i = 0; $i < $count; $i++) {
        switch ($i % 5) {
            case 0:
                $t->transaction(fn($x) => $x->set('text', 'n ' . $x->inc('n'), 60, ['tag']));
                break;
            case 1:
                $t->transaction(fn($x) => $x->abort());
                break;
            case 2:
                try {
                    $t->transaction(fn($x) => [$x->set('text', 'x'), throw new Exception()]);
                } catch (Exception) {
                }
                break;
            case 3:
                $runs = 0;
                $t->transaction(function ($x) use ($t, &$runs) {
                    $x->set('text', $x->take('n'));
                    if ($runs++ === 0) {
                        $t->inc('n');
                    }
                });
                break;
            case 4:
                $t->readTogether(fn($x) => [$x->get('text'), $x->get('n')]);
        }
    }
};
$round(2000);
gc_collect_cycles();
$php = memory_get_usage();
$before = $resident();
$round(20000);
gc_collect_cycles();
same(true, memory_get_usage() - $php < 10000, (memory_get_usage() - $php) . ' bytes more of PHP');
same(true, $resident() - $before < 4 << 20, ($resident() - $before) . ' bytes more');
same(0, $t->check()['problems']);
echo 'done';
?>
--EXPECT--
done

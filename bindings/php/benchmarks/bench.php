<?php

/* Measures the stores in turn, several times, and reports medians. */

require __DIR__ . '/stores.php';
require __DIR__ . '/calls.php';

$keys = (int) (getenv('BENCH_KEYS') ?: 100000);
$rounds = (int) (getenv('BENCH_ROUNDS') ?: 5);
$loops = (int) (getenv('BENCH_LOOPS') ?: 10000);

/** Returns nanoseconds for each of `$count` calls. */
function timed(int $count, callable $run): float
{
    $start = hrtime(true);
    $run();
    return (hrtime(true) - $start) / $count;
}

function median(array $numbers): float
{
    sort($numbers);
    return $numbers[intdiv(count($numbers), 2)];
}

function table(string $title, array $rows): void
{
    echo "\n$title\n";
    $columns = array_keys(array_replace(...array_values($rows)));
    printf("%-20s" . str_repeat('%16s', count($columns)) . "\n", '', ...$columns);
    foreach ($rows as $name => $row) {
        printf('%-20s', $name);
        foreach ($columns as $column) {
            printf('%16s', isset($row[$column]) ? round($row[$column]) : '');
        }
        echo "\n";
    }
}

$report = ['php' => PHP_VERSION, 'keys' => $keys, 'rounds' => $rounds, 'loops' => $loops];
$report['calls'] = Calls::measure($keys, $rounds);
table("One call in ns, $keys keys, written as in a program, less an empty loop", $report['calls']);

$samples = [];
for ($round = 0; $round < $rounds; $round++) {
    $stores = $stores ?? Stores::all();
    foreach ($stores as $name => [$set, $get]) {
        foreach (['1 B' => 'x', '4 KB' => str_repeat('x', 4096)] as $size => $value) {
            $samples[$name]["write $size"][] = timed($loops, function () use ($loops, $set,
                $value) {
                for ($i = 0; $i < $loops; $i++) {
                    $set("loop$i", $value);
                }
            });
            $samples[$name]["read $size"][] = timed($loops, function () use ($loops, $get) {
                for ($i = 0; $i < $loops; $i++) {
                    $get("loop$i");
                }
            });
        }
    }
}
$report['loops_ns'] = array_map(fn($row) => array_map(median(...), $row), $samples);
table("$loops loops of write and read, ns a call, each through a closure", $report['loops_ns']);
file_put_contents(getenv('BENCH_OUT'), json_encode($report, JSON_PRETTY_PRINT) . "\n");
echo "\nJSON: ", getenv('BENCH_OUT'), "\n";

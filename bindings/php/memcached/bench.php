<?php
/* Tavola\Memcached beside php-memcached, on one server: microseconds a key, and the ratio of both.
 *
 *   bench.php SOCKET [ROUNDS]
 *
 * Rounds of both alternate, and the medians are compared, because other work on the machine disturbs
 * both alike. */

$socket = $argv[1];
$rounds = (int) ($argv[2] ?? 15);
$clients = [];
foreach (['ours' => Tavola\Memcached::class, 'php-memcached' => Memcached::class] as $name => $class) {
    $clients[$name] = new $class();
    $clients[$name]->addServer($socket, 0);
}
$values = [];
for ($i = 0; $i < 100; $i++) {
    $values["key:$i"] = str_repeat('v', 100);
}
$keys = array_keys($values);
$loads = [
    'set and get' => [2000, function ($client) {
        for ($i = 0; $i < 1000; $i++) {
            $client->set('key', 'value');
            $client->get('key');
        }
    }],
    'getMulti 100' => [10000, function ($client) use ($keys) {
        for ($i = 0; $i < 100; $i++) {
            $client->getMulti($keys);
        }
    }],
    'setMulti 100' => [5000, function ($client) use ($values) {
        for ($i = 0; $i < 50; $i++) {
            $client->setMulti($values);
        }
    }],
];
$median = function (array $times): float {
    sort($times);
    return $times[intdiv(count($times), 2)];
};
printf("%-14s %10s %15s %6s\n", 'load', 'ours', 'php-memcached', 'ratio');
foreach ($loads as $name => [$requests, $run]) {
    $times = [];
    foreach (range(1, $rounds) as $round) {
        foreach ($clients as $who => $client) {
            $begin = hrtime(true);
            $run($client);
            $times[$who][] = (hrtime(true) - $begin) / 1000 / $requests;
        }
    }
    [$ours, $theirs] = [$median($times['ours']), $median($times['php-memcached'])];
    printf("%-14s %10.2f %15.2f %6.2f\n", $name, $ours, $theirs, $ours / $theirs);
}

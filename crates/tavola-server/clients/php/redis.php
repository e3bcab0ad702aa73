<?php
// phpredis against HOST:PORT or the path of a Unix socket.
//
//     php redis.php PLACE [NAME PASSWORD]

error_reporting(E_ALL);

$count = 0;
$failed = 0;

// Whether $ask returns this; where $expected is a function, whether that holds.
function check(string $what, callable $ask, mixed $expected): void
{
    global $count, $failed;
    $count++;
    try {
        $found = $ask();
    } catch (Throwable $error) {
        $found = $error->getMessage();
    }
    $good = $expected instanceof Closure ? $expected($found) : $found === $expected;
    if ($good) {
        echo "ok $count - $what\n";
        return;
    }
    $failed++;
    echo "not ok $count - $what: " . substr(json_encode($found) ?: gettype($found), 0, 200) . "\n";
}

function plain(Redis $client): void
{
    check('set', fn() => $client->set('a', 'one'), true);
    check('get', fn() => $client->get('a'), 'one');
    check('get of a missing key', fn() => $client->get('none'), false);
    check('set if missing', fn() => $client->set('a', 'x', ['nx']), false);
    check('set if there', fn() => $client->set('a', 'two', ['xx', 'ex' => 1000]), true);
    check('getSet', fn() => $client->getSet('a', 'three'), 'two');
    check('append', fn() => $client->append('a', '!'), 6);
    check('strlen', fn() => $client->strlen('a'), 6);
    check('getRange', fn() => $client->getRange('a', 0, -2), 'three');
    check('exists', fn() => $client->exists('a', 'none'), 1);
    check('del', fn() => $client->del('a', 'none'), 1);
    check('incr', fn() => $client->incr('n'), 1);
    check('incrBy', fn() => $client->incrBy('n', 41), 42);
    check('decr', fn() => $client->decr('n'), 41);
    check('incrByFloat', fn() => $client->incrByFloat('n', 0.5), 41.5);
    $bytes = implode('', array_map('chr', range(0, 255))) . "\r\n";
    check('set of every byte', fn() => $client->set("\0\r\n", $bytes), true);
    check('get of every byte', fn() => $client->get("\0\r\n"), $bytes);
    $large = str_repeat('0123456789', 90_000);
    check('set of a large value', fn() => $client->set('large', $large), true);
    check('get of a large value', fn() => $client->get('large'), $large);
}

function many(Redis $client): void
{
    $keys = array_map(fn($number) => "many$number", range(0, 199));
    $sets = function () use ($client, $keys) {
        $pipeline = $client->pipeline();
        foreach ($keys as $key) {
            $pipeline->setex($key, 1000, "of $key");
        }
        return count(array_filter($pipeline->exec()));
    };
    check('a pipeline of sets', $sets, 200);
    $values = array_map(fn($key) => "of $key", $keys);
    check('mGet', fn() => $client->mGet([...$keys, 'none']), [...$values, false]);
    $scan = function () use ($client) {
        $client->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
        [$cursor, $found] = [null, []];
        while ($some = $client->scan($cursor, 'many*', 50)) {
            $found = array_merge($found, $some);
        }
        return count(array_unique($found));
    };
    check('scan', $scan, 200);
    check('unlink', fn() => $client->unlink($keys), 200);
}

function expiry(Redis $client): void
{
    check('setEx', fn() => $client->setEx('t', 3600, 'x'), true);
    check('ttl', fn() => $client->ttl('t'), fn($found) => $found > 3500 && $found <= 3600);
    check('expire', fn() => $client->expire('t', 1800), true);
    check('persist', fn() => $client->persist('t'), true);
    check('ttl of a key that stays', fn() => $client->ttl('t'), -1);
    check('pExpire', fn() => $client->pExpire('t', 50), true);
    $end = microtime(true) + 10;
    while ($client->get('t') !== false && microtime(true) < $end) {
        usleep(20_000);
    }
    check('it ends', fn() => $client->get('t'), false);
    check('info', fn() => $client->info()['redis_version'], fn($found) => $found !== '');
    check('flushDB', fn() => $client->flushDB(), true);
    check('dbSize', fn() => $client->dbSize(), 0);
}

$place = $argv[1];
$client = new Redis();
if ($place[0] === '/') {
    $client->connect($place);
} else {
    [$host, $port] = explode(':', $place);
    $client->connect($host, (int) $port);
}
if (isset($argv[2])) {
    $client->auth([$argv[2], $argv[3]]);
}
echo '# phpredis ' . phpversion('redis') . "\n";
plain($client);
many($client);
expiry($client);
echo "1..$count\n";
exit($failed ? 1 : 0);

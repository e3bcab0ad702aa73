<?php
// php-memcached, over libmemcached, against HOST:PORT or the path of a Unix socket.
//
//     php memcached.php PLACE text|binary [NAME PASSWORD]

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

function plain(Memcached $client): void
{
    check('set', fn() => $client->set('a', 'one'), true);
    check('get', fn() => $client->get('a'), 'one');
    check('get of a missing key', fn() => $client->get('none'), false);
    check('its result', fn() => $client->getResultCode(), Memcached::RES_NOTFOUND);
    check('add', fn() => $client->add('b', 'two'), true);
    check('add of a key that is there', fn() => $client->add('b', 'x'), false);
    check('replace', fn() => $client->replace('b', '2'), true);
    check('replace of a missing key', fn() => $client->replace('none', 'x'), false);
    check('append', fn() => $client->append('b', '>'), true);
    check('prepend', fn() => $client->prepend('b', '<'), true);
    check('append to a missing key', fn() => $client->append('none', 'x'), false);
    check('what was joined', fn() => $client->get('b'), '<2>');
    check('delete', fn() => $client->delete('a'), true);
    check('delete of a missing key', fn() => $client->delete('a'), false);
}

function many(Memcached $client): void
{
    $many = [];
    for ($number = 0; $number < 200; $number++) {
        $many["many$number"] = "value $number";
    }
    $keys = array_keys($many);
    check('setMulti', fn() => $client->setMulti($many), true);
    check('getMulti', fn() => $client->getMulti([...$keys, 'none']), fn($found) => $found == $many);
    check('getDelayed', fn() => $client->getDelayed(['many1', 'many2'], true), true);
    $whole = fn($found) => count($found) === 2 && isset($found[0]['cas'], $found[1]['value']);
    check('fetchAll', fn() => $client->fetchAll(), $whole);
    $all = fn($found) => count(array_filter($found, fn($one) => $one === true)) === 200;
    check('deleteMulti', fn() => $client->deleteMulti($keys), $all);
    check('nothing of them', fn() => $client->getMulti($keys), []);
}

function unique(Memcached $client): void
{
    $client->set('c', '1');
    $cas = $client->get('c', null, Memcached::GET_EXTENDED)['cas'] ?? 0;
    check('get with its number', fn() => $cas, fn($found) => $found > 0);
    check('cas', fn() => $client->cas($cas, 'c', '2'), true);
    check('cas with what was', fn() => $client->cas($cas, 'c', '3'), false);
    check('its result', fn() => $client->getResultCode(), Memcached::RES_DATA_EXISTS);
    check('it is the first', fn() => $client->get('c'), '2');
}

function counting(Memcached $client, bool $isBinary): void
{
    $client->set('n', 10);
    check('increment', fn() => $client->increment('n', 5), 15);
    check('decrement', fn() => $client->decrement('n', 6), 9);
    check('decrement below 0', fn() => $client->decrement('n', 100), 0);
    check('increment of a missing key', fn() => $client->increment('none'), false);
    if ($isBinary) {
        check('increment with a first value', fn() => $client->increment('first', 1, 7), 7);
        check('and again', fn() => $client->increment('first', 1, 7), 8);
    }
}

function values(Memcached $client): void
{
    $bytes = implode('', array_map('chr', range(0, 255))) . "\r\nEND\r\n";
    $large = str_repeat('0123456789', 90_000);
    $kinds = [
        'every byte' => $bytes, 'a large value' => $large, 'nothing' => '', 'a number' => 1 << 40,
        'a fraction' => 2.5, 'false' => false, 'an array' => ['a' => [1, null]],
    ];
    foreach ($kinds as $kind => $value) {
        // What kind of value it is stands in the flags.
        check("set of $kind", fn() => $client->set('kind', $value), true);
        check("get of $kind", fn() => $client->get('kind'), $value);
    }
    $client->setOption(Memcached::OPT_COMPRESSION, true);
    check('set of what is compressed', fn() => $client->set('large', $large), true);
    check('get of what is compressed', fn() => $client->get('large'), $large);
    $client->setOption(Memcached::OPT_USER_FLAGS, 4711);
    check('set with flags', fn() => $client->set('flags', 'x'), true);
    $extended = fn() => $client->get('flags', null, Memcached::GET_EXTENDED);
    check('get with flags', $extended, fn($found) => $found['flags'] === 4711);
    $client->setOption(Memcached::OPT_USER_FLAGS, -1);
    $longest = str_repeat('k', 250);
    check('the longest key', fn() => $client->set($longest, 'x'), true);
    check('get of the longest key', fn() => $client->get($longest), 'x');
}

function expiry(Memcached $client): void
{
    check('set for an hour', fn() => $client->set('t', 'x', 3600), true);
    check('it is there', fn() => $client->get('t'), 'x');
    check('touch', fn() => $client->touch('t', 1), true);
    check('touch of a missing key', fn() => $client->touch('none', 1), false);
    $end = microtime(true) + 10;
    while ($client->get('t') !== false && microtime(true) < $end) {
        usleep(50_000);
    }
    check('it ends', fn() => $client->get('t'), false);
}

function administration(Memcached $client): void
{
    $stats = fn() => current($client->getStats());
    check('getStats', $stats, fn($found) => $found['pid'] > 0 && $found['curr_items'] > 5);
    $settings = fn() => current($client->getStats('settings'));
    check('getStats of settings', $settings, fn($found) => isset($found['maxconns']));
    $version = fn() => current($client->getVersion());
    check('getVersion', $version, fn($found) => preg_match('/^\d+\.\d+\.\d+/', $found) === 1);
    check('flush', fn() => $client->flush(), true);
    check('nothing is there', fn() => $client->getMulti(['b', 'large']), []);
}

[, $place, $protocol] = $argv;
$isBinary = $protocol === 'binary';
$client = new Memcached();
$client->setOptions([
    Memcached::OPT_BINARY_PROTOCOL => $isBinary,
    Memcached::OPT_COMPRESSION => false,
    Memcached::OPT_TCP_NODELAY => true,
    Memcached::OPT_POLL_TIMEOUT => 20_000,
    Memcached::OPT_RECV_TIMEOUT => 20_000_000,
]);
if (isset($argv[4])) {
    $client->setSaslAuthData($argv[3], $argv[4]);
}
[$host, $port] = $place[0] === '/' ? [$place, 0] : explode(':', $place);
$client->addServer($host, (int) $port);
echo '# php-memcached ' . phpversion('memcached') . ', PHP ' . PHP_VERSION . "\n";
plain($client);
many($client);
unique($client);
counting($client, $isBinary);
values($client);
expiry($client);
administration($client);
$client->quit();
echo "1..$count\n";
exit($failed > 0 ? 1 : 0);

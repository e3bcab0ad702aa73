--TEST--
php-memcached and this class read each other's values and place keys alike
--SKIPIF--
<?php
if (!extension_loaded('memcached')) die('skip there is no php-memcached');
if (!shell_exec('command -v memcached')) die('skip there is no memcached');
?>
--FILE--
<?php
require __DIR__ . '/servers.inc';
use Tavola\Memcached;

/* Names, numbers and arguments are the same. */
$theirs = new ReflectionClass(\Memcached::class);
$ours = new ReflectionClass(Memcached::class);
foreach ($theirs->getConstants() as $name => $value) {
    if (!in_array($name, ['LIBMEMCACHED_VERSION_HEX', 'HAVE_ENCODING', 'HAVE_SESSION'])) {
        same($value, $ours->getConstant($name), $name);
    }
}
foreach ($theirs->getMethods() as $method) {
    $other = $ours->getMethod($method->getName());
    same(array_map('strval', $method->getParameters()), array_map('strval', $other->getParameters()),
        $method->getName());
}

$servers = servers(3);
mt_srand(3);
$far = '';
while (strlen($far) < 20000) {
    $far .= pack('V', mt_rand());
}
$values = ['abc', '12', 42, -3, 1.5, 0.1, INF, -INF, true, false, null, [1, 'a' => [2]],
    (object) ['x' => 1], str_repeat('abcdefgh', 300), str_repeat("xy\0z", 50000),
    implode(',', range(0, 40000)), range(1, 3000), str_repeat($far, 5)];
$options = [[], [Memcached::OPT_LIBKETAMA_COMPATIBLE => true],
    [Memcached::OPT_DISTRIBUTION => Memcached::DISTRIBUTION_CONSISTENT,
        Memcached::OPT_HASH => Memcached::HASH_MD5, Memcached::OPT_PREFIX_KEY => 'app:'],
    [Memcached::OPT_COMPRESSION_TYPE => Memcached::COMPRESSION_ZLIB, Memcached::OPT_USER_FLAGS => 77],
    [Memcached::OPT_BINARY_PROTOCOL => true, Memcached::OPT_COMPRESSION => false,
        Memcached::OPT_SERIALIZER => Memcached::SERIALIZER_JSON_ARRAY]];
if (Memcached::HAVE_IGBINARY) {
    $options[] = [Memcached::OPT_SERIALIZER => Memcached::SERIALIZER_IGBINARY];
}
if (Memcached::HAVE_MSGPACK) {
    $options[] = [Memcached::OPT_SERIALIZER => Memcached::SERIALIZER_MSGPACK];
}
foreach ($options as $set) {
    $pair = [client($servers, $set), client($servers, $set, \Memcached::class)];
    foreach ([0, 1] as $writer) {
        foreach ($values as $i => $value) {
            same(true, $pair[$writer]->set("k$i", $value), "$i");
            $read = $pair[1 - $writer]->get("k$i", null, Memcached::GET_EXTENDED);
            $own = $pair[$writer]->get("k$i", null, Memcached::GET_EXTENDED);
            same(serialize($own), serialize($read), json_encode([$set, $i]));
        }
        $extended = $pair[1 - $writer]->getMulti(array_map(fn($i) => "k$i", array_keys($values)));
        same(count($values), count($extended));
    }
}

/* The same server for each key, whatever the options. */
$names = [['10.0.0.1', 11211, 1], ['10.0.0.2', 11212, 1], ['cache.example', 11211, 1],
    ['10.0.0.4', 11211, 1]];
$heavy = [['10.0.0.1', 11211, 1], ['10.0.0.2', 11212, 3], ['10.0.0.3', 11211, 2]];
$hashes = [0, 1, 2, 3, 4, 5, 6, 8];
$sets = [[Memcached::OPT_LIBKETAMA_COMPATIBLE => true], [Memcached::OPT_SORT_HOSTS => true]];
foreach ($hashes as $hash) {
    $sets[] = [Memcached::OPT_HASH => $hash];
    $sets[] = [Memcached::OPT_DISTRIBUTION => Memcached::DISTRIBUTION_CONSISTENT,
        Memcached::OPT_HASH => $hash];
    $sets[] = [Memcached::OPT_HASH => $hash, Memcached::OPT_PREFIX_KEY => 'pre:',
        Memcached::OPT_HASH_WITH_PREFIX_KEY => true];
}
$seen = 0;
foreach ([$names, array_reverse($names), $heavy] as $list) {
    foreach ($sets as $set) {
        $pair = [new Memcached, new \Memcached];
        foreach ($pair as $client) {
            same(true, $client->setOptions($set));
            same(true, $client->addServers($list));
        }
        same($pair[1]->getServerList(), $pair[0]->getServerList());
        foreach (range(0, 199) as $i) {
            $key = "user:$i:" . md5("$i");
            same($pair[1]->getServerByKey($key), $pair[0]->getServerByKey($key), json_encode($set));
            $seen++;
        }
    }
}
same(3 * 26 * 200, $seen);
echo 'done';
?>
--EXPECT--
done

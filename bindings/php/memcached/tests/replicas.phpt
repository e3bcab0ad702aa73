--TEST--
Copies of keys on further servers
--SKIPIF--
<?php
if (!shell_exec('command -v memcached')) die('skip there is no memcached');
?>
--FILE--
<?php
require __DIR__ . '/servers.inc';
use Tavola\Memcached;

$servers = servers(3);
/* Which servers have a key, by their places. */
$holders = fn(string $key) => array_keys(array_filter($servers, fn($s) => $s->stored($key) !== null));
$m = client($servers, [Memcached::OPT_NUMBER_OF_REPLICAS => 1, Memcached::OPT_AUTO_EJECT_HOSTS => true]);
same(1, $m->getOption(Memcached::OPT_NUMBER_OF_REPLICAS));
$plain = client($servers);
foreach (['a', 'b', 'c', 'd', 'e', 'f'] as $key) {
    same(true, $m->set($key, "v$key"));
    $own = array_search($plain->getServerByKey($key)['port'], array_column($servers, 'port'));
    $expected = [$own, ($own + 1) % 3];
    sort($expected);
    same($expected, $holders($key), $key);
}
same(true, $m->delete('f'));
same([], $holders('f'));

/* As many copies as there are servers, and no more. */
$all = client($servers, [Memcached::OPT_NUMBER_OF_REPLICAS => 9]);
same(true, $all->set('everywhere', 1));
same([0, 1, 2], $holders('everywhere'));
same(true, client([$servers[0]], [Memcached::OPT_NUMBER_OF_REPLICAS => 1])->set('alone', 1));

/* Keys with a server key have no copies. */
same(true, $m->setByKey('a', 'by:a', 1));
same(1, count($holders('by:a')));

/* A server that is gone has copies elsewhere, also for reads in any order. */
$any = client($servers, [Memcached::OPT_NUMBER_OF_REPLICAS => 1,
    Memcached::OPT_RANDOMIZE_REPLICA_READ => true]);
$servers[0]->stop();
foreach ([$m, $any] as $client) {
    foreach (['a', 'b', 'c', 'd', 'e'] as $key) {
        same("v$key", $client->get($key), $key);
    }
    same(5, count($client->getMulti(['a', 'b', 'c', 'd', 'e'])));
}

$no = new Memcached();
same(false, $no->setOption(Memcached::OPT_NUMBER_OF_REPLICAS, -1));
same(Memcached::RES_INVALID_ARGUMENTS, $no->getResultCode());
echo "done\n";
?>
--EXPECT--
done

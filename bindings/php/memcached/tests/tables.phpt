--TEST--
Tables as servers, and in front of servers
--SKIPIF--
<?php if (!shell_exec('command -v memcached')) die('skip there is no memcached'); ?>
--FILE--
<?php
require __DIR__ . '/servers.inc';
use Tavola\Memcached;

$t = new Memcached;
same(true, $t->addServer('tavola:left', 0));
same(true, $t->addServer('tavola:right', 0));
same('TABLE', $t->getServerList()[0]['type']);
$values = [];
for ($i = 0; $i < 50; $i++) {
    $values["k$i"] = ['n' => $i];
}
same(true, $t->setMulti($values, 60));
same($values, $t->getMulti(array_keys($values)));
same(1, $t->increment('n', 1, 1));
same(true, $t->touch('n', 60));
same(true, $t->delete('n'));
same(false, $t->get('n'));
same(Memcached::RES_NOTFOUND, $t->getResultCode());
same(2, count($t->getVersion()));
same(true, file_exists("$directory/left") && file_exists("$directory/right"));

/* A table in front: another client's write is seen only after the time, an own one at once. */
[$server] = servers(1);
$plain = client([$server]);
$near = client([$server], [Memcached::OPT_NEAR => 'front', Memcached::OPT_NEAR_TTL => 600.0]);
same('front', $near->getOption(Memcached::OPT_NEAR));
same(600.0, $near->getOption(Memcached::OPT_NEAR_TTL));
$plain->set('k', 'first');
same('first', $near->get('k'));
$plain->set('k', 'second');
same('first', $near->get('k'));
same(true, $near->set('k', 'third'));
same('third', $near->get('k'));
same('third', $plain->get('k'));
$two = client(servers(2), [Memcached::OPT_NEAR => 'other', Memcached::OPT_NEAR_TTL => 5]);
same(false, @$two->getByKey('g', 'k'));
same(Memcached::RES_NOT_SUPPORTED, $two->getResultCode());
same(false, @$near->setOption(Memcached::OPT_NEAR_TTL, 0));
$wrong = client([$server], [Memcached::OPT_NEAR => 'third']);
same(false, $wrong->get('k'));
same(Memcached::RES_INVALID_ARGUMENTS, $wrong->getResultCode());
same(true, str_contains($wrong->getLastErrorMessage(), 'near_ttl_ms'));
echo 'done';
?>
--EXPECT--
done

--TEST--
Servers that are down or silent, forks, persistent objects, requests without an answer
--SKIPIF--
<?php
if (!shell_exec('command -v memcached')) die('skip there is no memcached');
if (!function_exists('pcntl_fork')) die('skip there is no pcntl_fork');
?>
--FILE--
<?php
require __DIR__ . '/servers.inc';
use Tavola\Memcached;

$servers = servers(3);
$keys = array_map(fn($i) => "key:$i", range(0, 99));
$m = client($servers, [Memcached::OPT_LIBKETAMA_COMPATIBLE => true, Memcached::OPT_POLL_TIMEOUT => 300,
    Memcached::OPT_CONNECT_TIMEOUT => 300]);
same(true, $m->setMulti(array_fill_keys($keys, 'v')));
same(100, count($m->getMulti($keys)));
same(100, array_sum(array_map(fn($s) => client([$s])->getStats()["127.0.0.1:$s->port"]['curr_items'],
    $servers)));

/* All keys, and those of a prefix. */
$listed = $m->getAllKeys();
sort($listed);
$sorted = $keys;
sort($sorted);
same($sorted, $listed);
same(0, $m->getResultCode());
$prefixed = client($servers, [Memcached::OPT_PREFIX_KEY => 'app:']);
same([], $prefixed->getAllKeys());
same(true, $prefixed->setMulti(['a' => 1, 'b' => 2]));
$listed = $prefixed->getAllKeys();
sort($listed);
same(['a', 'b'], $listed);
same(true, $prefixed->deleteMulti($listed)['a']);
$binary = client($servers, [Memcached::OPT_BINARY_PROTOCOL => true]);
same(false, $binary->getAllKeys());
same(true, str_contains($binary->getLastErrorMessage(), 'binary'), $binary->getLastErrorMessage());

/* A server that is stopped: its keys fail, those of the others are there. */
$silent = client([$servers[1]], [Memcached::OPT_POLL_TIMEOUT => 200]);
same(true, $silent->set('k', 1));
$servers[1]->pause();
same(false, $silent->get('k'));
same(Memcached::RES_TIMEOUT, $silent->getResultCode());
$found = $m->getMulti($keys);
same(Memcached::RES_SOME_ERRORS, $m->getResultCode());
same(true, count($found) > 10 && count($found) < 90);
$lost = array_values(array_diff($keys, array_keys($found)))[0];
same($servers[1]->port, $m->getServerByKey($lost)['port']);
$called = false;
same(false, $m->get($lost, function () use (&$called) { $called = true; return true; }));
same(false, $called, 'a failure is no miss');
same(false, in_array($m->getResultCode(), [Memcached::RES_NOTFOUND, Memcached::RES_SUCCESS], true));
same(['host' => '127.0.0.1', 'port' => $servers[1]->port], $m->getLastDisconnectedServer());
same(true, str_contains($m->getLastErrorMessage(), (string) $servers[1]->port));
same(false, $m->set($lost, 'w'));
same(false, $m->delete($lost));
same(true, $m->deleteMulti([$lost])[$lost] !== true);
same(false, $m->increment($lost));
same(true, $m->getDelayed([$lost]));
same(false, $m->fetch());
same(false, in_array($m->getResultCode(), [Memcached::RES_NOTFOUND, Memcached::RES_END], true));
$servers[1]->signal(SIGCONT);
for ($i = 0; $i < 600 && $m->get($lost) === false && $m->getResultCode() !== Memcached::RES_NOTFOUND;
    $i++) {
    usleep(50000);
}
same(true, in_array($m->getResultCode(), [0, Memcached::RES_NOTFOUND], true), 'it is used again');

/* A server that is gone. */
$servers[2]->stop();
$m->getMulti($keys);
same(Memcached::RES_SOME_ERRORS, $m->getResultCode());
$listed = $m->getAllKeys();
same(Memcached::RES_SOME_ERRORS, $m->getResultCode());
same(true, count($listed) > 10 && count($listed) < 100);
$dead = client([$servers[2]]);
same(false, $dead->getAllKeys());
same(Memcached::RES_CONNECTION_FAILURE, $dead->getResultCode());
same(false, $dead->get('a'));
same(Memcached::RES_CONNECTION_FAILURE, $dead->getResultCode());
same(false, $dead->getMulti(['a', 'b']));
same(false, $dead->getStats());
same(false, $dead->getVersion());
same(false, $dead->flush());

/* No servers, and what is no server. */
$none = new Memcached;
same(false, $none->get('a'));
same(Memcached::RES_NO_SERVERS, $none->getResultCode());
same(false, @$none->addServer('a,b', 1));
same(false, @$none->addServer('a', 0));
same([], $none->getServerList());

/* A forked child has connections of its own. */
$live = client([$servers[0]]);
$live->set('mine', 'parent');
$children = [];
for ($c = 0; $c < 4; $c++) {
    $children[] = child(function () use ($live, $c) {
        for ($i = 0; $i < 200; $i++) {
            $live->set("child:$c", "$c:$i");
            same("$c:$i", $live->get("child:$c"));
        }
    });
}
for ($i = 0; $i < 200; $i++) {
    same('parent', $live->get('mine'));
}
foreach ($children as $pid) {
    same(0, ended($pid));
}

/* Persistent objects share servers and options. */
$set_up = 0;
$new = function () use (&$set_up, $servers) {
    return new Memcached('id', function (Memcached $m, ?string $id) use (&$set_up, $servers) {
        same('id', $id);
        $m->addServer('127.0.0.1', $servers[0]->port);
        $m->setOption(Memcached::OPT_PREFIX_KEY, 'p:');
        $set_up++;
    });
};
$one = $new();
$two = $new();
same([1, true, false], [$set_up, $one->isPristine(), $two->isPristine()]);
$one->set('shared', 1);
same(1, $two->get('shared'));
same(1, $live->get('p:shared'));
same('p:', $two->getOption(Memcached::OPT_PREFIX_KEY));

/* Stores that do not wait; a persistent object sends them when it is freed. */
foreach ([Memcached::OPT_NOREPLY, Memcached::OPT_BUFFER_WRITES] as $option) {
    $quiet = client([$servers[0]], [$option => true]);
    same(true, $quiet->set('quiet', $option));
    same($option, $quiet->get('quiet'), 'a get leaves after the store');
    same(true, $quiet->setMulti(['q1' => 1, 'q2' => $option]));
    same(true, $quiet->flushBuffers());
    same($option, $live->get('q2'));
}
$two->setOption(Memcached::OPT_NOREPLY, true);
same(true, $two->set('held', 'sent'));
unset($one, $two);
same('sent', $live->get('p:held'));

/* Keys that choose a server. */
$two = client([$servers[0], $servers[1]]);
foreach (range(0, 20) as $i) {
    same(true, $two->setByKey("group $i", 'item', $i));
    same($i, $two->getByKey("group $i", 'item'));
}
$ports = [];
foreach (range(0, 20) as $i) {
    same(true, $two->setByKey("g$i", "own:$i", $i));
    $port = $two->getServerByKey("g$i")['port'];
    $ports[$port] = true;
    same($i, client(array_filter($servers, fn($s) => $s->port === $port))->get("own:$i"));
}
same(2, count($ports), 'both servers have groups');
echo 'done';
?>
--EXPECT--
done

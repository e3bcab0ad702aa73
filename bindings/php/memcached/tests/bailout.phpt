--TEST--
A request that ends in the middle of a call leaves a client that the next one can use
--SKIPIF--
<?php if (!shell_exec('command -v memcached')) die('skip there is no memcached'); ?>
--FILE--
<?php
require __DIR__ . '/servers.inc';

$ports = implode(',', array_map(fn($server) => $server->port, servers(2)));
preg_match('~/\S*tavola_memcached\S*\.so~', file_get_contents('/proc/self/maps'), $so);
$probe = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($probe, false);
fclose($probe);
$log = ['file', '/dev/null', 'w'];
$web = proc_open([PHP_BINARY, '-n', '-d', "extension=$so[0]", '-d', 'memory_limit=128M', '-S', $address,
    __DIR__ . '/bailout.inc'], [['file', '/dev/null', 'r'], $log, $log], $pipes);
register_shutdown_function(fn() => proc_terminate($web, SIGKILL));
for ($i = 0; $i < 600 && !@stream_socket_client("tcp://$address"); $i++) {
    usleep(50000);
}

function ask(string $act): string
{
    global $address, $ports;
    $context = stream_context_create(['http' => ['ignore_errors' => true]]);
    return file_get_contents("http://$address/?act=$act&ports=$ports", false, $context);
}

same('the end', ask('fill'));
[$pid] = $before = json_decode(ask('check'));
same([$pid, true, false, false], $before);
foreach (['limit', 'callback', 'exit', 'delayed', 'serialize', 'unserialize', 'held'] as $act) {
    /* More often than there may be connections to a server: none of them is lost. */
    for ($i = 0; $i < ($act === 'limit' ? 70 : 1); $i++) {
        same('', ask($act), $act);
    }
    same([$pid, true, false, $act === 'held' ? $ports : false], json_decode(ask('check')), $act);
}
echo 'done';
?>
--EXPECT--
done

--TEST--
Values, flags, compression and results of one server
--SKIPIF--
<?php if (!shell_exec('command -v memcached')) die('skip there is no memcached'); ?>
--FILE--
<?php
require __DIR__ . '/servers.inc';
use Tavola\Memcached;

[$server] = servers(1);
$m = client([$server]);

$values = ['abc', '', '12', 42, -3, PHP_INT_MIN, 1.5, 0.1, 1e100, INF, -INF, NAN, 2.0, true, false,
    null, [1, 'a' => [2]], (object) ['x' => 1], "\0\xff\r\n"];
foreach ([false, true] as $binary) {
    $m->setOption(Memcached::OPT_BINARY_PROTOCOL, $binary);
    foreach ($values as $i => $value) {
        same(true, $m->set("k$i", $value));
        is_object($value) ? same(true, $value == $m->get("k$i")) : same($value, $m->get("k$i"));
    }
    $many = array_combine(array_map(fn($i) => "m$i", array_keys($values)), $values);
    same(true, $m->setMulti($many));
    same(serialize($many), serialize($m->getMulti(array_keys($many))));
    same(['m4' => -3, 'none' => null, 'm0' => 'abc'],
        $m->getMulti(['m4', 'none', 'm0'], Memcached::GET_PRESERVE_ORDER));
}
$m->setOption(Memcached::OPT_BINARY_PROTOCOL, false);
foreach (['s' => [0, 'x'], 'l' => [1, '-7'], 'd' => [2, '0.5'], 'b' => [3, '1'], 'a' => [4, 'a:0:{}']]
    as $key => $stored) {
    $m->set($key, ['s' => 'x', 'l' => -7, 'd' => 0.5, 'b' => true, 'a' => []][$key]);
    same($stored, $server->stored($key));
}

/* Compression, both kinds, at the bounds of their formats. */
mt_srand(7);
$noise = '';
for ($i = 0; $i < 70000; $i++) {
    $noise .= chr(mt_rand(0, 255));
}
foreach ([Memcached::COMPRESSION_FASTLZ => 80, Memcached::COMPRESSION_ZLIB => 48] as $type => $flags) {
    $m->setOption(Memcached::OPT_COMPRESSION_TYPE, $type);
    foreach ([2000, 2001, 9000, 100000, 300000] as $length) {
        foreach (['a', 'ab', 'abcdefgh', substr($noise, 0, 700), substr($noise, 0, 8192),
            substr($noise, 0, 8193)] as $part) {
            $value = substr(str_repeat($part, intdiv($length, strlen($part)) + 1), 0, $length);
            same(true, $m->set('long', $value));
            same(true, $m->get('long') === $value, "$type, $length, " . strlen($part));
        }
        $m->set('long', str_repeat('a', $length));
        same($flags, $server->stored('long')[0]);
    }
    $m->set('long', str_repeat('a', 1999));
    same(0, $server->stored('long')[0]);
    $m->set('long', $noise);
    same([0, $noise], $server->stored('long'));
}

/* Broken values are no misses. */
function store(Server $server, string $key, int $flags, string $bytes): void
{
    $connection = fsockopen('127.0.0.1', $server->port);
    fwrite($connection, "set $key $flags 0 " . strlen($bytes) . "\r\n$bytes\r\n");
    same("STORED\r\n", fgets($connection));
}
foreach ([[80, "\xd0\7\0\0" . "\x07ab"], [80, 'ab'], [80, "\4\0\0\0\xffabc"], [48, "\4\0\0\0zzzz"],
    [80, "\xff\xff\xff\xff\0a"], [4, 'O:1'], [4, ''], [1, 'x'], [2, '1.5x'], [6, '{'], [15, 'q']]
    as [$flags, $bytes]) {
    store($server, 'broken', $flags, $bytes);
    same(false, @$m->get('broken'), "$flags");
    same(Memcached::RES_PAYLOAD_FAILURE, $m->getResultCode());
    same('PAYLOAD FAILURE', $m->getResultMessage());
}

/* Nor are values that would grow too long, by either compression. */
$most = 1 << 20;
ini_set('tavola_memcached.max_decompressed', '1M');
ini_set('memory_limit', '512M');
foreach ([Memcached::COMPRESSION_FASTLZ, Memcached::COMPRESSION_ZLIB] as $type) {
    $m->setOption(Memcached::OPT_COMPRESSION_TYPE, $type);
    $m->set('grown', str_repeat('a', $most));
    same($most, strlen($m->get('grown')));
    $m->set('grown', str_repeat('a', $most + 1));
    same(true, @$m->get('grown') === false);
    same(Memcached::RES_PAYLOAD_FAILURE, $m->getResultCode());
    $warnings = [];
    set_error_handler(function ($level, $text) use (&$warnings) { $warnings[] = $text; return true; });
    same([], $m->getMulti(['grown']) ?: []);
    restore_error_handler();
    same(true, str_contains($warnings[0], 'tavola_memcached.max_decompressed'), $warnings[0]);
    $m->set('grown', str_repeat('a', 40 << 20));
    $limit = ini_set('memory_limit', (string) (memory_get_usage(true) + (16 << 20)));
    same(true, @$m->get('grown') === false);
    ini_set('memory_limit', $limit);
    ini_set('tavola_memcached.max_decompressed', '64M');
    same(40 << 20, strlen($m->get('grown')));
    ini_set('tavola_memcached.max_decompressed', '1M');
}
same('64M', ini_get_all('tavola_memcached')['tavola_memcached.max_decompressed']['global_value']);
ini_restore('tavola_memcached.max_decompressed');

/* Nothing runs code if the program does not want it. */
$m->set('object', new ArrayObject([1]));
$m->setOption(Memcached::OPT_SERIALIZER, Memcached::SERIALIZER_NONE);
same(false, @$m->get('object'));
same(Memcached::RES_PAYLOAD_FAILURE, $m->getResultCode());
same(false, @$m->set('object', []));
same(Memcached::RES_PAYLOAD_FAILURE, $m->getResultCode());
same(true, $m->set('plain', 3));
same(3, $m->get('plain'));
$m->setOption(Memcached::OPT_SERIALIZER, Memcached::SERIALIZER_PHP);

/* A memory limit does not hurt the client. */
$m->setOption(Memcached::OPT_COMPRESSION, false);
same(true, $m->set('large', substr($noise, 0, 60000)));
$extended = $m->get('large', null, Memcached::GET_EXTENDED);
same(true, $m->cas($extended['cas'], 'large', 'new'));
same(false, $m->cas($extended['cas'], 'large', 'newer'));
same(Memcached::RES_DATA_EXISTS, $m->getResultCode());
same('new', $m->get('large'));

/* Callbacks that throw, and that use the same object. */
throws(LogicException::class, fn() => $m->get('none', fn() => throw new LogicException()));
same('new', $m->get('large'));
same('deep', $m->get('none', function (Memcached $m, string $key, &$value, &$expiration) {
    same(true, $m->set('inner', 'i'));
    same(['inner' => 'i'], $m->getMulti(['inner', 'no']));
    $value = 'deep';
    return true;
}));
same('deep', $m->get('none'));
$m->setMulti(['d1' => 1, 'd2' => 2, 'd3' => 3]);
throws(LogicException::class, fn() => $m->getDelayed(['d1', 'd2'], false,
    fn() => throw new LogicException()));
same(true, $m->getDelayed(['d1', 'none-at-all', 'd2', 'd3']));
same(['key' => 'd1', 'value' => 1], $m->fetch());
same([['key' => 'd2', 'value' => 2], ['key' => 'd3', 'value' => 3]], $m->fetchAll());
same(false, $m->fetch());
class Reads
{
    public static ?Memcached $m = null;
    public function __unserialize(array $data): void { self::$m?->getDelayed(['d2', 'd3']); }
    public function __serialize(): array { self::$m?->get('d1'); return []; }
}
Reads::$m = $m;
same(true, $m->setMulti(['r1' => new Reads, 'r2' => new Reads]));
same(2, count($m->getMulti(['r1', 'r2'], Memcached::GET_EXTENDED)));
same(true, $m->getDelayed(['r1'], true));
same('r1', $m->fetch()['key']);
same(2, $m->fetch()['value']);

/* Counters. */
same(false, $m->increment('n'));
same(Memcached::RES_NOTFOUND, $m->getResultCode());
same(10, $m->increment('n', 1, 10));
same(12, $m->increment('n', 2, 10));
same(0, $m->decrement('n', 100));
$m->set('text', 'abc');
same(false, $m->increment('text'));
same(Memcached::RES_CLIENT_ERROR, $m->getResultCode());
same(true, str_contains($m->getLastErrorMessage(), 'non-numeric'));
same('0', rtrim($m->get('n')));
same(0, $m->getLastErrorCode(), 'the call after the error');
echo 'done';
?>
--EXPECT--
done

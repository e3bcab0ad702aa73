--TEST--
A table is opened once for each process, and again when its file was replaced
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\{Names, Table};
function mappings(string $path): int
{
    return substr_count(file_get_contents('/proc/self/maps'), $path);
}
$a = Table::open('t');
$a['x'] = 1;
$before = mappings("$directory/t");
same(true, $before > 0);
$b = Table::open('t');
$c = Table::open("$directory/../" . basename($directory) . '/t');
same(1, $b['x'] + $c['x'] - 1);
same($before, mappings("$directory/t"), 'the same mapping');
unset($a, $b, $c);
same($before, mappings("$directory/t"), 'it stays for the next request');
Table::open('t')['x'];
same($before, mappings("$directory/t"));
$other = Table::open('t', ['serializer' => 'php']);
same($before, mappings("$directory/t"), 'a serializer belongs to the object');

/* The file is removed, or replaced: the next open finds the new one. */
$old = Table::open('t');
Names::remove('t');
$new = Table::open('t');
same(null, $new['x']);
same(1, $old['x'], 'an open handle keeps its file');
$new['x'] = 2;
same(true, $old->refresh());
same(2, $old['x']);
same(false, $old->refresh());
Names::remove('t');
throws(Tavola\NoTableException::class, fn() => $old->refresh());
same(2, $old['x'], 'the handle stays as it is');
same(false, Table::private()->refresh());
$reader = (function () { Table::open('r')['x'] = 1; return Table::readOnly('r'); })();
Names::remove('r');
Table::open('r')['x'] = 5;
same(true, $reader->refresh());
same([5, true], [$reader['x'], $reader->isReadOnly()]);

/* Tables that are not in use are closed when there are too many. */
for ($i = 0; $i < 20; $i++) {
    Table::open("many$i")['x'] = 1;
}
$open = array_filter(range(0, 19), fn($i) => mappings("$directory/many$i\n") > 0);
same(true, count($open) <= 8, 'tavola.max_idle');

/* A handle works in a forked child. */
$t = Table::open('fork');
$t['from'] = 'parent';
same(0, ended(child(function () use ($t) {
    same('parent', $t['from']);
    $t['from'] = 'child';
    Table::open('fork')['again'] = 1;
})));
same(['child', 1], [$t['from'], $t['again']]);
echo 'done';
?>
--INI--
tavola.max_idle=8
--EXPECT--
done

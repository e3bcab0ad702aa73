--TEST--
Names: list, path, remove, rename
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\{Names, Table};
same([], Names::list());
Table::open('b');
Table::open('a');
same(['a', 'b'], Names::list());
same($directory, Names::directory());
same("$directory/a", Names::path('a'));
same('/tmp/x', Names::path('/tmp/x'));
same(null, Names::warning('/dev/shm/x'));
Names::rename('a', 'c');
same(['b', 'c'], Names::list());
throws(Tavola\TableExistsException::class, fn() => Names::rename('b', 'c'));
throws(Tavola\NoTableException::class, fn() => Names::rename('none', 'd'));
same(true, Names::remove('c'));
same(false, Names::remove('c'));
file_put_contents("$directory/text", 'x');
throws(Tavola\NotATableException::class, fn() => Names::remove('text'));
throws(Tavola\BadNameException::class, fn() => Names::path(''));
throws(ValueError::class, fn() => Names::remove("a\0b"), 'null bytes');
same('0.1.0', Tavola\version());
echo 'done';
?>
--EXPECT--
done

--TEST--
Opening tables: each way to open, each option, and their errors
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;

$shop = Table::open('shop', ['capacity' => '16M', 'max_size' => 64 << 20, 'ttl' => 60,
    'mode' => 0640]);
same("$directory/shop", $shop->path());
same(0640, fileperms($shop->path()) & 0777);
same(16 << 20, $shop->stats()['capacity']);
same(64 << 20, $shop->stats()['max_size']);
same(60000, $shop->stats()['ttl_ms']);
same(false, $shop->isReadOnly());
$shop['a'] = 1;
same(60, $shop->ttl('a'));

same(1, (new Table('shop'))->get('a'));
same(1, Table::openExisting('shop')->get('a'));
same(1, Table::open("$directory/shop")->get('a'), 'a path');
$reader = Table::readOnly('shop');
same(1, $reader->get('a'));
same(true, $reader->isReadOnly());
throws(Tavola\ReadOnlyException::class, fn() => $reader->set('a', 2));

throws(Tavola\TableExistsException::class, fn() => Table::create('shop'));
$made = Table::create('new', ['versions' => true, 'shards' => 2]);
same(2, $made->stats()['shards']);
throws(Tavola\NoTableException::class, fn() => Table::openExisting('none'));
throws(Tavola\NoTableException::class, fn() => Table::readOnly('none'));
throws(Tavola\BadNameException::class, fn() => Table::open(''));
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['capacity' => 'much']),
    'capacity');
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['capacity' => -1]), 'capacity');
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['size' => 1]), 'unknown option');
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['serializer' => 'xml']), 'xml');
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['ttl' => 'long']), 'ttl');
throws(Tavola\BadOptionException::class, fn() => Table::open('x', ['versions' => 1]), 'versions');
file_put_contents("$directory/text", 'not a table');
throws(Tavola\NotATableException::class, fn() => Table::open('text'));

$private = Table::private();
$private['a'] = 2;
same(2, $private['a']);
same(0, count(Table::private()));
same(4 << 20, Table::private(['capacity' => '4M'])->stats()['capacity']);

throws(Error::class, fn() => $shop->__construct('other'), 'open already');
throws(Error::class, fn() => clone $shop);
throws(Exception::class, fn() => serialize($shop), 'not allowed');
echo 'done';
?>
--EXPECT--
done

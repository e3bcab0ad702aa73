--TEST--
The functions of APCu share a table with other processes and other calls
--SKIPIF--
<?php
require __DIR__ . '/apcu.inc';
?>
--FILE--
<?php
require __DIR__ . '/begin.inc';
require __DIR__ . '/apcu.inc';
same('', trim(without_apcu(<<<'CODE'
    same('tavola', (new ReflectionFunction('Tavola\version'))->getExtensionName());
    same(true, extension_loaded('apcu') && (bool) ini_get('apc.enabled'));
    apcu_store('array', ['a' => 1.5]);
    apcu_store('object', new ArrayObject([7]), 100);
    same(5, apcu_inc('n', 5));
    same(false, apcu_inc('array'));
    same('made', apcu_entry('entry', fn() => 'made', 50));
    same('again', apcu_entry('self', fn() => apcu_entry('self', fn() => 'again')));
    same(true, apcu_key_info('object')['ttl'] > 98);
    CODE)));
/* Another process has the keys, and the table has them. */
same('', trim(without_apcu(<<<'CODE'
    same(['a' => 1.5], apcu_fetch('array'));
    same(6, apcu_inc('n'));
    same(5, apcu_cache_info(true)['num_entries']);
    same(32.0 * 1048576, apcu_sma_info(true)['seg_size']);
    CODE)));
$table = Tavola\Table::openExisting('apcu');
same(6, $table['n']);
same(50, $table->ttl('entry'));
same(32 << 20, $table->stats()['capacity']);
same(0x54110000, $table->entry('object')['flags']);
/* A table that cannot be opened is a warning, and the functions fail. */
Tavola\Names::remove('apcu');
mkdir("$directory/apcu");
$said = without_apcu("same(false, apcu_store('a', 1)); same(false, apcu_fetch('a'));");
same(1, substr_count($said, 'cannot be opened'), $said);
rmdir("$directory/apcu");
echo 'done';
?>
--EXPECT--
done

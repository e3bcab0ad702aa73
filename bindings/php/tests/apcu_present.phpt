--TEST--
If APCu itself is loaded, its functions stay
--EXTENSIONS--
apcu
--INI--
tavola.apcu_compat=1
apc.enable_cli=1
--FILE--
<?php
require __DIR__ . '/begin.inc';
same(false, str_contains((string) new ReflectionExtension('apcu'), 'tavola'));
apcu_store('a', 1);
same(1, apcu_fetch('a'));
same([], Tavola\Names::list(), 'no table was opened');
echo 'done';
?>
--EXPECT--
done

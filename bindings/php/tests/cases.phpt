--TEST--
bindings/cases.json: the answers that every language gives
--FILE--
<?php
require __DIR__ . '/begin.inc';
require __DIR__ . '/cases.inc';
$cases = new Cases(getenv('TAVOLA_CASES') ?: __DIR__ . '/../../cases.json');
same(true, $cases->run() > 0);
same(true, $cases->steps > 0);
echo 'done';
?>
--EXPECT--
done

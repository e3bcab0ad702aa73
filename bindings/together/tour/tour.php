<?php
// The tour's table from PHP: see `scripts/tour`.

$table = Tavola\Table::open($argv[1]);
$name = explode(';', $table['U+1F418'])[0];
$before = $table->swap('tour/last', 'PHP');
$visits = $table->inc('tour/languages');
$language = 'PHP ' . strtok(PHP_VERSION, '-');
printf("  %-14s U+1F418 is %s; before it came %s; tour/languages is %d\n",
    $language, $name, $before, $visits);

<?php
// A worker in PHP: see `test`.

use Tavola\Queue;
use Tavola\Table;

[, $tableName, $queueName, $journalPath, $stopPath] = $argv;
$table = Table::open($tableName);
$jobs = Queue::open($queueName);
$table->set('text of php', 'grüße');
$table->set('list of php', [1, 'zwei', null]);
$jobs->push('grüße of php', null);
$journal = fopen($journalPath, 'a');
stream_set_write_buffer($journal, 0);
while (true) {
    clearstatcache();
    if (file_exists($stopPath)) {
        break;
    }
    $table->inc('count');
    fwrite($journal, "1\n");
    $job = $jobs->pop(0.01);
    if ($job !== null) {
        $table->add('done ' . $job->value(), 'php');
        $job->done();
    }
}

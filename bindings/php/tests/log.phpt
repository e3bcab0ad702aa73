--TEST--
Logs: lines of several processes, reading and draining
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Log;
$log = Log::open('events', ['bytes' => '256K', 'overload' => 'drop_newest']);
$log->showOnStderr(false);
same('drop_newest', $log->stats()['overload']);
$log->error('e');
$log->warn('w');
$log->info('i');
$log->debug('d');
$log->trace('t');
$log->line(Log::INFO, "bin\0ary");
$lines = $log->lines();
same([1, 2, 3, 4, 5, 3], array_column($lines, 'level'));
same(['e', 'w', 'i', 'd', 't', "bin\0ary"], array_column($lines, 'text'));
same(getmypid(), $lines[0]['pid']);
same(true, abs($lines[0]['time'] - microtime(true)) < 60);
same([], $log->lines());
same(0, ended(child(fn() => $log->info('from a child'))));
same(['from a child'], array_column(Log::readOnly('events')->lines() ,
    'text') === [] ? [] : array_column($log->lines(), 'text'));
$reader = Log::openExisting('events');
$reader->skip();
same([], $reader->lines());

/* Draining. An exception keeps the lines. */
throws(LogicException::class, fn() => $log->drainTo(fn() => throw new LogicException('full')));
$taken = [];
same(7, $log->drainTo(function (array $line) use (&$taken) { $taken[] = $line['text']; }));
same('from a child', $taken[6]);
throws(Tavola\AlreadyDrainedException::class, fn() => $reader->drainTo(fn() => 0));
$log->endDrain();
$reader->showOnStderr(false);
$reader->info('to a file');
$path = "$directory/lines.txt";
$file = fopen($path, 'w');
same(1, $reader->finish($file));
same(true, str_contains(file_get_contents($path), ' INFO ' )
    && str_contains(file_get_contents($path), 'to a file'));
$reader->info('due later');
for ($i = 0; $i < 5000 && ($written = $reader->drain($file)) === 0; $i++) {
    usleep(1000);
}
same(1, $written);
throws(ValueError::class, fn() => $log->line(9, 'x'));
throws(ValueError::class, fn() => $reader->drain(fopen('php://memory', 'w')));
throws(Tavola\BadOptionException::class, fn() => Log::open('y', ['overload' => 'panic']),
    'overload');
throws(Tavola\TableExistsException::class, fn() => Log::create('events'));
throws(Tavola\ReadOnlyException::class, fn() => Log::readOnly('events')->info('x'));
same(true, str_ends_with($log->path(), '/events'));
echo 'done';
?>
--EXPECT--
done

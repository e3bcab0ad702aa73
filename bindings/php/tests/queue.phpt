--TEST--
Queues: push, pop, done, retry, serializers, and jobs of killed workers
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Queue;
$q = Queue::open('jobs', ['places' => 4, 'size' => 100]);
same(['jobs' => 0, 'held' => 0, 'free' => 4, 'places' => 4, 'job_bytes' => 100], $q->stats());
same(null, $q->pop());
same(null, $q->pop(0.01));
foreach (['one', '', "bin\0ary", 4] as $job) {
    same(true, $q->push($job));
}
same(false, $q->push('full'), 'no place is free');
same(4, count($q));
foreach (['one', '', "bin\0ary", '4'] as $expected) {
    $job = $q->pop();
    same($expected, $job->value());
    $job->done();
    throws(Tavola\NotHeldException::class, fn() => $job->done());
    throws(Tavola\NotHeldException::class, fn() => $job->retry());
}
same(4, $q->stats()['free']);

/* A job that is not done comes back. */
$q->push('again');
$job = $q->pop();
same(1, $q->stats()['held']);
unset($job);
$job = $q->pop();
$job->retry();
same('again', ($job = $q->pop())->value());
$job->done();

throws(Tavola\TooLargeException::class, fn() => $q->push(str_repeat('x', 101)), 'at most 100');
throws(Tavola\ArgumentException::class, fn() => $q->push([1]), 'serializer');
throws(Tavola\TableExistsException::class, fn() => Queue::create('jobs'));
throws(Tavola\NoTableException::class, fn() => Queue::openExisting('none'));
throws(Tavola\BadOptionException::class, fn() => Queue::open('x', ['bytes' => 5]));
same(0, count(Queue::openExisting('jobs')));

foreach (['json' => ['a' => 1.5], 'php' => new ArrayObject([1])] as $serializer => $value) {
    $typed = Queue::open('jobs', ['serializer' => $serializer]);
    $typed->push($value);
    $job = $typed->pop();
    same(serialize($value), serialize($job->value()));
    $job->done();
}

/* A killed worker: its job comes back to another one. */
$q->push('hard');
$pid = child(function () use ($q) {
    $job = $q->pop(10);
    same('hard', $job->value());
    kill_self();
});
same(-SIGKILL, ended($pid));
same('hard', ($job = $q->pop(20))->value());
$job->done();
same(4, $q->stats()['free']);

/* Two workers and a producer. */
$pids = [];
for ($i = 0; $i < 2; $i++) {
    $pids[] = child(function () use ($q) {
        $sum = 0;
        while (($job = $q->pop(30))->value() !== 'end') {
            $sum += (int) $job->value();
            $job->done();
        }
        $job->done();
        Tavola\Table::open('sums')->inc('sum', $sum);
    });
}
for ($i = 1; $i <= 500; $i++) {
    same(true, $q->push((string) $i, 30));
}
$q->push('end', 30);
$q->push('end', 30);
same([0, 0], array_map('ended', $pids));
same(125250, Tavola\Table::open('sums')['sum']);

/* The form of `tavola queue`: 4 bytes, then the job. */
$q->push('form');
same(true, str_contains(file_get_contents($q->path()), "\x05\0\0\0form"));
same(0, $q->reclaim());
echo 'done';
?>
--EXPECT--
done

use strict;
use warnings;
use utf8;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep);

my $q = Tavola::Queue->open('jobs', places => 4, job_bytes => 100);

subtest 'first in, first out' => sub {
    is($q->places, 4, 'places');
    is($q->job_bytes, 100, 'job_bytes');
    like($q->path, qr{/jobs}, 'path');
    is($q->pop, undef, 'an empty queue');
    is($q->pop(0.01), undef, 'an empty queue, with a wait');
    ok($q->push($_), "push $_") for 1 .. 4;
    ok(!$q->push(5), 'a full queue');
    ok(!$q->push(5, 0.01), 'a full queue, with a wait');
    is($q->size, 4, 'size');
    is_deeply([ map { $q->pop } 1 .. 4 ], [ 1 .. 4 ], 'in order');
    dies(sub { $q->push('x' x 101) }, 'Argument', qr/at most 100/, 'a long job');
    $q->push('grüße');
    is($q->pop, "gr\xc3\xbc\xc3\x9fe", 'text is UTF-8 bytes');
    dies(sub { $q->push([ 1 ]) }, 'Argument', qr/string or a number/, 'a reference');
};

subtest 'jobs that are held' => sub {
    $q->push('one');
    my $job = $q->job;
    is($job->value, 'one', 'value');
    is($q->size, 0, 'no other process gets it');
    ok($job->done, 'done');
    ok(!$job->done, 'once');
    dies(sub { $job->value }, 'Argument', qr/closed/, 'it has no value any more');
    $q->push('two');
    ok($q->job->back, 'back');
    is($q->size, 1, 'is in the queue again');
    { my $lost = $q->job; }
    is($q->pop, 'two', 'a job that is dropped returns, too');
};

subtest 'JSON' => sub {
    my $j = Tavola::Queue->open('json', json => 1);
    $j->push({ image => 'größe.png', sizes => [ 1, 2 ] });
    is_deeply($j->job->value, { image => 'größe.png', sizes => [ 1, 2 ] }, 'a structure');
    is($j->size, 1, 'is back');
};

subtest 'a killed worker' => sub {
    $q->push("job $_") for 1 .. 3;
    my ($pid, $from) = child_says(sub {
        my ($to) = @_;
        my $job = $q->job;
        print {$to} $job->value, "\n";
        sleep 60;
    });
    is(<$from>, "job 1\n", 'a worker has the first job');
    kill KILL => $pid;
    waitpid $pid, 0;
    is($q->pop, 'job 2', 'others go on');
    is($q->pop, 'job 3', 'others go on');
    is($q->pop(10), 'job 1', 'the job of the killed worker was handed back');
    is($q->pop, undef, 'once');
    is($q->reclaim, 0, 'nothing is left to reclaim');
};

subtest 'waiting workers' => sub {
    my @workers = map {
        [ child_says(sub {
            my ($to) = @_;
            my $done = 0;
            while (my $job = $q->job(undef)) {
                my $is_last = $job->value eq 'end';
                $job->done;
                last if $is_last;
                $done++;
            }
            print {$to} $done;
        }) ]
    } 1 .. 3;
    ok($q->push("job $_", 10), "push $_") for 1 .. 30;
    ok($q->push('end', 10), 'end') for 1 .. 3;
    my $sum = 0;
    for my $worker (@workers) {
        my $from = $worker->[1];
        $sum += <$from>;
    }
    ok(reap(map { $_->[0] } @workers), 'all workers ended well');
    is($sum, 30, 'each job was done once');
};

subtest 'fork' => sub {
    $q->push('mine');
    my $job = $q->job;
    ok(reap(in_child(sub { undef $job })), 'a child drops its copy of the job');
    is($q->size, 0, 'the job is still held');
    ok($job->done, 'by the parent');
};

subtest 'in a table' => sub {
    my $t = table();
    my $in = Tavola::Queue->open('work', in => $t, places => 2, job_bytes => 8);
    $t->close;
    ok($in->push('a'), 'a queue in the file of a table stays open');
    is($in->pop, 'a', 'and works');
    $in->close;
    dies(sub { $in->pop }, 'Argument', qr/closed/, 'a closed queue');
    dies(sub { Tavola::Queue->open('none', create => 0) }, 'NoTable', qr/none/, 'missing');
    table()->set('a', 1);
    dies(sub { Tavola::Queue->open('q', colour => 1) }, 'Argument', qr/no option/, 'an option');
};

done_testing;

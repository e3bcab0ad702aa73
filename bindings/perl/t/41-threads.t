use strict;
use warnings;

use Config;
use Test::More;

BEGIN {
    if (!$Config{useithreads}) {
        plan skip_all => 'this perl has no threads';
    }
}

use threads;
use lib 't/lib';
use TavolaTest;

my $t = table(serializer => 'storable');
tie my %h, 'Tavola', $t->path;
my $q = Tavola::Queue->open('jobs', places => 100);
my $log = Tavola::Log->open('events', stderr => 0);

subtest 'threads share tables, queues and logs' => sub {
    my @threads = map {
        my $number = $_;
        threads->create(sub {
            for (1 .. 500) {
                $t->incr('count');
                $h{"$number:$_"} = { n => $_ };
            }
            $q->push("from $number");
            $log->info("from $number");
            my @keys = grep { /\A$number:/ } keys %h;
            return scalar @keys;
        });
    } 1 .. 4;
    is_deeply([ map { $_->join } @threads ], [ (500) x 4 ], 'each thread finds its keys');
    is($t->get('count'), 2000, 'no count was lost');
    is($h{'3:77'}{n}, 77, 'the serializer works in threads');
    is($q->size, 4, 'the queue has all jobs');
    is(scalar(my @lines = $log->reader->lines), 4, 'the log has all lines');
};

subtest 'other objects belong to one thread' => sub {
    my $lock = $t->lock('mine');
    my $iterator = $t->iterator;
    $q->pop for 1 .. 3;
    my $job = $q->job;
    my @refused = threads->create({ context => 'list' }, sub {
        return map { my $call = $_; eval { $call->(); 1 } ? 'worked' : ref $@ }
            sub { $lock->is_held }, sub { $iterator->next }, sub { $job->value };
    })->join;
    is_deeply(\@refused, [ ('Tavola::Error::Argument') x 3 ], 'their copies are empty');
    is(threads->create(sub { $t->lock('mine', timeout => 0) })->join, undef, 'threads exclude');
    ok($lock->is_held, 'the lock is still held');
    is($t->lock('mine', timeout => 0), undef, 'and nobody else gets it');
    ok(defined $iterator->next, 'the iterator goes on');
    ok($job->done, 'the job is still held');
};

subtest 'transactions' => sub {
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    my $refused;
    $t->transaction(sub {
        my ($txn) = @_;
        $txn->set('own', 1);
        $refused = threads->create(sub { eval { $txn->get('own'); 1 } ? 'worked' : ref $@ })->join;
        $txn->set('own', 2);
    }, once => 1);
    is($refused, 'Tavola::Error::Argument', 'the copy of another thread is empty');
    is($t->get('own'), 2, 'the thread that began it commits');
    my @threads = map {
        threads->create(sub { $t->transaction(sub { $_[0]->incr('sum') }) for 1 .. 200; 1 })
    } 1 .. 4;
    $_->join for @threads;
    is($t->get('sum'), 800, 'threads have their own');
    is_deeply(\@warnings, [], 'no warnings');
};

subtest 'a thread closes only its own handle' => sub {
    threads->create(sub { $t->close; $q->close; $log->close })->join;
    ok($t->set('a', 1), 'the table is open');
    ok($q->push('a'), 'the queue is open');
    threads->create(sub { threads->create(sub { $t->set('nested', 1) })->join })->join;
    is($t->get('nested'), 1, 'a thread of a thread');
};

done_testing;

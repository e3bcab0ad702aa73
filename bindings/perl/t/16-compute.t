use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep time);

my $t = table();

subtest 'one process' => sub {
    my $calls = 0;
    my $make = sub { $calls++; return { rows => [ 1, 2 ] } };
    is_deeply($t->compute('page', ttl => 100, $make), { rows => [ 1, 2 ] }, 'is computed');
    is_deeply($t->compute('page', ttl => 100, $make), { rows => [ 1, 2 ] }, 'is read');
    is($calls, 1, 'was computed once');
    ok($t->ttl('page') > 90, 'has the ttl');
    is($t->compute('ever', sub { 7 }), 7, 'without a ttl');
    ok($t->ttl('ever') > 1e9, 'it lives for a thousand years');
    my $timed = table(ttl => 100);
    $timed->compute('k', sub { 1 });
    ok($timed->ttl('k') > 90 && $timed->ttl('k') <= 100, 'or as long as the table says');
    is($t->compute('none', sub { undef }), undef, 'undef is a value');
    ok($t->exists('none'), 'and is stored');
    is($t->compute('page', sub { die 'not called' })->{rows}[1], 2, 'options do not matter');
};

subtest 'errors' => sub {
    is(error_of(sub { $t->compute('bad', sub { die "no database\n" }) }), "no database\n",
        'the error of the function is thrown on');
    dies(sub { $t->compute('bad', sub { 1 }) }, 'NotComputed', qr/no database/,
        'others get it for a while');
    is(error_of(sub { $t->compute('brief', back_off => 0.001, sub { die { code => 5 } }) })->{code},
        5, 'an error that is a reference');
    my $end = time + 10;
    my $value;
    while (!defined $value && time < $end) {
        $value = eval { $t->compute('brief', sub { 'again' }) };
    }
    is($value, 'again', 'after the back-off it is computed');
};

subtest 'a table without room' => sub {
    my $small = Tavola->open('small', max_size => '1M');
    is(length $small->compute('k', sub { 'x' x (4 << 20) }), 4 << 20, 'the value is returned');
    ok(!$small->exists('k'), 'and is not stored');
    dies(sub { $small->compute('k', sub { \'x' }) }, 'Argument', qr/is not JSON/,
        'a value of another kind is an error');
};

subtest 'stale values' => sub {
    is($t->compute('news', ttl => 0, stale => 100, sub { 'old' }), 'old', 'stale at once');
    is($t->compute('news', ttl => 100, stale => 100, sub { 'new' }), 'new',
        'the one that gets the lease computes it');
    is($t->get('news'), 'new', 'and stores it');
    is($t->compute('early', ttl => 100, early => 1, sub { [ 1 ] })->[0], 1, 'with early');
    is_deeply($t->get('early'), [ 1 ], 'the kind is kept');
    is(($t->entry('early')->{flags} & 0xFFFF0000), 0x54040000, 'in the flags');
};

subtest 'tags' => sub {
    $t->compute('tagged', tags => [ 'a', 'b' ], sub { 1 });
    is_deeply([ sort $t->tags_of('tagged') ], [ 'a', 'b' ], 'the value has them');
    $t->invalidate('a');
    ok(!$t->exists('tagged'), 'and is invalidated');
    $t->compute('tagged', tags => 'c', sub { $t->invalidate('c'); return 'old' });
    ok(!$t->exists('tagged'), 'an invalidation meanwhile is not missed');
};

subtest 'many processes' => sub {
    my @workers;
    for (1 .. 6) {
        push @workers, [ child_says(sub {
            my ($to) = @_;
            my $value = $t->compute('shared', ttl => 100, sub {
                $t->incr('computed');
                sleep 0.1;
                return "by $$";
            });
            print {$to} $value;
        }) ];
    }
    my %values;
    for my $worker (@workers) {
        my $from = $worker->[1];
        $values{<$from>}++;
    }
    ok(reap(map { $_->[0] } @workers), 'all workers ended well');
    is($t->get('computed'), 1, 'one of six computed it');
    is(scalar(keys %values), 1, 'all got the same value');
};

subtest 'a killed process' => sub {
    my ($pid, $from) = child_says(sub {
        my ($to) = @_;
        $t->compute('lost', sub { print {$to} "begun\n"; sleep 60 });
    });
    is(<$from>, "begun\n", 'a child computes');
    dies(sub { $t->compute('lost', timeout => 0.05, sub { 'mine' }) }, 'NotComputed',
        qr/in time/, 'others wait, at most for the timeout');
    kill KILL => $pid;
    waitpid $pid, 0;
    is($t->compute('lost', sub { 'mine' }), 'mine', 'when it is killed, another computes');
};

subtest 'signals' => sub {
    my $lock = $t->lock('busy');
    local $SIG{ALRM} = sub { die "alarm\n" };
    Time::HiRes::ualarm(50_000);
    is(error_of(sub { $t->lock('busy') }), "alarm\n", 'a signal handler ends a wait');
};

done_testing;

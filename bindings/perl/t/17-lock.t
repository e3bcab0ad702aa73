use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep);

my $t = table();

subtest 'one process' => sub {
    my $lock = $t->lock('report');
    isa_ok($lock, 'Tavola::Lock');
    ok($lock->is_held, 'is held');
    is($t->lock('report', timeout => 0), undef, 'it is not given twice');
    is($t->lock('report', timeout => 0.02), undef, 'nor after a wait');
    isa_ok($t->lock('other', timeout => 0), 'Tavola::Lock', 'another name');
    my $same = Tavola->open($t->path);
    is($same->lock('report', timeout => 0), undef, 'nor to another handle');
    ok($lock->unlock, 'unlock');
    ok(!$lock->unlock, 'is done once');
    { my $again = $t->lock('report', timeout => 0); ok($again, 'it is free again'); }
    ok($t->lock('report', timeout => 0), 'a guard releases it at the end of its scope');
    ok(!$t->exists("\0lock\0report"), 'a lock is no key');
    $t->set("\0lock\0taken", 1);
    dies(sub { $t->lock('taken') }, 'Argument', qr/has a value/, 'a key of that name');
    dies(sub { $t->lock('x', wait => 5) }, 'Argument', qr/no option 'wait'/, 'an option');
    my $cache = Tavola->open('cache', capacity => '4M');
    ok($cache->lock('a'), 'a cache has locks, too');
};

subtest 'processes take turns' => sub {
    $t->set('balance', 0);
    my @children = map {
        in_child(sub {
            for (1 .. 50) {
                my $lock = $t->lock('account');
                my $balance = $t->get('balance');
                sleep 0.0001;
                $t->set('balance', $balance + 1);
            }
        })
    } 1 .. 4;
    ok(reap(@children), 'all children ended well');
    is($t->get('balance'), 200, 'no change was lost');
};

subtest 'a barrier' => sub {
    ok($t->barrier('one', 1), 'one caller does not wait');
    ok(!$t->barrier('two', 2, 0), 'no time for the other');
    ok(!$t->barrier('two', 2, 0.12), 'the other does not come');
    is($t->get('two'), 0, 'a call that has returned no longer counts');
    my @says = map {
        [ child_says(sub {
            my ($to) = @_;
            print {$to} "came\n";
            $t->barrier('three', 3, 30) or die 'not all came';
            $t->incr('through');
        }) ]
    } 1 .. 2;
    is(readline $_->[1], "came\n", 'a child comes') for @says;
    sleep 0.2;
    is($t->get('through'), undef, 'the children wait, in slices');
    ok($t->barrier('three', 3, 30), 'the last one comes');
    waitpid $_->[0], 0 for @says;
    is($t->get('through'), 2, 'then all have passed');
    dies(sub { $t->barrier('x', 0) }, 'Argument', qr/1 to 2\^32 - 1 callers, and not 0/, 'none');
    dies(sub { $t->barrier('x', 2**32) }, 'Argument', qr/and not 4294967296/, 'too many');
    dies(sub { $t->barrier('x', 2, 'soon') }, 'Argument', qr/'soon'/, 'a time');
    $t->set('text', 'a');
    dies(sub { $t->barrier('text', 2, 0) }, 'NotACounter', qr/decimal number/, 'another value');
};

subtest 'a killed holder' => sub {
    my ($pid, $from) = child_says(sub {
        my ($to) = @_;
        my $lock = $t->lock('crash');
        print {$to} "held\n";
        sleep 60;
    });
    is(<$from>, "held\n", 'a child holds the lock');
    is($t->lock('crash', timeout => 0), undef, 'it is not free');
    kill KILL => $pid;
    waitpid $pid, 0;
    ok($t->lock('crash', timeout => 10), 'when the child is killed, it is free');
};

subtest 'fork' => sub {
    my $lock = $t->lock('parent');
    ok(reap(in_child(sub { undef $lock })), 'a child drops its copy of the guard');
    is($t->lock('parent', timeout => 0), undef, 'the parent still holds the lock');
    ok($lock->is_held, 'and knows it');
};

done_testing;

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
    is($t->size, 0, 'a lock is no key');
    ok(!$t->lock('report')->owner_died, 'nobody died');
    dies(sub { $t->lock('x', wait => 5) }, 'Argument', qr/no option 'wait'/, 'an option');
    dies(sub { $t->lock('') }, 'BadName', qr/1 to 56 bytes/, 'no name');
    dies(sub { $t->lock('x' x 57) }, 'BadName', qr/1 to 56 bytes/, 'a long name');
    dies(sub { $t->lock("a\0b") }, 'Argument', qr/no byte 0/, 'a byte 0');
    dies(sub { $t->lock("\xff") }, 'Argument', qr/UTF-8/, 'bytes that are not UTF-8');
    my $smiles = $t->lock("\x{263a}" x 18, timeout => 0);
    ok($smiles, 'characters');
    is($t->lock("\xe2\x98\xba" x 18, timeout => 0), undef, 'and their bytes are one name');
    ok(Tavola->open('cache', capacity => '4M')->lock('a'), 'a cache has locks, too');
    my $durable = Tavola->open("$ENV{TAVOLA_DIR}/durable", durable => 'commit');
    ok($durable->lock('a'), 'and a durable table');
    my $reader = Tavola->open($t->path, read_only => 1);
    dies(sub { $reader->lock('x') }, 'ReadOnly', qr/read-only/, 'without the right to write');
};

subtest 'shared' => sub {
    my $one = $t->lock('prices', shared => 1);
    my $two = $t->lock('prices', shared => 1, timeout => 0);
    ok($one->is_shared && $two->is_shared, 'two share it');
    is($t->lock('prices', timeout => 0), undef, 'nobody has it alone');
    $one->unlock;
    is($t->lock('prices', timeout => 0.02), undef, 'as long as one shares it');
    undef $two;
    my $alone = $t->lock('prices', timeout => 0);
    ok($alone && !$alone->is_shared, 'then it is free');
    is($t->lock('prices', shared => 1, timeout => 0), undef, 'and not shared');
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
    my $next = $t->lock('crash', shared => 1, timeout => 30);
    ok($next, 'when the child is killed, it is free');
    ok($next->owner_died && !$next->is_shared, 'the next one learns it, and has it alone');
    $next->unlock;
    ok(!$t->lock('crash', timeout => 0)->owner_died, 'and nobody after it');
    ($pid, $from) = child_says(sub {
        my ($to) = @_;
        my $lock = $t->lock('readers', shared => 1);
        print {$to} "held\n";
        sleep 60;
    });
    is(<$from>, "held\n", 'a child shares a lock');
    kill KILL => $pid;
    waitpid $pid, 0;
    ok(!$t->lock('readers', timeout => 30)->owner_died, 'its death is nobody\'s loss');
};

subtest 'fork' => sub {
    my $lock = $t->lock('parent');
    ok(reap(in_child(sub {
        die 'it is held' if $lock->is_held;
        die 'it is free' if $t->lock('parent', timeout => 0);
        die 'it was released' if $lock->unlock;
    })), 'a child does not hold it');
    ok(reap(in_child(sub { undef $lock })), 'a child drops its copy of the guard');
    is($t->lock('parent', timeout => 0), undef, 'the parent still holds the lock');
    ok($lock->is_held, 'and knows it');
};

done_testing;

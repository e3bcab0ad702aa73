use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

subtest 'all changes or none' => sub {
    my $t = table();
    $t->set('alice', 10);
    my $other = Tavola->open($t->path);
    my $left = $t->transaction(sub {
        my ($txn) = @_;
        $txn->incr('bob', 4);
        is($other->get('bob'), undef, 'another handle does not see a write');
        is($txn->get('bob'), 4, 'the transaction does');
        return $txn->decr('alice', 4);
    });
    is($left, 6, 'returns the value of the function');
    is_deeply([ $other->get_list('alice', 'bob') ], [ 6, 4 ], 'all changes are there');
    is_deeply([ $t->transaction(sub { (1, 2, 3) }) ], [ 1, 2, 3 ], 'a list in list context');
    my $context = 'none';
    $t->transaction(sub { $context = wantarray });
    is($context, undef, 'void context reaches the function');
};

subtest 'calls and values' => sub {
    my $t = table(serializer => 'storable');
    $t->set('old', bless({ a => 1 }, 'Thing'));
    $t->set('word', 'ab');
    $t->transaction(sub {
        my ($txn) = @_;
        isa_ok($txn, 'Tavola::Transaction');
        isa_ok($txn->get('old'), 'Thing', 'what the serializer made');
        ok($txn->set('text', "\x{263a}", ttl => 100, tags => [ 'home' ]), 'set');
        $txn->set('short', 'x', 5);
        $txn->set('list', [ 1, undef ]);
        is_deeply($txn->get('list'), [ 1, undef ], 'get');
        ok($txn->add('added', 1.5), 'add of a missing key');
        ok(!$txn->add('added', 2), 'add of a key');
        ok($txn->replace('added', 2.5), 'replace of a key');
        ok(!$txn->replace('none', 1), 'replace of a missing key');
        ok($txn->append('word', 'c'), 'append');
        ok(!$txn->append('none', 'c'), 'append to a missing key');
        ok($txn->exists('word') && !$txn->exists('none'), 'exists');
        is(ref $txn->take('old'), 'Thing', 'take');
        is($txn->take('old'), undef, 'take of a missing key');
        ok($txn->delete('list') && !$txn->delete('list'), 'delete');
        is($txn->incr('n'), 1, 'incr');
        is($txn->decr('n', 3), -2, 'decr');
        is($txn->incr('id', 1, initial => 1000, ttl => 50), 1001, 'initial');
        is($txn->get('missing'), undef, 'get of a missing key');
    });
    is($t->get('text'), "\x{263a}", 'text');
    cmp_ok($t->ttl('text'), '>', 90, 'ttl');
    is_deeply([ $t->tags_of('text') ], ['home'], 'tags');
    cmp_ok($t->ttl('short'), '<=', 5, 'ttl as a single argument');
    is($t->get('added'), 2.5, 'a float');
    is($t->get('word'), 'abc', 'appended');
    ok(!$t->exists('old') && !$t->exists('list'), 'removed');
    is($t->entry('n')->{flags}, 0x54020000, 'a number has the kind of a number');
    cmp_ok($t->ttl('id'), '<=', 50, 'ttl of a number');
    $t->invalidate('home');
    ok(!$t->exists('text'), 'the tag works');
};

subtest 'fixed lengths and text keys' => sub {
    my $t = table(fixed_key => 4, fixed_value => 4);
    $t->transaction(sub { $_[0]->set('aaaa', 1234); $_[0]->incr('nnnn', 1000) });
    is_deeply([ $t->get_list('aaaa', 'nnnn') ], [ 1234, 1000 ], 'numbers without flags');
    my $keys = table(utf8_keys => 1);
    $keys->transaction(sub { $_[0]->set("\xe9", 1) });
    my $key = "\xe9";
    utf8::upgrade($key);
    is($keys->get($key), 1, 'a key as text');
};

subtest 'a conflict runs the function again' => sub {
    my $t = table();
    my $other = Tavola->open($t->path);
    $t->set('n', 1);
    my $runs = 0;
    my $sum = $t->transaction(sub {
        my ($txn) = @_;
        my $n = $txn->get('n');
        $other->set('n', 10) if ++$runs == 1;
        $txn->set('n', $n + 1);
        return $n + 1;
    });
    is($runs, 2, 'two runs');
    is($sum, 11, 'the value of the last run');
    is($t->get('n'), 11, 'nothing is lost');
    $runs = 0;
    $t->transaction(sub {
        my ($txn) = @_;
        $txn->incr('n');
        $other->incr('n') if ++$runs <= 12;
    });
    is($runs, 13, 'also after the turn was taken');
    is($t->get('n'), 24, 'every sum counts');
};

subtest 'once' => sub {
    my $t = table();
    my $other = Tavola->open($t->path);
    is($t->transaction(sub { $_[0]->incr('n') }, once => 1), 1, 'without a conflict');
    my ($runs, $line) = (0);
    my $error = error_of(sub {
        $line = __LINE__ + 1;
        $t->transaction(sub { $runs++; $_[0]->incr('n'); $other->set('n', 5) }, once => 1);
    });
    isa_ok($error, 'Tavola::Error::Conflict');
    is_deeply([ $error->name, $error->status ], [ 'CONFLICT', 8 ], 'name and status');
    is($error->line, $line, 'line of the caller');
    is($runs, 1, 'one run');
    is($t->get('n'), 5, 'nothing was changed');
    dies(sub { $t->transaction(sub { $t->transaction(sub { }, once => 1) }, once => 1) },
        'Reentrant', qr/\S/, 'the turn within the turn');
    ok($t->transaction(sub { 1 }, once => 1), 'the turn is free again');
};

subtest 'an exception aborts' => sub {
    my $t = table();
    my $thrown = { code => 7 };
    my $error = error_of(sub { $t->transaction(sub { $_[0]->set('a', 1); die $thrown }) });
    is($error, $thrown, 'the same reference');
    is(error_of(sub { $t->transaction(sub { die "text\n" }, once => 1) }), "text\n", 'a string');
    is(error_of(sub { $t->read_together(sub { die "text\n" }) }), "text\n", 'of a view');
    dies(sub { $t->transaction(sub { $_[0]->set('a', 'x'); $_[0]->incr('a') }) },
        'NotACounter', qr/\S/, 'of the library');
    ok(!$t->exists('a'), 'nothing was changed');
    $@ = 'before';
    $t->transaction(sub { eval { die 'inside' }; $_[0]->set('b', 1) });
    is($@, 'before', 'the variable of errors stays');
    is($t->get('b'), 1, 'an error that the function catches does not count');
};

# Calls code with a function that reads two keys, between which another process changes both in the
# first run. It returns whether they are equal.
sub disturbed {
    my ($code) = @_;
    my $t = table();
    my $other = Tavola->open($t->path);
    $t->set_multi({ a => 1, b => 1 });
    my $runs = 0;
    my @result = eval {
        $code->($t, sub {
            my ($txn) = @_;
            my $a = $txn->get('a');
            $other->transaction(sub { $_[0]->incr('a'); $_[0]->incr('b') }) if ++$runs == 1;
            return $a == $txn->get('b');
        });
    };
    my $error = $@;
    ok(!$t->exists('c'), 'nothing else was changed');
    return ($runs, $error, @result);
}

subtest 'a run that has seen two moments does not count' => sub {
    my @ways = (
        [ 'die', sub { die "a is not b\n" } ],
        [ 'a reference', sub { die { code => 7 } } ],
        [ 'an error of the library', sub { $_[0]->set('c', 'x'); $_[0]->incr('c') } ],
        [ 'abort', sub { $_[0]->abort } ],
        [ 'abort that is caught', sub { eval { $_[0]->abort } } ],
    );
    for my $way (@ways) {
        my ($name, $leave) = @$way;
        my $function = sub {
            my ($equal) = @_;
            return sub { $equal->($_[0]) || ($_[0]->set('c', 1), $leave->($_[0])); 'end' };
        };
        is_deeply([ disturbed(sub { $_[0]->transaction($function->($_[1])) }) ],
            [ 2, '', 'end' ], "$name: runs again");
        my ($runs, $error) =
            disturbed(sub { $_[0]->transaction($function->($_[1]), once => 1) });
        isa_ok($error, 'Tavola::Error::Conflict', "$name, once: is a conflict,");
        is($runs, 1, 'and runs once');
    }
    my $view = sub {
        my ($t, $equal) = @_;
        return $t->read_together(sub { $equal->($_[0]) or die "a is not b\n"; 'end' });
    };
    is_deeply([ disturbed($view) ], [ 2, '', 'end' ], 'read_together: runs again');
    my $t = table();
    my $runs = 0;
    is(error_of(sub {
        $t->transaction(sub { $runs++; die "equal\n" if !$_[0]->exists('a') && !$_[0]->exists('b') });
    }), "equal\n", 'an error of a run that counts is thrown');
    is($runs, 1, 'at once');
};

subtest 'what a signal handler throws always counts' => sub {
    my ($runs, $error) = disturbed(sub {
        my ($t, $equal) = @_;
        local $SIG{ALRM} = sub { die "time is up\n" };
        $t->transaction(sub {
            return if $equal->($_[0]);
            kill ALRM => $$;
            select undef, undef, undef, 5;
        });
    });
    is_deeply([ $runs, $error ], [ 1, "time is up\n" ], 'also in a run that does not');
    # The handler has been left by `die`; a later transaction does not take its errors for that.
    ($runs) = disturbed(sub { my ($t, $equal) = @_;
        $t->transaction(sub { $equal->($_[0]) or die "a is not b\n" }) });
    is($runs, 2, 'the next transaction runs again');
};

subtest 'abort' => sub {
    my $t = table();
    my $after = 0;
    my @list = $t->transaction(sub { $_[0]->set('a', 1); $_[0]->abort; $after = 1 });
    is_deeply(\@list, [], 'an empty list');
    is(scalar $t->transaction(sub { $_[0]->abort }, once => 1), undef, 'undef in scalar context');
    is($t->read_together(sub { $_[0]->abort }), undef, 'of a view');
    is($t->transaction(sub { eval { $_[0]->set('a', 1); $_[0]->abort }; 'kept' }), undef,
        'also if the function catches it');
    is($after, 0, 'the function is left');
    my $inner = 'not set';
    my $outer = $t->transaction(sub {
        my ($txn) = @_;
        $inner = $t->transaction(sub { $_[0]->set('a', 1); $txn->abort });
        $inner = 'came back';
    });
    is($outer, undef, 'of the outer one');
    is($inner, 'not set', 'leaves both');
    ok(!$t->exists('a'), 'nothing was changed');
};

subtest 'the end of the object' => sub {
    my $t = table();
    my $kept;
    $t->transaction(sub { $kept = $_[0]; $kept->set('a', 1) });
    my @calls = (
        sub { $kept->get('a') },  sub { $kept->set('a', 2) }, sub { $kept->incr('a') },
        sub { $kept->savepoint }, sub { $kept->abort },       sub { $kept->exists('a') },
        sub { $kept->delete('a') }, sub { $kept->append('a', 'x') }, sub { $kept->roll_back_to(0) },
    );
    dies($_, 'Argument', qr/transaction is closed/, 'a call after the end') for @calls;
    is($t->get('a'), 1, 'it changes nothing');
    eval { $t->transaction(sub { $kept = $_[0]; die "no\n" }, once => 1) };
    dies(sub { $kept->get('a') }, 'Argument', qr/closed/, 'after an exception');
    ok($t->transaction(sub { 1 }, once => 1), 'an object that is kept does not keep the turn');
    no warnings 'exiting';
    my $rounds = 0;
    for (1 .. 3) {
        $rounds++;
        $t->transaction(sub { $kept = $_[0]; $_[0]->set('a', 5); last }, once => 1);
    }
    is($rounds, 1, 'last leaves the loop of the caller');
    is($t->get('a'), 1, 'and aborts');
    dies(sub { $kept->get('a') }, 'Argument', qr/closed/, 'and closes the object');
    ok($t->transaction(sub { 1 }, once => 1), 'and gives the turn back');
    dies(sub { Tavola::Transaction::get($t, 'a') }, 'Argument', qr/not a Tavola::Trans/, 'forged');
    $t->transaction(sub { $kept = $_[0]; $kept->{self} = $kept });
    dies(sub { $kept->get('a') }, 'Argument', qr/closed/, 'a cycle is closed, too');
    dies(sub { $t->transaction(sub { $t->close; $_[0]->set('a', 3) }) }, 'Argument',
        qr/table is closed/, 'the table is closed meanwhile');
};

subtest 'exit of a child' => sub {
    my $t = table();
    my $pid = fork // die $!;
    if (!$pid) {
        # The code of the child ends as a program does, without the tests of this one.
        Test::More->builder->no_ending(1);
        $t->transaction(sub { $_[0]->set('a', 1); exit 3 }, once => 1);
    }
    waitpid $pid, 0;
    is($? >> 8, 3, 'ends with its own code');
    ok(!$t->exists('a'), 'nothing was changed');
    ok($t->transaction(sub { $_[0]->set('a', 1) }, once => 1), 'the turn is free');
};

subtest 'a child that is forked inside' => sub {
    my $t = table();
    my $result = $t->transaction(sub {
        my ($txn) = @_;
        $txn->set('a', 1);
        my $child = fork // die $!;
        if (!$child) {
            Test::More->builder->no_ending(1);
            exit 0;
        }
        ok(reap($child), 'it ends, and its copy of the transaction with it');
        return $txn->get('a');
    }, once => 1);
    is($result, 1, 'the transaction goes on');
    is($t->get('a'), 1, 'and commits');
};

subtest 'a child that is forked inside and goes on' => sub {
    my $t = table();
    my $parent = $$;
    my $child;
    my $error = error_of(sub {
        $t->transaction(sub { $_[0]->incr('a'); $child = fork // die $! }, once => 1);
    });
    if ($$ != $parent) {
        Test::More->builder->no_ending(1);
        exit(ref $error eq 'Tavola::Error::Argument' && $error =~ /of its parent/ ? 0 : 1);
    }
    is($error, undef, 'the parent commits');
    ok(reap($child), 'the child does not');
    is($t->get('a'), 1, 'it was done once');
};

subtest 'savepoints' => sub {
    my $t = table();
    $t->transaction(sub {
        my ($txn) = @_;
        $txn->set('order', 7);
        my $before = $txn->savepoint;
        $txn->set('gift', 'book');
        $txn->set('order', 8);
        my $later = $txn->savepoint;
        ok($txn->roll_back_to($before), 'rolled back');
        ok(!$txn->exists('gift'), 'a write after it is gone');
        dies(sub { $txn->roll_back_to($later) }, 'BadOption', qr/savepoint/, 'a later one');
        dies(sub { $txn->roll_back_to(-1) }, 'BadOption', qr/savepoint/, 'none');
        $txn->set('last', 1);
    });
    is_deeply([ $t->get_list('order', 'gift', 'last') ], [ 7, undef, 1 ], 'what is left');
};

subtest 'read_together' => sub {
    my $t = table();
    my $other = Tavola->open($t->path);
    $t->set_multi({ a => 1, b => 1 });
    my $runs = 0;
    my @seen = $t->read_together(sub {
        my ($txn) = @_;
        my $a = $txn->get('a');
        $other->transaction(sub { $_[0]->set('a', 2); $_[0]->set('b', 2) }) if ++$runs == 1;
        return ($a, $txn->get('b'));
    });
    is_deeply(\@seen, [ 2, 2 ], 'the values of one moment');
    is($runs, 2, 'two runs');
    dies(sub { $t->read_together(sub { $_[0]->set('a', 3) }) }, 'ReadOnly', qr/\S/, 'a write');
    my $reader = Tavola->open($t->path, read_only => 1);
    is($reader->read_together(sub { $_[0]->get('a') }), 2, 'of a table open for reading');
};

subtest 'what is refused' => sub {
    my $cache = table(capacity => '4M');
    dies(sub { $cache->transaction(sub { }) }, 'BadOption', qr/cache/, 'a cache');
    dies(sub { $cache->read_together(sub { }) }, 'BadOption', qr/cache/, 'a view of a cache');
    my $t = table();
    dies(sub { $t->transaction('no') }, 'Argument', qr/function/, 'not a function');
    dies(sub { $t->transaction(sub { }, 'once') }, 'Argument', qr/pairs/, 'half a pair');
    dies(sub { $t->transaction(sub { }, twice => 1) }, 'Argument', qr/option 'twice'/, 'an option');
    dies(sub { $t->transaction(sub { $_[0]->set("k$_", 1) for 0 .. 65_536 }) },
        'TooManyChanges', qr/65,?536/, 'too many changes');
    is($t->size, 0, 'nothing was changed');
    $t->transaction(sub { $_[0]->set("k$_", 1) for 1 .. 1000 });
    is($t->size, 1000, 'many changes');
};

for my $once (0, 1) {
    subtest "four processes, once => $once" => sub { four_processes($once) };
}

# Moves money between accounts in four processes. With `once`, all take the turn, so none conflicts.
sub four_processes {
    my ($once) = @_;
    my $t = table();
    $t->set_multi({ map { ("account:$_" => 100) } 0 .. 3 });
    my @children = map {
        my $child = $_;
        in_child(sub {
            for my $i (1 .. 200) {
                my ($from, $to) = map { "account:" . ($child + $_) % 4 } $i, $i + 1 + $i % 3;
                $t->transaction(sub {
                    my ($txn) = @_;
                    $txn->decr($from);
                    $txn->incr($to);
                    $txn->incr('done');
                }, once => $once);
                my $sum = $t->read_together(sub { sum_of($_[0]) });
                die "the sum is $sum" if $sum != 400;
            }
        });
    } 0 .. 3;
    ok(reap(@children), 'all children saw the sum at all times');
    is($t->read_together(sub { sum_of($_[0]) }), 400, 'the sum is right');
    is($t->get('done'), 800, 'all transactions were done');
    is_deeply($t->check->{problems}, [], 'the table is sound');
    return;
}

# Returns the sum of the accounts.
sub sum_of {
    my ($txn) = @_;
    my $sum = 0;
    $sum += $txn->get("account:$_") for 0 .. 3;
    return $sum;
}

subtest 'no leak' => sub {
    my $t = table();
    my $one = sub {
        my ($i) = @_;
        $t->transaction(sub { $_[0]->incr('n'); $_[0]->set('a', [$i]); $_[0]->take('a') });
        $t->transaction(sub { $_[0]->set('b', 'x' x 500); $_[0]->abort });
        eval { $t->transaction(sub { $_[0]->get('n'); die "no\n" }) };
        return $t->read_together(sub { $_[0]->get('n') });
    };
    $one->($_) for 1 .. 500;
    my $before = rss_kib();
    $one->($_) for 1 .. 5000;
    my $after = rss_kib();
    cmp_ok($after - $before, '<', 4096, '20,000 transactions: less than 4 MiB more')
        or diag("$before KiB before, $after KiB after");
    is($t->get('n'), 5500, 'and every one was done');
};

done_testing;

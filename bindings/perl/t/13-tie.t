use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

my $object = tie my %h, 'Tavola', 'tied', max_size => '16M';
isa_ok($object, 'Tavola');

subtest 'one key' => sub {
    $h{a} = 'one';
    is($h{a}, 'one', 'STORE and FETCH');
    ok(exists $h{a}, 'EXISTS');
    ok(!exists $h{b}, 'a missing key');
    is($h{b}, undef, 'FETCH of a missing key');
    is(delete $h{a}, 'one', 'DELETE returns the value');
    is(delete $h{a}, undef, 'DELETE of a missing key');
    $h{a} = 1;
    delete $h{a};
    ok(!exists $h{a}, 'DELETE without a result');
    $h{list} = [ 1, { two => 2 } ];
    is($h{list}[1]{two}, 2, 'a structure');
    $h{count}++;
    $h{count} += 5;
    is($h{count}, 6, 'read, changed and stored');
    is($object->incr('count', 4), 10, 'the object counts on');
};

subtest 'all keys' => sub {
    %h = map { ("key$_" => $_) } 1 .. 100;
    is(scalar(%h), 100, 'SCALAR is the number of keys');
    is(scalar(keys %h), 100, 'keys');
    is_deeply([ sort keys %h ], [ sort map { "key$_" } 1 .. 100 ], 'FIRSTKEY and NEXTKEY');
    my $sum = 0;
    while (my ($key, $value) = each %h) {
        is($key, "key$value", 'each') if $value == 50;
        $sum += $value;
    }
    is($sum, 5050, 'each gives every key');
    is(scalar(grep { $_ > 90 } values %h), 10, 'values');
    while (my ($key) = each %h) {
        delete $h{$key} if $h{$key} > 50;
    }
    is(scalar(%h), 50, 'keys can be deleted in a loop');
    my %copy = %h;
    is_deeply(\%copy, { map { ("key$_" => $_) } 1 .. 50 }, 'a copy');
    is_deeply([ @h{qw(key1 key2)} ], [ 1, 2 ], 'a slice');
    %h = ();
    ok(!%h, 'CLEAR, and an empty hash is false');
};

subtest 'untie' => sub {
    $h{kept} = 1;
    undef $object;
    untie %h;
    is_deeply([ keys %h ], [], 'no longer tied');
    is(Tavola->open('tied')->get('kept'), 1, 'the table stays');
    ok(Tavola->can($_), $_)
        for qw(TIEHASH FETCH STORE DELETE CLEAR EXISTS FIRSTKEY NEXTKEY SCALAR UNTIE DESTROY);
};

subtest 'aliases and magic' => sub {
    tie my %m, 'Tavola', 'magic', max_size => '16M';
    local $_ = 'key';
    "abc" =~ /(b)/;
    $m{$1} = $1;
    is($m{b}, 'b', 'a match variable as key and value');
    my $t = tied %m;
    $t->set($m{b}, $m{b});
    is($t->get($m{b}), 'b', 'an element of a tied hash as an argument');
    $m{$_} = $_ for 1 .. 3;
    is($m{2}, 2, 'a loop variable');
    my $long = substr 'xyz' x 50, 1, 90;
    $m{sub} = $long;
    is($m{sub}, $long, 'a longer value');
};

done_testing;

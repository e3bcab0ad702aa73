use strict;
use warnings;

use lib 't/lib';
use Test::More;
use Tie::Array;
use TavolaTest;

my $t = table();
my %data = map { ("user:$_" => $_ % 2 ? $_ : "name$_") } 1 .. 200;

subtest 'batches' => sub {
    ok($t->set_multi(\%data), 'set_multi');
    is($t->size, 200, 'all are there');
    is_deeply($t->get_multi(keys %data), \%data, 'get_multi with their kinds');
    is_deeply($t->get_multi([ 'user:1', 'none' ]), { 'user:1' => 1 }, 'a list, a missing key');
    is_deeply($t->get_multi, {}, 'no keys');
    my @names = sort keys %data;
    is_deeply([ $t->get_list(@names) ], [ @data{@names} ], 'get_list in order');
    is_deeply([ $t->get_list([ 'none', 'user:1' ]) ], [ undef, 1 ], 'a missing key is undef');
    is_deeply([ $t->get_list ], [], 'no keys, no values');
    is_deeply($t->get_multi([]), {}, 'an empty list');
    $t->set_multi([ p => 1, q => [ 2 ], p => 3 ], ttl => 60);
    is_deeply($t->get_multi('p', 'q'), { p => 3, q => [ 2 ] }, 'set_multi of a list, in order');
    $t->delete_multi('p', 'q');
    $t->set_multi({ brief => 1, long => 'x' x 5000 }, ttl => 60);
    ok($t->ttl('brief') > 50, 'a ttl for all');
    is(length $t->get_multi('long')->{long}, 5000, 'a long value');
    is($t->delete_multi('brief', 'long', 'none'), 2, 'delete_multi returns how many existed');
    is($t->delete_multi([ 'user:1' ]), 1, 'of a list');
    is($t->size, 199, 'are gone');
    # Perl keeps the first of these keys as Latin-1 inside of a hash.
    my %wide = ("gr\x{fc}n" => 1, "\x{263a}" => 2, "\xff" => 3);
    my $latin = "\x{fc}";
    utf8::upgrade($latin);
    $wide{$latin} = 4;
    $t->set_multi(\%wide);
    is($t->get($latin), 4, 'a text key of Latin-1 characters');
    is($t->get("\x{263a}"), 2, 'a text key');
    is($t->get("\xff"), 3, 'a key of bytes');
    is_deeply($t->get_multi($latin, "\xff"), { $latin => 4, "\xff" => 3 }, 'are read');
    tie my %tied, 'Tavola', 'source', max_size => '16M';
    %tied = (p => 1, q => [ 2 ]);
    $t->set_multi(\%tied);
    is_deeply($t->get('q'), [ 2 ], 'from a tied hash');
    $t->delete_multi(keys %wide, 'p', 'q');
};

subtest 'iteration' => sub {
    $t->clear;
    $t->set_multi(\%data);
    $t->set("cart:$_", $_) for 1 .. 10;
    is(scalar(my @all = $t->keys), 210, 'all keys');
    is_deeply([ sort $t->keys('cart:') ], [ sort map { "cart:$_" } 1 .. 10 ], 'by a prefix');
    my %seen;
    is($t->each(sub { $seen{ $_[0] } = $_[1] }, 'user:'), 200, 'each returns how many');
    is_deeply(\%seen, \%data, 'each gives keys and values');
    my $iterator = $t->iterator('cart:');
    my $count = 0;
    while (my ($key, $value) = $iterator->next) {
        $count++;
        is($key, "cart:$value", 'an iterator') if $value == 1;
    }
    is($count, 10, 'gives each key');
    is_deeply([ $iterator->next ], [], 'and has ended');
    my $keys = $t->iterator('cart:');
    like(scalar $keys->next, qr/\Acart:/, 'in scalar context it gives the key');
    is($t->delete_prefix('cart:'), 10, 'delete_prefix returns how many');
    is($t->size, 200, 'the others stay');
    my $kept = $t->iterator;
    $t->close;
    dies(sub { $kept->next }, 'Argument', qr/closed/, 'the iterator of a closed table');
};

subtest 'set_multi with tags' => sub {
    my $t = table();
    $t->set_multi({ a => 1, b => 'two', c => 3 }, tags => [ 'x', 'y' ], ttl => 60);
    $t->set_multi([ b => 3 ]);
    is_deeply($t->get_multi('a', 'b'), { a => 1, b => 3 }, 'the keys are set');
    ok($t->ttl('a') > 50, 'with their time');
    $t->invalidate('y');
    is_deeply($t->get_multi('a', 'b', 'c'), { b => 3 }, 'all keys of the call have the tags');
    dies(sub { $t->set_multi({ a => 1 }, tags => [ {} ]) }, 'Argument', qr/a tag is/, 'no tag');
    ok(!$t->exists('a'), 'and nothing is set');
};

subtest 'set_multi of one kind and of several' => sub {
    my $t = table();
    my $text = "\x{263a}";
    my %kinds = (
        bytes => [ 0, 'a', 'b' ], text => [ 0x54010000, $text, $text x 2 ],
        integer => [ 0x54020000, -7, 0, ~0, -9223372036854775807 ],
        float => [ 0x54030000, 0.5, -1e300 ], json => [ 0x54040000, [1], {} ],
        several => [ undef, 'a', 7, $text, 0.5, [1], 'b', 8 ],
    );
    for my $kind (sort keys %kinds) {
        my ($flags, @values) = @{ $kinds{$kind} };
        my %pairs = map { ("$kind$_" => $values[$_]) } 0 .. $#values;
        for my $way ([ 'hash' => sub { +{%pairs} } ], [ 'list' => sub { [%pairs] } ]) {
            for my $ttl (undef, 60) {
                my $name = "$kind, a $way->[0], " . ($ttl ? 'a ttl' : 'no ttl');
                $t->clear;
                $t->set_multi($way->[1]->(), $ttl ? (ttl => $ttl) : ());
                is_deeply($t->get_multi(keys %pairs), \%pairs, $name);
                my @times = map { $t->ttl($_) } keys %pairs;
                is(scalar(grep { defined } @times), $ttl ? scalar @values : 0, "$name: times");
                next if !defined $flags;
                my @others = grep { $t->entry($_)->{flags} != $flags } keys %pairs;
                is("@others", '', "$name: flags");
            }
        }
    }
    is($t->set_multi([]) && $t->set_multi({}), 1, 'nothing to set');
    tie my @tied, 'Tie::StdArray';
    @tied = (a => 1, b => 'two');
    $t->set_multi(\@tied);
    is_deeply([ $t->get_list('a', 'b') ], [ 1, 'two' ], 'from a tied list');
    my @hole = (a => 1);
    $#hole = 3;
    $hole[2] = 'b';
    $t->set_multi(\@hole);
    is_deeply($t->get_multi('a', 'b'), { a => 1, b => undef }, 'a value that is missing is undef');
    dies(sub { $t->set_multi([ 'a' ]) }, 'Argument', qr/a value for each key/, 'an odd list');
};

done_testing;

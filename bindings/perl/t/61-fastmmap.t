# Runs the same calls on Tavola::FastMmap and, if it is installed, on Cache::FastMmap itself.
use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Tavola::FastMmap;

my $has_peer = eval { require Cache::FastMmap; 1 };
my @classes = ('Tavola::FastMmap', $has_peer ? 'Cache::FastMmap' : ());

sub calls {
    my ($class) = @_;
    my $c = $class->new(cache_size => '4m', enable_stats => 1);
    is($c->get('a'), undef, 'a missing key');
    ok($c->set('a', 'one'), 'set');
    is($c->get('a'), 'one', 'get');
    ok($c->set('s', { list => [ 1, undef ], text => "gr\x{fc}\x{263a}" }), 'a structure');
    is_deeply($c->get('s'), { list => [ 1, undef ], text => "gr\x{fc}\x{263a}" }, 'read back');
    ok($c->set("\x{263a}", 5), 'a wide key');
    is($c->get("\x{263a}"), 5, 'read back');
    is_deeply([ sort $c->get_keys ], [ sort 'a', 's', "\x{263a}" ], 'get_keys');
    is_deeply([ $c->get_statistics ], [ 4, 3 ], 'get_statistics');
    is_deeply([ $c->get_statistics(1) ], [ 4, 3 ], 'with clearing');
    is_deeply([ $c->get_statistics ], [ 0, 0 ], 'cleared');
    $c->remove('a');
    is($c->get('a'), undef, 'remove');

    is(scalar $c->get_and_set('n', sub { ($_[1] // 10) + 1 }), 11, 'get_and_set of a missing key');
    is_deeply([ $c->get_and_set('n', sub { $_[1] + 1 }) ], [ 12, 1 ], 'in list context');
    $c->get_and_set('n', sub { return });
    is($c->get('n'), 12, 'an empty list stores nothing');
    is(error_of(sub { $c->get_and_set('n', sub { die "oh\n" }) }), "oh\n", 'an error');
    is($c->get('n'), 12, 'and the value stays');
    is(scalar $c->get_and_remove('n'), 12, 'get_and_remove');
    is($c->get('n'), undef, 'removed');
    is_deeply([ ($c->get_and_remove('n'))[1] ], [ 0 ], 'get_and_remove of a missing key');

    ok($c->set('t', 'v', '10m'), 'an expiry time');
    my ($info) = grep { $_->{key} eq 't' } $c->get_keys(2);
    is($info->{value}, 'v', 'get_keys with values');
    ok(abs($info->{expire_on} - time - 600) < 10, 'and times');
    ok($c->set('t', 'v', { expire_on => time + 100 }), 'a time of the clock');
    is($c->get('t'), 'v', 'is there');
    $c->set('now', 'v', 'now');
    is($c->get('now'), undef, 'now');
    $c->set('never', 'v', 'never');
    is($c->get('never'), 'v', 'never');
    $c->expire('never');
    is($c->get('never'), undef, 'expire');

    $c->multi_set('page', { x => 1, y => [ 2 ] });
    is_deeply($c->multi_get('page', [ 'x', 'y', 'z' ]), { x => 1, y => [ 2 ] }, 'multi calls');
    $c->purge;
    $c->clear;
    is_deeply([ $c->get_keys ], [], 'clear');
    return;
}

sub callbacks {
    my ($class) = @_;
    my %store = (a => 1);
    my @calls;
    my $c = $class->new(
        cache_size => '4m', context => \%store, cache_not_found => 1, serializer => '',
        read_cb   => sub { push @calls, "read $_[1]"; $_[0]{ $_[1] } },
        write_cb  => sub { push @calls, "write $_[1]"; $_[0]{ $_[1] } = $_[2] },
        delete_cb => sub { push @calls, "delete $_[1]"; delete $_[0]{ $_[1] } },
    );
    is($c->get('a'), 1, 'read_cb');
    is($c->get('a'), 1, 'from the cache');
    is($c->get('none'), undef, 'cache_not_found') for 1 .. 2;
    $c->set('b', 2);
    is($store{b}, 2, 'write_cb');
    $c->remove('b');
    ok(!exists $store{b}, 'delete_cb');
    is_deeply(\@calls, [ 'read a', 'read none', 'write b', 'delete b' ], 'the calls');
    return;
}

sub raw {
    my ($class) = @_;
    my $c = $class->new(cache_size => '4m', raw_values => 1);
    $c->set('a', "\xff\x00" x 3);
    is($c->get('a'), "\xff\x00" x 3, 'bytes');
    $c->set('b', "\x{263a}");
    is($c->get('b'), "\x{263a}", 'characters');
    $c->set('c', '');
    is($c->get('c'), '', 'nothing');
    my $z = $class->new(cache_size => '4m', compressor => 'zlib');
    $z->set('k', [ 'x' x 10000 ]);
    is_deeply($z->get('k'), [ 'x' x 10000 ], 'compressed');
    my $own = $class->new(cache_size => '4m',
        serializer => [ sub { "<${ $_[0] }>" }, sub { \(substr $_[0], 1, -1) } ]);
    $own->set('k', 'v');
    is($own->get('k'), 'v', 'functions as a serializer');
    return;
}

for my $class (@classes) {
    subtest "$class: calls" => sub { calls($class) };
    subtest "$class: callbacks" => sub { callbacks($class) };
    subtest "$class: raw values" => sub { raw($class) };
}

subtest 'the table' => sub {
    my $c = Tavola::FastMmap->new(name => 'fast', unlink_on_exit => 0);
    $c->set('k', [ 1 ]);
    is_deeply(Tavola::FastMmap->new(name => 'fast')->get('k'), [ 1 ], 'a name is shared');
    $c->get_and_set('n', sub { 0 });
    my @children = map {
        in_child(sub { $c->get_and_set('n', sub { $_[1] + 1 }) for 1 .. 200 })
    } 1 .. 4;
    ok(reap(@children), 'all children ended well');
    is($c->get('n'), 800, 'get_and_set of many processes loses no change');
    my $path = $c->table->path;
    undef $c;
    ok(-e $path, 'the file stays');
    my $own = Tavola::FastMmap->new;
    my $own_path = $own->table->path;
    reap(in_child(sub { undef $own }));
    ok(-e $own_path, 'a child does not remove the file');
    undef $own;
    ok(!-e $own_path, 'a file without a name is removed');
    dies(sub { Tavola::FastMmap->new(write_action => 'write_back') }, 'Argument',
        qr/would be lost/, 'write_back');
    dies(sub { Tavola::FastMmap->new(colour => 1) }, 'Argument', qr/no option 'colour'/, 'options');
    my $small = Tavola::FastMmap->new(init_file => 1);
    ok(!$small->set('k', 'x' x (20 << 20)), 'a value without room: set is false');
};

done_testing;

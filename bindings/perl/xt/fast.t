# Tavola::Memcached beside Cache::Memcached::Fast on the same servers: each reads what the other one
# wrote, from the server where the other one has put it.
use strict;
use warnings;
use utf8;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Tavola::Memcached;

plan skip_all => 'Tavola was built without libtavola_client' if !has_client();
plan skip_all => 'Cache::Memcached::Fast is not installed'
    if !eval { require Cache::Memcached::Fast; 1 };
my @sockets = map { memcached("server$_") } 1 .. 3;
plan skip_all => 'memcached is not installed' if @sockets < 3;

# Returns clients of both modules with the same parameters.
sub both {
    my (%param) = @_;
    my %all = (servers => \@sockets, io_timeout => 60, connect_timeout => 60, %param);
    return map { $_->new(\%all) } qw(Cache::Memcached::Fast Tavola::Memcached);
}

my @weighted = map { { address => $sockets[$_], weight => (1, 2.5, 4)[$_] } } 0 .. 2;
my %placements = (
    'equal servers'          => {},
    'weights'                => { servers => \@weighted },
    'weights that are whole' => { servers => [ map { [ $sockets[$_], $_ + 1 ] } 0 .. 2 ] },
    'ketama'                 => { ketama_points => 150 },
    'ketama with weights'    => { ketama_points => 40, servers => \@weighted },
    'one server'             => { servers => [ $sockets[0] ] },
);
my %spaces = (
    'no name space'       => {},
    'a name space'        => { namespace => 'app:' },
    'a hashed name space' => { namespace => 'app:', hash_namespace => 1 },
);
my @keys = ((map { "key:$_" } 1 .. 300), 'ключ', "a\xff");

for my $placement (sort keys %placements) {
    for my $space (sort keys %spaces) {
        my ($peer, $ours) = both(%{ $placements{$placement} }, %{ $spaces{$space} });
        for my $pair ([ $peer, $ours, 'ours reads' ], [ $ours, $peer, 'the peer reads' ]) {
            my ($writer, $reader, $name) = @$pair;
            $peer->flush_all;
            $writer->set_multi(map { [ $_, "value of $_" ] } @keys[ 0 .. 299 ]);
            $writer->set($_, 'bytes') for @keys[ 300, 301 ];
            is_deeply($reader->get_multi(@keys),
                { (map { ($_ => "value of $_") } @keys[ 0 .. 299 ]),
                    map { ($_ => 'bytes') } @keys[ 300, 301 ] },
                "$placement, $space: $name all keys");
        }
    }
}

my @values = ('bytes', "\xff\x00\r\n", 42, -1.5, '', 'grüße', [ 1, { a => 'b', u => 'ü' } ],
    bless({ x => 1 }, 'Thing'), 'x' x 5000, 'ü' x 5000, [ ('y' x 100) x 100 ],
    join '', map { chr int rand 256 } 1 .. 5000);
for my $param ({ utf8 => 1, compress_threshold => 1000 }, { compress_threshold => 1000 }, {},
    { compress_threshold => 1000, compress_ratio => 0.001 },
    { serialize_methods => [ sub { "my @{ $_[0] }" }, sub { [ split / /, substr $_[0], 3 ] } ] })
{
    my ($peer, $ours) = both(%$param);
    my $name = join ', ', sort keys %$param;
    my @some = $param->{utf8} ? @values : grep { !utf8::is_utf8($_) } @values;
    @some = ([ 1, 2, 3 ], 'text') if $param->{serialize_methods};
    for my $value (@some) {
        $peer->set('v', $value);
        is_deeply($ours->get('v'), $value, "$name: ours reads the value");
        $ours->set('v', $value);
        is_deeply($peer->get('v'), $value, "$name: the peer reads the value");
        my ($token) = @{ $peer->gets('v') };
        is($ours->cas('v', $token, 'next'), 1, "$name: a token of the peer");
    }
}

subtest 'the same returns' => sub {
    my ($peer, $ours) = both(namespace => 'returns:');
    my $calls = sub {
        my ($memd) = @_;
        $memd->flush_all;
        return [
            $memd->set('a', 1), $memd->add('a', 1), $memd->replace('b', 1), $memd->append('b', 1),
            $memd->incr('a'), $memd->incr('a', 5), $memd->decr('a', 100), $memd->incr('b'),
            $memd->delete('b'), $memd->touch('b'), [ $memd->get('b') ], [ $memd->gets('b') ],
            [ $memd->gat(5, 'b') ], $memd->cas('b', 1, 'x'), $memd->get_multi('a', 'b'),
            scalar $memd->set('d', 'x' x (2 << 20)), scalar $memd->set_multi([ 'c', 1 ]),
            $memd->get('c'),
            [ $memd->incr_multi('c', ['b'], [ 'c', 7 ]) ], scalar $memd->delete_multi('c', 'd'),
            [ $memd->touch_multi([ 'a', 5 ], ['b']) ], $memd->namespace('x:'),
            $memd->namespace('returns:'), $memd->set('word', 'w'), scalar $memd->incr('word'),
            $memd->server_versions, $memd->flush_all, [ $memd->nowait_push ],
        ];
    };
    is_deeply($calls->($ours), $calls->($peer), 'of all methods');
};

done_testing;

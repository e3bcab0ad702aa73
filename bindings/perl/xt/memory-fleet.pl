# Calls all methods of fleets so many times; used by tests that look at memory.
use strict;
use warnings;

use Tavola::Memcached;

# A tied scalar, a serializer that throws, and one that changes the list it is called for.
package Fetched {
    sub TIESCALAR { return bless [] }
    sub FETCH     { return 'fetched' }
}

sub use_fleets {
    my ($servers, $rounds) = @_;
    my %param = (servers => $servers, io_timeout => 60, connect_timeout => 60);
    my $memd = Tavola::Memcached->new({
        %param, namespace => 'm:', utf8 => 1, compress_threshold => 2000, nowait => 1,
    });
    my @calls;
    my $odd = Tavola::Memcached->new({
        %param,
        serialize_methods => [
            sub { die "no\n" if !@{ $_[0] }; @$_ = () for @calls; 'x' }, sub { die "no\n" },
        ],
    });
    tie my $tied, 'Fetched';
    for my $i (1 .. $rounds) {
        my @values = ($i, 'x' x ($i % 300), "\x{263a}" x 50, 'y' x 3000, { i => [$i] }, $tied);
        $memd->set("k$_", $values[$_]) for 0 .. $#values;
        my $all = $memd->get_multi($tied, map { "k$_" } 0 .. 9);
        die 'a value is lost' if keys %$all < @values;
        my $results = $memd->set_multi(map { [ "k$_", $values[$_], 100 ] } 0 .. $#values);
        my @added = $memd->add_multi([ $tied, $tied ], [ "new$i", 1 ]);
        my $both = $memd->gets('k0');
        $memd->cas('k0', @$both);
        my $one = $memd->gats(100, 'k4');
        my $read = $memd->gats_multi(100, 'k0', 'k3', 'none');
        $memd->incr('k0');
        my @counts = $memd->decr_multi('k0', [ 'k0', 2 ], 'k2');
        my $why = $memd->last_error;
        $memd->append('k1', 'more');
        $memd->delete("new$i");
        my $wrong = $memd->set('k' x 300, 1);
        eval { $memd->set('k', undef) };
        eval { $memd->set_multi([ 'a', [1] ], ['b']) };
        eval { $odd->set_multi([ 'a', 1 ], [ 'b', [] ]) };
        @calls = map { [ "$i:$_", [$_] ] } 1 .. 5;
        eval { $odd->set_multi(@calls, @calls) };
        my $missing = $odd->get("$i:1");
        $memd->namespace('m' . $i % 3 . ':');
        next if $i % 10;
        $memd->disconnect_all;
        $memd->nowait_push;
        my $versions = $memd->server_versions;
        my $copy = Tavola::Memcached->new({ %param, nowait => 1 });
        $copy->set('held', 1);
    }
    $memd->flush_all(100);
    return;
}

1;

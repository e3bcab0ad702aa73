# Loops of a program that uses Cache::Memcached::Fast. Arguments, input and output are those of
# libmemcached.c.
use strict;
use warnings;
use Cache::Memcached::Fast;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $value = 'v' x 100;
my @keys = map { "key:$_" } 0 .. 99;
my @pairs = map { [$_, $value] } @keys;

sub client {
    my ($servers, %more) = @_;
    Cache::Memcached::Fast->new({ servers => $servers, utf8 => 0, %more });
}

sub demand { $_[0] or die "Cache::Memcached::Fast: another answer than was expected\n" }

sub get {
    my ($client, $key) = @_;
    my $found = $client->get($key);
    demand(defined $found && $found eq $value);
}

sub get_all { demand(keys %{ $_[0]->get_multi(@keys) } == @keys) }

sub set_all { demand(@keys == grep { $_ } $_[0]->set_multi(@pairs)) }

@ARGV or die "no servers\n";
my ($one, $all) = (client([ $ARGV[0] ]), client([@ARGV]));
# A call whose result is not used waits for no answer.
my $quiet = client([ $ARGV[0] ], nowait => 1);
set_all($_) for $one, $all;
my $next = 0;
my %loads = (
    wait   => sub { demand($one->set($keys[$next], $value)); get($one, $keys[$next]) },
    joined => sub { $quiet->set($keys[$next], $value); get($quiet, $keys[$next]) },
    mget => sub { get_all($one) },
    'mget-4' => sub { get_all($all) },
    sets => sub { set_all($one) },
);
$loads{batch} = $loads{wait};
$loads{line} = $loads{mget};
$| = 1;
while (defined(my $line = <STDIN>)) {
    my ($name, $millis) = split ' ', $line;
    my $load = $loads{$name} or die "no such load\n";
    my ($begin, $loops) = (clock_gettime(CLOCK_MONOTONIC), 0);
    my ($now, $end) = ($begin, $begin + $millis / 1e3);
    for (; $now < $end; $now = clock_gettime(CLOCK_MONOTONIC), $loops++) {
        $load->();
        $next = ($next + 1) % @keys;
    }
    printf "%d %.0f\n", $loops, ($now - $begin) * 1e9;
}

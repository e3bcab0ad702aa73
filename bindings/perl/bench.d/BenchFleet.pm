package BenchFleet;

# Measures Tavola::Memcached as a client of memcached beside Cache::Memcached::Fast, on the same
# servers. Both are measured in turns, so that a busy machine is busy for both.

use strict;
use warnings;

use BenchTools qw(median_and_spread seconds_of);
use Tavola::Memcached;

my @CLIENTS = qw(Cache::Memcached::Fast Tavola::Memcached);

# The measurements: a name, how many steps a round has, and a function that returns the round.
sub loads {
    my @keys = map { "key$_" } 1 .. 100;
    my $value = 'x' x 100;
    my @calls = map { [ $_, $value ] } @keys;
    return (
        [ 'set + get', 100, sub {
            my ($memd) = @_;
            return sub { for my $key (@keys) { my $is = $memd->set($key, $value); $memd->get($key) } };
        } ],
        [ 'set in void context with nowait, + get', 100, sub {
            my ($memd, $nowait) = @_;
            return sub { for my $key (@keys) { $nowait->set($key, $value); $nowait->get($key) } };
        } ],
        [ 'get_multi of 100 keys', 1, sub {
            my ($memd) = @_;
            $memd->set_multi(@calls);
            return sub { my $all = $memd->get_multi(@keys) };
        } ],
        [ 'set_multi of 100 keys', 1, sub {
            my ($memd) = @_;
            return sub { my $all = $memd->set_multi(@calls) };
        } ],
    );
}

# Measures all loads on some servers so many times. Returns the rows; `ratio` is the median of what
# ours took of the other's time in the same turn.
sub measure {
    my ($sockets, $runs) = @_;
    my @rows;
    for my $load (loads()) {
        my ($name, $steps, $make) = @$load;
        my %round;
        for my $class (@CLIENTS) {
            my %param = (servers => $sockets, io_timeout => 10, namespace => "$class:");
            $round{$class} = $make->($class->new(\%param), $class->new({ %param, nowait => 1 }));
            $round{$class}->();
        }
        my (%times, @ratios);
        for my $turn (1 .. $runs) {
            my @order = $turn % 2 ? @CLIENTS : reverse @CLIENTS;
            my %took = map {
                my $code = $round{$_};
                ($_ => seconds_of(sub { $code->() for 1 .. 300 / $steps + 3 }))
            } @order;
            push @{ $times{$_} }, $took{$_} for @CLIENTS;
            push @ratios, $took{ $CLIENTS[1] } / $took{ $CLIENTS[0] };
        }
        my ($ratio) = median_and_spread(@ratios);
        for my $class (@CLIENTS) {
            my $count = (int(300 / $steps) + 3) * $steps;
            my ($median, $spread) = median_and_spread(map { $_ * 1e9 / $count } @{ $times{$class} });
            push @rows, { name => "$name, " . @$sockets . ' servers', column => $class,
                system => $name, ns => $median, spread => $spread };
        }
        push @rows, { name => "$name, " . @$sockets . ' servers', column => 'ratio',
            system => $name, ns => $ratio, spread => 0, shown => $ratio };
    }
    return @rows;
}

sub columns { return [ @CLIENTS, 'ratio' ] }

1;

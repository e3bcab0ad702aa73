package BenchTools;

# Time, tables of results, and a memcached on a Unix socket.

use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max min);
use POSIX ();
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

our @EXPORT_OK = qw(least_ns start_memcached show_table);

# Runs code some times. Returns the least time of one of its `$count` steps, in nanoseconds: what
# other programs of the machine take is not in it.
sub least_ns {
    my ($code, $count, $runs) = @_;
    $code->();
    my $least;
    for (1 .. $runs) {
        my $start = clock_gettime(CLOCK_MONOTONIC);
        $code->();
        my $time = (clock_gettime(CLOCK_MONOTONIC) - $start) * 1e9 / $count;
        $least = $time if !defined $least || $time < $least;
    }
    return $least;
}

my ($server, $owner);

# Starts memcached, and returns a client; or nothing if one of both is not installed.
sub start_memcached {
    my ($dir) = @_;
    my ($program) = grep { -x } map { "$_/memcached" } split /:/, $ENV{PATH};
    return if !$program || !eval { require Cache::Memcached::Fast; 1 };
    my $socket = "$dir/memcached.sock";
    $owner = $$;
    $server = fork // die "fork: $!";
    if (!$server) {
        exec $program, '-s', $socket, '-m', 1024, '-u', 'root', '-I', '2m' or POSIX::_exit(127);
    }
    for (1 .. 500) {
        last if -S $socket;
        sleep 0.01;
    }
    my $client = Cache::Memcached::Fast->new({ servers => [$socket], io_timeout => 10 });
    return $client->set('probe', 1) ? ($client, $socket) : ();
}

END {
    if ($server && $$ == $owner) {
        local $?;
        kill TERM => $server;
        waitpid $server, 0;
    }
}

# Prints rows of results as a table in Markdown.
sub show_table {
    my ($title, $unit, $columns, $rows) = @_;
    print "\n$title ($unit)\n\n";
    my @lines = ([ '', @$columns ]);
    for my $row (@$rows) {
        push @lines, [ $row->{name}, map { shown($row->{$_}) } @$columns ];
    }
    my @widths = map { my $i = $_; max(map { length $_->[$i] } @lines) } 0 .. @$columns;
    for my $number (0 .. $#lines) {
        my $line = $lines[$number];
        print '| ', join(' | ', map {
            sprintf $_ == 0 ? '%-*s' : '%*s', $widths[$_], $line->[$_]
        } 0 .. $#$line), " |\n";
        next if $number > 0;
        my @rule = map { '-' x ($widths[$_] + 1) . ($_ ? ':' : '-') } 0 .. $#widths;
        print '|', join('|', @rule), "|\n";
    }
    return;
}

sub shown {
    my ($number) = @_;
    return '-' if !defined $number;
    return $number >= 10 ? sprintf '%.0f', $number : sprintf '%.2f', $number;
}

1;

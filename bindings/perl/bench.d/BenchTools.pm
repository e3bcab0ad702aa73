package BenchTools;

# Time, tables of results, and a memcached on a Unix socket.

use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max);
use POSIX ();
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

our @EXPORT_OK = qw(median_and_spread per_step seconds_of show_table start_memcached use_cpu_time);

my $clock = CLOCK_MONOTONIC;

# Measures the time of this process on a processor from now on.
sub use_cpu_time {
    $clock = CLOCK_PROCESS_CPUTIME_ID;
    return;
}

sub seconds_of {
    my ($code, @arguments) = @_;
    my $start = clock_gettime($clock);
    $code->(@arguments);
    return clock_gettime($clock) - $start;
}

# Returns the median of numbers, and their spread: the distance between the quartiles.
sub median_and_spread {
    my @sorted = sort { $a <=> $b } @_;
    my $at = sub { $sorted[ int($_[0] * $#sorted + 0.5) ] };
    return ($at->(0.5), $at->(0.75) - $at->(0.25));
}

# Runs code some times, and once before. Returns the times of one of its `$count` steps, in
# nanoseconds.
sub per_step {
    my ($code, $count, $runs) = @_;
    $code->();
    return map { seconds_of($code) * 1e9 / $count } 1 .. $runs;
}

my (@servers, $owner);

# Starts memcached, and returns a client and its socket; or nothing if one of both is not installed.
sub start_memcached {
    my ($dir, $name) = @_;
    my ($program) = grep { -x } map { "$_/memcached" } split /:/, $ENV{PATH};
    return if !$program || !eval { require Cache::Memcached::Fast; 1 };
    my $socket = "$dir/" . ($name // 'memcached') . '.sock';
    $owner = $$;
    my $server = fork // die "fork: $!";
    if (!$server) {
        exec $program, '-s', $socket, '-m', 1024, '-u', 'root', '-I', '2m' or POSIX::_exit(127);
    }
    push @servers, $server;
    for (1 .. 500) {
        last if -S $socket;
        sleep 0.01;
    }
    my $client = Cache::Memcached::Fast->new({ servers => [$socket], io_timeout => 10 });
    return $client->set('probe', 1) ? ($client, $socket) : ();
}

END {
    if (@servers && $$ == $owner) {
        local $?;
        kill TERM => @servers;
        waitpid $_, 0 for @servers;
    }
}

# Prints rows of results, each for a system and a column, as a table in Markdown.
sub show_table {
    my ($title, $unit, $columns, $rows) = @_;
    print "\n$title ($unit)\n\n";
    my (@systems, %cells);
    for my $row (@$rows) {
        push @systems, $row->{system} if !$cells{ $row->{system} };
        $cells{ $row->{system} }{ $row->{column} } = $row->{shown} // $row->{ns};
    }
    my @lines = ([ '', @$columns ]);
    for my $system (@systems) {
        push @lines, [ $system, map { shown($cells{$system}{$_}) } @$columns ];
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
    return sprintf $number >= 10 ? '%.0f' : $number >= 0.1 ? '%.2f' : '%.4f', $number;
}

1;

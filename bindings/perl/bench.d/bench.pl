# Measures, and prints tables. The JSON has one object for each row: `name`, `system`, `ns`, and
# `spread`, the distance between the quartiles in nanoseconds.
use strict;
use warnings;

use File::Temp ();
use Getopt::Long qw(GetOptions);
use JSON::PP ();

my ($dir, $json, $data, $is_quick, $is_cpu, $is_fleet);

BEGIN {
    # Everything in memory, so that no store waits for a disk.
    my $root = -d '/dev/shm' ? '/dev/shm' : '/tmp';
    $dir = File::Temp->newdir('tavola-bench-XXXXXX', DIR => $root);
    $ENV{TAVOLA_DIR} = "$dir/tables";
}

use BenchCalls;
use BenchCorps;
use BenchFleet;
use BenchTools qw(show_table start_memcached use_cpu_time);

GetOptions('json=s' => \$json, 'data=s' => \$data, 'quick' => \$is_quick, 'cpu' => \$is_cpu,
    'fleet' => \$is_fleet)
    or die "usage: bench [--json FILE] [--data FILE] [--quick] [--cpu] [--fleet]\n";
use_cpu_time() if $is_cpu;

# So many keys, and the bytes of their values. The processor's caches hold 1,000 keys.
my @CALLS = ([ 1_000, 8 ], [ 100_000, 8 ], [ 100_000, 32 ], [ 100_000, 4096 ]);
my $runs = $is_quick ? 3 : 9;
my $clock = $is_cpu ? 'processor time of the client' : 'elapsed time';
my @all;

my ($client, $socket) = start_memcached("$dir");
print "memcached or Cache::Memcached::Fast is not installed\n" if !$client;
print "perl $^V, medians of $runs runs, $clock\n";
if ($client) {
    my @sockets = ($socket, map { (start_memcached("$dir", "server$_"))[1] } 2 .. 4);
    for my $some ([ $sockets[0] ], \@sockets) {
        my @rows = BenchFleet::measure($some, $is_quick ? 9 : 41);
        show_table('clients of memcached on Unix sockets, servers: ' . @$some,
            'ns a step, and the median of the ratios', BenchFleet::columns(), \@rows);
        push @all, @rows;
    }
}
for ($is_fleet ? () : @CALLS) {
    my ($count, $bytes) = @$_;
    my @rows = BenchCalls::measure("$dir", $socket, $count, $bytes, $runs);
    show_table("$count keys in random order, values of $bytes bytes",
        'ns a key, without the empty loop', [ 'get', 'set' ], \@rows);
    push @all, @rows;
    $client->flush_all if $client;
}

if (!$is_fleet) {
    my $times = $is_quick ? 10 : 100;
    my ($rows, $columns, $count) =
        BenchCorps::measure($data, "$dir", $socket, $times, $is_quick ? 1 : 5);
    show_table("$count records of " . (defined $data ? 'the file' : 'the same lengths as the file'),
        'seconds', $columns, $rows);
    push @all, @$rows;
}

if (defined $json) {
    my $coder = JSON::PP->new->canonical;
    my @lines = map { my %row = %$_; delete @row{qw(column shown)}; $coder->encode(\%row) } @all;
    open my $file, '>', $json or die "$json: $!";
    print {$file} "[\n", join(",\n", @lines), "\n]\n";
    close $file or die "$json: $!";
}

# Measures, and prints tables and JSON.
use strict;
use warnings;

use File::Temp ();
use Getopt::Long qw(GetOptions);
use JSON::PP ();

my ($dir, $json, $data, $is_quick);

BEGIN {
    # Everything in memory, so that no store waits for a disk.
    my $root = -d '/dev/shm' ? '/dev/shm' : '/tmp';
    $dir = File::Temp->newdir('tavola-bench-XXXXXX', DIR => $root);
    $ENV{TAVOLA_DIR} = "$dir/tables";
}

use BenchCalls;
use BenchCorps;
use BenchTools qw(show_table start_memcached);

GetOptions('json=s' => \$json, 'data=s' => \$data, 'quick' => \$is_quick)
    or die "usage: bench [--json FILE] [--data FILE] [--quick]\n";

my $COUNT = 100_000;
my $runs = $is_quick ? 3 : 9;
my %results = (keys => $COUNT, runs => $runs, perl => "$^V");

my ($client, $socket) = start_memcached("$dir");
print "memcached or Cache::Memcached::Fast is not installed\n" if !$client;
for my $bytes (8, 32, 4096) {
    my @rows = BenchCalls::measure("$dir", $socket, $COUNT, $bytes, $runs);
    show_table("100,000 keys in random order, values of $bytes bytes",
        "ns a key, the fastest of $runs runs, without the empty loop", [ 'get', 'set' ], \@rows);
    $results{"values of $bytes bytes, ns"} = \@rows;
    $client->flush_all if $client;
}

if (defined $data) {
    my ($rows, $count) = BenchCorps::measure($data, "$dir", $socket, $is_quick ? 10 : 100);
    my $times = $is_quick ? 10 : 100;
    show_table("$count records of the file, $times times; one key after an open", 'seconds',
        [ 'write all', 'read all', 'open, read 100', 'open, read 10,000' ], $rows);
    $results{"file of $count records, seconds"} = $rows;
} else {
    print "\nThe file corps_age_income.txt is not in data; give it with --data FILE.\n";
}

if (defined $json) {
    open my $file, '>', $json or die "$json: $!";
    print {$file} JSON::PP->new->canonical->pretty->encode(\%results);
    close $file or die "$json: $!";
}

# The peers' own test suites, from Debian's source packages, on our adapters. Each test that fails
# is listed here with the reason. A failure that is not listed fails this test.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Temp ();
use Test::More;

my $folder = $ENV{TAVOLA_PERL_PEERS} // '../peers';
if (!-d "$folder/CHI-0.61" && system('xt/peers-get', $folder) != 0) {
    plan skip_all => "the peers' sources cannot be had: no access to Debian's packages";
}
my $peers = abs_path($folder);
my $modules = "$peers/root/usr/share/perl5";
my @own = map { abs_path($_) } 'blib/lib', 'blib/arch', 'xt/lib';

# Runs a program in a folder. Returns the numbers of tests that passed, those that failed, and its
# exit code.
sub outcome {
    my ($in, @program) = @_;
    my $tables = File::Temp->newdir('tavola-peers-XXXXXX', DIR => -d '/dev/shm' ? '/dev/shm' : '/tmp');
    local $ENV{TAVOLA_DIR} = "$tables";
    my $pid = open my $output, '-|' // die "fork: $!";
    if (!$pid) {
        chdir $in or die "$in: $!";
        open STDERR, '>', '/dev/null' or die $!;
        exec $^X, (map { "-I$_" } @own, $modules, "$in/lib", '.'), @program or die $!;
    }
    my (@passed, @failed);
    while (my $line = <$output>) {
        push @passed, $1 if $line =~ /\Aok (\d+)/;
        push @failed, $1 if $line =~ /\Anot ok (\d+)/;
    }
    close $output;
    return (\@passed, \@failed, $? >> 8);
}

# Runs the files of a suite. `$differs` has the failed tests of a file and the reason.
sub suite {
    my ($in, $differs, @files) = @_;
    my $count = 0;
    for my $file (@files) {
        my ($passed, $failed, $code) = outcome($in, $file);
        my ($name) = $file =~ m{([^/]+)\z};
        my $known = $differs->{$name};
        $count += @$passed;
        next if $known && !defined $known->[0];
        is("@$failed", $known ? $known->[0] : '', "$name: " . ($known ? $known->[1] : 'as the peer'));
        is($code, 0, "$name: ends well") if !$known;
    }
    return $count;
}

subtest 'CHI: its tests of a driver' => sub {
    my ($passed, $failed, $code) = outcome("$peers/CHI-0.61", '-MCHI::t::Driver::Tavola', '-e',
        'CHI::t::Driver::Tavola->runtests');
    cmp_ok(scalar(@$passed), '>=', 900, 'all tests were run');
    is("@$failed", '', 'none failed');
    is($code, 0, 'it ended well');
    diag(scalar(@$passed) . ' tests of CHI passed');
};

my %MEMCACHED = (
    'big-value.t' => [ '4', 'a table takes values of more than 1 MB' ],
    'errors.t'    => [ '1 2 3', 'there is no server that cannot be reached' ],
    'perl-namespace.t' => [ '1', 'the symbols of the module are others' ],
    'validation.t'     => [ '1 2 3', 'weights do not matter, and warnings have other words' ],
);

subtest 'Cache::Memcached::Fast' => sub {
    my $in = "$peers/Cache-Memcached-Fast-0.28";
    my $count = suite($in, \%MEMCACHED, map { "t/$_" } map { s{.*/}{}r } sort glob "$in/t/*.t");
    cmp_ok($count, '>=', 110, 'all tests were run');
    diag("$count tests of Cache::Memcached::Fast passed");
};

# The numbers of these differ from version to version.
my $WRITE_BACK = 'write_back is refused, because the table evicts without a call to the process';
my $PAGE = 'there are no pages, so a value of 64 KB has room and less is evicted';
my %FASTMMAP = (
    '2.t'  => [ undef, 'the clock of the test cannot be set' ],
    '25.t' => [ undef, 'leases are a method of their own, compute' ],
    (map { ("$_.t" => [ undef, $PAGE ]) } 1, 3, 13),
    (map { ("$_.t" => [ undef, $WRITE_BACK ]) } 4, 6, 7, 10, 11, 15, 22, 23),
);

subtest 'Cache::FastMmap' => sub {
    my ($in) = glob "$peers/Cache-FastMmap-*";
    if (!defined $in) {
        plan skip_all => 'the source of libcache-fastmmap-perl cannot be had; t/61-fastmmap.t '
            . 'compares the calls with the installed module';
    }
    my $count = suite($in, \%FASTMMAP, map { "t/$_" } map { s{.*/}{}r } sort glob "$in/t/*.t");
    diag("$count tests of Cache::FastMmap passed");
};

done_testing;

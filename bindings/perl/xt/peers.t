# The peers' own test suites, from Debian's source packages, on our adapters. Each test that fails
# is listed here with the reason. A failure that is not listed fails this test.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Temp ();
use IO::Socket::INET;
use POSIX qw(WNOHANG);
use Test::More;

use lib 't/lib';
use TavolaTest qw(has_client);

my $folder = $ENV{TAVOLA_PERL_PEERS} // '../peers';
# Without all of them, a suite would fail for a module that it misses.
if (!-e "$folder/complete") {
    my $said = `xt/peers-get $folder 2>&1`;
    plan skip_all => "the peers' sources cannot be had from Debian's packages: " . $said =~ s/\s+/ /gr
        if $? != 0;
}
my $peers = abs_path($folder);
my $modules = "$peers/root/usr/share/perl5";
my @own = map { abs_path($_) } 'blib/lib', 'blib/arch', 'xt/lib';

# Starts a program in a folder.
sub started {
    my ($in, @program) = @_;
    my $tables = File::Temp->newdir('tavola-peers-XXXXXX', DIR => -d '/dev/shm' ? '/dev/shm' : '/tmp');
    local $ENV{TAVOLA_DIR} = "$tables";
    my $errors = File::Temp->new;
    my $pid = open my $output, '-|' // die "fork: $!";
    if (!$pid) {
        chdir $in or die "$in: $!";
        open STDERR, '>&', $errors or die $!;
        exec $^X, (map { "-I$_" } @own, $modules, "$in/lib", '.'), @program or die $!;
    }
    return { output => $output, errors => $errors, tables => $tables };
}

# Waits for a program that was started. Returns what became of its tests: the numbers of those that
# passed and failed, the names of those that failed, its exit code, and what it wrote to its
# standard error.
sub finished {
    my ($program) = @_;
    my ($output, $errors) = @$program{qw(output errors)};
    my %became = (passed => [], failed => [], names => []);
    while (my $line = <$output>) {
        push @{ $became{passed} }, $1 if $line =~ /\Aok (\d+)/;
        next if $line !~ /\Anot ok ((\d+).*)/;
        push @{ $became{failed} }, $2;
        push @{ $became{names} }, $1;
    }
    close $output;
    $became{code} = $? >> 8 || $? & 127;
    seek $errors, 0, 0;
    $became{errors} = do { local $/; <$errors> } // '';
    return \%became;
}

sub outcome { return finished(started(@_)) }

# Says which tests failed, and the end of what the program has said.
sub say_failed {
    my ($name, $became) = @_;
    diag("$name: not ok $_") for @{ $became->{names} };
    # Without the names of the methods that run.
    my $errors = $became->{errors} =~ s/^#(?: *| \w+(?:::\w+)*->\w+)\n//gmr;
    diag(substr $errors, -4000) if $errors =~ /\S/;
    return;
}

# Runs the files of a suite. `$differs` has the failed tests of a file and the reason, `$running`
# the files that were started before.
sub suite {
    my ($in, $differs, $running, @files) = @_;
    my $count = 0;
    for my $file (@files) {
        my $became = finished(delete $running->{$file} // started($in, $file));
        my ($name) = $file =~ m{([^/]+)\z};
        my $known = $differs->{$name};
        $count += @{ $became->{passed} };
        next if $known && !defined $known->[0];
        my $is_right = is("@{ $became->{failed} }", $known ? $known->[0] : '',
            "$name: " . ($known ? $known->[1] : 'as the peer'));
        $is_right = is($became->{code}, 0, "$name: ends well") && $is_right if !$known;
        say_failed($name, $became) if !$is_right;
    }
    return $count;
}

# The methods of CHI's tests that fail if the process rests for a second at the wrong moment, as on a
# machine that is too busy; found by a driver that rests at each of its calls in turn. If such a
# method fails, it runs once more, alone. Any other must pass at once.
my %TIMED = (
    test_expires_on_backend => 'a key is read within a second after it was set for 2 s',
);

# Runs CHI's tests, or one method of them.
sub chi {
    my ($method) = @_;
    local $ENV{TEST_METHOD} = $method // '.*';
    return outcome("$peers/CHI-0.61", '-MCHI::t::Driver::Tavola', '-e',
        'CHI::t::Driver::Tavola->runtests');
}

# Runs those methods again that may fail for the time they took. Returns true if no others failed,
# and these pass.
sub passes_again {
    my ($became) = @_;
    my %methods = map { $_ => 1 } $became->{errors} =~ /\(in CHI::t::Driver::Tavola->(\w+)\)/g;
    my @others = grep { !$TIMED{$_} } keys %methods;
    return 0 if !%methods || @others;
    for my $method (sort keys %methods) {
        diag("CHI: $method runs again, because it passes only if $TIMED{$method}");
        my $again = chi("^$method\$");
        if (@{ $again->{failed} } || !@{ $again->{passed} } || $again->{code}) {
            say_failed("CHI: $method", $again);
            return 0;
        }
    }
    return 1;
}

subtest 'CHI: its tests of a driver' => sub {
    my $became = chi();
    my $count = @{ $became->{passed} } + @{ $became->{failed} };
    cmp_ok($count, '>=', 900, 'all tests were run');
    my $is_right = !@{ $became->{failed} } && $became->{code} == 0;
    say_failed('CHI', $became) if !$is_right || $count < 900;
    ok($is_right || passes_again($became), 'none failed, and it ended well');
    diag(scalar(@{ $became->{passed} }) . ' tests of CHI passed');
};

# Cache::Memcached::Fast's tests run three times: with the keys in a table, on memcached, and on
# `tavola serve`. There are no servers in the first place, so some tests differ.
my @SYMBOLS = ('perl-namespace.t' => [ '1', 'the symbols of the module are others' ]);
my %ON_TABLE = (
    @SYMBOLS,
    'big-value.t' => [ '4', 'a table takes values of more than 1 MB' ],
    'errors.t'    => [ '1 2 3', 'there is no server that cannot be reached' ],
);
my %ON_SERVERS = @SYMBOLS;

# Starts a server on a free port of the loopback. Returns the number of its process, and the port
# that it answers on.
sub start_server {
    my (@command) = @_;
    for my $attempt (1 .. 5) {
        my $free = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "socket: $!";
        my $port = $free->sockport;
        close $free;
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            open STDOUT, '>&', \*STDERR or die $!;
            exec map { s/PORT/$port/r } @command or POSIX::_exit(127);
        }
        for (1 .. 6000) {
            # Another program may have got the port before.
            last if waitpid($pid, WNOHANG) == $pid;
            return ($pid, $port) if IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port");
            select undef, undef, undef, 0.01;
        }
    }
    die "$command[0] does not answer\n";
}

# Returns the command `tavola` of the checkout, the one that was built last; or nothing.
sub tavola_command {
    my $target = ($ENV{TAVOLA_PERL_SOURCE} // '.') . '/../../target';
    my @built = sort { -M $a <=> -M $b } grep { -x } map { "$target/$_/tavola" }
        qw(debug quick release);
    return $ENV{TAVOLA_COMMAND} // $built[0];
}

# Returns where the keys of the tests are: a name, the tests that differ, and the command of the
# server, which may be missing.
sub places_of_keys {
    my ($memcached) = grep { -x } map { "$_/memcached" } split /:/, $ENV{PATH};
    my $tavola = tavola_command();
    my @places = ([ 'in a table', \%ON_TABLE ]);
    return @places if !has_client();
    push @places, [ 'on memcached', \%ON_SERVERS, $memcached, qw(-u root -l 127.0.0.1 -p PORT) ],
        [ 'on tavola serve', \%ON_SERVERS, $tavola, qw(serve peers --listen 127.0.0.1:PORT) ];
    return @places;
}

my @pids;
END { local $?; kill TERM => @pids if @pids }

subtest 'Cache::Memcached::Fast' => sub {
    my $in = "$peers/Cache-Memcached-Fast-0.28";
    my @files = map { "t/$_" } map { s{.*/}{}r } sort glob "$in/t/*.t";
    my @runs;
    for my $place (places_of_keys()) {
        my ($name, $differs, @command) = @$place;
        if (@command && !defined $command[0]) {
            diag("the tests do not run with keys $name: its program is not there");
            next;
        }
        my ($pid, $port) = @command ? start_server(@command) : ();
        push @pids, $pid if $pid;
        local $ENV{TAVOLA_MEMCACHED_PORT} = $port // '';
        # It sleeps for 20 seconds, so all do so at once.
        push @runs, [ $name, $differs, $port, { 't/commands.t' => started($in, 't/commands.t') } ];
    }
    for my $run (@runs) {
        my ($name, $differs, $port, $running) = @$run;
        local $ENV{TAVOLA_MEMCACHED_PORT} = $port // '';
        # The slow one comes last.
        my @order = sort { ($a =~ /commands/) <=> ($b =~ /commands/) || $a cmp $b } @files;
        my $count = suite($in, $differs, $running, @order);
        cmp_ok($count, '>=', 125, "all tests were run with keys $name");
        diag("$count tests of Cache::Memcached::Fast passed with keys $name");
    }
    kill TERM => @pids;
    waitpid $_, 0 for splice @pids;
};

# The numbers are those of version 1.57. Files without numbers die at one of their first calls, or
# have tests that depend on what is installed.
my $WRITE_BACK = 'write_back is refused, because the table evicts without a call to the process';
my $PAGE = 'there are no pages, so a value of 64 KB has room and less is evicted';
my %FASTMMAP = (
    '2.t'  => [ undef, 'the clock of the test cannot be set' ],
    '25.t' => [ undef, 'tombstones, which are of version 1.63, are not there' ],
    '1.t'  => [ '17 18 19 20 27 28', $PAGE ],
    '3.t'  => [ '8', $PAGE ],
    '13.t' => [ undef, $PAGE ],
    (map { ("$_.t" => [ undef, $WRITE_BACK ]) } 4, 6, 7, 10, 11, 15, 22, 23),
);

subtest 'Cache::FastMmap' => sub {
    my ($in) = glob "$peers/Cache-FastMmap-*";
    if (!defined $in) {
        plan skip_all => 'the source of libcache-fastmmap-perl cannot be had; t/61-fastmmap.t '
            . 'compares the calls with the installed module';
    }
    my $is_known = $in =~ /-1\.57\z/;
    if (!$is_known) {
        $_->[0] = undef for values %FASTMMAP;
    }
    my $count = suite($in, \%FASTMMAP, {}, map { "t/$_" } map { s{.*/}{}r } sort glob "$in/t/*.t");
    cmp_ok($count, '>=', 346, 'all tests were run');
    diag("$count tests of Cache::FastMmap passed");
};

done_testing;

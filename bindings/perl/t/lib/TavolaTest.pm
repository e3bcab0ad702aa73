package TavolaTest;

# Helpers of the tests: a temporary folder of tables, children that are waited for, and a check that
# nothing is left behind.

use strict;
use warnings;

use Exporter qw(import);
use File::Spec ();
use File::Temp ();
use POSIX ();
use Test::More ();

our @EXPORT = qw(
    child_says dies error_of has_client in_child memcached reap rss_kib stop_memcached table
);

my ($dir, $owner);

BEGIN {
    # In memory if it can be: that is where tables usually are.
    my $root = -d '/dev/shm' && -w '/dev/shm' ? '/dev/shm' : File::Spec->tmpdir;
    $dir = File::Temp->newdir('tavola-perl-XXXXXX', DIR => $root, CLEANUP => 1);
    $ENV{TAVOLA_DIR} = "$dir";
    $owner = $$;
}

# The folder belongs to the thread that made it: the end of another one must not remove it.
sub File::Temp::Dir::CLONE_SKIP { return 1 }

my %servers;

# Removes the folder before global destruction, when File::Temp still can.
END {
    if ($$ == $owner) {
        local $?;
        stop_memcached(keys %servers);
        undef $dir;
    }
}

require Tavola;

my $count = 0;

# Opens a table of its own.
sub table {
    my (%options) = @_;
    return Tavola->open('table' . ++$count, max_size => '64M', %options);
}

# Runs code in a forked child, which ends without running END blocks of the test. Returns its pid.
sub in_child {
    my ($code) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    my $is_good = eval { $code->(); 1 };
    print STDERR "# child: $@\n" if !$is_good;
    POSIX::_exit($is_good ? 0 : 1);
}

# Runs code in a child, and returns the pid and a handle that reads what the code prints to `$_[0]`.
sub child_says {
    my ($code) = @_;
    pipe(my $from, my $to) or die "pipe: $!";
    my $pid = in_child(sub {
        close $from;
        $to->autoflush(1);
        $code->($to);
    });
    close $to;
    return ($pid, $from);
}

# Waits for children, and returns whether all ended with 0.
sub reap {
    my @pids = @_;
    my $bad = 0;
    for my $pid (@pids) {
        waitpid $pid, 0;
        $bad++ if $? != 0;
    }
    return $bad == 0;
}

# Returns the error that code throws, or undef.
sub error_of {
    my ($code) = @_;
    return eval { $code->(); 1 } ? undef : $@;
}

# Tests that code throws an error of a class with certain words.
sub dies {
    my ($code, $class, $words, $name) = @_;
    my $error = error_of($code);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::subtest(
        $name => sub {
            Test::More::isa_ok($error, "Tavola::Error::$class");
            Test::More::like("$error", $words, 'says why');
        });
}

# Starts memcached on a Unix socket with a name in the folder of the test. Returns the path of the
# socket, or nothing if memcached is not installed.
sub memcached {
    my ($name, @options) = @_;
    my ($program) = grep { -x } map { "$_/memcached" } split /:/, $ENV{PATH};
    return if !$program;
    my $path = "$ENV{TAVOLA_DIR}/$name.sock";
    my $pid = in_child(sub { exec $program, '-s', $path, '-u', 'root', @options or die $! });
    $servers{$path} = $pid;
    for (1 .. 6000) {
        last if -S $path;
        select undef, undef, undef, 0.01;
    }
    return $path;
}

# Returns the number of the process of a server of `memcached`.
sub pid_of { return $servers{ $_[0] } }

# Stops servers of `memcached`, by the paths of their sockets.
sub stop_memcached {
    for my $path (@_) {
        my $pid = delete $servers{$path} or next;
        kill CONT => $pid;
        kill TERM => $pid;
        waitpid $pid, 0;
        unlink $path;
    }
    return;
}

# Returns whether the client of memcached servers was built.
sub has_client {
    require Tavola::Memcached;
    my $error = error_of(sub { Tavola::Memcached::Fleet::_load() });
    return 1 if !defined $error;
    die $error if $error !~ /was not built/;
    return 0;
}

# Returns the resident size of this process.
sub rss_kib {
    open my $status, '<', '/proc/self/status' or return 0;
    while (my $line = <$status>) {
        return $1 if $line =~ /\AVmRSS:\s+(\d+)/;
    }
    return 0;
}

1;

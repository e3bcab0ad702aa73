# A real Starman with prefork workers, of which one is killed while it writes.
use strict;
use warnings;

use lib 't/lib';
use IO::Socket::INET;
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep time);

my ($starman) = grep { -f } map { "$_/starman" } split /:/, $ENV{PATH};
if (!$starman) {
    plan skip_all => 'Starman is not installed';
}

my $app = "$ENV{TAVOLA_DIR}/app.psgi";
open my $file, '>', $app or die "$app: $!";
print {$file} <<'END';
use strict;
use warnings;
use Tavola;

# Opened before the workers are forked: the handle works in each of them.
my $cache = Tavola->open('web', capacity => '8M');
my %page = (
    '/count' => sub { $cache->incr('count') },
    '/pid'   => sub { $$ },
    '/page'  => sub { $cache->compute('page', ttl => 100, sub { $cache->incr('made'); 'made' }) },
    '/write' => sub {
        $cache->set('writes', $$);
        for (my $i = 0; ; $i++) { $cache->set('k' . $i % 3000, 'x' x ($i % 900)) }
    },
);

sub {
    my ($env) = @_;
    my $body = $page{ $env->{PATH_INFO} };
    return [ 404, [ 'Content-Type' => 'text/plain' ], [ 'no such page' ] ] if !$body;
    return [ 200, [ 'Content-Type' => 'text/plain' ], [ $body->() ] ];
};
END
close $file;

# A free port of the loopback interface.
my $probe = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die $!;
my $port = $probe->sockport;
close $probe;

my $server = fork // die "fork: $!";
if (!$server) {
    open STDOUT, '>', '/dev/null' or die $!;
    open STDERR, '>', "$ENV{TAVOLA_DIR}/starman.log" or die $!;
    exec $^X, (map { "-I$_" } @INC), $starman, '--workers', 3, '--preload-app',
        '--listen', "127.0.0.1:$port", '--env', 'deployment', $app
        or die "exec: $!";
}

# Stops the server also if the test dies. The children of this test do not.
my $owner = $$;
END {
    if (defined $owner && $$ == $owner && $server) {
        local $?;
        kill QUIT => $server;
        waitpid $server, 0;
    }
}

sub request {
    my ($path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 5) or return;
    print {$socket} "GET $path HTTP/1.0\r\n\r\n";
    local $/;
    my $answer = <$socket>;
    return defined $answer ? $answer =~ s/\A.*?\r\n\r\n//sr : undef;
}

# Waits until a condition holds, at most 20 seconds.
sub soon {
    my ($condition) = @_;
    my $end = time + 20;
    while (time < $end) {
        my $value = $condition->();
        return $value if $value;
        sleep 0.01;
    }
    return;
}

ok(soon(sub { request('/pid') }), 'the server answers') or BAIL_OUT('no Starman');
my $cache = Tavola->open('web');

subtest 'workers share the cache' => sub {
    my @children = map { in_child(sub { request('/count') // die for 1 .. 50 }) } 1 .. 4;
    ok(reap(@children), 'all requests were answered');
    is($cache->get('count'), 200, 'the workers counted together');
    my %pids = map { request('/pid') => 1 } 1 .. 60;
    ok(keys %pids > 1, 'several workers answered');
    reap(map { in_child(sub { request('/page') eq 'made' or die }) } 1 .. 6);
    is($cache->get('made'), 1, 'one worker computed the page');
};

subtest 'a worker is killed while it writes' => sub {
    for my $round (1 .. 3) {
        $cache->delete('writes');
        my $client = in_child(sub { request('/write'); });
        my $worker = soon(sub { $cache->get('writes') });
        ok($worker, "round $round: a worker writes");
        ok(soon(sub { $cache->exists('k2999') }), "round $round: it has written all keys");
        kill KILL => $worker;
        waitpid $client, 0;
        my $before = $cache->get('count') // 0;
        request('/count') // die for 1 .. 20;
        is($cache->get('count'), $before + 20, "round $round: the others go on");
    }
    is_deeply($cache->check->{problems}, [], 'the table is sound');
};

done_testing;

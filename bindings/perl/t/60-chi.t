use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

BEGIN {
    if (!eval { require CHI; 1 }) {
        plan skip_all => 'CHI is not installed';
    }
}

my $chi = CHI->new(driver => 'Tavola', table => 'chi', capacity => '8M', namespace => 'users');

subtest 'a cache' => sub {
    is($chi->get('alice'), undef, 'a missing key');
    $chi->set('alice', { admin => 1 }, '10 min');
    is_deeply($chi->get('alice'), { admin => 1 }, 'a structure');
    is($chi->compute('bob', '10 min', sub { 'made' }), 'made', 'compute');
    is($chi->get('bob'), 'made', 'is stored');
    is_deeply([ sort $chi->get_keys ], [ 'alice', 'bob' ], 'get_keys');
    is_deeply($chi->get_multi_hashref([ 'bob', 'none' ]), { bob => 'made', none => undef },
        'several keys');
    $chi->remove('bob');
    ok(!$chi->is_valid('bob'), 'remove');
    $chi->set("k\x{fc}r\x{263a}", 'wide');
    is($chi->get("k\x{fc}r\x{263a}"), 'wide', 'a key of characters');
};

subtest 'namespaces share a table' => sub {
    my $other = CHI->new(driver => 'Tavola', table => $chi->tavola, namespace => 'pages');
    $other->set('alice', 'page');
    is_deeply($chi->get('alice'), { admin => 1 }, 'keys are apart');
    is_deeply([ sort $chi->get_namespaces ], [ 'pages', 'users' ], 'get_namespaces');
    $chi->clear;
    is_deeply([ $chi->get_keys ], [], 'clear');
    is($other->get('alice'), 'page', 'the other namespace stays');
};

subtest 'processes share the cache' => sub {
    my @children = map { my $n = $_; in_child(sub { $chi->set("child $n", $n) }) } 1 .. 3;
    ok(reap(@children), 'all children ended well');
    is_deeply([ map { $chi->get("child $_") } 1 .. 3 ], [ 1 .. 3 ], 'their values');
};

subtest 'the table lets keys expire' => sub {
    my $backend = CHI->new(driver => 'Tavola', table => $chi->tavola, namespace => 'b',
        expires_on_backend => 1);
    $backend->set('k', 'v', '100 s');
    ok($chi->tavola->ttl("b\0k") > 50, 'with expires_on_backend');
};

done_testing;

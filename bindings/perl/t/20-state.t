use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

subtest 'watch' => sub {
    my $t = table();
    $t->set('config', 1);
    my $watch = $t->watch('config');
    ok(!$watch->wait(0.01), 'no change');
    my $child = in_child(sub { $t->set('config', 2) });
    ok($watch->wait(10), 'a change of another process');
    is($t->get('config'), 2, 'the new value');
    ok(reap($child), 'the child ended well');
    $t->delete('config');
    ok($watch->wait(10), 'a delete is a change');
};

subtest 'stats and check' => sub {
    my $cache = Tavola->open('cache', capacity => '4M');
    $cache->set("key$_", 'x' x 100) for 1 .. 100;
    $cache->get("key$_") for 1 .. 200;
    my $stats = $cache->stats;
    is($stats->{keys}, 100, 'keys');
    is($stats->{live_keys}, 100, 'live keys');
    is($stats->{capacity}, 4 << 20, 'capacity');
    is($stats->{sets}, 100, 'sets');
    ok($stats->{hits} > 50 && $stats->{misses} > 50, 'hits and misses');
    like($stats->{uuid}, qr/\A[0-9a-f]{32}\z/, 'uuid');
    my $report = $cache->check;
    is($report->{keys}, 100, 'check counts the keys');
    is_deeply($report->{problems}, [], 'and finds no problem');
    is($cache->repair->{problem_count}, 0, 'repair');
    my ($me) = grep { $_->{pid} == $$ } @{ $cache->participants };
    ok($me->{is_alive} && $me->{is_local}, 'this process is a participant');
    like($me->{command}, qr/20-state/, 'with its command line');
    is($cache->reclaim, 0, 'no dead participants');
    like($cache->compact, qr/\A\d+\z/, 'compact returns bytes');
    $cache->maintain('16M');
    $cache->maintain;
    my $table = table();
    $table->set_max_size('128M');
    is($table->stats->{max_size}, 128 << 20, 'set_max_size');
};

subtest 'names' => sub {
    my $t = Tavola->open('carts', max_size => '16M');
    $t->set('a', 1);
    ok((grep { $_ eq 'carts' } Tavola->list), 'list');
    ok((grep { $_ eq $t->path } Tavola->paths), 'paths');
    is(Tavola->directory, $ENV{TAVOLA_DIR}, 'directory');
    is(Tavola->path_of('carts'), $t->path, 'path_of');
    is($t->copy_to('copy'), 1, 'copy_to returns the number of keys');
    is(Tavola->open('copy')->get('a'), 1, 'the copy');
    Tavola->rename('copy', 'old carts');
    is(Tavola->open('old carts')->get('a'), 1, 'rename');
    ok(Tavola->remove('old carts'), 'remove');
    ok(!Tavola->remove('old carts'), 'remove of a missing table is false');
    ok(!$t->refresh, 'refresh: nothing has changed');
    Tavola->remove('carts');
    Tavola->open('carts', max_size => '16M')->set('a', 2);
    is($t->get('a'), 1, 'an open handle keeps its file');
    ok($t->refresh, 'refresh: the file was replaced');
    is($t->get('a'), 2, 'the handle leads to the new one');
    my $private = Tavola->open(undef, private => 1);
    $private->set('a', 3);
    is($private->get('a'), 3, 'a private table');
};

done_testing;

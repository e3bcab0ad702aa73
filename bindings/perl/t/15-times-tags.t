use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep time);

my $t = table();

# Waits until a condition holds, at most 10 seconds.
sub soon {
    my ($condition) = @_;
    my $end = time + 10;
    while (time < $end) {
        return 1 if $condition->();
        sleep 0.005;
    }
    return 0;
}

subtest 'times' => sub {
    $t->set('k', 'v');
    is($t->ttl('k'), undef, 'a key lives for ever');
    $t->set('k', 'v', ttl => 100);
    my $left = $t->ttl('k');
    ok($left > 99 && $left <= 100.1, 'a ttl in seconds');
    $t->set('k', 'v', 50);
    ok($t->ttl('k') <= 50.1, 'a ttl as the only option');
    $t->set('k', 'v', expires_at => time + 200);
    ok(abs($t->ttl('k') - 200) < 5, 'a time of the clock');
    ok(abs($t->entry('k')->{expires_at} - time - 200) < 5, 'entry has the time of the clock');
    ok($t->touch('k', 300), 'touch');
    ok($t->ttl('k') > 290, 'has another ttl');
    ok($t->touch('k', ttl => 400), 'touch by name');
    ok($t->ttl('k') > 390, 'has another ttl');
    ok($t->persist('k'), 'persist');
    is($t->ttl('k'), undef, 'lives for ever');
    $t->touch('k', 5);
    ok($t->touch('k', undef), 'touch with undef');
    is($t->ttl('k'), undef, 'lives for ever');
    is($t->get_and_touch('k', 70), 'v', 'get_and_touch returns the value');
    ok($t->ttl('k') > 60, 'and sets the ttl');
    ok(!$t->touch('none', 5), 'touch of a missing key is false');
    is($t->get_and_touch('none', 5), undef, 'get_and_touch of a missing key');
    is($t->ttl('none'), undef, 'ttl of a missing key');
    $t->set('brief', 'v', ttl => 0.02);
    ok(soon(sub { !$t->exists('brief') }), 'a key expires');
    is($t->get('brief'), undef, 'and is missing');
    $t->set('past', 'v', expires_at => 1);
    is($t->get('past'), undef, 'a time that has passed');
    ok($t->remove_expired, 'remove_expired');
    is($t->size, 1, 'expired keys are removed');
    my $timed = table(ttl => 100);
    $timed->set('k', 1);
    ok($timed->ttl('k') > 90, 'the ttl of the table');
    $timed->set('k', 1, ttl => undef);
    is($timed->ttl('k'), undef, 'undef is for ever');
    $timed->touch('k');
    ok($timed->ttl('k') > 90, 'touch without a time is that of the table');
};

subtest 'tags' => sub {
    $t->set('page', '<p>', tags => [ 'home', 'user:7' ], ttl => 100);
    $t->set('other', '<p>', tags => 'home');
    is_deeply([ sort $t->tags_of('page') ], [ 'home', 'user:7' ], 'tags_of');
    $t->invalidate('user:7');
    is($t->get('page'), undef, 'an invalidated tag');
    is($t->get('other'), '<p>', 'another tag');
    $t->invalidate('home');
    is($t->get('other'), undef, 'a single tag');
    ok($t->invalidate('nobody has it'), 'a tag that does not exist');
    my $tags = $t->tags('early');
    $t->invalidate('early');
    $t->set('stale', 'old', tags => $tags);
    is($t->get('stale'), undef, 'tags that were fetched before the invalidation');
    ok($t->add('stale', 'new', tags => [ 'early' ]), 'add with tags');
    is($t->get('stale'), 'new', 'is there');
    dies(sub { $t->set('x', 1, tags => bless \(my $x = 'no'), 'Tavola::Tags') }, 'Argument',
        qr/damaged/, 'forged tags');
};

done_testing;

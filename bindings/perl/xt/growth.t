# A million operations: the process must not grow.
use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

my $ROUNDS = 50_000;

my $t = table(serializer => 'storable', capacity => '8M');
my $plain = Tavola->open($t->path);
tie my %h, 'Tavola', $t->path;
my $q = Tavola::Queue->open('q', places => 4, json => 1);
my $object = bless { a => [ 1, 2 ] }, 'Thing';

# 21 operations of all kinds.
sub round {
    my ($i) = @_;
    my $key = 'key' . $i % 1000;
    $t->set($key, $i);
    $t->get($key);
    $plain->set($key, [ $i, { text => "gr\x{fc}\x{df}e\x{263a}", none => undef } ]);
    $plain->get($key);
    $t->set($key, $object, ttl => 100, tags => [ 'a', 'b' ]);
    $t->get($key);
    $h{$key} = 'x' x ($i % 5000);
    my $copy = $h{$key};
    delete $h{$key};
    my ($value, $token) = $t->gets('swapped');
    $t->cas('swapped', $token, $i) if defined $token;
    $t->swap('swapped', 1.5 * $i);
    $t->get_multi('swapped', $key, 'count');
    $t->set_multi({ a => $i, b => "text $i" });
    $t->incr('count');
    eval { $t->incr('a b c', 1, wrong => 1) };
    $t->set('word', 'abc');
    eval { $t->incr('word') };
    $t->compute("computed$key", ttl => 100, sub { { a => $i } });
    $q->push({ job => $i });
    $q->job->done;
    return;
}

sub walk {
    my ($t) = @_;
    my $lock = $t->lock('walk');
    my @keys = $t->keys('key');
    my $iterator = $t->iterator;
    my ($key, $value) = $iterator->next;
    my @tied = keys %h;
    $t->stats;
    eval { $t->compute('bad', back_off => 0.001, sub { die { code => 1 } }) };
    return;
}

for my $i (1 .. $ROUNDS / 5) {
    round($i);
    walk($t) if $i % 1000 == 0;
}
my $before = rss_kib();
for my $i (1 .. $ROUNDS) {
    round($i);
    walk($t) if $i % 1000 == 0;
}
my $after = rss_kib();
cmp_ok($after - $before, '<', 2048, 'a million operations: less than 2 MiB more')
    or diag("$before KiB before, $after KiB after");
is($t->get('count'), $ROUNDS + int($ROUNDS / 5), 'and every one was done');

subtest 'a fleet' => sub {
    plan skip_all => 'Tavola was built without libtavola_client' if !has_client();
    require './xt/memory-fleet.pl';
    my @sockets = map { memcached("growth$_") } 1 .. 2;
    my $servers = @sockets == 2 ? \@sockets : [ 'tavola:left', 'tavola:right' ];
    use_fleets($servers, 300);
    my $before = rss_kib();
    use_fleets($servers, 1500);
    my $after = rss_kib();
    cmp_ok($after - $before, '<', 2048, 'a hundred thousand operations: less than 2 MiB more')
        or diag("$before KiB before, $after KiB after");
};

done_testing;

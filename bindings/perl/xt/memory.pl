# Calls every kind of function some times, for valgrind.
use strict;
use warnings;

use lib 't/lib';
use TavolaTest;

my $t = table(shards => 1, serializer => 'storable');
my $plain = Tavola->open($t->path);
tie my %h, 'Tavola', $t->path;
my $q = Tavola::Queue->open('q', places => 4, json => 1);
my $log = Tavola::Log->open('log', bytes => '64K', stderr => 0);
for my $i (1 .. 50) {
    $h{"k$i"} = 'x' x ($i * 37);
    my $copy = $h{"k$i"};
    delete $h{"k$i"};
    $plain->set('json', [ $i, { text => "\x{263a}" }, undef, 1.5 ]);
    $plain->get('json');
    $plain->_store_raw('json', '["broken', 0x54040000);
    $plain->get('json');
    $plain->_store_raw('json', '', 0x54040000);
    $plain->get('json');
    $t->set('object', bless({ i => $i }, 'Thing'), tags => [ 'a' ], ttl => 5);
    $t->get('object');
    $t->tags_of('object');
    $t->get_multi('object', 'k1', 'json');
    $t->set_multi({ a => $i, b => 'text' });
    $t->swap('a', 'b');
    $t->take('a');
    $t->incr('n', 1, initial => 5);
    eval { $t->incr('b') };
    eval { $plain->set('x', sub { 1 }) };
    eval { $t->set('x', 1, wrong => 1) };
    $t->compute('c', ttl => 5, sub { { a => 1 } });
    eval { $t->compute('bad', back_off => 0.001, sub { die { a => 1 } }) };
    $t->transaction(sub { $_[0]->incr('n'); $_[0]->set('t', [$i], tags => ['a']) });
    $t->transaction(sub { $_[0]->take('t') });
    $t->transaction(sub { $_[0]->set('t', 'x' x 500); $_[0]->abort }, once => 1);
    eval { $t->transaction(sub { $_[0]->savepoint; $_[0]->get('object'); $_[0]->incr('b') }) };
    $t->read_together(sub { $_[0]->get('object') });
    my $lock = $t->lock('l');
    $t->lock('l', timeout => 0);
    $q->push({ i => $i });
    my $job = $q->job;
    $job->value;
    $job->done if $i % 2;
    $q->pop;
    $log->info("line $i");
}
my @keys = (keys %h, $t->keys('k'));
$t->each(sub { });
my @lines = $log->reader->lines;
$t->check;
$t->stats;
$t->participants;
exit 0;

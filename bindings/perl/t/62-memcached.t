use strict;
use warnings;
use utf8;

use lib 't/lib';
use IO::Socket::UNIX;
use Test::More;
use TavolaTest;
use Tavola::Memcached;

my $memd = Tavola::Memcached->new({
    servers => [ { address => 'tavola:web', weight => 2 } ],
    namespace => 'app:', utf8 => 1, compress_threshold => 1000, ketama_points => 150,
});

subtest 'single keys' => sub {
    is($memd->get('a'), undef, 'a missing key');
    is_deeply([ $memd->get('a') ], [], 'is nothing');
    is($memd->set('a', 'one'), 1, 'set');
    is($memd->add('a', 'x'), '', 'add of a key that exists');
    is($memd->add('b', 'two', 100), 1, 'add');
    is($memd->replace('none', 'x'), '', 'replace of a missing key');
    is($memd->append('a', '!'), 1, 'append');
    is($memd->prepend('a', '>'), 1, 'prepend');
    is($memd->get('a'), '>one!', 'get');
    my $both = $memd->gets('a');
    $both->[1] = 'changed';
    is($memd->cas('a', @$both), 1, 'cas');
    is($memd->cas('a', @$both), '', 'cas with an old token');
    is($memd->delete('a'), 1, 'delete');
    is($memd->remove('a'), '', 'remove of a missing key');
    is(Tavola->open('web')->get('app:b'), 'two', 'the namespace is in front of the key');
};

subtest 'values' => sub {
    for my $value ('grüße', "\xff\x00", 42, [ 1, { a => undef } ], 'x' x 5000, [ 'y' x 5000 ]) {
        $memd->set('v', $value);
        is_deeply($memd->get('v'), $value, 'read back');
    }
    my $t = $memd->table;
    is(($t->_raw('app:v'))[1], 3, 'flags of Cache::Memcached::Fast');
    ok(length(($t->_raw('app:v'))[0]) < 500, 'compressed');
    $t->set('app:json', { a => 1 });
    is_deeply($memd->get('json'), { a => 1 }, 'values of other bindings are read');
    $t->_store_flags('app:v', 'garbage', 1, undef, 0, 0);
    is($memd->get('v'), undef, 'a value that cannot be read is missing');
    my $plain = Tavola::Memcached->new({ table => $t });
    like(error_of(sub { $plain->set('k', "\x{263a}") }), qr/Wide character/, 'without utf8');
    is($memd->set('k', 'x' x (2 << 20)), 1, 'a value that is small when it is compressed');
    $memd->enable_compress(0);
    is($memd->set('k', 'x' x (2 << 20)), undef, 'a value longer than max_size');
    $memd->enable_compress(1);
};

subtest 'parts and references' => sub {
    $memd->set('v', 'a');
    is($memd->append('v', 'b' x 2000), 1, 'a long part');
    is($memd->get('v'), 'a' . 'b' x 2000, 'is not compressed');
    my $plain = Tavola::Memcached->new({ table => $memd->table, serialize_methods => 0 });
    like(error_of(sub { $plain->set('k', []) }), qr/serialize_methods.* at \S*62-memcached/,
        'no reference without serialize_methods');
    $memd->set('list', [1]);
    is($plain->get('app:list'), undef, 'nothing is thawed');
};

subtest 'counters and times' => sub {
    $memd->set('n', 5);
    is($memd->incr('n'), 6, 'incr');
    is($memd->decr('n', 2), 4, 'decr');
    is($memd->decr('n', 100), '0E0', 'never below 0');
    is($memd->incr('none'), '', 'a missing counter');
    $memd->set('word', 'abc');
    is($memd->incr('word'), undef, 'a word');
    like($memd->last_error, qr/number/, 'last_error has the reason');
    is($memd->incr('n'), 1, 'the next call works');
    is($memd->last_error, undef, 'and has no error');
    $memd->decr('n');
    is($memd->touch('n', 50), 1, 'touch');
    ok($memd->table->ttl('app:n') > 40, 'has a ttl');
    is($memd->gat(0, 'n'), 0, 'gat');
    is($memd->table->ttl('app:n'), undef, '0 is for ever');
    is($memd->touch('n', time + 31 * 86400 + 100), 1, 'a time of the clock');
    ok($memd->table->ttl('app:n') > 30 * 86400, 'is one');
    is($memd->gats(0, 'n')->[1], 0, 'gats');
};

subtest 'many keys' => sub {
    is_deeply([ $memd->set_multi([ 'x', 1 ], [ 'y', 2, 100 ]) ], [ 1, 1 ], 'set_multi');
    is_deeply($memd->get_multi('x', 'y', 'z'), { x => 1, y => 2 }, 'get_multi');
    is_deeply(scalar $memd->incr_multi('x', [ 'y', 10 ]), { x => 2, y => 12 }, 'incr_multi');
    my $both = $memd->gets_multi('x');
    is_deeply([ $memd->cas_multi([ 'x', $both->{x}[0], 'new' ]) ], [ 1 ], 'cas_multi');
    is_deeply(scalar $memd->delete_multi('x', 'none'), { x => 1, none => '' }, 'delete_multi');
    ok(error_of(sub { $memd->set_multi([ 'a', 1 ], [ 'b', undef ]) }), 'an undefined value');
    is($memd->get('a'), undef, 'and nothing is stored');
    is_deeply($memd->gat_multi(100, 'y'), { y => 12 }, 'gat_multi');
    is(ref $memd->gats_multi(100, 'y')->{y}, 'ARRAY', 'gats_multi');
    is_deeply([ $memd->touch_multi([ 'y', 5 ], [ 'none' ]) ], [ 1, '' ], 'touch_multi');
};

subtest 'the same bytes as Cache::Memcached::Fast' => sub {
    my $path = eval { require Cache::Memcached::Fast; 1 } && memcached('peer');
    plan skip_all => 'memcached or Cache::Memcached::Fast is not installed' if !$path;
    my $socket = IO::Socket::UNIX->new(Peer => $path);
    my %param = (utf8 => 1, namespace => 'ns:', compress_threshold => 1000);
    my $peer = Cache::Memcached::Fast->new({ %param, servers => [$path] });
    my $ours = Tavola::Memcached->new({ %param, table => $memd->table });
    for my $value ('bytes', 'grüße', 42, [ 1, { a => 'b' } ], 'x' x 5000) {
        $_->set('v', $value) for $peer, $ours;
        print {$socket} "get ns:v\r\n";
        my $head = <$socket>;
        my ($flags, $length) = $head =~ /\AVALUE ns:v (\d+) (\d+)/;
        read $socket, my $bytes, $length + 7;
        is(($ours->table->_raw('ns:v'))[1], $flags, 'flags');
        is(($ours->table->_raw('ns:v'))[0], substr($bytes, 0, $length), 'bytes');
    }
    stop_memcached($path);
};

subtest 'the rest' => sub {
    is($memd->namespace('other:'), 'app:', 'namespace returns the old one');
    is($memd->get('y'), undef, 'another namespace');
    is($memd->namespace('app:'), 'other:', 'and back');
    is_deeply([ keys %{ $memd->server_versions } ], ['tavola:web'], 'server_versions');
    $memd->nowait_push;
    $memd->disconnect_all;
    is($memd->flush_all->{'tavola:web'}, 1, 'flush_all');
    is($memd->table->size, 0, 'no keys');
    is($memd->flush_all(10)->{'tavola:web'}, '', 'it cannot be delayed');
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    Tavola::Memcached->new({ colour => 1, table => $memd->table });
    like($warnings[0], qr/Unknown arguments: colour at \S*62-memcached/, 'a warning');
    Tavola::Memcached->new({ colour => 1, check_args => 'skip', table => $memd->table });
    is(scalar(@warnings), 1, 'check_args');
};

done_testing;

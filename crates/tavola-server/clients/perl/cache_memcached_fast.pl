# Cache::Memcached::Fast against the server at HOST:PORT or the path of a Unix socket.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Cache::Memcached::Fast;
use Checks;

my ($place) = @ARGV;
my $client = Cache::Memcached::Fast->new({
    servers => [$place],
    io_timeout => 20,
    connect_timeout => 20,
    max_size => 4 << 20,
});
print "# Cache::Memcached::Fast $Cache::Memcached::Fast::VERSION, Perl $^V\n";

ok($client->set('a', 'one'), 'set');
is($client->get('a'), 'one', 'get');
is($client->get('none'), undef, 'get of a missing key');
ok($client->add('b', 'two'), 'add');
ok(!$client->add('b', 'x'), 'add of a key that is there');
ok($client->replace('b', '2'), 'replace');
ok(!$client->replace('none', 'x'), 'replace of a missing key');
ok($client->append('b', '>'), 'append');
ok($client->prepend('b', '<'), 'prepend');
ok(!$client->append('none', 'x'), 'append to a missing key');
is($client->get('b'), '<2>', 'what was joined');
ok($client->delete('a'), 'delete');
is($client->delete('a'), '', 'delete of a missing key');

my %many = map { ("many$_" => "value $_") } 0 .. 199;
my @keys = sort keys %many;
my @stored = $client->set_multi(map { [$_, $many{$_}] } @keys);
is(scalar(grep { $_ } @stored), 200, 'set_multi');
is_deeply($client->get_multi(@keys, 'none'), \%many, 'get_multi');
my @removed = $client->delete_multi(@keys);
is(scalar(grep { $_ } @removed), 200, 'delete_multi');
is_deeply($client->get_multi(@keys), {}, 'nothing of them');

$client->set('c', '1');
my ($first) = @{$client->gets('c')};
ok($client->cas('c', $first, '2'), 'cas');
is($client->cas('c', $first, '3'), '', 'cas with what was');
is($client->get('c'), '2', 'it is the first');
ok(!$client->cas('none', $first, '3'), 'cas of a missing key');
is($client->gets_multi('c', 'none')->{c}[1], '2', 'gets_multi');

$client->set('n', 10);
is($client->incr('n', 5), 15, 'incr');
is($client->decr('n', 6), 9, 'decr');
is($client->decr('n', 100), '0E0', 'decr below 0');
is($client->incr('none'), '', 'incr of a missing key');
$client->set_multi(['n1', 1], ['n2', 2]);
is_deeply([$client->incr_multi(['n1', 40], ['n2', 40])], [41, 42], 'incr_multi');
$client->set('n', 'word');
ok(!$client->incr('n'), 'incr of a word');

ok($client->set('bytes', every_byte), 'set of every byte');
is($client->get('bytes'), every_byte, 'get of every byte');
ok($client->set('large', large), 'set of a large value');
ok(($client->get('large') // '') eq large, 'get of a large value');
ok($client->set('empty', ''), 'set of nothing');
is($client->get('empty'), '', 'get of nothing');

# That it is an object stands in the flags.
ok($client->set('kind', {a => [1, 'x']}), 'set of an object');
is_deeply($client->get('kind'), {a => [1, 'x']}, 'get of an object');
my $longest = 'k' x 250;
ok($client->set($longest, 'x'), 'the longest key');
is($client->get($longest), 'x', 'get of the longest key');

ok($client->set('t', 'x', 3600), 'set for an hour');
is($client->gat(1800, 't'), 'x', 'gat');
is_deeply($client->gat_multi(1800, 't', 'none'), {t => 'x'}, 'gat_multi');
is($client->gats(1800, 't')->[1], 'x', 'gats');
ok($client->touch('t', 1), 'touch');
ok(!$client->touch('none', 1), 'touch of a missing key');
ok(ends(sub { $client->get('t') }), 'it ends');

# Without waiting for answers (noreply).
my $quiet = Cache::Memcached::Fast->new({servers => [$place], nowait => 1});
$quiet->set("quiet$_", $_) for 0 .. 99;
$quiet->delete('quiet0');
$quiet->nowait_push;
is(scalar(keys %{$quiet->get_multi(map { "quiet$_" } 0 .. 99)}), 99, 'without answers');

my ($version) = values %{$client->server_versions};
like($version, qr/^\d+\.\d+/, 'server_versions');
my ($flushed) = values %{$client->flush_all};
ok($flushed, 'flush_all');
is_deeply($client->get_multi('b', 'large', 'n'), {}, 'nothing is there');
$client->disconnect_all;
done_testing;

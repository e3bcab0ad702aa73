# Cache::Memcached against the server at HOST:PORT or the path of a Unix socket.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Cache::Memcached;
use Checks;

my ($place) = @ARGV;
my $client = Cache::Memcached->new(servers => [$place], select_timeout => 20, connect_timeout => 20);
print "# Cache::Memcached $Cache::Memcached::VERSION, Perl $^V\n";

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
ok(!$client->delete('a'), 'delete of a missing key');

my %many = map { ("many$_" => "value $_") } 0 .. 199;
$client->set($_, $many{$_}) for keys %many;
is_deeply($client->get_multi(keys %many, 'none'), \%many, 'get_multi');

$client->set('n', 10);
is($client->incr('n', 5), 15, 'incr');
is($client->decr('n', 6), 9, 'decr');
cmp_ok($client->get('n'), '==', 9, 'get of a number, which is shorter now');
is($client->decr('n', 100), 0, 'decr below 0');
ok(!$client->incr('none'), 'incr of a missing key');

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
is($client->get('t'), 'x', 'it is there');
ok($client->set('t', 'x', 1), 'set for a second');
ok(ends(sub { $client->get('t') }), 'it ends');

my $stats = $client->stats(['misc', 'items']);
ok($stats->{total}{curr_items} > 5, 'stats');
my ($host) = values %{$stats->{hosts}};
like($host->{misc}{version}, qr/^\d+\.\d+/, 'its version');
ok($host->{items}, 'stats items');
ok($client->flush_all, 'flush_all');
is_deeply($client->get_multi('b', 'large', 'n'), {}, 'nothing is there');
$client->disconnect_all;
done_testing;

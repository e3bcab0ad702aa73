use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

my $t = table();
isa_ok($t, 'Tavola');
like($t->path, qr{\Q$ENV{TAVOLA_DIR}\E/}, 'path of the file');
like(Tavola->library_version, qr/\A\d+\.\d+\.\d+\z/, 'version of the library');

subtest 'single keys' => sub {
    is($t->get('a'), undef, 'a missing key is undef');
    is($t->set('a', 'one'), 1, 'set is true');
    is($t->get('a'), 'one', 'get');
    ok($t->exists('a'), 'exists');
    ok(!$t->exists('b'), 'does not exist');
    ok(!$t->add('a', 'x'), 'add of a key that exists is false');
    ok($t->add('b', 'two'), 'add of a missing key is true');
    ok($t->replace('b', 'three'), 'replace of a key that exists');
    ok(!$t->replace('c', 'x'), 'replace of a missing key is false');
    is($t->get('b'), 'three', 'the new value');
    ok($t->append('b', '!'), 'append');
    ok($t->prepend('b', '>'), 'prepend');
    is($t->get('b'), '>three!', 'both');
    ok(!$t->append('c', 'x'), 'append to a missing key is false');
    is($t->length('b'), 7, 'length in bytes');
    is($t->get_range('b', 1, 5), 'three', 'a part of the value');
    is($t->get_range('c', 0, 5), undef, 'a part of a missing key');
    is($t->size, 2, 'size');
    ok($t->delete('a'), 'delete of a key that exists');
    ok(!$t->delete('a'), 'delete of a missing key is false');
    is($t->get('a'), undef, 'deleted');
};

subtest 'take and swap' => sub {
    is($t->swap('s', 'first'), undef, 'swap of a missing key');
    is($t->swap('s', 5), 'first', 'swap returns the old value');
    is($t->take('s'), 5, 'take returns the value with its kind');
    is($t->take('s'), undef, 'take of a missing key');
};

subtest 'tokens' => sub {
    is_deeply([ $t->gets('state') ], [], 'gets of a missing key is empty');
    $t->set('state', 'idle');
    my ($value, $token) = $t->gets('state');
    is($value, 'idle', 'gets returns the value');
    ok($t->cas('state', $token, 'busy'), 'cas with the token');
    ok(!$t->cas('state', $token, 'late'), 'cas with an old token is false');
    ok(!$t->cas('missing', $token, 'x'), 'cas of a missing key is false');
    is($t->get('state'), 'busy', 'the value of the first cas');
    ok(!$t->delete_token('state', $token), 'delete with an old token is false');
    ok($t->delete_token('state', ($t->gets('state'))[1]), 'delete with the token');
};

subtest 'counters' => sub {
    is($t->incr('n'), 1, 'a missing counter begins with 0');
    is($t->incr('n', 5), 6, 'by a number');
    is($t->decr('n', 10), -4, 'below 0');
    is($t->incr('m', 2, initial => 40), 42, 'an initial value is added to');
    is($t->incr('m', 2, initial => 40), 44, 'and does not matter if the key exists');
    is($t->incr('m', 0), 44, 'by 0');
    $t->incr('limited', 1, ttl => 100);
    ok($t->ttl('limited') > 90, 'a ttl for a new counter');
    $t->set('far', 9223372036854775807);
    dies(sub { $t->incr('far') }, 'BadOption', qr/\S/, 'a sum of more than 64 bits');
    dies(sub { $t->incr('far', 1, initial => 5) }, 'BadOption', qr/\S/, 'also with initial');
    $t->set('word', 'abc');
    dies(sub { $t->incr('word') }, 'NotACounter', qr/not a decimal number/, 'a word');
    dies(sub { $t->incr('word', 1, initial => 5) }, 'NotACounter', qr/not a decimal/, 'too');
    dies(sub { $t->incr('n', 1.5) }, 'Argument', qr/whole number/, 'by a fraction');
    dies(sub { $t->incr('n', 1, first => 5) }, 'Argument', qr/no option 'first'/, 'an option');
};

subtest 'keys and values are any bytes' => sub {
    my $key = join '', map { chr } 0 .. 255;
    my $value = reverse $key x 300;
    $t->set($key, $value);
    is($t->get($key), $value, 'all bytes, and a long value');
    $t->set('', '');
    is($t->get(''), '', 'empty ones');
    $t->set(17, 'number');
    is($t->get('17'), 'number', 'a number is a key by its text');
    ok(!utf8::is_utf8($t->get('17')), 'bytes are not characters');
};

subtest 'clear and close' => sub {
    ok($t->clear, 'clear');
    is($t->size, 0, 'no keys');
    $t->close;
    dies(sub { $t->get('a') }, 'Argument', qr/the table is closed/, 'a closed table');
    $t->close;
    dies(sub { Tavola::get('x', 'a') }, 'Argument', qr/not a Tavola table/, 'a string');
    my $forged = bless { table => 12345 }, 'Tavola';
    dies(sub { $forged->get('a') }, 'Argument', qr/not a Tavola table/, 'a forged object');
};

done_testing;

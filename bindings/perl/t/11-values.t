use strict;
use warnings;
use utf8;

use lib 't/lib';
use JSON::PP ();
use Test::More;
use TavolaTest;

my $t = table();

my %FLAGS = (
    bytes => 0, text => 0x54010000, integer => 0x54020000, float => 0x54030000,
    json => 0x54040000, storable => 0x54140000, object => 0x54ff0000,
);

# Stores a value, and looks at its bytes and its kind.
sub stored {
    my ($value, $bytes, $kind, $name) = @_;
    $t->set('v', $value);
    my $entry = $t->entry('v');
    is($entry->{bytes}, $bytes, "$name: bytes");
    is($entry->{flags}, $FLAGS{$kind}, "$name: $kind");
    is_deeply($t->get('v'), $value, "$name: read back");
    return;
}

subtest 'scalars' => sub {
    stored('plain', 'plain', 'bytes', 'a string');
    stored("\xff\x00\xe9", "\xff\x00\xe9", 'bytes', 'bytes above 127');
    stored('grüße', "gr\xc3\xbc\xc3\x9fe", 'text', 'characters below 256 with the UTF-8 flag');
    stored("\x{1F41A}", "\xf0\x9f\x90\x9a", 'text', 'characters above 255');
    stored(42, '42', 'integer', 'an integer');
    stored(-9223372036854775808, '-9223372036854775808', 'integer', 'the least integer');
    stored(18446744073709551615, '18446744073709551615', 'integer', 'the largest integer');
    stored('42', '42', 'bytes', 'digits in a string');
    stored(1.5, '1.5', 'float', 'a float');
    stored(0.1, '0.1', 'float', 'a float that is not exact');
    stored(1 / 3, '0.3333333333333333', 'float', 'the shortest text that reads back equal');
    stored(5e-324, '5e-324', 'float', 'the least float');
    stored(1e300, '1e+300', 'float', 'a large float');
    stored(9**9**9, 'inf', 'float', 'infinity');
    stored(-9**9**9, '-inf', 'float', 'minus infinity');
    stored(undef, 'null', 'json', 'undef');
    $t->set('v', -sin 9**9**9);
    is($t->entry('v')->{bytes}, 'nan', 'NaN');
    ok($t->get('v') != $t->get('v'), 'NaN is not equal to itself');
    my $number = 42;
    my $text = "$number";
    $t->set('v', $number);
    is($t->get('v') + 1, 43, 'a number that was printed is still usable');
};

subtest 'text' => sub {
    my $text = 'ascii';
    utf8::upgrade($text);
    $t->set('v', $text);
    is($t->entry('v')->{flags}, $FLAGS{text}, 'the UTF-8 flag makes text, also of ASCII');
    ok(utf8::is_utf8($t->get('v')), 'text is read as characters');
    $t->_store_raw('v', "\xff\xfe", $FLAGS{text});
    is($t->get('v'), "\xff\xfe", 'text that is not UTF-8 is read as bytes');
    ok(!utf8::is_utf8($t->get('v')), 'without the flag');
    no warnings 'surrogate';
    dies(sub { $t->set('v', chr(0xD800)) }, 'Argument', qr/surrogates/, 'a surrogate');
    dies(sub { $t->set('v', chr(0x110000)) }, 'Argument', qr/U\+10FFFF/, 'above Unicode');
};

subtest 'JSON' => sub {
    my $data = { list => [ 1, 'two', 2.5, undef, 'grüße', "\x{1F41A}" ], map => { a => {} } };
    $t->set('v', $data);
    is_deeply($t->get('v'), $data, 'lists and maps');
    is_deeply(JSON::PP->new->utf8->decode($t->entry('v')->{bytes}), $data, 'JSON::PP reads it');
    $t->set('v', [ "\"\\\n\t\x01/" ]);
    is($t->entry('v')->{bytes}, '["\"\\\\\n\t\u0001/"]', 'escapes');
    $t->set('v', [ "\xe9" ]);
    is($t->entry('v')->{bytes}, "[\"\xc3\xa9\"]", 'bytes in JSON are Latin-1 characters');
    $t->set('v', [ JSON::PP::true(), JSON::PP::false() ]);
    is($t->entry('v')->{bytes}, '[true,false]', 'booleans of JSON::PP');
    is_deeply([ map { $_ ? 1 : 0 } @{ $t->get('v') } ], [ 1, 0 ], 'are read as true and false');
    for my $bad ('', '{', '[1,]', '{"a"}', '"\u12"', '"\ud800"', 'nul', '01', '1 2', '[1 2]',
        "\"\x01\"", '-', '1.', '1e', "\"\xff\"", '[' x 600 . ']' x 600) {
        $t->_store_raw('v', $bad, $FLAGS{json});
        is($t->get('v'), $bad, 'bytes that are not JSON: ' . substr $bad, 0, 12);
    }
    $t->_store_raw('v', ' {"a" : [1 , -2.5e3,"\ud83d\udc1a\/"] } ', $FLAGS{json});
    is_deeply($t->get('v'), { a => [ 1, -2500, "\x{1F41A}/" ] }, 'spaces and escapes are read');
    $t->_store_raw('v', '[123456789012345678901234567890]', $FLAGS{json});
    is($t->get('v')->[0], '123456789012345678901234567890', 'no digit of a number is lost');
};

subtest 'numbers of other programs' => sub {
    for my $bad ('', '-', '1x', '18446744073709551616', '-9223372036854775809', ' 1') {
        $t->_store_raw('v', $bad, $FLAGS{integer});
        is($t->get('v'), $bad, "an integer that cannot be read is bytes: '$bad'");
    }
    for my $bad ('', 'x', '0x10', 'infinity', '1.5 ') {
        $t->_store_raw('v', $bad, $FLAGS{float});
        is($t->get('v'), $bad, "a float that cannot be read is bytes: '$bad'");
    }
    $t->_store_raw('v', '7', $FLAGS{integer} | 0x1234);
    is($t->get('v'), 7, 'the low 16 bits do not matter');
    $t->_store_raw('v', '7', 17);
    is($t->get('v'), '7', 'flags of a memcached client are bytes');
};

subtest 'what is refused' => sub {
    dies(sub { $t->set('v', sub { 1 }) }, 'Argument', qr/CODE is not JSON/, 'code');
    dies(sub { $t->set('v', \'x') }, 'Argument', qr/SCALAR is not JSON/, 'a scalar reference');
    dies(sub { $t->set('v', [ bless {}, 'Thing' ]) }, 'Argument', qr/object of Thing/, 'objects');
    dies(sub { $t->set('v', *STDOUT) }, 'Argument', qr/glob/, 'a glob');
    dies(sub { $t->set('v', [ 9**9**9 ]) }, 'Argument', qr/infinite/, 'infinity in JSON');
    my $loop = [];
    $loop->[0] = $loop;
    dies(sub { $t->set('v', $loop) }, 'Argument', qr/contain itself/, 'a loop');
    $loop->[0] = undef;
    dies(sub { $t->append('v', [ 1 ]) }, 'Argument', qr/string or a number/, 'append of a list');
};

subtest 'Storable' => sub {
    my $s = table(serializer => 'storable');
    my $object = bless { a => [ \'x' ] }, 'Thing';
    $s->set('o', $object);
    is($s->entry('o')->{flags}, $FLAGS{storable}, 'its own kind');
    is_deeply($s->get('o'), $object, 'objects are read back');
    isa_ok($s->get('o'), 'Thing');
    $s->set('n', 5);
    is($s->entry('n')->{flags}, $FLAGS{integer}, 'scalars stay scalars');
    my $plain = Tavola->open($s->path);
    is($plain->get('o'), $s->entry('o')->{bytes}, 'a table without it reads bytes');
    $s->_store_raw('o', 'broken', $FLAGS{storable});
    local $@ = 'kept';
    is($s->get('o'), 'broken', 'what does not decode is bytes');
    is($@, 'kept', 'and no error is left behind');
    dies(sub { table(serializer => 'pickle') }, 'Argument', qr/serializer is/, 'another name');
};

{
    package Upper;
    sub new         { return bless {}, shift }
    sub serialize   { return uc join ',', @{ $_[1] } }
    sub deserialize { return [ split /,/, $_[1] ] }
}

subtest 'a serializer of the program' => sub {
    my $s = table(serializer => Upper->new);
    $s->set('v', [ 'a', 'b' ]);
    is($s->entry('v')->{bytes}, 'A,B', 'serialize');
    is($s->entry('v')->{flags}, $FLAGS{object}, 'its own kind');
    is_deeply($s->get('v'), [ 'A', 'B' ], 'deserialize');
    is_deeply($s->get_multi('v'), { v => [ 'A', 'B' ] }, 'in batches, too');
    is(Tavola->open($s->path)->get('v'), 'A,B', 'others read bytes');
    $s->_store_raw('v', 'C,D', 0x50450000);
    is_deeply($s->get('v'), [ 'C', 'D' ], 'the flags that marked it before are read');
    $s->_store_raw('v', 'C,D', $FLAGS{storable});
    is($s->get('v'), 'C,D', 'what Storable wrote is bytes for it');
    dies(sub { table(serializer => bless []) }, 'Argument', qr/has the methods/, 'no methods');
};

subtest 'fixed lengths' => sub {
    my $f = table(fixed_key => 2, fixed_value => 3);
    $f->set('ab', 123);
    is($f->entry('ab')->{flags}, 0, 'no flags are stored');
    is($f->get('ab'), '123', 'every value is bytes');
    dies(sub { $f->set('ab', 'long') }, 'Lengths', qr/\S/, 'another length');
    dies(sub { $f->set('ab', '123', ttl => 5) }, 'BadOption', qr/\S/, 'a ttl');
};

subtest 'keys as characters' => sub {
    $t->clear;
    $t->set('ключ', 1);
    is_deeply([ $t->keys ], [ "\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87" ], 'keys are bytes');
    is($t->get("\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87"), 1, 'the bytes of the same key');
    my $u = Tavola->open($t->path, utf8_keys => 1);
    is_deeply([ $u->keys ], [ 'ключ' ], 'with utf8_keys they are characters');
    $u->set("\xe9", 2);
    is($t->get("\xc3\xa9"), 2, 'and every key is text');
    my $same = "\xe9";
    utf8::upgrade($same);
    is($u->get($same), 2, 'equal strings are the same key');
    $t->set("\xff", 3);
    ok((grep { $_ eq "\xff" } $u->keys), 'a key that is not UTF-8 is bytes');
};

done_testing;

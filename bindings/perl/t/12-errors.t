use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

subtest 'the object' => sub {
    my $t = table();
    $t->set('word', 'abc');
    my $error = error_of(sub { $t->incr('word') }); my $line = __LINE__;
    isa_ok($error, 'Tavola::Error::NotACounter');
    isa_ok($error, 'Tavola::Error');
    is("$error", $error->message, 'is its sentence as a string');
    unlike("$error", qr/ at \S+ line/, 'without a place');
    is($error->name, 'NOT_A_COUNTER', 'name of the status');
    is($error->status, -28, 'number of the status');
    is($error->errno, 0, 'no errno');
    is($error->file, __FILE__, 'file of the caller');
    is($error->line, $line, 'line of the caller');
    ok($error, 'is true');
    ok($error eq $error->message, 'compares as a string');
};

subtest 'classes' => sub {
    dies(sub { Tavola->open('none', create => 0) }, 'NoTable', qr/none/, 'a missing table');
    dies(sub { Tavola->open('none', read_only => 1) }, 'NoTable', qr/none/, 'read-only');
    my $t = Tavola->open('new', create => 'new', max_size => '16M');
    dies(sub { Tavola->open('new', create => 'new') }, 'TableExists', qr/new/, 'exists already');
    dies(sub { Tavola->open('.hidden') }, 'BadName', qr/\S/, 'a bad name');
    dies(sub { Tavola->open('x', max_size => 1) }, 'BadOption', qr/max_size/, 'a bad size');
    my $reader = Tavola->open('new', read_only => 1);
    ok($reader->is_read_only, 'read-only');
    dies(sub { $reader->set('a', 1) }, 'ReadOnly', qr/\S/, 'a write');
    open my $file, '>', "$ENV{TAVOLA_DIR}/other" or die $!;
    print {$file} 'not a table' x 1000;
    close $file;
    dies(sub { Tavola->open("$ENV{TAVOLA_DIR}/other") }, 'NotATable', qr/other/, 'not a table');
    dies(sub { $t->set('a', 'x' x (32 << 20)) }, 'Full', qr/\S/, 'no room');
    my $text = error_of(sub { Tavola->open("caf\xc3\xa9/x", create => 0) });
    ok(utf8::is_utf8("$text"), 'sentences are characters');
};

subtest 'arguments' => sub {
    my $t = table();
    dies(sub { Tavola->open('x', colour => 1) }, 'Argument', qr/no option 'colour'/, 'open');
    dies(sub { Tavola->open('x', 'ttl') }, 'Argument', qr/pairs/, 'half a pair');
    dies(sub { Tavola->open }, 'Argument', qr/needs a name/, 'no name');
    dies(sub { Tavola->open('x', capacity => 'much') }, 'Argument', qr/64M/, 'a size');
    dies(sub { $t->set('a', 1, colour => 1) }, 'Argument', qr/no option 'colour'/, 'set');
    dies(sub { $t->set('a', 1, ttl => 5, 'tags') }, 'Argument', qr/pairs/, 'three options');
    dies(sub { $t->set('a', 1, ttl => $_) }, 'Argument', qr/above 0/, "ttl $_")
        for 0, -1, 'soon', 1e12;
    dies(sub { $t->compute('a') }, 'Argument', qr/function/, 'compute without a function');
    dies(sub { $t->compute('a', 1, 2, sub { }) }, 'Argument', qr/no option '1'/, 'an option');
    dies(sub { $t->set_multi('a', 1) }, 'Argument', qr/hash/, 'set_multi of a string');
    dies(sub { $t->set_multi([ 1, 2, 3 ]) }, 'Argument', qr/a value for each/, 'of half a pair');
    dies(sub { $t->set('a', 1, tags => [ 1 .. 17 ]) }, 'BadOption', qr/16 tags/, 'many tags');
    dies(sub { $t->set('a', 1, tags => [ [] ]) }, 'Argument', qr/a tag is a string/, 'a tag');
    like(error_of(sub { $t->get }), qr/Usage: Tavola::get\(self, key\)/, 'a missing argument');
};

subtest 'sizes' => sub {
    my $t = Tavola->open('sized', capacity => '8M', max_size => 1e9);
    is($t->capacity, 8 << 20, 'with a unit');
    is($t->capacity('4M'), 4 << 20, 'changed');
    is($t->capacity(2 << 20), 2 << 20, 'as a number');
};

done_testing;

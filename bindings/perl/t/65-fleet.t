# Tavola::Memcached as the client of several servers: of memcached, and of tables as servers.
use strict;
use warnings;
use utf8;

use lib 't/lib';
use Config;
use Test::More;

# Threads must be there before Test::More's first test.
use if $Config{useithreads}, 'threads';
use TavolaTest;
use Tavola::Memcached;

plan skip_all => 'Tavola was built without libtavola_client' if !has_client();

my @sockets = grep { defined } map { memcached("server$_") } 1 .. 3;
my %FLEETS = (tables => [ map { "tavola:fleet$_" } 1 .. 3 ]);
$FLEETS{memcached} = \@sockets if @sockets;
my $count = 0;

# Returns a client of a fleet, with a name space of its own unless one is given.
sub fleet {
    my ($servers, %param) = @_;
    return Tavola::Memcached->new({
        servers => $servers, io_timeout => 60, connect_timeout => 60,
        namespace => 'test' . ++$count . ':', %param,
    });
}

sub calls_of_one_key {
    my ($servers) = @_;
    my $memd = fleet($servers);
    is_deeply([ $memd->get('a') ], [], 'a missing key is nothing');
    is($memd->last_error, undef, 'and no error');
    is($memd->set('a', 'one'), 1, 'set');
    is($memd->add('a', 'x'), '', 'add of a key that exists');
    is($memd->add('b', 'two', 100), 1, 'add');
    is($memd->replace('none', 'x'), '', 'replace of a missing key');
    is($memd->replace('b', 'three'), 1, 'replace');
    is($memd->append('a', '!'), 1, 'append');
    is($memd->prepend('a', '>'), 1, 'prepend');
    is($memd->append('none', '!'), '', 'append to a missing key');
    is($memd->get('a'), '>one!', 'get');
    my $both = $memd->gets('a');
    is($both->[1], '>one!', 'gets');
    $both->[1] = 'changed';
    is($memd->cas('a', @$both), 1, 'cas');
    is($memd->cas('a', @$both), '', 'cas with an old token');
    is($memd->cas('none', 1, 'x'), '', 'cas of a missing key');
    is($memd->touch('a', 100), 1, 'touch');
    is($memd->touch('none', 100), '', 'touch of a missing key');
    is($memd->gat(-1, 'a'), 'changed', 'gat');
    is($memd->get('a'), undef, 'has set the time');
    is_deeply([ $memd->gats(10, 'a') ], [], 'gats of a missing key');
    $memd->set('a', 'x', 1000);
    my $touched = $memd->gats(0, 'a');
    is($touched->[1], 'x', 'gats');
    ok($memd->cas('a', $touched->[0], 'x'), 'the number of gats is that of the item');
    is($memd->delete('b'), 1, 'delete');
    is($memd->remove('b'), '', 'remove of a missing key');
    $memd->set('n', 5);
    is($memd->incr('n'), 6, 'incr');
    is($memd->decr('n', 2), 4, 'decr');
    is($memd->decr('n', 100), '0E0', 'never below 0');
    is($memd->incr('none'), '', 'a missing counter');
    is($memd->incr('n', -1), undef, 'a negative number');
    like($memd->last_error, qr/positive/, 'is an error');
    return;
}

sub calls_of_many_keys {
    my ($servers) = @_;
    my $memd = fleet($servers);
    my @keys = map { "key$_" } 1 .. 200;
    is_deeply([ $memd->set_multi(map { [ $_, "of $_" ] } @keys) ], [ (1) x 200 ], 'set_multi');
    is_deeply($memd->get_multi(@keys, 'none'), { map { $_ => "of $_" } @keys }, 'get_multi');
    my $with = $memd->gets_multi(@keys[ 0 .. 9 ], 'none');
    is_deeply([ map { $with->{$_}[1] } @keys[ 0 .. 9 ] ], [ map { "of $_" } @keys[ 0 .. 9 ] ],
        'gets_multi');
    is_deeply([ $memd->cas_multi([ 'key1', $with->{key1}[0], 'new' ], [ 'key2', 1, 'x' ]) ],
        [ 1, '' ], 'cas_multi');
    is_deeply(scalar $memd->add_multi([ 'key1', 1 ], [ 'other', 5, 100 ]),
        { key1 => '', other => 1 }, 'add_multi');
    is_deeply([ $memd->replace_multi([ 'key1', 7 ], [ 'none', 1 ]) ], [ 1, '' ], 'replace_multi');
    is_deeply([ $memd->append_multi([ 'key1', 0 ]), $memd->prepend_multi([ 'key1', 1 ]) ], [ 1, 1 ],
        'append_multi, prepend_multi');
    is_deeply(scalar $memd->incr_multi('key1', [ 'other', 10 ], ['none']),
        { key1 => 171, other => 15, none => '' }, 'incr_multi');
    is_deeply([ $memd->decr_multi('key1', [ 'other', 100 ]) ], [ 170, '0E0' ], 'decr_multi');
    is_deeply($memd->gat_multi(100, 'key1', 'none'), { key1 => 170 }, 'gat_multi');
    my $numbers = $memd->gats_multi(100, 'key1', 'none');
    is($numbers->{key1}[1], 170, 'gats_multi');
    is($numbers->{key1}[0], $memd->gets('key1')->[0], 'gats_multi returns the number');
    is_deeply([ $memd->touch_multi([ 'key1', 50 ], ['none']) ], [ 1, '' ], 'touch_multi');
    is_deeply(scalar $memd->delete_multi('key1', ['none']), { key1 => 1, none => '' },
        'delete_multi');
    is_deeply([ scalar $memd->set_multi, $memd->get_multi, $memd->gat_multi ], [ {}, {}, {} ],
        'without keys');
    for my $wrong ([ [ 'a', 1 ], 'b' ], [ [ 'a', 1 ], ['b'] ], [ [ 'a', 1 ], [ 'b', undef ] ],
        [ [ 'a', 1 ], [ undef, 2 ] ], [ [ 'a', 1 ], undef ])
    {
        like(error_of(sub { $memd->set_multi(@$wrong) }), qr/must .* at \S*65-fleet/, 'refused');
    }
    is($memd->get('a'), undef, 'and nothing is stored');
    return;
}

sub values_of_all_kinds {
    my ($servers) = @_;
    my %param = (utf8 => 1, compress_threshold => 1000, namespace => 'values:');
    my $memd = fleet($servers, %param);
    my @values = ('grüße', "\xff\x00", 42, '', 1.5, [ 1, { a => undef } ], 'x' x 64, 'x' x 65,
        'x' x 5000, 'ü' x 5000, [ 'y' x 5000 ], join '', map { chr rand 256 } 1 .. 2000);
    for my $value (@values) {
        is($memd->set('v', $value), 1, 'stored');
        is_deeply($memd->get('v'), $value, 'read back');
    }
    my $stored = () = $memd->set_multi(map { [ "v$_", $values[$_] ] } 0 .. $#values);
    is($stored, scalar @values, 'all at once');
    is_deeply($memd->get_multi(map { "v$_" } 0 .. $#values),
        { map { ("v$_" => $values[$_]) } 0 .. $#values }, 'and read back');
    my $bytes = fleet($servers, namespace => 'values:', serialize_methods => 0);
    $memd->set('v', 'grüße');
    is($bytes->get('v'), "gr\xc3\xbc\xc3\x9fe", 'without utf8, it is bytes');
    $memd->set('v', [1]);
    is_deeply([ $bytes->get('v') ], [], 'without serialize_methods, nothing is thawed');
    like(error_of(sub { $bytes->set('k', {}) }), qr/serialize_methods.* at \S*65-fleet/,
        'and no reference is stored');
    like(error_of(sub { $bytes->set('k', "\x{263a}") }), qr/Wide character.* at \S*65-fleet/,
        'nor a wide character');
    $memd->prepend('v', 'garbage');
    is_deeply([ $memd->get('v'), $memd->get_multi('v') ], [ {} ], 'what does not thaw is missing');
    $memd->set('v', 'a');
    $memd->append('v', 'b' x 2000);
    is($memd->get('v'), 'a' . 'b' x 2000, 'a part is not compressed');
    $memd->enable_compress(0);
    is($memd->set('v', 'x' x (2 << 20)), undef, 'a value longer than max_size');
    like($memd->last_error, qr/max_size/, 'is an error');
    is_deeply([ $memd->set_multi([ 'v', 'x' x (2 << 20) ], [ 'w', 1 ]) ], [ undef, 1 ],
        'the others are stored');
    $memd->enable_compress(1);
    is($memd->set('v', 'x' x (2 << 20)), 1, 'which is compressed');
    return;
}

# Perl code that is called while a value is made.
sub callbacks {
    my ($servers) = @_;
    my $memd;
    my $freeze = sub { die "no\n" if $_[0][0] eq 'dies'; $memd->set('inner', 'i'); 'frozen' };
    my $thaw = sub { $memd->get('inner') eq 'i' or die; [ 'thawed ' . $_[0] ] };
    $memd = fleet($servers, serialize_methods => [ $freeze, $thaw ]);
    is($memd->set('a', ['b']), 1, 'a serializer may use the client');
    is_deeply($memd->get_multi('a', 'inner'), { a => ['thawed frozen'], inner => 'i' },
        'and so may what thaws');
    is(error_of(sub { $memd->set('k', ['dies']) }), "no\n", 'what it throws is thrown');
    is(error_of(sub { $memd->set_multi([ 'k', 1 ], [ 'l', ['dies'] ]) }), "no\n", 'also of many');
    is_deeply($memd->get_multi('k', 'l'), {}, 'and nothing is stored');
    my $dying = fleet($servers, compress_threshold => 1,
        compress_methods => [ sub { ${ $_[1] } = ''; 1 }, sub { die "broken\n" } ]);
    $dying->set('a', 'b');
    is(error_of(sub { $dying->get('a') }), "broken\n", 'an error while it is read');
    is(error_of(sub { $dying->get_multi('a', 'c') }), "broken\n", 'also of many');
    my $gone = fleet($servers, serialize_methods => [ sub { undef $_[0][0]; 'x' }, sub { [] } ]);
    my $holder = [$gone];
    undef $gone;
    is($holder->[0]->set('k', $holder), 1, 'a serializer may drop the client');
    return;
}

sub tied_values {
    my ($servers) = @_;
    my $memd = fleet($servers, utf8 => 1);
    {
        package Counting;
        sub TIESCALAR { my $n = 0; return bless \$n }
        sub FETCH { return 'ключ' . ++${ $_[0] } }
    }
    tie my $tied, 'Counting';
    is($memd->set($tied, $tied), 1, 'a tied key and value');
    is($memd->get('ключ1'), 'ключ2', 'each is read once');
    is_deeply($memd->get_multi('ключ1'), { 'ключ1' => 'ключ2' }, 'keys are as they were given');
    my $number = 7;
    is($memd->set($number, $number), 1, 'a number as the key');
    is($memd->get(7), 7, 'is its digits');
    return;
}

sub name_spaces {
    my ($servers) = @_;
    my %other = (namespace => 'b:');
    for my $hashed (0, 1) {
        my $memd = fleet($servers, namespace => 'a:', hash_namespace => $hashed);
        my $b = fleet($servers, %other, hash_namespace => $hashed);
        my @keys = map { "$hashed-$_" } 1 .. 50;
        $memd->set_multi(map { [ $_, 'a' ] } @keys);
        is($memd->namespace('b:'), 'a:', 'namespace returns the old one');
        is_deeply($memd->get_multi(@keys), {}, 'another name space');
        $memd->set_multi(map { [ $_, 'b' ] } @keys);
        is_deeply($b->get_multi(@keys), { map { $_ => 'b' } @keys }, 'is that of another client');
        is($memd->namespace("c$_:"), $_ == 1 ? 'b:' : 'c' . ($_ - 1) . ':', 'many') for 1 .. 12;
        $memd->namespace('a:');
        is_deeply($memd->get_multi(@keys), { map { $_ => 'a' } @keys }, 'and back');
    }
    my $whole = fleet($servers, namespace => '', hash_namespace => 1);
    my $parts = fleet($servers, namespace => 'p:', hash_namespace => 1);
    $parts->set_multi(map { [ $_, 1 ] } 1 .. 50);
    is(scalar(keys %{ $whole->get_multi(map { "p:$_" } 1 .. 50) }), 50,
        'with hash_namespace, a name space is a part of the key');
    return;
}

sub commands_without_reply {
    my ($servers) = @_;
    my $reader = fleet($servers, namespace => 'quiet:');
    my @keys = map { "k$_" } 1 .. 100;
    for my $kind ([ $servers, 1 ], [ [ map { { address => $_, noreply => 1 } } @$servers ], 0 ]) {
        my ($addresses, $nowait) = @$kind;
        my $memd = fleet($addresses, namespace => 'quiet:', nowait => $nowait);
        $memd->set($_, "of $_") for @keys;
        is($memd->get('k1'), 'of k1', 'the client sees what it did');
        is($memd->replace('none', 1), '', 'a call that is not in void context is answered');
        $memd->set_multi([ 'm', 1 ], [ 'n', 1 ]);
        $memd->incr('n');
        $memd->nowait_push;
        is_deeply($reader->get_multi(@keys, 'm', 'n'),
            { m => 1, n => 2, map { $_ => "of $_" } @keys }, 'after nowait_push, all see it');
        $memd->delete($_) for @keys;
        undef $memd;
        is_deeply($reader->get_multi(@keys), {}, 'the end of the client sends what is left');
    }
    return;
}

sub other_processes {
    my ($servers) = @_;
    my $memd = fleet($servers, nowait => 1);
    $memd->set("parent$_", $_) for 1 .. 20;
    my @children = map {
        my $number = $_;
        in_child(sub {
            for my $i (1 .. 100) {
                $memd->set("child$number", $i) or die $memd->last_error;
                die 'another value' if $memd->get("child$number") != $i;
            }
            $memd->set("end$number", 1);
        });
    } 1 .. 3;
    for my $i (1 .. 100) {
        $memd->set('own', $i) or die $memd->last_error;
        die 'another value' if $memd->get('own') != $i;
    }
    ok(reap(@children), 'children use the client of their parent');
    is_deeply($memd->get_multi(map { "child$_" } 1 .. 3), { map { ("child$_" => 100) } 1 .. 3 },
        'and what they stored is there');
    is(scalar(keys %{ $memd->get_multi(map { "parent$_" } 1 .. 20) }), 20,
        'what the parent held was sent by the parent');
    ok(reap(in_child(sub { $memd->disconnect_all; $memd->set('d', 1) or die })), 'disconnect_all');
    is($memd->get('d'), 1, 'in a child');
    return;
}

sub other_threads {
    my ($servers) = @_;
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    my $memd = fleet($servers, nowait => 1, utf8 => 1);
    my @threads = map {
        my $number = $_;
        threads->create(sub {
            $memd->namespace($memd->namespace . "thread$number:") if $number == 3;
            for my $i (1 .. 100) {
                my $both = $memd->set_multi([ "a$number", $i ], [ "b$number", [$i] ]);
                return 'not stored' if grep { !$_ } values %$both;
                my $read = $memd->get_multi("a$number", "b$number");
                return 'another value' if $read->{"a$number"} != $i || $read->{"b$number"}[0] != $i;
            }
            $memd->set("held$number", 'ü');
            return 'good';
        });
    } 1 .. 3;
    is_deeply([ map { $_->join } @threads ], [ ('good') x 3 ], 'threads use it at once');
    is_deeply($memd->get_multi(map { "held$_" } 1 .. 3), { held1 => 'ü', held2 => 'ü' },
        'the end of a thread sends what it held, to its own name space');
    return;
}

sub calls_to_servers {
    my ($servers) = @_;
    my $memd = fleet($servers);
    is_deeply([ sort keys %{ $memd->server_versions } ], [ sort @$servers ], 'server_versions');
    $memd->set_multi(map { [ $_, 1 ] } 1 .. 30);
    $memd->disconnect_all;
    is(scalar(keys %{ $memd->get_multi(1 .. 30) }), 30, 'disconnect_all');
    is_deeply($memd->flush_all, { map { $_ => 1 } @$servers }, 'flush_all');
    is_deeply($memd->get_multi(1 .. 30), {}, 'no keys');
    $memd->set_multi(map { [ $_, 1 ] } 1 .. 30);
    is_deeply($memd->flush_all(1000), { map { $_ => 1 } @$servers }, 'flush_all with a delay');
    my $left = keys %{ $memd->get_multi(1 .. 30) };
    ok($left > 0 && $left < 30, 'of which the last server has no part');
    return;
}

for my $name (sort keys %FLEETS) {
    my $servers = $FLEETS{$name};
    subtest "$name: one key"       => sub { calls_of_one_key($servers) };
    subtest "$name: many keys"     => sub { calls_of_many_keys($servers) };
    subtest "$name: values"        => sub { values_of_all_kinds($servers) };
    subtest "$name: callbacks"     => sub { callbacks($servers) };
    subtest "$name: tied values"   => sub { tied_values($servers) };
    subtest "$name: name spaces"   => sub { name_spaces($servers) };
    subtest "$name: no reply"      => sub { commands_without_reply($servers) };
    subtest "$name: processes"     => sub { other_processes($servers) };
    subtest "$name: threads"       => sub { other_threads($servers) };
    subtest "$name: servers"       => sub { calls_to_servers($servers) };
}

subtest 'the end of the interpreter' => sub {
    my $program = <<'END';
use Tavola::Memcached;
our $memd = Tavola::Memcached->new({ servers => [ @ARGV[ 1 .. $#ARGV ] ], nowait => 1 });
my $loop = { memd => $memd }; $loop->{self} = $loop;    # is never counted down
$memd->set("end$_", $_) for 1 .. 50;
die 'as usual' if $ARGV[0];
END
    my $servers = $FLEETS{memcached} // $FLEETS{tables};
    my $reader = fleet($servers, namespace => '');
    for my $dies (0, 1) {
        $reader->delete_multi(map { "end$_" } 1 .. 50);
        my $pid = fork // die $!;
        if (!$pid) {
            open STDERR, '>', '/dev/null' or die $!;
            exec $^X, (map { "-I$_" } @INC), '-we', $program, $dies, @$servers or die $!;
        }
        waitpid $pid, 0;
        is($? & 127, 0, 'no signal');
        is($? != 0, $dies != 0, $dies ? 'after die' : 'at the end');
        is(scalar(keys %{ $reader->get_multi(map { "end$_" } 1 .. 50) }), 50,
            'what was held is sent');
    }
};

# The most kilobytes that code has, above what there was before.
sub peak_kb {
    my ($code) = @_;
    my $kb = sub {
        my ($name) = @_;
        open my $file, '<', '/proc/self/status' or die $!;
        return (map { /^$name:\s+(\d+)/ ? $1 : () } <$file>)[0];
    };
    open my $reset, '>', '/proc/self/clear_refs' or die $!;
    print {$reset} 5;
    close $reset;
    my $before = $kb->('VmRSS');
    $code->();
    return $kb->('VmHWM') - $before;
}

subtest 'a value that grows too long is an error' => sub {
    require Compress::Zlib;
    my ($servers, $short) = ($FLEETS{tables});
    my $writer = fleet($servers, namespace => 'grown:', compress_threshold => 1,
        compress_methods => [ sub { ${ $_[1] } = $short }, sub { } ]);
    my $store = sub { ($short) = @_; is($writer->set('k', 'x' x 1e6), 1, 'stored') };
    my $most = 1 << 20;
    my $reader = fleet($servers, namespace => 'grown:', max_expanded => $most);
    for my $length (0, 1, $most) {
        $store->(Compress::Zlib::memGzip('a' x $length));
        is(length $reader->get('k'), $length, 'read');
    }
    my $error = qr/max_expanded.* at \S*65-fleet/;
    $store->(Compress::Zlib::memGzip('a' x ($most + 1)));
    like(error_of(sub { $reader->get('k') }), $error, 'one byte too long');
    like(error_of(sub { $reader->get_multi('k') }), $error, 'among many keys');
    for my $broken (substr(Compress::Zlib::memGzip('a' x $most), 0, -9), 'no gzip', "\x1f\x8b") {
        $store->($broken);
        is_deeply([ $reader->get('k') ], [], 'what is broken is missing');
    }
    my ($deflate) = Compress::Raw::Zlib::Deflate->new(
        -WindowBits => Compress::Raw::Zlib::WANT_GZIP(), -AppendOutput => 1);
    my $bomb = '';
    $deflate->deflate("\0" x $most, $bomb) for 1 .. 256;
    $deflate->flush($bomb);
    $store->($bomb);
    cmp_ok(peak_kb(sub { like(error_of(sub { $reader->get('k') }), $error, 'a bomb') }), '<',
        64 << 10, 'which takes little memory');
    like(error_of(sub { fleet($servers, namespace => 'grown:')->get('k') }), qr/67108864 bytes/,
        'without max_expanded, too');
    my $table = Tavola::Memcached->new({ table => 'grown-table', compress_threshold => 1,
        max_expanded => 10 });
    is($table->set('k', 'x' x 1000), 1, 'a table');
    like(error_of(sub { $table->get('k') }), $error, 'has the same bound');
};

subtest 'a server that fails is no miss' => sub {
    plan skip_all => 'memcached is not installed' if !@sockets;
    my @servers = map { memcached("failing$_") } 1 .. 2;
    my $memd = fleet(\@servers, close_on_error => 0, max_failures => 3, failure_timeout => 0.1);
    my @keys = map { "k$_" } 1 .. 50;
    $memd->set_multi(map { [ $_, $_ ] } @keys);
    stop_memcached($servers[1]);
    my $read = $memd->get_multi(@keys);
    my ($lost) = grep { !exists $read->{$_} } @keys;
    my ($kept) = keys %$read;
    ok(defined $lost && defined $kept, 'the other server answers');
    like($memd->last_error, qr/failing2/, 'the error names the server');
    is($memd->set($lost, 1), undef, 'undef is an error');
    is_deeply([ $memd->get($lost) ], [], 'get returns nothing');
    ok($memd->last_error, 'and last_error says why');
    is($memd->get($kept), $kept, 'the other server answers');
    is($memd->last_error, undef, 'and has no error');
    is_deeply([ keys %{ $memd->server_versions } ], [ $servers[0] ], 'server_versions');
    is_deeply($memd->flush_all, { $servers[0] => 1, $servers[1] => undef }, 'flush_all');
    memcached('failing2');
    my $is_back;
    for (1 .. 600) {
        last if $is_back = $memd->set($lost, 'again');
        select undef, undef, undef, 0.1;
    }
    ok($is_back, 'a server that is back is found');
    my $late = Tavola::Memcached->new({ servers => \@servers, io_timeout => 0.05 });
    kill STOP => TavolaTest::pid_of($servers[0]);
    my %answers = map { $_ => $late->set($_, 1) } @keys;
    kill CONT => TavolaTest::pid_of($servers[0]);
    ok((grep { !defined } values %answers), 'a server that is silent is given up');
};

subtest 'a table in front' => sub {
    my $servers = $FLEETS{tables};
    my ($near, $fleet) = map { fleet($servers, namespace => 'near:', %$_) }
        { near => 'front', near_ttl => 600 }, {};
    $fleet->set('a', 'first');
    is($near->get('a'), 'first', 'a value from the servers');
    $fleet->set('a', 'second');
    is($near->get('a'), 'first', 'comes from the table then');
    $near->set('a', 'third');
    is($near->get('a'), 'third', 'until it is written');
    like(error_of(sub { fleet($servers, near => 'front') }), qr/near_ttl.* at \S*65-fleet/,
        'near needs near_ttl');
};

subtest 'arguments' => sub {
    my $error = sub { my ($server) = @_; error_of(sub { fleet([$server]) }) };
    my $here = qr/ at \S*65-fleet/;
    like($error->([]), qr/server should be \[\$addr, \$weight\]$here/, 'an empty list');
    like($error->({}), qr/server should have \{ address => \$addr \}$here/, 'an empty hash');
    like($error->(\1), qr/Not a hash or array reference.*$here/, 'something else');
    like($error->([ 'localhost:1', -1 ]), qr/weight should be positive.*$here/, 'a weight');
    like($error->({ address => 'a:1', weight => 'x' }), qr/positive.*$here/, 'no number');
    like($error->('a:b'), qr/port.*$here/, 'no port');
    like($error->('/a,b'), qr/comma.*$here/, 'a comma');
    like(error_of(sub { fleet([ 'a', 'b' ], namespace => 'n' x 300) }), qr/namespace.*$here/,
        'a name space');
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    fleet([ 'a:1', 'b:1' ], compress_algo => 1, colour => 1);
    like($warnings[0], qr/compress_algo was removed.*$here/, 'compress_algo');
    like($warnings[1], qr/Unknown arguments: colour$here/, 'an unknown argument');
    fleet([ 'a:1', 'b:1' ], colour => 1, check_args => 'skip');
    is(scalar(@warnings), 2, 'check_args');
};

done_testing;

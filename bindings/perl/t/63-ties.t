# Runs the same calls on Tavola::Depot and Tavola::CDB and, if they are installed, on the modules
# whose manners they have.
use strict;
use warnings;

use lib 't/lib';
use File::Temp ();
use Test::More;
use TavolaTest;
use Tavola::CDB;
use Tavola::Depot;

my $dir = $ENV{TAVOLA_DIR};

sub depot {
    my ($class) = @_;
    my %mode = map { ($_ => $class->can($_)->()) } qw(OREADER OWRITER OCREAT OTRUNC DKEEP DCAT);
    my $name = "$dir/depot-" . $class =~ s/:/_/gr;
    my $d = $class->new($name, $mode{OWRITER} | $mode{OCREAT});
    ok($d, 'new');
    ok($d->put('a', 'one'), 'put');
    ok(!$d->put('a', 'two', $mode{DKEEP}), 'DKEEP of a key that exists');
    ok($d->put('a', '!', $mode{DCAT}), 'DCAT');
    ok($d->put('b', 'new', $mode{DCAT}), 'DCAT of a missing key');
    is($d->get('a'), 'one!', 'get');
    is($d->get('a', 1, 2), 'ne', 'a part');
    is($d->get('a', 1), 'ne!', 'from a byte on');
    is($d->get('a', 99), undef, 'beyond the end');
    is($d->get('none'), undef, 'a missing key');
    is($d->vsiz('a'), 4, 'vsiz');
    is($d->vsiz('none'), -1, 'vsiz of a missing key');
    is($d->rnum, 2, 'rnum');
    ok($d->fsiz > 0, 'fsiz');
    ok($d->bnum > 0, 'bnum');
    ok($d->iterinit, 'iterinit');
    is_deeply([ sort($d->iternext, $d->iternext) ], [ 'a', 'b' ], 'iternext');
    is($d->iternext, undef, 'the end');
    ok($d->$_, $_) for qw(sync optimize writable);
    ok(!$d->fatalerror, 'fatalerror');
    ok($d->setalign(16) && $d->setfbpsiz(32), 'settings');
    ok($d->out('b'), 'out');
    ok(!$d->out('b'), 'out of a missing key');
    ok($d->close, 'close');

    tie my %h, $class, $name, $mode{OWRITER} | $mode{OCREAT} | $mode{OTRUNC} or die 'tie';
    is_deeply([ keys %h ], [], 'OTRUNC');
    $h{x} = 1;
    $h{y} = 2;
    ok(exists $h{x} && !exists $h{z}, 'exists');
    is_deeply({ %h }, { x => 1, y => 2 }, 'the hash');
    delete $h{x};
    tied(%h)->filter_store_value(sub { $_ = uc });
    tied(%h)->filter_fetch_value(sub { $_ = "<$_>" });
    tied(%h)->filter_fetch_key(sub { $_ = "k$_" });
    $h{q} = 'abc';
    is($h{q}, '<ABC>', 'filters of values');
    is_deeply([ sort keys %h ], [ 'kq', 'ky' ], 'filters of keys');
    tied(%h)->$_(undef) for qw(filter_store_value filter_fetch_value filter_fetch_key);
    %h = ();
    untie %h;
    my $reader = $class->new($name);
    is($reader->rnum, 0, 'a reader');
    ok(!$reader->writable, 'cannot write');
    ok(!$reader->put('a', 1), 'put is false');
    ok(!$class->new("$dir/missing"), 'a missing file');
    return;
}

subtest 'options of the table' => sub {
    my @mode = ("$dir/options", Tavola::Depot::OWRITER() | Tavola::Depot::OCREAT(), -1);
    tie my %h, 'Tavola::Depot', @mode, max_size => '16M' or die 'tie';
    tied(%h)->table->transaction(sub { $_[0]->set('a', 1); $_[0]->set('b', 2) });
    is_deeply({ %h }, { a => 1, b => 2 }, 'a transaction of the table');
    is(tied(%h)->table->stats->{max_size}, 16 << 20, 'max_size');
    my $reader = Tavola::Depot->new("$dir/options", Tavola::Depot::OREADER(), -1, any_owner => 1);
    is($reader->get('a'), 1, 'a reader with options');
    ok(!Tavola::Depot->new(@mode, no_such => 1), 'an option that does not exist');
    like($Tavola::Depot::errmsg, qr/no_such/, 'is named');
};

subtest 'a restart of the machine' => sub {
    my $disk = File::Temp->newdir('tavola-perl-disk-XXXXXX', TMPDIR => 1);
    my @mode = ("$disk/casket", Tavola::Depot::OWRITER() | Tavola::Depot::OCREAT());
    my $restart = sub { unlink glob "$dir/durable-*" };
    ok(reap(in_child(sub {
        tie my %h, 'Tavola::Depot', @mode or die $Tavola::Depot::errmsg;
        $h{color} = 'green';
        tied(%h)->put('color', '!', Tavola::Depot::DCAT());
        tied(%h)->sync or die 'sync';
    })), 'a writer');
    ok($restart->(), 'its memory is gone');
    my $depot = Tavola::Depot->new(@mode);
    is($depot->get('color'), 'green!', 'the same mode finds it');
    ok($depot->optimize, 'optimize');
    ok($depot->close, 'close');
    ok($restart->(), 'again');
    is(Tavola::Depot->new("$disk/casket")->get('color'), 'green!', 'a reader finds it');
    $depot = Tavola::Depot->new("$disk/casket", Tavola::Depot::OWRITER() | Tavola::Depot::OTRUNC());
    is($depot->rnum, 0, 'OTRUNC');
    ok($depot->table->is_durable, 'it stays durable');
    ok(!$depot->put('k' x 8193, 1), 'a key that is too long');
    ok(!$depot->fatalerror, 'is no fatal error');
    $depot->close;
    ok(-d "$disk/casket", 'a directory');
    Tavola->remove("$disk/casket");

    my $committed = Tavola::Depot->new(@mode, -1, durable => 'commit');
    my $pid = in_child(sub { Tavola::Depot->new(@mode)->put('k', 1) or die; kill KILL => $$ });
    waitpid $pid, 0;
    $committed->close;
    ok($restart->(), 'killed after put');
    is(Tavola::Depot->new(@mode)->get('k'), 1, 'durable => commit');

    my $memory = Tavola::Depot->new("$disk/memory", $mode[1], -1, durable => undef);
    ok(!$memory->table->is_durable && $memory->sync, 'durable => undef');
    $memory->close;
    ok(!Tavola::Depot->new(@mode[ 0, 1 ], -1, durable => 'soon'), 'a wrong policy');
    like($Tavola::Depot::errmsg, qr/soon/, 'is named');
};

subtest 'a writer that is killed' => sub {
    my @mode = ("$dir/killed", Tavola::Depot::OWRITER() | Tavola::Depot::OCREAT());
    my $depot = Tavola::Depot->new(@mode);
    pipe my $from, my $to or die $!;
    my $child = fork // die $!;
    if (!$child) {
        my $own = Tavola::Depot->new(@mode);
        for my $i (1 .. 1_000_000) {
            $own->put("k$i", 'x' x 100);
            syswrite $to, '.' if $i == 100;
        }
    }
    sysread $from, my $dot, 1;
    kill KILL => $child;
    waitpid $child, 0;
    is($depot->get('k100'), 'x' x 100, 'what it has written is there');
    ok($depot->put('k100', 'mine'), 'others write on');
    is_deeply($depot->table->check->{problems}, [], 'the table is sound');
};

sub cdb {
    my ($class) = @_;
    my $name = "$dir/cdb-" . $class =~ s/:/_/gr;
    my $made = $class->new($name, "$name.tmp") or die 'new';
    $made->insert('a', 'one');
    $made->insert(b => 2, c => 'three');
    ok($made->finish, 'finish');
    ok(!-e "$name.tmp", 'the temporary file has its name');
    my $t = tie my %h, $class, $name or die 'tie';
    is_deeply({ %h }, { a => 'one', b => 2, c => 'three' }, 'the hash');
    ok(exists $h{a} && !exists $h{z}, 'exists');
    is_deeply($t->multi_get('a'), [ 'one' ], 'multi_get');
    is_deeply($t->multi_get('z'), [], 'of a missing key');
    is_deeply($t->fetch_all, { a => 'one', b => 2, c => 'three' }, 'fetch_all');
    ok(error_of(sub { $h{a} = 1 }), 'it is read-only');
    my %next = (a => 'new');
    no strict 'refs';
    ok(&{"${class}::create"}(\%next, $name, "$name.tmp"), 'create replaces the file');
    is($h{a}, 'one', 'an open hash stays as it is');
    undef $t;
    untie %h;
    tie %h, $class, $name or die 'tie';
    is_deeply({ %h }, \%next, 'another one is new');
    return;
}

for my $class ('Tavola::Depot', 'Depot') {
    my $is_there = eval "require $class; 1";
    subtest $class => sub { $is_there ? depot($class) : plan skip_all => 'not installed' };
}
for my $class ('Tavola::CDB', 'CDB_File') {
    my $is_there = eval "require $class; 1";
    subtest $class => sub { $is_there ? cdb($class) : plan skip_all => 'not installed' };
}

done_testing;

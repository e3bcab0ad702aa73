# Tables that survive a restart of the machine. The restart is simulated: their memory is removed.
use strict;
use warnings;

use lib 't/lib';
use File::Temp ();
use Test::More;
use TavolaTest;

my $disk = File::Temp->newdir('tavola-perl-disk-XXXXXX', TMPDIR => 1);
my $count = 0;
my $home;

# Opens a durable table: a new one, or the last one.
sub durable {
    my ($policy, %options) = @_;
    return Tavola->open($home, durable => $policy, max_size => '16M', %options);
}

sub new_home { $home = "$disk/home" . ++$count; return }

# Removes the memory, as a restart of the machine does.
sub lose_memory {
    my @files = glob "$ENV{TAVOLA_DIR}/durable-*";
    ok(scalar(@files), 'the memory was there');
    unlink @files;
    return;
}

# Runs code in a child that is killed where the code ends.
sub killed_after {
    my ($code) = @_;
    my $pid = in_child(sub { $code->(); kill KILL => $$; sleep 600 });
    waitpid $pid, 0;
    is($? & 127, 9, 'the child has written');
    return;
}

sub write_all {
    my ($t) = @_;
    $t->set('text', "gr\x{fc}n\x{263a}");
    $t->set('bytes', "\xff\x00");
    $t->set('map', { a => [ 1, undef ] });
    $t->incr('n', 41);
    $t->incr('n');
    $t->set('ttl', 1, ttl => 1000);
    $t->set('page', '<p>', tags => ['home']);
    $t->_store_raw('flags', 'x', 7);
    $t->set_multi({ map { ("many $_" => $_) } 1 .. 100 });
    $t->set('removed', 1);
    $t->delete('removed');
    $t->set('large', 'x' x 100_000);
    $t->transaction(sub { $_[0]->set('left', 5); $_[0]->set('right', 5) });
    return;
}

sub check_all {
    my ($t) = @_;
    is_deeply([ $t->get_list(qw(text bytes map n)) ],
        [ "gr\x{fc}n\x{263a}", "\xff\x00", { a => [ 1, undef ] }, 42 ], 'values');
    cmp_ok($t->ttl('ttl'), '>', 900, 'a time');
    is_deeply([ $t->tags_of('page') ], ['home'], 'tags');
    is($t->entry('flags')->{flags}, 7, 'flags');
    is(scalar(my @many = $t->keys('many ')), 100, 'many keys');
    ok(!$t->exists('removed'), 'a removed key');
    is($t->length('large'), 100_000, 'a large value');
    is_deeply([ $t->get_list('left', 'right') ], [ 5, 5 ], 'a transaction');
    is_deeply($t->check->{problems}, [], 'the table is sound');
    return;
}

for my $policy ('commit', 'os', 0.005, 1) {
    subtest "durable => $policy" => sub {
        new_home();
        ok(reap(in_child(sub { my $t = durable($policy); write_all($t); $t->sync })), 'written');
        lose_memory();
        my $t = Tavola->open($home);
        check_all($t);
        ok($t->is_durable, 'is_durable');
        is($t->durability, $policy, 'durability');
        is($t->path, $home, 'path');
        ok($t->sync, 'sync');
        ok($t->snapshot, 'snapshot');
        $t->invalidate('home');
        $t->sync;
        $t->close;
        lose_memory();
        is(Tavola->open($home, create => 0)->get('page'), undef, 'an invalidation comes back');
        ok(Tavola->remove($home), 'remove');
        ok(!-e $home, 'the directory is gone');
    };
}

subtest 'a process that is killed right after a set' => sub {
    new_home();
    killed_after(sub {
        my $t = durable('commit');
        $t->set('k', 'on disk');
        $t->transaction(sub { $_[0]->set('a', 1); $_[0]->set('b', 1) });
        my $txn = Tavola::_begin($t, 0);
        $txn->set('a', 2);
    });
    lose_memory();
    my $t = Tavola->open($home);
    is_deeply([ $t->get_list(qw(k a b)) ], [ 'on disk', 1, 1 ], 'what had returned is there');
};

subtest 'a call for many keys waits for the disk once' => sub {
    new_home();
    my $t = durable('commit');
    my $tags = $t->tags('tag');
    my %values = map { $_ => "value $_" } 1 .. 200;
    my %calls = (
        set         => sub { $t->set(1, 1) },
        set_multi   => sub { $t->set_multi(\%values) },
        tags        => sub { $t->set_multi(\%values, tags => $tags) },
        delete      => sub { is($t->delete_multi(keys %values, 'none'), 200, 'all were there') },
    );
    for my $name (qw(set set_multi tags delete)) {
        my $before = $t->stats->{syncs};
        $calls{$name}->();
        is($t->stats->{syncs}, $before + 1, $name);
    }
    is($t->stats->{unsynced_bytes}, 0, 'all is on disk');
};

subtest 'the policy of a handle' => sub {
    new_home();
    my $os = durable('os');
    is($os->durability, 'os', 'that of the table');
    is(durable('commit')->durability, 'commit', 'a stricter one');
    is(Tavola->open($home, read_only => 1)->durability, undef, 'of one that only reads');
    $os->close;
    killed_after(sub { durable('commit')->set('k', 1) });
    lose_memory();
    is(Tavola->open($home)->get('k'), 1, 'a stricter handle');
};

subtest 'a tied hash' => sub {
    new_home();
    killed_after(sub {
        tie my %h, 'Tavola', $home, durable => 'commit';
        $h{color} = 'green';
        $h{list} = [ 1, 2 ];
        delete $h{color};
    });
    lose_memory();
    tie my %h, 'Tavola', $home;
    is_deeply({%h}, { list => [ 1, 2 ] }, 'comes back');
};

subtest 'options' => sub {
    new_home();
    dies(sub { durable($_) }, 'Argument', qr/durable is /, "durable => $_")
        for 0, -1, 'soon', 'nan', 1e9;
    ok(!-e $home, 'nothing was created');
    dies(sub { durable('commit', capacity => '1M') }, 'BadOption', qr/durable/, 'a cache');
    my $t = table(durable => undef);
    ok(!$t->is_durable, 'a table in memory');
    is($t->durability, undef, 'has no policy');
    ok(!exists $t->stats->{syncs}, 'and no journal');
    dies(sub { $t->$_ }, 'BadOption', qr/only in memory/, $_) for qw(sync snapshot);
};

subtest 'errors' => sub {
    new_home();
    my $t = durable('commit');
    dies(sub { $t->set('k' x 8193, 1) }, 'KeyTooLong', qr/8192/, 'a long key');
    ok($t->set('k' x 8192, 1), 'one that is not too long');
    lose_memory();
    dies(sub { Tavola->open($home) }, 'InUseElsewhere', qr/\S/, 'two memories');
    $t->close;

    new_home();
    $t = durable('commit');
    $t->set('k', 'v') for 1 .. 3;
    $t->close;
    lose_memory();
    my $last = (sort glob "$home/journal-*")[-1];
    open my $journal, '+<', $last or die $!;
    seek $journal, 4096 + 40, 0;
    print $journal "\a";
    close $journal;
    dies(sub { Tavola->open($home) }, 'DamagedJournal', qr/\S/, 'damaged files');
};

# The limit of file sizes stands for a disk that fails.
subtest 'a disk that fails' => sub {
    my $limit = `sh -c 'ulimit -f 8 && echo yes' 2>&1`;
    plan skip_all => 'no limit of file sizes' if $limit ne "yes\n";
    new_home();
    durable('commit')->close;
    my @perl = ($^X, map { "-I$_" } @INC);
    my $program = <<'PERL' =~ tr{'}{"}r;
        use Tavola;
        $SIG{XFSZ} = 'IGNORE';
        my $t = Tavola->open($ARGV[0]);
        print eval { $t->set('k', 1); 1 } ? 'set' : ref $@;
PERL
    my $said = `ulimit -f 8; @perl -e '$program' $home 2>&1`;
    is($said, 'Tavola::Error::NotDurable', 'NotDurable');
};

done_testing;

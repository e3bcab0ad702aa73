package BenchCalls;

# Measures the cost of one call: get and set of some keys in random order, by each way.

use strict;
use warnings;

use BenchTools qw(median_and_spread per_step);
use List::Util qw(shuffle);
use POSIX ();
use Tavola;

# Stores that are measured: how to open one, and its calls.
sub stores {
    my ($dir, $socket) = @_;
    my @stores = (
        { name => 'hash', make => \&hash },
        { name => 'Tavola, method', make => sub { method(@_) } },
        { name => 'Tavola, tied', make => sub { tied_hash('Tavola', 'tied', capacity => '1G') } },
        { name => 'Tavola, 100 keys a call, hash', make => sub { batches('get_multi') } },
        { name => 'Tavola, 100 keys a call, list', make => sub { batches('get_list') } },
    );
    push @stores, { name => 'Cache::FastMmap', make => sub { fastmmap($dir) } }
        if eval { require Cache::FastMmap; 1 };
    push @stores, { name => 'CDB_File, tied', make => sub { cdb($dir, @_) } }
        if eval { require CDB_File; 1 };
    if (eval { require Depot; 1 }) {
        push @stores, { name => 'QDBM, method', make => sub { depot($dir) } },
            { name => 'QDBM, tied', make => sub { tied_hash('Depot', "$dir/depot-tied",
                Depot::OWRITER() | Depot::OCREAT(), 400_000) } };
    }
    push @stores, { name => 'Cache::Memcached::Fast, socket', make => sub { memcached($socket) } }
        if $socket;
    return @stores;
}

# Each of these returns two functions, which get or set all keys of a list.
sub hash {
    my %h;
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $h{$key} } },
        sub { my ($keys, $value) = @_; for my $key (@$keys) { $h{$key} = $value } },
    );
}

sub method {
    my $t = Tavola->open('method', capacity => '1G');
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $t->get($key) } },
        sub { my ($keys, $value) = @_; for my $key (@$keys) { $t->set($key, $value) } },
    );
}

sub tied_hash {
    my ($class, @arguments) = @_;
    tie my %h, $class, @arguments or die "$class cannot be tied";
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $h{$key} } },
        sub { my ($keys, $value) = @_; for my $key (@$keys) { $h{$key} = $value } },
    );
}

sub batches {
    my ($method) = @_;
    my $t = Tavola->open('method', capacity => '1G');
    return (
        sub {
            my ($keys) = @_;
            for (my $at = 0; $at < @$keys; $at += 100) {
                my @values = $t->$method(@$keys[ $at .. $at + 99 ]);
            }
        },
        sub {
            my ($keys, $value) = @_;
            for (my $at = 0; $at < @$keys; $at += 100) {
                $t->set_multi([ map { ($_, $value) } @$keys[ $at .. $at + 99 ] ]);
            }
        },
    );
}

sub fastmmap {
    my ($dir) = @_;
    my $cache = Cache::FastMmap->new(share_file => "$dir/fastmmap", init_file => 1,
        raw_values => 1, cache_size => '1000m');
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $cache->get($key) } },
        sub { my ($keys, $value) = @_; for my $key (@$keys) { $cache->set($key, $value) } },
    );
}

# A file that cannot be changed: `set` makes a new one.
sub cdb {
    my ($dir) = @_;
    my %h;
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $h{$key} } },
        sub {
            my ($keys, $value) = @_;
            my $made = CDB_File->new("$dir/cdb", "$dir/cdb.new") or die "cdb: $!";
            $made->insert($_, $value) for @$keys;
            $made->finish;
            tie %h, 'CDB_File', "$dir/cdb" or die "cdb: $!";
        },
    );
}

sub depot {
    my ($dir) = @_;
    my $d = Depot->new("$dir/depot", Depot::OWRITER() | Depot::OCREAT(), 400_000) or die 'depot';
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $d->get($key) } },
        sub { my ($keys, $value) = @_; for my $key (@$keys) { $d->put($key, $value) } },
    );
}

sub memcached {
    my ($socket) = @_;
    my $client = Cache::Memcached::Fast->new({ servers => [$socket], io_timeout => 10 });
    return (
        sub { my ($keys) = @_; for my $key (@$keys) { my $value = $client->get($key) } },
        sub {
            my ($keys, $value) = @_;
            for my $key (@$keys) { my $is_set = $client->set($key, $value) }
        },
    );
}

# A time is that of at least so many calls. With fewer keys, they are got or set several times.
my $LEAST_CALLS = 100_000;

# Measures one store, in a process of its own: so the memory of one does not lie between that of
# another. Returns median and spread of get and of set.
sub measure_one {
    my ($store, $count, $bytes, $runs) = @_;
    srand 7;
    # New scalars: in the order in which they are used, as keys of a program usually are.
    my @keys = map { "$_" } shuffle(map { "key:$_" } 1 .. $count);
    # Read in another order than they were stored in, or all that lies in a row is in order.
    my @reads = map { "$_" } shuffle(@keys);
    my $value = 'v' x $bytes;
    my $passes = POSIX::ceil($LEAST_CALLS / $count);
    my $measure = sub {
        my ($pass, $some) = @_;
        my $all = sub { $pass->() for 1 .. $passes };
        return median_and_spread(per_step($all, $count * $passes, $some));
    };
    my ($loop) = $measure->(sub { for my $key (@keys) { my $got = $value } }, $runs);
    my ($get, $set) = $store->{make}->();
    my $slow = $store->{name} =~ /socket/ ? 3 : $runs;
    my @set_ns = $measure->(sub { $set->(\@keys, $value) }, $slow);
    my @get_ns = $measure->(sub { $get->(\@reads) }, $slow);
    return ($get_ns[0] - $loop, $get_ns[1], $set_ns[0] - $loop, $set_ns[1]);
}

# Measures all stores with values of a length. Returns the rows.
sub measure {
    my ($dir, $socket, $count, $bytes, $runs) = @_;
    my @rows;
    for my $store (stores($dir, $socket)) {
        pipe my $from, my $to or die "pipe: $!";
        my $pid = fork // die "fork: $!";
        if (!$pid) {
            print {$to} join ' ', measure_one($store, $count, $bytes, $runs);
            close $to;
            POSIX::_exit(0);
        }
        close $to;
        my @numbers = map { 0 + $_ } split / /, <$from> // '';
        waitpid $pid, 0;
        die "$store->{name} failed\n" if $? != 0 || @numbers != 4;
        for my $call ('get', 'set') {
            my ($ns, $spread) = splice @numbers, 0, 2;
            push @rows, { name => "$call, $count keys, $bytes B", column => $call,
                system => $store->{name}, ns => $ns, spread => $spread };
        }
    }
    Tavola->remove($_) for 'method', 'tied';
    return @rows;
}

1;

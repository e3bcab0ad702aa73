package BenchCorps;

# The comparison that people cite: all records of a file written and read 100 times, and one key
# read after an open, 100 and 10,000 times.

use strict;
use warnings;

use Tavola;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

# Returns the records of the file: a code, and the rest of the line.
sub records {
    my ($file) = @_;
    open my $handle, '<:raw', $file or die "$file: $!";
    my %records;
    while (my $line = <$handle>) {
        chomp $line;
        my ($key, $value) = split /\t/, $line, 2;
        $records{$key} = $value if defined $value;
    }
    return \%records;
}

# Each store: how to open it for writing and reading, and how to write all, read all, read one.
sub stores {
    my ($dir, $socket) = @_;
    my %kinds = (
        tavola => {
            name  => 'Tavola, method',
            write => sub {
                my $t = Tavola->open('corps');
                $t->set($_, $_[0]{$_}) for keys %{ $_[0] };
            },
            read  => sub { my $t = Tavola->open('corps'); my $v; $v = $t->get($_) for @{ $_[0] } },
            one   => sub { Tavola->open('corps')->get($_[0]) },
        },
        tied => {
            name  => 'Tavola, tied',
            write => sub { tie my %h, 'Tavola', 'corps'; $h{$_} = $_[0]{$_} for keys %{ $_[0] } },
            read  => sub { tie my %h, 'Tavola', 'corps'; my $v; $v = $h{$_} for @{ $_[0] } },
            one   => sub { tie my %h, 'Tavola', 'corps'; $h{ $_[0] } },
        },
        batch => {
            name  => 'Tavola, set_multi, get_multi',
            write => sub { Tavola->open('corps')->set_multi($_[0]) },
            read  => sub { Tavola->open('corps')->get_multi($_[0]) },
        },
    );
    my @stores = @kinds{qw(tavola tied batch)};
    push @stores, cdb("$dir/corps.cdb") if eval { require CDB_File; 1 };
    push @stores, depot("$dir/corps.depot") if eval { require Depot; 1 };
    push @stores, memcached($socket) if $socket;
    return @stores;
}

sub cdb {
    my ($file) = @_;
    return {
        name  => 'TinyCDB (CDB_File)',
        write => sub {
            my $made = CDB_File->new($file, "$file.new") or die "cdb: $!";
            $made->insert($_, $_[0]{$_}) for keys %{ $_[0] };
            $made->finish;
        },
        read => sub {
            tie my %h, 'CDB_File', $file or die "cdb: $!";
            my $v;
            $v = $h{$_} for @{ $_[0] };
        },
        one => sub { tie my %h, 'CDB_File', $file or die "cdb: $!"; $h{ $_[0] } },
    };
}

sub depot {
    my ($file) = @_;
    return {
        name  => 'QDBM (Depot)',
        write => sub {
            my $d = Depot->new($file, Depot::OWRITER() | Depot::OCREAT()) or die 'depot';
            $d->put($_, $_[0]{$_}) for keys %{ $_[0] };
        },
        read => sub {
            my $d = Depot->new($file) or die 'depot';
            my $v;
            $v = $d->get($_) for @{ $_[0] };
        },
        one => sub { my $d = Depot->new($file) or die 'depot'; $d->get($_[0]) },
    };
}

sub memcached {
    my ($socket) = @_;
    my $new = sub { Cache::Memcached::Fast->new({ servers => [$socket], io_timeout => 10 }) };
    return {
        name  => 'memcached, Unix socket',
        write => sub { my $m = $new->(); my $v; $v = $m->set($_, $_[0]{$_}) for keys %{ $_[0] } },
        read  => sub { my $m = $new->(); my $v; $v = $m->get($_) for @{ $_[0] } },
        one   => sub { $new->()->get($_[0]) },
    };
}

# Returns the seconds that so many calls take.
sub seconds {
    my ($times, $code, @arguments) = @_;
    return if !$code;
    my $start = clock_gettime(CLOCK_MONOTONIC);
    $code->(@arguments) for 1 .. $times;
    return clock_gettime(CLOCK_MONOTONIC) - $start;
}

# Measures all stores. Returns the rows and the number of records.
sub measure {
    my ($file, $dir, $socket, $times) = @_;
    my $records = records($file);
    my @keys = sort keys %$records;
    my $one = $keys[ @keys / 2 ];
    my @rows;
    for my $store (stores($dir, $socket)) {
        my %row = (name => $store->{name});
        $row{'write all'} = seconds($times, $store->{write}, $records);
        $row{'read all'} = seconds($times, $store->{read}, \@keys);
        $row{'open, read 100'} = seconds(100, $store->{one}, $one);
        $row{'open, read 10,000'} = seconds(10_000, $store->{one}, $one);
        if ($store->{one} && $store->{one}->($one) ne $records->{$one}) {
            die "$store->{name} has read another value";
        }
        push @rows, \%row;
    }
    Tavola->remove('corps');
    return (\@rows, scalar @keys);
}

1;

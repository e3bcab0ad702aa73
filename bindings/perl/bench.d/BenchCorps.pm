package BenchCorps;

# The comparison that people cite: all records of a file of companies written and read 100 times,
# and one key read after an open, 100 and 10,000 times. The licence of that file is not known, so
# it is not here: without it, records of the same number and of the same lengths are made.

use strict;
use warnings;

use BenchTools qw(median_and_spread seconds_of);
use Encode qw(encode);
use Tavola;

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

# Returns records like those of the file: 2,249 companies with a market, a name, an age and an
# income, in UTF-8; 35 to 93 bytes, 55 on average.
sub records_made {
    srand 7;
    my @signs = map { chr } 0x4e00 .. 0x9fa5;
    my %records;
    while (keys %records < 2249) {
        my $name = join '', map { $signs[ rand @signs ] } 1 .. 2 + rand(6) + rand(6);
        my $text = sprintf "\x{6771}\x{8a3c}%d\x{90e8}\t%s(\x{682a})\t%.1f\x{6b73}\t%d,%03d\x{5343}",
            1 + rand 2, $name, 30 + rand 20, 3 + rand 7, 10 * int rand 100;
        $records{ 1300 + int rand 8600 } = encode('UTF-8', $text);
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
            open  => sub { my $t = Tavola->open('corps'); sub { $t->get($_[0]) } },
        },
        tied => {
            name  => 'Tavola, tied',
            write => sub { tie my %h, 'Tavola', 'corps'; $h{$_} = $_[0]{$_} for keys %{ $_[0] } },
            read  => sub { tie my %h, 'Tavola', 'corps'; my $v; $v = $h{$_} for @{ $_[0] } },
            one   => sub { tie my %h, 'Tavola', 'corps'; $h{ $_[0] } },
            open  => sub { tie my %h, 'Tavola', 'corps'; sub { $h{ $_[0] } } },
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
        one  => sub { tie my %h, 'CDB_File', $file or die "cdb: $!"; $h{ $_[0] } },
        open => sub { tie my %h, 'CDB_File', $file or die "cdb: $!"; sub { $h{ $_[0] } } },
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
        one  => sub { my $d = Depot->new($file) or die 'depot'; $d->get($_[0]) },
        open => sub { my $d = Depot->new($file) or die 'depot'; sub { $d->get($_[0]) } },
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
        open  => sub { my $m = $new->(); sub { $m->get($_[0]) } },
    };
}

# A measurement: a column, how often, and a function that returns the one to call.
sub columns {
    my ($times, $records, $keys, $one) = @_;
    my $kept = sub { my ($store) = @_; my $get = $store->{open} && $store->{open}->(); $get };
    return (
        [ "$times x write all", $times, sub { $_[0]{write} }, $records ],
        [ "$times x read all", $times, sub { $_[0]{read} }, $keys ],
        [ '100 x open, read one', 100, sub { $_[0]{one} }, $one ],
        [ '10,000 x open, read one', 10_000, sub { $_[0]{one} }, $one ],
        [ '10,000 x read one', 10_000, $kept, $one ],
    );
}

# Measures all stores some times. Returns the rows, the names of the columns, and the number of
# records. `ns` is the time of all calls of a cell.
sub measure {
    my ($file, $dir, $socket, $times, $runs) = @_;
    my $records = defined $file ? records($file) : records_made();
    my @keys = sort keys %$records;
    my $one = $keys[ @keys / 2 ];
    my @columns = columns($times, $records, \@keys, $one);
    my @rows;
    for my $store (stores($dir, $socket)) {
        for my $column (@columns) {
            my ($name, $count, $code_of, $argument) = @$column;
            my $code = $code_of->($store) or next;
            my $slow = $store->{name} =~ /socket/ ? 1 : $runs;
            my @seconds = map {
                seconds_of(sub { $code->($argument) for 1 .. $count })
            } 1 .. $slow;
            my ($median, $spread) = median_and_spread(@seconds);
            push @rows, { name => $name, column => $name, system => $store->{name},
                ns => $median * 1e9, spread => $spread * 1e9, shown => $median };
        }
        if ($store->{one} && $store->{one}->($one) ne $records->{$one}) {
            die "$store->{name} has read another value";
        }
    }
    Tavola->remove('corps');
    return (\@rows, [ map { $_->[0] } @columns ], scalar @keys);
}

1;

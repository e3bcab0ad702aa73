# What the programs in Perl share: a store says how it is used, the harness does the rest.
#
# A program takes one job, a JSON object, as its argument and prints a JSON line a phase. The loops,
# the clock, keys, values and the comparison of every answer are the harness's, as in c/harness.c:
# workload a (the company file) and d (pairs of set and get over a client).
#
# A store is an object with: open($job, $mode), where mode is `make`, `write` or `read`; put($key,
# $value), get($key), close, version; and where it has them finish (after all puts of a pass) and
# get_many(\@keys), which returns a reference to a hash; and refuses($case), which says why not.
package Harness;

use strict;
use warnings;

use JSON::PP ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

# Operations between two looks at the clock.
my $STRIDE = 16;
my $JSON   = JSON::PP->new->utf8;

sub say_line { print $JSON->encode($_[0]), "\n" }

sub boolean { $_[0] ? JSON::PP::true : JSON::PP::false }

# Does the job of the program's argument on the store.
sub run {
    my ($store) = @_;
    $| = 1;
    binmode STDOUT;
    my $done = eval {
        my $job = $JSON->decode($ARGV[-1]);
        my $self = bless { job => $job, case => $job->{case}, store => $store, there => 0 };
        $self->work;
        1;
    };
    return if $done;
    my ($line) = split /\n/, $@;
    say_line({ error => $line });
    exit 1;
}

sub work {
    my ($self) = @_;
    for my $phase (@{ $self->{case}{phases} }) {
        if ($phase eq 'pairs') { $self->pairs }
        else { $self->company($phase) }
    }
    say_line({
        end => JSON::PP::true,
        version => $self->{store}->version,
        bytes => 0,
        keys => $self->{there},
        peak_rss_bytes => peak_rss_bytes(),
    });
}

sub peak_rss_bytes {
    open my $status, '<', '/proc/self/status' or return 0;
    my ($peak) = map { /VmHWM:\s+(\d+)/ ? $1 : () } <$status>;
    return ($peak || 0) * 1024;
}

# ---- time

sub begin {
    my ($self) = @_;
    $self->{wrong} = 0;
    $self->{cpu} = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $self->{begin} = clock_gettime(CLOCK_MONOTONIC);
}

sub finish {
    my ($self, $phase, $ops, $wanted) = @_;
    my $seconds = clock_gettime(CLOCK_MONOTONIC) - $self->{begin};
    my %line = (
        phase => $phase,
        ops => $ops,
        seconds => $seconds,
        cpu_seconds => clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $self->{cpu},
        verified => boolean(!$self->{wrong}),
    );
    $line{note} = "only $ops of $wanted within its time" if $ops < $wanted;
    say_line(\%line);
}

# ---- workload d

sub pairs {
    my ($self) = @_;
    my ($case, $store) = @$self{qw(case store)};
    my ($keys, $length, $loops) = @$case{qw(keys value_bytes loops)};
    my @keys = map { sprintf 'k%07d', $_ } 0 .. $keys - 1;
    my $limit = ($case->{limit_ms} || 1e9) / 1000;
    my $why = $store->can('refuses') && $store->refuses($case);
    return say_line({ phase => 'pairs', refused => $why }) if $why;
    $store->open($self->{job}, 'make');
    $self->begin;
    my $done = 0;
    while ($done < $loops) {
        my $key = $keys[$done % $keys];
        my $value = substr sprintf('%09d', $done) x ($length / 9 + 1), -$length;
        $store->put($key, $value);
        my $found = $store->get($key);
        $self->{wrong} = 1 unless defined $found && $found eq $value;
        next if ++$done % $STRIDE;
        last if clock_gettime(CLOCK_MONOTONIC) - $self->{begin} > $limit;
    }
    $self->finish('pairs', $done, $loops);
    $self->{there} = $done < $keys ? $done : $keys;
    $store->close;
}

# ---- workload a

# The records in their order, and of each key the value that was written last.
sub records {
    my ($self) = @_;
    return if $self->{records};
    open my $file, '<:raw', $self->{case}{file} or die "$self->{case}{file}: $!\n";
    my (@records, %last, @distinct);
    while (my $line = <$file>) {
        $line =~ s/\r?\n\z//;
        my @fields = split /\t/, $line, -1;
        next if @fields < 5 || $fields[2] eq '';
        push @records, [@fields[2, 4]];
    }
    for my $record (reverse @records) {
        next if exists $last{ $record->[0] };
        $last{ $record->[0] } = $record->[1];
        unshift @distinct, $record->[0];
    }
    die "$self->{case}{file} has no records\n" unless @records;
    @$self{qw(records last distinct)} = (\@records, \%last, \@distinct);
    $self->{there} = @distinct;
}

sub company {
    my ($self, $phase) = @_;
    my ($one, $loops) = (undef, $self->{case}{loops});
    if ($phase eq 'write_all') { $one = \&write_all }
    elsif ($phase eq 'read_all') { $one = \&read_all }
    elsif ($phase =~ /\Aopen_read_(\d+)\z/) { ($one, $loops) = (\&read_one, $1) }
    else { die "it knows no phase $phase\n" }
    $self->records;
    my $store = $self->{store};
    my $ops = 0;
    $self->begin;
    for my $loop (0 .. $loops - 1) {
        my $writes = $phase eq 'write_all' ? ($self->{made}++ ? 'write' : 'make') : 'read';
        $store->open($self->{job}, $writes);
        $ops += $one->($self, $store, $loop);
        $store->close;
    }
    $self->finish($phase, $ops, 0);
}

sub write_all {
    my ($self, $store) = @_;
    $store->put(@$_) for @{ $self->{records} };
    $store->finish if $store->can('finish');
    return scalar @{ $self->{records} };
}

sub read_all {
    my ($self, $store) = @_;
    my ($last, $distinct) = @$self{qw(last distinct)};
    if ($store->can('get_many')) {
        my $found = $store->get_many($distinct);
        for my $key (@$distinct) {
            $self->{wrong} = 1 unless defined $found->{$key} && $found->{$key} eq $last->{$key};
        }
    } else {
        $self->check($store, $_) for @$distinct;
    }
    return scalar @$distinct;
}

sub read_one {
    my ($self, $store, $loop) = @_;
    my $distinct = $self->{distinct};
    $self->check($store, $distinct->[$loop * 7919 % @$distinct]);
    return 1;
}

sub check {
    my ($self, $store, $key) = @_;
    my $found = $store->get($key);
    $self->{wrong} = 1 unless defined $found && $found eq $self->{last}{$key};
}

1;

package Tavola;

use strict;
use warnings;
use 5.030;

our $VERSION = '0.1.0';

require Tavola::Error;
require Tavola::Transaction;
require XSLoader;

# What `_lease` returns first; the numbers of `tavola_lease_outcome`.
use constant {
    HIT       => 0,
    STALE     => 1,
    STALE_WON => 2,
    WON       => 3,
    WAIT      => 4,
    FAILED    => 5,
    FOREVER   => ~0,
};

# Returns the value of a key, or computes it in one of all processes that ask for it. `compute` has
# checked the names of the options, and has not found a fresh value.
sub _compute {
    my ($self, $key, @options) = @_;
    my $code = pop @options;
    my %option = @options;
    my $ttl_ms = _ms($option{ttl}, undef) // _table_ttl_ms($self);
    my $stale_ms = _ms($option{stale}, 0);
    my $lease_ms = _ms($option{lease}, 0);
    while (1) {
        my ($outcome, $value, $lease);
        eval {
            ($outcome, $value, $lease)
                = _lease($self, $key, $ttl_ms, $stale_ms, $lease_ms, $option{early} // 0);
            1;
        } or return _without_room($@, $code);
        return $value if $outcome == HIT || $outcome == STALE;
        if ($outcome == FAILED) {
            Tavola::Error::_throw(-33, 'TAVOLA_ERR_COMPUTE', $value, 0);
        }
        return _fill_lease($self, $lease, \%option, $code)
            if $outcome == WON || $outcome == STALE_WON;
        if (!$lease->wait($option{timeout})) {
            Tavola::Error::_throw(-33, 'TAVOLA_ERR_COMPUTE',
                'another process has not computed the value in time', 0);
        }
    }
}

# Computes a value and stores it. The handles of tags are fetched before, so that an invalidation
# meanwhile is not missed. If the function dies, other processes get its message for a while.
sub _fill_lease {
    my ($self, $lease, $option, $code) = @_;
    my $tags = $option->{tags};
    $tags = $self->tags(ref $tags eq 'ARRAY' ? @$tags : $tags) if defined $tags && !_is_tags($tags);
    my $value;
    if (!eval { $value = $code->(); 1 }) {
        my $error = $@;
        my $text = "$error";
        utf8::encode($text) if utf8::is_utf8($text);
        eval { $lease->fail(_ms($option->{back_off}, 1000), $text) };
        die $error;
    }
    eval { $self->_fill($lease, $value, $tags); 1 } or return _without_room($@, sub { $value });
    return $value;
}

# A table without room for a value or for a lease is no reason to lose the value.
sub _without_room {
    my ($error, $code) = @_;
    return $code->() if ref $error && $error->isa('Tavola::Error::Full');
    die $error;
}

# How long keys of the table live, in milliseconds. It is asked for once.
sub _table_ttl_ms {
    my ($self) = @_;
    return $self->{ttl_ms} //= $self->stats->{ttl_ms} || FOREVER;
}

sub _is_tags { return ref $_[0] eq 'Tavola::Tags' }

sub _ms {
    my ($seconds, $default) = @_;
    return $default if !defined $seconds;
    return int($seconds * 1000 + 0.5) if $seconds =~ /\A[0-9.eE+-]+\z/ && $seconds >= 0;
    return Tavola::Error->throw("a time is a number of seconds, and not '$seconds'");
}

# Calls a function with each key and value; it ends the iteration by returning nothing.
sub each {
    my ($self, $code, $prefix) = @_;
    my $iterator = $self->iterator($prefix);
    my $count = 0;
    while (my ($key, $value) = $iterator->next) {
        $count++;
        $code->($key, $value);
    }
    return $count;
}

# Runs a function that reads and changes several keys at once.
sub transaction {
    my ($self, $code, @options) = @_;
    Tavola::Error->throw('options are pairs of a name and a value') if @options % 2;
    my %option = @options;
    my $once = delete $option{once};
    for my $name (sort keys %option) {
        Tavola::Error->throw(
            "there is no option '$name'; see the documentation of the method");
    }
    return Tavola::Transaction::_run($self, $code, $once ? 'once' : 'again');
}

# Runs a function that reads several keys as they were at one moment.
sub read_together {
    my ($self, $code) = @_;
    return Tavola::Transaction::_run($self, $code, 'read');
}

# Names. Each can be called on the class or on an object.
sub list {
    # Durable tables are named by their paths, others by the names of their files.
    my $directory = quotemeta _directory();
    return map { s{\A$directory/}{}r } _list();
}
sub paths     { return _list() }
sub remove    { return _remove($_[1]) }
sub rename    { return _rename($_[1], $_[2]) }
sub directory { return _directory() }
sub path_of   { return _path_of($_[1]) }

sub library_version { return _library_version() }

XSLoader::load(__PACKAGE__, $VERSION);

1;

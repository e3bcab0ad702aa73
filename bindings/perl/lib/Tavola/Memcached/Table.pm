package Tavola::Memcached::Table;

# The calls of Tavola::Memcached on a table of this machine, without a server.

use strict;
use warnings;

our $VERSION = '0.1.0';
our @CARP_NOT = qw(Tavola::Memcached Tavola::Memcached::Value);

use Carp ();
use Tavola;

# Conditions of a write; the numbers of `tavola_condition`.
use constant { ALWAYS => 0, ABSENT => 1, PRESENT => 2, TOKEN => 3 };

# From this number of seconds on, a time is one of the clock.
use constant MOST_RELATIVE => 30 * 86400;

# The version of memcached whose commands these are.
use constant LIKE_MEMCACHED => '1.6.0';

# Makes an object of Tavola::Memcached one of a table, which is opened by its name.
sub begin {
    my ($self, $servers, $param) = @_;
    my ($named) = map { $_->[0] =~ /\Atavola:(.+)\z/s ? $1 : () } @$servers;
    my $name = $param->{table} // $named // 'memcached';
    $self->{table} = ref $name ? $name : Tavola->open($name,
        capacity => $param->{capacity} // '64M', %{ $param->{table_options} // {} });
    $self->{servers} = @$servers ? [ map { $_->[0] } @$servers ] : ["tavola:$name"];
    return;
}

sub limit         { return }
sub use_namespace { return }

# Runs code that returns a scalar. After an error, returns undef and keeps its sentence.
sub _try {
    my ($self, $code) = @_;
    my $result;
    local $@;
    delete $self->{error};
    eval { $result = $code->(); 1 } or $self->{error} = "$@";
    return $result;
}

sub last_error { return $_[0]{error} }

sub _key {
    my ($self, $key) = @_;
    Carp::croak('a key must be defined') if !defined $key;
    return $self->{namespace} . $key;
}

# Returns the value of a key of the table in a list, or an empty list if it cannot be read.
sub _decode {
    my ($self, $key, $bytes, $flags) = @_;
    return $self->{table}->get($key) if $flags >> 24 == 0x54;
    return $self->{values}->decode($bytes, $flags);
}

# Returns the seconds that a key lives, from a time of memcached.
sub _ttl {
    my ($time) = @_;
    return undef if !$time;    ## no critic (ProhibitExplicitReturnUndef)
    return $time if $time > 0 && $time <= MOST_RELATIVE;
    return $time > time ? $time - time : 0.001;
}

# Stores a value: 1, '' if the condition does not hold, or undef after an error.
sub _store {
    my ($self, $condition, $token, $key, $value, $time) = @_;
    my $full = _key($self, $key);
    Carp::croak('a value must be defined') if !defined $value;
    my ($bytes, $flags) = $self->{values}->encode($value);
    return _try($self, sub {
        die "the value is longer than max_size; give a larger max_size\n"
            if length $bytes > $self->{max_size};
        $self->{table}->_store_flags($full, $bytes, $flags, _ttl($time), $condition, $token)
            ? 1 : '';
    });
}

sub set     { my ($self, @rest) = @_; return _store($self, ALWAYS,  0, @rest) }
sub add     { my ($self, @rest) = @_; return _store($self, ABSENT,  0, @rest) }
sub replace { my ($self, @rest) = @_; return _store($self, PRESENT, 0, @rest) }

sub cas {
    my ($self, $key, $token, $value, $time) = @_;
    return _store($self, TOKEN, $token, $key, $value, $time);
}

sub append  { my ($self, @rest) = @_; return _add_bytes($self, 'append',  @rest) }
sub prepend { my ($self, @rest) = @_; return _add_bytes($self, 'prepend', @rest) }

sub _add_bytes {
    my ($self, $method, $key, $more) = @_;
    my $full = _key($self, $key);
    Carp::croak('a value must be defined') if !defined $more;
    my ($bytes) = $self->{values}->encode_part("$more");
    return _try($self, sub { $self->{table}->$method($full, $bytes) ? 1 : '' });
}

sub get {
    my ($self, $key) = @_;
    my $full = _key($self, $key);
    delete $self->{error};
    my ($bytes, $flags) = $self->{table}->_raw($full) or return;
    return _decode($self, $full, $bytes, $flags);
}

sub gets {
    my ($self, $key) = @_;
    my $full = _key($self, $key);
    my ($bytes, $flags, $token) = $self->{table}->_raw($full) or return;
    my @value = _decode($self, $full, $bytes, $flags) or return;
    return [ $token, @value ];
}

sub get_multi  { my ($self, @keys) = @_; return _each_key($self, \&get,  @keys) }
sub gets_multi { my ($self, @keys) = @_; return _each_key($self, \&gets, @keys) }

sub _each_key {
    my ($self, $code, @keys) = @_;
    my %found;
    for my $key (@keys) {
        my @value = $code->($self, $key);
        $found{$key} = $value[0] if @value;
    }
    return \%found;
}

sub gat {
    my ($self, $time, $key) = @_;
    touch($self, $key, $time) or return;
    return get($self, $key);
}

sub gats {
    my ($self, $time, $key) = @_;
    touch($self, $key, $time) or return;
    return gets($self, $key);
}

sub gat_multi {
    my ($self, $time, @keys) = @_;
    return _each_key($self, \&get, grep { touch($self, $_, $time) } @keys);
}

sub gats_multi {
    my ($self, $time, @keys) = @_;
    return _each_key($self, \&gets, grep { touch($self, $_, $time) } @keys);
}

sub incr { my ($self, $key, $by) = @_; return _count($self, $key, $by, 0) }
sub decr { my ($self, $key, $by) = @_; return _count($self, $key, $by, 1) }

# The number after, '0E0' for 0, '' for a missing key, undef after an error.
sub _count {
    my ($self, $key, $by, $is_down) = @_;
    my $full = _key($self, $key);
    return _try($self, sub {
        my $now = $self->{table}->_count_unsigned($full, $by // 1, $is_down);
        defined $now ? $now || '0E0' : '';
    });
}

sub delete {
    my ($self, $key) = @_;
    my $full = _key($self, $key);
    return _try($self, sub { $self->{table}->delete($full) ? 1 : '' });
}

sub remove { my ($self, $key) = @_; return &delete($self, $key) }

sub touch {
    my ($self, $key, $time) = @_;
    my $full = _key($self, $key);
    return _try($self, sub { $self->{table}->touch($full, _ttl($time)) ? 1 : '' });
}

# Methods for many keys: the arguments are lists, or keys alone. All are checked first.
for my $method (qw(set add replace append prepend cas incr decr delete touch)) {
    my $is_store = $method =~ /\A(?:set|add|replace|append|prepend|cas)\z/;
    my $least = $method eq 'cas' ? 3 : $is_store ? 2 : 1;
    no strict 'refs';
    my $code = \&{$method};
    *{"${method}_multi"} = sub {
        my ($self, @calls) = @_;
        @calls = map { ref $_ eq 'ARRAY' || $is_store ? $_ : [ $_ ] } @calls;
        for my $call (@calls) {
            Carp::croak("an argument of ${method}_multi is not a list")
                if ref $call ne 'ARRAY' || @$call < $least;
            Carp::croak("a key or value of ${method}_multi is not defined")
                if grep { !defined } @$call[ 0 .. $least - 1 ];
        }
        my $why;
        my @results = map { my $result = $code->($self, @$_); $why //= $self->{error}; $result }
            @calls;
        $self->{error} = $why;
        return @results if wantarray;
        my %result;
        @result{ map { $_->[0] } @calls } = @results;
        return \%result;
    };
}

# Removes all keys of the table, also those of other namespaces. It cannot be delayed.
sub flush_all {
    my ($self, $delay) = @_;
    my $is_done = !$delay && _try($self, sub { $self->{table}->clear });
    return { map { ($_ => $is_done ? 1 : '') } @{ $self->{servers} } };
}

sub server_versions {
    my ($self) = @_;
    return { map { ($_ => LIKE_MEMCACHED) } @{ $self->{servers} } };
}

# There is no connection: every call is done when it returns.
sub nowait_push    { return }
sub disconnect_all { return }

1;

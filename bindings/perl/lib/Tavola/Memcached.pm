package Tavola::Memcached;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Carp ();
use Tavola;

# Flags of a value, as Cache::Memcached::Fast writes them. So its clients can read the same keys
# through the server of Tavola.
use constant { STORABLE => 1, COMPRESSED => 2, UTF8 => 4 };

# Conditions of a write; the numbers of `tavola_condition`.
use constant { ALWAYS => 0, ABSENT => 1, PRESENT => 2, TOKEN => 3 };

# From this number of seconds on, a time is one of the clock.
use constant MOST_RELATIVE => 30 * 86400;

# The version of memcached whose commands these are.
use constant LIKE_MEMCACHED => '1.6.0';

my @TABLE_OPTIONS = qw(table capacity table_options);

# Parameters of Cache::Memcached::Fast.
my %KNOWN = map { $_ => 1 } @TABLE_OPTIONS, qw(
    servers namespace hash_namespace nowait connect_timeout io_timeout select_timeout
    close_on_error compress_threshold compress_ratio compress_methods max_failures
    failure_timeout ketama_points serialize_methods utf8 max_size check_args
);

sub new {
    my ($class, $given) = @_;
    my %param = %{ $given // {} };
    my @unknown = sort grep { !$KNOWN{$_} } keys %param;
    if (@unknown && lc($param{check_args} // '') ne 'skip') {
        Carp::carp("unknown parameters: @unknown");
    }
    my @servers = map { _address($_) } @{ $param{servers} // [] };
    my ($named) = map { /\Atavola:(.+)\z/s ? $1 : () } @servers;
    my $name = $param{table} // $named // 'memcached';
    my $table = ref $name ? $name : Tavola->open($name, capacity => $param{capacity} // '64M',
        %{ $param{table_options} // {} });
    return bless {
        table     => $table,
        servers   => @servers ? \@servers : ["tavola:$name"],
        namespace => $param{namespace} // '',
        utf8      => $param{utf8},
        max_size  => $param{max_size} // 1 << 20,
        threshold => $param{compress_threshold} // -1,
        ratio     => $param{compress_ratio} // 0.8,
        compress  => 1,
        methods   => $param{compress_methods},
        serialize => $param{serialize_methods} // _storable(),
    }, $class;
}

# The table, with all calls of Tavola.
sub table { return $_[0]{table} }

sub _address {
    my ($server) = @_;
    return $server if !ref $server;
    my $address = ref $server eq 'ARRAY' ? $server->[0]
        : ref $server eq 'HASH' ? $server->{address}
        :                         undef;
    return $address // Carp::croak('a server is an address, or a hash with the key address');
}

sub _storable {
    require Storable;
    return [ \&Storable::nfreeze, \&Storable::thaw ];
}

# Returns the functions that compress and expand, if there are any.
sub _methods {
    my ($self) = @_;
    return $self->{methods} //= do {
        require Compress::Zlib;
        [
            sub { ${ $_[1] } = Compress::Zlib::memGzip(${ $_[0] }) },
            sub { ${ $_[1] } = Compress::Zlib::memGunzip(${ $_[0] }) },
        ];
    };
}

sub enable_compress { my ($self, $enables) = @_; $self->{compress} = $enables; return }

sub namespace {
    my ($self, @new) = @_;
    my $old = $self->{namespace};
    ($self->{namespace}) = @new if @new;
    return $old;
}

# Returns the bytes of a value and its flags.
sub _encode {
    my ($self, $value) = @_;
    my $flags = 0;
    if (ref $value) {
        $value = $self->{serialize}[0]->($value);
        $flags = STORABLE;
    } elsif (utf8::is_utf8($value)) {
        if ($self->{utf8}) {
            utf8::encode($value);
            $flags = UTF8;
        } elsif (!utf8::downgrade($value, 1)) {
            Carp::croak('Wide character in subroutine entry');
        }
    }
    if ($self->{compress} && $self->{threshold} > 0 && length $value >= $self->{threshold}) {
        my $short;
        if ($self->_methods->[0]->(\$value, \$short)
            && length $short <= $self->{ratio} * length $value)
        {
            return ($short, $flags | COMPRESSED);
        }
    }
    return ($value, $flags);
}

# Returns the value of a key of the table in a list, or an empty list if it cannot be read.
sub _decode {
    my ($self, $key, $bytes, $flags) = @_;
    return $self->{table}->get($key) if $flags >> 24 == 0x54;
    if ($flags & COMPRESSED) {
        my $long;
        $self->_methods->[1]->(\$bytes, \$long) or return;
        $bytes = $long;
    }
    if ($flags & STORABLE) {
        my $value;
        return eval { $value = $self->{serialize}[1]->($bytes); 1 } && ref $value ? $value : ();
    }
    utf8::decode($bytes) if $flags & UTF8 && $self->{utf8};
    return $bytes;
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
    Carp::croak('a key and a value must be defined') if !defined $key || !defined $value;
    my ($bytes, $flags) = $self->_encode($value);
    return undef if length $bytes > $self->{max_size};    ## no critic
    my $is_stored = eval {
        $self->{table}->_store_flags($self->{namespace} . $key, $bytes, $flags, _ttl($time),
            $condition, $token) ? 1 : '';
    };
    return $is_stored;
}

sub set     { my ($self, @rest) = @_; return $self->_store(ALWAYS,  0, @rest) }
sub add     { my ($self, @rest) = @_; return $self->_store(ABSENT,  0, @rest) }
sub replace { my ($self, @rest) = @_; return $self->_store(PRESENT, 0, @rest) }

sub cas {
    my ($self, $key, $token, $value, $time) = @_;
    return $self->_store(TOKEN, $token, $key, $value, $time);
}

sub append {
    my ($self, $key, $more) = @_;
    return $self->_add_bytes('append', $key, $more);
}

sub prepend {
    my ($self, $key, $more) = @_;
    return $self->_add_bytes('prepend', $key, $more);
}

sub _add_bytes {
    my ($self, $method, $key, $more) = @_;
    my ($bytes) = $self->_encode("$more");
    return eval { $self->{table}->$method($self->{namespace} . $key, $bytes) ? 1 : '' };
}

sub get {
    my ($self, $key) = @_;
    my $full = $self->{namespace} . $key;
    my ($bytes, $flags) = $self->{table}->_raw($full) or return;
    return $self->_decode($full, $bytes, $flags);
}

sub gets {
    my ($self, $key) = @_;
    my $full = $self->{namespace} . $key;
    my ($bytes, $flags, $token) = $self->{table}->_raw($full) or return;
    my @value = $self->_decode($full, $bytes, $flags) or return;
    return [ $token, @value ];
}

sub get_multi  { my ($self, @keys) = @_; return $self->_each_key('get',  @keys) }
sub gets_multi { my ($self, @keys) = @_; return $self->_each_key('gets', @keys) }

sub _each_key {
    my ($self, $method, @keys) = @_;
    my %found;
    for my $key (@keys) {
        my @value = $self->$method($key);
        $found{$key} = $value[0] if @value;
    }
    return \%found;
}

sub gat {
    my ($self, $time, $key) = @_;
    $self->touch($key, $time) or return;
    return $self->get($key);
}

sub gats {
    my ($self, $time, $key) = @_;
    $self->touch($key, $time) or return;
    return $self->gets($key);
}

sub gat_multi {
    my ($self, $time, @keys) = @_;
    return $self->get_multi(grep { $self->touch($_, $time) } @keys);
}

sub gats_multi {
    my ($self, $time, @keys) = @_;
    return $self->gets_multi(grep { $self->touch($_, $time) } @keys);
}

sub incr { my ($self, $key, $by) = @_; return $self->_count($key, $by, 0) }
sub decr { my ($self, $key, $by) = @_; return $self->_count($key, $by, 1) }

# The number after, '0E0' for 0, '' for a missing key, undef after an error.
sub _count {
    my ($self, $key, $by, $is_down) = @_;
    my $now;
    eval {
        $now = $self->{table}->_count_unsigned($self->{namespace} . $key, $by // 1, $is_down);
        1;
    } or return undef;    ## no critic (ProhibitExplicitReturnUndef)
    return defined $now ? $now || '0E0' : '';
}

sub delete {
    my ($self, $key) = @_;
    return eval { $self->{table}->delete($self->{namespace} . $key) ? 1 : '' };
}

sub remove { my ($self, $key) = @_; return $self->delete($key) }

sub touch {
    my ($self, $key, $time) = @_;
    return eval { $self->{table}->touch($self->{namespace} . $key, _ttl($time)) ? 1 : '' };
}

# Methods for many keys: the arguments are lists, or keys alone. All are checked first.
for my $method (qw(set add replace append prepend cas incr decr delete touch)) {
    my $is_store = $method =~ /\A(?:set|add|replace|append|prepend|cas)\z/;
    my $least = $method eq 'cas' ? 3 : $is_store ? 2 : 1;
    no strict 'refs';
    *{"${method}_multi"} = sub {
        my ($self, @calls) = @_;
        @calls = map { ref $_ eq 'ARRAY' || $is_store ? $_ : [ $_ ] } @calls;
        for my $call (@calls) {
            Carp::croak("an argument of ${method}_multi is not a list")
                if ref $call ne 'ARRAY' || @$call < $least;
            Carp::croak("a key or value of ${method}_multi is not defined")
                if grep { !defined } @$call[ 0 .. $least - 1 ];
        }
        my @results = map { scalar $self->$method(@$_) } @calls;
        return @results if wantarray;
        my %result;
        @result{ map { $_->[0] } @calls } = @results;
        return \%result;
    };
}

# Removes all keys of the table, also those of other namespaces. It cannot be delayed.
sub flush_all {
    my ($self, $delay) = @_;
    my $is_done = !$delay && eval { $self->{table}->clear };
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

package Tavola::Memcached::Fleet;

# The calls of Tavola::Memcached on a fleet of servers. Most of them are C.

use strict;
use warnings;

our $VERSION = '0.1.0';
our @CARP_NOT = qw(Tavola::Memcached);

use Carp ();

# No time of the library is longer, in milliseconds. Cache::Memcached::Fast has no bound if a
# timeout is 0.
use constant LONGEST_MS => 24 * 60 * 60 * 1000;
# The number that max_failures has if failures are not counted.
use constant NO_COUNT => 0xFFFF_FFFF;
# Clients of other name spaces that are kept with their connections.
use constant MOST_CLIENTS => 8;

my $is_loaded;

# Loads the library when the first fleet is made; programs that only use tables do without it.
sub _load {
    return if $is_loaded;
    require XSLoader;
    eval { XSLoader::load(__PACKAGE__, $VERSION); 1 } or Carp::croak(
        'the client of memcached servers was not built, because libtavola_client.a was missing; '
            . "build Tavola again with it, or give one server 'tavola:NAME' ($@)");
    $is_loaded = 1;
    return;
}

# Makes an object of Tavola::Memcached a client of servers. Each is a list: its address, its weight,
# and whether it takes commands without a reply.
sub begin {
    my ($self, $servers, $param) = @_;
    _load();
    Carp::croak('near needs near_ttl: for how many seconds the table may keep what was read')
        if defined $param->{near} && !($param->{near_ttl} // 0);
    $self->{servers} = [ map { $_->[0] } @$servers ];
    $self->{texts} = [ map { _text(@$_) } @$servers ];
    $self->{silent} = [ map { $_->[2] ? 1 : 0 } @$servers ];
    $self->{how} = [
        $param->{ketama_points} // 0,
        _ms($param->{connect_timeout} // 0.25),
        _ms($param->{io_timeout} // $param->{select_timeout} // 1),
        $param->{max_failures} || NO_COUNT,
        _ms($param->{failure_timeout} // 10),
        $param->{near} // '',
        defined $param->{near} ? _ms($param->{near_ttl} // 0) : 0,
    ];
    $self->{nowait} = $param->{nowait};
    # The library puts the name space before keys if it has no part in their placement.
    $self->{is_prefixed} = $param->{hash_namespace} || @$servers == 1;
    _begin($self, _client($self));
    _set_prefix($self, $self->{namespace}) if $self->{is_prefixed};
    limit($self);
    return;
}

sub _text {
    my ($address, $weight) = @_;
    Carp::croak("the address '$address' has a comma or a question mark; a server has neither")
        if $address =~ /[,?]/;
    return $weight == 1 ? $address : "$address?weight=$weight";
}

sub _ms {
    my ($seconds) = @_;
    my $ms = int($seconds * 1000 + 0.5);
    return LONGEST_MS if $seconds <= 0 || $ms > LONGEST_MS;
    return $ms || 1;
}

# Returns the client of the library for the name space. Some of the last ones are kept, so that a
# program can change between them without new connections.
sub _client {
    my ($self) = @_;
    my $namespace = $self->{is_prefixed} ? '' : $self->{namespace};
    my $clients = $self->{clients} //= {};
    if (!$clients->{$namespace}) {
        %$clients = () if keys %$clients >= MOST_CLIENTS;
        $clients->{$namespace} = _open($self, $self->{texts}, $namespace, $self->{silent});
    }
    return $clients->{$namespace};
}

sub _open {
    my ($self, $texts, $namespace, $silent) = @_;
    return Tavola::Memcached::Client->_open(join(',', @$texts), $namespace, 0, @{ $self->{how} },
        $silent);
}

# Tells the C part what values need nothing of Perl.
sub limit {
    my ($self) = @_;
    _set_limits($self, $self->{values}->threshold // -1, $self->{max_size},
        $self->{values}{utf8} ? 1 : 0, $self->{nowait} ? 1 : 0);
    return;
}

# Puts another name space before keys.
sub use_namespace {
    my ($self) = @_;
    if ($self->{is_prefixed}) {
        _set_prefix($self, $self->{namespace});
    } else {
        _use($self, _client($self));
    }
    return;
}

# Each server gets a part of the delay, the last one none.
sub flush_all {
    my ($self, $delay) = @_;
    my @servers = @{ $self->{servers} };
    my @answers;
    if ($delay && @servers > 1) {
        for my $place (0 .. $#servers) {
            my $one = bless { %$self{qw(how)} }, __PACKAGE__;
            _begin($one, _open($self, [ $self->{texts}[$place] ], '', [0]));
            push @answers, _flush_all($one, int($delay * ($#servers - $place) / $#servers))->[0];
        }
    } else {
        @answers = @{ _flush_all($self, $delay // 0) };
    }
    my %result;
    @result{@servers} = map { defined $_ ? 1 : undef } @answers;
    return \%result;
}

sub server_versions {
    my ($self) = @_;
    my %result;
    @result{ @{ $self->{servers} } } = @{ _versions($self) };
    delete @result{ grep { !defined $result{$_} } keys %result };
    return \%result;
}

# Closes all connections. The next call makes new ones.
sub disconnect_all {
    my ($self) = @_;
    $self->{clients} = {};
    _use($self, _client($self));
    return;
}

{
    no warnings 'once';
    *remove = sub { goto &Tavola::Memcached::Fleet::delete };
}

1;

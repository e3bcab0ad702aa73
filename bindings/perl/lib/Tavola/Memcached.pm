package Tavola::Memcached;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Carp ();
use Scalar::Util ();
use Tavola::Memcached::Fleet;
use Tavola::Memcached::Table;
use Tavola::Memcached::Value;

# Parameters of Cache::Memcached::Fast, and those for tables.
my %KNOWN = map { $_ => 1 } qw(
    servers namespace hash_namespace nowait connect_timeout io_timeout select_timeout
    close_on_error compress_threshold compress_ratio compress_methods max_failures
    failure_timeout ketama_points serialize_methods utf8 max_size check_args
    table capacity table_options near near_ttl max_expanded
);

# Methods that a fleet has as well as a table.
my @METHODS = qw(
    add add_multi append append_multi cas cas_multi decr decr_multi delete delete_multi
    disconnect_all flush_all gat gat_multi gats gats_multi get get_multi gets gets_multi incr
    incr_multi last_error limit nowait_push prepend prepend_multi remove replace replace_multi
    server_versions set set_multi touch touch_multi use_namespace
);

my %IS_INNER = map { $_ => 1 } qw(limit use_namespace);

# The function of each method, by what an object has its keys in. Those of a fleet are there when
# the library is loaded.
my (%OF_TABLE, %OF_FLEET);
for my $method (@METHODS) {
    no strict 'refs';
    $OF_TABLE{$method} = \&{"Tavola::Memcached::Table::$method"};
    $OF_FLEET{$method} = \&{"Tavola::Memcached::Fleet::$method"};
    next if $IS_INNER{$method};
    # The arguments are not copied.
    *{$method} = sub { &{ $_[0]{calls}{$method} } };
}

sub new {
    my ($class, $given) = @_;
    my %param = %{ $given // {} };
    _check_names(\%param);
    my @servers = map { _server($_) } @{ $param{servers} // [] };
    my $self = bless {
        namespace => $param{namespace} // '',
        max_size  => $param{max_size} // 1 << 20,
        values    => Tavola::Memcached::Value->new(\%param),
    }, $class;
    if (_is_fleet(\%param, @servers)) {
        $self->{calls} = \%OF_FLEET;
        Tavola::Memcached::Fleet::begin($self, \@servers, \%param);
    } else {
        $self->{calls} = \%OF_TABLE;
        Tavola::Memcached::Table::begin($self, \@servers, \%param);
    }
    return $self;
}

# Only a table that is given, or that is the one server, is used without the client of a fleet.
sub _is_fleet {
    my ($param, @servers) = @_;
    return 0 if defined $param->{table} || !@servers;
    return @servers > 1 || $servers[0][0] !~ /\Atavola:./s;
}

# Warns about parameters that have no effect, in the words of Cache::Memcached::Fast.
sub _check_names {
    my ($param) = @_;
    return if lc($param->{check_args} // '') eq 'skip';
    Carp::carp('compress_algo was removed in 0.08, use compress_methods')
        if exists $param->{compress_algo};
    my @unknown = sort grep { !$KNOWN{$_} && $_ ne 'compress_algo' } keys %$param;
    Carp::carp("Unknown arguments: @{[ join ', ', @unknown ]}") if @unknown;
    return;
}

# Returns a list of what a server is: its address, its weight, and whether it needs no reply.
sub _server {
    my ($server) = @_;
    my @parts;
    if (!ref $server) {
        @parts = ($server);
    } elsif (ref $server eq 'ARRAY') {
        @parts = @$server[ 0, 1 ];
        Carp::croak('server should be [$addr, $weight]') if !defined $parts[0];
    } elsif (ref $server eq 'HASH') {
        @parts = @$server{qw(address weight noreply)};
        Carp::croak('server should have { address => $addr }') if !defined $parts[0];
    } else {
        Carp::croak('Not a hash or array reference; a server is an address or one of these');
    }
    $parts[1] //= 1;
    Carp::croak("Server weight should be positive, and is '$parts[1]'")
        if !Scalar::Util::looks_like_number($parts[1]) || $parts[1] <= 0;
    return [ @parts[ 0 .. 2 ] ];
}

# The table, with all calls of Tavola; undef if the keys are on servers.
sub table { return $_[0]{table} }

sub enable_compress {
    my ($self, $enables) = @_;
    $self->{values}{is_compressing} = $enables;
    $self->{calls}{limit}->($self);
    return;
}

sub namespace {
    my ($self, @new) = @_;
    my $old = $self->{namespace};
    if (@new) {
        $self->{namespace} = $new[0] // '';
        $self->{calls}{use_namespace}->($self);
    }
    return $old;
}

1;

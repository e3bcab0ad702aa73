package Cache::Memcached::Fast;

# The name that the tests of Cache::Memcached::Fast load. They name servers with the port 11211; here
# the servers have the port of TAVOLA_MEMCACHED_PORT, or the keys are in a table if it is not set.

use parent qw(Tavola::Memcached);

sub new {
    my ($class, $given) = @_;
    my %param = %$given;
    my $port = $ENV{TAVOLA_MEMCACHED_PORT};
    $param{table} = 'memcached' if !$port;
    $param{servers} = [ map { _moved($_, $port) } @{ $param{servers} } ] if $port && $param{servers};
    return $class->SUPER::new(\%param);
}

# The tests compare versions as numbers; that of `tavola serve` has words behind the number.
sub server_versions {
    my ($self) = @_;
    my $versions = $self->SUPER::server_versions;
    s/-.*// for values %$versions;
    return $versions;
}

sub _moved {
    my ($server, $port) = @_;
    return $server =~ s/:11211\z/:$port/r if !ref $server;
    return { %$server, address => _moved($server->{address}, $port) }
        if ref $server eq 'HASH' && defined $server->{address};
    return $server;
}

1;

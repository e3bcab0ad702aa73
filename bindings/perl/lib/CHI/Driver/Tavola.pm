package CHI::Driver::Tavola;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Moo;
use Tavola;

extends 'CHI::Driver';

# The name of the table, or an open one. All namespaces share it.
has 'table' => (is => 'ro', default => sub { 'chi' });

# Between the namespace and the key. A namespace has no such byte.
my $SEPARATOR = "\0";

sub BUILD {
    my ($self, $params) = @_;
    my %options = %{ $self->non_common_constructor_params($params) };
    delete $options{table};
    my $table = $self->table;
    $self->{tavola} = ref $table ? $table : Tavola->open($table, %options);
    $self->{prefix} = $self->namespace . $SEPARATOR;
    return;
}

# The open table.
sub tavola { return $_[0]{tavola} }

sub fetch {
    my ($self, $key) = @_;
    return $self->{tavola}->get($self->{prefix} . $key);
}

# CHI gives the seconds only with `expires_on_backend`. It stores bytes of its own.
sub store {
    my ($self, $key, $data, $expires_in) = @_;
    my @ttl = defined $expires_in && $expires_in > 0 ? (ttl => $expires_in) : ();
    return $self->{tavola}->set($self->{prefix} . $key, $data, @ttl);
}

sub remove {
    my ($self, $key) = @_;
    return $self->{tavola}->delete($self->{prefix} . $key);
}

sub clear {
    my ($self) = @_;
    return $self->{tavola}->delete_prefix($self->{prefix});
}

sub get_keys {
    my ($self) = @_;
    my $length = length $self->{prefix};
    return map { substr $_, $length } $self->{tavola}->keys($self->{prefix});
}

sub get_namespaces {
    my ($self) = @_;
    my %seen;
    for my $key ($self->{tavola}->keys) {
        my $at = index $key, $SEPARATOR;
        $seen{ substr $key, 0, $at } = 1 if $at >= 0;
    }
    return keys %seen;
}

sub fetch_multi_hashref {
    my ($self, $keys) = @_;
    my $prefix = $self->{prefix};
    my $found = $self->{tavola}->get_multi(map { $prefix . $_ } @$keys);
    return { map { ($_ => $found->{ $prefix . $_ }) } @$keys };
}

# Adds to a value that CHI did not pack, as its documentation of `append` says.
sub append {
    my ($self, $key, $more) = @_;
    return $self->{tavola}->append($self->{prefix} . $key, $more);
}

1;

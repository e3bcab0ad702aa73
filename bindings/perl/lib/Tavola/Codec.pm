package Tavola::Codec;

# How Tavola::FastMmap turns values into what a table stores: a serializer, and a compressor.

use strict;
use warnings;

our $VERSION = '0.1.0';

require Tavola::Error;

my %SERIALIZER = (
    storable => sub {
        require Storable;
        return [ \&Storable::freeze, \&Storable::thaw ];
    },
    sereal => sub {
        require Sereal::Encoder;
        require Sereal::Decoder;
        my ($encoder, $decoder) = (Sereal::Encoder->new, Sereal::Decoder->new);
        return [ sub { $encoder->encode($_[0]) }, sub { $decoder->decode($_[0]) } ];
    },
    json => sub {
        require JSON::PP;
        my $json = JSON::PP->new->utf8->allow_nonref;
        return [ sub { $json->encode(${ $_[0] }) }, sub { \$json->decode($_[0]) } ];
    },
);

my %COMPRESSOR = (
    zlib => sub {
        require Compress::Zlib;
        return [ \&Compress::Zlib::compress, \&Compress::Zlib::uncompress ];
    },
    lz4 => sub {
        require Compress::LZ4;
        return [ \&Compress::LZ4::compress, \&Compress::LZ4::uncompress ];
    },
    snappy => sub {
        require Compress::Snappy;
        return [ \&Compress::Snappy::compress, \&Compress::Snappy::uncompress ];
    },
);

# `serializer` and `compressor` are a name, or two functions, or nothing.
sub new {
    my ($class, $serializer, $compressor) = @_;
    my ($freeze, $thaw) = _functions($serializer, \%SERIALIZER, 'serializer');
    my ($compress, $expand) = _functions($compressor, \%COMPRESSOR, 'compressor');
    return bless {
        freeze => $freeze, thaw => $thaw, compress => $compress, expand => $expand,
        is_own => ref $serializer eq 'ARRAY',
    }, $class;
}

sub _functions {
    my ($given, $known, $what) = @_;
    return if !$given;
    return @$given if ref $given eq 'ARRAY';
    my $make = $known->{$given}
        or Tavola::Error->throw("there is no $what '$given'; give a known name or two functions");
    return @{ $make->() };
}

sub encode {
    my ($self, $value) = @_;
    if ($self->{freeze}) {
        $value = $self->{freeze}->(\$value);
    } elsif (defined $value) {
        $value = "$value";
    }
    return $value if !$self->{compress} || !defined $value;
    utf8::encode($value) if utf8::is_utf8($value);
    return $self->{compress}->($value);
}

# A value that a known serializer has not written, such as a counter or a value of another program,
# is returned as it is. An error of the caller's own function is thrown.
sub decode {
    my ($self, $value) = @_;
    return $value if !defined $value || ref $value;
    return ${ $self->{thaw}->($self->{expand} ? $self->{expand}->($value) : $value) }
        if $self->{is_own};
    local $@;
    my $bytes = $value;
    if ($self->{expand}) {
        $bytes = eval { $self->{expand}->($value) };
        return $value if !defined $bytes;
    }
    return $bytes if !$self->{thaw};
    my $thawed = eval { $self->{thaw}->($bytes) };
    return ref $thawed ? $$thawed : $value;
}

1;

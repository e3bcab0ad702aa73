package Tavola::Memcached::Value;

# Values of Tavola::Memcached: from Perl to bytes with flags as Cache::Memcached::Fast has them, and
# back.

use strict;
use warnings;

our $VERSION = '0.1.0';
our @CARP_NOT = qw(Tavola::Memcached Tavola::Memcached::Table Tavola::Memcached::Fleet);

use Carp ();

use constant { STORABLE => 1, COMPRESSED => 2, UTF8 => 4 };

sub new {
    my ($class, $param) = @_;
    my $serialize = $param->{serialize_methods} // _storable();
    return bless {
        utf8           => $param->{utf8},
        threshold      => $param->{compress_threshold} // -1,
        ratio          => $param->{compress_ratio} // 0.8,
        is_compressing => 1,
        methods        => $param->{compress_methods},
        max_expanded   => $param->{max_expanded} // 64 << 20,
        serialize      => $serialize || undef,
    }, $class;
}

sub _storable {
    require Storable;
    return [ \&Storable::nfreeze, \&Storable::thaw ];
}

# Returns the functions that compress and expand.
sub _methods {
    my ($self) = @_;
    return $self->{methods} //= do {
        require Compress::Zlib;
        my $most = $self->{max_expanded};
        [
            sub { ${ $_[1] } = Compress::Zlib::memGzip(${ $_[0] }) },
            sub { defined(${ $_[1] } = _gunzip(${ $_[0] }, $most)) },
        ];
    };
}

# Returns the bytes, undef if they cannot be expanded, and throws if they are longer than allowed.
sub _gunzip {
    my ($bytes, $most) = @_;
    my ($stream, $status) = Compress::Raw::Zlib::Inflate->new(
        -WindowBits   => Compress::Raw::Zlib::WANT_GZIP(),
        -LimitOutput  => 1,
        -Bufsize      => 1 << 16,
        -AppendOutput => 1,
    );
    my $long = '';
    while ($stream) {
        my $before = length($bytes) - length $long;
        $status = $stream->inflate($bytes, $long);
        wrong("a value is longer than $most bytes when it is expanded; give a larger max_expanded"
            . ' if those who write it are trusted')
            if length $long > $most;
        return $long if $status == Compress::Raw::Zlib::Z_STREAM_END();
        return if $status != Compress::Raw::Zlib::Z_OK()
            && $status != Compress::Raw::Zlib::Z_BUF_ERROR();
        return if $before == length($bytes) - length $long;
    }
    return;
}

# Throws a sentence at the line of the program.
sub wrong { Carp::croak($_[0]) }

# From so many bytes on, values are compressed; nothing if they are not.
sub threshold {
    my ($self) = @_;
    return $self->{is_compressing} && $self->{threshold} > 0 ? $self->{threshold} : undef;
}

# Returns the bytes of a value and its flags.
sub encode {
    my ($self, $value) = @_;
    my ($bytes, $flags) = ref $value ? $self->_frozen($value) : $self->encode_part($value);
    my $threshold = $self->threshold;
    if (defined $threshold && length $bytes >= $threshold) {
        my $short;
        if ($self->_methods->[0]->(\$bytes, \$short)
            && length $short <= $self->{ratio} * length $bytes)
        {
            return ($short, $flags | COMPRESSED);
        }
    }
    return ($bytes, $flags);
}

sub _frozen {
    my ($self, $value) = @_;
    my $serialize = $self->{serialize}
        // Carp::croak('a reference is stored only with serialize_methods; give them to new');
    return ($serialize->[0]->($value), STORABLE);
}

# Returns the bytes of a string that is put to another one, and is not compressed; and its flags.
sub encode_part {
    my ($self, $text) = @_;
    return ("$text", 0) if !utf8::is_utf8($text);
    if ($self->{utf8}) {
        utf8::encode($text);
        return ($text, UTF8);
    }
    utf8::downgrade($text, 1) or Carp::croak('Wide character in subroutine entry');
    return ($text, 0);
}

# Returns the value in a list, or an empty list if it cannot be read.
sub decode {
    my ($self, $bytes, $flags) = @_;
    if ($flags & COMPRESSED) {
        my $long;
        $self->_methods->[1]->(\$bytes, \$long) or return;
        $bytes = $long;
    }
    if ($flags & STORABLE) {
        my $serialize = $self->{serialize} // return;
        my $value;
        local $@;
        return eval { $value = $serialize->[1]->($bytes); 1 } && ref $value ? $value : ();
    }
    utf8::decode($bytes) if $flags & UTF8 && $self->{utf8};
    return $bytes;
}

1;

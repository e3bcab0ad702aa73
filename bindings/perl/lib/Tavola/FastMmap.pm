package Tavola::FastMmap;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Tavola;
use Tavola::Codec;

# Keys of the table that are not keys of the cache.
my $READS = "\0fastmmap:reads";
my $HITS = "\0fastmmap:hits";

# The least capacity of a table that is worth its index.
my $LEAST_BYTES = 2 << 20;

my %UNIT_BYTES = (k => 1 << 10, m => 1 << 20, g => 1 << 30);
my %UNIT_SECONDS = (s => 1, m => 60, h => 3600, d => 86400, w => 7 * 86400);

# Options of Cache::FastMmap that have no meaning for a table, and are accepted.
my %KNOWN = map { $_ => 1 } qw(
    share_file init_file serializer raw_values compressor compress enable_stats expire_time
    cache_size page_size num_pages context read_cb write_cb delete_cb cache_not_found write_action
    allow_recursive empty_on_exit unlink_on_exit catch_deadlocks permissions start_slots name
);

# Opens a cache. `name` is the name of a table; `share_file` is its path.
sub new {
    my ($class, %option) = @_;
    for my $name (sort keys %option) {
        Tavola::Error->throw("there is no option '$name' of $class") if !$KNOWN{$name};
    }
    if (($option{write_action} // 'write_through') eq 'write_back') {
        Tavola::Error->throw('write_back is not possible: the table evicts a key without a call to '
            . 'this process, and the value would be lost; use write_through');
    }
    my $self = bless {
        %option{qw(context read_cb write_cb delete_cb cache_not_found enable_stats empty_on_exit)},
        expire_time => _seconds($option{expire_time}, 0),
        pid         => $$,
    }, $class;
    $self->{codec} = Tavola::Codec->new(_serializer(\%option), _compressor(\%option));
    my $file = $option{name} // $option{share_file};
    my $path = defined $file ? Tavola->path_of($file) : undef;
    $self->{unlink_on_exit} = $option{unlink_on_exit} // !(defined $path && -e $path);
    $file //= sprintf 'fastmmap-%d-%d-%06d', $$, time, rand 1e6;
    $self->{table} = Tavola->open($file, capacity => _capacity(\%option),
        mode => $option{permissions} // 0640);
    $self->{share_file} = $self->{table}->path;
    $self->{table}->clear if $option{init_file};
    return $self;
}

# The table of the cache, with all calls of Tavola.
sub table { return $_[0]{table} }

sub _serializer {
    my ($option) = @_;
    return $option->{serializer} if exists $option->{serializer};
    return $option->{raw_values} ? '' : 'storable';
}

sub _compressor {
    my ($option) = @_;
    return $option->{compressor} // ($option->{compress} ? 'zlib' : undef);
}

sub _bytes {
    my ($size) = @_;
    return $1 * $UNIT_BYTES{ lc $2 } if $size =~ /\A([0-9.]+)([kmg])b?\z/i;
    return $size;
}

sub _capacity {
    my ($option) = @_;
    my $bytes = defined $option->{cache_size}
        ? _bytes($option->{cache_size})
        : _bytes($option->{page_size} // 65536) * ($option->{num_pages} // 89);
    return $bytes > $LEAST_BYTES ? int $bytes : $LEAST_BYTES;
}

# Returns seconds from a number with or without a unit. 0 is for ever, below 0 is now.
sub _seconds {
    my ($time, $default) = @_;
    return $default if !defined $time || $time eq '';
    return 0 if $time eq 'never';
    return -1 if $time eq 'now';
    return $1 * $UNIT_SECONDS{ lc $2 } if $time =~ /\A\s*(-?[0-9.]+)\s*([smhdw])[a-z]*\s*\z/i;
    return $time =~ /\A-?[0-9.]+\z/ ? $time : 0;
}

# Returns the options of a write: of a hash with `expire_on` or `expire_time`, or of a time.
sub _write_options {
    my ($self, $option) = @_;
    my $seconds = $self->{expire_time};
    if (ref $option eq 'HASH') {
        return _until($option->{expire_on}) if defined $option->{expire_on};
        $seconds = _seconds($option->{expire_time}, $seconds);
    } elsif (defined $option) {
        $seconds = _seconds($option, $seconds);
    }
    return (ttl => undef) if $seconds == 0;
    return $seconds < 0 ? (expires_at => 0) : (ttl => $seconds);
}

sub _until {
    my ($time) = @_;
    return $time ? (expires_at => $time) : (ttl => undef);
}

# Returns the value of a key, or what `read_cb` returns, which is then kept.
sub get {
    my ($self, $key) = @_;
    my $table = $self->{table};
    my $bytes = $table->get($key);
    my $is_there = defined $bytes || $table->exists($key);
    if ($self->{enable_stats}) {
        $table->incr($READS);
        $table->incr($HITS) if $is_there;
    }
    return $self->{codec}->decode($bytes) if defined $bytes;
    my $read = $self->{read_cb};
    return undef if $is_there || !$read;    ## no critic (ProhibitExplicitReturnUndef)
    my $value = $read->($self->{context}, $key);
    if (defined $value || $self->{cache_not_found}) {
        $self->_store($key, $value, $self->_write_options(undef));
    }
    return $value;
}

# Stores a value. Returns false if the table has no room for it.
sub _store {
    my ($self, $key, $value, @options) = @_;
    my $encoded = $self->{codec}->encode($value);
    return eval { $self->{table}->set($key, $encoded, @options); 1 } // _no_room($@);
}

sub _no_room {
    my ($error) = @_;
    return 0 if ref $error && $error->isa('Tavola::Error::Full');
    return 0 if ref $error && $error->isa('Tavola::Error::TooLarge');
    die $error;
}

sub set {
    my ($self, $key, $value, $option) = @_;
    my @options = $self->_write_options($option);
    my $is_stored = $self->_store($key, $value, @options);
    $self->_write_through($key, $value, @options);
    return $is_stored;
}

sub _write_through {
    my ($self, $key, $value, $name, $time) = @_;
    my $write = $self->{write_cb} or return;
    my $until = $name eq 'expires_at' ? $time : defined $time ? time + $time : 0;
    $write->($self->{context}, $key, $value, $until);
    return;
}

# Replaces a value by what a function makes of it. If another process changes the key meanwhile,
# the function is called again.
sub get_and_set {
    my ($self, $key, $code) = @_;
    my ($table, $codec) = @$self{qw(table codec)};
    while (1) {
        my $entry = $table->entry($key);
        my $old = $entry ? $codec->decode($entry->{value}) : undef;
        if (!$entry && $self->{read_cb}) {
            $old = $self->{read_cb}->($self->{context}, $key);
        }
        my $until = $entry && $entry->{expires_at} ? int $entry->{expires_at} : 0;
        my ($new, $option) = my @made = $code->($key, $old, { expire_on => $until });
        return wantarray ? ($old, 0) : $old if !@made;
        if (defined $option && ref $option ne 'HASH') {
            Tavola::Error->throw('options must be a hash reference');
        }
        my @options = $self->_write_options($option);
        my $encoded = $codec->encode($new);
        my $is_stored = eval {
            $entry
                ? $table->cas($key, $entry->{token}, $encoded, @options)
                : $table->add($key, $encoded, @options);
        };
        if (!defined $is_stored) {
            _no_room($@);
            return wantarray ? ($new, 0) : $new;
        }
        next if !$is_stored;
        $self->_write_through($key, $new, @options);
        return wantarray ? ($new, 1) : $new;
    }
}

sub remove {
    my ($self, $key) = @_;
    my $is_removed = $self->{table}->delete($key);
    $self->{delete_cb}->($self->{context}, $key) if $self->{delete_cb};
    return $is_removed ? 1 : 0;
}

sub get_and_remove {
    my ($self, $key) = @_;
    my $bytes = $self->{table}->take($key);
    my $value = $self->{codec}->decode($bytes);
    $self->{delete_cb}->($self->{context}, $key) if $self->{delete_cb};
    return wantarray ? ($value, defined $bytes ? 1 : 0) : $value;
}

sub exists {
    my ($self, $key) = @_;
    return $self->{table}->exists($key) ? 1 : 0;
}

sub expire {
    my ($self, $key) = @_;
    return $self->{table}->delete($key) ? 1 : 0;
}

sub clear { my ($self) = @_; $self->{table}->clear; return 1 }
sub purge { my ($self) = @_; $self->{table}->remove_expired; return 1 }

sub empty {
    my ($self, $only_expired) = @_;
    return $only_expired ? $self->purge : $self->clear;
}

# Returns keys; with a mode of 1 or 2, hashes with their times and values.
sub get_keys {
    my ($self, $mode) = @_;
    my @keys = grep { $_ ne $READS && $_ ne $HITS } _characters($self->{table}->keys);
    return @keys if !$mode;
    my @all;
    for my $key (@keys) {
        my $entry = $self->{table}->entry($key) or next;
        push @all, {
            key => $key, last_access => 0, flags => 0,
            expire_on => int($entry->{expires_at} // 0),
            $mode == 2 ? (value => $self->{codec}->decode($entry->{value})) : (),
        };
    }
    return @all;
}

# Keys that are UTF-8 are characters, as Cache::FastMmap returns them.
sub _characters {
    return map { my $key = $_; utf8::decode($key); $key } @_;
}

sub get_statistics {
    my ($self, $clears) = @_;
    my @numbers = map { $self->{table}->get($_) // 0 } $READS, $HITS;
    $self->{table}->delete_multi($READS, $HITS) if $clears;
    return @numbers;
}

# The first argument, a key for a page of Cache::FastMmap, does not matter here.
sub multi_get {
    my ($self, undef, $keys) = @_;
    my $found = $self->{table}->get_multi($keys);
    $_ = $self->{codec}->decode($_) for values %$found;
    return $found;
}

sub multi_set {
    my ($self, undef, $values, $option) = @_;
    my %encoded = map { ($_ => $self->{codec}->encode($values->{$_})) } keys %$values;
    my @options = $self->_write_options($option);
    return eval { $self->{table}->set_multi(\%encoded, @options); 1 } // _no_room($@);
}

sub DESTROY {
    my ($self) = @_;
    my $table = delete $self->{table} or return;
    return if $$ != $self->{pid};
    local ($@, $?, $!);
    eval { $table->clear } if $self->{empty_on_exit};
    eval { Tavola->remove($self->{share_file}) } if $self->{unlink_on_exit};
    return;
}

# The copy of a thread must neither empty nor remove the table.
sub CLONE_SKIP { return 0 }

1;

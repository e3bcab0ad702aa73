package Tavola::CDB;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Carp ();
use Exporter qw(import);
use Tavola;

our @EXPORT_OK = qw(create);

# The numbers of `tavola_cdb_format` and `tavola_cdb_mode`.
my %FORMAT = (cdb => 0, cdb64 => 1, frozen => 2);
my %NAME = reverse %FORMAT;
my ($ADD, $REPLACE, $INSERT, $WARN, $REPLACE0) = 0 .. 4;

# Begins a new file. `finish` gives it its name. The name of a temporary file has no effect: until
# then the file has a name of its own in the same directory.
sub new {
    my ($class, $path, @arguments) = @_;
    # As in CDB_File, the second argument is the name of the temporary file.
    shift @arguments if @arguments % 2;
    return $class->_begin($path, @arguments);
}

sub _begin {
    my ($class, $path, %option) = @_;
    my $self = bless { path => $path, utf8 => delete $option{utf8} ? 1 : 0 }, $class;
    my $format = delete $option{format} // 'cdb';
    Tavola::Error->throw("there is no format '$format'; give cdb, cdb64 or frozen")
        if !exists $FORMAT{$format};
    my ($mode, $sync) = (delete $option{mode} // 0, delete $option{sync} // 1);
    _refuse(%option);
    $self->{writer} = _create($path, $FORMAT{$format}, $mode, $sync);
    return $self;
}

sub _refuse {
    my (%option) = @_;
    for my $name (sort keys %option) {
        Tavola::Error->throw("there is no option '$name'; see the documentation of the method");
    }
    return;
}

# Opens a file to read it; with `for_update`, also to write another one in its place.
sub open {
    my ($class, $path, %option) = @_;
    my ($follow, $updates) = delete @option{qw(follow for_update)};
    my $utf8 = delete $option{utf8} ? 1 : 0;
    my $file = _open($path, $follow);
    if (!defined $updates) {
        _refuse(%option);
        return bless { path => $path, file => $file, utf8 => $utf8 }, $class;
    }
    my $self = $class->_begin($path, format => $NAME{ $file->format }, %option, utf8 => $utf8);
    $self->{file} = $file;
    my $all = $file->iterator;
    while (my ($key, $value) = $all->next) {
        $self->{writer}->put($key, $value, $ADD);
    }
    return $self;
}

sub load { my ($class, @arguments) = @_; return $class->open(@arguments) }

# Makes a file of a hash, as CDB_File::create; or begins one, as CDB::TinyCDB->create.
sub create(\%$;@) {    ## no critic (ProhibitSubroutinePrototypes)
    my ($values, $path, @arguments) = @_;
    return $values->new($path, @arguments) if ref $values ne 'HASH';
    my $made = __PACKAGE__->new($path, @arguments);
    $made->insert(%$values);
    return $made->finish;
}

sub _writer {
    my ($self) = @_;
    return $self->{writer}
        // Tavola::Error->throw('the file is open to read only; begin a new one, or open it with '
            . 'for_update');
}

sub _file {
    my ($self) = @_;
    return $self->{file}
        // Tavola::Error->throw('the file is not finished; call finish, and open it');
}

# The bytes of a text, and the text of bytes.
sub _bytes {
    my ($self, $text) = @_;
    Tavola::Error->throw('a key or value is undef; give a string') if !defined $text;
    $text = "$text";
    if ($self->{utf8}) {
        utf8::encode($text);
    } elsif (!utf8::downgrade($text, 1)) {
        Tavola::Error->throw('a key or value has characters above 255; encode it, or give utf8 => 1');
    }
    return $text;
}

sub _text {
    my ($self, $bytes) = @_;
    utf8::decode($bytes) if $self->{utf8} && defined $bytes;
    return $bytes;
}

# Puts pairs of keys and values. Returns how many were added.
sub _put {
    my ($self, $mode, @pairs) = @_;
    Tavola::Error->throw('a value is missing: give pairs of a key and a value') if @pairs % 2;
    my ($writer, $count) = (_writer($self), 0);
    while (my ($key, $value) = splice @pairs, 0, 2) {
        my ($is_added, $existed) = $writer->put(_bytes($self, $key), _bytes($self, $value), $mode);
        $count++ if $is_added;
        Carp::carp("the key '$key' was there already") if $mode == $WARN && $existed;
    }
    return $count;
}

sub put_add      { my ($self, @pairs) = @_; return _put($self, $ADD, @pairs) }
sub put_replace  { my ($self, @pairs) = @_; return _put($self, $REPLACE, @pairs) }
sub put_replace0 { my ($self, @pairs) = @_; return _put($self, $REPLACE0, @pairs) }
sub put_insert   { my ($self, @pairs) = @_; return _put($self, $INSERT, @pairs) }
sub put_warn     { my ($self, @pairs) = @_; return _put($self, $WARN, @pairs) }

sub insert {
    my ($self, @pairs) = @_;
    _put($self, $ADD, @pairs);
    return 1;
}

# Gives the file its name, in one step. Readers that have the old file open keep it.
sub finish {
    my ($self, %option) = @_;
    my ($saves, $reopens) = (delete $option{save_changes} // 1, delete $option{reopen} // 0);
    _refuse(%option);
    my $writer = _writer($self);
    $writer->finish if $saves;
    delete @{$self}{qw(writer file each)};
    $self->{file} = _open($self->{path}, undef) if $reopens;
    return 1;
}

sub get {
    my ($self, $key) = @_;
    $self->{asked} = _bytes($self, $key);
    return _text($self, _file($self)->get($self->{asked}));
}

# Where the value is in the file of the key that was asked for last, and how many bytes it has.
sub datapos { my ($self) = @_; return (_place($self))[0] }
sub datalen { my ($self) = @_; return (_place($self))[1] }

sub _place {
    my ($self) = @_;
    return defined $self->{asked} ? _file($self)->position($self->{asked}) : ();
}

# The file, opened by its name when this is called first.
sub handle {
    my ($self) = @_;
    _file($self);
    return $self->{handle} //= do {
        CORE::open my $handle, '<:raw', $self->{path}
            or Tavola::Error->throw("cannot open $self->{path}: $!");
        $handle;
    };
}

# All values of a key, in a list.
sub multi_get {
    my ($self, $key) = @_;
    my $all = _file($self)->all(_bytes($self, $key));
    return [ map { _text($self, $_) } @$all ];
}

sub getall  { my ($self, $key) = @_; return @{ multi_get($self, $key) } }
sub getlast { my ($self, $key) = @_; return multi_get($self, $key)->[-1] }

# Of a file that is being made, the new one is asked.
sub exists {
    my ($self, $key) = @_;
    $self->{asked} = _bytes($self, $key);
    return ($self->{writer} // _file($self))->exists($self->{asked});
}

# The next record, or nothing at the end; then the first one comes again.
sub each {
    my ($self) = @_;
    $self->{each} //= _file($self)->iterator;
    my ($key, $value) = $self->{each}->next;
    return (_text($self, $key), _text($self, $value)) if defined $key;
    delete $self->{each};
    return;
}

# Every key, once.
sub keys {
    my ($self) = @_;
    my (%seen, @keys);
    my $all = _file($self)->iterator;
    while (my ($key) = $all->next) {
        push @keys, _text($self, $key) if !$seen{$key}++;
    }
    return @keys;
}

# All keys with their first values.
sub fetch_all {
    my ($self) = @_;
    my %all;
    my $records = _file($self)->iterator;
    while (my ($key, $value) = $records->next) {
        $key = _text($self, $key);
        $all{$key} = _text($self, $value) if !CORE::exists $all{$key};
    }
    return \%all;
}

sub records { my ($self) = @_; return _file($self)->records }
sub check   { my ($self) = @_; return _file($self)->check }
sub format  { my ($self) = @_; return $NAME{ _file($self)->format } }
sub path    { my ($self) = @_; return $self->{path} }

# Opens the file that has the name now, if it is another one. Returns whether it is.
sub refresh {
    my ($self) = @_;
    delete $self->{each};
    return _file($self)->refresh;
}

sub TIEHASH {
    my ($class, $path, @option) = @_;
    my $self = eval { $class->open($path, @option) };
    return $self if $self;
    my $error = $@;
    die $error if !ref $error || !$error->errno;
    # As CDB_File does: `tie ... or die "...: $!"`.
    $! = $error->errno;    ## no critic (RequireLocalizedPunctuationVars)
    return;
}

# While a hash is walked, the value of a key is that of the record at hand, as in CDB_File.
sub FETCH {
    my ($self, $key) = @_;
    my $at = $self->{at};
    if ($at && defined $key && $at->[0] eq $key) {
        delete $self->{asked};
        return $at->[1];
    }
    return get($self, $key);
}

sub EXISTS {
    my ($self, $key) = @_;
    $self->{asked} = _bytes($self, $key);
    return _file($self)->exists($self->{asked});
}

sub FIRSTKEY {
    my ($self) = @_;
    $self->{walk} = _file($self)->iterator;
    return NEXTKEY($self);
}

sub NEXTKEY {
    my ($self) = @_;
    my ($key, $value) = $self->{walk}->next;
    if (!defined $key) {
        delete @{$self}{qw(walk at)};
        return;
    }
    $self->{at} = [ _text($self, $key), _text($self, $value) ];
    return $self->{at}[0];
}

sub SCALAR { my ($self) = @_; return records($self) }

for my $name (qw(STORE DELETE CLEAR)) {
    no strict 'refs';
    *{$name} = sub {
        Tavola::Error->throw('a constant file does not change; make a new one in its place');
    };
}

1;

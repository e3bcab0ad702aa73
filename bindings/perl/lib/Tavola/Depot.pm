package Tavola::Depot;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Tavola;

use constant {
    TRUE    => 1,
    FALSE   => 0,
    OREADER => 1,
    OWRITER => 2,
    OCREAT  => 4,
    OTRUNC  => 8,
    ONOLCK  => 16,
    OLCKNB  => 32,
    OSPARSE => 64,
    DOVER   => 0,
    DKEEP   => 1,
    DCAT    => 2,
};

# The message of the last error.
our $errmsg = 'no error';

# The errors after which a database is not to be trusted.
my @FATAL = qw(NotDurable DamagedJournal Corrupt);

# Calls a function. If it fails, remembers the error and returns `$failed`.
sub _try {
    my ($self, $code, $failed) = @_;
    if (!$self->{table}) {
        $errmsg = 'the database handle is closed';
        return $failed;
    }
    my $result;
    return $result if eval { $result = $code->($self->{table}); 1 };
    my $error = $@;
    $errmsg = "$error";
    $self->{is_broken} ||= ref $error && grep { $error->isa("Tavola::Error::$_") } @FATAL;
    return $failed;
}

# A path that is created becomes a durable table, as QDBM's files are on a disk. `sync` has the
# meaning that it has there, so the policy is that of the system.
sub _durability {
    my ($name, %options) = @_;
    my $is_memory = $name !~ m{/} || -e $name || defined $options{capacity} || $options{private};
    return $is_memory || exists $options{durable} ? () : (durable => 'os');
}

# Opens a table. `$bnum` has no meaning here: the index grows by itself. Pairs after it are options
# of `Tavola->open`, for a table that is created.
sub new {
    my ($class, $name, $omode, $bnum, @options) = @_;
    $omode //= OREADER;
    my $self = bless { filter => {}, is_writer => ($omode & OWRITER) != 0 }, $class;
    my $is_open = eval {
        if (!$self->{is_writer}) {
            $self->{table} = Tavola->open($name, @options, read_only => 1);
        } else {
            my $creates = ($omode & (OCREAT | OTRUNC)) != 0;
            my @durable = $creates && @options % 2 == 0 ? _durability($name, @options) : ();
            $self->{table} = Tavola->open($name, @durable, @options, create => $creates);
            $self->{table}->clear if $omode & OTRUNC;
        }
        1;
    };
    return $self if $is_open;
    $errmsg = "$@";
    return;
}

sub close {
    my ($self) = @_;
    return FALSE if !$self->{table};
    delete $self->{table};
    delete $self->{iterator};
    return TRUE;
}

# Returns the table itself, which has more calls: transactions, batches, times, tags.
sub table {
    my ($self) = @_;
    return $self->{table};
}

sub put {
    my ($self, $key, $value, $dmode) = @_;
    return FALSE if !defined $key || !defined $value;
    return $self->_try(sub {
        my ($table) = @_;
        return $table->add($key, "$value") ? TRUE : FALSE if ($dmode // DOVER) == DKEEP;
        if (($dmode // DOVER) != DCAT) {
            $table->set($key, "$value");
            return TRUE;
        }
        # A key that another process removes or creates in between is tried again.
        while (1) {
            return TRUE if $table->append($key, "$value") || $table->add($key, "$value");
        }
    }, FALSE);
}

sub out {
    my ($self, $key) = @_;
    return FALSE if !defined $key;
    return $self->_try(sub { $_[0]->delete($key) ? TRUE : FALSE }, FALSE);
}

sub get {
    my ($self, $key, $start, $max) = @_;
    return undef if !defined $key;    ## no critic (ProhibitExplicitReturnUndef)
    return $self->_try(sub {
        my ($table) = @_;
        return $table->get($key) if !defined $start && !defined $max;
        my $from = defined $start && $start > 0 ? $start : 0;
        my $length = $table->length($key);
        return undef if !defined $length || $length < $from;
        return $table->get_range($key, $from, defined $max && $max >= 0 ? $max : $length);
    }, undef);
}

sub vsiz {
    my ($self, $key) = @_;
    return -1 if !defined $key;
    return $self->_try(sub { $_[0]->length($key) // -1 }, -1);
}

sub iterinit {
    my ($self) = @_;
    return $self->_try(sub { $self->{iterator} = $_[0]->iterator; TRUE }, FALSE);
}

sub iternext {
    my ($self) = @_;
    return $self->_try(sub { $self->{iterator} ? scalar $self->{iterator}->next : undef }, undef);
}

sub fsiz  { my ($self) = @_; return $self->_try(sub { $_[0]->stats->{resident_bytes} }, -1) }
sub rnum  { my ($self) = @_; return $self->_try(sub { $_[0]->size }, -1) }

# The slots of the index: the table has no bucket array of a fixed size.
sub bnum {
    my ($self) = @_;
    return $self->_try(sub {
        my $stats = $_[0]->stats;
        return $stats->{index_load} > 0 ? int($stats->{keys} / $stats->{index_load}) : 0;
    }, -1);
}

sub writable   { my ($self) = @_; return $self->{table} && $self->{is_writer} ? TRUE : FALSE }
sub fatalerror { my ($self) = @_; return !$self->{table} || $self->{is_broken} ? TRUE : FALSE }

# Returns when all changes are on disk. A table in memory has nothing to do.
sub sync {
    my ($self) = @_;
    return $self->_try(sub { $_[0]->sync if $_[0]->is_durable; TRUE }, FALSE);
}

# Gives memory back, and shortens the files of a durable table.
sub optimize {
    my ($self) = @_;
    return $self->_try(sub {
        my ($table) = @_;
        $table->compact;
        $table->snapshot if $table->is_durable;
        return TRUE;
    }, FALSE);
}

# They have no effect: blocks have sizes of their own.
sub setalign  { my ($self) = @_; return $self->{table} ? TRUE : FALSE }
sub setfbpsiz { my ($self) = @_; return $self->{table} ? TRUE : FALSE }

# Sets a filter, which changes `$_`, and returns the old one.
for my $name (qw(store_key store_value fetch_key fetch_value)) {
    no strict 'refs';
    *{"filter_$name"} = sub {
        my ($self, $code) = @_;
        my $old = $self->{filter}{$name};
        $self->{filter}{$name} = $code;
        return $old;
    };
}

sub _filtered {
    my ($self, $name, $text) = @_;
    my $code = $self->{filter}{$name};
    return $text if !$code || !defined $text;
    local $_ = $text;
    $code->();
    return $_;
}

sub TIEHASH { my ($class, @arguments) = @_; return $class->new(@arguments) }

sub STORE {
    my ($self, $key, $value) = @_;
    return $self->put($self->_filtered('store_key', $key),
        $self->_filtered('store_value', $value), DOVER);
}

sub FETCH {
    my ($self, $key) = @_;
    return $self->_filtered('fetch_value', $self->get($self->_filtered('store_key', $key)));
}

sub DELETE { my ($self, $key) = @_; return $self->out($self->_filtered('store_key', $key)) }

sub CLEAR { my ($self) = @_; return $self->_try(sub { $_[0]->clear; TRUE }, FALSE) }

sub EXISTS {
    my ($self, $key) = @_;
    return $self->vsiz($self->_filtered('store_key', $key)) >= 0;
}

sub FIRSTKEY {
    my ($self) = @_;
    $self->iterinit;
    return $self->_filtered('fetch_key', $self->iternext);
}

sub NEXTKEY { my ($self) = @_; return $self->_filtered('fetch_key', $self->iternext) }
sub SCALAR  { my ($self) = @_; return $self->rnum }
sub DESTROY { my ($self) = @_; $self->close; return }

1;

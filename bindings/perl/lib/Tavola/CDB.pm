package Tavola::CDB;

use strict;
use warnings;

our $VERSION = '0.1.0';

use Exporter qw(import);
use Tavola;

our @EXPORT_OK = qw(create);

# Begins a new table under a temporary name. `finish` gives it the name that readers look for.
sub new {
    my ($class, $final, $temporary, %option) = @_;
    my $table = eval {
        Tavola->open($temporary, create => 'new', $option{utf8} ? (utf8_keys => 1) : ());
    };
    return if !$table;
    return bless { table => $table, final => $final, temporary => $temporary }, $class;
}

# Adds keys and values. The first value of a key stays.
sub insert {
    my ($self, @pairs) = @_;
    while (my ($key, $value) = splice @pairs, 0, 2) {
        $self->{table}->add($key, "$value");
    }
    return 1;
}

# Gives the table its final name in one step. Readers that have the old one open keep it.
sub finish {
    my ($self) = @_;
    my $table = delete $self->{table} or return;
    $table->close;
    return CORE::rename(Tavola->path_of($self->{temporary}), Tavola->path_of($self->{final}));
}

sub create(\%$$;@) {    ## no critic (ProhibitSubroutinePrototypes)
    my ($values, $final, $temporary, %option) = @_;
    my $made = __PACKAGE__->new($final, $temporary, %option) or return;
    $made->insert(%$values);
    return $made->finish;
}

sub TIEHASH {
    my ($class, $name, %option) = @_;
    my $table = eval {
        Tavola->open($name, read_only => 1, $option{utf8} ? (utf8_keys => 1) : ());
    };
    return if !$table;
    return bless { reader => $table }, $class;
}

sub FETCH    { return $_[0]{reader}->get($_[1]) }
sub EXISTS   { return $_[0]{reader}->exists($_[1]) }
sub FIRSTKEY { return $_[0]{reader}->FIRSTKEY }
sub NEXTKEY  { return $_[0]{reader}->NEXTKEY($_[1]) }
sub SCALAR   { return $_[0]{reader}->size }

# All values of a key: one at most.
sub multi_get {
    my ($self, $key) = @_;
    my $value = $self->{reader}->get($key);
    return [ defined $value ? $value : () ];
}

sub fetch_all {
    my ($self) = @_;
    my %all;
    $self->{reader}->each(sub { $all{ $_[0] } = $_[1] });
    return \%all;
}

for my $name (qw(STORE DELETE CLEAR)) {
    no strict 'refs';
    *{$name} = sub {
        Tavola::Error->throw('the hash is read-only; make a new table with Tavola::CDB->new');
    };
}

1;

package CaseTable;

# The cases that every language must answer alike: bindings/cases.json of the repository, or the
# copy in the distribution. A case gives a list of what differs from the table.

use strict;
use warnings;

use B ();
use JSON::PP ();
use Tavola;
use Tavola::Queue;

# Returns the cases of a file.
sub cases {
    my ($file) = @_;
    open my $handle, '<:raw', $file or die "$file: $!";
    return JSON::PP->new->utf8->allow_bignum->decode(do { local $/; <$handle> })->{cases};
}

sub file {
    my ($file) = grep { defined && -f } $ENV{TAVOLA_CASES}, 't/cases.json', '../cases.json';
    return $file // die "cases.json is missing; set TAVOLA_CASES to its path\n";
}

# Calls of a table or a transaction, and the arguments of a step.
my %CALL = (
    get     => sub { $_[0]->get($_[1]{key}) },
    flags   => sub { my $entry = $_[0]->entry($_[1]{key}); $entry && $entry->{flags} },
    bytes   => sub { my $entry = $_[0]->entry($_[1]{key}); $entry && $entry->{bytes} },
    store   => sub { $_[0]->_store_raw($_[1]{key}, $_[1]{value}, $_[1]{flags}); 1 },
    set     => sub { $_[0]->set(_written($_[1])) },
    add     => sub { $_[0]->add(_written($_[1])) },
    replace => sub { $_[0]->replace(_written($_[1])) },
    append  => sub { $_[0]->append($_[1]{key}, $_[1]{value}) },
    prepend => sub { $_[0]->prepend($_[1]{key}, $_[1]{value}) },
    delete  => sub { $_[0]->delete($_[1]{key}) },
    exists  => sub { $_[0]->exists($_[1]{key}) },
    take    => sub { $_[0]->take($_[1]{key}) },
    swap    => sub { $_[0]->swap($_[1]{key}, $_[1]{value}) },
    gets    => sub { ($_[0]->gets($_[1]{key}))[1] },
    cas     => sub { $_[0]->cas($_[1]{key}, $_[1]{token}, $_[1]{value}) },
    incr    => sub { $_[0]->incr(_counted($_[1])) },
    decr    => sub { $_[0]->decr(_counted($_[1])) },
    touch   => sub { $_[0]->touch($_[1]{key}, exists $_[1]{ttl} ? $_[1]{ttl} : ()) },
    ttl     => sub { my $left = $_[0]->ttl($_[1]{key}); defined $left ? _up($left) : undef },
    get_many => sub { $_[0]->get_multi($_[1]{keys}) },
    set_many => sub {
        $_[0]->set_multi($_[1]{values}, map { ($_ => $_[1]{$_}) } grep { $_[1]{$_} } qw(ttl tags));
    },
    delete_many   => sub { $_[0]->delete_multi($_[1]{keys}) },
    keys          => sub { _sorted($_[0]->keys) },
    prefix_keys   => sub { _sorted($_[0]->keys($_[1]{prefix})) },
    delete_prefix => sub { $_[0]->delete_prefix($_[1]{prefix}) },
    size          => sub { $_[0]->size },
    clear         => sub { $_[0]->clear },
    is_durable    => sub { $_[0]->is_durable },
    durability    => sub { $_[0]->durability },
    sync          => sub { $_[0]->sync; 1 },
    snapshot      => sub { $_[0]->snapshot },
    invalidate    => sub { $_[0]->invalidate($_[1]{tag}) },
    compute       => sub {
        my ($t, $step) = @_;
        $t->compute($step->{key}, defined $step->{ttl} ? (ttl => $step->{ttl}) : (),
            sub { $step->{value} });
    },
);

# Calls of a run: of its queue, or with steps of their own.
my %RUN = (
    lock => sub {
        my ($run, $step) = @_;
        my $lock = $run->{table}->lock($step->{name}, timeout => $step->{wait} // 0,
            shared => $step->{shared}) or return !!0;
        steps($run, $step->{steps});
        return $lock->unlock;
    },
    push    => sub { $_[0]{jobs}->push($_[1]{value}) },
    waiting => sub { $_[0]{jobs}->size },
    pop     => sub {
        my ($run, $step) = @_;
        my $job = $run->{jobs}->job or return undef;
        # A job that is no reference is bytes in Perl, and text is their UTF-8.
        my $value = $job->value;
        utf8::decode($value) if defined $value && !ref $value && !utf8::is_utf8($value);
        steps($run, $step->{steps});
        $step->{give_back} ? $job->back : $job->done;
        return $value;
    },
    transaction => sub {
        my ($run, $step) = @_;
        my $is_committed = $run->{table}->transaction(sub {
            my ($transaction) = @_;
            local $run->{current} = $transaction;
            steps($run, $step->{steps});
            $transaction->abort if $step->{abort};
            return 1;
        }, once => $step->{once});
        return !!$is_committed;
    },
);

# The first arguments of a write, and its options.
sub _written {
    my ($step) = @_;
    return ($step->{key}, $step->{value}, map { exists $step->{$_} ? ($_ => $step->{$_}) : () }
            qw(ttl tags));
}

sub _counted {
    my ($step) = @_;
    return ($step->{key}, $step->{by} // 1,
        map { exists $step->{$_} ? ($_ => $step->{$_}) : () } qw(initial ttl));
}

sub _up { my ($number) = @_; return int($number) + ($number > int $number) }

# Keys, sorted by their bytes, as text.
sub _sorted {
    return [ map { my $key = $_; utf8::decode($key); $key } sort @_ ];
}

# Returns what the JSON of a case means in Perl: text has the UTF-8 flag, `hex` is bytes.
sub meaning {
    my ($value, $saved) = @_;
    if (ref $value eq 'HASH') {
        return pack 'H*', $value->{hex} if exists $value->{hex} && keys %$value == 1;
        return $saved->{ $value->{saved} } if exists $value->{saved} && keys %$value == 1;
        return repeated($value, $saved) if exists $value->{repeat};
        return $value->{float} =~ /nan/ ? -sin 9**9**9 : ($value->{float} =~ /-/ ? -1 : 1) * 9**9**9
            if exists $value->{float};
        return { map { $_ => meaning($value->{$_}, $saved) } keys %$value };
    }
    return [ map { meaning($_, $saved) } @$value ] if ref $value eq 'ARRAY';
    return $value ? !!1 : !!0 if JSON::PP::is_bool($value);
    return number($value) if ref $value;
    if (defined $value && !is_number($value)) {
        utf8::upgrade($value);
    }
    return $value;
}

# Text or bytes so many times, and what follows.
sub repeated {
    my ($value, $saved) = @_;
    my $text = meaning($value->{repeat}, $saved) x $value->{times};
    return exists $value->{then} ? $text . meaning($value->{then}, $saved) : $text;
}

sub is_number {
    my ($value) = @_;
    return (B::svref_2object(\$value)->FLAGS & (B::SVf_IOK() | B::SVf_NOK())) != 0;
}

# A number beyond a float that JSON::PP read as an object.
sub number { my ($value) = @_; return $value->is_int ? 0 + "$value" : $value->numify }

# Returns whether a result is what the table says.
sub is_same {
    my ($result, $wanted) = @_;
    return !defined $result if !defined $wanted;
    return 0 if !defined $result || ref $result ne ref $wanted;
    if (ref $wanted eq 'ARRAY') {
        return @$result == @$wanted
            && !grep { !is_same($result->[$_], $wanted->[$_]) } 0 .. $#$wanted;
    }
    if (ref $wanted eq 'HASH') {
        return keys %$result == keys %$wanted
            && !grep { !exists $result->{$_} || !is_same($result->{$_}, $wanted->{$_}) }
            keys %$wanted;
    }
    return $result != $result if is_number($wanted) && $wanted != $wanted;
    return is_number($wanted) ? $result == $wanted : $result eq $wanted;
}

# Runs steps, and notes what differs.
sub steps {
    my ($run, $steps) = @_;
    push @{ $run->{differences} }, map { step($run, $_) } @{ $steps // [] };
    return;
}

# Runs a step. Returns what differs, or nothing.
sub step {
    my ($run, $step) = @_;
    my $saved = $run->{saved};
    my $of_table = $CALL{ $step->{call} };
    my $call = $of_table // $RUN{ $step->{call} }
        or return "there is no call '$step->{call}' in this runner";
    my %arguments
        = map { $_ => $_ eq 'steps' ? $step->{$_} : meaning($step->{$_}, $saved) } keys %$step;
    my $whose = ($step->{of} // '') eq 'table' ? $run->{table} : $run->{current};
    my $key = ref $step->{key} ? '' : $step->{key} // '';
    my $name = "$step->{call} $key";
    my $result;
    my $error
        = eval { $result = $call->($of_table ? $whose : $run, \%arguments); 1 } ? '' : $@;
    my $status = ref $error ? $error->name : $error;
    if ($status ne ($step->{error} // '')) {
        return "$name: the error is '$status' ($error)";
    }
    if ($status && "$error" ne ($step->{message} // '')) {
        return "$name: the message is '$error'";
    }
    $saved->{ $step->{save} } = $result if exists $step->{save};
    return if !exists $step->{result};
    my $wanted = meaning($step->{result}, $saved);
    my $is_good = JSON::PP::is_bool($step->{result})
        ? defined $result && !$result == !$wanted
        : is_same($result, $wanted);
    return $is_good ? () : "$name: the result is '" . shown($result) . "'";
}

sub shown {
    my ($result) = @_;
    return JSON::PP->new->allow_nonref->allow_bignum->encode($result) if ref $result;
    return substr $result // 'undef', 0, 80;
}

# Runs a case on a table of its own. Returns what differs. With `$shared`, a case without options
# uses that table, because valgrind needs half a second to create one.
sub run {
    my ($case, $shared) = @_;
    if ($shared && !$case->{options}) {
        $shared->clear;
        return differences($case, $shared);
    }
    my %options = %{ meaning($case->{options} // {}, {}) };
    if (my $lengths = delete $options{fixed}) {
        @options{qw(fixed_key fixed_value)} = @$lengths;
    }
    my $t = Tavola->open('case', max_size => '16M', %options);
    my @differences = differences($case, $t);
    Tavola->remove('case');
    return @differences;
}

sub open_queue {
    my ($case) = @_;
    my $is_json = ($case->{jobs} // '') eq 'json';
    return Tavola::Queue->open('case jobs', places => $case->{queue}, json => $is_json);
}

# Runs the steps of a case on a table. A step calls `current`, which may be a transaction, if it
# does not say `"of": "table"`.
sub differences {
    my ($case, $t) = @_;
    my %run = (table => $t, current => $t, saved => {}, differences => []);
    $run{jobs} = open_queue($case) if $case->{queue};
    steps(\%run, $case->{steps});
    Tavola->remove('case jobs') if $case->{queue};
    return @{ $run{differences} };
}

1;

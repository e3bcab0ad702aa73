package Tavola::Transaction;

use strict;
use warnings;

our $VERSION = '0.1.0';

require Tavola::Error;
require Scalar::Util;

# How a transaction begins, the numbers of `tavola_begin`, and what its commit returns.
use constant {
    OPTIMISTIC     => 0,
    TURN           => 1,
    READ_ONLY      => 2,
    CONFLICT       => 8,
    MOST_CONFLICTS => 8,
};

# Runs a function until its transaction is committed or aborted, and returns what it returned. `how`
# is `again`, `once` or `read`. The loop is a modifier: a `last` of the function does not end it.
sub _run {
    my ($table, $code, $how) = @_;
    if (ref $code ne 'CODE') {
        Tavola::Error->throw('the first argument is a function, which gets the transaction');
    }
    my $context = wantarray;
    my ($conflicts, @result) = (0);
    $conflicts++ while !_attempt($table, $code, $context, _begins($how, $conflicts), \@result)
        && _may_repeat($how);
    return $context ? @result : $result[0];
}

sub _begins {
    my ($how, $conflicts) = @_;
    return READ_ONLY if $how eq 'read';
    return $how eq 'once' || $conflicts >= MOST_CONFLICTS ? TURN : OPTIMISTIC;
}

sub _may_repeat {
    my ($how) = @_;
    return 1 if $how ne 'once';
    return Tavola::Error::_throw(CONFLICT, 'TAVOLA_CONFLICT',
        'another process has changed a key that the transaction has read; begin it again', 0);
}

# Runs the function once. Returns false after a conflict. The guard closes the transaction however
# the function is left, also by `last` or `exit`, and also if the caller has kept the object.
sub _attempt {
    my ($table, $code, $context, $begin, $result) = @_;
    my $t = Tavola::_begin($table, $begin);
    my $guard = bless \(my $guarded = $t), 'Tavola::Transaction::Guard';
    my ($is_done, $error);
    do {
        local $@;
        $is_done = eval {
            if ($context)                { @$result = $code->($t) }
            elsif (defined $context)     { $result->[0] = $code->($t) }
            else                         { $code->($t) }
            1;
        };
        $error = $@;
    };
    die $error if !$is_done && !_is_abort_of($t, $error) && _counts($t, $error);
    my $status = $t->_commit;
    @$result = () if $status != 0;
    return $status != CONFLICT;
}

# Ends the transaction of a function that has died. Returns whether that counts: not if the function
# has seen keys as they were at different moments. What leaves it for an outer one always counts.
sub _counts {
    my ($t, $error) = @_;
    return 1 if ref $error eq 'Tavola::Transaction::Aborted';
    return $t->_fail;
}

# Ends the transaction without changes, and leaves its function.
sub abort {
    my ($self) = @_;
    $self->_check;
    $self->_fail;
    die bless \(my $id = Scalar::Util::refaddr($self)), 'Tavola::Transaction::Aborted';
}

sub _is_abort_of {
    my ($t, $error) = @_;
    return ref $error eq 'Tavola::Transaction::Aborted' && $$error == Scalar::Util::refaddr($t);
}

package Tavola::Transaction::Aborted;

use overload
    '""'     => sub { 'the transaction was aborted' },
    'bool'   => sub { 1 },
    fallback => 1;

# The methods of a transaction are in the extension.
require Tavola;

1;

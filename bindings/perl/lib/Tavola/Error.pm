package Tavola::Error;

use strict;
use warnings;

our $VERSION = '0.1.0';

use overload
    '""'     => sub { $_[0]{message} },
    'bool'   => sub { 1 },
    fallback => 1;

# The class of each status, by the name of the status in C without TAVOLA_ERR_.
my %CLASS_OF = (
    NULL                  => 'Argument',
    PANIC                 => 'Panic',
    STOPPED               => 'Memory',
    ARGUMENT              => 'Argument',
    OTHER                 => 'Other',
    NO_TABLE              => 'NoTable',
    TABLE_EXISTS          => 'TableExists',
    FULL                  => 'Full',
    CORRUPT               => 'Corrupt',
    NOT_A_TABLE           => 'NotATable',
    VERSION               => 'Version',
    ENDIANNESS            => 'Endianness',
    PERMISSION            => 'Permission',
    READ_ONLY             => 'ReadOnly',
    BAD_NAME              => 'BadName',
    BAD_OPTION            => 'BadOption',
    TOO_MANY_PARTICIPANTS => 'TooManyParticipants',
    TOO_LARGE             => 'TooLarge',
    LENGTHS               => 'Lengths',
    NO_UIDS               => 'NoUids',
    NO_OBJECT             => 'NoObject',
    OBJECT_EXISTS         => 'ObjectExists',
    NOT_HELD              => 'NotHeld',
    NOT_A_COUNTER         => 'NotACounter',
    REENTRANT             => 'Reentrant',
    IO                    => 'IO',
    ALREADY_DRAINED       => 'AlreadyDrained',
    SINK                  => 'Sink',
    COMPUTE               => 'NotComputed',
    BUSY                  => 'Busy',
    CONFLICT              => 'Conflict',
    TOO_MANY_CHANGES      => 'TooManyChanges',
    NOT_DURABLE           => 'NotDurable',
    KEY_TOO_LONG          => 'KeyTooLong',
    DAMAGED_JOURNAL       => 'DamagedJournal',
    IN_USE_ELSEWHERE      => 'InUseElsewhere',
    NOT_CONSTANT          => 'NotConstant',
    FILE_LOST             => 'FileLost',
    WRITE_FAILED          => 'WriteFailed',
);

for my $class (values %CLASS_OF) {
    no strict 'refs';
    @{"Tavola::Error::${class}::ISA"} = ('Tavola::Error');
}

# Throws an error: its status, the name of the status in C, the sentence, and the errno.
sub _throw {
    my ($status, $c_name, $message, $errno) = @_;
    my $name = $c_name =~ s/\ATAVOLA_(?:ERR_)?//r;
    my $class = 'Tavola::Error' . (exists $CLASS_OF{$name} ? "::$CLASS_OF{$name}" : '');
    my ($file, $line) = _caller();
    my %error = (
        status  => $status,
        name    => $name,
        message => $message,
        errno   => $errno,
        file    => $file,
        line    => $line,
    );
    die bless \%error, $class;
}

# The first caller that is not the binding.
sub _caller {
    for (my $depth = 1; my ($package, $file, $line) = caller $depth; $depth++) {
        return ($file, $line) if $package !~ /\ATavola(?:::|\z)/;
    }
    return ((caller 1)[ 1, 2 ]);
}

sub status  { return $_[0]{status} }
sub name    { return $_[0]{name} }
sub message { return $_[0]{message} }
sub errno   { return $_[0]{errno} }
sub file    { return $_[0]{file} }
sub line    { return $_[0]{line} }

sub throw {
    my ($class, $message) = @_;
    return _throw(-5, 'TAVOLA_ERR_ARGUMENT', $message, 0);
}

1;

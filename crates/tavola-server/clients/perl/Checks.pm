package Checks;

# What a suite needs beside Test::More, which prints lines of TAP and ends with what they tell.

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT = qw(every_byte large ends);

# Whatever a byte can be, line ends among them.
sub every_byte { return join('', map { chr } 0 .. 255) . "\r\nEND\r\n" }

sub large { return '0123456789' x 90_000 }

# Asks until the answer is none, for some seconds at most, and once more; whether it became so.
sub ends {
    my ($ask) = @_;
    my $end = time + 10;
    while (time < $end) {
        return 1 if !defined $ask->();
        sleep 0.05;
    }
    return !defined $ask->();
}

1;

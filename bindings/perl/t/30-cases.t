# Runs the cases that every language must answer alike.
use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use CaseTable;

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $cases = CaseTable::cases(CaseTable::file());
for my $case (@$cases) {
    my @differences = CaseTable::run($case);
    is(scalar(@differences), 0, $case->{name}) or diag(join "\n", @differences);
}
cmp_ok(scalar(@$cases), '>', 0, 'the table has cases');

# The runner itself must see a difference.
my %wrong = (name => 'wrong', steps => [
    { call => 'set', key => 'k', value => 'v', result => JSON::PP::false() },
    { call => 'get', key => 'k', result => 'w' },
    { call => 'incr', key => 'k', result => 1 },
    { call => 'get', key => 'k', error => 'FULL' },
    { call => 'none' },
    { call => 'set', key => 'k', value => 'v', tags => [ 1 .. 17 ], error => 'BAD_OPTION',
        message => 'a key has at most 16 tags' },
    map { { name => 'l', steps => [ { call => 'get', key => 'k', result => 'w' } ], %$_ } }
        { call => 'lock' }, { call => 'pop', result => 'other' }, { call => 'transaction' },
], queue => 1);
unshift @{ $wrong{steps} }, { call => 'push', value => 'job', result => JSON::PP::true() };
is(scalar(CaseTable::run(\%wrong)), 10, 'a difference in each step is found');

done_testing;

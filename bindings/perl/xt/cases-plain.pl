# Runs the case table without a test framework, for valgrind.
use strict;
use warnings;

use lib 't/lib';
use TavolaTest;
use CaseTable;

my $cases = CaseTable::cases(CaseTable::file());
my $shared = Tavola->open('shared', max_size => '64M', shards => 1);
my @differences = map { CaseTable::run($_, $shared) } @$cases;
print STDERR "$_\n" for @differences;
printf "# %d cases, %d differences\n", scalar @$cases, scalar @differences;
exit(@differences ? 1 : 0);

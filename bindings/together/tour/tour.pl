# The tour's table from Perl: see `scripts/tour`.
use strict;
use warnings;
use Tavola;

my $table  = Tavola->open($ARGV[0]);
my $name   = (split /;/, $table->get('U+1F42A'))[0];
my $before = $table->swap('tour/last', 'Perl');
my $visits = $table->incr('tour/languages');
printf "  %-14s U+1F42A is %s; before it came %s; tour/languages is %d\n",
    'Perl ' . substr($^V, 1), $name, $before, $visits;

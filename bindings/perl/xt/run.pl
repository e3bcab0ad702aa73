# Runs the test files of the binding and counts their tests.
use strict;
use warnings;

use TAP::Harness;

my ($mode) = @ARGV;
my @files;
push @files, sort glob 't/*.t'  if $mode ne 'rest';
push @files, sort glob 'xt/*.t' if $mode ne 'quick';
my $harness = TAP::Harness->new({
    lib       => [ 'blib/lib', 'blib/arch' ],
    verbosity => -1,
    jobs      => 2,
    merge     => 0,
});
my $total = $harness->runtests(@files);
my ($passed, $skipped) = (scalar $total->passed, scalar $total->skipped);

# A file without any test was skipped as a whole, and says why.
for my $parser (map { $total->parsers($_) } $total->descriptions) {
    next if !defined $parser->skip_all;
    $skipped++;
}
my $failed = $total->failed;
for my $parser (map { $total->parsers($_) } $total->descriptions) {
    $failed++ if !$parser->failed && ($parser->exit || $parser->parse_errors);
}
$passed -= $total->skipped;
printf "%d passed, %d failed, %d skipped\n", $passed, $failed, $skipped;
exit($failed ? 1 : 0);

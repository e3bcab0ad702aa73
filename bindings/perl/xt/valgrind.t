# Runs the case table and the values under valgrind, and looks for errors in the extension. Fleets
# are left out: their library looks for the vDSO of the kernel, which valgrind hides; growth.t looks
# at their memory.
use strict;
use warnings;

use File::Temp ();
use Test::More;

my ($valgrind) = grep { -x } map { "$_/valgrind" } split /:/, $ENV{PATH};
if (!$valgrind) {
    plan skip_all => 'valgrind is not installed';
}

# Runs a program, and returns its exit code and the errors and leaks in which the extension is.
sub checked {
    my ($program) = @_;
    my $report = File::Temp->new;
    local $ENV{PERL_DESTRUCT_LEVEL} = 2;
    my $code = system $valgrind, '--quiet', "--log-file=$report", '--leak-check=full',
        '--errors-for-leak-kinds=definite', '--show-leak-kinds=definite',
        '--suppressions=xt/valgrind.supp', '--num-callers=30', $^X, (map { "-I$_" } @INC),
        $program;
    open my $handle, '<', "$report" or die $!;
    my $text = join '', <$handle>;
    return ($code, grep { /Tavola\.so/ } split /\n==\d+== \n/, $text);
}

for my $program ('xt/memory.pl', 'xt/cases-plain.pl') {
    my ($code, @errors) = checked($program);
    is($code, 0, "$program: ends well");
    is(scalar(@errors), 0, "$program: no error and no leak in the extension") or diag(@errors);
}

done_testing;

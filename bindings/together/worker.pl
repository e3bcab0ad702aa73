# A worker in Perl: see `test`.
use strict;
use warnings;
use utf8;
use Fcntl qw(O_WRONLY O_CREAT O_APPEND);
use Tavola;
use Tavola::Queue;

my ($table_name, $queue_name, $journal_path, $stop_path) = @ARGV;
my $table = Tavola->open($table_name);
my $jobs  = Tavola::Queue->open($queue_name);
$table->set('text of perl', 'grüße');
$table->set('list of perl', [1, 'zwei', undef]);
$jobs->push('grüße of perl', 30);
sysopen my $journal, $journal_path, O_WRONLY | O_CREAT | O_APPEND or die "$journal_path: $!";
until (-e $stop_path) {
    $table->incr('count');
    syswrite $journal, "1\n";
    my $job = $jobs->job(0.01) or next;
    $table->add('done ' . $job->value, 'perl');
    $job->done;
}

# The adapter of Log::Any.
use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;

plan skip_all => 'Log::Any is not installed' if !eval { require Log::Any; 1 };
require Log::Any::Adapter;
require Log::Any::Adapter::Util;

# Returns the lines that a reader has not returned before, as "LEVEL TEXT".
sub lines_of {
    my ($reader) = @_;
    return [ map { "$_->{level} $_->{text}" } $reader->lines ];
}

my $shared = Tavola::Log->open('shared', stderr => 0);
my $reader = $shared->reader;

subtest 'levels' => sub {
    Log::Any::Adapter->set('Tavola', log => $shared);
    my $log = Log::Any->get_logger(category => 'Levels');
    my @names = Log::Any::Adapter::Util::logging_methods();
    is(scalar(@names), 9, 'the levels of Log::Any');
    $log->$_("a $_") for @names;
    is_deeply(lines_of($reader), [
        'trace a trace', 'debug a debug', 'info a info', 'info a notice', 'warn a warning',
        'error a error', 'error a critical', 'error a alert', 'error a emergency',
    ], 'each is written');
    is(scalar(grep { my $is_on = "is_$_"; $log->$is_on } @names), 9, 'all are on');

    Log::Any::Adapter->set('Tavola', log => $shared, log_level => 'notice');
    $log->$_("a $_") for @names;
    is_deeply([ map { s/.* //r } @{ lines_of($reader) } ],
        [qw(notice warning error critical alert emergency)], 'log_level');
    ok($log->is_notice && !$log->is_info && !$log->is_trace, 'detection');
};

subtest 'messages' => sub {
    Log::Any::Adapter->set('Tavola', log => $shared);
    my $log = Log::Any->get_logger(category => 'Messages');
    $log->infof('cart %d of %s', 3, { name => 'ada' });
    $log->info("gr\x{f6}\x{df}e \x{263a}");
    $log->warn('slow', { ms => 12 });
    is_deeply(lines_of($reader), [
        q{info cart 3 of {name => "ada"}}, "info gr\x{f6}\x{df}e \x{263a}", 'warn slow {ms => 12}',
    ], 'formats, characters, data');
};

subtest 'a log by its name' => sub {
    Log::Any::Adapter->set('Tavola', log => 'named', stderr => 0, bytes => '256K');
    my @logs = map { Log::Any->get_logger(category => "Named::$_") } 1 .. 3;
    $logs[$_]->info("line $_") for 0 .. 2;
    my %handles = map { $_->adapter->{log} => 1 } @logs;
    is(scalar(keys %handles), 1, 'the categories share a handle');
    my $log = $logs[0];
    ok(reap(map { my $n = $_; in_child(sub { $log->info("child $n") }) } 1 .. 3), 'children');
    my $named = Tavola::Log->open('named', read_only => 1);
    is_deeply([ sort @{ lines_of($named->reader) } ],
        [ (map { "info child $_" } 1 .. 3), map { "info line $_" } 0 .. 2 ], 'lines of all');
};

subtest 'wrong options' => sub {
    my $set = sub { Log::Any::Adapter->set({ category => 'Wrong' }, 'Tavola', @_);
        Log::Any->get_logger(category => 'Wrong')->info('x') };
    for my $case (
        [ 'Argument', qr/no log_level 'loud'/, log => $shared, log_level => 'loud' ],
        [ 'Argument', qr/the log is open/, log => $shared, bytes => '1M' ],
        [ 'Argument', qr/colour/, log => 'bad', colour => 'red' ],
    ) {
        my ($class, $words, @options) = @$case;
        dies(sub { $set->(@options) }, $class, $words, "@options[-2, -1]");
    }
};

done_testing;

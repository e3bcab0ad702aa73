use strict;
use warnings;
use utf8;

use lib 't/lib';
use File::Temp ();
use Test::More;
use TavolaTest;

my $log = Tavola::Log->open('events', bytes => '1M', overload => 'drop_newest', stderr => 0);

subtest 'lines' => sub {
    my $reader = $log->reader;
    $log->info('cart ', 3, ' is ready');
    $log->error("bad\n");
    $log->warn('größe');
    my @lines = $reader->lines;
    is_deeply([ map { $_->{text} } @lines ], [ 'cart 3 is ready', 'bad', 'größe' ], 'texts');
    is_deeply([ map { $_->{level} } @lines ], [ 'info', 'error', 'warn' ], 'levels');
    is($lines[0]{pid}, $$, 'pid');
    ok(abs($lines[0]{time} - time) < 60, 'time');
    is_deeply([ $reader->lines ], [], 'each line is returned once');
    $log->set_level('warn');
    $log->info('not written');
    $log->debug('not written');
    $log->trace('not written');
    $log->set_level('trace');
    $log->trace('written');
    is_deeply([ map { $_->{text} } $reader->lines ], [ 'written' ], 'set_level');
    dies(sub { $log->set_level('loud') }, 'Argument', qr/a level is/, 'an unknown level');
    is($reader->missed, 0, 'nothing was missed');
    my $late = $log->reader;
    $late->skip;
    is_deeply([ $late->lines ], [], 'skip');
};

subtest 'lines of a killed process' => sub {
    my ($pid, $from) = child_says(sub {
        my ($to) = @_;
        $log->info('last words');
        print {$to} "written\n";
        sleep 60;
    });
    is(<$from>, "written\n", 'a child has written');
    kill KILL => $pid;
    waitpid $pid, 0;
    my $reader = Tavola::Log->open('events', read_only => 1)->reader;
    my ($line) = grep { $_->{text} eq 'last words' } $reader->lines;
    is($line->{pid}, $pid, 'its line is there');
};

subtest 'drain' => sub {
    my $file = File::Temp->new;
    my $drain = $log->drain;
    dies(sub { $log->drain }, 'AlreadyDrained', qr/\S/, 'there is one drain');
    is($drain->pass($file) + $drain->finish($file), 5, 'all lines are written out');
    $drain->wait(0.001);
    $drain->close;
    seek $file, 0, 0;
    like(join('', <$file>), qr/Z  INFO \d+\/\d+ cart 3 is ready\n/, 'as text');
    my $stats = $log->stats;
    is($stats->{awaiting}, 0, 'no line is left');
    is($stats->{overload}, 'drop_newest', 'the policy');
    ok($log->drain, 'the drain was closed');
};

subtest 'in a table' => sub {
    my $t = table();
    my $in = Tavola::Log->open('events', in => $t, stderr => 0);
    $in->info('here');
    is(($in->reader->lines)[0]{text}, 'here', 'a log in the file of a table');
    like($in->path, qr{/table}, 'path');
    $in->close;
    dies(sub { $in->info('x') }, 'Argument', qr/closed/, 'a closed log');
    dies(sub { Tavola::Log->open('x', overload => 'wait') }, 'Argument', qr/overload is/, 'policy');
};

done_testing;

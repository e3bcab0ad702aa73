use strict;
use warnings;

use lib 't/lib';
use Test::More;
use TavolaTest;
use Time::HiRes qw(sleep);

subtest 'children use the handle of the parent' => sub {
    my $t = table();
    $t->set('parent', 1);
    my @children = map {
        my $number = $_;
        in_child(sub {
            die 'not read' if $t->get('parent') != 1;
            for (1 .. 2000) {
                $t->incr('count');
                $t->set("child:$number:" . $_ % 50, $_);
            }
        })
    } 1 .. 4;
    $t->incr('count') for 1 .. 2000;
    ok(reap(@children), 'all children ended well');
    is($t->get('count'), 10000, 'no count was lost');
    is(scalar(my @keys = $t->keys('child:')), 200, 'all keys are there');
    is_deeply($t->check->{problems}, [], 'the table is sound');
};

subtest 'a killed child does not block the rest' => sub {
    my $t = table(capacity => '4M');
    for my $round (1 .. 10) {
        my ($pid, $from) = child_says(sub {
            my ($to) = @_;
            for (my $i = 0; ; $i++) {
                $t->set('k' . $i % 5000, 'x' x ($i % 900));
                print {$to} "writes\n" if $i == 100;
            }
        });
        is(<$from>, "writes\n", "round $round: a child writes");
        $t->set("before:$_", $_) for 1 .. 100;
        kill KILL => $pid;
        waitpid $pid, 0;
        $t->set("after:$_", $_) for 1 .. 1000;
        is($t->get('after:1000'), 1000, "round $round: others go on");
    }
    is_deeply($t->check->{problems}, [], 'the table is sound');
};

subtest 'exit while others write' => sub {
    my $t = table();
    my @children = map {
        in_child(sub {
            my $own = Tavola->open($t->path);
            tie my %h, 'Tavola', $t->path;
            my $iterator = $own->iterator;
            $h{ "$$:$_" } = [ $_ ] for 1 .. 500;
            my @some = $iterator->next;
            exec $^X, '-e', 'exit 0' if $$ % 2;
            POSIX::_exit(0);
        })
    } 1 .. 6;
    ok(reap(@children), 'all children ended well');
    is($t->size, 3000, 'all keys are there');
    is_deeply($t->check->{problems}, [], 'the table is sound');
};

subtest 'the end of the interpreter' => sub {
    my $path = table()->path;
    my @blib = map { "-I$_" } @INC;
    my $program = <<'END';
use Tavola;
our $t = Tavola->open($ARGV[0]);                # lives until global destruction
our %h; tie %h, 'Tavola', $ARGV[0];
our $q = Tavola::Queue->open("$ARGV[0].q"); $q->push('left'); our $job = $q->job;
our $lock = $t->lock('end'); our $log = Tavola::Log->open("$ARGV[0].l", stderr => 0);
our $reader = $log->reader; our $watch = $t->watch('x'); our $iterator = $t->iterator;
my $loop = { t => $t, i => $iterator }; $loop->{self} = $loop;      # is never counted down
$t->set("$$:$_", $_) for 1 .. 200;
END { $h{end} = 1 }
die 'as usual' if $ARGV[1];
END
    for my $dies (0, 1) {
        my $pid = fork // die $!;
        if (!$pid) {
            open STDERR, '>', '/dev/null' or die $!;
            exec $^X, @blib, '-we', $program, $path, $dies or die $!;
        }
        waitpid $pid, 0;
        is($? & 127, 0, 'no signal');
        is($? != 0, $dies != 0, $dies ? 'after die' : 'at the end');
    }
    my $t = Tavola->open($path);
    is($t->get('end'), 1, 'END blocks use the table');
    ok($t->lock('end', timeout => 10), 'the lock is free');
    is(Tavola::Queue->open("$path.q")->pop(10), 'left', 'the job is back');
};

done_testing;

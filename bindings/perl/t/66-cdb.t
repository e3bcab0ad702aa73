# Constant files: the calls of CDB::TinyCDB, other formats, files that are replaced or damaged, and
# the same files with CDB_File, if it is installed. What CDB_File has is in 63-ties.t.
use strict;
use warnings;

use lib 't/lib';
use File::Temp ();
use Test::More;
use TavolaTest;
use Tavola::CDB;

my $dir = File::Temp->newdir('tavola-perl-cdb-XXXXXX', TMPDIR => 1);
my $file = "$dir/words.cdb";
my $all = join '', map { chr } 0 .. 255;

# All records of a tied hash, in their order.
sub pairs {
    my ($hash) = @_;
    my @all;
    while (my ($key, $value) = each %$hash) { push @all, [ $key, $value ] }
    return \@all;
}

subtest 'every way to put' => sub {
    my $cdb = Tavola::CDB->create($file, "$file.tmp");
    is($cdb->put_add(a => 1, a => 2, $all => $all, '' => ''), 4, 'put_add');
    is($cdb->put_insert(a => 3, b => 4), 1, 'put_insert');
    is($cdb->put_replace(b => 5), 1, 'put_replace');
    is($cdb->put_replace0(b => 6), 1, 'put_replace0');
    my @warnings;
    { local $SIG{__WARN__} = sub { push @warnings, @_ }; $cdb->put_warn(b => 7, c => 8); }
    is(scalar @warnings, 1, 'put_warn');
    like($warnings[0], qr/the key 'b' was there already at .*66-cdb\.t/, 'its words');
    ok($cdb->exists('c') && !$cdb->exists('d'), 'exists, while it is made');
    dies(sub { $cdb->get('a') }, 'Argument', qr/not finished/, 'get');
    dies(sub { $cdb->put_add('a') }, 'Argument', qr/a value is missing/, 'an odd list');
    dies(sub { $cdb->put_add(a => undef) }, 'Argument', qr/undef/, 'undef');
    dies(sub { $cdb->put_add(a => "\x{263a}") }, 'Argument', qr/utf8 => 1/, 'a wide character');
    ok(!-e $file, 'there is no file before finish');
    ok($cdb->finish(reopen => 1), 'finish');
    is_deeply([ $cdb->getall('a') ], [ 1, 2 ], 'getall');
    is_deeply([ $cdb->getall('z') ], [], 'getall of a missing key');
    is($cdb->getlast('b'), 7, 'getlast');
    is($cdb->getlast('z'), undef, 'getlast of a missing key');
    is($cdb->get($all), $all, 'bytes');
    is($cdb->get(''), '', 'the empty key');
    is($cdb->get($all), $all, 'the value that is looked for');
    seek $cdb->handle, $cdb->datapos, 0;
    is(read($cdb->handle, my $read, $cdb->datalen), length $all, 'datalen');
    is($read, $all, 'handle and datapos');
    ok(!$cdb->exists('z'), 'a missing key');
    is($cdb->datapos, undef, 'datapos of a missing key');
    is($cdb->datalen, undef, 'datalen of a missing key');
    is_deeply([ $cdb->keys ], [ 'a', $all, '', 'b', 'c' ], 'keys');
    is($cdb->records, 7, 'records');
    is($cdb->check, 7, 'check');
    my @records;
    for (1, 2) {
        while (my ($key, $value) = $cdb->each) { push @records, "$key=$value" if $key ne $all }
    }
    is_deeply(\@records, [ ('a=1', 'a=2', '=', 'b=6', 'b=7', 'c=8') x 2 ], 'each, twice');
    dies(sub { $cdb->put_add(a => 1) }, 'Argument', qr/read only/, 'put after finish');
    dies(sub { $cdb->finish }, 'Argument', qr/read only/, 'finish after finish');
};

subtest 'several values in a tied hash' => sub {
    tie my %h, 'Tavola::CDB', $file or die $!;
    is($h{a}, 1, 'the first value');
    my @values;
    while (my ($key, $value) = each %h) { push @values, $value if $key eq 'a' }
    is_deeply(\@values, [ 1, 2 ], 'all values, by each');
    is($h{a}, 1, 'the first one again');
    dies(sub { delete $h{a} }, 'Argument', qr/does not change/, 'delete');
    dies(sub { %h = () }, 'Argument', qr/does not change/, 'clear');
    ok(!tie(my %none, 'Tavola::CDB', "$dir/none"), 'no file');
    ok($!{ENOENT}, 'and $!');
    dies(sub { tie my %t, 'Tavola::CDB', $0 }, 'NotConstant', qr/not a constant/, 'another file');
    dies(sub { Tavola::CDB->open($file, no => 1) }, 'Argument', qr/no option 'no'/, 'an option');
    dies(sub { Tavola::CDB->new($file, format => 'x') }, 'Argument', qr/no format 'x'/, 'a format');
};

subtest 'text' => sub {
    my $text = Tavola::CDB->new("$dir/text", utf8 => 1);
    $text->insert("\x{fc}" => "\x{263a}");
    $text->finish(reopen => 1);
    is($text->get("\x{fc}"), "\x{263a}", 'characters');
    is_deeply([ $text->keys ], ["\x{fc}"], 'a key');
    is(Tavola::CDB->open("$dir/text")->get("\xc3\xbc"), "\xe2\x98\xba", 'are UTF-8');
};

subtest 'other formats' => sub {
    for my $format (qw(cdb64 frozen)) {
        my $made = Tavola::CDB->new("$dir/$format", format => $format, mode => 0600, sync => 0);
        $made->insert(map { ("k$_" => "v$_") } 1 .. 1000);
        $made->insert(k1 => 'second');
        $made->finish(reopen => 1);
        is($made->format, $format, $format);
        is((stat "$dir/$format")[2] & 0777, 0600, 'its mode');
        is($made->get('k1000'), 'v1000', 'get');
        is($made->get('k1'), 'v1', 'the first value');
        is($made->records, $format eq 'frozen' ? 1000 : 1001, 'records');
        is(scalar(CORE::keys %{ $made->fetch_all }), 1000, 'fetch_all');
    }
};

subtest 'an update, and readers of the old file' => sub {
    my $fixed = Tavola::CDB->open($file);
    my $followed = Tavola::CDB->open($file, follow => 0);
    my $update = Tavola::CDB->open($file, for_update => "$file.tmp");
    $update->put_replace(a => 'new');
    is($update->get('a'), 1, 'the old file is read');
    undef $update;
    is(Tavola::CDB->open($file)->get('a'), 1, 'an update that is dropped changes nothing');
    $update = Tavola::CDB->open($file, for_update => "$file.tmp");
    $update->put_replace(a => 'new');
    ok($update->finish(save_changes => 0), 'one that is given up');
    is(Tavola::CDB->open($file)->get('a'), 1, 'changes nothing, either');
    $update = Tavola::CDB->open($file, for_update => "$file.tmp");
    $update->put_replace(a => 'new');
    $update->finish;
    is($fixed->get('a'), 1, 'an open reader keeps the old file');
    is($followed->get('a'), 'new', 'one that follows does not');
    ok($fixed->refresh && !$fixed->refresh, 'refresh');
    is_deeply([ $fixed->getall('a') ], ['new'], 'the new file');
    is($fixed->get($all), $all, 'has the other records');
    is_deeply([ glob "$dir/.*.new $dir/*.tmp" ], [], 'no temporary file stays');
};

subtest 'a maker that is killed' => sub {
    my ($pid, $from) = child_says(sub {
        my ($to) = @_;
        my $made = Tavola::CDB->new($file);
        $made->insert(a => 'killed');
        print {$to} "begun\n";
        sleep 60;
    });
    is(<$from>, "begun\n", 'it has begun');
    kill KILL => $pid;
    waitpid $pid, 0;
    is(Tavola::CDB->open($file)->get('a'), 'new', 'leaves the old file');
    unlink glob "$dir/.*.new";
};

subtest 'damage' => sub {
    my $made = Tavola::CDB->new("$dir/damaged", format => 'frozen');
    $made->insert(a => 'value' x 100);
    $made->finish;
    open my $handle, '+<', "$dir/damaged" or die $!;
    seek $handle, 200, 0;
    print {$handle} '#';
    close $handle;
    dies(sub { Tavola::CDB->open("$dir/damaged")->check }, 'Corrupt', qr/damaged at byte/, 'check');
    truncate "$dir/damaged", 100;
    dies(sub { Tavola::CDB->open("$dir/damaged") }, 'NotConstant', qr/damaged/, 'cut');
};

subtest 'CDB_File and the same files' => sub {
    plan skip_all => 'CDB_File is not installed' if !eval { require CDB_File; 1 };
    tie my %theirs, 'CDB_File', $file or die $!;
    tie my %ours, 'Tavola::CDB', $file or die $!;
    is_deeply(pairs(\%theirs), pairs(\%ours), 'it reads ours');
    my $made = CDB_File->new("$dir/theirs", "$dir/theirs.tmp") or die $!;
    $made->insert(map { ($_ => "v$_") } 'a' .. 'z', $all);
    $made->insert(a => 'again');
    $made->finish;
    my $read = tie my %made, 'CDB_File', "$dir/theirs" or die $!;
    my $own = tie my %own, 'Tavola::CDB', "$dir/theirs" or die $!;
    is_deeply($own->multi_get('a'), $read->multi_get('a'), 'we read theirs');
    is_deeply(pairs(\%own), pairs(\%made), 'all of it');
    my $value = $made{q} . $own{q};
    is($value, 'vqvq', 'a value');
    is($own->datapos, $read->datapos, 'datapos is theirs');
    is($own->datalen, $read->datalen, 'datalen is theirs');
    is(ref $own->handle, 'GLOB', 'handle');
};

done_testing;

# Makes the distribution, and installs it into empty folders.
use strict;
use warnings;

use File::Temp ();
use Test::More;

my $source = $ENV{TAVOLA_PERL_SOURCE} // die "set TAVOLA_PERL_SOURCE to the folder of the source\n";
my $out = File::Temp->newdir;
my $said = qx{"$source/package" "$out" 2>&1};
is($?, 0, 'package ends well') or diag($said);
like($said, qr/works from make install/, 'it was installed by make');
like($said, qr/works from cpanm|cpanm is not installed/, 'and by cpanm');
my ($archive) = glob "$out/Tavola-*.tar.gz";
ok($archive, 'there is an archive');
my @files = split /\n/, qx{tar -tzf "$archive"};
is(scalar(grep { m{/vendor/libtavola(?:_client)?\.a\z} } @files), 2, 'with the libraries');
ok((grep { m{/META\.json\z} } @files), 'and its description');
ok(!(grep { /\.o\z|blib/ } @files), 'and no leftovers of a build');

done_testing;

# Returns the folders of libtavola_client.a and of tavola_client.h, or nothing if they are not
# there: those that the environment names, this distribution's, the checkout's.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);

my $top = dirname(abs_path(__FILE__)) . '/..';
my @pairs = (
    [ @ENV{qw(TAVOLA_CLIENT_LIB_DIR TAVOLA_CLIENT_INCLUDE_DIR)} ],
    [ @ENV{qw(TAVOLA_LIB_DIR TAVOLA_INCLUDE_DIR)} ],
    [ "$top/vendor",               "$top/vendor/include" ],
    [ "$top/../../target/release", "$top/../../crates/tavola-client-capi/include" ],
);
my @found;
for my $pair (@pairs) {
    my ($lib_dir, $include_dir) = @$pair;
    next if !defined $lib_dir || !defined $include_dir;
    next if !-f "$lib_dir/libtavola_client.a" || !-f "$include_dir/tavola_client.h";
    @found = (abs_path($lib_dir), abs_path($include_dir));
    last;
}
@found;

# Cache::FastMmap: a mapped file of 89 pages of 64 KiB, its default, with values as they are. The
# file stays when a handle is gone.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin;
use Cache::FastMmap ();
use Harness ();

package Store;

sub open {
    my ($self, $job) = @_;
    $self->{cache} = Cache::FastMmap->new(
        share_file => "$job->{dir}/store.fastmmap",
        serializer => '',
        unlink_on_exit => 0,
    );
}

sub put { $_[0]{cache}->set($_[1], $_[2]) or die "a set was refused\n" }

sub get { $_[0]{cache}->get($_[1]) }

sub close { delete $_[0]{cache} }

sub version { "Cache::FastMmap $Cache::FastMmap::VERSION, Perl $^V" }

package main;

Harness::run(bless {}, 'Store');

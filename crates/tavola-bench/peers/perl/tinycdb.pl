# A cdb by CDB_File: all records are written to a file beside, which is then renamed; of a key that
# comes twice the later value counts.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin;
use CDB_File ();
use Harness ();

package Store;

sub open {
    my ($self, $job, $mode) = @_;
    my $path = "$job->{dir}/store.cdb";
    if ($mode eq 'read') {
        $self->{file} = CDB_File->TIEHASH($path) or die "$path: $!\n";
        return;
    }
    ($self->{maker}, $self->{records}) = (CDB_File->new($path, "$path.new"), {});
    $self->{maker} or die "$path.new: $!\n";
}

sub put { $_[0]{records}{ $_[1] } = $_[2] }

sub finish {
    my ($self) = @_;
    $self->{maker}->insert(%{ $self->{records} });
    $self->{maker}->finish or die "finishing: $!\n";
}

sub get { $_[0]{file}->FETCH($_[1]) }

sub close { %{ $_[0] } = () }

sub version { "CDB_File $CDB_File::VERSION, Perl $^V" }

package main;

Harness::run(bless {}, 'Store');

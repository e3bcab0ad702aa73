# QDBM Depot by its own binding: 4,096 buckets, records written over.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin;
use Depot ();
use Harness ();

package Store;

sub open {
    my ($self, $job, $mode) = @_;
    my $how = $mode eq 'read' ? Depot::OREADER() : Depot::OWRITER() | Depot::OCREAT();
    my $path = "$job->{dir}/store.depot";
    $self->{file} = Depot->new($path, $how, 4096) or die "$path: " . Depot::errmsg() . "\n";
}

sub put {
    my ($self, $key, $value) = @_;
    $self->{file}->put($key, $value, Depot::DOVER()) or die 'a put: ' . Depot::errmsg() . "\n";
}

sub get { $_[0]{file}->get($_[1]) }

sub close {
    my ($self) = @_;
    $self->{file}->close or die 'closing: ' . Depot::errmsg() . "\n";
}

sub version { "QDBM, Perl $^V" }

package main;

Harness::run(bless {}, 'Store');

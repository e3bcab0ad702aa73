# Tavola by its extension: the records are written into one table, over those of the last pass.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin;
use Tavola ();
use Harness ();

package Store;

sub open {
    my ($self, $job) = @_;
    $self->{table} = Tavola->open("$job->{dir}/store", max_size => 1 << 30);
}

sub put { $_[0]{table}->set($_[1], $_[2]) }

sub get { $_[0]{table}->get($_[1]) }

sub get_many {
    my ($self, $keys) = @_;
    return $self->{table}->get_multi(@$keys);
}

sub close { delete $_[0]{table} }

sub version { "Tavola $Tavola::VERSION, Perl $^V" }

package main;

Harness::run(bless {}, 'Store');

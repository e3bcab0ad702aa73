package CHI::t::Driver::Tavola;

# CHI's own tests of a driver, run on ours.

use strict;
use warnings;

use base qw(CHI::t::Driver);

sub new_cache_options {
    my ($self) = @_;
    return ($self->SUPER::new_cache_options, table => 'chi-driver', capacity => '16M');
}

sub supports_expires_on_backend { return 1 }

1;

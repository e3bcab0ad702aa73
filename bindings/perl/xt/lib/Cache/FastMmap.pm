package Cache::FastMmap;

# The name that the tests of Cache::FastMmap load.

use parent qw(Tavola::FastMmap);

our $VERSION = '1.57';

1;

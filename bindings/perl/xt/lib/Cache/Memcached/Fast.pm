package Cache::Memcached::Fast;

# The name that the tests of Cache::Memcached::Fast load.

use parent qw(Tavola::Memcached);

1;

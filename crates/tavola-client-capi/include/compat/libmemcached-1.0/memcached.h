// As <libmemcached/memcached.h>.
// MIT OR Apache-2.0, at your choice.
#include "../libmemcached/memcached.h"

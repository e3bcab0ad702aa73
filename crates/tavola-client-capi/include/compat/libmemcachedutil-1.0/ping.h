// As <libmemcached/util.h>.
// MIT OR Apache-2.0, at your choice.
#include "../libmemcached/util.h"

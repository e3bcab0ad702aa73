// memcached: its own increment.
#include "memcached.c"
#include "torment.h"

static void add_one(void *store, struct span key) {
  uint64_t number;
  for (;;) {
    memcached_return_t status = memcached_increment(store, key.data, key.len, 1, &number);
    if (status == MEMCACHED_SUCCESS) return;
    if (status != MEMCACHED_NOTFOUND) check(store, status);
    // Who adds it first has it begin.
    status = memcached_add(store, key.data, key.len, "0", 1, 0, 0);
    if (status != MEMCACHED_NOTSTORED && status != MEMCACHED_DATA_EXISTS) check(store, status);
  }
}

const struct extra extra = {.add_one = add_one, .add_means = "the server's increment"};

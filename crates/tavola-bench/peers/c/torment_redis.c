// Redis: its own increment.
#include "redis.c"
#include "torment.h"

static void add_one(void *store, struct span key) {
  const char *words[] = {"INCR", key.data};
  size_t lens[] = {4, key.len};
  freeReplyObject(ask(store, 2, words, lens));
}

const struct extra extra = {.add_one = add_one, .add_means = "the server's INCR"};

// QDBM's Villa, a B+ tree, with caches of leaves and nodes that hold all records.
#include <qdbm/depot.h>
#include <qdbm/villa.h>

#include "harness.h"

static void check(int done) {
  if (!done) fail("QDBM: %s", dperrmsg(dpecode));
}

static const char *version(void) { return dpversion; }

static void *open_store(const struct job *job, enum mode mode) {
  int flags = mode == READ ? VL_OREADER : VL_OWRITER;
  if (mode == MAKE) flags |= VL_OCREAT | VL_OTRUNC;
  VILLA *villa = vlopen(path_in(job, "villa"), flags, VL_CMPLEX);
  check(villa != NULL);
  // A leaf has 49 records at most, and half of them after it was split; a node has 192.
  int leaves = 1024 + most_keys(job) / 24;
  vlsettuning(villa, 49, 192, leaves, 512 + leaves / 96);
  return villa;
}

static void close_store(void *store) { check(vlclose(store)); }

static void put(void *store, struct span key, struct span value) {
  check(vlput(store, key.data, key.len, value.data, value.len, VL_DOVER));
}

// The value is in a cache of Villa's until the next call.
static bool get(void *store, struct span key, struct span *value) {
  int len;
  const char *found = vlgetcache(store, key.data, key.len, &len);
  if (!found && dpecode != DP_ENOITEM) check(0);
  *value = (struct span){found, found ? len : 0};
  return found != NULL;
}

static bool remove_key(void *store, struct span key) {
  int done = vlout(store, key.data, key.len);
  if (!done && dpecode != DP_ENOITEM) check(0);
  return done;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};

// QDBM's Depot, a hash file: as many buckets as keys.
#include <qdbm/depot.h>

#include "harness.h"

static struct room room;
static int longest;

static void check(int done) {
  if (!done) fail("QDBM: %s", dperrmsg(dpecode));
}

static const char *version(void) { return dpversion; }

static void *open_store(const struct job *job, enum mode mode) {
  int flags = mode == READ ? DP_OREADER : DP_OWRITER | DP_OSPARSE;
  if (mode == MAKE) flags |= DP_OCREAT | DP_OTRUNC;
  longest = job->value_bytes > 4096 ? job->value_bytes : 4096;
  make_room(&room, longest);
  DEPOT *depot = dpopen(path_in(job, "depot"), flags, most_keys(job));
  check(depot != NULL);
  return depot;
}

static void close_store(void *store) { check(dpclose(store)); }

static void put(void *store, struct span key, struct span value) {
  check(dpput(store, key.data, key.len, value.data, value.len, DP_DOVER));
}

static bool get(void *store, struct span key, struct span *value) {
  int len = dpgetwb(store, key.data, key.len, 0, longest, room.data);
  if (len < 0 && dpecode != DP_ENOITEM) check(0);
  *value = (struct span){room.data, len < 0 ? 0 : len};
  return len >= 0;
}

static bool remove_key(void *store, struct span key) {
  int done = dpout(store, key.data, key.len);
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

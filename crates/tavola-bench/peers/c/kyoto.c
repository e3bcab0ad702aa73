// Kyoto Cabinet's HashDB: two buckets a key, all of the file in the map, linear chains.
#include <kclangc.h>
#include <stdio.h>

#include "harness.h"

static struct room room;

static const char *version(void) { return KCVERSION; }

static void wrong_if(KCDB *db, bool wrong) {
  if (wrong) fail("Kyoto Cabinet: %s", kcdbemsg(db));
}

static void *open_store(const struct job *job, enum mode mode) {
  uint64_t keys = most_keys(job);
  uint64_t bytes = keys * (job->value_bytes + 64) + (64 << 20);
  char path[4096];
  snprintf(path, sizeof path, "%s#bnum=%lu#msiz=%lu#opts=l", path_in(job, "kyoto.kch"), 2 * keys,
           bytes);
  make_room(&room, job->value_bytes > 4096 ? job->value_bytes : 4096);
  KCDB *db = kcdbnew();
  uint32_t flags = mode == READ ? KCOREADER : KCOWRITER;
  if (mode == MAKE) flags |= KCOCREATE | KCOTRUNCATE;
  wrong_if(db, !kcdbopen(db, path, flags));
  return db;
}

static void close_store(void *store) {
  wrong_if(store, !kcdbclose(store));
  kcdbdel(store);
}

static void put(void *store, struct span key, struct span value) {
  wrong_if(store, !kcdbset(store, key.data, key.len, value.data, value.len));
}

static bool get(void *store, struct span key, struct span *value) {
  int32_t len = kcdbgetbuf(store, key.data, key.len, room.data, room.size);
  if (len < 0) {
    wrong_if(store, kcdbecode(store) != KCENOREC);
    return false;
  }
  *value = (struct span){room.data, len};
  return true;
}

static bool remove_key(void *store, struct span key) {
  if (kcdbremove(store, key.data, key.len)) return true;
  wrong_if(store, kcdbecode(store) != KCENOREC);
  return false;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};

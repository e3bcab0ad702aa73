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

// Many keys a call: the store asks for each in their order.
struct many {
  const struct pair *pairs;
  each_value each;
  void *user;
  size_t at;
};

static const char *put_next(const char *key, size_t key_len, size_t *len, void *user) {
  (void)key, (void)key_len;
  struct many *many = user;
  struct span value = many->pairs[many->at++].value;
  *len = value.len;
  return value.data;
}

static const char *put_over(const char *key, size_t key_len, const char *old, size_t old_len,
                            size_t *len, void *user) {
  (void)old, (void)old_len;
  return put_next(key, key_len, len, user);
}

static const char *take(const char *key, size_t key_len, const char *value, size_t value_len,
                        size_t *len, void *user) {
  (void)key, (void)key_len, (void)len;
  struct many *many = user;
  many->each(many->user, many->at++, value, value_len);
  return KCVISNOP;
}

static const char *miss(const char *key, size_t key_len, size_t *len, void *user) {
  return take(key, key_len, NULL, 0, len, user);
}

static void put_many(void *store, const struct pair *pairs, size_t count) {
  struct many many = {.pairs = pairs};
  KCSTR keys[count];
  for (size_t at = 0; at < count; at++)
    keys[at] = (KCSTR){(char *)pairs[at].key.data, pairs[at].key.len};
  wrong_if(store, !kcdbacceptbulk(store, keys, count, put_over, put_next, &many, true));
}

static void get_many(void *store, const struct span *spans, size_t count, each_value each,
                     void *user) {
  struct many many = {.each = each, .user = user};
  KCSTR keys[count];
  for (size_t at = 0; at < count; at++) keys[at] = (KCSTR){(char *)spans[at].data, spans[at].len};
  wrong_if(store, !kcdbacceptbulk(store, keys, count, take, miss, &many, false));
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
    .put_many = put_many,
    .get_many = get_many,
    .many_is_slower = true,
};

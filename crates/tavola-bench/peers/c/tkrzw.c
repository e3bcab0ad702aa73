// Tkrzw's HashDBM through its C interface: records changed in place, as many buckets as keys. A
// value is read where the store has it, by a callback, as its own C++ programs do.
#include <stdio.h>
#include <string.h>
#include <tkrzw_langc.h>

#include "harness.h"

static struct room room;

static void check(bool done) {
  if (!done) fail("Tkrzw: %s", tkrzw_get_last_status_message());
}

static const char *version(void) { return TKRZW_PACKAGE_VERSION; }

static void *open_store(const struct job *job, enum mode mode) {
  char params[256];
  snprintf(params, sizeof params,
           "dbm=HashDBM,file=MemoryMapParallelFile,update_mode=UPDATE_IN_PLACE,"
           "restore_mode=RESTORE_NOOP,num_buckets=%lu%s",
           most_keys(job), mode == MAKE ? ",truncate=true" : "");
  TkrzwDBM *dbm = tkrzw_dbm_open(path_in(job, "tkrzw.tkh"), mode != READ, params);
  check(dbm != NULL);
  return dbm;
}

static void close_store(void *store) { check(tkrzw_dbm_close(store)); }

static void put(void *store, struct span key, struct span value) {
  check(tkrzw_dbm_set(store, key.data, key.len, value.data, value.len, true));
}

static const char *take(void *user, const char *key, int32_t key_len, const char *value,
                        int32_t len, int32_t *new_len) {
  (void)key, (void)key_len, (void)new_len;
  struct span *out = user;
  if (value) {
    make_room(&room, len);
    memcpy(room.data, value, len);
    *out = (struct span){room.data, len};
  }
  return TKRZW_REC_PROC_NOOP;
}

static bool get(void *store, struct span key, struct span *value) {
  *value = (struct span){0};
  check(tkrzw_dbm_process(store, key.data, key.len, take, value, false));
  return value->data != NULL;
}

static bool remove_key(void *store, struct span key) {
  if (tkrzw_dbm_remove(store, key.data, key.len)) return true;
  check(tkrzw_get_last_status_code() == TKRZW_STATUS_NOT_FOUND_ERROR);
  return false;
}

// A key of many, and who is told its value.
struct one {
  each_value each;
  void *user;
  size_t at;
};

static const char *tell(void *user, const char *key, int32_t key_len, const char *value,
                        int32_t len, int32_t *new_len) {
  (void)key, (void)key_len, (void)new_len;
  struct one *one = user;
  one->each(one->user, one->at, value, value ? len : 0);
  return TKRZW_REC_PROC_NOOP;
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  struct one ones[count];
  TkrzwKeyProcPair pairs[count];
  for (size_t at = 0; at < count; at++) {
    ones[at] = (struct one){each, user, at};
    pairs[at] = (TkrzwKeyProcPair){keys[at].data, keys[at].len, tell, &ones[at]};
  }
  check(tkrzw_dbm_process_multi(store, pairs, count, false));
}

static const char *give(void *user, const char *key, int32_t key_len, const char *old,
                        int32_t old_len, int32_t *len) {
  (void)key, (void)key_len, (void)old, (void)old_len;
  const struct span *value = user;
  *len = value->len;
  return value->data;
}

static void put_many(void *store, const struct pair *records, size_t count) {
  TkrzwKeyProcPair pairs[count];
  for (size_t at = 0; at < count; at++) {
    const struct pair *record = &records[at];
    pairs[at] = (TkrzwKeyProcPair){record->key.data, record->key.len, give, (void *)&record->value};
  }
  check(tkrzw_dbm_process_multi(store, pairs, count, true));
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

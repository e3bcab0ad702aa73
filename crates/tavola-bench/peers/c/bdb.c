// Berkeley DB's hash without a log, with buckets for all keys, in a cache as large as the records.
// One process opens the file by itself; several share an environment with the locks of the
// Concurrent Data Store.
#include <db.h>
#include <stdio.h>

#include "harness.h"

struct bdb {
  DB_ENV *env;
  DB *db;
};

enum { PAGE = 4096 };

static struct room room;

static void check(int status) {
  if (status) fail("Berkeley DB: %s", db_strerror(status));
}

static const char *version(void) {
  static char text[32];
  int major, minor, patch;
  db_version(&major, &minor, &patch);
  snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
  return text;
}

static void *open_store(const struct job *job, enum mode mode) {
  static struct bdb bdb;
  uint64_t keys = most_keys(job);
  uint64_t cache = keys * (job->value_bytes + 64) + (64 << 20);
  uint32_t gib = cache >> 30, rest = cache & ((1 << 30) - 1);
  bool shared = job->procs > 1;
  bdb.env = NULL;
  if (shared) {
    check(db_env_create(&bdb.env, 0));
    check(bdb.env->set_cachesize(bdb.env, gib, rest, 1));
    check(bdb.env->open(bdb.env, job->dir, DB_CREATE | DB_INIT_CDB | DB_INIT_MPOOL, 0600));
  }
  check(db_create(&bdb.db, bdb.env, 0));
  if (!shared) check(bdb.db->set_cachesize(bdb.db, gib, rest, 1));
  if (mode == MAKE) {
    // How many records a page holds, by Oracle's guide; the first says nothing without it. Of a
    // value longer than a quarter of the page 12 bytes stand there.
    uint64_t value = job->value_bytes > PAGE / 4 ? 12 : job->value_bytes;
    check(bdb.db->set_pagesize(bdb.db, PAGE));
    check(bdb.db->set_h_nelem(bdb.db, keys));
    check(bdb.db->set_h_ffactor(bdb.db, (PAGE - 32) / (job->key_bytes + value + 8)));
  }
  make_room(&room, job->value_bytes > 4096 ? job->value_bytes : 4096);
  uint32_t flags = mode == MAKE ? DB_CREATE : mode == READ ? DB_RDONLY : 0;
  const char *file = shared ? "bdb" : path_in(job, "bdb");
  check(bdb.db->open(bdb.db, NULL, file, NULL, DB_HASH, flags, 0600));
  return &bdb;
}

static void close_store(void *store) {
  struct bdb *bdb = store;
  check(bdb->db->close(bdb->db, 0));
  if (bdb->env) check(bdb->env->close(bdb->env, 0));
}

static DBT of(struct span span) { return (DBT){.data = (void *)span.data, .size = span.len}; }

static void put(void *store, struct span key, struct span value) {
  struct bdb *bdb = store;
  DBT name = of(key), data = of(value);
  check(bdb->db->put(bdb->db, NULL, &name, &data, 0));
}

static bool get(void *store, struct span key, struct span *value) {
  struct bdb *bdb = store;
  DBT name = of(key);
  DBT data = {.data = room.data, .ulen = room.size, .flags = DB_DBT_USERMEM};
  int status = bdb->db->get(bdb->db, NULL, &name, &data, 0);
  if (status == DB_NOTFOUND) return false;
  check(status);
  *value = (struct span){room.data, data.size};
  return true;
}

static bool remove_key(void *store, struct span key) {
  struct bdb *bdb = store;
  DBT name = of(key);
  int status = bdb->db->del(bdb->db, NULL, &name, 0);
  if (status != DB_NOTFOUND) check(status);
  return status == 0;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};

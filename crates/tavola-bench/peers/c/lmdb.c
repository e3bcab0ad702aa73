// LMDB: a map that is written through, nothing synced; the peer lmdb-sync: as it comes, each commit
// synced. A put is a transaction, as it has to be for
// others to see it; a get is a transaction that is renewed, so that it sees what others put.
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

struct lmdb {
  MDB_env *env;
  MDB_dbi dbi;
  MDB_txn *read;
};

static void check(int status) {
  if (status) fail("LMDB: %s", mdb_strerror(status));
}

static const char *version(void) {
  static char text[32];
  int major, minor, patch;
  mdb_version(&major, &minor, &patch);
  snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
  return text;
}

static void *open_store(const struct job *job, enum mode mode) {
  static struct lmdb lmdb;
  check(mdb_env_create(&lmdb.env));
  size_t each = job->value_bytes + 256;
  size_t size = most_keys(job) * (each < 8192 ? each : 2 * each) + ((size_t)1 << 30);
  check(mdb_env_set_mapsize(lmdb.env, size & ~(size_t)4095));
  unsigned flags = MDB_NOSUBDIR | MDB_NOTLS;
  bool syncs = strcmp(job->peer, "lmdb-sync") == 0;
  if (mode == READ)
    flags |= MDB_RDONLY;
  else if (!syncs)
    flags |= MDB_WRITEMAP | MDB_NOSYNC | MDB_NOMETASYNC;
  check(mdb_env_open(lmdb.env, path_in(job, "lmdb"), flags, 0600));
  MDB_txn *txn;
  check(mdb_txn_begin(lmdb.env, NULL, mode == READ ? MDB_RDONLY : 0, &txn));
  check(mdb_dbi_open(txn, NULL, 0, &lmdb.dbi));
  check(mdb_txn_commit(txn));
  check(mdb_txn_begin(lmdb.env, NULL, MDB_RDONLY, &lmdb.read));
  mdb_txn_reset(lmdb.read);
  return &lmdb;
}

static void close_store(void *store) {
  struct lmdb *lmdb = store;
  mdb_txn_abort(lmdb->read);
  mdb_env_close(lmdb->env);
}

static MDB_val of(struct span span) { return (MDB_val){span.len, (void *)span.data}; }

static void put_many(void *store, const struct pair *pairs, size_t count) {
  struct lmdb *lmdb = store;
  MDB_txn *txn;
  check(mdb_txn_begin(lmdb->env, NULL, 0, &txn));
  for (size_t at = 0; at < count; at++) {
    MDB_val key = of(pairs[at].key), value = of(pairs[at].value);
    check(mdb_put(txn, lmdb->dbi, &key, &value, 0));
  }
  check(mdb_txn_commit(txn));
}

static void put(void *store, struct span key, struct span value) {
  put_many(store, &(struct pair){key, value}, 1);
}

// The value is in the map until the transaction is renewed by the next get.
static bool get(void *store, struct span key, struct span *value) {
  struct lmdb *lmdb = store;
  mdb_txn_reset(lmdb->read);
  check(mdb_txn_renew(lmdb->read));
  MDB_val name = of(key), found;
  int status = mdb_get(lmdb->read, lmdb->dbi, &name, &found);
  if (status == MDB_NOTFOUND) return false;
  check(status);
  *value = (struct span){found.mv_data, found.mv_size};
  return true;
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  struct lmdb *lmdb = store;
  mdb_txn_reset(lmdb->read);
  check(mdb_txn_renew(lmdb->read));
  for (size_t at = 0; at < count; at++) {
    MDB_val name = of(keys[at]), found;
    int status = mdb_get(lmdb->read, lmdb->dbi, &name, &found);
    if (status != MDB_NOTFOUND) check(status);
    each(user, at, status ? NULL : found.mv_data, status ? 0 : found.mv_size);
  }
}

static bool remove_key(void *store, struct span key) {
  struct lmdb *lmdb = store;
  MDB_txn *txn;
  check(mdb_txn_begin(lmdb->env, NULL, 0, &txn));
  MDB_val name = of(key);
  int status = mdb_del(txn, lmdb->dbi, &name, NULL);
  if (status != MDB_NOTFOUND) check(status);
  check(mdb_txn_commit(txn));
  return status == 0;
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
};

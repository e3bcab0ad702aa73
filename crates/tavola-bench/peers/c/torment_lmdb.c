// LMDB: read and written in one transaction; a reader keeps its snapshot.
#include "lmdb.c"
#include "torment.h"

#include <stdlib.h>
#include <string.h>

static void add_one(void *store, struct span key) {
  struct lmdb *lmdb = store;
  MDB_txn *txn;
  check(mdb_txn_begin(lmdb->env, NULL, 0, &txn));
  MDB_val name = of(key), found;
  char text[32] = {0};
  int status = mdb_get(txn, lmdb->dbi, &name, &found);
  if (status != MDB_NOTFOUND) check(status);
  if (!status && found.mv_size < sizeof text) memcpy(text, found.mv_data, found.mv_size);
  int len = snprintf(text, sizeof text, "%lu", strtoul(text, NULL, 10) + 1);
  MDB_val value = {len, text};
  check(mdb_put(txn, lmdb->dbi, &name, &value, 0));
  check(mdb_txn_commit(txn));
}

static void hold(void *store, struct span key) {
  struct span value;
  // The transaction stays as it is until the next get.
  get(store, key, &value);
}

const struct extra extra = {
    .add_one = add_one,
    .add_means = "a write transaction",
    .hold = hold,
    .hold_means = "a read transaction",
};

// SQLite: one statement adds one; a reader keeps its transaction.
#include "sqlite.c"
#include "torment.h"

static void add_one(void *store, struct span key) {
  struct sqlite *own = store;
  sqlite3_stmt *add =
      prepared(own, "INSERT INTO kv VALUES(?1, 1) ON CONFLICT(k) DO UPDATE SET v = v + 1");
  bind(own, add, 1, key);
  step(own, add);
  check(own, sqlite3_finalize(add));
}

static void hold(void *store, struct span key) {
  struct sqlite *own = store;
  struct span value;
  check(own, sqlite3_exec(own->db, "BEGIN", NULL, NULL, NULL));
  find(own, key, &value);
}

const struct extra extra = {
    .add_one = add_one,
    .add_means = "one statement",
    .hold = hold,
    .hold_means = "a read transaction",
};

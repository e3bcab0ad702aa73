// SQLite: a table without row numbers, write-ahead log, nothing synced (but see
// the peers sqlite-full and sqlite-normal), prepared statements. A put is a transaction, as it has to be for others to see it.
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

struct sqlite {
  sqlite3 *db;
  sqlite3_stmt *put, *get, *remove, *begin, *commit;
};

static void check(struct sqlite *own, int status) {
  if (status != SQLITE_OK) fail("SQLite: %s", sqlite3_errmsg(own->db));
}

static sqlite3_stmt *prepared(struct sqlite *own, const char *text) {
  sqlite3_stmt *statement;
  check(own, sqlite3_prepare_v3(own->db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
  return statement;
}

static const char *version(void) { return sqlite3_libversion(); }

static void *open_store(const struct job *job, enum mode mode) {
  static struct sqlite own;
  int flags = mode == READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  check(&own, sqlite3_open_v2(path_in(job, "sqlite"), &own.db, flags, NULL));
  check(&own, sqlite3_busy_timeout(own.db, 60000));
  check(&own, sqlite3_exec(own.db, "PRAGMA mmap_size=1073741824", NULL, NULL, NULL));
  const char *syncs = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF";
  if (strcmp(job->peer, "sqlite-full") == 0)
    syncs = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
  if (strcmp(job->peer, "sqlite-normal") == 0)
    syncs = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL";
  if (mode != READ) check(&own, sqlite3_exec(own.db, syncs, NULL, NULL, NULL));
  if (mode == MAKE)
    check(&own, sqlite3_exec(own.db, "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
                             NULL, NULL, NULL));
  own.get = prepared(&own, "SELECT v FROM kv WHERE k = ?1");
  if (mode == READ) return &own;
  own.put = prepared(&own, "INSERT OR REPLACE INTO kv VALUES(?1, ?2)");
  own.remove = prepared(&own, "DELETE FROM kv WHERE k = ?1");
  own.begin = prepared(&own, "BEGIN IMMEDIATE");
  own.commit = prepared(&own, "COMMIT");
  return &own;
}

static void close_store(void *store) {
  struct sqlite *own = store;
  sqlite3_stmt **all[] = {&own->put, &own->get, &own->remove, &own->begin, &own->commit};
  for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
    sqlite3_finalize(*all[at]);
    *all[at] = NULL;
  }
  check(own, sqlite3_close(own->db));
}

static void bind(struct sqlite *own, sqlite3_stmt *statement, int at, struct span span) {
  check(own, sqlite3_bind_blob(statement, at, span.data, span.len, SQLITE_STATIC));
}

static void step(struct sqlite *own, sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("SQLite: %s", sqlite3_errmsg(own->db));
  sqlite3_reset(statement);
}

static void put(void *store, struct span key, struct span value) {
  struct sqlite *own = store;
  bind(own, own->put, 1, key);
  bind(own, own->put, 2, value);
  step(own, own->put);
}

// The statement is reset by the next call, and the value lent until then.
static bool find(struct sqlite *own, struct span key, struct span *value) {
  sqlite3_reset(own->get);
  bind(own, own->get, 1, key);
  int status = sqlite3_step(own->get);
  if (status != SQLITE_ROW && status != SQLITE_DONE)
    fail("SQLite: %s", sqlite3_errmsg(own->db));
  if (status == SQLITE_DONE) return false;
  const void *data = sqlite3_column_blob(own->get, 0);
  *value = (struct span){data, sqlite3_column_bytes(own->get, 0)};
  return true;
}

static bool get(void *store, struct span key, struct span *value) {
  static struct room room;
  struct sqlite *own = store;
  struct span lent;
  bool found = find(own, key, &lent);
  if (found) {
    make_room(&room, lent.len);
    __builtin_memcpy(room.data, lent.data, lent.len);
    *value = (struct span){room.data, lent.len};
  }
  // A statement that is not reset keeps its transaction, and an old view.
  sqlite3_reset(own->get);
  return found;
}

static bool remove_key(void *store, struct span key) {
  struct sqlite *own = store;
  bind(own, own->remove, 1, key);
  step(own, own->remove);
  return sqlite3_changes(own->db) == 1;
}

static void put_many(void *store, const struct pair *pairs, size_t count) {
  struct sqlite *own = store;
  step(own, own->begin);
  for (size_t at = 0; at < count; at++) put(store, pairs[at].key, pairs[at].value);
  step(own, own->commit);
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  struct sqlite *own = store;
  check(own, sqlite3_exec(own->db, "BEGIN", NULL, NULL, NULL));
  for (size_t at = 0; at < count; at++) {
    struct span value;
    bool found = find(own, keys[at], &value);
    each(user, at, found ? value.data : NULL, found ? value.len : 0);
  }
  sqlite3_reset(own->get);
  check(own, sqlite3_exec(own->db, "COMMIT", NULL, NULL, NULL));
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

// Berkeley DB: a cursor that may write keeps other writers out; a reader keeps a cursor.
#include "bdb.c"
#include "torment.h"

#include <stdlib.h>
#include <string.h>

static void add_one(void *store, struct span key) {
  struct bdb *bdb = store;
  DBC *cursor;
  check(bdb->db->cursor(bdb->db, NULL, &cursor, DB_WRITECURSOR));
  char text[32] = {0};
  DBT name = of(key);
  DBT data = {.data = text, .ulen = sizeof text - 1, .flags = DB_DBT_USERMEM};
  int status = cursor->get(cursor, &name, &data, DB_SET);
  if (status != DB_NOTFOUND) check(status);
  int len = snprintf(text, sizeof text, "%lu", strtoul(text, NULL, 10) + 1);
  DBT value = {.data = text, .size = len};
  check(cursor->put(cursor, &name, &value, status ? DB_KEYFIRST : DB_CURRENT));
  check(cursor->close(cursor));
}

static void hold(void *store, struct span key) {
  struct bdb *bdb = store;
  DBC *cursor;
  check(bdb->db->cursor(bdb->db, NULL, &cursor, 0));
  DBT name = of(key);
  DBT data = {.data = room.data, .ulen = room.size, .flags = DB_DBT_USERMEM};
  check(cursor->get(cursor, &name, &data, DB_SET));
}

const struct extra extra = {
    .add_one = add_one,
    .add_means = "a cursor that may write",
    .hold = hold,
    .hold_means = "an open cursor",
};

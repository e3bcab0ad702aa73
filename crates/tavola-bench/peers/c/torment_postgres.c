// PostgreSQL: one statement adds one, under the lock of its row; a reader keeps its snapshot.
#include "postgres.c"
#include "torment.h"

#define NUMBER "convert_from(v, 'UTF8')::bigint"

// How many rows it changed.
static int changed(struct postgres *own, const char *text, struct span key) {
  const char *values[] = {key.data};
  const int lens[] = {key.len}, binary[] = {1};
  PGresult *answer = PQexecParams(own->server, text, 1, NULL, values, lens, binary, 1);
  int rows = atoi(PQcmdTuples(checked(own, answer)));
  PQclear(answer);
  return rows;
}

static void add_one(void *store, struct span key) {
  static const char add[] = "UPDATE " TABLE " SET v = convert_to((" NUMBER " + 1)::text, 'UTF8')"
                            " WHERE k = $1::bytea";
  static const char begin[] = "INSERT INTO " TABLE " VALUES ($1::bytea, '0')"
                              " ON CONFLICT DO NOTHING";
  // Who inserts it first has it begin.
  while (changed(store, add, key) == 0) changed(store, begin, key);
}

static void hold(void *store, struct span key) {
  struct span value;
  run(store, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  get(store, key, &value);
}

const struct extra extra = {
    .add_one = add_one,
    .add_means = "UPDATE ... SET n = n + 1",
    .hold = hold,
    .hold_means = "a REPEATABLE READ transaction",
};

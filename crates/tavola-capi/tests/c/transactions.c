// Transactions: all changes happen at once or not at all.

#include "check.h"

static tavola_txn *begin(tavola_table *table, int32_t how) {
  tavola_txn *txn = NULL;
  CHECK_IS(TAVOLA_OK, tavola_txn_begin(table, how, &txn));
  return txn;
}

static void changes(tavola_table *table) {
  char bytes[64];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_attributes hour = TAVOLA_INIT(tavola_attributes), found = TAVOLA_INIT(tavola_attributes);
  tavola_number_options counter = TAVOLA_INIT(tavola_number_options);
  int64_t now = 0;
  uint32_t savepoint = 9, later = 9;
  tavola_txn *txn = begin(table, TAVOLA_BEGIN_OPTIMISTIC);
  hour.ttl_ms = 3600000;
  hour.flags = 7;
  CHECK_IS(TAVOLA_OK, tavola_txn_set(txn, TAVOLA_STR("a"), TAVOLA_STR("1")));
  CHECK_IS(TAVOLA_EXISTS, tavola_txn_add(txn, TAVOLA_STR("a"), TAVOLA_STR("2")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_txn_replace(txn, TAVOLA_STR("b"), TAVOLA_STR("2")));
  CHECK_IS(TAVOLA_OK, tavola_txn_add(txn, TAVOLA_STR("b"), TAVOLA_STR("2")));
  CHECK_IS(TAVOLA_OK, tavola_txn_append(txn, TAVOLA_STR("b"), TAVOLA_STR("3")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_txn_append(txn, TAVOLA_STR("c"), TAVOLA_STR("3")));
  CHECK_IS(TAVOLA_OK,
           tavola_txn_set_with(txn, TAVOLA_STR("flags"), TAVOLA_STR("x"), &hour, NULL));
  CHECK_IS(TAVOLA_OK, tavola_txn_get(txn, TAVOLA_STR("flags"), &value, &found));
  CHECK(found.flags == 7 && found.ttl_ms > 0 && found.ttl_ms <= hour.ttl_ms);
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number(txn, TAVOLA_STR("n"), -3, &now));
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number(txn, TAVOLA_STR("n"), 1, NULL));
  CHECK(now == -3);
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_txn_add_number(txn, TAVOLA_STR("flags"), 1, &now));
  counter.attributes = &hour;
  CHECK_IS(TAVOLA_EXISTS,
           tavola_txn_add_with(txn, TAVOLA_STR("a"), TAVOLA_STR("2"), &hour, NULL));
  CHECK_IS(TAVOLA_OK, tavola_txn_add_with(txn, TAVOLA_STR("w"), TAVOLA_STR("2"), &hour, NULL));
  CHECK_IS(TAVOLA_NOT_FOUND,
           tavola_txn_replace_with(txn, TAVOLA_STR("none"), TAVOLA_STR("2"), &hour, NULL));
  CHECK_IS(TAVOLA_OK, tavola_txn_replace_with(txn, TAVOLA_STR("w"), TAVOLA_STR("5"), NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_txn_get(txn, TAVOLA_STR("w"), &value, &found));
  CHECK(found.flags == 0);
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number_with(txn, TAVOLA_STR("k"), 4, &counter, &now));
  CHECK_IS(TAVOLA_OK, tavola_txn_get(txn, TAVOLA_STR("k"), &value, &found));
  CHECK(now == 4 && found.flags == 7 && found.ttl_ms > 0);
  counter.remove_zero = 1;
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number_with(txn, TAVOLA_STR("k"), -4, &counter, &now));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_txn_contains(txn, TAVOLA_STR("k")));
  CHECK_IS(TAVOLA_OK, tavola_txn_savepoint(txn, &savepoint));
  CHECK_IS(TAVOLA_OK, tavola_txn_remove(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_txn_remove(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_txn_savepoint(txn, &later));
  CHECK_IS(TAVOLA_OK, tavola_txn_roll_back_to(txn, savepoint));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_txn_roll_back_to(txn, later));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_txn_commit(txn));
  CHECK(has(table, "a", "1") && has(table, "b", "23") && has(table, "n", "-2"));
}

static void conflicts(tavola_table *table) {
  tavola_txn *txn = begin(table, TAVOLA_BEGIN_OPTIMISTIC);
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_txn_set(txn, TAVOLA_STR("b"), TAVOLA_STR("no")));
  CHECK_IS(TAVOLA_OK, tavola_set(table, TAVOLA_STR("a"), TAVOLA_STR("meanwhile")));
  CHECK_IS(TAVOLA_CONFLICT, tavola_txn_commit(txn));
  CHECK(has(table, "b", "23"));
  txn = begin(table, TAVOLA_BEGIN_READ_ONLY);
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_txn_set(txn, TAVOLA_STR("a"), TAVOLA_STR("no")));
  tavola_txn_abort(txn);
  tavola_txn_abort(NULL);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_txn_begin(table, 3, &txn));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_txn_commit(NULL));
  // The turn is this thread's until its transaction ends.
  txn = begin(table, TAVOLA_BEGIN_TURN);
  CHECK_IS(TAVOLA_ERR_REENTRANT, tavola_txn_begin(table, TAVOLA_BEGIN_TURN, &txn));
  tavola_txn_abort(txn);
  tavola_txn_abort(begin(table, TAVOLA_BEGIN_TURN));
}

// A transaction knows whether it has seen keys as they were at one moment.
static void validates(tavola_table *table) {
  tavola_txn *txn = begin(table, TAVOLA_BEGIN_OPTIMISTIC);
  CHECK_IS(TAVOLA_OK, tavola_txn_set(txn, TAVOLA_STR("d"), TAVOLA_STR("new")));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_set(table, TAVOLA_STR("a"), TAVOLA_STR("one key")));
  CHECK_IS(TAVOLA_OK, tavola_txn_validate(txn));
  CHECK_IS(TAVOLA_CONFLICT, tavola_txn_try_commit(txn));
  tavola_txn_abort(txn);
  txn = begin(table, TAVOLA_BEGIN_OPTIMISTIC);
  CHECK_IS(TAVOLA_OK, tavola_txn_set(txn, TAVOLA_STR("d"), TAVOLA_STR("new")));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("b")));
  CHECK_IS(TAVOLA_OK, tavola_txn_validate(txn));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, TAVOLA_STR("d")));
  CHECK_IS(TAVOLA_OK, tavola_txn_try_commit(txn));
  CHECK(has(table, "d", "new"));
  // It has no changes any more.
  CHECK_IS(TAVOLA_OK, tavola_remove(table, TAVOLA_STR("d")));
  CHECK_IS(TAVOLA_OK, tavola_txn_try_commit(txn));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, TAVOLA_STR("d")));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("a")));
  CHECK_IS(TAVOLA_OK, tavola_set(table, TAVOLA_STR("a"), TAVOLA_STR("two keys")));
  CHECK_IS(TAVOLA_OK, tavola_txn_contains(txn, TAVOLA_STR("b")));
  CHECK_IS(TAVOLA_CONFLICT, tavola_txn_validate(txn));
  tavola_txn_abort(txn);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_txn_validate(NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_txn_try_commit(NULL));
}

struct asked {
  int runs;
  int returns;
  tavola_table *table;
};

static int32_t body(void *user, tavola_txn *txn) {
  struct asked *asked = user;
  asked->runs++;
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number(txn, TAVOLA_STR("x"), 1, NULL));
  CHECK_IS(TAVOLA_OK, tavola_txn_add_number(txn, TAVOLA_STR("y"), 1, NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_txn_commit(txn));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_txn_try_commit(txn));
  tavola_txn_abort(txn);
  if (asked->table != NULL && asked->runs == 1) {
    CHECK_IS(TAVOLA_OK, tavola_add_number(asked->table, TAVOLA_STR("x"), 10, NULL));
  }
  return asked->returns;
}

static int32_t reads(void *user, tavola_txn *txn) {
  *(bool *)user = tavola_txn_contains(txn, TAVOLA_STR("x")) == TAVOLA_OK &&
                  tavola_txn_contains(txn, TAVOLA_STR("y")) == TAVOLA_OK;
  return 0;
}

static void runs(tavola_table *table) {
  struct asked asked = {0, 0, table};
  bool both = false;
  CHECK_IS(TAVOLA_OK, tavola_transaction(table, body, &asked));
  CHECK(asked.runs == 2 && has(table, "x", "11") && has(table, "y", "1"));
  asked = (struct asked){0, 1, NULL};
  CHECK_IS(TAVOLA_ABORTED, tavola_transaction(table, body, &asked));
  CHECK(asked.runs == 1 && has(table, "x", "11"));
  asked = (struct asked){0, 0, table};
  CHECK_IS(TAVOLA_CONFLICT, tavola_transaction_once(table, body, &asked));
  CHECK(asked.runs == 1 && has(table, "x", "21"));
  CHECK_IS(TAVOLA_OK, tavola_view_keys(table, reads, &both));
  CHECK(both);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_transaction(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_transaction(NULL, body, &asked));
}

int main(void) {
  tavola_table *table = NULL, *cache = NULL;
  tavola_txn *txn = NULL;
  tavola_options options = TAVOLA_INIT(tavola_options);
  CHECK_IS(TAVOLA_OK, tavola_create("transactions", NULL, &table));
  changes(table);
  conflicts(table);
  validates(table);
  runs(table);
  check_clean(table);
  // A transaction keeps its table open.
  txn = begin(table, TAVOLA_BEGIN_OPTIMISTIC);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_txn_set(txn, TAVOLA_STR("late"), TAVOLA_STR("1")));
  CHECK_IS(TAVOLA_OK, tavola_txn_commit(txn));
  options.capacity = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_create("cache", &options, &cache));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_txn_begin(cache, TAVOLA_BEGIN_OPTIMISTIC, &txn));
  tavola_close(cache);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("transactions"));
  CHECK_IS(TAVOLA_OK, tavola_names_remove("cache"));
  return 0;
}

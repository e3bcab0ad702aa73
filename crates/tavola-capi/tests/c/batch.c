// Batches: arrays of keys, and operations that are prepared.

#include "check.h"

enum { KEYS = 100 };

struct expected {
  const int *keys;
  size_t next;
};

static void found(void *user, size_t index, const void *value, size_t value_len) {
  struct expected *expected = user;
  CHECK(index == expected->next++);
  if (index % 2 == 1) {
    CHECK(value == NULL && value_len == 0);
  } else {
    CHECK(value_len == sizeof(int) && memcmp(value, &expected->keys[index], value_len) == 0);
  }
}

static void arrays(tavola_table *table) {
  int numbers[KEYS];
  tavola_bytes keys[KEYS];
  tavola_pair pairs[KEYS / 2];
  struct expected expected = {numbers, 0};
  for (int i = 0; i < KEYS; i++) {
    numbers[i] = i;
    keys[i].data = &numbers[i];
    keys[i].len = sizeof(int);
    if (i % 2 == 0) {
      pairs[i / 2].key = keys[i];
      pairs[i / 2].value = keys[i];
    }
  }
  CHECK_IS(TAVOLA_OK, tavola_set_many(table, pairs, KEYS / 2));
  CHECK_IS(TAVOLA_OK, tavola_get_many(table, keys, KEYS, found, &expected));
  CHECK(expected.next == KEYS);
  CHECK_IS(TAVOLA_OK, tavola_get_many(table, NULL, 0, found, &expected));
  CHECK_IS(TAVOLA_OK, tavola_set_many(table, NULL, 0));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many(table, NULL, 1, found, &expected));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many(table, keys, 1, NULL, NULL));
  keys[40].data = NULL;
  expected.next = 0;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many(table, keys, KEYS, found, &expected));
  CHECK(expected.next == 0);
  pairs[0].value = keys[1];
  pairs[40].value.data = NULL;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_many(table, pairs, KEYS / 2));
  CHECK_IS(TAVOLA_OK, tavola_get_many(table, keys, 1, found, &expected));
}

static void prepared(tavola_table *table) {
  tavola_batch *batch = NULL;
  tavola_bytes value = {NULL, 0};
  size_t before = 7, write = 7, after = 7;
  CHECK_IS(TAVOLA_OK, tavola_batch_open(&batch));
  CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
  for (int round = 0; round < 2; round++) {
    CHECK(tavola_remove(table, "a", 1) >= 0);
    CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "a", 1, &before));
    CHECK_IS(TAVOLA_OK, tavola_batch_set(batch, "a", 1, "one", 3, &write));
    CHECK_IS(TAVOLA_OK, tavola_batch_set(batch, "b", 1, NULL, 0, NULL));
    CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "a", 1, &after));
    CHECK(before == 0 && write == 1 && after == 3);
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_result(batch, before, &value));
    CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
    CHECK_IS(TAVOLA_MISSING, tavola_batch_result(batch, before, &value));
    CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, write, &value));
    CHECK(value.len == 0);
    CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, after, &value));
    CHECK(value.len == 3 && memcmp(value.data, "one", 3) == 0);
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_result(batch, 4, &value));
    CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
    CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, before, &value));
    CHECK_IS(TAVOLA_OK, tavola_batch_clear(batch));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_result(batch, 0, &value));
  }
  tavola_batch_close(batch);
}

int main(void) {
  tavola_table *table = a_table("batches");
  arrays(table);
  prepared(table);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("batches"));
  return 0;
}

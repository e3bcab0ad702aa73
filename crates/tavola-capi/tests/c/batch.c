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
  uint64_t removed = 7;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_remove_many(table, NULL, 1, &removed));
  CHECK(removed == 7);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_remove_many(table, keys, KEYS, &removed));
  CHECK(removed == 0);
  keys[40].data = &numbers[40];
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, keys, KEYS, &removed));
  CHECK(removed == KEYS / 2);
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, keys, KEYS, &removed));
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, keys, KEYS, NULL));
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, NULL, 0, &removed));
  CHECK(removed == 0);
}

// Fetches memory for calls of several kinds, on keys that are there and on others, and changes
// nothing; more keys than are taken together.
static void prefetched(tavola_table *table) {
  uint64_t numbers[KEYS], keys_before = 0, keys_after = 0, now = 0;
  tavola_bytes keys[KEYS];
  tavola_table *reader = NULL;
  for (uint64_t i = 0; i < KEYS; i++) {
    numbers[i] = 5000 + i;
    keys[i] = (tavola_bytes){&numbers[i], sizeof numbers[i]};
    if (i % 2 == 0) {
      CHECK_IS(TAVOLA_OK, tavola_set(table, &numbers[i], sizeof numbers[i], "1", 1));
    }
  }
  CHECK_IS(TAVOLA_OK, tavola_len(table, &keys_before));
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("batches", NULL, &reader));
  CHECK_IS(TAVOLA_OK, tavola_prefetch(reader, keys, KEYS));
  tavola_close(reader);
  CHECK_IS(TAVOLA_OK, tavola_prefetch(table, keys, KEYS));
  CHECK_IS(TAVOLA_OK, tavola_len(table, &keys_after));
  CHECK(keys_before == keys_after);
  for (uint64_t i = 0; i < KEYS; i++) {
    const bool is_there = i % 2 == 0;
    CHECK_IS(is_there ? TAVOLA_OK : TAVOLA_NOT_FOUND,
             tavola_incr_from(table, &numbers[i], sizeof numbers[i], 1, NULL, &now));
    CHECK_IS(is_there ? TAVOLA_OK : TAVOLA_NOT_FOUND,
             tavola_remove(table, &numbers[i], sizeof numbers[i]));
    CHECK(!is_there || now == 2);
  }
  CHECK_IS(TAVOLA_OK, tavola_prefetch(table, NULL, 0));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_prefetch(NULL, keys, KEYS));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_prefetch(table, NULL, 1));
  keys[40].data = NULL;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_prefetch(table, keys, KEYS));
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
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_batch_result(batch, before, &value));
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

enum { HOUR = 3600 * 1000 };

static tavola_attributes lives(int64_t ttl_ms, uint32_t flags) {
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.ttl_ms = ttl_ms;
  attributes.flags = flags;
  return attributes;
}

static bool is_hour(const tavola_attributes *has) {
  return has->ttl_ms <= HOUR && has->ttl_ms > HOUR - 60 * 1000 && has->expires_unix_ms != 0;
}

// Of each four keys the first is plain, the second has flags, the third a time, the fourth is none.
static void found_entry(void *user, size_t index, const void *value, size_t value_len,
                        const tavola_attributes *has) {
  struct expected *expected = user;
  CHECK(index == expected->next++);
  if (index % 4 == 3) {
    CHECK(value == NULL && value_len == 0 && has == NULL);
    return;
  }
  CHECK(value_len == sizeof(int) && memcmp(value, &expected->keys[index], value_len) == 0);
  CHECK(has->size == sizeof *has && has->flags == (index % 4 == 1 ? index : 0));
  CHECK(index % 4 == 2 ? is_hour(has) : has->ttl_ms == TAVOLA_TTL_NEVER);
}

static void entries(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 0), bad = lives(-2, 0);
  int numbers[KEYS];
  tavola_bytes keys[KEYS];
  tavola_attributes flags[KEYS];
  tavola_entry all[KEYS];
  struct expected expected = {numbers, 0};
  size_t count = 0;
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  for (int i = 0; i < KEYS; i++) {
    numbers[i] = 1000 + i;
    keys[i] = (tavola_bytes){&numbers[i], sizeof(int)};
    flags[i] = lives(TAVOLA_TTL_DEFAULT, (uint32_t)i);
    if (i % 4 != 3) {
      const tavola_attributes *const beside[] = {NULL, &flags[i], &hour};
      all[count++] = (tavola_entry){keys[i], keys[i], beside[i % 4]};
    }
  }
  CHECK_IS(TAVOLA_OK, tavola_set_many_entries(table, all, count));
  CHECK_IS(TAVOLA_OK, tavola_get_many_entries(table, keys, KEYS, found_entry, &expected));
  CHECK(expected.next == KEYS);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many_entries(table, keys, 1, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many_entries(NULL, keys, 1, found_entry, &expected));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_many_entries(table, NULL, 1));
  // One that is none at the end: none is set.
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  all[count - 1].attributes = &bad;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set_many_entries(table, all, count));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, &numbers[0], sizeof(int)));
}

static tavola_status status_of(const tavola_batch *batch, size_t index) {
  return tavola_batch_result(batch, index, NULL);
}

static uint64_t number_of(const tavola_batch *batch, size_t index) {
  uint64_t number = 0;
  CHECK_IS(TAVOLA_OK, tavola_batch_number(batch, index, &number));
  return number;
}

// Each operation, on a key that is there and on one that is not; twice, as what the first did is
// taken back.
static void operations(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 0), flags = lives(HOUR, 7);
  tavola_attributes told = TAVOLA_INIT(tavola_attributes);
  tavola_batch *batch = NULL;
  tavola_bytes value = {"x", 1};
  uint64_t initial = 10, number = 77;
  size_t at[20], *next = at;
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  CHECK_IS(TAVOLA_OK, tavola_batch_open(&batch));
  CHECK_IS(TAVOLA_OK, tavola_batch_add_with(batch, "a", 1, "one", 3, &flags, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_add_with(batch, "a", 1, "two", 3, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "a", 1, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_replace_with(batch, "a", 1, "three", 5, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_replace_with(batch, "none", 4, "x", 1, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_touch(batch, "a", 1, &hour, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_touch(batch, "none", 4, &hour, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "a", 1, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_incr_with(batch, "n", 1, 5, &initial, &flags, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_incr_with(batch, "n", 1, 5, NULL, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_decr_with(batch, "n", 1, 2, NULL, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_decr_with(batch, "none", 4, 2, NULL, NULL, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "n", 1, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_remove(batch, "a", 1, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_remove(batch, "a", 1, next++));
  CHECK_IS(TAVOLA_OK, tavola_batch_remove(batch, "n", 1, next++));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_touch(batch, "a", 1, &flags, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_batch_remove(batch, NULL, 1, NULL));
  for (int round = 0; round < 2; round++) {
    CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
    CHECK_IS(TAVOLA_OK, status_of(batch, at[0]));
    CHECK_IS(TAVOLA_EXISTS, tavola_batch_result(batch, at[1], &value));
    CHECK(value.len == 1);
    CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, at[2], &value));
    CHECK(value.len == 3 && memcmp(value.data, "one", 3) == 0);
    CHECK_IS(TAVOLA_OK, tavola_batch_attributes(batch, at[2], &told));
    CHECK(told.flags == 7 && is_hour(&told));
    CHECK(status_of(batch, at[3]) == TAVOLA_OK && status_of(batch, at[4]) == TAVOLA_NOT_FOUND);
    CHECK(status_of(batch, at[5]) == TAVOLA_OK && status_of(batch, at[6]) == TAVOLA_NOT_FOUND);
    CHECK_IS(TAVOLA_OK, tavola_batch_attributes(batch, at[7], &told));
    CHECK(told.flags == 0 && is_hour(&told));
    CHECK(number_of(batch, at[8]) == 10 && number_of(batch, at[9]) == 15);
    CHECK(number_of(batch, at[10]) == 13);
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_batch_number(batch, at[11], &number));
    CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, at[12], &value));
    CHECK(value.len == 2 && memcmp(value.data, "13", 2) == 0);
    CHECK(status_of(batch, at[13]) == TAVOLA_OK && status_of(batch, at[14]) == TAVOLA_NOT_FOUND);
    CHECK(status_of(batch, at[15]) == TAVOLA_OK && has(table, "n", NULL));
    value.len = 1;
  }
  // What is asked of an operation of another kind.
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_number(batch, at[2], &number));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_attributes(batch, at[8], &told));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_attributes(batch, 99, &told));
  CHECK(number == 77);
  tavola_batch_close(batch);
}

// More of one kind than are taken together, and one that fails: those before it are done.
static void runs(tavola_table *table) {
  tavola_batch *batch = NULL;
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  CHECK_IS(TAVOLA_OK, set(table, "text", "none"));
  CHECK_IS(TAVOLA_OK, tavola_batch_open(&batch));
  for (uint64_t i = 0; i < KEYS; i++) {
    CHECK_IS(TAVOLA_OK, tavola_batch_incr_with(batch, &i, sizeof i, 1, &i, NULL, NULL));
  }
  CHECK_IS(TAVOLA_OK, tavola_batch_incr_with(batch, "text", 4, 1, NULL, NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_batch_remove(batch, "text", 4, NULL));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_batch_execute(batch, table));
  for (uint64_t i = 0; i < KEYS; i++) {
    CHECK(number_of(batch, i) == i);
  }
  CHECK_IS(TAVOLA_ERR_ARGUMENT, status_of(batch, KEYS));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, status_of(batch, KEYS + 1));
  CHECK(has(table, "text", "none"));
  tavola_batch_close(batch);
}

int main(void) {
  tavola_table *table = a_table("batches");
  arrays(table);
  prefetched(table);
  prepared(table);
  entries(table);
  operations(table);
  runs(table);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("batches"));
  return 0;
}

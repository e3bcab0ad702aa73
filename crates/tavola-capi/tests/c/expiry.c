// Keys that expire, and their flags: each function that gives them or tells of them.

#include "check.h"
#include <time.h>

enum { HOUR = 3600 * 1000 };

static tavola_attributes lives(int64_t ttl_ms, uint32_t flags) {
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.ttl_ms = ttl_ms;
  attributes.flags = flags;
  return attributes;
}

static tavola_attributes expires(uint64_t unix_ms) {
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.expires_unix_ms = unix_ms;
  return attributes;
}

static uint64_t unix_ms(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Whether what is left of so long is as it may be in a test that was held up.
static bool is_left(int64_t left, int64_t of) { return left <= of && left > of - 60 * 1000; }

// Whether a key has these flags and lives about so long: TAVOLA_TTL_NEVER, or milliseconds.
static bool has_attributes(tavola_table *table, const char *key, int64_t ttl_ms, uint32_t flags) {
  tavola_attributes found = lives(77, 77);
  int64_t left = 0;
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, key, strlen(key), NULL, &found, NULL));
  CHECK_IS(TAVOLA_OK, tavola_ttl(table, key, strlen(key), &left));
  CHECK(found.size == sizeof found && found.reserved == 0);
  if (found.flags != flags) {
    return false;
  }
  if (ttl_ms == TAVOLA_TTL_NEVER) {
    return found.ttl_ms == ttl_ms && left == ttl_ms && found.expires_unix_ms == 0;
  }
  return is_left(found.ttl_ms, ttl_ms) && is_left(left, ttl_ms) &&
         is_left((int64_t)(found.expires_unix_ms - unix_ms()), ttl_ms);
}

static void sets(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 7), two = lives(2 * HOUR, 8), past = expires(1);
  const tavola_attributes never = lives(TAVOLA_TTL_NEVER, 9), later = expires(unix_ms() + HOUR);
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "a", 1, "1", 1, NULL));
  CHECK(has(table, "a", "1") && has_attributes(table, "a", TAVOLA_TTL_NEVER, 0));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "a", 1, "2", 1, &hour));
  CHECK(has(table, "a", "2") && has_attributes(table, "a", HOUR, 7));
  CHECK_IS(TAVOLA_EXISTS, tavola_add_with(table, "a", 1, "3", 1, &two));
  CHECK(has(table, "a", "2") && has_attributes(table, "a", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_append(table, "a", 1, "3", 1));
  CHECK(has(table, "a", "23") && has_attributes(table, "a", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_replace_with(table, "a", 1, "4", 1, &two));
  CHECK(has(table, "a", "4") && has_attributes(table, "a", 2 * HOUR, 8));
  CHECK_IS(TAVOLA_OK, tavola_replace_with(table, "a", 1, "5", 1, &never));
  CHECK(has_attributes(table, "a", TAVOLA_TTL_NEVER, 9));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "a", 1, "6", 1, &later));
  CHECK(has_attributes(table, "a", HOUR, 0));
  CHECK_IS(TAVOLA_OK, set(table, "a", "7"));
  CHECK(has_attributes(table, "a", TAVOLA_TTL_NEVER, 0));
  CHECK_IS(TAVOLA_OK, tavola_replace_with(table, "a", 1, "8", 1, &past));
  CHECK(has(table, "a", NULL));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_replace_with(table, "a", 1, "9", 1, &hour));
  CHECK_IS(TAVOLA_OK, tavola_add_with(table, "a", 1, "9", 1, &hour));
  CHECK(has(table, "a", "9") && has_attributes(table, "a", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "a", 1));
}

// Missing for each function.
static void expired(tavola_table *table) {
  const tavola_attributes past = expires(1), hour = lives(HOUR, 7);
  char bytes[8] = "xxxxxxx";
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_attributes found = lives(77, 77);
  int64_t ttl_ms = 77;
  uint64_t token = 77, now = 77;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "e", 1, "1", 1, &past));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get(table, "e", 1, &value));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, "e", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_entry(table, "e", 1, &value, &found, &token));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_and_touch(table, "e", 1, NULL, &value, &found, &token));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_touch(table, "e", 1, NULL));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_persist(table, "e", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_ttl(table, "e", 1, &ttl_ms));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_compare_and_swap_with(table, "e", 1, 1, "2", 1, &hour));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_incr_with(table, "e", 1, 1, NULL, &hour, &now));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove(table, "e", 1));
  CHECK(found.ttl_ms == 77 && found.flags == 77 && ttl_ms == 77 && token == 77 && now == 77);
  CHECK(bytes[0] == 'x' && has(table, "e", NULL));
}

static void entries(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 7), two = lives(2 * HOUR, 0), flags = lives(HOUR, 1);
  const tavola_attributes past = expires(1);
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes), small = TAVOLA_BUFFER(bytes, 2);
  tavola_attributes found = TAVOLA_INIT(tavola_attributes);
  uint64_t token = 0, again = 0;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "k", 1, "value", 5, &hour));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "k", 1, NULL, NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "k", 1, &value, &found, &token));
  CHECK(holds(&value, "value") && is_left(found.ttl_ms, HOUR) && found.flags == 7);
  CHECK_IS(TAVOLA_OK, tavola_get_with_token(table, "k", 1, &value, &again));
  CHECK(token == again);
  found = lives(77, 77);
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get_entry(table, "k", 1, &small, &found, &token));
  CHECK(small.len == 5 && found.ttl_ms == 77);
  CHECK_IS(TAVOLA_OK, tavola_touch(table, "k", 1, &two));
  CHECK(has(table, "k", "value") && has_attributes(table, "k", 2 * HOUR, 7));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_touch(table, "k", 1, &flags));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_get_and_touch(table, "k", 1, &flags, NULL, NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_persist(table, "k", 1));
  CHECK(has(table, "k", "value") && has_attributes(table, "k", TAVOLA_TTL_NEVER, 7));
  CHECK_IS(TAVOLA_OK, tavola_get_and_touch(table, "k", 1, &two, &value, &found, &again));
  CHECK(holds(&value, "value") && found.ttl_ms == TAVOLA_TTL_NEVER && found.flags == 7);
  CHECK(found.expires_unix_ms == 0 && token == again);
  CHECK(has_attributes(table, "k", 2 * HOUR, 7));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get_and_touch(table, "k", 1, NULL, &small, NULL, NULL));
  CHECK(has_attributes(table, "k", TAVOLA_TTL_NEVER, 7));
  CHECK_IS(TAVOLA_OK, tavola_get_and_touch(table, "k", 1, &past, NULL, NULL, NULL));
  CHECK(has(table, "k", NULL));
}

static void changes(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 7), two = lives(2 * HOUR, 8);
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes), small = TAVOLA_BUFFER(bytes, 2);
  uint64_t token = 0, initial = 10, now = 0;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "c", 1, "first", 5, &hour));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "c", 1, NULL, NULL, &token));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_swap_with(table, "c", 1, token, "next", 4, &two));
  CHECK(has(table, "c", "next") && has_attributes(table, "c", 2 * HOUR, 8));
  CHECK_IS(TAVOLA_CHANGED, tavola_compare_and_swap_with(table, "c", 1, token, "x", 1, &hour));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_swap(table, "c", 1, "last", 4, &small));
  CHECK(has(table, "c", "next") && has_attributes(table, "c", 2 * HOUR, 8));
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "c", 1, "last", 4, &value));
  CHECK(holds(&value, "next") && has_attributes(table, "c", TAVOLA_TTL_NEVER, 0));
  CHECK_IS(TAVOLA_OK, tavola_incr_with(table, "n", 1, 1, &initial, &hour, &now));
  CHECK(now == 10 && has_attributes(table, "n", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_decr_with(table, "n", 1, 3, NULL, &two, &now));
  CHECK(now == 7 && has_attributes(table, "n", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_incr(table, "n", 1, 1, NULL));
  CHECK(has(table, "n", "8") && has_attributes(table, "n", HOUR, 7));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_decr_with(table, "m", 1, 1, NULL, &hour, &now));
  CHECK_IS(TAVOLA_OK, tavola_decr_with(table, "m", 1, 1, &initial, NULL, NULL));
  CHECK(has_attributes(table, "m", TAVOLA_TTL_NEVER, 0));
}

static void batches(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 7), past = expires(1), bad = lives(-2, 0);
  const tavola_pair pairs[] = {{{"p", 1}, {"1", 1}}, {{"q", 1}, {"2", 1}}};
  tavola_batch *batch = NULL;
  tavola_bytes value = {NULL, 0};
  size_t first = 77, last = 77;
  CHECK_IS(TAVOLA_OK, tavola_set_many_with(table, pairs, 2, &hour));
  CHECK(has_attributes(table, "p", HOUR, 7) && has_attributes(table, "q", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_set_many_with(table, pairs, 1, &past));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set_many_with(table, pairs, 2, &bad));
  CHECK_IS(TAVOLA_OK, tavola_set_many(table, pairs + 1, 1));
  CHECK(has(table, "p", NULL) && has_attributes(table, "q", TAVOLA_TTL_NEVER, 0));
  CHECK_IS(TAVOLA_OK, tavola_batch_open(&batch));
  CHECK_IS(TAVOLA_OK, tavola_batch_set_with(batch, "b", 1, "1", 1, &hour, &first));
  CHECK_IS(TAVOLA_OK, tavola_batch_set_with(batch, "d", 1, "2", 1, &past, NULL));
  CHECK_IS(TAVOLA_OK, tavola_batch_set(batch, "f", 1, "3", 1, NULL));
  CHECK_IS(TAVOLA_OK, tavola_batch_set_with(batch, "g", 1, "4", 1, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_batch_set_with(batch, "h", 1, "5", 1, &bad, &last));
  CHECK_IS(TAVOLA_OK, tavola_batch_get(batch, "d", 1, &last));
  CHECK(first == 0 && last == 4);
  CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
  CHECK_IS(TAVOLA_OK, tavola_batch_result(batch, first, &value));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_batch_result(batch, last, &value));
  CHECK(has_attributes(table, "b", HOUR, 7) && has(table, "d", NULL));
  CHECK(has_attributes(table, "f", TAVOLA_TTL_NEVER, 0));
  CHECK(has_attributes(table, "g", TAVOLA_TTL_NEVER, 0));
  tavola_batch_close(batch);
}

static void walks(tavola_table *table) {
  const tavola_attributes hour = lives(HOUR, 7), past = expires(1);
  tavola_attributes found = TAVOLA_INIT(tavola_attributes);
  tavola_bytes key, value;
  tavola_iter *iter = NULL;
  tavola_status status;
  int met = 0;
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "timed", 5, "1", 1, &hour));
  CHECK_IS(TAVOLA_OK, set(table, "plain", "2"));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "gone", 4, "3", 1, &past));
  CHECK_IS(TAVOLA_OK, tavola_iter_open(table, &iter));
  while ((status = tavola_iter_next_with_attributes(iter, &key, &value, &found)) == TAVOLA_OK) {
    const bool is_timed = memcmp(key.data, "timed", 5) == 0;
    CHECK(key.len == 5 && value.len == 1 && found.flags == (is_timed ? 7 : 0));
    CHECK(is_timed ? is_left(found.ttl_ms, HOUR) : found.ttl_ms == TAVOLA_TTL_NEVER);
    met++;
  }
  CHECK_IS(TAVOLA_END, status);
  CHECK(met == 2);
  tavola_iter_close(iter);
  CHECK_IS(TAVOLA_OK, tavola_iter_open(table, &iter));
  CHECK_IS(TAVOLA_OK, tavola_iter_next_with_attributes(iter, &key, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_iter_next_with_attributes(iter, NULL, &value, &found));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_iter_next_with_attributes(NULL, &key, &value, &found));
  tavola_iter_close(iter);
}

static void bad_arguments(tavola_table *table) {
  tavola_attributes both = lives(HOUR, 0), never = lives(TAVOLA_TTL_NEVER, 0), unsized = never;
  tavola_attributes reserved = never;
  const tavola_attributes negative = lives(-2, 0), least = lives(INT64_MIN, 0);
  const tavola_attributes hour = lives(HOUR, 7);
  const tavola_attributes *const bad[] = {&both, &never, &unsized, &reserved, &negative, &least};
  tavola_attributes found = {0};
  tavola_buffer none = TAVOLA_BUFFER(NULL, 0);
  uint64_t initial = 1;
  both.expires_unix_ms = never.expires_unix_ms = 1;
  unsized.size = 0;
  reserved.reserved = 1;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "k", 1, "1", 1, &hour));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set_with(table, "k", 1, "2", 1, bad[i]));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_add_with(table, "x", 1, "2", 1, bad[i]));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_replace_with(table, "k", 1, "2", 1, bad[i]));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_compare_and_swap_with(table, "k", 1, 1, "2", 1, bad[i]));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_incr_with(table, "x", 1, 1, &initial, bad[i], NULL));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_decr_with(table, "x", 1, 1, &initial, bad[i], NULL));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_touch(table, "k", 1, bad[i]));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_get_and_touch(table, "k", 1, bad[i], NULL, NULL, NULL));
  }
  CHECK(has(table, "k", "1") && has_attributes(table, "k", HOUR, 7) && has(table, "x", NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_get_entry(table, "k", 1, NULL, &found, NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_get_and_touch(table, "k", 1, NULL, NULL, &found, NULL));
  CHECK(has_attributes(table, "k", HOUR, 7));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_with(NULL, "k", 1, "2", 1, &hour));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_add_with(table, NULL, 1, "2", 1, &hour));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_replace_with(table, "k", 1, NULL, 1, &hour));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_compare_and_swap_with(NULL, "k", 1, 1, "2", 1, &hour));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_incr_with(NULL, "k", 1, 1, NULL, &hour, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_decr_with(table, NULL, 1, 1, NULL, &hour, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_many_with(table, NULL, 1, &hour));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_batch_set_with(NULL, "k", 1, "2", 1, &hour, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_entry(NULL, "k", 1, &none, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_and_touch(table, NULL, 1, NULL, NULL, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_ttl(table, "k", 1, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_touch(NULL, "k", 1, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_persist(table, NULL, 1));
}

// A struct as an older program has it: what it lacks is 0, and is not written.
static void an_older_struct(tavola_table *table) {
  tavola_attributes hour = lives(HOUR, 7), found = lives(77, 77);
  hour.size = found.size = offsetof(tavola_attributes, expires_unix_ms);
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "k", 1, "1", 1, &hour));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "k", 1, NULL, &found, NULL));
  CHECK(is_left(found.ttl_ms, HOUR) && found.flags == 77);
  CHECK(has_attributes(table, "k", HOUR, 0));
}

static void a_table_with_a_ttl(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  const tavola_attributes flags = lives(TAVOLA_TTL_DEFAULT, 7), never = lives(TAVOLA_TTL_NEVER, 0);
  const tavola_attributes two = lives(2 * HOUR, 0);
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  tavola_table *table = NULL;
  options.max_size = 16 << 20;
  options.ttl_ms = HOUR;
  CHECK_IS(TAVOLA_OK, tavola_create("timed", &options, &table));
  CHECK_IS(TAVOLA_OK, set(table, "a", "1"));
  CHECK(has_attributes(table, "a", HOUR, 0));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "a", 1, "2", 1, &flags));
  CHECK(has_attributes(table, "a", HOUR, 7));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "a", 1, "3", 1, &never));
  CHECK(has_attributes(table, "a", TAVOLA_TTL_NEVER, 0));
  CHECK_IS(TAVOLA_OK, tavola_touch(table, "a", 1, &two));
  CHECK_IS(TAVOLA_OK, tavola_touch(table, "a", 1, NULL));
  CHECK(has_attributes(table, "a", HOUR, 0));
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.ttl_ms == HOUR && stats.expired == 0);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("timed"));
}

static void a_short_life(tavola_table *table) {
  const tavola_attributes soon = lives(20, 0);
  const struct timespec pause = {0, 45 * 1000 * 1000};
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "s", 1, "1", 1, &soon));
  CHECK(nanosleep(&pause, NULL) == 0 && has(table, "s", NULL));
}

static void counted(tavola_table *table) {
  const tavola_attributes past = expires(1);
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  uint64_t before = 0;
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  before = stats.expired;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "z", 1, "1", 1, &past));
  CHECK_IS(TAVOLA_OK, set(table, "z", "2"));
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.ttl_ms == 0 && stats.expired > before);
}

// What has expired counts as a key until it is removed.
static void swept(void) {
  const tavola_attributes past = expires(1), hour = lives(HOUR, 0);
  tavola_table *table = a_table("swept"), *reader = NULL;
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  uint64_t keys = 0;
  for (int i = 0; i < 10; i++) {
    CHECK_IS(TAVOLA_OK, tavola_set_with(table, &i, sizeof i, "1", 1, &past));
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, &i, sizeof i));
  }
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "timed", 5, "2", 1, &hour));
  CHECK_IS(TAVOLA_OK, set(table, "plain", "3"));
  CHECK_IS(TAVOLA_OK, tavola_len(table, &keys));
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(keys == 12 && stats.keys == 12 && stats.expired == 0);
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("swept", NULL, &reader));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_remove_expired(reader));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_remove_expired(NULL));
  // A second time there is nothing left to count.
  for (int round = 0; round < 2; round++) {
    CHECK_IS(TAVOLA_OK, tavola_remove_expired(table));
    CHECK_IS(TAVOLA_OK, tavola_len(table, &keys));
    CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
    CHECK(keys == 2 && stats.keys == 2 && stats.expired == 10);
  }
  CHECK(has(table, "timed", "2") && has(table, "plain", "3"));
  check_clean(table);
  tavola_close(reader);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("swept"));
}

// Its items have no room.
static void fixed_lengths(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  const tavola_attributes hour = lives(HOUR, 0), flags = lives(0, 7), never = lives(-1, 0);
  tavola_table *table = NULL;
  options.max_size = 16 << 20;
  options.fixed_key = options.fixed_value = 1;
  options.ttl_ms = HOUR;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_create("fixed", &options, &table));
  options.ttl_ms = 0;
  CHECK_IS(TAVOLA_OK, tavola_create("fixed", &options, &table));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "k", 1, "1", 1, NULL));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "k", 1, "2", 1, &never));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_set_with(table, "k", 1, "3", 1, &hour));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_add_with(table, "l", 1, "3", 1, &flags));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_touch(table, "k", 1, &hour));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_persist(table, "k", 1));
  CHECK(has(table, "k", "2") && has(table, "l", NULL));
  CHECK(has_attributes(table, "k", TAVOLA_TTL_NEVER, 0));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("fixed"));
}

int main(void) {
  // First, for the 64th write of a thread searches for what has expired by itself.
  swept();
  tavola_table *table = a_table("expiry");
  sets(table);
  expired(table);
  entries(table);
  changes(table);
  batches(table);
  walks(table);
  bad_arguments(table);
  an_older_struct(table);
  a_short_life(table);
  counted(table);
  check_clean(table);
  a_table_with_a_ttl();
  fixed_lengths();
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("expiry"));
  return 0;
}

// Caches: a table with a capacity evicts keys, and its capacity can be changed.

#include "check.h"

enum { MIB = 1 << 20, VALUE = 1000 };

static tavola_table *a_cache(const char *name, uint64_t capacity) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  options.max_size = 16 * MIB;
  options.capacity = capacity;
  CHECK_IS(TAVOLA_OK, tavola_create(name, &options, &table));
  return table;
}

static tavola_stats stats_of(tavola_table *table) {
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  return stats;
}

static uint64_t capacity_of(tavola_table *table) {
  uint64_t bytes = 77;
  CHECK_IS(TAVOLA_OK, tavola_capacity(table, &bytes));
  CHECK(bytes == stats_of(table).capacity);
  return bytes;
}

// Writes keys with values of 1000 bytes.
static void fill(tavola_table *table, int from, int count) {
  static const char value[VALUE] = "a value";
  for (int i = from; i < from + count; i++) {
    CHECK_IS(TAVOLA_OK, tavola_set(table, &i, sizeof i, value, sizeof value));
  }
}

static void evicts(tavola_table *cache) {
  fill(cache, 0, 6000);
  const tavola_stats stats = stats_of(cache);
  CHECK(stats.resident_bytes <= 2 * MIB && stats.keys > 0);
  CHECK(stats.keys + stats.evicted_new + stats.evicted_old == 6000 && stats.evicted_new > 0);
  CHECK(stats.probationary_bytes <= stats.payload_bytes);
  check_clean(cache);
}

// What is read stays, though there is never room for it and what is written meanwhile.
static void keeps_what_is_read(tavola_table *cache) {
  CHECK_IS(TAVOLA_OK, set(cache, "read", "often"));
  for (int i = 0; i < 6000; i += 10) {
    fill(cache, 10000 + i, 10);
    CHECK(has(cache, "read", "often"));
  }
}

static void knows_who_comes_back(tavola_table *cache) {
  const uint64_t before = stats_of(cache).ghost_hits;
  int back = 0;
  for (int i = 20000; i < 24000; i++) {
    fill(cache, i, 1);
    const int gone = i - 1800;
    if (gone >= 20000 && tavola_contains(cache, &gone, sizeof gone) == TAVOLA_NOT_FOUND) {
      fill(cache, gone, 1);
      back++;
    }
  }
  CHECK(back > 0 && stats_of(cache).ghost_hits > before);
}

static void changes(tavola_table *cache) {
  tavola_maintained did = TAVOLA_INIT(tavola_maintained);
  CHECK(capacity_of(cache) == 2 * MIB);
  CHECK_IS(TAVOLA_OK, tavola_set_capacity(cache, 4 * MIB + 1));
  CHECK(capacity_of(cache) == 4 * MIB);
  fill(cache, 30000, 6000);
  const uint64_t keys = stats_of(cache).keys;
  CHECK(stats_of(cache).resident_bytes > 2 * MIB && stats_of(cache).resident_bytes <= 4 * MIB);
  CHECK_IS(TAVOLA_OK, tavola_set_capacity(cache, MIB));
  CHECK_IS(TAVOLA_OK, tavola_maintain(cache, 0, &did));
  CHECK(capacity_of(cache) == MIB && stats_of(cache).keys < keys / 2);
  check_clean(cache);
}

static void refuses(tavola_table *cache) {
  uint64_t bytes = 77;
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *reader = NULL, *table = a_table("table"), *none = NULL;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_set_capacity(cache, 1000));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_set_capacity(cache, 17 * MIB));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_set_capacity(table, 4 * MIB));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_set_max_size(cache, MIB));
  CHECK_IS(TAVOLA_OK, tavola_set_max_size(cache, 32 * MIB));
  CHECK(stats_of(cache).max_size == 32 * MIB);
  CHECK(capacity_of(cache) == MIB && capacity_of(table) == 0);
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("cache", NULL, &reader));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_set_capacity(reader, 2 * MIB));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_set_max_size(reader, 64 * MIB));
  CHECK(capacity_of(reader) == MIB);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_capacity(NULL, &bytes));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_capacity(cache, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_capacity(NULL, MIB));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_max_size(NULL, MIB));
  options.max_size = 16 * MIB;
  options.capacity = 1000;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_create("small", &options, &none));
  CHECK(bytes == 77 && none == NULL);
  tavola_close(reader);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("table"));
}

// A struct as an older program has it: no cache, and its room is not exceeded.
static void an_older_struct(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  tavola_table *table = NULL;
  options.max_size = 16 * MIB;
  options.capacity = 2 * MIB;
  options.size = offsetof(tavola_options, capacity);
  CHECK_IS(TAVOLA_OK, tavola_create("older", &options, &table));
  stats.size = offsetof(tavola_stats, capacity);
  stats.capacity = 77;
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.capacity == 77 && stats.max_size == 16 * MIB && capacity_of(table) == 0);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("older"));
}

int main(void) {
  tavola_table *cache = a_cache("cache", 2 * MIB);
  evicts(cache);
  keeps_what_is_read(cache);
  knows_who_comes_back(cache);
  changes(cache);
  refuses(cache);
  an_older_struct();
  tavola_close(cache);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("cache"));
  return 0;
}

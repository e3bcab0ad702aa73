// What is told of a cache while it is used: rates of the last seconds, how long calls take, what
// each shard and each process does.

#include "check.h"
#include <math.h>
#include <unistd.h>

enum { MIB = 1 << 20, SHARDS = 4, KEYS = 30, READS = 40, ONE_IS_TIMED_OF = 1024 };

static tavola_table *a_cache(const char *name) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  options.max_size = 16 * MIB;
  options.capacity = 4 * MIB;
  options.shards = SHARDS;
  CHECK_IS(TAVOLA_OK, tavola_create(name, &options, &table));
  return table;
}

struct recents {
  tavola_recent of[3];
  int count;
};

static void add_recent(void *user, const tavola_recent *recent) {
  struct recents *all = user;
  CHECK(recent->size == sizeof *recent && all->count < 3);
  all->of[all->count++] = *recent;
}

static struct recents recents_of(tavola_table *table) {
  struct recents all = {.count = 0};
  CHECK_IS(TAVOLA_OK, tavola_get_recent(table, add_recent, &all));
  CHECK(all.count == 3 && all.of[0].wanted_ms == 1000);
  CHECK(all.of[1].wanted_ms == 10000 && all.of[2].wanted_ms == 60000);
  return all;
}

static void add_participant(void *user, const tavola_participant *participant) {
  uint64_t *sums = user;
  CHECK(participant->size == sizeof *participant);
  sums[0] += participant->hits;
  sums[1] += participant->misses;
  sums[2] += participant->writes;
  sums[3] += participant->sets;
  sums[4] += participant->removes;
}

// Fewer of each than are followed by a look at the clock: so the first sample stays the only one.
static void tells_what_was_done(tavola_table *cache) {
  struct recents recents = recents_of(cache);
  uint64_t sums[5] = {0, 0, 0, 0, 0};
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  for (int i = 0; i < 3; i++) {
    CHECK(recents.of[i].hits + recents.of[i].misses + recents.of[i].writes == 0);
  }
  for (int i = 0; i < KEYS; i++) {
    CHECK_IS(TAVOLA_OK, tavola_set(cache, &i, sizeof i, "value", 5));
  }
  for (int i = 0; i < READS; i++) {
    CHECK_IS(i < KEYS ? TAVOLA_OK : TAVOLA_NOT_FOUND, tavola_get(cache, &i, sizeof i, &value));
  }
  usleep(700 * 1000);
  tavola_table *reader = NULL;
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("cache", NULL, &reader));
  for (int i = 0; i < 2; i++) {
    recents = recents_of(i ? cache : reader);
    const tavola_recent last = recents.of[0];
    CHECK(last.hits == KEYS && last.misses == READS - KEYS && last.writes == KEYS);
    CHECK(last.spanned_ms >= 690 && last.evicted == 0 && last.expired == 0);
  }
  tavola_close(reader);
  CHECK_IS(TAVOLA_OK, tavola_participants(cache, add_participant, sums));
  CHECK(sums[0] == KEYS && sums[1] == READS - KEYS && sums[2] == KEYS);
  CHECK(sums[3] == KEYS && sums[4] == 0);
}

static tavola_stats stats_of(tavola_table *table) {
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  return stats;
}

// Each call that removes, in vain or not, is one remove and no set.
static void tells_sets_from_removes(tavola_table *cache) {
  const tavola_stats before = stats_of(cache);
  uint64_t sums[5] = {0, 0, 0, 0, 0};
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  CHECK_IS(TAVOLA_OK, set(cache, "key", "value"));
  CHECK_IS(TAVOLA_OK, tavola_remove(cache, "key", 3));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove(cache, "key", 3));
  CHECK_IS(TAVOLA_OK, set(cache, "key", "value"));
  CHECK_IS(TAVOLA_OK, tavola_take(cache, "key", 3, &value));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_invalidate_tag(cache, "none", 4));
  CHECK_IS(TAVOLA_OK, tavola_clear(cache));
  const tavola_stats stats = stats_of(cache);
  CHECK(stats.sets == before.sets + 2 && stats.removes == before.removes + 5);
  CHECK(stats.writes == stats.sets + stats.removes);
  CHECK_IS(TAVOLA_OK, tavola_participants(cache, add_participant, sums));
  CHECK(sums[3] == stats.sets && sums[4] == stats.removes);
}

struct shards {
  uint64_t count, keys, payload_bytes, writes, evicted, recoveries;
};

static void add_shard(void *user, const tavola_shard *shard) {
  struct shards *all = user;
  CHECK(shard->size == sizeof *shard && shard->number == all->count);
  all->count++;
  all->keys += shard->keys;
  all->payload_bytes += shard->payload_bytes;
  all->writes += shard->writes;
  all->evicted += shard->evicted;
  all->recoveries += shard->recoveries;
}

static struct shards shards_of(tavola_table *table) {
  struct shards all = {0, 0, 0, 0, 0, 0};
  CHECK_IS(TAVOLA_OK, tavola_shard_stats(table, add_shard, &all));
  const tavola_stats stats = stats_of(table);
  CHECK(all.count == stats.shards && all.keys == stats.keys);
  CHECK(all.payload_bytes == stats.payload_bytes && all.recoveries == stats.recoveries);
  CHECK(all.evicted == stats.evicted_new + stats.evicted_old);
  return all;
}

static void tells_of_shards(tavola_table *cache) {
  static const char value[1000] = "a value";
  struct shards all = shards_of(cache);
  CHECK(all.count == SHARDS && all.keys == KEYS && all.writes == KEYS && all.evicted == 0);
  for (int i = 0; i < 6000; i++) {
    CHECK_IS(TAVOLA_OK, tavola_set(cache, &i, sizeof i, value, sizeof value));
  }
  all = shards_of(cache);
  CHECK(all.writes == KEYS + 6000 && all.evicted > 0);
}

struct times {
  uint64_t count, from_ns, reads, writes;
};

static void add_latency(void *user, const tavola_latency *latency) {
  struct times *all = user;
  CHECK(latency->size == sizeof *latency && latency->from_ns == all->from_ns);
  CHECK(latency->below_ns > latency->from_ns);
  all->count++;
  all->from_ns = latency->below_ns;
  all->reads += latency->reads;
  all->writes += latency->writes;
}

static struct times times_of(tavola_table *table) {
  struct times all = {0, 0, 0, 0};
  CHECK_IS(TAVOLA_OK, tavola_latencies(table, add_latency, &all));
  CHECK(all.count > 1 && all.from_ns == UINT64_MAX);
  return all;
}

static void tells_how_long_calls_take(tavola_table *cache) {
  uint64_t read_ns = 7, half_ns = 7, most_ns = 7;
  CHECK(times_of(cache).reads == 0 && times_of(cache).writes >= 6000 / ONE_IS_TIMED_OF - 1);
  CHECK_IS(TAVOLA_OK, tavola_latency_quantile(cache, 0.5, &read_ns, &half_ns));
  CHECK_IS(TAVOLA_OK, tavola_latency_quantile(cache, 1, NULL, &most_ns));
  CHECK(read_ns == 0 && half_ns > 0 && half_ns <= most_ns);
  for (int i = 0; i <= 2 * ONE_IS_TIMED_OF; i++) {
    CHECK(has(cache, "none", NULL));
  }
  CHECK(times_of(cache).reads > 0);
  CHECK_IS(TAVOLA_OK, tavola_latency_quantile(cache, 0.5, &read_ns, NULL));
  CHECK(read_ns > 0);
}

static void refuses_parts(tavola_table *cache) {
  const double parts[] = {-0.1, 1.1, INFINITY, NAN};
  uint64_t read_ns = 7, write_ns = 7;
  for (int i = 0; i < 4; i++) {
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_latency_quantile(cache, parts[i], &read_ns, &write_ns));
  }
  CHECK_IS(TAVOLA_ERR_NULL, tavola_latency_quantile(NULL, 0.5, &read_ns, &write_ns));
  CHECK(read_ns == 7 && write_ns == 7);
}

// Of a table that is no cache only its shards are told.
static void of_a_table(void) {
  tavola_table *table = a_table("table");
  const tavola_bytes name = {"tag", 3};
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  uint64_t ns = 7, sums[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i <= 2 * ONE_IS_TIMED_OF; i++) {
    CHECK_IS(TAVOLA_OK, set(table, "key", "value"));
    CHECK(has(table, "key", "value"));
  }
  const struct recents recents = recents_of(table);
  for (int i = 0; i < 3; i++) {
    CHECK(recents.of[i].spanned_ms == 0 && recents.of[i].hits + recents.of[i].writes == 0);
  }
  CHECK(times_of(table).reads + times_of(table).writes == 0);
  CHECK_IS(TAVOLA_OK, tavola_latency_quantile(table, 0.5, &ns, NULL));
  CHECK_IS(TAVOLA_OK, tavola_participants(table, add_participant, sums));
  CHECK(ns == 0 && sums[0] + sums[1] + sums[2] + sums[3] + sums[4] == 0);
  CHECK(shards_of(table).writes == 2 * ONE_IS_TIMED_OF + 1 && shards_of(table).keys == 1);
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, &name, 1, &tags));
  // A tag is no key, and making one no write.
  CHECK(shards_of(table).keys == 1 && shards_of(table).writes == 2 * ONE_IS_TIMED_OF + 1);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("table"));
}

int main(void) {
  tavola_table *cache = a_cache("cache");
  tells_what_was_done(cache);
  tells_of_shards(cache);
  tells_how_long_calls_take(cache);
  refuses_parts(cache);
  tells_sets_from_removes(cache);
  of_a_table();
  tavola_close(cache);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("cache"));
  return 0;
}

// What is told of a cache while it is used: rates of the last seconds, how long calls take, what
// each shard and each process does.

#include "check.hpp"

#include <thread>

using namespace std::chrono_literals;

// Fewer of each than are followed by a look at the clock: so the first sample stays the only one.
static void tells_what_was_done(tavola::table& cache) {
  CHECK(!cache.recent().at(0).hit_ratio());
  for (int i = 0; i < 30; i++) cache.set(std::to_string(i), "value");
  for (int i = 0; i < 40; i++) CHECK(cache.get(std::to_string(i)).has_value() == (i < 30));
  std::this_thread::sleep_for(700ms);
  const auto recent = cache.recent();
  CHECK(recent.size() == 3 && recent[1].wanted == 10s && recent[2].wanted == 60s);
  const auto& last = recent[0];
  CHECK(last.wanted == 1s && last.spanned >= 690ms && last.hit_ratio() == 0.75);
  CHECK(last.hits == 30 && last.misses == 10 && last.writes == 30);
  CHECK(last.evicted == 0 && last.expired == 0);
  const auto all = cache.participants();
  CHECK(all.size() == 1 && all[0].hits == 30 && all[0].misses == 10 && all[0].writes == 30);
  CHECK(all[0].sets == 30 && all[0].removes == 0);
}

static void tells_of_shards(tavola::table& cache) {
  const auto shards = cache.shard_stats();
  CHECK(shards.size() == 2 && shards[0].number == 0 && shards[1].number == 1);
  CHECK(shards[0].keys + shards[1].keys == cache.len());
  CHECK(shards[0].writes + shards[1].writes == 30);
  CHECK(shards[0].payload_bytes + shards[1].payload_bytes == cache.stats().payload_bytes);
}

static void tells_how_long_calls_take(tavola::table& cache) {
  CHECK(cache.latency_quantile(0.5).write == 0ns);
  for (int i = 0; i < 2100; i++) cache.set("key", "value");
  std::uint64_t reads = 0, writes = 0;
  for (const auto& latency : cache.latencies()) {
    CHECK(latency.from < latency.below);
    reads += latency.reads;
    writes += latency.writes;
  }
  CHECK(reads == 0 && writes > 0);
  const auto half = cache.latency_quantile(0.5), most = cache.latency_quantile(1);
  CHECK(half.read == 0ns && half.write > 0ns && half.write <= most.write);
  CHECK(thrown_by([&] { cache.latency_quantile(1.1); }) == TAVOLA_ERR_ARGUMENT);
}

static void tells_sets_from_removes(tavola::table& cache) {
  const auto before = cache.stats();
  cache.set("key", "value");
  CHECK(cache.remove("key") && !cache.remove("key"));
  const auto stats = cache.stats();
  CHECK(stats.sets == before.sets + 1 && stats.removes == before.removes + 2);
  CHECK(stats.writes == stats.sets + stats.removes);
  const auto mine = cache.participants().at(0);
  CHECK(mine.sets == stats.sets && mine.removes == stats.removes);
}

int main() {
  tavola::options options;
  options.max_size = 16 << 20;
  options.capacity = 4 << 20;
  options.shards = 2;
  auto cache = tavola::table::create("cache", options);
  tells_what_was_done(cache);
  tells_of_shards(cache);
  tells_how_long_calls_take(cache);
  tells_sets_from_removes(cache);
  tavola::names::remove("cache");
}

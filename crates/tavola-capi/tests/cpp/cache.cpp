// Caches: a table with a capacity evicts keys, and its capacity can be changed.

#include "check.hpp"

constexpr std::uint64_t mib = 1 << 20;

static void fill(tavola::table& table, int from, int count) {
  for (int i = from; i < from + count; i++) table.set(std::to_string(i), std::string(1000, 'x'));
}

static void evicts(tavola::table& cache) {
  fill(cache, 0, 6000);
  const auto stats = cache.stats();
  CHECK(stats.capacity == 2 * mib && stats.resident_bytes <= 2 * mib && stats.keys > 0);
  CHECK(stats.keys + stats.evicted_new + stats.evicted_old == 6000 && stats.evicted_new > 0);
  // No key came back; one in some ten million has the tag of a ghost where it comes.
  CHECK(stats.probationary_bytes <= stats.payload_bytes && stats.ghost_hits < 10);
  cache.set("read", "often");
  for (int i = 0; i < 6000; i += 10) {
    fill(cache, 10000 + i, 10);
    CHECK(cache.get("read") == "often");
  }
  CHECK(cache.check().is_clean());
}

static void changes(tavola::table& cache) {
  CHECK(cache.capacity() == 2 * mib);
  cache.set_capacity(4 * mib);
  fill(cache, 20000, 6000);
  const auto grown = cache.stats();
  CHECK(cache.live_keys().live == grown.keys && cache.lock_holders().empty());
  cache.set_lock_timeout(std::chrono::milliseconds(100));
  cache.set_lock_timeout({});
  CHECK(cache.capacity() == 4 * mib && grown.resident_bytes > 2 * mib);
  cache.set_capacity(mib);
  cache.set_max_size(32 * mib);
  cache.maintain(0);
  CHECK(cache.capacity() == mib && cache.stats().keys < grown.keys / 2);
  CHECK(cache.check().is_clean());
}

static void refuses(tavola::table& cache) {
  auto table = a_table("table");
  CHECK(!table.capacity() && table.stats().capacity == 0);
  CHECK(thrown_by([&] { table.set_capacity(4 * mib); }) == TAVOLA_ERR_BAD_OPTION);
  CHECK(thrown_by([&] { cache.set_capacity(1000); }) == TAVOLA_ERR_BAD_OPTION);
  auto reader = tavola::table::open_read_only("cache");
  CHECK(thrown_by([&] { reader.set_capacity(2 * mib); }) == TAVOLA_ERR_READ_ONLY);
  CHECK(reader.capacity() == mib && cache.capacity() == mib);
  CHECK(!tavola::names::warning("table"));
  table.set("copied", "whole");
  CHECK(table.copy_to("copy") == 1);
  auto report = tavola::table::open_existing("copy").check();
  CHECK(report.is_clean() && !report.copied_in_use && report.keys == 1);
  tavola::names::rename("copy", "renamed");
  tavola::names::remove("renamed");
  tavola::names::remove("table");
}

int main() {
  tavola::options options;
  options.max_size = 16 * mib;
  options.capacity = 2 * mib;
  auto cache = tavola::table::create("cache", options);
  evicts(cache);
  changes(cache);
  refuses(cache);
  tavola::names::remove("cache");
}

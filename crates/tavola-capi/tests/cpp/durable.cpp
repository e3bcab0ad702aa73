// Durable tables: options, syncs, snapshots.

#include <stdlib.h>
#include <unistd.h>

#include "check.hpp"

int main() {
  char parent[] = "/tmp/tavola-cpp-XXXXXX";
  CHECK(mkdtemp(parent) != nullptr);
  const std::string home = std::string(parent) + "/users";
  tavola::options options;
  options.max_size = 16 << 20;
  options.durable = TAVOLA_DURABLE_WITHIN;
  options.sync = std::chrono::milliseconds(5);
  {
    auto users = tavola::table::open(home, options);
    CHECK(users.is_durable() && users.path() == home);
    CHECK(users.durability() == TAVOLA_DURABLE_WITHIN);
    CHECK(users.sync_time() == std::chrono::milliseconds(5));
    users.set("alice", "1");
    users.sync();
    CHECK(users.snapshot());
    CHECK(users.durable_stats()->snapshot_bytes > 0 && users.durable_stats()->sync_ms == 5);
  }
  CHECK(tavola::table::open_existing(home).get("alice") == "1");
  tavola::names::remove(home);
  {
    options.durable = TAVOLA_DURABLE_COMMIT;
    options.sync = {};
    auto users = tavola::table::open(home, options);
    const auto tags = users.fetch_tags({"tag"});
    const auto before = users.durable_stats()->syncs;
    users.set_many_tagged({{"a", "1", {}}, {"b", "2", {}}}, tags);
    CHECK(users.durable_stats()->syncs == before + 1);
    CHECK(users.get("a") == "1" && users.tags_of("b")->size() == 1);
    CHECK(users.remove_many({"a", "b", "none"}) == 2 && !users.get("a"));
    CHECK(users.durable_stats()->syncs == before + 2);
  }
  tavola::names::remove(home);
  CHECK(rmdir(parent) == 0);
  tavola::options small;
  small.max_size = 1 << 20;
  auto in_memory = tavola::table::open_private(small);
  CHECK(!in_memory.is_durable() && in_memory.durability() == TAVOLA_DURABLE_NONE);
  CHECK(!in_memory.durable_stats() && in_memory.remove_many({"none"}) == 0);
  CHECK(in_memory.sync_time() == std::chrono::milliseconds(0));
  return 0;
}

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
    users.set("alice", "1");
    users.sync();
    CHECK(users.snapshot());
  }
  CHECK(tavola::table::open_existing(home).get("alice") == "1");
  tavola::names::remove(home);
  CHECK(rmdir(parent) == 0);
  tavola::options small;
  small.max_size = 1 << 20;
  auto in_memory = tavola::table::open_private(small);
  CHECK(!in_memory.is_durable());
  return 0;
}

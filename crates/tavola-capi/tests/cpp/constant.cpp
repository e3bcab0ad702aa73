// Constant files: written, read, walked, checked, followed.

#include <stdlib.h>
#include <unistd.h>

#include "check.hpp"

int main() {
  char parent[] = "/tmp/tavola-cpp-XXXXXX";
  CHECK(mkdtemp(parent) != nullptr);
  const std::string file = std::string(parent) + "/people.cdb";
  const std::string other = std::string(parent) + "/other.cdb";
  {
    tavola::cdb_writer writer(file);
    CHECK(!writer.put("alice", "3") && writer.put("alice", "4", TAVOLA_CDB_WARN));
    CHECK(writer.put("alice", "5", TAVOLA_CDB_INSERT) && writer.contains("alice"));
    CHECK(!writer.put("bob", std::string("b\0b", 3), TAVOLA_CDB_REPLACE));
    writer.finish();
    CHECK(writer.len() == 3);
    CHECK(thrown_by([&] { writer.put("carol", "1"); }) == TAVOLA_ERR_ARGUMENT);
  }
  auto people = tavola::cdb::open(file);
  CHECK(people.get("alice") == "3" && people.get("bob") == std::string("b\0b", 3));
  CHECK(!people.get("carol") && people.contains("bob") && !people.contains("carol"));
  CHECK((people.get_all("alice") == std::vector<std::string>{"3", "4"}));
  CHECK(people.get_all("carol").empty());
  CHECK(people.position("alice")->second == 1 && !people.position("carol"));
  std::string seen;
  people.for_each([&](std::string_view key, std::string_view value) {
    seen += std::string(key) + ":" + std::to_string(value.size()) + " ";
  });
  CHECK(seen == "alice:1 alice:1 bob:3 ");
  CHECK(people.check() == 3 && people.len() == 3 && people.format() == TAVOLA_CDB_FORMAT_32);
  CHECK(people.path() == file && people.size_bytes() > 2048);

  auto followed = tavola::cdb::open_followed(file, std::chrono::milliseconds(0));
  tavola::cdb_options options;
  options.format = TAVOLA_CDB_FORMAT_FROZEN;
  {
    tavola::cdb_writer writer(other, options);
    writer.put("alice", "6");
    writer.finish();
    CHECK(rename(other.c_str(), file.c_str()) == 0);
  }
  CHECK(followed.get("alice") == "6" && people.get("alice") == "3");
  CHECK(people.refresh() && !people.refresh() && people.get("alice") == "6");
  CHECK(thrown_by([&] { tavola::cdb::open("/no/such/file"); }) == TAVOLA_ERR_NO_TABLE);
  CHECK(unlink(file.c_str()) == 0 && rmdir(parent) == 0);
  return 0;
}

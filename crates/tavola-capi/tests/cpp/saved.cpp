// Saved files: a cache that starts warm.

#include <stdlib.h>
#include <unistd.h>

#include "check.hpp"

int main() {
  char parent[] = "/tmp/tavola-cpp-XXXXXX";
  CHECK(mkdtemp(parent) != nullptr);
  const std::string file = std::string(parent) + "/pages.saved";
  tavola::options options;
  options.max_size = 1 << 20;
  auto pages = tavola::table::open_private(options);
  pages.set("/", "hello");
  CHECK(pages.save(file).keys == 1);
  auto again = tavola::table::open_private(options);
  CHECK(again.restore(file).keys == 1);
  CHECK(again.get("/") == "hello");
  CHECK(unlink(file.c_str()) == 0 && rmdir(parent) == 0);
  return 0;
}

// Values lent where they stand, in C++.

#include "check.hpp"

int main() {
  auto table = a_table("views");
  CHECK(!table.get_view("large"));
  const std::string before(1 << 20, 'a');
  table.set("large", before);
  auto lent = table.get_view("large");
  CHECK(lent && lent->size() == before.size());
  table.set("large", "short");
  CHECK(lent->str() == before && lent->piece(0)->front() == 'a');
  CHECK(!lent->piece(before.size()));
  auto moved = std::move(*lent);
  CHECK(moved.str() == before && table.get_view("large")->str() == "short");
  table.set("empty", "");
  CHECK(table.get_view("empty")->size() == 0 && !table.get_view("empty")->piece(0));
  tavola::names::remove("views");
}

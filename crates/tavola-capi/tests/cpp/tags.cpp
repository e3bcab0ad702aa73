// Tags: keys that have one are gone together.

#include "check.hpp"

int main() {
  auto table = a_table("tags");
  const auto before = table.tags_of({"x"});
  table.set_tagged("a", "1", before);
  table.set_tagged("b", "2", table.tags_of({"x", "y"}));
  CHECK(table.key_tags("b") == (std::vector<std::string>{"x", "y"}) && !table.key_tags("none"));
  tavola::attributes with;
  with.flags = 7;
  table.set_tagged("c", "3", table.tags_of({"y"}), with);
  CHECK(table.invalidate_tag("x") && !table.invalidate_tag("x"));
  CHECK(!table.get("a") && !table.get("b") && table.get("c") == "3");
  CHECK(table.get_entry("c")->attributes.flags == 7);
  table.set_tagged("a", "of before", before);
  CHECK(!table.get("a"));
  table.set_tagged("a", "1", table.tags_of({"x"}));
  CHECK(table.get("a") == "1" && table.stats().tags == 2);
  const std::vector<std::string_view> many(17, "same");
  CHECK(table.tags_of(many).count == 1);
  CHECK(thrown_by([&] { table.tags_of({std::string(4097, 'x')}); }) == TAVOLA_ERR_BAD_OPTION);
  CHECK(table.check().is_clean());
  tavola::names::remove("tags");
  return 0;
}

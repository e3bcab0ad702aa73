// Tags: keys that have one are gone together.

#include "check.hpp"

int main() {
  auto table = a_table("tags");
  const auto before = table.fetch_tags({"x"});
  table.set_tagged("a", "1", {}, before);
  table.set_tagged("b", "2", {}, table.fetch_tags({"x", "y"}));
  CHECK(table.tags_of("b") == (std::vector<std::string>{"x", "y"}) && !table.tags_of("none"));
  tavola::attributes with;
  with.flags = 7;
  table.set_tagged("c", "3", with, table.fetch_tags({"y"}));
  CHECK(table.invalidate_tag("x") && !table.invalidate_tag("x"));
  CHECK(!table.get("a") && !table.get("b") && table.get("c") == "3");
  CHECK(table.get_entry("c")->attributes.flags == 7);
  table.set_tagged("a", "of before", {}, before);
  CHECK(!table.get("a"));
  table.set_tagged("a", "1", {}, table.fetch_tags({"x"}));
  CHECK(table.get("a") == "1" && table.stats().tags == 2);
  const std::vector<std::string_view> many(17, "same");
  CHECK(table.fetch_tags(many).count == 1);
  CHECK(thrown_by([&] { table.fetch_tags({std::string(4097, 'x')}); }) == TAVOLA_ERR_BAD_OPTION);
  CHECK(table.check().is_clean());
  tavola::names::remove("tags");
  return 0;
}

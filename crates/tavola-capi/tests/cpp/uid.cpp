// Uids and fixed lengths in C++.

#include "check.hpp"

#include <chrono>

using namespace std::chrono_literals;

int main() {
  auto table = a_table("uids");
  CHECK(!table.uid_of("alice"));
  auto alice = table.set_uid("alice", "1");
  CHECK(table.uid_of("alice") == alice && table.get_by_uid(alice) == "1");
  CHECK(table.set_by_uid(alice, "2") && table.get("alice") == "2");
  table.set("alice", "3", {{}, {}, 7});
  const auto found = table.get_entry_by_uid(alice);
  CHECK(found && found->value == "3" && found->attributes.flags == 7);
  CHECK(found->token == table.get_with_token("alice")->token);
  CHECK(table.set_by_uid(alice, "2") && table.get_entry_by_uid(alice)->attributes.flags == 0);
  const auto doubled = [](auto old) {
    return old->size() < 4 ? std::optional(std::string(*old) + std::string(*old)) : std::nullopt;
  };
  CHECK(table.update_by_uid(alice, doubled) && table.get("alice") == "22");
  CHECK(table.update_by_uid(alice, doubled) && !table.update_by_uid(alice, doubled));
  CHECK(!table.contains("alice") && !table.update_by_uid(alice, doubled));
  const auto again = table.set_uid("alice", "2");
  bool went_on = false;
  try {
    table.update_by_uid(again, [](auto) -> std::optional<std::string> { throw 7; });
  } catch (int) {
    went_on = true;
  }
  CHECK(went_on && table.get("alice") == "2" && table.remove("alice"));
  CHECK(!table.update_by_uid(alice, doubled) && !table.update_by_uid(again, doubled));
  alice = table.set_uid("alice", "2");
  CHECK(table.key_of_uid(static_cast<std::uint32_t>(alice)) == "alice");
  CHECK(table.remove_by_uid(alice) && !table.remove_by_uid(alice) && !table.get_by_uid(alice));
  CHECK(!table.set_by_uid(alice, "3") && !table.key_of_uid(alice) &&
        !table.get_entry_by_uid(alice));
  const auto hits = table.set_uid("hits", "40");
  CHECK(table.incr_by_uid(hits, 3) == 43u && table.decr_by_uid(hits) == 42u);
  CHECK(!table.incr_by_uid(alice) && !table.touch_by_uid(alice, {std::chrono::hours(1)}));
  CHECK(table.touch_by_uid(hits, {std::chrono::hours(1)}) && table.ttl("hits") > 59min);
  std::vector<std::string> read;
  const auto note = [&](std::size_t at, auto value) {
    read.push_back(std::to_string(at) + ":" + std::string(value.value_or("none")));
  };
  table.get_many_by_uid({hits, alice, hits}, note);
  CHECK((read == std::vector<std::string>{"0:42", "1:none", "2:42"}));
  CHECK(table.prepend_with("coda", "fa") == 2 && table.prepend_with("coda", "mi ") == 5);
  tavola::names::remove("uids");

  tavola::options options;
  options.max_size = 16 << 20;
  options.fixed_key = options.fixed_value = 8;
  auto fixed = tavola::table::create("fixed", options);
  fixed.set("12345678", "abcdefgh");
  CHECK(fixed.get("12345678") == "abcdefgh" && fixed.stats().fixed_key == 8);
  CHECK(thrown_by([&] { fixed.set("short", "abcdefgh"); }) == TAVOLA_ERR_LENGTHS);
  CHECK(thrown_by([&] { fixed.uid_of("12345678"); }) == TAVOLA_ERR_NO_UIDS);
  tavola::names::remove("fixed");
}

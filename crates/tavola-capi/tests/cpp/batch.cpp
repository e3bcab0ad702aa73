// Batches in C++.

#include "check.hpp"

using namespace std::chrono_literals;
using tavola::attributes;

static const attributes two_hours{2h};

static void entries(tavola::table& table) {
  table.set_many_entries({{"plain", "1", {}}, {"flags", "2", {{}, {}, 7}}, {"timed", "3", {1h, {}, 8}}});
  std::string all;
  table.get_many_entries(
      {"timed", "none", "flags", "plain"},
      [&](std::size_t at, std::optional<std::string_view> value, const attributes& has) {
        const bool is_timed = has.ttl && *has.ttl != tavola::for_ever;
        all += std::to_string(at) + (value ? "=" + std::string(*value) : "?") +
               std::to_string(has.flags) + (is_timed ? "t " : " ");
      });
  CHECK(all == "0=38t 1?0 2=27 3=10 ");
  int thrown = 0;
  try {
    table.get_many_entries({"plain", "flags"}, [](std::size_t at, auto...) { throw 7 + at; });
  } catch (std::size_t number) {
    thrown = static_cast<int>(number);
  }
  CHECK(thrown == 7);
}

static void operations(tavola::table& table) {
  tavola::batch batch;
  const auto added = batch.add("k", "1", {1h, {}, 7}), again = batch.add("k", "2");
  const auto first = batch.get("k"), replaced = batch.replace("k", "3");
  const auto missed = batch.replace("none", "4");
  const auto touched = batch.touch("k", two_hours), second = batch.get("k");
  const auto begun = batch.incr("n", 5, 10), up = batch.incr("n", 5, std::nullopt);
  const auto down = batch.decr("n", 2, {}), no_number = batch.decr("none", 1, {});
  const auto removed = batch.remove("k"), none = batch.get("k");
  batch.execute(table);
  CHECK(batch.done(added) && !batch.done(again) && batch.result(first) == "1");
  CHECK(batch.attributes_of(first)->flags == 7 && batch.attributes_of(first)->ttl <= 1h);
  CHECK(batch.done(replaced) && !batch.done(missed) && batch.done(touched));
  CHECK(batch.result(second) == "3" && batch.attributes_of(second)->flags == 0);
  CHECK(*batch.attributes_of(second)->ttl > 1h && *batch.attributes_of(second)->ttl <= 2h);
  CHECK(batch.number(begun) == 10u && batch.number(up) == 15u && batch.number(down) == 13u);
  CHECK(!batch.number(no_number) && batch.done(removed));
  CHECK(!batch.result(none) && !batch.attributes_of(none));
  CHECK(thrown_by([&] { batch.number(first); }) == TAVOLA_ERR_ARGUMENT);
}

int main() {
  auto table = a_table("batches");
  entries(table);
  operations(table);
  table.set_many({{"a", "1"}, {"b", "2"}, {"c", ""}});
  std::string all;
  table.get_many({"b", "x", "a", "c"}, [&](std::size_t at, std::optional<std::string_view> value) {
    all += std::to_string(at) + (value ? "=" + std::string(*value) : "?") + " ";
  });
  CHECK(all == "0=2 1? 2=1 3= ");

  const std::vector<std::string_view> ahead = {"a", "x", "n"};
  const auto keys = table.len();
  table.prefetch(ahead);
  table.prefetch({});
  tavola::table::open_read_only("batches").prefetch(ahead);
  CHECK(table.len() == keys && table.get("a") == "1" && !table.remove("x") && table.remove("a"));
  CHECK(table.incr("n") == 14);
  const tavola::table none(nullptr);
  CHECK(thrown_by([&] { none.prefetch(ahead); }) == TAVOLA_ERR_NULL);
  CHECK(thrown_by([&] { none.token_of("1"); }) == TAVOLA_ERR_NULL);

  tavola::batch batch;
  for (int round = 0; round < 2; round++) {
    const auto missing = batch.get("later" + std::to_string(round));
    batch.set("later" + std::to_string(round), "now");
    const auto there = batch.get("later" + std::to_string(round));
    batch.execute(table);
    CHECK(!batch.result(missing) && batch.result(there) == "now");
    CHECK(thrown_by([&] { batch.result(99); }) == TAVOLA_ERR_ARGUMENT);
    batch.clear();
  }
  CHECK(table.check().is_clean());
  tavola::names::remove("batches");
}

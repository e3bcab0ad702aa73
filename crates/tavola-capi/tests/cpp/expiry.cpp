// Keys that expire, and their flags, in C++.

#include "check.hpp"

#include <thread>

using namespace std::chrono_literals;
using tavola::attributes;
using std::chrono::milliseconds;
using std::chrono::system_clock;

static const attributes gone{0s};

// Whether what is left of so long is as it may be in a test that was held up.
static bool is_left(std::optional<milliseconds> left, milliseconds of) {
  return left && *left <= of && *left > of - 1min;
}

static bool has(const tavola::table& table, std::string_view key, milliseconds ttl,
                std::uint32_t flags) {
  const auto found = table.get_entry(key);
  CHECK(found && found->attributes.ttl && !found->attributes.expires);
  if (found->attributes.flags != flags) return false;
  if (ttl != tavola::for_ever) {
    return is_left(found->attributes.ttl, ttl) && is_left(table.ttl(key), ttl);
  }
  return found->attributes.ttl == ttl && table.ttl(key) == ttl;
}

static void sets(tavola::table& table) {
  table.set("a", "1", {1h, {}, 7});
  CHECK(has(table, "a", 1h, 7) && !table.add("a", "2", {2h}));
  CHECK(table.replace("a", "2", {2h}) && table.get("a") == "2" && has(table, "a", 2h, 0));
  table.set("a", "3", {{}, system_clock::now() + 1h, 8});
  CHECK(has(table, "a", 1h, 8));
  table.set("a", "4", {tavola::for_ever, {}, 9});
  CHECK(has(table, "a", tavola::for_ever, 9));
  table.set("a", "5");
  CHECK(has(table, "a", tavola::for_ever, 0));
  for (const attributes& past :
       {gone, attributes{-1s}, attributes{{}, system_clock::time_point()},
        attributes{{}, system_clock::time_point(-1h)}, attributes{{}, system_clock::now() - 1s}}) {
    table.set("a", "6", past);
    CHECK(!table.contains("a") && !table.get_entry("a") && !table.ttl("a"));
    CHECK(!table.replace("a", "7", {1h}) && table.add("a", "7", {1h}) && has(table, "a", 1h, 0));
  }
  for (const attributes& two : {attributes{1h, system_clock::now()}, attributes{0s, system_clock::now()},
                                attributes{tavola::for_ever, system_clock::now()}}) {
    CHECK(thrown_by([&] { table.set("a", "8", two); }) == TAVOLA_ERR_ARGUMENT);
  }
  table.set("b", "9", {20ms});
  std::this_thread::sleep_for(45ms);
  CHECK(table.get("a") == "7" && !table.get("b"));
}

static void entries(tavola::table& table) {
  table.set("k", "value", {1h, {}, 7});
  auto found = table.get_entry("k");
  CHECK(found && found->value == "value" && found->token == table.get_with_token("k")->token);
  CHECK(table.compare_and_swap("k", found->token, "next", found->attributes) == TAVOLA_OK);
  CHECK(table.compare_and_swap("k", found->token, "x", {2h}) == TAVOLA_CHANGED);
  CHECK(table.compare_and_swap("none", found->token, "x", {2h}) == TAVOLA_NOT_FOUND);
  CHECK(table.get("k") == "next" && has(table, "k", 1h, 7));
  CHECK(table.touch("k", {2h}) && has(table, "k", 2h, 7));
  CHECK(table.touch("k", {{}, system_clock::now() + 3h}) && has(table, "k", 3h, 7));
  CHECK(table.persist("k") && has(table, "k", tavola::for_ever, 7));
  CHECK(thrown_by([&] { table.touch("k", {1h, {}, 1}); }) == TAVOLA_ERR_ARGUMENT);
  found = table.get_and_touch("k", {1h});
  CHECK(found && found->value == "next" && found->attributes.ttl == tavola::for_ever);
  CHECK(found->attributes.flags == 7 && has(table, "k", 1h, 7));
  CHECK(table.touch("k", gone) && !table.touch("k", {1h}) && !table.persist("k"));
  CHECK(!table.get_and_touch("k", {1h}) && !table.contains("k"));
}

static void counters(tavola::table& table) {
  CHECK(table.incr("n", 5, {1h, {}, 7}) == 5 && has(table, "n", 1h, 7));
  CHECK(table.decr("n", 2, {2h}) == 3 && table.incr("n") == 4 && has(table, "n", 1h, 7));
  CHECK(table.decr("m", 2, {2h}) == 0 && has(table, "m", 2h, 0));
  CHECK(!table.incr_from("o", 1, std::nullopt, {1h}) && !table.contains("o"));
  CHECK(table.incr_from("o", 1, 10, {1h}) == 10u && table.decr_from("o", 1, 10, {2h}) == 9u);
  CHECK(has(table, "o", 1h, 0) && table.incr("p", 3, gone) == 3 && !table.contains("p"));
}

static void many(tavola::table& table) {
  table.clear();
  table.set_many({{"a", "1"}, {"b", "2"}}, {1h, {}, 7});
  table.set_many({{"c", "3"}}, gone);
  tavola::batch batch;
  batch.set("d", "4", {2h});
  batch.set("e", "5", gone);
  batch.set("f", "6");
  batch.execute(table);
  CHECK(has(table, "a", 1h, 7) && has(table, "b", 1h, 7) && has(table, "d", 2h, 0));
  std::size_t met = 0;
  for (auto [key, value, of] : table.iter_with_attributes()) {
    CHECK(table.get(key) == value && has(table, key, *of.ttl, of.flags));
    met += value == "1" || value == "2" || value == "4" || value == "6";
  }
  for (auto [key, value] : table.iter()) met += table.get(key) == value;
  CHECK(met == 8);
}

static void tables() {
  tavola::options options;
  options.max_size = 16 << 20;
  options.ttl = std::chrono::hours(1);
  auto timed = tavola::table::create("timed", options);
  timed.set("a", "1");
  timed.set("b", "2", {{}, {}, 7});
  timed.set("c", "3", {2h});
  CHECK(has(timed, "a", 1h, 0) && has(timed, "b", 1h, 7) && has(timed, "c", 2h, 0));
  CHECK(timed.touch("c", {}) && has(timed, "c", 1h, 0) && timed.stats().ttl_ms == 3600 * 1000);
  tavola::names::remove("timed");

  options.fixed_key = options.fixed_value = 1;
  CHECK(thrown_by([&] { tavola::table::create("fixed", options); }) == TAVOLA_ERR_BAD_OPTION);
  options.ttl = {};
  auto fixed = tavola::table::create("fixed", options);
  fixed.set("a", "1", {tavola::for_ever});
  CHECK(thrown_by([&] { fixed.set("a", "2", {1h}); }) == TAVOLA_ERR_BAD_OPTION);
  CHECK(thrown_by([&] { fixed.persist("a"); }) == TAVOLA_ERR_BAD_OPTION);
  CHECK(fixed.get("a") == "1" && has(fixed, "a", tavola::for_ever, 0));
  tavola::names::remove("fixed");
}

// What has expired counts as a key until it is removed.
static void swept() {
  auto table = a_table("swept");
  for (int i = 0; i < 10; i++) table.set(std::to_string(i), "1", gone);
  table.set("timed", "2", {1h});
  table.set("plain", "3");
  CHECK(!table.contains("0") && table.len() == 12);
  CHECK(table.stats().keys == 12 && table.stats().expired == 0);
  auto reader = tavola::table::open_read_only("swept");
  CHECK(thrown_by([&] { reader.remove_expired(); }) == TAVOLA_ERR_READ_ONLY);
  // A second time there is nothing left to count.
  for (int round = 0; round < 2; round++) {
    table.remove_expired();
    CHECK(table.len() == 2 && table.stats().keys == 2 && table.stats().expired == 10);
  }
  CHECK(table.get("timed") == "2" && table.get("plain") == "3" && table.check().is_clean());
  tavola::names::remove("swept");
}

int main() {
  // First, for the 64th write of a thread searches for what has expired by itself.
  swept();
  auto table = a_table("expiry");
  sets(table);
  entries(table);
  counters(table);
  many(table);
  tables();
  table.set("z", "1", gone);
  table.set("z", "2");
  CHECK(table.stats().expired > 0 && table.check().is_clean());
  tavola::names::remove("expiry");
}

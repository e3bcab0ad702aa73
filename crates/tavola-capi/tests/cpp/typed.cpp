// Tables of one type of values, ranges of keys, options that are named, in C++.

#include "check.hpp"

#include <algorithm>
#include <set>
#ifdef __cpp_lib_ranges
#include <ranges>
#endif

using namespace std::chrono_literals;

struct position {
  double x, y;
};

static void typed() {
  tavola::options options;
  options.max_size = 4 << 20;
  auto cars = tavola::typed_table<std::uint32_t, position>::open_private(options);
  CHECK(!cars.get(7) && cars.add(7, {1, 2}) && !cars.add(7, {3, 4}) && cars.contains(7));
  CHECK(cars.get(7)->y == 2 && cars.replace(7, {5, 6}) && cars.swap(7, {7, 8})->x == 5);
  CHECK(cars.update(7, [](std::optional<position> had) -> std::optional<position> {
    had->x += 1;
    return had;
  }));
  CHECK(cars.get(7)->x == 8 && cars.take(7)->y == 8 && !cars.remove(7));
  CHECK(cars.get_or_compute(9, {1min}, [] { return position{9, 9}; }).x == 9);
  cars.set(10, {10, 10}, {1min});
  std::set<std::uint32_t> met;
  for (auto [car, at] : cars.iter()) {
    CHECK(at.x == car);
    met.insert(car);
  }
  CHECK(met == (std::set<std::uint32_t>{9, 10}) && cars.len() == 2);
  const auto tags = cars.untyped().fetch_tags({"fleet"});
  cars.set(11, {0, 0}, {}, tags);
  CHECK(cars.untyped().invalidate_tag("fleet") && !cars.contains(11));
  const std::uint32_t other = 12;
  cars.untyped().set({reinterpret_cast<const char*>(&other), sizeof other}, "short");
  for (int way = 0; way < 2; way++) {
    bool is_thrown = false;
    try {
      way == 0 ? void(cars.get(12)) : void(cars.take(12));
    } catch (const std::length_error&) {
      is_thrown = true;
    }
    CHECK(is_thrown);
  }
  cars.clear();
  CHECK(cars.len() == 0);
  auto named = tavola::typed_table<std::string, int>::open_private(options);
  named.set("a", 1);
  for (auto [name, number] : named.iter()) CHECK(name == "a" && number == 1);
}

static void stores(tavola::table& table) {
  tavola::store_options how;
  how.condition = tavola::condition::absent;
  how.attributes = tavola::attributes{};
  how.attributes->flags = 3;
  const auto first = table.store("k", "one", how);
  CHECK(first && table.store("k", "two", how).status == TAVOLA_EXISTS);
  how.condition = tavola::condition::token;
  how.token = first.token;
  CHECK(table.get_entry("k")->attributes.flags == 3 && table.store("k", "two", how));
  CHECK(table.store("k", "three", how).status == TAVOLA_CHANGED);
  how = {};
  how.keep = true;
  const auto kept = table.store("k", "three", how);
  CHECK(kept && table.get_entry("k")->attributes.flags == 3);
  CHECK(table.compare_and_remove("k", first.token) == TAVOLA_CHANGED);
  CHECK(table.compare_and_remove("k", kept.token) == TAVOLA_OK && table.store("k", "v"));
  how = {};
  how.condition = tavola::condition::present;
  CHECK(table.store("none", "x", how).status == TAVOLA_NOT_FOUND && table.remove("k"));
}

static void parts(tavola::table& table) {
  CHECK(table.append_with("song", "do re") == 5 && table.append_with("song", " mi") == 8);
  CHECK(table.value_len("song") == 8u && table.get_range("song", 3, 2) == "re");
  CHECK(table.get_range("song", 9, 2) == "" && !table.get_range("none", 0, 1));
  CHECK(!table.value_len("none") && table.add_number("n", -3) == -3 && table.add_number("n") == -2);
  tavola::number_options options;
  options.remove_zero = true;
  CHECK(table.add_number("n", 2, options) == 0 && !table.contains("n"));
  const auto tags = table.fetch_tags({"t"});
  CHECK(table.add("tagged", "1", {}, tags) && !table.add_tagged("tagged", "1", {}, tags));
  table.set("tagged", "2", {1min}, tags);
  CHECK(table.ttl("tagged") <= 1min && table.invalidate_tag("t") && !table.get("tagged"));
}

static void prefixes(tavola::table& table) {
  table.clear();
  for (int i = 0; i < 10; i++) table.set((i % 2 == 0 ? "even:" : "odd:") + std::to_string(i), "x");
  std::set<std::string> keys;
  for (auto [key, value] : table.iter_prefix("odd:")) keys.emplace(key);
  CHECK(keys.size() == 5 && *keys.begin() == "odd:1");
  for (std::string_view key : table.keys()) keys.emplace(key);
  auto odd = table.keys_with_prefix("odd:");
  CHECK(keys.size() == 10 && std::distance(odd.begin(), odd.end()) == 5);
  for (auto [key, value, has] : table.iter_with_attributes("odd:9")) CHECK(has.flags == 0);
#ifdef __cpp_lib_ranges
  static_assert(std::ranges::input_range<tavola::iter>);
  static_assert(std::ranges::input_range<tavola::iter_keys>);
  auto all = table.iter();
  const auto is_odd = [](const tavola::entry& entry) { return entry.key[0] == 'o'; };
  CHECK(std::ranges::count_if(all, is_odd) == 5);
#if !defined(__clang__) || __clang_major__ >= 16
  // Before, clang does not compile the views of libstdc++.
  auto again = table.keys();
  int count = 0;
  for (auto size : again | std::views::transform([](std::string_view key) { return key.size(); })) {
    count += size == 5 || size == 6;
  }
  CHECK(count == 10);
#endif
#endif
  CHECK(table.remove_prefix("odd:") == 5 && table.remove_prefix("") == 5 && table.len() == 0);
}

static void times(tavola::table& table) {
  const auto now = std::chrono::system_clock::now();
  const auto stats = table.stats();
  CHECK(stats.ttl() == 1h && stats.created() <= now);
  for (const auto& latency : table.latencies()) CHECK(latency.from < latency.below);
#if __cplusplus >= 202002L
  auto cache = tavola::table::open_private({.max_size = 8 << 20, .capacity = 2 << 20, .ttl = 5s});
  cache.set("a", "1", {.ttl = 30min, .flags = 4});
  CHECK(cache.capacity() == 2u << 20 && cache.ttl("a") > 29min);
  CHECK(!cache.store("a", "2", {.condition = tavola::condition::absent}));
#endif
}

int main() {
  typed();
  tavola::options options;
  options.max_size = 4 << 20;
  options.ttl = 1h;
  auto table = tavola::table::open_private(options);
  stores(table);
  parts(table);
  prefixes(table);
  times(table);
  return 0;
}

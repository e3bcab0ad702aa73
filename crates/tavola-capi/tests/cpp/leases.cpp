// Leases in C++: a value that is missing or stale is computed by one, and exceptions pass through.

#include "check.hpp"

#include <thread>

using namespace std::chrono_literals;

static void computes_once(tavola::table& table) {
  int count = 0;
  for (int i = 0; i < 3; i++) {
    const auto value = table.get_or_compute("k", {1min}, [&] {
      count++;
      return std::string("a\0b", 3);
    });
    CHECK(value == std::string("a\0b", 3) && count == 1);
  }
  CHECK(table.get_or_compute("empty", {tavola::for_ever}, [] { return ""; }).empty());
  CHECK(table.contains("empty"));
}

static void computes_with_tags(tavola::table& table) {
  int count = 0;
  const auto compute = [&] { return std::to_string(++count); };
  const auto ask = [&](auto& function) {
    return table.get_or_compute_tagged("t", {1min}, {"x", "y"}, function);
  };
  CHECK(ask(compute) == "1" && ask(compute) == "1");
  CHECK(table.invalidate_tag("y") && !table.contains("t") && ask(compute) == "2");
  table.remove("t");
  const auto late = [&] {
    table.invalidate_tag("x");
    return "late";
  };
  CHECK(ask(late) == "late" && !table.contains("t"));
  const auto fails = [&]() -> std::string { throw std::out_of_range("no luck"); };
  try {
    ask(fails);
    CHECK(false);
  } catch (const std::out_of_range&) {
  }
  const std::string longest(4097, 'x');
  CHECK(thrown_by([&] { table.get_or_compute_tagged("v", {1min}, {longest}, compute); }) ==
        TAVOLA_ERR_BAD_OPTION);
  CHECK(count == 2);
}

struct no_exception {};

static void passes_exceptions_on(tavola::table& table) {
  tavola::lease_options options{1min};
  options.back_off = 1min;
  const auto fails = [&]() -> std::string { throw std::out_of_range("no luck"); };
  try {
    table.get_or_compute("f", options, fails);
    CHECK(false);
  } catch (const std::out_of_range& exception) {
    CHECK(exception.what() == std::string_view("no luck"));
  }
  // Another is told so, and does not try.
  try {
    table.get_or_compute("f", options, [] { return "value"; });
    CHECK(false);
  } catch (const tavola::error& error) {
    CHECK(error.code() == TAVOLA_ERR_COMPUTE);
    CHECK(std::string_view(error.what()).find("no luck") != std::string_view::npos);
  }
  options.back_off = 0ms;
  try {
    table.get_or_compute("g", options, []() -> std::string { throw no_exception{}; });
    CHECK(false);
  } catch (const no_exception&) {
  }
  CHECK(table.get_or_compute("g", options, [] { return "value"; }) == "value");
  CHECK(thrown_by([&] { table.get_or_compute("h", {0ms}, fails); }) == TAVOLA_ERR_ARGUMENT);
}

static void leases(tavola::table& table) {
  const tavola::lease_options options{1min, 1h};
  auto mine = table.get_or_lease("l", options);
  CHECK(mine.outcome == TAVOLA_LEASE_WON && mine.lease && !mine.pending && mine.lease->is_recorded());
  auto other = table.get_or_lease("l", options);
  CHECK(other.outcome == TAVOLA_LEASE_WAIT && other.pending && !other.lease && other.left > 0ms);
  CHECK(!other.pending->wait(1ms));
  std::thread fills([lease = std::move(*mine.lease)]() mutable { CHECK(lease.fill("value")); });
  CHECK(other.pending->wait());
  fills.join();
  auto hit = table.get_or_lease("l", options);
  CHECK(hit.outcome == TAVOLA_LEASE_HIT && hit.value == "value" && !hit.lease && !hit.pending);

  table.set("s", "old", {30min});
  auto stale = table.get_or_lease("s", options);
  CHECK(stale.outcome == TAVOLA_LEASE_STALE_WON && stale.value == "old" && stale.lease);
  CHECK(table.get_or_lease("s", options).outcome == TAVOLA_LEASE_STALE);
  CHECK(stale.lease->fail(1min, "no luck") && table.get_or_lease("s", options).value == "old");
  table.remove("s");
  stale = table.get_or_lease("s", options);
  CHECK(stale.outcome == TAVOLA_LEASE_WON && stale.lease->fail(1min, "no luck"));
  stale = table.get_or_lease("s", options);
  CHECK(stale.outcome == TAVOLA_LEASE_FAILED && stale.value == "no luck" && stale.left > 0ms);
}

// The flags of a value come back with it.
static void keeps_flags(tavola::table& table) {
  auto mine = table.get_or_lease("flagged", {1min});
  CHECK(mine.flags == 0 && mine.lease->fill("1", 0x54020000));
  CHECK(table.get_or_lease("flagged", {1min}).flags == 0x54020000);
}

// A lease that goes out of scope is given up.
static void gives_up(tavola::table& table) {
  for (int i = 0; i < 3; i++) CHECK(table.get_or_lease("u", {1min}).outcome == TAVOLA_LEASE_WON);
  auto mine = table.get_or_lease("u", {1min});
  table.remove("u");
  CHECK(!mine.lease->fill("late") && !table.contains("u"));
  CHECK(thrown_by([&] { mine.lease->fill("again"); }) == TAVOLA_ERR_ARGUMENT);
}

int main() {
  auto table = a_table("leases");
  computes_once(table);
  keeps_flags(table);
  computes_with_tags(table);
  passes_exceptions_on(table);
  leases(table);
  gives_up(table);
  CHECK(!tavola::last_taken() && table.check().is_clean());
  tavola::names::remove("leases");
}

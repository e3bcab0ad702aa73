// Tables in C++: each operation, walks, functions that throw.

#include "check.hpp"

#include <array>
#include <set>
#include <unistd.h>

using namespace std::string_literals;

static void reads_and_writes(tavola::table& table) {
  CHECK(!table.replace("a", "0") && table.add("a", "3") && !table.add("a", "4"));
  CHECK(table.append("a", "45") && table.prepend("a", "12") && table.get("a") == "12345");
  CHECK(table.swap("a", "new") == "12345" && table.take("a") == "new" && !table.take("a"));
  table.set("zeros", "a\0b\0"s);
  CHECK(table.get("zeros") == "a\0b\0"s && table.contains("zeros"));
  CHECK(table.remove("zeros") && !table.remove("zeros") && !table.get("zeros"));
  table.set("", "");
  CHECK(table.get("") == "" && table.remove(""));
  const std::string large(100000, 'x');
  table.set("large", large);
  CHECK(table.get("large") == large && table.remove("large"));
}

static void reads_into_bytes(tavola::table& table) {
  char bytes[8] = "xxxxxxx";
  table.set("a", "1234");
  CHECK(table.get_to("a", bytes, sizeof bytes) == 4u && bytes == "1234xxx"s);
  table.set("a", "123456789");
  CHECK(table.get_to("a", bytes, sizeof bytes) == 9u && bytes == "1234xxx"s);
  CHECK(table.get_to("a", nullptr, 0) == 9u && !table.get_to("b", bytes, sizeof bytes));
  const auto uid = table.uid_of("a").value();
  CHECK(table.get_by_uid_to(uid, bytes, 5) == 9u && bytes == "1234xxx"s);
  table.set("a", "567");
  CHECK(table.get_by_uid_to(uid, bytes, sizeof bytes) == 3u && bytes == "5674xxx"s);
#ifdef __cpp_lib_span
  std::array<std::byte, 3> room;
  CHECK(table.get_to("a", room) == 3u && room[0] == std::byte('5'));
  CHECK(table.get_by_uid_to(uid, room) == 3u && room[2] == std::byte('7'));
#endif
  CHECK(table.remove("a") && !table.get_by_uid_to(uid, bytes, sizeof bytes));
}

static void lists() {
  auto table = a_table("lists");
  table.set("small", "1");
  table.set("larger", std::string(1000, 'x'));
  const auto classes = table.classes();
  CHECK(classes.size() == 2 && classes[0].block_bytes < classes[1].block_bytes);
  CHECK(classes[0].used == 1 && classes[0].blocks >= 1 && classes[1].pages == 1);
  const auto all = table.participants();
  CHECK(all.size() == 1 && all[0].pid == static_cast<std::uint32_t>(getpid()) && all[0].is_alive);
  CHECK(all[0].command && !all[0].command->empty() && all[0].attached.time_since_epoch().count() > 0);
  CHECK(tavola::version() == TAVOLA_VERSION && tavola::name_of(TAVOLA_END) == "TAVOLA_END");
  tavola::names::remove("lists");
}

static void changes(tavola::table& table) {
  CHECK(table.incr("n", 5) == 5 && table.decr("n", 7) == 0 && table.incr("n") == 1);
  CHECK(!table.incr_from("m", 1, std::nullopt) && table.incr_from("m", 1, 10) == 10u);
  CHECK(table.decr_from("m", 3, std::nullopt) == 7u);
  auto found = table.get_with_token("n");
  CHECK(found && found->value == "1");
  CHECK(table.compare_and_swap("n", found->token, "2") == TAVOLA_OK);
  CHECK(table.compare_and_swap("n", found->token, "3") == TAVOLA_CHANGED);
  CHECK(table.compare_and_swap("x", found->token, "3") == TAVOLA_NOT_FOUND);
  CHECK(table.token_of("1") == found->token && table.token_of("2") != found->token);
  CHECK(table.compare_and_swap("n", table.token_of("1"), "x") == TAVOLA_CHANGED);
  CHECK(table.compare_and_swap("n", table.token_of(*table.get("n")), "") == TAVOLA_OK);
  CHECK(table.compare_and_swap("n", table.token_of({}), "2") == TAVOLA_OK);
  CHECK(table.get("n") == "2");
  auto twice = [](std::optional<std::string_view> old) -> std::optional<std::string> {
    if (!old) return "ab";
    if (old->size() >= 8) return std::nullopt;
    return std::string(*old) + std::string(*old);
  };
  CHECK(table.update("u", twice) && table.update("u", twice) && table.update("u", twice));
  CHECK(table.get("u") == "abababab" && !table.update("u", twice) && !table.contains("u"));
}

// What could not be handed over is not lost.
static void gives_again_what_was_not_taken(tavola::table& table) {
  const auto no_room = [](void*, std::size_t) -> void* { return nullptr; };
  tavola_buffer none = TAVOLA_BUFFER_ALLOC(no_room, nullptr);
  table.set("taken", "value");
  CHECK(tavola_take(table.get(), "taken", 5, &none) == TAVOLA_ERR_STOPPED);
  CHECK(!table.contains("taken") && tavola::last_taken() == "value" && !tavola::last_taken());
}

static void functions_that_throw(tavola::table& table) {
  table.set("kept", "as it is");
  int caught = 0, calls = 0;
  try {
    table.update("kept", [](auto) -> std::optional<std::string> { throw 7; });
  } catch (int number) {
    caught += number;
  }
  try {
    table.get_many({"kept", "kept", "kept"}, [&](std::size_t, auto) {
      calls++;
      throw 8;
    });
  } catch (int number) {
    caught += number;
  }
  CHECK(caught == 15 && calls == 1 && table.get("kept") == "as it is");
}

static void walks(tavola::table& table) {
  table.clear();
  std::set<std::string> expected, met;
  for (int i = 0; i < 300; i++) {
    expected.insert(std::to_string(i));
    table.set(std::to_string(i), std::to_string(-i));
  }
  for (auto [key, value] : table.iter()) {
    CHECK(table.get(key) == value);
    met.emplace(key);
  }
  CHECK(met == expected && table.len() == 300 && table.stats().keys == 300);
  auto rest = [] {
    auto moved = a_table("moved");
    moved.set("only", "one");
    return moved.iter();
  }();
  auto one = rest.next();
  CHECK(one && one->key == "only" && one->value == "one" && !rest.next());
  tavola::names::remove("moved");
}

static void the_rest(tavola::table& table) {
  CHECK(table.check().is_clean() && table.repair().is_clean());
  CHECK(tavola::names::list() == std::vector{table.path()});
  CHECK(tavola::names::path_of("main") == table.path() && !table.is_read_only());
  CHECK(table.path().rfind(tavola::names::directory(), 0) == 0);
  CHECK(table.barrier_wait("start", 1) && table.pools().empty());
  CHECK(!table.barrier_wait("alone", 2, std::chrono::milliseconds(2)));
  table.barrier_join("start");
  CHECK(table.barrier_meet("start", 1) == 0u);
  CHECK(!table.barrier_meet("alone", 2, std::chrono::milliseconds(2)));
  tavola::options ours;
  ours.max_size = 1 << 20;
  ours.lives_with = TAVOLA_LIVES_WITH_LAST_USER;
  tavola::table::create("ours", ours).set("key", "value");
  CHECK(thrown_by([] { tavola::table::open_existing("ours"); }) == TAVOLA_ERR_NO_TABLE);
  ours.lives_with = TAVOLA_LIVES_WITH_PROCESS;
  tavola::table::create("ours", ours).set("key", "value");
  CHECK(tavola::table::open_existing("ours").get("key") == "value");
  tavola::names::remove("ours");
  table.maintain(0);
  CHECK(!table.refresh());
  table.reclaim();
  tavola::options small;
  small.max_size = 1 << 20;
  auto alone = tavola::table::open_private(small);
  alone.set("k", "v");
  CHECK(alone.get("k") == "v");
  CHECK(tavola::table::open_read_only("main").is_read_only());
  CHECK(tavola::table::open("main").len() == tavola::table::open_existing("main").len());
}

static void watches_and_grows(tavola::table& table) {
  table.set("config", "1");
  auto watch = table.watch_key("config");
  CHECK(!watch.wait(std::chrono::milliseconds(0)));
  table.set("config", "2");
  CHECK(watch.wait(std::chrono::seconds(10)) && !watch.wait(std::chrono::milliseconds(0)));
  const auto before = table.stats().max_size;
  table.set_max_size(2 * before);
  CHECK(table.stats().max_size == 2 * before);
}

int main() {
  auto table = a_table("main");
  reads_and_writes(table);
  reads_into_bytes(table);
  gives_again_what_was_not_taken(table);
  changes(table);
  functions_that_throw(table);
  walks(table);
  lists();
  the_rest(table);
  watches_and_grows(table);
  tavola::names::remove("main");
}

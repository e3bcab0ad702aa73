// Queues in C++.

#include "check.hpp"

#include <cstring>
#include <poll.h>

using std::chrono::milliseconds;

static void moves(tavola::pool& pool) {
  auto free_ones = pool.queue("free"), todo = pool.queue("todo");
  CHECK(!todo.pop() && !todo.pop_wait(milliseconds(2)) && todo.pop_many(5).empty());
  CHECK(todo.pop_many_wait(5, milliseconds(2)).empty() && todo.pass(free_ones, 5) == 0);
  const auto element = free_ones.pop().value();
  pool.write(element, 0, "resize");
  char bytes[6];
  pool.read(element, 0, bytes, sizeof bytes);
  CHECK(std::string_view(bytes, 6) == "resize");
  CHECK(std::memcmp(pool.element_ptr(element), bytes, 6) == 0 && pool.element_ptr(50) == nullptr);
#ifdef __cpp_lib_span
  CHECK(pool.element_span(element).size() == pool.element_bytes());
#endif
  todo.push(element);
  CHECK(thrown_by([&] { todo.push(element); }) == TAVOLA_ERR_NOT_HELD);
  CHECK(todo.pop_wait(tavola::for_ever) == element);
  todo.push_many(std::vector{element});
  CHECK(todo.pass_wait(free_ones, 1, milliseconds(2)) == 1);
  const auto many = free_ones.pop_many(20);
  CHECK(many.size() == 20 && free_ones.len() == 30);
  free_ones.push_many(many);

  tavola::queue_watch watch(todo);
  pollfd polled = {watch.fd(), POLLIN, 0};
  CHECK(poll(&polled, 1, 1) == 0);
  free_ones.pass(todo, 1);
  CHECK(poll(&polled, 1, 30000) == 1);
  watch.clear();
  todo.pass(free_ones, 1);
}

int main() {
  auto pool = tavola::pool::create("jobs", {50, 20, {"free", "todo"}});
  moves(pool);
  CHECK(pool.elements() == 50 && pool.queues() == (std::vector<std::string>{"free", "todo"}));
  { tavola::pool::open_existing("jobs").queue("free").pop_many(3); }
  CHECK(pool.lost().size() == 3);
  pool.queue("free").push_many(pool.reclaim());
  CHECK(pool.lost().empty() && pool.queue("free").len() == 50 && pool.check().is_clean());
  CHECK(tavola::pool::open("jobs", {1, 1}).elements() == 50);
  tavola::names::remove("jobs");

  tavola::pool_options roomy{10, 8};
  roomy.queue_room = 2;
  auto more = tavola::pool::create("more", roomy);
  auto urgent = more.add_queue("urgent");
  CHECK(more.queue("free").pass(urgent, 4) == 4 && more.queue("urgent").len() == 4);
  CHECK(thrown_by([&] { more.add_queue("urgent"); }) == TAVOLA_ERR_OBJECT_EXISTS);
  CHECK(thrown_by([&] { more.add_queue("another"); }) == TAVOLA_ERR_FULL);
  CHECK(more.queue_room() == 2 && more.queues().size() == 2);
  tavola::names::remove("more");

  auto table = a_table("main");
  const tavola::pool_options options{10, 8};
  auto beside = tavola::pool::create_in(table, "jobs", options);
  CHECK(tavola::pool::open_in(table, "jobs", options).path() == beside.path());
  CHECK(tavola::pool::open_existing_in(table, "jobs").elements() == 10);
  CHECK(table.pools() == std::vector<std::string>{"jobs"});
  tavola::names::remove("main");
}

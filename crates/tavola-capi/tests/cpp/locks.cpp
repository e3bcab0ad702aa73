// Named locks with the guards of the standard library, semaphores and areas.

#include "check.hpp"
#include <mutex>
#include <shared_mutex>
#include <thread>

static void guards(const tavola::table& table) {
  tavola::named_lock lock(table, "l"), same(table, "l");
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      tavola::named_lock own(table, "l");
      for (int turn = 0; turn < 200; ++turn) {
        std::lock_guard<tavola::named_lock> guard(own);
        ++sum;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(sum == 600);

  {
    std::unique_lock<tavola::named_lock> guard(lock, std::chrono::milliseconds(100));
    CHECK(guard.owns_lock() && !lock.owner_died());
    CHECK(!same.try_lock() && !same.try_lock_shared());
    CHECK(!same.try_lock_for(std::chrono::milliseconds(5)));
    CHECK(!same.try_lock_shared_for(std::chrono::milliseconds(5)));
  }
  std::shared_lock<tavola::named_lock> one(lock), other(same);
  CHECK(one.owns_lock() && other.owns_lock());
  tavola::named_lock third(table, "l");
  CHECK(!third.try_lock());
}

static void permits(const tavola::table& table) {
  tavola::semaphore semaphore(table, "s", 1);
  semaphore.acquire();
  CHECK(!semaphore.owner_died() && !semaphore.try_acquire());
  CHECK(!semaphore.try_acquire_for(std::chrono::milliseconds(5)));
  semaphore.release();
  CHECK(semaphore.try_acquire());
  CHECK(thrown_by([&] { tavola::semaphore(table, "s", 2); }) == TAVOLA_ERR_BAD_OPTION);
}

static void areas(const tavola::table& table) {
  tavola::area area(table, "own", 5000);
  static_cast<char*>(area.data())[4999] = 7;
  tavola::area same(table, "own");
  CHECK(same.size() == 5000 && static_cast<char*>(same.data())[4999] == 7);
  CHECK(thrown_by([&] { tavola::area(table, "none"); }) == TAVOLA_ERR_NO_OBJECT);
}

int main() {
  const auto table = a_table("locks");
  guards(table);
  permits(table);
  areas(table);
  tavola::names::remove("locks");
}

// Transactions in C++: all changes happen at once, and exceptions pass through.

#include "check.hpp"

using namespace std::chrono_literals;

static void changes(tavola::table& table) {
  table.set("alice", "10");
  CHECK(table.transact([](auto& txn) {
    txn.add_number("alice", -4);
    txn.add_number("bob", 4);
    txn.set("session", "x", {1h});
    CHECK(!txn.add("session", "y") && txn.replace("session", "z") && txn.append("session", "!"));
    CHECK(txn.contains("bob") && *txn.get("session") == "z!" && !txn.remove("none"));
  }));
  CHECK(*table.get("alice") == "6" && *table.get("bob") == "4");
  CHECK(!table.transact([](auto& txn) {
    txn.set("alice", "no");
    return false;
  }));
  const auto throws = [&] {
    table.transact([](auto& txn) {
      txn.set("alice", "no");
      throw std::out_of_range("no luck");
    });
  };
  bool was_thrown = false;
  try {
    throws();
  } catch (const std::out_of_range&) {
    was_thrown = true;
  }
  CHECK(was_thrown && *table.get("alice") == "6");
}

static void runs_again(tavola::table& table) {
  int runs = 0;
  const auto body = [&](auto& txn) {
    const auto n = txn.add_number("n");
    if (runs++ == 0) table.add_number("n", 10);
    CHECK(n == (runs == 1 ? 1 : 11) || runs > 2);
  };
  CHECK(table.transact(body) && runs == 2 && *table.get("n") == "11");
  runs = 0;
  const auto once = [&] { table.transact_once([&](auto& txn) {
    txn.add_number("n");
    if (runs++ == 0) table.add_number("n", 10);
  }); };
  CHECK(thrown_by(once) == TAVOLA_CONFLICT && runs == 1);
  once();
  CHECK(*table.get("n") == "22");
  CHECK(table.view_keys([](auto& txn) { CHECK(txn.contains("n") && !txn.contains("m")); }));
}

static void by_hand(tavola::table& table) {
  auto txn = table.begin();
  txn.set("a", "1");
  const auto before = txn.savepoint();
  txn.set("b", "2");
  txn.roll_back_to(before);
  auto moved = std::move(txn);
  CHECK(moved.commit() && table.contains("a") && !table.contains("b"));
  {
    auto dropped = table.begin(tavola::begin_as::turn);
    dropped.set("a", "2");
  }
  CHECK(*table.get("a") == "1");
  auto conflict = table.begin();
  conflict.get("a");
  conflict.set("b", "2");
  table.set("a", "3");
  CHECK(!conflict.commit() && !table.contains("b"));
  auto reads = table.begin(tavola::begin_as::read_only);
  CHECK(thrown_by([&] { reads.set("a", "4"); }) == TAVOLA_ERR_READ_ONLY);
}

int main() {
  auto table = a_table("transactions");
  changes(table);
  runs_again(table);
  by_hand(table);
  CHECK(table.check().is_clean());
  tavola::names::remove("transactions");
}

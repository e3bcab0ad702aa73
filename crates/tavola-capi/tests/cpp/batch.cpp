// Batches in C++.

#include "check.hpp"

int main() {
  auto table = a_table("batches");
  table.set_many({{"a", "1"}, {"b", "2"}, {"c", ""}});
  std::string all;
  table.get_many({"b", "x", "a", "c"}, [&](std::size_t at, std::optional<std::string_view> value) {
    all += std::to_string(at) + (value ? "=" + std::string(*value) : "?") + " ";
  });
  CHECK(all == "0=2 1? 2=1 3= ");

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

// Errors in C++.

#include "check.hpp"

int main() {
  CHECK(thrown_by([] { tavola::table::open_existing("nothing"); }) == TAVOLA_ERR_NO_TABLE);
  CHECK(thrown_by([] { tavola::table::open(".hidden"); }) == TAVOLA_ERR_BAD_NAME);
  CHECK(thrown_by([] { tavola::names::remove("nothing"); }) == TAVOLA_ERR_NO_TABLE);
  try {
    tavola::table::create("./no/such/directory");
    CHECK(false);
  } catch (const tavola::error& error) {
    CHECK(std::string_view(error.name()) == "TAVOLA_ERR_IO" && error.os_error() != 0);
    CHECK(std::string_view(error.what()).find("directory") != std::string_view::npos);
  }
  auto table = a_table("errors");
  CHECK(thrown_by([] { a_table("errors"); }) == TAVOLA_ERR_TABLE_EXISTS);
  table.set("text", "none");
  CHECK(thrown_by([&] { table.incr("text"); }) == TAVOLA_ERR_NOT_A_COUNTER);
  auto reader = tavola::table::open_read_only("errors");
  CHECK(thrown_by([&] { reader.set("k", "v"); }) == TAVOLA_ERR_READ_ONLY);
  CHECK(thrown_by([&] { tavola::pool::open_existing("errors"); }) == TAVOLA_ERR_NO_OBJECT);
  tavola::names::remove("errors");
}

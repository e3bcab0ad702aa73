// Logs in C++.

#include "check.hpp"

#include <cstdarg>
#include <unistd.h>

using std::chrono::milliseconds;
using tavola::level;

// Keeps the texts; fails when it is told to.
class kept : public tavola::log_sink {
 public:
  void line(const tavola::line& line) override {
    if (fails) throw std::runtime_error("the disk is full");
    texts.emplace_back(line.text());
    CHECK(line.pid() == static_cast<std::uint32_t>(getpid()) && !line.is_shown());
  }
  void dropped(std::uint64_t lines) override { gone += lines; }
  void flush() override { flushed++; }
  std::vector<std::string> texts;
  std::uint64_t gone = 0;
  int flushed = 0;
  bool fails = false;
};

static void drains(const tavola::log& log) {
  kept sink;
  tavola::log_drain drain(log);
  CHECK(log.has_drain());
  CHECK(thrown_by([&] { tavola::log_drain other(log); }) == TAVOLA_ERR_ALREADY_DRAINED);
  log.line(level::warn, "first");
  sink.fails = true;
  bool was_thrown = false;
  try {
    drain.finish(sink);
  } catch (const std::runtime_error& error) {
    was_thrown = std::string_view(error.what()) == "the disk is full";
  }
  CHECK(was_thrown && sink.texts.empty());
  sink.fails = false;
  CHECK(drain.finish(sink) == 1 && sink.texts == std::vector<std::string>{"first"});
  log.print(level::info, "cart ", 3, " is ", 'r', "eady");
  while (sink.texts.size() < 2) {
    drain.pass(sink);
    drain.wait(milliseconds(1));
  }
  CHECK(sink.texts[1] == "cart 3 is ready" && sink.flushed == 2 && sink.gone == 0);

  int ends[2];
  char text[200];
  CHECK(pipe(ends) == 0);
  log.line(level::error, "to a pipe");
  CHECK(drain.finish(ends[1]) == 1 && drain.pass(ends[1]) == 0);
  const auto len = read(ends[0], text, sizeof text);
  CHECK(len > 10 && std::string_view(text + len - 10, 10) == "to a pipe\n");
  CHECK(thrown_by([&] { drain.pass(-1); }) == TAVOLA_ERR_ARGUMENT);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static tavola_status with_list(tavola_log* log, const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  const auto status = tavola_log_vprintf(log, TAVOLA_LEVEL_DEBUG, "%s of %d", args);
  va_end(args);
  (void)format;
  return status;
}

static void levels(tavola::log& log) {
  tavola::log_reader reader(log);
  std::vector<std::string> texts;
  auto add = [&](const tavola::line& line) {
    texts.emplace_back(line.text());
    const auto whole = line.print();
    CHECK(whole.substr(whole.size() - line.text().size()) == line.text() && line.cut() == 0);
    CHECK(line.time() > std::chrono::system_clock::now() - std::chrono::hours(1));
  };
  reader.skip();
  log.set_level(level::warn);
  CHECK(log.is_on(level::error) && !log.is_on(level::info));
  log.print(level::info, "not written");
  TAVOLA_LOG_INFO(log.get(), "not written %d", 1);
  TAVOLA_LOG_WARN(log.get(), "%s %d", "written", 1);
  log.print(level::error, "written ", 2);
  log.printf(level::info, "not written %d", 2);
  log.printf(level::warn, "written %.1f", 2.5);
  log.set_level(level::trace);
  TAVOLA_LOG(log.get(), TAVOLA_LEVEL_TRACE, "written 3");
  CHECK(with_list(log.get(), "", "written", 4) == TAVOLA_OK);
  reader.lines(add);
  const std::vector<std::string> expected = {"written 1", "written 2", "written 2.5",
                                             "written 3", "written of 4"};
  CHECK(texts == expected && reader.missed() == 0);
  reader.follow(add);
  CHECK(texts.size() == 5);
  bool was_thrown = false;
  log.line(level::info, "one more");
  try {
    reader.lines([](const tavola::line&) { throw 5; });
  } catch (int) {
    was_thrown = true;
  }
  CHECK(was_thrown);
}

static void by_a_thread(const tavola::log& log) {
  {
    tavola::log_drain_thread drain(log, "out", 0, 0, tavola::log_form::brief);
    CHECK(thrown_by([&] { tavola::log_drain_thread(log, 1); }) == TAVOLA_ERR_ALREADY_DRAINED);
    std::FILE* stream = log.file(level::warn);
    CHECK(std::fputs("one\ntwo\n", stream) >= 0 && std::fclose(stream) == 0);
    CHECK(!drain.has_failed() && drain.stop() == 2);
  }
  tavola::log_drain_thread(log, "out");
  char text[64] = "";
  std::FILE* out = std::fopen("out", "r");
  CHECK(out != nullptr && std::fread(text, 1, sizeof text - 1, out) > 0);
  CHECK(std::fclose(out) == 0 && std::remove("out") == 0);
  CHECK(std::string_view(text).substr(0, 16) == "#0.000000 1 one\n");
  CHECK(!log.has_drain());
}

int main() {
  tavola::log_options options;
  options.bytes = 200 << 10;
  options.overload = tavola::overload::drop_newest;
  auto log = tavola::log::create("events", options);
  log.show_on_stderr(false);
  CHECK(log.bytes() == 208 << 10 && log.overload() == tavola::overload::drop_newest);
  drains(log);
  CHECK(!log.has_drain() && log.dropped() == 0);
  by_a_thread(log);
  levels(log);
  CHECK(tavola::log::open("events").path() == log.path());
  CHECK(tavola::log::open_existing("events").bytes() == log.bytes());
  const auto seen = tavola::log::open_read_only("events");
  CHECK(thrown_by([&] { seen.line(level::info, "no"); }) == TAVOLA_ERR_READ_ONLY);
  tavola::names::remove("events");

  auto table = a_table("main");
  auto beside = tavola::log::create_in(table, "events");
  CHECK(tavola::log::open_in(table, "events").path() == beside.path());
  CHECK(tavola::log::open_existing_in(table, "events").bytes() == beside.bytes());
  CHECK(table.logs() == std::vector<std::string>{"events"});
  tavola::names::remove("main");
}

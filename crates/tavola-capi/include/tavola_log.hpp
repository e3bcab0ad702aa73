// Logs of Tavola for C++17; a part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_LOG_HPP
#define TAVOLA_LOG_HPP

#include <tavola.hpp>

#include <cstdarg>
#include <cstdio>
#include <sstream>

namespace tavola {

// The level of a line.
enum class level : std::int32_t {
  error = TAVOLA_LEVEL_ERROR,
  warn = TAVOLA_LEVEL_WARN,
  info = TAVOLA_LEVEL_INFO,
  debug = TAVOLA_LEVEL_DEBUG,
  trace = TAVOLA_LEVEL_TRACE,
};

// What happens when a line finds no room; see tavola_overload.
enum class overload : std::int32_t {
  drop_oldest = TAVOLA_OVERLOAD_DROP_OLDEST,
  drop_newest = TAVOLA_OVERLOAD_DROP_NEWEST,
  block = TAVOLA_OVERLOAD_BLOCK,
};

// Options of a new log. A field that is 0 means the default.
struct log_options {
  std::uint64_t bytes = 0;
  tavola::overload overload = tavola::overload::drop_oldest;
  std::uint32_t mode = 0;
};

// A line of a log, lent until the function that got it returns.
class line {
 public:
  explicit line(const tavola_line* told) noexcept : told_(told) {}
  std::chrono::system_clock::time_point time() const {
    using clock = std::chrono::system_clock;
    const std::chrono::nanoseconds since(told_->unix_ns);
    return clock::time_point(std::chrono::duration_cast<clock::duration>(since));
  }
  std::uint32_t pid() const noexcept { return told_->pid; }
  std::uint32_t tid() const noexcept { return told_->tid; }
  tavola::level level() const noexcept { return static_cast<tavola::level>(told_->level); }
  std::string_view text() const noexcept { return {told_->text, told_->len}; }
  // Bytes at the end of the text that had no room.
  std::uint32_t cut() const noexcept { return told_->cut; }
  bool is_shown() const noexcept { return told_->is_shown; }
  // Returns the line as `tavola log show` prints it, without a newline.
  std::string print() const {
    detail::text printed;
    return printed.take(tavola_line_print(told_, printed.buffer()));
  }

 private:
  const tavola_line* told_;
};

// A log that all processes write to. Threads may share it.
class log {
 public:
  static log open(const std::string& name, const log_options& with = {}) {
    return make(with, [&](auto... rest) { return tavola_log_open(name.c_str(), rest...); });
  }
  static log create(const std::string& name, const log_options& with = {}) {
    return make(with, [&](auto... rest) { return tavola_log_create(name.c_str(), rest...); });
  }
  static log open_existing(const std::string& name) {
    tavola_log* made = nullptr;
    detail::check(tavola_log_open_existing(name.c_str(), &made));
    return log(made);
  }
  static log open_read_only(const std::string& name) {
    tavola_log* made = nullptr;
    detail::check(tavola_log_open_read_only(name.c_str(), &made));
    return log(made);
  }
  static log open_in(const table& in, const std::string& name,
                         const log_options& with = {}) {
    return make(with, [&](auto... rest) {
      return tavola_log_open_in(in.get(), name.c_str(), rest...);
    });
  }
  static log create_in(const table& in, const std::string& name,
                           const log_options& with = {}) {
    return make(with, [&](auto... rest) {
      return tavola_log_create_in(in.get(), name.c_str(), rest...);
    });
  }
  static log open_existing_in(const table& in, const std::string& name) {
    tavola_log* made = nullptr;
    detail::check(tavola_log_open_existing_in(in.get(), name.c_str(), &made));
    return log(made);
  }
  // Takes over a handle of C.
  explicit log(tavola_log* handle) noexcept : handle_(handle) {}
  // Also for `TAVOLA_LOG_INFO(log.get(), ...)` and its like.
  tavola_log* get() const noexcept { return handle_.get(); }
  std::string path() const { return tavola_log_path(get()); }
  std::uint64_t bytes() const { return tavola_log_bytes(get()); }
  tavola::overload overload() const {
    return static_cast<tavola::overload>(tavola_log_overload(get()));
  }
  std::uint64_t dropped() const { return tavola_log_dropped(get()); }
  tavola_log_stats stats() const {
    tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
    detail::check(tavola_log_get_stats(get(), &stats));
    return stats;
  }
  bool has_drain() const { return tavola_log_has_drain(get()); }
  void show_on_stderr(bool shown) { detail::check(tavola_log_show_on_stderr(get(), shown)); }

  // Whatever `set_level` says.
  void line(level level, std::string_view text) const {
    const auto number = static_cast<std::int32_t>(level);
    detail::check(tavola_log_line(get(), number, text.data(), text.size()));
  }
  // Puts the parts together as a stream does, unless lines of the level are skipped:
  // `log.print(level::info, "cart ", 3, " is ready")`.
  template <typename... Parts>
  void print(level level, const Parts&... parts) const {
    if (!is_on(level)) return;
    std::ostringstream out;
    (out << ... << parts);
    line(level, out.str());
  }
  // Formats and writes a line as `std::printf` does, if its level is on.
  TAVOLA_PRINTF(3, 4)
  void printf(level level, const char* format, ...) const {
    if (!is_on(level)) return;
    std::va_list args;
    va_start(args, format);
    const auto status = tavola_log_vprintf(get(), static_cast<std::int32_t>(level), format, args);
    va_end(args);
    detail::check(status);
  }
  // Opens a stream of the C library whose lines go to the log; close it with `std::fclose`. It keeps
  // the log open.
  std::FILE* file(level level) const {
    std::FILE* stream = nullptr;
    detail::check(tavola_log_file(get(), static_cast<std::int32_t>(level), &stream));
    return stream;
  }
  // Lets `print`, `printf` and the macros of C skip lines above this level.
  void set_level(level level) {
    detail::check(tavola_log_set_level(get(), static_cast<std::int32_t>(level)));
  }
  bool is_on(level level) const noexcept {
    return tavola_log_is_on(get(), static_cast<std::int32_t>(level));
  }

 private:
  template <typename Open>
  static log make(const log_options& with, Open&& open) {
    tavola_log_options given = TAVOLA_INIT(tavola_log_options);
    given.bytes = with.bytes;
    given.overload = static_cast<std::int32_t>(with.overload);
    given.mode = with.mode;
    tavola_log* made = nullptr;
    detail::check(open(&given, &made));
    return log(made);
  }

  detail::handle<tavola_log, tavola_log_close> handle_;
};

// Where a drain writes lines. If a function throws, the lines come again, with the next pass.
class log_sink {
 public:
  virtual ~log_sink() = default;
  virtual void line(const tavola::line& line) = 0;
  // Reports lines that were dropped since the last call.
  virtual void dropped(std::uint64_t) {}
  // Writes out the lines that it took. After it has returned, the lines do not come again.
  virtual void flush() {}
};

// Writes the lines of a log out, as text to a descriptor or to a sink. It keeps the log open.
class log_drain {
 public:
  explicit log_drain(const log& of) {
    tavola_log_drain* made = nullptr;
    detail::check(tavola_log_drain_open(of.get(), &made));
    handle_.reset(made);
  }
  // Writes the lines that are due, and returns how many.
  std::size_t pass(int fd) { return to_descriptor(tavola_log_drain_pass_fd, fd); }
  std::size_t pass(log_sink& sink) { return to_sink(tavola_log_drain_pass, sink); }
  // Writes all lines. Call it at the end, when the writers have ended.
  std::size_t finish(int fd) { return to_descriptor(tavola_log_drain_finish_fd, fd); }
  std::size_t finish(log_sink& sink) { return to_sink(tavola_log_drain_finish, sink); }
  // Sleeps for at most 10 ms, and less if many lines are written.
  void wait(std::chrono::milliseconds limit) {
    detail::check(tavola_log_drain_wait(handle_.get(), detail::milliseconds(limit)));
  }

 private:
  template <typename Act>
  std::size_t to_descriptor(Act act, int fd) {
    std::size_t lines = 0;
    detail::check(act(handle_.get(), fd, &lines));
    return lines;
  }
  template <typename Act>
  std::size_t to_sink(Act act, log_sink& sink) {
    using guarded = detail::guarded<log_sink>;
    // Any number but 0 is a failure; what was thrown goes on to the caller.
    static constexpr auto told = [](void* user, auto&& tell) {
      bool done = false;
      static_cast<guarded*>(user)->run([&](log_sink& sink) {
        tell(sink);
        done = true;
      });
      return done ? 0 : -1;
    };
    guarded guard(sink);
    tavola_log_sink given = TAVOLA_INIT(tavola_log_sink);
    given.user = &guard;
    given.line = [](void* user, const tavola_line* line) {
      return told(user, [&](log_sink& sink) { sink.line(tavola::line(line)); });
    };
    given.dropped = [](void* user, std::uint64_t lines) {
      return told(user, [&](log_sink& sink) { sink.dropped(lines); });
    };
    given.flush = [](void* user) { return told(user, [](log_sink& sink) { sink.flush(); }); };
    std::size_t lines = 0;
    guard.check(act(handle_.get(), &given, &lines));
    return lines;
  }

  detail::handle<tavola_log_drain, tavola_log_drain_close> handle_;
};

// How a line is printed; see tavola_log_form.
enum class log_form : std::int32_t { full = TAVOLA_LOG_FULL, brief = TAVOLA_LOG_SHORT };

// A thread that writes the lines of a log out, to a file that it rotates or to a descriptor. It
// keeps the log open. Its destructor writes all lines and ends the thread, as `stop` does.
class log_drain_thread {
 public:
  // `rotate_bytes` and `keep`: see tavola_log_drain_options.
  log_drain_thread(const log& of, const std::string& path, std::uint64_t rotate_bytes = 0,
                   std::uint32_t keep = 5, log_form form = log_form::full) {
    tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
    options.path = path.c_str();
    options.rotate_bytes = rotate_bytes;
    options.keep = keep;
    start(of, options, form);
  }
  // Writes to a duplicate of the descriptor.
  log_drain_thread(const log& of, int fd, log_form form = log_form::full) {
    tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
    options.fd = fd;
    start(of, options, form);
  }
  // Returns whether the last attempt to write lines has failed. They stay in the log.
  bool has_failed() const { return tavola_log_drain_has_failed(handle_.get()); }
  // Writes all lines, ends the thread, and returns how many lines it has written.
  std::uint64_t stop() {
    std::uint64_t lines = 0;
    detail::check(tavola_log_drain_stop(handle_.release(), &lines));
    return lines;
  }

 private:
  static void end(tavola_log_drain_thread* thread) { tavola_log_drain_stop(thread, nullptr); }
  void start(const log& of, tavola_log_drain_options& options, log_form form) {
    options.form = static_cast<std::int32_t>(form);
    tavola_log_drain_thread* made = nullptr;
    detail::check(tavola_log_drain_start(of.get(), &options, &made));
    handle_.reset(made);
  }

  detail::handle<tavola_log_drain_thread, end> handle_;
};

// Reads the lines of a log, and leaves them for others. It keeps the log open.
class log_reader {
 public:
  explicit log_reader(const log& of) {
    tavola_log_reader* made = nullptr;
    detail::check(tavola_log_reader_open(of.get(), &made));
    handle_.reset(made);
  }
  // Calls `each(line)` for the lines that this reader has not returned before. If it throws, the
  // reader skips the rest.
  template <typename F>
  void lines(F&& each) {
    tell(tavola_log_reader_lines, each);
  }
  // Does the same as `lines`, without those of the last millisecond, and in order from call to
  // call.
  template <typename F>
  void follow(F&& each) {
    tell(tavola_log_reader_follow, each);
  }
  void skip() { detail::check(tavola_log_reader_skip(handle_.get())); }
  // Returns how many pieces of 16 KiB were overwritten between two calls and not seen.
  std::uint64_t missed() const { return tavola_log_reader_missed(handle_.get()); }

 private:
  template <typename Tell, typename F>
  void tell(Tell tell, F& each) {
    detail::guarded<F> guard(each);
    auto told = [](void* user, const tavola_line* line) {
      static_cast<detail::guarded<F>*>(user)->run([&](F& each) { each(tavola::line(line)); });
    };
    guard.check(tell(handle_.get(), told, &guard));
  }

  detail::handle<tavola_log_reader, tavola_log_reader_close> handle_;
};

}  // namespace tavola

#endif

// Constant files of Tavola for C++17; a part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_CDB_HPP
#define TAVOLA_CDB_HPP

#include <tavola_detail.hpp>

namespace tavola {

// An open constant file: cdb of 32 or 64 bits, or frozen. Threads may share it.
class cdb {
 public:
  static cdb open(const std::string& path) {
    tavola_cdb* made = nullptr;
    detail::check(tavola_cdb_open(path.c_str(), &made));
    return cdb(made);
  }
  // Looks at the name at most once in `interval`, and reads the file that has it then.
  static cdb open_followed(const std::string& path,
                           std::chrono::milliseconds interval = std::chrono::seconds(1)) {
    tavola_cdb* made = nullptr;
    const auto given = interval.count() < 0 ? 0 : interval.count();
    detail::check(
        tavola_cdb_open_followed(path.c_str(), static_cast<std::uint64_t>(given), &made));
    return cdb(made);
  }
  // Takes over a handle of C.
  explicit cdb(tavola_cdb* handle) noexcept : handle_(handle) {}
  tavola_cdb* get_handle() const noexcept { return handle_.get(); }

  // The first value of a key, or nothing.
  std::optional<std::string> get(std::string_view key) const {
    detail::text value;
    return value.take_if_done(
        tavola_cdb_get(get_handle(), key.data(), key.size(), value.buffer()));
  }
  bool contains(std::string_view key) const {
    return detail::done(tavola_cdb_contains(get_handle(), key.data(), key.size()));
  }
  // Where the first value of a key is in the file, and how many bytes it has; or nothing.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> position(std::string_view key) const {
    std::uint64_t at = 0, len = 0;
    const bool is_there =
        detail::done(tavola_cdb_position(get_handle(), key.data(), key.size(), &at, &len));
    return is_there ? std::optional(std::make_pair(at, len)) : std::nullopt;
  }
  // All values of a key, in the order in which they were written.
  std::vector<std::string> get_all(std::string_view key) const {
    tavola_cdb_find* made = nullptr;
    detail::check(tavola_cdb_find_open(get_handle(), key.data(), key.size(), &made));
    const detail::handle<tavola_cdb_find, tavola_cdb_find_close> find(made);
    std::vector<std::string> values;
    tavola_bytes value;
    while (detail::done(tavola_cdb_find_next(find.get(), &value))) {
      values.emplace_back(static_cast<const char*>(value.data), value.len);
    }
    return values;
  }
  // Calls `each` with the key and the value of all records, which are lent for the call.
  template <typename F>
  void for_each(F&& each) const {
    tavola_cdb_iter* made = nullptr;
    detail::check(tavola_cdb_iter_open(get_handle(), &made));
    const detail::handle<tavola_cdb_iter, tavola_cdb_iter_close> iter(made);
    tavola_bytes key, value;
    while (detail::done(tavola_cdb_iter_next(iter.get(), &key, &value))) {
      each(std::string_view(static_cast<const char*>(key.data), key.len),
           std::string_view(static_cast<const char*>(value.data), value.len));
    }
  }
  // Checks the whole file. Returns the number of records.
  std::uint64_t check() const {
    std::uint64_t records = 0;
    detail::check(tavola_cdb_check(get_handle(), &records));
    return records;
  }
  // Opens the file that has the name now. Returns whether it is another one.
  bool refresh() {
    int moved = 0;
    detail::check(tavola_cdb_refresh(get_handle(), &moved));
    return moved != 0;
  }
  std::uint64_t len() const { return tavola_cdb_len(get_handle()); }
  std::uint64_t size_bytes() const { return tavola_cdb_size_bytes(get_handle()); }
  tavola_cdb_format format() const {
    return static_cast<tavola_cdb_format>(tavola_cdb_format_of(get_handle()));
  }
  std::string path() const { return detail::lent(tavola_cdb_path(get_handle())); }

 private:
  detail::handle<tavola_cdb, tavola_cdb_close> handle_;
};

// Options of a new constant file; see tavola_cdb_options.
struct cdb_options {
  tavola_cdb_format format = TAVOLA_CDB_FORMAT_32;
  std::uint32_t mode = 0;
  bool keep_first = false;
  bool unsynced = false;
};

// Writes a constant file. Without `finish` the old file stays.
class cdb_writer {
 public:
  explicit cdb_writer(const std::string& path, const cdb_options& with = {}) {
    auto given = TAVOLA_INIT(tavola_cdb_options);
    given.format = with.format;
    given.mode = with.mode;
    given.keep_first = with.keep_first ? 1 : 0;
    given.unsynced = with.unsynced ? 1 : 0;
    tavola_cdb_writer* made = nullptr;
    detail::check(tavola_cdb_writer_open(path.c_str(), &given, &made));
    handle_.reset(made);
  }
  // Returns whether the key was there; TAVOLA_CDB_ADD does not look, and returns false.
  bool put(std::string_view key, std::string_view value,
           tavola_cdb_mode mode = TAVOLA_CDB_ADD) {
    int existed = 0;
    const auto status = tavola_cdb_writer_put(handle_.get(), key.data(), key.size(),
                                              value.data(), value.size(), mode, &existed);
    return !detail::done(status) || existed != 0;
  }
  bool contains(std::string_view key) {
    return detail::done(tavola_cdb_writer_contains(handle_.get(), key.data(), key.size()));
  }
  std::uint64_t len() const { return tavola_cdb_writer_len(handle_.get()); }
  void finish() { detail::check(tavola_cdb_writer_finish(handle_.get())); }

 private:
  detail::handle<tavola_cdb_writer, tavola_cdb_writer_close> handle_;
};

}  // namespace tavola

#endif  // TAVOLA_CDB_HPP

// Names and options of tables, for C++17. A part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_NAMES_HPP
#define TAVOLA_NAMES_HPP

#include <tavola_detail.hpp>

namespace tavola {

// Options of a table; see tavola_options. In C++20:
// `tavola::table::open("cache", {.capacity = 64 << 20, .ttl = 10min});`
struct options {
  // The most bytes that a new table may grow to; 0: the default.
  std::uint64_t max_size = 0;
  // Makes a new table a cache of so many bytes; 0: it is not a cache.
  std::uint64_t capacity = 0;
  // How long keys of a new table live; zero: for ever.
  std::chrono::milliseconds ttl = {};
  // The mode of a new table's file; 0: 0600.
  std::uint32_t mode = 0;
  // Shards of a new table; 0: the default.
  std::uint32_t shards = 0;
  // The length of all keys and of all values of a new table; 0: any.
  std::uint32_t fixed_key = 0, fixed_value = 0;
  bool uids = false, background = false, versions = false, core_dumps = false, any_owner = false;
  // When a change of a new table is on disk; TAVOLA_DURABLE_NONE: it is in memory only.
  tavola_durable durable = TAVOLA_DURABLE_NONE;
  // The time of TAVOLA_DURABLE_WITHIN; zero: 50 ms.
  std::chrono::milliseconds sync = {};
  // With whom a new table goes, and the process of TAVOLA_LIVES_WITH_PROCESS; 0: this process.
  tavola_lives_with lives_with = TAVOLA_LIVES_WITH_NOBODY;
  std::uint32_t owner_pid = 0;
};

namespace detail {
inline tavola_options to(const options& with) noexcept {
  tavola_options given = TAVOLA_INIT(tavola_options);
  given.max_size = with.max_size;
  given.capacity = with.capacity;
  given.ttl_ms = milliseconds(with.ttl);
  given.mode = with.mode;
  given.shards = with.shards;
  given.fixed_key = with.fixed_key;
  given.fixed_value = with.fixed_value;
  given.uids = with.uids;
  given.background = with.background;
  given.versions = with.versions;
  given.core_dumps = with.core_dumps;
  given.any_owner = with.any_owner;
  given.durable = with.durable;
  given.sync_ms = static_cast<std::uint32_t>(milliseconds(with.sync));
  given.lives_with = static_cast<std::int32_t>(with.lives_with);
  given.owner_pid = with.owner_pid;
  return given;
}
}  // namespace detail

using hint = tavola_hint;
using tags = tavola_tags;
using maintained = tavola_maintained;

// The state of a table; see tavola_stats.
struct stats : tavola_stats {
  stats() noexcept : tavola_stats(TAVOLA_INIT(tavola_stats)) {}
  // How long keys live if they have no time of their own; zero: for ever.
  std::chrono::milliseconds ttl() const noexcept { return std::chrono::milliseconds(ttl_ms); }
  std::chrono::system_clock::time_point created() const noexcept {
    return std::chrono::system_clock::time_point(std::chrono::seconds(created_unix_s));
  }
};

// A size class of blocks that is in use; see tavola_class.
using size_class = tavola_class;

// Returns the version of the library. TAVOLA_VERSION is that of the header.
inline std::string_view version() noexcept { return tavola_version(); }

// Returns the name of a status, such as "TAVOLA_NOT_FOUND".
inline std::string_view name_of(tavola_status status) noexcept {
  return tavola_status_name(status);
}

// The directory of tables.
namespace names {
inline std::string directory() {
  detail::text path;
  return path.take(tavola_names_directory(path.buffer()));
}
inline std::string path_of(const std::string& name) {
  detail::text path;
  return path.take(tavola_names_path_of(name.c_str(), path.buffer()));
}
// Returns why processes may not see each other's writes there, or nothing if they do.
inline std::optional<std::string> warning(const std::string& name) {
  detail::text text;
  return text.take_if_done(tavola_names_warning(name.c_str(), text.buffer()));
}
inline std::vector<std::string> list() { return detail::texts(tavola_names_list); }
inline void remove(const std::string& name) { detail::check(tavola_names_remove(name.c_str())); }
inline void rename(const std::string& from, const std::string& to) {
  detail::check(tavola_names_rename(from.c_str(), to.c_str()));
}
inline void remove_any_owner(const std::string& name) {
  detail::check(tavola_names_remove_any_owner(name.c_str()));
}
}  // namespace names

}  // namespace tavola

#endif

// Where tables are, and their options, in C++; a part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_NAMES_HPP
#define TAVOLA_NAMES_HPP

#include <tavola_detail.hpp>

namespace tavola {

// Options of a table; see tavola_options.
struct options : tavola_options {
  options() noexcept : tavola_options(TAVOLA_INIT(tavola_options)) {}
};

using hint = tavola_hint;
using tags = tavola_tags;
using stats = tavola_stats;
using maintained = tavola_maintained;

// A size class of blocks that is in use; see tavola_class.
using size_class = tavola_class;

// The version of the library; that of the header is TAVOLA_VERSION.
inline std::string_view version() noexcept { return tavola_version(); }

// The name of a status, as "TAVOLA_NOT_FOUND".
inline std::string_view name_of(tavola_status status) noexcept {
  return tavola_status_name(status);
}

// Where tables are.
namespace names {
inline std::string directory() {
  detail::text path;
  return path.take(tavola_names_directory(path.buffer()));
}
inline std::string path_of(const std::string& name) {
  detail::text path;
  return path.take(tavola_names_path_of(name.c_str(), path.buffer()));
}
// Why processes may not see each other's writes there; nothing if they do.
inline std::optional<std::string> warning(const std::string& name) {
  detail::text text;
  return text.take_if_done(tavola_names_warning(name.c_str(), text.buffer()));
}
inline std::vector<std::string> list() { return detail::texts(tavola_names_list); }
inline void remove(const std::string& name) { detail::check(tavola_names_remove(name.c_str())); }
inline void remove_any_owner(const std::string& name) {
  detail::check(tavola_names_remove_any_owner(name.c_str()));
}
}  // namespace names

}  // namespace tavola

#endif

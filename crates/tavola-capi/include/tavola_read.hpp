// The reading functions of a table, for C++17. A part of tavola.hpp, which
// includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_READ_HPP
#define TAVOLA_READ_HPP

#include <tavola_lease.hpp>
#include <tavola_names.hpp>

namespace tavola {

// The functions of `table` that read.
class table_reads {
 protected:
  using view = std::string_view;

 public:
  // Takes over a handle of C.
  explicit table_reads(tavola_table* handle) noexcept : handle_(handle) {}
  tavola_table* get() const noexcept { return handle_.get(); }

  std::optional<std::string> get(view key) const {
    detail::text value;
    return value.take_if_done(tavola_get(get(), key.data(), key.size(), value.buffer()));
  }
  // Copies the value to `data` if it fits there, and returns its length in any case.
  std::optional<std::size_t> get_to(view key, void* data, std::size_t capacity) const {
    tavola_buffer room = TAVOLA_BUFFER(data, capacity);
    return detail::length(tavola_get(get(), key.data(), key.size(), &room), room);
  }
#ifdef __cpp_lib_span
  std::optional<std::size_t> get_to(view key, std::span<std::byte> out) const {
    return get_to(key, out.data(), out.size());
  }
#endif
  // Lends the value without a copy; see tavola_get_view.
  std::optional<value_view> get_view(view key) const {
    tavola_view* lent = nullptr;
    if (!detail::done(tavola_get_view(get(), key.data(), key.size(), &lent))) return std::nullopt;
    return value_view(lent);
  }
  bool contains(view key) const {
    return detail::done(tavola_contains(get(), key.data(), key.size()));
  }
  // Returns the length of a value, or nothing if the key does not exist.
  std::optional<std::size_t> value_len(view key) const {
    std::size_t len = 0;
    if (!detail::done(tavola_value_len(get(), key.data(), key.size(), &len))) return std::nullopt;
    return len;
  }
  // Returns at most `max` bytes of a value, beginning with byte `start`.
  std::optional<std::string> get_range(view key, std::uint64_t start, std::size_t max) const {
    detail::text part;
    return part.take_if_done(
        tavola_get_range(get(), key.data(), key.size(), start, max, part.buffer()));
  }

  struct with_token {
    std::string value;
    std::uint64_t token;
  };
  std::optional<with_token> get_with_token(view key) const {
    detail::text value;
    std::uint64_t token = 0;
    auto found = value.take_if_done(
        tavola_get_with_token(get(), key.data(), key.size(), value.buffer(), &token));
    if (!found) return std::nullopt;
    return with_token{std::move(*found), token};
  }
  // Returns the token of every key that has this value, if it was not read by `get_with_token`.
  std::uint64_t token_of(view value) const {
    std::uint64_t token = 0;
    detail::check(tavola_token_of(get(), value.data(), value.size(), &token));
    return token;
  }

  struct with_attributes {
    std::string value;
    tavola::attributes attributes;
    // For `compare_and_swap`.
    std::uint64_t token;
  };
  std::optional<with_attributes> get_entry(view key) const {
    return read_entry([&](auto... out) {
      return tavola_get_entry(get(), key.data(), key.size(), out...);
    });
  }
  // Returns how long a key will live, which may be `for_ever`, or nothing if it does not exist.
  std::optional<std::chrono::milliseconds> ttl(view key) const {
    std::int64_t ttl_ms = 0;
    if (!detail::done(tavola_ttl(get(), key.data(), key.size(), &ttl_ms))) return std::nullopt;
    return detail::ttl(ttl_ms);
  }

  // Calls `each(position, value)` for each key, in order. The value is an optional view.
  template <typename F>
  void get_many(const std::vector<view>& keys, F&& each) const {
    read_each(tavola_get_many, detail::all_bytes(keys), each);
  }
  // Calls `each(position, value, attributes)` for each key, in order.
  template <typename F>
  void get_many_entries(const std::vector<view>& keys, F&& each) const {
    const auto given = detail::all_bytes(keys);
    using function = std::remove_reference_t<F>;
    detail::guarded<function> guard(each);
    auto tell = [](void* user, std::size_t at, const void* value, std::size_t len,
                   const tavola_attributes* has) {
      std::optional<view> found;
      if (value != nullptr) found.emplace(static_cast<const char*>(value), len);
      const auto beside = has == nullptr ? attributes{} : detail::from(*has);
      static_cast<detail::guarded<function>*>(user)->run(
          [&](function& f) { f(at, found, beside); });
    };
    guard.check(tavola_get_many_entries(get(), given.data(), given.size(), tell, &guard));
  }
  // Prefetches the memory that calls with these keys need. Make these calls at once.
  void prefetch(const std::vector<view>& keys) const {
    const auto given = detail::all_bytes(keys);
    detail::check(tavola_prefetch(get(), given.data(), given.size()));
  }


  std::optional<std::string> get_by_uid(hint uid) const {
    detail::text value;
    return value.take_if_done(tavola_get_by_uid(get(), uid, value.buffer()));
  }
  std::optional<std::size_t> get_by_uid_to(hint uid, void* data, std::size_t capacity) const {
    tavola_buffer room = TAVOLA_BUFFER(data, capacity);
    return detail::length(tavola_get_by_uid(get(), uid, &room), room);
  }
#ifdef __cpp_lib_span
  std::optional<std::size_t> get_by_uid_to(hint uid, std::span<std::byte> out) const {
    return get_by_uid_to(uid, out.data(), out.size());
  }
#endif
  std::optional<with_attributes> get_entry_by_uid(hint uid) const {
    return read_entry([&](auto... out) { return tavola_get_entry_by_uid(get(), uid, out...); });
  }
  // Calls `each(position, value)` for each uid, in order. The value is an optional view.
  template <typename F>
  void get_many_by_uid(const std::vector<hint>& uids, F&& each) const {
    read_each(tavola_get_many_by_uid, uids, each);
  }
  std::optional<std::string> key_of_uid(hint uid) const {
    detail::text key;
    return key.take_if_done(tavola_key_of_uid(get(), uid, key.buffer()));
  }
  // Returns the names of a key's tags, or nothing if the key does not exist.
  std::optional<std::vector<std::string>> tags_of(view key) const {
    return detail::names(tavola_tags_of, get(), key.data(), key.size());
  }

  // Iterate over the keys, in no particular order: `for (auto [key, value] : table.iter())`. With a
  // prefix they look at every key and return those that begin with it.
  tavola::iter iter() const { return tavola::iter(get()); }
  tavola::iter iter_prefix(view prefix) const { return tavola::iter(get(), prefix); }
  tavola::iter_with_attributes iter_with_attributes(view prefix = {}) const {
    return tavola::iter_with_attributes(get(), prefix);
  }
  iter_keys keys() const { return iter_keys(get()); }
  iter_keys keys_with_prefix(view prefix) const { return iter_keys(get(), prefix); }

 protected:
  template <typename Get>
  static std::optional<with_attributes> read_entry(Get call) {
    detail::text value;
    tavola_attributes had = TAVOLA_INIT(tavola_attributes);
    std::uint64_t token = 0;
    auto found = value.take_if_done(call(value.buffer(), &had, &token));
    if (!found) return std::nullopt;
    return with_attributes{std::move(*found), detail::from(had), token};
  }

  template <typename Get, typename Asked, typename F>
  void read_each(Get call, const Asked& asked, F& each) const {
    detail::guarded<F> guard(each);
    auto tell = [](void* user, std::size_t at, const void* value, std::size_t len) {
      std::optional<view> found;
      if (value != nullptr) found.emplace(static_cast<const char*>(value), len);
      static_cast<detail::guarded<F>*>(user)->run([&](F& f) { f(at, found); });
    };
    guard.check(call(get(), asked.data(), asked.size(), tell, &guard));
  }

  detail::handle<tavola_table, tavola_close> handle_;
};

}  // namespace tavola

#endif

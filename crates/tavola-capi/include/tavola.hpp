// Tavola for C++17: tavola.h in classes that close what they hold. Only a header; link libtavola.
//
// Errors are thrown as `tavola::error`; what is not there is an empty `std::optional` or false.
// Keys and values are any bytes, as `std::string_view` in and `std::string` out. Objects move and
// do not copy. All else (threads, fork, signals, crash) is as told at the top of tavola.h, and of
// each function there.
// Functions that are handed in may throw: the call ends as soon as it can, and what was thrown goes
// on to its caller.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_HPP
#define TAVOLA_HPP

#include <tavola_lease.hpp>
#include <tavola_names.hpp>

namespace tavola {

// A table; threads share it freely.
class table {
  using view = std::string_view;

 public:
  static table open(const std::string& name, const options& with = {}) {
    return make(tavola_open, name, with);
  }
  static table create(const std::string& name, const options& with = {}) {
    return make(tavola_create, name, with);
  }
  static table open_existing(const std::string& name, const options& with = {}) {
    return make(tavola_open_existing, name, with);
  }
  static table open_read_only(const std::string& name, const options& with = {}) {
    return make(tavola_open_read_only, name, with);
  }
  static table open_private(const options& with = {}) {
    tavola_table* made = nullptr;
    detail::check(tavola_open_private(&with, &made));
    return table(made);
  }
  // Takes over a handle of C.
  explicit table(tavola_table* handle) noexcept : handle_(handle) {}
  tavola_table* get() const noexcept { return handle_.get(); }
  // See tavola_refresh; true: this is another table now. No other thread may be using it.
  bool refresh() {
    tavola_table* handle = handle_.release();
    int moved = 0;
    const tavola_status outcome = tavola_refresh(&handle, &moved);
    handle_.reset(handle);
    detail::check(outcome);
    return moved != 0;
  }
  std::string path() const { return detail::lent(tavola_path(get())); }
  bool is_read_only() const { return tavola_is_read_only(get()); }

  std::optional<std::string> get(view key) const {
    detail::text value;
    return value.take_if_done(tavola_get(get(), key.data(), key.size(), value.buffer()));
  }
  // Into bytes of the caller's: the length of the value, which stands at `data` now if it has room
  // there. A longer one is not copied.
  std::optional<std::size_t> get_to(view key, void* data, std::size_t capacity) const {
    tavola_buffer room = TAVOLA_BUFFER(data, capacity);
    return detail::length(tavola_get(get(), key.data(), key.size(), &room), room);
  }
#ifdef __cpp_lib_span
  std::optional<std::size_t> get_to(view key, std::span<std::byte> out) const {
    return get_to(key, out.data(), out.size());
  }
#endif
  // Lent where it stands; see tavola_get_view.
  std::optional<value_view> get_view(view key) const {
    tavola_view* lent = nullptr;
    if (!detail::done(tavola_get_view(get(), key.data(), key.size(), &lent))) return std::nullopt;
    return value_view(lent);
  }
  bool contains(view key) const {
    return detail::done(tavola_contains(get(), key.data(), key.size()));
  }
  void set(view key, view value) { write(tavola_set, key, value); }
  bool add(view key, view value) { return write(tavola_add, key, value); }
  bool replace(view key, view value) { return write(tavola_replace, key, value); }
  void set(view key, view value, const attributes& with) {
    write(tavola_set_with, key, value, with);
  }
  bool add(view key, view value, const attributes& with) {
    return write(tavola_add_with, key, value, with);
  }
  bool replace(view key, view value, const attributes& with) {
    return write(tavola_replace_with, key, value, with);
  }
  bool append(view key, view more) { return write(tavola_append, key, more); }
  bool prepend(view key, view more) { return write(tavola_prepend, key, more); }
  bool remove(view key) { return detail::done(tavola_remove(get(), key.data(), key.size())); }
  std::optional<std::string> take(view key) {
    detail::text value;
    return value.take_if_done(tavola_take(get(), key.data(), key.size(), value.buffer()));
  }
  std::optional<std::string> swap(view key, view value) {
    detail::text old;
    return old.take_if_done(tavola_swap(get(), key.data(), key.size(), value.data(), value.size(),
                                        old.buffer()));
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
  // The token of any key that has this value, which was read otherwise than by `get_with_token`.
  std::uint64_t token_of(view value) const {
    std::uint64_t token = 0;
    detail::check(tavola_token_of(get(), value.data(), value.size(), &token));
    return token;
  }
  // TAVOLA_OK, TAVOLA_CHANGED or TAVOLA_NOT_FOUND.
  tavola_status compare_and_swap(view key, std::uint64_t token, view value) {
    return detail::check(tavola_compare_and_swap(get(), key.data(), key.size(), token,
                                                 value.data(), value.size()));
  }

  tavola_status compare_and_swap(view key, std::uint64_t token, view value,
                                 const attributes& with) {
    const auto given = detail::to(with);
    return detail::check(tavola_compare_and_swap_with(get(), key.data(), key.size(), token,
                                                      value.data(), value.size(), &given));
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
  // How long a key will live, `for_ever` perhaps; nothing: it is missing.
  std::optional<std::chrono::milliseconds> ttl(view key) const {
    std::int64_t ttl_ms = 0;
    if (!detail::done(tavola_ttl(get(), key.data(), key.size(), &ttl_ms))) return std::nullopt;
    return detail::ttl(ttl_ms);
  }
  // Lets a key expire at another time; `with` has no flags, as a key keeps its own.
  bool touch(view key, const attributes& with) {
    const auto given = detail::to(with);
    return detail::done(tavola_touch(get(), key.data(), key.size(), &given));
  }
  bool persist(view key) { return detail::done(tavola_persist(get(), key.data(), key.size())); }
  // As `touch`; with the attributes that the key had before.
  std::optional<with_attributes> get_and_touch(view key, const attributes& with) {
    const auto given = detail::to(with);
    return read_entry([&](auto... out) {
      return tavola_get_and_touch(get(), key.data(), key.size(), &given, out...);
    });
  }

  std::uint64_t incr(view key, std::uint64_t by = 1) { return count(tavola_incr, key, by); }
  std::uint64_t decr(view key, std::uint64_t by = 1) { return count(tavola_decr, key, by); }
  std::optional<std::uint64_t> incr_from(view key, std::uint64_t by,
                                         std::optional<std::uint64_t> initial) {
    return count_from(tavola_incr_from, key, by, initial);
  }
  // A key that was missing gets the attributes, any other keeps its own.
  std::uint64_t incr(view key, std::uint64_t by, const attributes& with) {
    return incr_from(key, by, by, with).value();
  }
  std::uint64_t decr(view key, std::uint64_t by, const attributes& with) {
    return decr_from(key, by, 0, with).value();
  }
  std::optional<std::uint64_t> incr_from(view key, std::uint64_t by,
                                         std::optional<std::uint64_t> initial,
                                         const attributes& with) {
    return count_from(tavola_incr_with, key, by, initial, with);
  }
  std::optional<std::uint64_t> decr_from(view key, std::uint64_t by,
                                         std::optional<std::uint64_t> initial,
                                         const attributes& with) {
    return count_from(tavola_decr_with, key, by, initial, with);
  }
  std::optional<std::uint64_t> decr_from(view key, std::uint64_t by,
                                         std::optional<std::uint64_t> initial) {
    return count_from(tavola_decr_from, key, by, initial);
  }

  // `change` gets the old value, or nothing, and gives the new one, or nothing to remove the key.
  // Whether the key is there then. If `change` throws, the value stays.
  template <typename F>
  bool update(view key, F&& change) {
    using changing = detail::changing<F>;
    changing asked(change);
    return asked.guard.check(tavola_update(get(), key.data(), key.size(), changing::ask,
                                           &asked)) == TAVOLA_OK;
  }

  // The value, which one process of all that ask for it computes if it is missing or stale. If
  // `compute` throws, that goes on to its caller, and others are told for a while.
  template <typename F>
  std::string get_or_compute(view key, const lease_options& with, F&& compute) {
    return detail::compute(compute, [&](auto... rest) {
      const auto given = detail::to(with);
      return tavola_get_or_compute(get(), key.data(), key.size(), &given, rest...);
    });
  }
  // As `get_or_compute`, of a value that gets tags of these names, taken before it is computed.
  template <typename F>
  std::string get_or_compute_tagged(view key, const lease_options& with,
                                    const std::vector<view>& tags, F&& compute) {
    return detail::compute(compute, [&](auto... rest) {
      const auto given = detail::to(with);
      const auto names = detail::all_bytes(tags);
      return tavola_get_or_compute_tagged(get(), key.data(), key.size(), &given, names.data(),
                                          names.size(), rest...);
    });
  }
  // The value, or the lease to compute it.
  leased get_or_lease(view key, const lease_options& with) {
    const auto given = detail::to(with);
    return detail::ask_for_lease([&](auto... out) {
      return tavola_get_or_lease(get(), key.data(), key.size(), &given, out...);
    });
  }

  // Calls `each(position, value)` for each key, in order; the value is an optional view.
  template <typename F>
  void get_many(const std::vector<view>& keys, F&& each) const {
    const auto given = detail::all_bytes(keys);
    using function = std::remove_reference_t<F>;
    detail::guarded<function> guard(each);
    auto tell = [](void* user, std::size_t at, const void* value, std::size_t len) {
      std::optional<view> found;
      if (value != nullptr) found.emplace(static_cast<const char*>(value), len);
      static_cast<detail::guarded<function>*>(user)->run([&](function& f) { f(at, found); });
    };
    guard.check(tavola_get_many(get(), given.data(), given.size(), tell, &guard));
  }
  // As `get_many`, calling `each(position, value, attributes)`; both are of one moment.
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
  void set_many(const std::vector<std::pair<view, view>>& pairs, const attributes& with = {}) {
    std::vector<tavola_pair> given;
    given.reserve(pairs.size());
    for (auto& [key, value] : pairs) given.push_back({detail::bytes(key), detail::bytes(value)});
    const auto all = detail::to(with);
    detail::check(tavola_set_many_with(get(), given.data(), given.size(), &all));
  }
  // As `set_many`; each key gets attributes of its own.
  void set_many_entries(const std::vector<full_entry>& entries) {
    std::vector<tavola_attributes> beside;
    std::vector<tavola_entry> given;
    beside.reserve(entries.size());
    given.reserve(entries.size());
    for (auto& [key, value, with] : entries) {
      beside.push_back(detail::to(with));
      given.push_back({detail::bytes(key), detail::bytes(value), &beside.back()});
    }
    detail::check(tavola_set_many_entries(get(), given.data(), given.size()));
  }
  // Has the memory fetched that calls on these keys will look at, which are to follow at once.
  void prefetch(const std::vector<view>& keys) const {
    const auto given = detail::all_bytes(keys);
    detail::check(tavola_prefetch(get(), given.data(), given.size()));
  }

  // Tags of these names as they are now, made where they are not there yet: to be taken before what a
  // value is made of is read.
  tags fetch_tags(const std::vector<view>& names) {
    const auto given = detail::all_bytes(names);
    tags found = TAVOLA_INIT(tavola_tags);
    detail::check(tavola_fetch_tags(get(), given.data(), given.size(), &found));
    return found;
  }
  // The key is missing as soon as one of its tags is invalidated.
  void set_tagged(view key, view value, const attributes& with, const tags& has) {
    const auto given = detail::to(with);
    detail::check(tavola_set_tagged(get(), key.data(), key.size(), value.data(), value.size(), &given,
                                    &has));
  }
  // Whether there was such a tag.
  bool invalidate_tag(view name) {
    return detail::done(tavola_invalidate_tag(get(), name.data(), name.size()));
  }
  // The names of the tags that a key has; none: it is missing.
  std::optional<std::vector<std::string>> tags_of(view key) const {
    return detail::names(tavola_tags_of, get(), key.data(), key.size());
  }

  std::optional<hint> uid_of(view key) {
    hint found = 0;
    if (!detail::done(tavola_uid_of(get(), key.data(), key.size(), &found))) return std::nullopt;
    return found;
  }
  hint set_uid(view key, view value) {
    hint made = 0;
    detail::check(
        tavola_set_uid(get(), key.data(), key.size(), value.data(), value.size(), &made));
    return made;
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
  bool set_by_uid(hint uid, view value) {
    return detail::done(tavola_set_by_uid(get(), uid, value.data(), value.size()));
  }
  // As `update`, of the key with this uid: there is always an old value. Where no key has it,
  // `change` is not called.
  template <typename F>
  bool update_by_uid(hint uid, F&& change) {
    using changing = detail::changing<F>;
    changing asked(change);
    return asked.guard.check(tavola_update_by_uid(get(), uid, changing::ask, &asked)) == TAVOLA_OK;
  }
  bool remove_by_uid(hint uid) { return detail::done(tavola_remove_by_uid(get(), uid)); }
  std::optional<std::string> key_of_uid(hint uid) const {
    detail::text key;
    return key.take_if_done(tavola_key_of_uid(get(), uid, key.buffer()));
  }

  tavola::iter iter() const { return tavola::iter(get()); }
  tavola::iter_with_attributes iter_with_attributes() const {
    return tavola::iter_with_attributes(get());
  }
  std::uint64_t len() const {
    std::uint64_t keys = 0;
    detail::check(tavola_len(get(), &keys));
    return keys;
  }
  void clear() { detail::check(tavola_clear(get())); }
  tavola::stats stats() const {
    tavola_stats found = TAVOLA_INIT(tavola_stats);
    detail::check(tavola_get_stats(get(), &found));
    return found;
  }
  std::vector<size_class> classes() const {
    return detail::list<size_class>(tavola_classes, get());
  }
  std::vector<participant> participants() const {
    return detail::list<participant>(tavola_participants, get());
  }
  // What was done with a cache in the last second, the last ten and the last sixty.
  std::vector<tavola::recent> recent() const {
    return detail::list<tavola::recent>(tavola_get_recent, get());
  }
  // How long its reads and writes took, by samples: from short times to long ones.
  std::vector<latency> latencies() const { return detail::list<latency>(tavola_latencies, get()); }
  // The times within which that part of them, 0 to 1, was done, estimated; zero: none was timed.
  latency_quantiles latency_quantile(double part) const {
    return detail::quantiles(get(), part);
  }
  std::vector<shard> shard_stats() const { return detail::list<shard>(tavola_shard_stats, get()); }
  std::vector<holder> lock_holders() const { return detail::list<holder>(tavola_lock_holders, get()); }
  // How long each lock is waited for while its holder lives; without a value as long as it takes.
  void set_lock_timeout(std::optional<std::chrono::milliseconds> limit) {
    detail::check(tavola_set_lock_timeout(get(), detail::limit_ms(limit)));
  }
  tavola_live_keys live_keys() const { return detail::live_keys(get()); }
  check_report check() const { return detail::report(tavola_check, get()); }
  check_report repair() { return detail::report(tavola_repair, get()); }
  // Copies all keys into a new table while others use this one; returns how many keys it has.
  std::uint64_t copy_to(const std::string& name) const {
    std::uint64_t keys = 0;
    detail::check(tavola_copy_to(get(), name.c_str(), &keys));
    return keys;
  }
  std::uint64_t compact() {
    std::uint64_t given_back = 0;
    detail::check(tavola_compact(get(), &given_back));
    return given_back;
  }
  void remove_expired() { detail::check(tavola_remove_expired(get())); }
  tavola::maintained maintain(std::uint64_t budget_bytes) {
    tavola_maintained did = TAVOLA_INIT(tavola_maintained);
    detail::check(tavola_maintain(get(), budget_bytes, &did));
    return did;
  }
  // How many bytes a cache may take; nothing: the table is no cache.
  std::optional<std::uint64_t> capacity() const {
    std::uint64_t bytes = 0;
    detail::check(tavola_capacity(get(), &bytes));
    return bytes == 0 ? std::nullopt : std::make_optional(bytes);
  }
  void set_capacity(std::uint64_t bytes) { detail::check(tavola_set_capacity(get(), bytes)); }
  void set_max_size(std::uint64_t bytes) { detail::check(tavola_set_max_size(get(), bytes)); }
  std::uint32_t reap() {
    std::uint32_t freed = 0;
    detail::check(tavola_reap(get(), &freed));
    return freed;
  }
  std::vector<std::string> pools() const { return detail::texts(tavola_pools, get()); }
  std::vector<std::string> logs() const { return detail::texts(tavola_logs, get()); }
  // Whether all came in time.
  bool barrier_wait(view key, std::uint32_t count, std::chrono::milliseconds timeout = for_ever) {
    return detail::done(tavola_barrier_wait(get(), key.data(), key.size(), count,
                                          detail::milliseconds(timeout)));
  }

 private:
  template <typename Open>
  static table make(Open call, const std::string& name, const options& with) {
    tavola_table* made = nullptr;
    detail::check(call(name.c_str(), &with, &made));
    return table(made);
  }
  template <typename Write>
  bool write(Write call, view key, view value) {
    return detail::done(call(get(), key.data(), key.size(), value.data(), value.size()));
  }
  template <typename Write>
  bool write(Write call, view key, view value, const attributes& with) {
    const auto given = detail::to(with);
    return detail::done(call(get(), key.data(), key.size(), value.data(), value.size(), &given));
  }
  template <typename Get>
  static std::optional<with_attributes> read_entry(Get call) {
    detail::text value;
    tavola_attributes had = TAVOLA_INIT(tavola_attributes);
    std::uint64_t token = 0;
    auto found = value.take_if_done(call(value.buffer(), &had, &token));
    if (!found) return std::nullopt;
    return with_attributes{std::move(*found), detail::from(had), token};
  }
  template <typename Count>
  std::uint64_t count(Count call, view key, std::uint64_t by) {
    std::uint64_t now = 0;
    detail::check(call(get(), key.data(), key.size(), by, &now));
    return now;
  }
  template <typename Count>
  std::optional<std::uint64_t> count_from(Count call, view key, std::uint64_t by,
                                          std::optional<std::uint64_t> initial) {
    std::uint64_t now = 0;
    const std::uint64_t* from = initial ? &*initial : nullptr;
    if (!detail::done(call(get(), key.data(), key.size(), by, from, &now))) return std::nullopt;
    return now;
  }
  template <typename Count>
  std::optional<std::uint64_t> count_from(Count call, view key, std::uint64_t by,
                                          std::optional<std::uint64_t> initial,
                                          const attributes& with) {
    const auto given = detail::to(with);
    const auto giving = [&](auto* on, auto* bytes, std::size_t len, std::uint64_t step,
                            auto* from, auto* now) {
      return call(on, bytes, len, step, from, &given, now);
    };
    return count_from(giving, key, by, initial);
  }

  detail::handle<tavola_table, tavola_close> handle_;
};

// What the last `take` or `swap` of this thread removed that could not be handed over, as there was
// no memory: once.
inline std::optional<std::string> last_taken() {
  detail::text value;
  return value.take_if_done(tavola_last_taken(value.buffer()));
}

}  // namespace tavola

#include <tavola_batch.hpp>
#include <tavola_log.hpp>
#include <tavola_queue.hpp>

#endif

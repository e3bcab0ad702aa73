// What a table offers for writing, for C++17. A part of tavola.hpp, which
// includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_WRITE_HPP
#define TAVOLA_WRITE_HPP

#include <tavola_read.hpp>

namespace tavola {

// The functions of `table` that write.
class table_writes : public table_reads {
 public:
  using table_reads::table_reads;

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
  // Adds bytes after the value, and returns the new length. A key that does not exist is created.
  std::size_t append_with(view key, view more, const attributes& with = {}) {
    std::size_t len = 0;
    const auto given = detail::to(with);
    detail::check(tavola_append_with(get(), key.data(), key.size(), more.data(), more.size(),
                                     &given, &len));
    return len;
  }
  bool prepend(view key, view more) { return write(tavola_prepend, key, more); }
  // Adds bytes before the value, and returns the new length. A key that does not exist is created.
  std::size_t prepend_with(view key, view more, const attributes& with = {}) {
    std::size_t len = 0;
    const auto given = detail::to(with);
    detail::check(tavola_prepend_with(get(), key.data(), key.size(), more.data(), more.size(),
                                      &given, &len));
    return len;
  }
  bool remove(view key) { return detail::done(tavola_remove(get(), key.data(), key.size())); }
  // Removes the keys that begin with `prefix`, and returns how many. It looks at every key.
  std::uint64_t remove_prefix(view prefix) {
    std::uint64_t removed = 0;
    detail::check(tavola_remove_prefix(get(), prefix.data(), prefix.size(), &removed));
    return removed;
  }
  std::optional<std::string> take(view key) {
    detail::text value;
    return value.take_if_done(tavola_take(get(), key.data(), key.size(), value.buffer()));
  }
  std::optional<std::string> swap(view key, view value) {
    detail::text old;
    return old.take_if_done(tavola_swap(get(), key.data(), key.size(), value.data(), value.size(),
                                        old.buffer()));
  }

  // Sets a key as `how` says: `table.store("k", "v", {.condition = tavola::condition::absent})`.
  stored store(view key, view value, const store_options& how = {}) {
    tavola_attributes given = TAVOLA_INIT(tavola_attributes);
    if (how.attributes) given = detail::to(*how.attributes);
    tavola_store_options asked = TAVOLA_INIT(tavola_store_options);
    asked.condition = static_cast<std::int32_t>(how.condition);
    asked.token = how.token;
    asked.keep = how.keep;
    asked.attributes = how.attributes ? &given : nullptr;
    asked.tags = how.tags;
    asked.version = how.version;
    tavola_stored has = TAVOLA_INIT(tavola_stored);
    const auto status = detail::check(tavola_store(get(), key.data(), key.size(), value.data(),
                                                   value.size(), &asked, &has));
    return {status, has.token};
  }
  // Returns TAVOLA_OK, TAVOLA_CHANGED or TAVOLA_NOT_FOUND.
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

  // Removes a key. Returns TAVOLA_OK, TAVOLA_CHANGED or TAVOLA_NOT_FOUND.
  tavola_status compare_and_remove(view key, std::uint64_t token) {
    return detail::check(tavola_compare_and_remove(get(), key.data(), key.size(), token));
  }

  // Changes when a key expires. `with` must have no flags: the key keeps its own.
  bool touch(view key, const attributes& with) {
    const auto given = detail::to(with);
    return detail::done(tavola_touch(get(), key.data(), key.size(), &given));
  }
  bool persist(view key) { return detail::done(tavola_persist(get(), key.data(), key.size())); }
  // Does the same as `touch`, and returns the value and the attributes that the key had before.
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
  // A key that is created gets the attributes; any other keeps its own.
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

  // Adds to a signed number, and returns the sum. A key that does not exist counts as 0.
  std::int64_t add_number(view key, std::int64_t by = 1, const number_options& how = {}) {
    const auto given = detail::to(how.attributes);
    tavola_number_options asked = TAVOLA_INIT(tavola_number_options);
    asked.attributes = &given;
    asked.remove_zero = how.remove_zero;
    std::int64_t now = 0;
    detail::check(tavola_add_number_with(get(), key.data(), key.size(), by, &asked, &now));
    return now;
  }

  // Changes a value: `change` gets the old value, or nothing, and returns the new one, or nothing
  // to remove the key. Returns whether the key exists then. If `change` throws, the value stays.
  template <typename F>
  bool update(view key, F&& change) {
    using changing = detail::changing<F>;
    changing asked(change);
    return asked.guard.check(tavola_update(get(), key.data(), key.size(), changing::ask,
                                           &asked)) == TAVOLA_OK;
  }

  // Returns the value. If it is missing or stale, one of the processes that ask for it computes it.
  // An exception of `compute` reaches the caller; for a while other processes get the error, too.
  template <typename F>
  std::string get_or_compute(view key, const lease_options& with, F&& compute) {
    return detail::compute(compute, [&](auto... rest) {
      const auto given = detail::to(with);
      return tavola_get_or_compute(get(), key.data(), key.size(), &given, rest...);
    });
  }
  // Does the same as `get_or_compute`, for a value with tags of these names.
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
  // Returns the value, or the lease to compute it.
  leased get_or_lease(view key, const lease_options& with) {
    const auto given = detail::to(with);
    return detail::ask_for_lease([&](auto... out) {
      return tavola_get_or_lease(get(), key.data(), key.size(), &given, out...);
    });
  }

  void set_many(const std::vector<std::pair<view, view>>& pairs, const attributes& with = {}) {
    std::vector<tavola_pair> given;
    given.reserve(pairs.size());
    for (auto& [key, value] : pairs) given.push_back({detail::bytes(key), detail::bytes(value)});
    const auto all = detail::to(with);
    detail::check(tavola_set_many_with(get(), given.data(), given.size(), &all));
  }
  // Sets keys, each with attributes of its own.
  void set_many_entries(const std::vector<full_entry>& entries) {
    set_all(entries, tavola_set_many_entries);
  }
  // Sets keys, each with attributes of its own, all with these tags.
  void set_many_tagged(const std::vector<full_entry>& entries, const tags& has) {
    set_all(entries, [&](auto... given) { return tavola_set_many_tagged(given..., &has); });
  }
  // Removes keys, and returns how many of them existed.
  std::uint64_t remove_many(const std::vector<view>& keys) {
    const auto given = detail::all_bytes(keys);
    std::uint64_t removed = 0;
    detail::check(tavola_remove_many(get(), given.data(), given.size(), &removed));
    return removed;
  }

  // Returns the handles of tags; tags that do not exist are created. Fetch the handles before you
  // load the source data of a value; otherwise an invalidation in between is missed.
  tags fetch_tags(const std::vector<view>& names) {
    const auto given = detail::all_bytes(names);
    tags found = TAVOLA_INIT(tavola_tags);
    detail::check(tavola_fetch_tags(get(), given.data(), given.size(), &found));
    return found;
  }
  // Sets a key that is missing as soon as one of its tags is invalidated.
  void set_tagged(view key, view value, const attributes& with, const tags& has) {
    write_tagged(tavola_set_tagged, key, value, with, has);
  }
  void set(view key, view value, const attributes& with, const tags& has) {
    set_tagged(key, value, with, has);
  }
  bool add_tagged(view key, view value, const attributes& with, const tags& has) {
    return write_tagged(tavola_add_tagged, key, value, with, has);
  }
  bool add(view key, view value, const attributes& with, const tags& has) {
    return add_tagged(key, value, with, has);
  }
  // Removes all keys that have this tag. Returns whether there was such a tag.
  bool invalidate_tag(view name) {
    return detail::done(tavola_invalidate_tag(get(), name.data(), name.size()));
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
  bool set_by_uid(hint uid, view value) {
    return detail::done(tavola_set_by_uid(get(), uid, value.data(), value.size()));
  }
  // Does the same as `update` with the key that has this uid. If no key has it, `change` is not
  // called.
  template <typename F>
  bool update_by_uid(hint uid, F&& change) {
    using changing = detail::changing<F>;
    changing asked(change);
    return asked.guard.check(tavola_update_by_uid(get(), uid, changing::ask, &asked)) == TAVOLA_OK;
  }
  // Adds to the counter of the key with this uid, and returns the sum; nothing if there is no key.
  std::optional<std::uint64_t> incr_by_uid(hint uid, std::uint64_t by = 1) {
    std::uint64_t now = 0;
    const bool found = detail::done(tavola_incr_by_uid(get(), uid, by, &now));
    return found ? std::optional(now) : std::nullopt;
  }
  std::optional<std::uint64_t> decr_by_uid(hint uid, std::uint64_t by = 1) {
    std::uint64_t now = 0;
    const bool found = detail::done(tavola_decr_by_uid(get(), uid, by, &now));
    return found ? std::optional(now) : std::nullopt;
  }
  bool touch_by_uid(hint uid, const attributes& with) {
    const auto given = detail::to(with);
    return detail::done(tavola_touch_by_uid(get(), uid, &given));
  }
  bool remove_by_uid(hint uid) { return detail::done(tavola_remove_by_uid(get(), uid)); }

 private:
  template <typename Set>
  void set_all(const std::vector<full_entry>& entries, Set call) {
    std::vector<tavola_attributes> beside;
    std::vector<tavola_entry> given;
    beside.reserve(entries.size());
    given.reserve(entries.size());
    for (auto& [key, value, with] : entries) {
      beside.push_back(detail::to(with));
      given.push_back({detail::bytes(key), detail::bytes(value), &beside.back()});
    }
    detail::check(call(get(), given.data(), given.size()));
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
  template <typename Write>
  bool write_tagged(Write call, view key, view value, const attributes& with, const tags& has) {
    const auto given = detail::to(with);
    return detail::done(
        call(get(), key.data(), key.size(), value.data(), value.size(), &given, &has));
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
};

}  // namespace tavola

#endif

// Results of tables, for C++17: attributes, views, iterators, participants, rates, latencies,
// checks. A part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_ENTRY_HPP
#define TAVOLA_ENTRY_HPP

#include <tavola_detail.hpp>

#include <iterator>
#include <type_traits>

namespace tavola {

// For waits and keys without an end.
inline constexpr auto for_ever = std::chrono::milliseconds::max();

// The attributes of a key; see tavola_attributes. In C++20:
// `table.set("session", "alice", {.ttl = 30min});`
struct attributes {
  // How long the key lives from now on, or `for_ever`. Zero or less: it expires at once. Nothing:
  // as long as the table says. The library always sets it.
  std::optional<std::chrono::milliseconds> ttl = {};
  // When the key expires, by the wall clock, instead of `ttl`. The library never sets it.
  std::optional<std::chrono::system_clock::time_point> expires = {};
  // Any number.
  std::uint32_t flags = 0;
};

// When `table::store` stores; see tavola_condition.
enum class condition : std::int32_t {
  always = TAVOLA_CONDITION_ALWAYS,
  absent = TAVOLA_CONDITION_ABSENT,
  present = TAVOLA_CONDITION_PRESENT,
  token = TAVOLA_CONDITION_TOKEN,
};

// How `table::store` stores; see tavola_store_options.
struct store_options {
  tavola::condition condition = tavola::condition::always;
  // For `condition::token`.
  std::uint64_t token = 0;
  // A key that exists keeps its attributes and tags; then `attributes` must be empty.
  bool keep = false;
  std::optional<tavola::attributes> attributes = {};
  const tavola_tags* tags = nullptr;
  // In a table with versions: the version that the key gets; 0: the next one.
  std::uint64_t version = 0;
};

// The outcome of `table::store`.
struct stored {
  // TAVOLA_OK, TAVOLA_NOT_FOUND, TAVOLA_EXISTS or TAVOLA_CHANGED.
  tavola_status status;
  // The token that the key has now, if it was stored.
  std::uint64_t token;
  explicit operator bool() const noexcept { return status == TAVOLA_OK; }
};

// How `table::add_number` treats a key that does not exist, and a sum of 0.
struct number_options {
  tavola::attributes attributes = {};
  // Removes the key if the sum is 0.
  bool remove_zero = false;
};

// A value that the table lends without a copy, until the view is destroyed.
class value_view {
 public:
  // Takes over a handle of C.
  explicit value_view(tavola_view* handle) noexcept : handle_(handle) {}
  tavola_view* get() const noexcept { return handle_.get(); }
  std::size_t size() const noexcept { return tavola_view_len(get()); }
  // Returns one of the pieces of the value, from 0 on, or nothing after the last one.
  std::optional<std::string_view> piece(std::size_t number) const {
    tavola_bytes lent = {nullptr, 0};
    const auto status = tavola_view_piece(get(), number, &lent);
    if (status == TAVOLA_END) return std::nullopt;
    detail::check(status);
    return std::string_view(static_cast<const char*>(lent.data), lent.len);
  }
  // Returns a copy of the value.
  std::string str() const {
    std::string value;
    value.reserve(size());
    for (std::size_t number = 0; const auto lent = piece(number); ++number) value += *lent;
    return value;
  }

 private:
  detail::handle<tavola_view, tavola_view_close> handle_;
};

namespace detail {

inline std::chrono::milliseconds ttl(std::int64_t ttl_ms) noexcept {
  return ttl_ms == TAVOLA_TTL_NEVER ? for_ever : std::chrono::milliseconds(ttl_ms);
}

inline attributes from(const tavola_attributes& told) noexcept {
  return {ttl(told.ttl_ms), std::nullopt, told.flags};
}

inline tavola_attributes to(const attributes& with) noexcept {
  using std::chrono::milliseconds;
  tavola_attributes given = TAVOLA_INIT(tavola_attributes);
  given.flags = with.flags;
  // A time that has passed; 0 has another meaning.
  const std::uint64_t at_once = 1;
  if (with.expires) {
    const auto at = with.expires.value_or(std::chrono::system_clock::time_point{});
    const auto ms = std::chrono::duration_cast<milliseconds>(at.time_since_epoch());
    given.expires_unix_ms = ms.count() <= 0 ? at_once : static_cast<std::uint64_t>(ms.count());
  }
  if (with.ttl == for_ever) {
    given.ttl_ms = TAVOLA_TTL_NEVER;
  } else if (with.ttl && with.ttl->count() > 0) {
    given.ttl_ms = with.ttl->count();
  } else if (with.ttl) {
    // Two times are an error.
    given.ttl_ms = with.expires ? TAVOLA_TTL_NEVER : TAVOLA_TTL_DEFAULT;
    given.expires_unix_ms = at_once;
  }
  return given;
}

}  // namespace detail

// A key and its value, lent until the iterator goes on.
struct entry {
  std::string_view key, value;
  static entry of(std::string_view key, std::string_view value) noexcept { return {key, value}; }
};

// A key, its value and its attributes. Key and value are lent until the iterator goes on.
struct full_entry {
  std::string_view key, value;
  tavola::attributes attributes;
};

// An iteration over the keys that begin with a prefix, which may be empty. It keeps its table open
// and is an input range of C++20: `for (auto [key, value] : table.iter())`.
template <typename Entry>
class iter_of {
 public:
  using value_type = Entry;
  explicit iter_of(const tavola_table* table, std::string_view prefix = {}) {
    tavola_iter* iter = nullptr;
    detail::check(tavola_iter_open_prefix(table, prefix.data(), prefix.size(), &iter));
    iter_.reset(iter);
  }
  std::optional<Entry> next() {
    tavola_bytes key{}, value{};
    if constexpr (std::is_same_v<Entry, full_entry>) {
      tavola_attributes has = TAVOLA_INIT(tavola_attributes);
      const auto status = tavola_iter_next_with_attributes(iter_.get(), &key, &value, &has);
      if (!detail::done(status)) return std::nullopt;
      return Entry{detail::view(key), detail::view(value), detail::from(has)};
    } else if constexpr (std::is_same_v<Entry, std::string_view>) {
      if (!detail::done(tavola_iter_next(iter_.get(), &key, nullptr))) return std::nullopt;
      return detail::view(key);
    } else {
      if (!detail::done(tavola_iter_next(iter_.get(), &key, &value))) return std::nullopt;
      return Entry::of(detail::view(key), detail::view(value));
    }
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    iterator() = default;
    explicit iterator(iter_of* from) : from_(from), at_(from->next()) {}
    reference operator*() const { return *at_; }
    pointer operator->() const { return &*at_; }
    iterator& operator++() {
      at_ = from_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.at_.has_value() == b.at_.has_value();
    }
    friend bool operator!=(const iterator& a, const iterator& b) noexcept { return !(a == b); }

   private:
    iter_of* from_ = nullptr;
    std::optional<Entry> at_;
  };
  iterator begin() { return iterator(this); }
  iterator end() const noexcept { return {}; }

 private:
  detail::handle<tavola_iter, tavola_iter_close> iter_;
};

using iter = iter_of<entry>;
using iter_with_attributes = iter_of<full_entry>;
using iter_keys = iter_of<std::string_view>;

// A process that is attached for writing.
struct participant {
  explicit participant(const tavola_participant& told)
      : pid(told.pid), slot(told.slot),
        attached(std::chrono::seconds(told.attached_unix_s)),
        is_alive(told.alive != 0), hits(told.hits), misses(told.misses), writes(told.writes),
        sets(told.sets), removes(told.removes), is_local(told.is_local != 0),
        is_stopped(told.is_stopped != 0) {
    if (told.command != nullptr) command = told.command;
  }
  std::uint32_t pid, slot;
  std::chrono::system_clock::time_point attached;
  // Its command line, when it can be read.
  std::optional<std::string> command;
  // A dead one's slot is freed by the next `reclaim`.
  bool is_alive;
  // What was done with a cache by all that ever had its slot.
  std::uint64_t hits, misses, writes;
  // The writes that set or change a key, and those that remove keys.
  std::uint64_t sets, removes;
  // Whether `pid` is a number of the caller's own pid namespace; whether the process is stopped.
  bool is_local, is_stopped;
};

// A process that holds a lock of a table; see tavola_holder.
struct holder {
  explicit holder(const tavola_holder& told) noexcept
      : shard(told.shard), pid(told.pid), is_local(told.is_local != 0),
        is_stopped(told.is_stopped != 0), is_alive(told.is_alive != 0) {}
  // -1: the lock of the page pool.
  std::int64_t shard;
  std::uint32_t pid;
  bool is_local, is_stopped, is_alive;
};

// What was done with a cache in the last while; see tavola_recent.
struct recent {
  explicit recent(const tavola_recent& told) noexcept
      : wanted(told.wanted_ms), spanned(told.spanned_ms), hits(told.hits), misses(told.misses),
        writes(told.writes), evicted(told.evicted), expired(told.expired) {}
  // The time that was asked for, and the one that the counts are of; zero: they are not known.
  std::chrono::milliseconds wanted, spanned;
  std::uint64_t hits, misses, writes, evicted, expired;
  // Returns which part of the reads found their key, 0 to 1, or nothing without reads.
  std::optional<double> hit_ratio() const noexcept {
    const double reads = static_cast<double>(hits) + static_cast<double>(misses);
    return reads > 0 ? std::make_optional(static_cast<double>(hits) / reads) : std::nullopt;
  }
};

// How many calls to a cache took so long, of those that were timed; see tavola_latency.
struct latency {
  explicit latency(const tavola_latency& told) noexcept
      : from(told.from_ns), reads(told.reads), writes(told.writes) {
    if (told.below_ns <= static_cast<std::uint64_t>(below.count())) {
      below = std::chrono::nanoseconds(told.below_ns);
    }
  }
  // They took at least `from`, and less than `below`, which may be without a limit.
  std::chrono::nanoseconds from, below = std::chrono::nanoseconds::max();
  std::uint64_t reads, writes;
};

// Quantiles of the times of sampled calls; zero without samples.
struct latency_quantiles {
  std::chrono::nanoseconds read, write;
};

// What a shard holds and does; see tavola_shard.
using shard = tavola_shard;

// The result of a check, with at most 100 sentences in `problems`. For `copied_in_use`, see
// tavola_check_report.
struct check_report {
  std::uint64_t keys, bytes_reachable, bytes_in_use, problem_count;
  std::vector<std::string> problems;
  bool copied_in_use;
  bool is_clean() const noexcept { return problem_count == 0; }
};

namespace detail {
inline latency_quantiles quantiles(const tavola_table* table, double part) {
  std::uint64_t read = 0, write = 0;
  check(tavola_latency_quantile(table, part, &read, &write));
  return {std::chrono::nanoseconds(read), std::chrono::nanoseconds(write)};
}
template <typename Call, typename Handle>
check_report report(Call&& call, Handle* handle) {
  tavola_check_report found = TAVOLA_INIT(tavola_check_report);
  auto told = texts(call, handle, &found);
  return {found.keys,     found.bytes_reachable, found.bytes_in_use,
          found.problems, std::move(told),       found.copied_in_use != 0};
}
}  // namespace detail

}  // namespace tavola

#endif

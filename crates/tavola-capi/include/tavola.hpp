// Tavola for C++17: classes that close what they hold, over tavola.h. It is only headers; link
// libtavola.
//
// An error is thrown as `tavola::error`. What does not exist is an empty `std::optional` or false.
// Keys and values are any bytes: `std::string_view` as arguments, `std::string` as results. Objects
// can be moved and not copied. Times are `std::chrono` durations. Functions have the names that
// they have in C and Rust; what tavola.h says about threads, fork, signals and crashes holds here,
// too.
//
// A function that you pass may throw: the call ends as soon as it can, and the exception reaches
// its caller.
//
// ```cpp
// auto users = tavola::table::open("users");
// users.set("alice", "admin");
// users.set("token", "17", {.ttl = 30min});
// if (auto value = users.get("alice")) std::cout << *value << '\n';
// for (auto [key, value] : users.iter_prefix("a")) std::cout << key << ": " << value << '\n';
// tavola::names::remove("users");
// ```
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_HPP
#define TAVOLA_HPP

#include <tavola_txn.hpp>

namespace tavola {

// A watch of one key, for one thread at a time; from `table::watch_key`.
class key_watch {
 public:
  explicit key_watch(tavola_key_watch* made) : handle_(made) {}
  // Returns whether the key has changed since the watch began or the last `wait` that returned
  // true; false if the time limit passes before. It may also return true without a change.
  bool wait(std::chrono::milliseconds timeout = for_ever) {
    return detail::done(tavola_key_watch_wait(handle_.get(), detail::milliseconds(timeout)));
  }

 private:
  detail::handle<tavola_key_watch, tavola_key_watch_close> handle_;
};

// A table. Threads may share it.
class table : public table_transactions {
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
    const auto given = detail::to(with);
    tavola_table* made = nullptr;
    detail::check(tavola_open_private(&given, &made));
    return table(made);
  }
  using table_transactions::table_transactions;
  // Opens the table again if its file was replaced; see tavola_refresh. Returns true if this is
  // another table now. No other thread may be using it.
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

  std::uint64_t len() const {
    std::uint64_t keys = 0;
    detail::check(tavola_len(get(), &keys));
    return keys;
  }
  void clear() { detail::check(tavola_clear(get())); }
  tavola::stats stats() const {
    tavola::stats found;
    detail::check(tavola_get_stats(get(), &found));
    return found;
  }
  std::vector<size_class> classes() const {
    return detail::list<size_class>(tavola_classes, get());
  }
  std::vector<participant> participants() const {
    return detail::list<participant>(tavola_participants, get());
  }
  // Returns the reads and writes of a cache in the last 1, 10 and 60 seconds.
  std::vector<tavola::recent> recent() const {
    return detail::list<tavola::recent>(tavola_get_recent, get());
  }
  // Returns a histogram of how long sampled reads and writes took.
  std::vector<latency> latencies() const { return detail::list<latency>(tavola_latencies, get()); }
  // Returns an estimated quantile (0 to 1) of these times, or zero without samples.
  latency_quantiles latency_quantile(double part) const {
    return detail::quantiles(get(), part);
  }
  std::vector<shard> shard_stats() const { return detail::list<shard>(tavola_shard_stats, get()); }
  std::vector<holder> lock_holders() const {
    return detail::list<holder>(tavola_lock_holders, get());
  }
  // Limits how long a call waits for each lock whose holder lives; nothing: no limit.
  void set_lock_timeout(std::optional<std::chrono::milliseconds> limit) {
    detail::check(tavola_set_lock_timeout(get(), detail::limit_ms(limit)));
  }
  tavola_live_keys live_keys() const { return detail::live_keys(get()); }
  check_report check() const { return detail::report(tavola_check, get()); }
  check_report repair() { return detail::report(tavola_repair, get()); }
  // Copies all keys to a new table, and returns how many keys it has. Others may use this table.
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
  // Returns how many bytes a cache may take, or nothing if the table is not a cache.
  std::optional<std::uint64_t> capacity() const {
    std::uint64_t bytes = 0;
    detail::check(tavola_capacity(get(), &bytes));
    return bytes == 0 ? std::nullopt : std::make_optional(bytes);
  }
  void set_capacity(std::uint64_t bytes) { detail::check(tavola_set_capacity(get(), bytes)); }
  void set_max_size(std::uint64_t bytes) { detail::check(tavola_set_max_size(get(), bytes)); }
  bool is_durable() const { return tavola_is_durable(get()); }
  // Returns when the changes of this handle are on disk; see tavola_durability.
  tavola_durable durability() const { return tavola_durability(get(), nullptr); }
  // Returns the time of TAVOLA_DURABLE_WITHIN; zero for other policies.
  std::chrono::milliseconds sync_time() const {
    std::uint32_t ms = 0;
    tavola_durability(get(), &ms);
    return std::chrono::milliseconds(ms);
  }
  // Returns the state of the journal, or nothing if the table is not durable.
  std::optional<tavola_durable_stats> durable_stats() const {
    tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
    if (!detail::done(tavola_get_durable_stats(get(), &stats))) return std::nullopt;
    return stats;
  }
  // Returns when all changes of all processes survive a power failure; see tavola_sync.
  void sync() { detail::check(tavola_sync(get())); }
  // Writes a snapshot; false: another process is just writing one. See tavola_snapshot.
  bool snapshot() {
    std::uint32_t made = 0;
    detail::check(tavola_snapshot(get(), &made));
    return made != 0;
  }
  // Writes all keys to a file, and sets those of a file that are missing: see tavola_save.
  tavola_saved save(const std::string& path) const {
    tavola_saved made = TAVOLA_INIT(tavola_saved);
    detail::check(tavola_save(get(), path.c_str(), &made));
    return made;
  }
  tavola_restored restore(const std::string& path) {
    tavola_restored made = TAVOLA_INIT(tavola_restored);
    detail::check(tavola_restore(get(), path.c_str(), &made));
    return made;
  }
  // Watches a key for changes by any process.
  key_watch watch_key(view key) const {
    tavola_key_watch* made = nullptr;
    detail::check(tavola_key_watch_open(get(), key.data(), key.size(), &made));
    return key_watch(made);
  }
  std::uint32_t reclaim() {
    std::uint32_t freed = 0;
    detail::check(tavola_reclaim(get(), &freed));
    return freed;
  }
  std::vector<std::string> pools() const { return detail::texts(tavola_pools, get()); }
  std::vector<std::string> logs() const { return detail::texts(tavola_logs, get()); }
  // Waits until `count` processes have called this. Returns false if the time limit passes before.
  bool barrier_wait(view key, std::uint32_t count, std::chrono::milliseconds timeout = for_ever) {
    return detail::done(tavola_barrier_wait(get(), key.data(), key.size(), count,
                                          detail::milliseconds(timeout)));
  }
  // Does the same, and returns how many of them have died; nothing if the time limit passes.
  std::optional<std::uint32_t> barrier_meet(view key, std::uint32_t count,
                                            std::chrono::milliseconds timeout = for_ever) {
    std::uint32_t dead = 0;
    const bool met = detail::done(tavola_barrier_meet(get(), key.data(), key.size(), count,
                                                      detail::milliseconds(timeout), &dead));
    return met ? std::optional(dead) : std::nullopt;
  }
  // Announces that this process will come: if it dies before, the others do not wait for it.
  void barrier_join(view key) {
    detail::check(tavola_barrier_join(get(), key.data(), key.size()));
  }

 private:
  template <typename Open>
  static table make(Open call, const std::string& name, const options& with) {
    const auto given = detail::to(with);
    tavola_table* made = nullptr;
    detail::check(call(name.c_str(), &given, &made));
    return table(made);
  }
};

// Returns once the value that the last `take` or `swap` of this thread removed and could not return
// for lack of memory.
inline std::optional<std::string> last_taken() {
  detail::text value;
  return value.take_if_done(tavola_last_taken(value.buffer()));
}

}  // namespace tavola

#include <tavola_batch.hpp>
#include <tavola_cdb.hpp>
#include <tavola_lock.hpp>
#include <tavola_log.hpp>
#include <tavola_queue.hpp>
#include <tavola_typed.hpp>

#endif

// Batches of requests for C++17. A part of tavola_client.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_CLIENT_BATCH_HPP
#define TAVOLA_CLIENT_BATCH_HPP

#include <tavola_client.hpp>

#include <deque>

namespace tavola::mc {

// What became of a request of a batch.
struct result {
  tavola_mc_status status = TAVOLA_MC_ERR_OTHER;
  // The value of a hit, what was stored beside it, and its unique number, if it was asked for.
  mc::value value = {};
  // The new number of a counter.
  std::uint64_t number = 0;
  // An error: a sentence that says what to do, and what kind of failure of a server it is.
  std::string why = {};
  tavola_mc_cause cause = TAVOLA_MC_CAUSE_NONE;

  bool is_hit() const noexcept { return status == TAVOLA_MC_HIT; }
  bool is_error() const noexcept { return status < 0; }
  // The name of the status, such as "TAVOLA_MC_MISS".
  const char* name() const noexcept { return tavola_mc_status_name(status); }
};

// Requests that are prepared one by one and executed at once. It keeps copies of keys and values;
// tavola_mc_batch of tavola_client.h does without. One thread at a time may use it.
class batch {
  using view = std::string_view;

 public:
  explicit batch(const client& on) {
    tavola_mc_batch* made = nullptr;
    detail::check(tavola_mc_batch_new(on.get(), &made));
    handle_.reset(made);
  }

  // Each of these returns the index of the request's result.
  std::size_t get(view key) { return prepare(tavola_mc_batch_get, key); }
  std::size_t gets(view key) { return prepare(tavola_mc_batch_gets, key); }
  std::size_t get_and_touch(view key, std::int32_t exptime) {
    return prepare(tavola_mc_batch_get_and_touch, key, exptime);
  }
  std::size_t gets_and_touch(view key, std::int32_t exptime) {
    return prepare(tavola_mc_batch_gets_and_touch, key, exptime);
  }
  std::size_t set(view key, view data, const store& how = {}) {
    return write(tavola_mc_batch_set, key, data, how);
  }
  std::size_t add(view key, view data, const store& how = {}) {
    return write(tavola_mc_batch_add, key, data, how);
  }
  std::size_t replace(view key, view data, const store& how = {}) {
    return write(tavola_mc_batch_replace, key, data, how);
  }
  std::size_t append(view key, view data, const store& how = {}) {
    return write(tavola_mc_batch_append, key, data, how);
  }
  std::size_t prepend(view key, view data, const store& how = {}) {
    return write(tavola_mc_batch_prepend, key, data, how);
  }
  std::size_t cas(view key, view data, std::uint64_t number, const store& how = {}) {
    const auto options = detail::to(how);
    const view kept = keep(data);
    return prepare(tavola_mc_batch_cas, key, kept.data(), kept.size(), number, &options);
  }
  std::size_t remove(view key, bool no_reply = false) {
    return prepare(tavola_mc_batch_delete, key, std::uint32_t{no_reply});
  }
  std::size_t incr(view key, std::uint64_t by, const count& how = {}) {
    const auto options = detail::to(how);
    return prepare(tavola_mc_batch_incr, key, by, &options);
  }
  std::size_t decr(view key, std::uint64_t by, const count& how = {}) {
    const auto options = detail::to(how);
    return prepare(tavola_mc_batch_decr, key, by, &options);
  }
  std::size_t touch(view key, std::int32_t exptime, bool no_reply = false) {
    return prepare(tavola_mc_batch_touch, key, exptime, std::uint32_t{no_reply});
  }

  std::size_t size() const noexcept { return tavola_mc_batch_len(handle_.get()); }
  void clear() {
    detail::check(tavola_mc_batch_clear(handle_.get()));
    kept_.clear();
  }

  // Executes the requests and returns what became of each, in their order. A request that failed
  // throws nothing: see its status.
  std::vector<result> execute() {
    detail::list<result> all;
    all.items.resize(size());
    tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
    sink.room = room;
    sink.done = done;
    sink.user = &all;
    detail::check(tavola_mc_batch_execute(handle_.get(), &sink));
    all.failed.rethrow();
    return std::move(all.items);
  }

 private:
  struct closer {
    void operator()(tavola_mc_batch* handle) const noexcept { tavola_mc_batch_free(handle); }
  };

  static void* room(void* user, std::size_t index, std::size_t len, std::uint32_t) {
    auto* all = static_cast<detail::list<result>*>(user);
    void* place = nullptr;
    all->failed.run([&] {
      auto& data = all->items[index].value.data;
      data.resize(len);
      place = data.data();
    });
    return place;
  }
  static void done(void* user, std::size_t index, const tavola_mc_result* is) {
    auto* all = static_cast<detail::list<result>*>(user);
    all->failed.run([&] {
      auto& to = all->items[index];
      to.status = static_cast<tavola_mc_status>(is->status);
      to.value.flags = is->flags;
      to.value.cas = is->cas;
      to.number = is->number;
      to.why = is->why;
      to.cause = static_cast<tavola_mc_cause>(is->cause);
      // What came of a value that is not whole.
      if (!to.is_hit()) to.value.data.clear();
    });
  }

  view keep(view bytes) { return kept_.emplace_back(bytes); }

  template <typename Call, typename... More>
  std::size_t prepare(Call call, view key, More... more) {
    const auto index = size();
    const view kept = keep(key);
    detail::check(call(handle_.get(), kept.data(), kept.size(), more...));
    return index;
  }
  template <typename Call>
  std::size_t write(Call call, view key, view data, const store& how) {
    const auto options = detail::to(how);
    const view kept = keep(data);
    return prepare(call, key, kept.data(), kept.size(), &options);
  }

  // Places that stay while others are added.
  std::deque<std::string> kept_;
  std::unique_ptr<tavola_mc_batch, closer> handle_;
};

}  // namespace tavola::mc

#endif  // TAVOLA_CLIENT_BATCH_HPP

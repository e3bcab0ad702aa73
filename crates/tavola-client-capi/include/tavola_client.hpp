// The memcached client of Tavola for C++17: tavola_client.h with objects that close themselves,
// std::string, std::optional and exceptions.
//
// ```cpp
// tavola::mc::client client("10.0.0.1:11211,10.0.0.2:11211?weight=2");
// client.set("user", "alice");
// if (auto user = client.get("user")) std::cout << user->data << "\n";
// std::cout << client.incr("visits", 1, {.initial = 1}).value() << "\n";
//
// tavola::mc::batch batch(client);
// batch.get("user");
// batch.get("other");
// for (const auto& result : batch.execute()) std::cout << result.name() << "\n";
// ```
//
// A function throws `tavola::mc::error` if a request was refused, was not sent, or was not answered,
// and std::bad_alloc without memory. That a key is missing is no error. What tavola_client.h says
// about threads, forks and servers holds here, too.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_CLIENT_HPP
#define TAVOLA_CLIENT_HPP

#include <tavola_client.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tavola::mc {

// An error: its number, and a sentence that says what to do.
class error : public std::runtime_error {
 public:
  explicit error(tavola_mc_status code)
      : std::runtime_error(tavola_mc_last_error()), code_(code), cause_(tavola_mc_last_cause()) {}
  tavola_mc_status code() const noexcept { return code_; }
  // What kind of failure it is, if a server could not be asked or did not answer.
  tavola_mc_cause cause() const noexcept { return cause_; }
  // The name of the number, such as "TAVOLA_MC_ERR_UNSENT".
  const char* name() const noexcept { return tavola_mc_status_name(code_); }

 private:
  tavola_mc_status code_;
  tavola_mc_cause cause_;
};

// A value that was found.
struct value {
  std::string data;
  // What was stored beside it.
  std::uint32_t flags = 0;
  // The item's unique number, if it was asked for.
  std::uint64_t cas = 0;
};

// What is stored beside a value; see tavola_mc_store_options.
struct store {
  std::uint32_t flags = 0;
  std::int32_t exptime = 0;
  bool no_reply = false;
};

// What a missing counter begins with; see tavola_mc_count_options.
struct count {
  std::optional<std::uint64_t> initial = std::nullopt;
  std::int32_t exptime = 0;
  bool no_reply = false;
};

// What became of a compare-and-store.
enum class cas_result { stored, exists, missing };

// What a server answered: its text, or why it failed.
struct answer {
  std::string server;
  tavola_mc_status status;
  std::string text;
};

// A figure of a server, by its place in the list.
struct figure {
  std::size_t server;
  std::string name;
  std::string value;
};

namespace detail {

inline tavola_mc_status check(tavola_mc_status status) {
  if (status < 0) throw error(status);
  return status;
}

inline tavola_mc_store_options to(const store& how) {
  tavola_mc_store_options to = TAVOLA_MC_INIT(tavola_mc_store_options);
  to.flags = how.flags;
  to.exptime = how.exptime;
  to.no_reply = how.no_reply;
  return to;
}

inline tavola_mc_count_options to(const count& how) {
  tavola_mc_count_options to = TAVOLA_MC_INIT(tavola_mc_count_options);
  to.has_initial = how.initial.has_value();
  to.initial = how.initial.value_or(0);
  to.exptime = how.exptime;
  to.no_reply = how.no_reply;
  return to;
}

// No exception may cross the library: what a callback throws is kept, and thrown after the call.
class kept {
 public:
  template <typename Act>
  void run(Act act) noexcept {
    if (thrown_) return;
    try {
      act();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

// A list that callbacks fill.
template <typename T>
struct list {
  std::vector<T> items;
  kept failed;
};

}  // namespace detail

// A client of a fleet of servers. Threads may share it.
class client {
  using view = std::string_view;

 public:
  explicit client(const std::string& servers) : client(servers, nullptr) {}
  client(const std::string& servers, const tavola_mc_options& options)
      : client(servers, &options) {}

  // The handle, for functions of tavola_client.h.
  tavola_mc_client* get() const noexcept { return handle_.get(); }

  std::optional<value> get(view key) const { return read(tavola_mc_get, key); }
  // With the item's unique number, for `cas`.
  std::optional<value> gets(view key) const { return read(tavola_mc_gets, key); }
  std::optional<value> get_and_touch(view key, std::int32_t exptime) const {
    return read(tavola_mc_get_and_touch, key, exptime);
  }
  // The same with the item's unique number.
  std::optional<value> gets_and_touch(view key, std::int32_t exptime) const {
    return read(tavola_mc_gets_and_touch, key, exptime);
  }

  void set(view key, view data, const store& how = {}) const {
    write(tavola_mc_set, key, data, how);
  }
  // These return whether the value was stored; true also if no answer is needed.
  bool add(view key, view data, const store& how = {}) const {
    return write(tavola_mc_add, key, data, how) != TAVOLA_MC_NOT_STORED;
  }
  bool replace(view key, view data, const store& how = {}) const {
    return write(tavola_mc_replace, key, data, how) != TAVOLA_MC_NOT_STORED;
  }
  bool append(view key, view data, const store& how = {}) const {
    return write(tavola_mc_append, key, data, how) != TAVOLA_MC_NOT_STORED;
  }
  bool prepend(view key, view data, const store& how = {}) const {
    return write(tavola_mc_prepend, key, data, how) != TAVOLA_MC_NOT_STORED;
  }
  cas_result cas(view key, view data, std::uint64_t number, const store& how = {}) const {
    const auto options = detail::to(how);
    switch (detail::check(tavola_mc_cas(get(), key.data(), key.size(), data.data(), data.size(),
                                        number, &options))) {
      case TAVOLA_MC_EXISTS: return cas_result::exists;
      case TAVOLA_MC_MISS: return cas_result::missing;
      default: return cas_result::stored;
    }
  }
  // Returns whether the key was there; true also if no answer is needed.
  bool remove(view key, bool no_reply = false) const {
    return detail::check(tavola_mc_delete(get(), key.data(), key.size(), no_reply)) !=
           TAVOLA_MC_MISS;
  }
  bool touch(view key, std::int32_t exptime, bool no_reply = false) const {
    return detail::check(tavola_mc_touch(get(), key.data(), key.size(), exptime, no_reply)) !=
           TAVOLA_MC_MISS;
  }
  // These return the new number, or nothing if the key is missing or no answer is needed.
  std::optional<std::uint64_t> incr(view key, std::uint64_t by, const count& how = {}) const {
    return add_to(tavola_mc_incr, key, by, how);
  }
  std::optional<std::uint64_t> decr(view key, std::uint64_t by, const count& how = {}) const {
    return add_to(tavola_mc_decr, key, by, how);
  }

  // Sends what is held because it needs no answer, and waits until it is carried out.
  void flush() const { detail::check(tavola_mc_flush(get())); }
  void flush_all(std::uint32_t delay_s = 0) const {
    detail::check(tavola_mc_flush_all(get(), delay_s, nullptr, nullptr));
  }
  // Returns the version of each server, or why it failed. Throws nothing for a server that fails.
  std::vector<answer> versions() const {
    detail::list<answer> all;
    tavola_mc_versions(
        get(),
        [](void* user, std::size_t, const char* name, std::int32_t status, const char* text) {
          auto* to = static_cast<detail::list<answer>*>(user);
          to->failed.run([&] {
            to->items.push_back({name, static_cast<tavola_mc_status>(status), text});
          });
        },
        &all);
    all.failed.rethrow();
    return std::move(all.items);
  }
  // Returns figures of all servers: those of a topic, or the general ones.
  std::vector<figure> stats(const std::string& topic = "") const {
    detail::list<figure> all;
    const auto status = tavola_mc_stats(
        get(), topic.c_str(),
        [](void* user, std::size_t server, const char* name, const char* text) {
          auto* to = static_cast<detail::list<figure>*>(user);
          to->failed.run([&] { to->items.push_back({server, name, text}); });
        },
        &all);
    all.failed.rethrow();
    detail::check(status);
    return std::move(all.items);
  }
  // Returns the keys of all servers, without the name space.
  std::vector<std::string> keys() const {
    detail::list<std::string> all;
    const auto status = tavola_mc_keys(
        get(),
        [](void* user, std::size_t, const void* key, std::size_t length) {
          auto* to = static_cast<detail::list<std::string>*>(user);
          to->failed.run([&] { to->items.emplace_back(static_cast<const char*>(key), length); });
        },
        &all);
    all.failed.rethrow();
    detail::check(status);
    return std::move(all.items);
  }

  std::vector<std::string> servers() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tavola_mc_server_count(get()); i++) {
      names.emplace_back(tavola_mc_server_name(get(), i));
    }
    return names;
  }
  // Returns the place in the list of the server that has a key.
  std::size_t server_of(view key) const {
    std::size_t server = 0;
    detail::check(tavola_mc_server_of(get(), key.data(), key.size(), &server));
    return server;
  }

 private:
  struct closer {
    void operator()(tavola_mc_client* handle) const noexcept { tavola_mc_close(handle); }
  };

  client(const std::string& servers, const tavola_mc_options* options) {
    tavola_mc_client* made = nullptr;
    detail::check(tavola_mc_open(servers.c_str(), options, &made));
    handle_.reset(made);
  }

  template <typename Call, typename... More>
  std::optional<value> read(Call call, view key, More... more) const {
    struct taken {
      value found;
      detail::kept failed;
    } into;
    tavola_mc_value to = TAVOLA_MC_VALUE_ROOM(
        [](void* user, std::size_t len, std::uint32_t) -> void* {
          auto* place = static_cast<taken*>(user);
          void* room = nullptr;
          place->failed.run([&] {
            place->found.data.resize(len);
            room = place->found.data.data();
          });
          return room;
        },
        &into);
    const auto status = call(get(), key.data(), key.size(), more..., &to);
    into.failed.rethrow();
    if (detail::check(status) != TAVOLA_MC_HIT) return std::nullopt;
    into.found.flags = static_cast<std::uint32_t>(to.flags);
    into.found.cas = to.cas;
    return std::move(into.found);
  }
  template <typename Call>
  tavola_mc_status write(Call call, view key, view data, const store& how) const {
    const auto options = detail::to(how);
    return detail::check(
        call(get(), key.data(), key.size(), data.data(), data.size(), &options));
  }
  template <typename Call>
  std::optional<std::uint64_t> add_to(Call call, view key, std::uint64_t by,
                                      const count& how) const {
    const auto options = detail::to(how);
    std::uint64_t number = 0;
    const auto status =
        detail::check(call(get(), key.data(), key.size(), by, &options, &number));
    if (status != TAVOLA_MC_COUNT) return std::nullopt;
    return number;
  }

  std::unique_ptr<tavola_mc_client, closer> handle_;
};

}  // namespace tavola::mc

#include <tavola_client_batch.hpp>

#endif  // TAVOLA_CLIENT_HPP

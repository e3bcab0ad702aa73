// Leases, for C++17: if several processes need a missing value at once, one of them computes it. A
// part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_LEASE_HPP
#define TAVOLA_LEASE_HPP

#include <tavola_entry.hpp>

namespace tavola {

// How long values are fresh, and how long leases last; see tavola_lease_options. `{1min}`, or
// `{1min, 10min}` to serve a stale value for ten minutes more while one process computes it again.
struct lease_options {
  // May be `for_ever`.
  std::chrono::milliseconds fresh;
  std::chrono::milliseconds stale = {};
  // How long the computation may take; zero: 10 s.
  std::chrono::milliseconds lease = {};
  // The pause after an error in `get_or_compute`; nothing: 1 s.
  std::optional<std::chrono::milliseconds> back_off = {};
  double early_beta = 0;
};

namespace detail {

inline tavola_lease_options to(const lease_options& with) noexcept {
  tavola_lease_options given = TAVOLA_INIT(tavola_lease_options);
  given.fresh_ms = milliseconds(with.fresh);
  given.stale_ms = milliseconds(with.stale);
  given.lease_ms = milliseconds(with.lease);
  if (with.back_off) {
    given.back_off_ms = with.back_off->count() > 0 ? with.back_off->count() : TAVOLA_NO_BACK_OFF;
  }
  given.early_beta = with.early_beta;
  return given;
}

// Returns the text that other processes see of the current exception.
inline std::string told_of_exception() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception";
  }
}

// The function of a computation, and the bytes that it returned, or the text of its exception.
template <typename F>
struct computing {
  using function = std::remove_reference_t<F>;
  explicit computing(function& compute) : guard(compute) {}
  static std::int32_t ask(void* user, tavola_bytes* value) {
    auto& self = *static_cast<computing*>(user);
    std::int32_t failed = 1;
    self.guard.run([&](function& compute) {
      try {
        self.given = compute();
        failed = 0;
      } catch (...) {
        self.given = told_of_exception();
        *value = bytes(self.given);
        throw;
      }
      *value = bytes(self.given);
    });
    return failed;
  }
  guarded<function> guard;
  std::string given;
};

// Calls a function of C with the last arguments of `tavola_get_or_compute`, and returns the value.
template <typename F, typename Call>
std::string compute(F& function, Call&& call) {
  computing<F> asked(function);
  text value;
  const auto status = call(computing<F>::ask, &asked, value.buffer());
  asked.guard.rethrow();
  return value.take(status);
}

}  // namespace detail

// The right to compute a value. Its destructor gives it up if it was not filled.
class lease {
 public:
  // Takes over a handle of C.
  explicit lease(tavola_lease* handle) noexcept : handle_(handle) {}
  tavola_lease* get() const noexcept { return handle_.get(); }
  // Stores the value and ends the lease. Returns false and stores nothing if another process has
  // the lease now, or the key was set or removed meanwhile. With `early_beta`, the low 16 bits of
  // the flags must be 0.
  bool fill(std::string_view value, std::uint32_t flags = 0) {
    return detail::done(
        tavola_lease_fill_with(get(), value.data(), value.size(), flags, nullptr));
  }
  // Does the same as `fill`, with tags. Fetch them before you compute the value.
  bool fill_tagged(std::string_view value, const tavola_tags& tags, std::uint32_t flags = 0) {
    return detail::done(tavola_lease_fill_with(get(), value.data(), value.size(), flags, &tags));
  }
  // Ends the lease without a value. For so long no process computes it again; all get the error.
  bool fail(std::chrono::milliseconds back_off, std::string_view error) {
    return detail::done(tavola_lease_fail(get(), detail::milliseconds(back_off), error.data(),
                                          error.size()));
  }
  // Returns whether other processes know of the lease.
  bool is_recorded() const noexcept { return tavola_lease_is_recorded(get()); }

 private:
  detail::handle<tavola_lease, tavola_lease_close> handle_;
};

// A value that another process computes.
class pending {
 public:
  // Takes over a handle of C.
  explicit pending(tavola_lease* handle) noexcept : handle_(handle) {}
  // Sleeps until the other process has ended the lease or died; then ask again. Returns false if
  // the time limit passed before.
  bool wait(std::chrono::milliseconds timeout = for_ever) {
    return detail::done(tavola_lease_wait(handle_.get(), detail::milliseconds(timeout)));
  }

 private:
  detail::handle<tavola_lease, tavola_lease_close> handle_;
};

// The value of a key, if there is one, and which process computes it.
struct leased {
  // TAVOLA_LEASE_HIT, _STALE, _STALE_WON, _WON, _WAIT or _FAILED.
  tavola_lease_outcome outcome;
  // The value, or the text of a failure.
  std::string value;
  // If this process computes the value.
  std::optional<tavola::lease> lease;
  // If another process computes the value.
  std::optional<tavola::pending> pending;
  // How long the other process may still take, or when a process may try again.
  std::chrono::milliseconds left;
  // The flags of the value, or 0.
  std::uint32_t flags = 0;
};

namespace detail {

template <typename Get>
leased ask_for_lease(Get call) {
  text value;
  tavola_leased told = TAVOLA_INIT(tavola_leased);
  tavola_lease* handle = nullptr;
  // It throws before there is a lease.
  auto bytes = value.take(call(value.buffer(), &told, &handle));
  leased found{told.outcome, std::move(bytes), std::nullopt, std::nullopt,
               std::chrono::milliseconds(told.left_ms), told.flags};
  if (told.outcome == TAVOLA_LEASE_WAIT) {
    found.pending.emplace(handle);
  } else if (handle != nullptr) {
    found.lease.emplace(handle);
  }
  return found;
}

}  // namespace detail

}  // namespace tavola

#endif

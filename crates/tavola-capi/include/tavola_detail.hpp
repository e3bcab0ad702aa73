// What tavola.hpp needs to call tavola.h: errors, strings, functions that throw. A part of
// tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_DETAIL_HPP
#define TAVOLA_DETAIL_HPP

#include <tavola.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

namespace tavola {

// An error: its number, and a sentence that says what to do.
class error : public std::runtime_error {
 public:
  explicit error(tavola_status code)
      : std::runtime_error(tavola_last_error()), code_(code), os_error_(tavola_last_os_error()) {}
  // An answer that is an error here.
  error(tavola_status code, const char* text)
      : std::runtime_error(text), code_(code), os_error_(0) {}
  tavola_status code() const noexcept { return code_; }
  // The name of the number, such as "TAVOLA_ERR_FULL".
  const char* name() const noexcept { return tavola_status_name(code_); }
  // The errno of the system, or 0.
  int os_error() const noexcept { return os_error_; }

 private:
  tavola_status code_;
  int os_error_;
};

namespace detail {

inline tavola_status check(tavola_status status) {
  if (status < 0) throw error(status);
  return status;
}

// Returns true for TAVOLA_OK, and false for another answer.
inline bool done(tavola_status status) { return check(status) == TAVOLA_OK; }

template <auto Close>
struct closer {
  template <typename T>
  void operator()(T* handle) const noexcept {
    Close(handle);
  }
};

template <typename T, auto Close>
using handle = std::unique_ptr<T, closer<Close>>;

// A string that the library writes once, with its exact length.
class text {
 public:
  text() = default;
  // The library keeps its address.
  text(const text&) = delete;
  text& operator=(const text&) = delete;
  tavola_buffer* buffer() noexcept { return &buffer_; }
  std::string take(tavola_status status) {
    if (failed_) throw std::bad_alloc();
    check(status);
    return std::move(bytes_);
  }
  std::optional<std::string> take_if_done(tavola_status status) {
    std::string bytes = take(status);
    if (status != TAVOLA_OK) return std::nullopt;
    return bytes;
  }

 private:
  static void* room(void* user, std::size_t len) {
    auto& self = *static_cast<text*>(user);
    try {
      self.bytes_.resize(len);
      return self.bytes_.data();
    } catch (...) {
      self.failed_ = true;
      return nullptr;
    }
  }
  std::string bytes_;
  bool failed_ = false;
  tavola_buffer buffer_ = TAVOLA_BUFFER_ALLOC(room, this);
};

// A function that the library calls. What it throws is kept until the call has ended.
template <typename F>
class guarded {
 public:
  explicit guarded(F& function) noexcept : function_(function) {}
  template <typename Act>
  void run(Act&& act) noexcept {
    if (thrown_) return;
    try {
      act(function_);
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  void rethrow() {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  tavola_status check(tavola_status status) {
    rethrow();
    return detail::check(status);
  }

 private:
  F& function_;
  std::exception_ptr thrown_;
};

// Copies a string that the library lends. NULL is an error.
inline std::string lent(const char* text) {
  if (text == nullptr) throw error(TAVOLA_ERR_NULL);
  return text;
}

template <typename F>
void each_text(void* user, const char* text, std::size_t len) {
  static_cast<guarded<F>*>(user)->run([&](F& each) { each(std::string_view(text, len)); });
}

inline tavola_bytes bytes(std::string_view view) noexcept { return {view.data(), view.size()}; }
inline std::vector<tavola_bytes> all_bytes(const std::vector<std::string_view>& views) {
  std::vector<tavola_bytes> all;
  all.reserve(views.size());
  for (std::string_view view : views) all.push_back(bytes(view));
  return all;
}
inline std::string_view view(const tavola_bytes& bytes) noexcept {
  return {static_cast<const char*>(bytes.data), bytes.len};
}

// The function of an update, and the bytes that it returned last.
template <typename F>
struct changing {
  using function = std::remove_reference_t<F>;
  explicit changing(function& change) : guard(change) {}
  static std::int32_t ask(void* user, const void* old, std::size_t len, tavola_bytes* now) {
    auto& self = *static_cast<changing*>(user);
    std::int32_t becomes = TAVOLA_CHANGE_KEEP;
    self.guard.run([&](function& change) {
      std::optional<std::string_view> had;
      if (old != nullptr) had.emplace(static_cast<const char*>(old), len);
      self.given = change(had);
      becomes = self.given ? TAVOLA_CHANGE_SET : TAVOLA_CHANGE_REMOVE;
      if (self.given) *now = bytes(*self.given);
    });
    return becomes;
  }
  guarded<function> guard;
  std::optional<std::string> given;
};

// Returns the length of a result, also if it does not fit in the caller's buffer.
inline std::optional<std::size_t> length(tavola_status status, const tavola_buffer& buffer) {
  if (status != TAVOLA_ERR_TOO_SMALL && !done(status)) return std::nullopt;
  return buffer.len;
}

// Collects what a function passes to its callback.
template <typename Made, typename Call, typename... Given>
std::vector<Made> list(Call&& call, Given... given) {
  std::vector<Made> all;
  auto add = [&](const auto& told) { all.emplace_back(told); };
  using adding = guarded<decltype(add)>;
  adding guard(add);
  auto tell = [](void* user, const auto* told) {
    static_cast<adding*>(user)->run([&](auto& each) { each(*told); });
  };
  guard.check(call(given..., tell, &guard));
  return all;
}

// Collects texts.
template <typename Call, typename... Given>
std::vector<std::string> texts(Call&& call, Given... given) {
  std::vector<std::string> all;
  auto add = [&](std::string_view text) { all.emplace_back(text); };
  guarded<decltype(add)> guard(add);
  guard.check(call(given..., each_text<decltype(add)>, &guard));
  return all;
}

// Collects names, which may be any bytes. Returns nothing for TAVOLA_NOT_FOUND.
template <typename Call, typename... Given>
std::optional<std::vector<std::string>> names(Call&& call, Given... given) {
  std::vector<std::string> all;
  auto add = [&](std::string_view name) { all.emplace_back(name); };
  using adding = guarded<decltype(add)>;
  adding guard(add);
  auto tell = [](void* user, const void* name, std::size_t len) {
    static_cast<adding*>(user)->run([&](auto& each) { each(view({name, len})); });
  };
  if (!done(guard.check(call(given..., tell, &guard)))) return std::nullopt;
  return all;
}

inline std::uint64_t milliseconds(std::chrono::milliseconds time) noexcept {
  return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

// The limit of `tavola_set_lock_timeout`.
inline std::uint64_t limit_ms(std::optional<std::chrono::milliseconds> limit) noexcept {
  return limit ? static_cast<std::uint64_t>(limit->count())
               : std::numeric_limits<std::uint64_t>::max();
}

inline tavola_live_keys live_keys(const tavola_table* table) {
  tavola_live_keys keys = TAVOLA_INIT(tavola_live_keys);
  check(tavola_get_live_keys(table, &keys));
  return keys;
}

}  // namespace detail

}  // namespace tavola

#endif

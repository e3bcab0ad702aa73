// Tables whose values have one type, for C++17. A part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_TYPED_HPP
#define TAVOLA_TYPED_HPP

#include <tavola.hpp>

#include <cstring>

namespace tavola {

namespace detail {

template <typename Key>
inline constexpr bool is_text = std::is_convertible_v<const Key&, std::string_view>;

// The type of keys that an iterator returns.
template <typename Key>
using key_of = std::conditional_t<is_text<Key>, std::string_view, Key>;

template <typename T>
T from_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) {
    throw std::length_error("tavola: the bytes of a key or value do not have the size of its type");
  }
  T made;
  std::memcpy(static_cast<void*>(&made), bytes.data(), sizeof(T));
  return made;
}

// The bytes of a key or value, lent as long as it exists.
template <typename T>
std::string_view to_bytes(const T& from) noexcept {
  if constexpr (is_text<T>) {
    return from;
  } else {
    return {reinterpret_cast<const char*>(&from), sizeof(T)};
  }
}

}  // namespace detail

// A key and its value. A key that is text is lent until the iterator goes on.
template <typename Key, typename Value>
struct typed_entry {
  detail::key_of<Key> key;
  Value value;
  static typed_entry of(std::string_view key, std::string_view value) {
    if constexpr (detail::is_text<Key>) {
      return {key, detail::from_bytes<Value>(value)};
    } else {
      return {detail::from_bytes<Key>(key), detail::from_bytes<Value>(value)};
    }
  }
};

// A table whose values are objects of one type, copied byte by byte. The type must not contain
// pointers, because other processes read it. Keys are text, or objects without padding. A value of
// another size throws `std::length_error`.
//
// ```cpp
// struct position { double x, y; };
// auto cars = tavola::typed_table<std::uint32_t, position>::open("cars");
// cars.set(7, {1.5, 2.5}, {.ttl = 10s});
// if (auto at = cars.get(7)) std::cout << at->x << '\n';
// for (auto [car, at] : cars.iter()) std::cout << car << ": " << at.y << '\n';
// tavola::names::remove("cars");
// ```
template <typename Key, typename Value>
class typed_table {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value>,
                "a value is copied byte by byte");
  static_assert(!std::is_pointer_v<Value>, "a pointer has no meaning in another process");
  static_assert(detail::is_text<Key> || (std::is_trivially_copyable_v<Key> &&
                                         std::has_unique_object_representations_v<Key>),
                "a key is text, or an object whose equal values have equal bytes");
  using key_type = std::conditional_t<detail::is_text<Key>, std::string_view, Key>;

 public:
  static typed_table open(const std::string& name, const options& with = {}) {
    return typed_table(table::open(name, with));
  }
  static typed_table create(const std::string& name, const options& with = {}) {
    return typed_table(table::create(name, with));
  }
  static typed_table open_existing(const std::string& name, const options& with = {}) {
    return typed_table(table::open_existing(name, with));
  }
  static typed_table open_read_only(const std::string& name, const options& with = {}) {
    return typed_table(table::open_read_only(name, with));
  }
  static typed_table open_private(const options& with = {}) {
    return typed_table(table::open_private(with));
  }
  explicit typed_table(table of) noexcept : table_(std::move(of)) {}
  // The table itself, for all that is not here.
  table& untyped() noexcept { return table_; }
  const table& untyped() const noexcept { return table_; }

  std::optional<Value> get(const key_type& key) const {
    Value value;
    const auto len = table_.get_to(bytes(key), &value, sizeof(Value));
    if (!len) return std::nullopt;
    if (*len != sizeof(Value)) {
      throw std::length_error("tavola: the value of a key does not have the size of its type");
    }
    return value;
  }
  bool contains(const key_type& key) const { return table_.contains(bytes(key)); }
  void set(const key_type& key, const Value& value, const attributes& with = {}) {
    table_.set(bytes(key), bytes_of(value), with);
  }
  void set(const key_type& key, const Value& value, const attributes& with, const tags& has) {
    table_.set_tagged(bytes(key), bytes_of(value), with, has);
  }
  bool add(const key_type& key, const Value& value, const attributes& with = {}) {
    return table_.add(bytes(key), bytes_of(value), with);
  }
  bool replace(const key_type& key, const Value& value, const attributes& with = {}) {
    return table_.replace(bytes(key), bytes_of(value), with);
  }
  bool remove(const key_type& key) { return table_.remove(bytes(key)); }
  std::optional<Value> take(const key_type& key) { return made(table_.take(bytes(key))); }
  std::optional<Value> swap(const key_type& key, const Value& value) {
    return made(table_.swap(bytes(key), bytes_of(value)));
  }
  // Changes a value: `change` gets an optional value and returns one, or nothing to remove the key.
  // Returns whether the key exists then.
  template <typename F>
  bool update(const key_type& key, F&& change) {
    return table_.update(bytes(key), [&](std::optional<std::string_view> old) {
      std::optional<Value> had;
      if (old) had = detail::from_bytes<Value>(*old);
      const std::optional<Value> now = change(std::move(had));
      return now ? std::optional<std::string>(bytes_of(*now)) : std::nullopt;
    });
  }
  // Returns the value. If it is missing or stale, one process calls `compute`, which returns it.
  template <typename F>
  Value get_or_compute(const key_type& key, const lease_options& with, F&& compute) {
    const auto computed = [&] {
      const Value value = compute();
      return std::string(bytes_of(value));
    };
    return detail::from_bytes<Value>(table_.get_or_compute(bytes(key), with, computed));
  }
  // An iteration over all keys: `for (auto [key, value] : table.iter())`.
  iter_of<typed_entry<Key, Value>> iter() const {
    return iter_of<typed_entry<Key, Value>>(table_.get());
  }
  std::uint64_t len() const { return table_.len(); }
  void clear() { table_.clear(); }

 private:
  static std::string_view bytes(const key_type& key) noexcept { return detail::to_bytes(key); }
  static std::string_view bytes_of(const Value& value) noexcept {
    return {reinterpret_cast<const char*>(&value), sizeof(Value)};
  }
  static std::optional<Value> made(const std::optional<std::string>& value) {
    if (!value) return std::nullopt;
    return detail::from_bytes<Value>(*value);
  }

  table table_;
};

}  // namespace tavola

#endif

// Batches of operations, for C++17. A part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_BATCH_HPP
#define TAVOLA_BATCH_HPP

#include <tavola.hpp>

namespace tavola {

// Operations that are prepared first and then executed together.
class batch {
  using view = std::string_view;

 public:
  batch() {
    tavola_batch* made = nullptr;
    detail::check(tavola_batch_open(&made));
    handle_.reset(made);
  }
  // Each of these returns the number of the operation, to ask for its result after the execution. A
  // `ttl` counts from the execution.
  std::size_t get(view key) { return prepare(tavola_batch_get, key); }
  std::size_t set(view key, view value, const attributes& with = {}) {
    return prepare_with(tavola_batch_set_with, key, value, with);
  }
  std::size_t add(view key, view value, const attributes& with = {}) {
    return prepare_with(tavola_batch_add_with, key, value, with);
  }
  std::size_t replace(view key, view value, const attributes& with = {}) {
    return prepare_with(tavola_batch_replace_with, key, value, with);
  }
  std::size_t remove(view key) { return prepare(tavola_batch_remove, key); }
  // A key that does not exist becomes `initial` and gets `with`, or is not created.
  std::size_t incr(view key, std::uint64_t by, std::optional<std::uint64_t> initial,
                   const attributes& with = {}) {
    return prepare_count(tavola_batch_incr_with, key, by, initial, with);
  }
  std::size_t decr(view key, std::uint64_t by, std::optional<std::uint64_t> initial,
                   const attributes& with = {}) {
    return prepare_count(tavola_batch_decr_with, key, by, initial, with);
  }
  std::size_t touch(view key, const attributes& with) {
    const auto given = detail::to(with);
    return prepare(tavola_batch_touch, key, &given);
  }
  void execute(const table& on) { detail::check(tavola_batch_execute(handle_.get(), on.get())); }
  // Returns whether an operation succeeded.
  bool done(std::size_t index) const {
    return detail::done(tavola_batch_result(handle_.get(), index, nullptr));
  }
  // Returns the value that a read found, lent until the batch is changed.
  std::optional<view> result(std::size_t index) const {
    tavola_bytes value;
    if (!detail::done(tavola_batch_result(handle_.get(), index, &value))) return std::nullopt;
    return detail::view(value);
  }
  // Returns the attributes that the key of a read had.
  std::optional<tavola::attributes> attributes_of(std::size_t index) const {
    tavola_attributes has = TAVOLA_INIT(tavola_attributes);
    if (!detail::done(tavola_batch_attributes(handle_.get(), index, &has))) return std::nullopt;
    return detail::from(has);
  }
  // Returns the number that a counter had after the operation.
  std::optional<std::uint64_t> number(std::size_t index) const {
    std::uint64_t number = 0;
    if (!detail::done(tavola_batch_number(handle_.get(), index, &number))) return std::nullopt;
    return number;
  }
  void clear() { detail::check(tavola_batch_clear(handle_.get())); }

 private:
  template <typename Prepare, typename... More>
  std::size_t prepare(Prepare call, view key, More... more) {
    std::size_t index = 0;
    detail::check(call(handle_.get(), key.data(), key.size(), more..., &index));
    return index;
  }
  template <typename Prepare>
  std::size_t prepare_with(Prepare call, view key, view value, const attributes& with) {
    const auto given = detail::to(with);
    return prepare(call, key, value.data(), value.size(), &given);
  }
  template <typename Prepare>
  std::size_t prepare_count(Prepare call, view key, std::uint64_t by,
                            std::optional<std::uint64_t> initial, const attributes& with) {
    const auto given = detail::to(with);
    return prepare(call, key, by, initial ? &*initial : nullptr, &given);
  }

  detail::handle<tavola_batch, tavola_batch_close> handle_;
};

}  // namespace tavola

#endif

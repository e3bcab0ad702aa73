// Queues of Tavola for C++17; a part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_QUEUE_HPP
#define TAVOLA_QUEUE_HPP

#include <tavola.hpp>

namespace tavola {

// Options of a new pool; see tavola_pool_options.
struct pool_options {
  std::uint32_t elements;
  std::uint32_t element_bytes;
  // The first one has all elements at the beginning.
  std::vector<std::string> queues = {"free"};
  std::uint32_t mode = 0;
  // Room for so many queues in all; 0: only those that are named.
  std::size_t queue_room = 0;
};

// A queue of elements, first in, first out. It keeps its pool's file open.
class queue {
 public:
  // Takes over a handle of C.
  explicit queue(tavola_queue* handle) noexcept : handle_(handle) {}
  tavola_queue* get() const noexcept { return handle_.get(); }

  void push(std::uint32_t element) { detail::check(tavola_queue_push(get(), element)); }
  void push_many(const std::vector<std::uint32_t>& elements) {
    push_many(elements.data(), elements.size());
  }
  void push_many(const std::uint32_t* elements, std::size_t count) {
    detail::check(tavola_queue_push_many(get(), elements, count));
  }
#ifdef __cpp_lib_span
  void push_many(std::span<const std::uint32_t> elements) {
    push_many(elements.data(), elements.size());
  }
#endif

  std::optional<std::uint32_t> pop() {
    std::uint32_t element = 0;
    if (!detail::done(tavola_queue_pop(get(), &element))) return std::nullopt;
    return element;
  }
  // Waits for an element. Returns nothing if the time limit passes before.
  std::optional<std::uint32_t> pop_wait(std::chrono::milliseconds timeout) {
    std::uint32_t element = 0;
    const auto status = tavola_queue_pop_wait(get(), detail::milliseconds(timeout), &element);
    if (!detail::done(status)) return std::nullopt;
    return element;
  }
  // Takes at most `most` elements, and at most 1024. Returns none if the queue is empty.
  std::vector<std::uint32_t> pop_many(std::size_t most) {
    return some(most, [&](auto... out) { return tavola_queue_pop_many(get(), out...); });
  }
  std::vector<std::uint32_t> pop_many_wait(std::size_t most, std::chrono::milliseconds timeout) {
    return some(most, [&](std::uint32_t* elements, std::size_t room, std::size_t* count) {
      return tavola_queue_pop_many_wait(get(), elements, room, detail::milliseconds(timeout),
                                        count);
    });
  }

  // Moves elements to another queue of the pool, and returns how many.
  std::size_t pass(queue& to, std::size_t most) {
    std::size_t count = 0;
    detail::check(tavola_queue_pass(get(), to.get(), most, &count));
    return count;
  }
  std::size_t pass_wait(queue& to, std::size_t most, std::chrono::milliseconds timeout) {
    std::size_t count = 0;
    detail::check(
        tavola_queue_pass_wait(get(), to.get(), most, detail::milliseconds(timeout), &count));
    return count;
  }
  std::size_t len() const { return tavola_queue_len(get()); }

 private:
  template <typename Pop>
  static std::vector<std::uint32_t> some(std::size_t most, Pop&& call) {
    std::vector<std::uint32_t> elements(most < 1024 ? most : 1024);
    std::size_t count = 0;
    detail::check(call(elements.data(), elements.size(), &count));
    elements.resize(count);
    return elements;
  }

  detail::handle<tavola_queue, tavola_queue_close> handle_;
};

// A descriptor that is readable while a queue holds something.
class queue_watch {
 public:
  explicit queue_watch(const queue& of) {
    tavola_queue_watch* made = nullptr;
    detail::check(tavola_queue_watch_open(of.get(), &made));
    handle_.reset(made);
  }
  int fd() const noexcept { return tavola_queue_watch_fd(handle_.get()); }
  void clear() { detail::check(tavola_queue_watch_clear(handle_.get())); }

 private:
  detail::handle<tavola_queue_watch, tavola_queue_watch_close> handle_;
};

// Elements in shared memory, and queues of them.
class pool {
 public:
  static pool open(const std::string& name, const pool_options& with) {
    return make(with, [&](auto... rest) { return tavola_pool_open(name.c_str(), rest...); });
  }
  static pool create(const std::string& name, const pool_options& with) {
    return make(with, [&](auto... rest) { return tavola_pool_create(name.c_str(), rest...); });
  }
  static pool open_existing(const std::string& name) {
    tavola_pool* made = nullptr;
    detail::check(tavola_pool_open_existing(name.c_str(), &made));
    return pool(made);
  }
  static pool open_in(const table& in, const std::string& name,
                      const pool_options& with) {
    return make(with, [&](auto... rest) {
      return tavola_pool_open_in(in.get(), name.c_str(), rest...);
    });
  }
  static pool create_in(const table& in, const std::string& name,
                        const pool_options& with) {
    return make(with, [&](auto... rest) {
      return tavola_pool_create_in(in.get(), name.c_str(), rest...);
    });
  }
  static pool open_existing_in(const table& in, const std::string& name) {
    tavola_pool* made = nullptr;
    detail::check(tavola_pool_open_existing_in(in.get(), name.c_str(), &made));
    return pool(made);
  }
  // Takes over a handle of C.
  explicit pool(tavola_pool* handle) noexcept : handle_(handle) {}
  tavola_pool* get() const noexcept { return handle_.get(); }
  std::string path() const { return detail::lent(tavola_pool_path(get())); }
  std::uint32_t elements() const { return tavola_pool_elements(get()); }
  std::uint32_t element_bytes() const { return tavola_pool_element_bytes(get()); }

  tavola::queue queue(const std::string& name) const {
    tavola_queue* made = nullptr;
    detail::check(tavola_queue_open(get(), name.c_str(), &made));
    return tavola::queue(made);
  }
  // Adds a queue with a new name; the pool has room for `queue_room` queues in all.
  tavola::queue add_queue(const std::string& name) {
    tavola_queue* made = nullptr;
    detail::check(tavola_pool_add_queue(get(), name.c_str(), &made));
    return tavola::queue(made);
  }
  std::uint32_t queue_room() const { return tavola_pool_queue_room(get()); }
  std::vector<std::string> queues() const {
    return detail::texts(tavola_pool_queues, get());
  }

  // Returns the bytes of an element, or nullptr if there is no such element.
  void* element_ptr(std::uint32_t number) const noexcept {
    return tavola_pool_element_ptr(get(), number);
  }
#ifdef __cpp_lib_span
  std::span<std::byte> element_span(std::uint32_t number) const {
    void* first = element_ptr(number);
    return {static_cast<std::byte*>(first), first == nullptr ? 0 : element_bytes()};
  }
#endif
  void read(std::uint32_t element, std::uint32_t at, void* data, std::size_t len) const {
    detail::check(tavola_pool_read(get(), element, at, data, len));
  }
  void write(std::uint32_t element, std::uint32_t at, std::string_view bytes) {
    detail::check(tavola_pool_write(get(), element, at, bytes.data(), bytes.size()));
  }

  std::vector<std::uint32_t> lost() const { return told(tavola_pool_lost); }
  // Takes the lost elements. It allocates first, so that no element is taken and then forgotten.
  std::vector<std::uint32_t> reclaim() { return told(tavola_pool_reclaim); }
  check_report check() const {
    return detail::report(tavola_pool_check, get());
  }

 private:
  template <typename Open>
  static pool make(const pool_options& with, Open&& call) {
    std::vector<const char*> names;
    for (const auto& name : with.queues) names.push_back(name.c_str());
    tavola_pool_options given = TAVOLA_INIT(tavola_pool_options);
    given.elements = with.elements;
    given.element_bytes = with.element_bytes;
    given.queues = names.data();
    given.queue_count = names.size();
    given.mode = with.mode;
    given.queue_room = with.queue_room;
    tavola_pool* made = nullptr;
    detail::check(call(&given, &made));
    return pool(made);
  }
  template <typename Tell>
  std::vector<std::uint32_t> told(Tell tell) const {
    std::vector<std::uint32_t> all;
    all.reserve(elements());
    auto add = [](void* user, std::uint32_t element) {
      static_cast<std::vector<std::uint32_t>*>(user)->push_back(element);
    };
    detail::check(tell(get(), add, &all));
    return all;
  }

  detail::handle<tavola_pool, tavola_pool_close> handle_;
};

}  // namespace tavola

#endif

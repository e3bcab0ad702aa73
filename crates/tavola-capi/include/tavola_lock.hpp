// Named locks, semaphores and areas of Tavola for C++17; a part of tavola.hpp, which includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_LOCK_HPP
#define TAVOLA_LOCK_HPP

#include <tavola.hpp>

namespace tavola {

// A lock with a name in the file of a table. It works with std::unique_lock and std::shared_lock;
// with the calls below, owner_died says whether the last holder died with the lock.
class named_lock {
 public:
  named_lock(const table& in, const std::string& name) {
    tavola_lock* made = nullptr;
    detail::check(tavola_lock_open(in.get(), name.c_str(), &made));
    handle_.reset(made);
  }
  tavola_lock* get() const noexcept { return handle_.get(); }

  void lock() { note(tavola_lock_lock(get())); }
  bool try_lock() { return note(tavola_lock_try(get())); }
  bool try_lock_for(std::chrono::milliseconds limit) {
    return note(tavola_lock_wait(get(), detail::milliseconds(limit)));
  }
  void unlock() { detail::check(tavola_lock_unlock(get())); }

  void lock_shared() { note(tavola_lock_shared(get())); }
  bool try_lock_shared() { return note(tavola_lock_shared_try(get())); }
  bool try_lock_shared_for(std::chrono::milliseconds limit) {
    return note(tavola_lock_shared_wait(get(), detail::milliseconds(limit)));
  }
  void unlock_shared() { unlock(); }

  // Whether the last call that took the lock found that its holder before had died: then it is held
  // exclusively, and what it guards may be half changed.
  bool owner_died() const noexcept { return owner_died_; }

 private:
  bool note(tavola_status status) {
    owner_died_ = status == TAVOLA_OWNER_DIED;
    return owner_died_ || detail::done(status);
  }

  detail::handle<tavola_lock, tavola_lock_close> handle_;
  bool owner_died_ = false;
};

// A semaphore with a name in the file of a table, with the calls of std::counting_semaphore.
class semaphore {
 public:
  semaphore(const table& in, const std::string& name, std::uint32_t permits) {
    tavola_sem* made = nullptr;
    detail::check(tavola_sem_open(in.get(), name.c_str(), permits, &made));
    handle_.reset(made);
  }
  tavola_sem* get() const noexcept { return handle_.get(); }

  void acquire() { note(tavola_sem_acquire(get())); }
  bool try_acquire() { return note(tavola_sem_try(get())); }
  bool try_acquire_for(std::chrono::milliseconds limit) {
    return note(tavola_sem_wait(get(), detail::milliseconds(limit)));
  }
  void release() { detail::check(tavola_sem_release(get())); }

  // Whether the permit that was taken last was that of a process that had died.
  bool owner_died() const noexcept { return owner_died_; }

 private:
  bool note(tavola_status status) {
    owner_died_ = status == TAVOLA_OWNER_DIED;
    return owner_died_ || detail::done(status);
  }

  detail::handle<tavola_sem, tavola_sem_close> handle_;
  bool owner_died_ = false;
};

// Bytes of a program's own in the file of a table, zero at first.
class area {
 public:
  area(const table& in, const std::string& name, std::uint64_t bytes) {
    tavola_area* made = nullptr;
    detail::check(tavola_area_open_in(in.get(), name.c_str(), bytes, &made));
    handle_.reset(made);
  }
  // Opens one that exists.
  area(const table& in, const std::string& name) {
    tavola_area* made = nullptr;
    detail::check(tavola_area_open_existing_in(in.get(), name.c_str(), &made));
    handle_.reset(made);
  }
  tavola_area* get() const noexcept { return handle_.get(); }
  void* data() const noexcept { return tavola_area_data(get()); }
  std::uint64_t size() const noexcept { return tavola_area_bytes(get()); }

 private:
  detail::handle<tavola_area, tavola_area_close> handle_;
};

}  // namespace tavola

#endif

// Transactions, for C++17: changes of several keys that happen at once. A part of tavola.hpp, which
// includes it.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_TXN_HPP
#define TAVOLA_TXN_HPP

#include <tavola_write.hpp>

namespace tavola {

// How a transaction begins; see tavola_begin.
enum class begin_as : std::int32_t {
  optimistic = TAVOLA_BEGIN_OPTIMISTIC,
  turn = TAVOLA_BEGIN_TURN,
  read_only = TAVOLA_BEGIN_READ_ONLY,
};

// The reads and writes of a transaction.
class transaction_calls {
 public:
  using view = std::string_view;
  tavola_txn* get() const noexcept { return txn_; }
  std::optional<std::string> get(view key) {
    detail::text value;
    return value.take_if_done(
        tavola_txn_get(txn_, key.data(), key.size(), value.buffer(), nullptr));
  }
  bool contains(view key) {
    return detail::done(tavola_txn_contains(txn_, key.data(), key.size()));
  }
  void set(view key, view value) { write(tavola_txn_set, key, value); }
  void set(view key, view value, const attributes& with, const tavola_tags* tags = nullptr) {
    const auto given = detail::to(with);
    write(tavola_txn_set_with, key, value, &given, tags);
  }
  bool add(view key, view value) { return write(tavola_txn_add, key, value); }
  bool replace(view key, view value) { return write(tavola_txn_replace, key, value); }
  bool append(view key, view more) { return write(tavola_txn_append, key, more); }
  bool remove(view key) { return detail::done(tavola_txn_remove(txn_, key.data(), key.size())); }
  // Adds to a signed number, and returns the sum. A key that does not exist counts as 0.
  std::int64_t add_number(view key, std::int64_t by = 1) {
    std::int64_t now = 0;
    detail::check(tavola_txn_add_number(txn_, key.data(), key.size(), by, &now));
    return now;
  }
  // Returns the number of a savepoint: `roll_back_to` undoes all writes after it.
  std::uint32_t savepoint() {
    std::uint32_t number = 0;
    detail::check(tavola_txn_savepoint(txn_, &number));
    return number;
  }
  void roll_back_to(std::uint32_t savepoint) {
    detail::check(tavola_txn_roll_back_to(txn_, savepoint));
  }

 protected:
  explicit transaction_calls(tavola_txn* txn) noexcept : txn_(txn) {}
  tavola_txn* txn_;

 private:
  template <typename Call, typename... Rest>
  bool write(Call call, view key, view value, Rest... rest) {
    return detail::done(
        call(txn_, key.data(), key.size(), value.data(), value.size(), rest...));
  }
};

// A transaction of `table::begin`. Its destructor aborts it if it was not committed. For the thread
// that began it.
class transaction : public transaction_calls {
 public:
  // Takes over a handle of C.
  explicit transaction(tavola_txn* handle) noexcept : transaction_calls(handle) {}
  transaction(transaction&& other) noexcept
      : transaction_calls(std::exchange(other.txn_, nullptr)) {}
  transaction& operator=(transaction&& other) noexcept {
    std::swap(txn_, other.txn_);
    return *this;
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction() { abort(); }
  // Commits: all changes happen at once. Returns false if another process has changed a key that
  // was read; then nothing happens.
  bool commit() { return detail::done(tavola_txn_commit(std::exchange(txn_, nullptr))); }
  void abort() noexcept { tavola_txn_abort(std::exchange(txn_, nullptr)); }
};

namespace detail {

// The transaction that a function runs in.
struct running : transaction_calls {
  explicit running(tavola_txn* txn) noexcept : transaction_calls(txn) {}
};

// The function of a transaction: it returns nothing, or false to abort.
template <typename F>
struct transacting {
  using function = std::remove_reference_t<F>;
  explicit transacting(function& body) : body(body) {}
  static std::int32_t ask(void* user, tavola_txn* txn) {
    auto& self = *static_cast<transacting*>(user);
    running lent(txn);
    // A run before this one may have thrown, and did not count.
    self.thrown = nullptr;
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<function&, transaction_calls&>>) {
        self.body(lent);
        return 0;
      } else {
        return self.body(lent) ? 0 : 1;
      }
    } catch (...) {
      self.thrown = std::current_exception();
      return 1;
    }
  }
  template <typename Call>
  bool run(Call call, const tavola_table* table) {
    const auto status = call(table, ask, this);
    if (thrown && status == TAVOLA_ABORTED) std::rethrow_exception(thrown);
    if (status == TAVOLA_CONFLICT) {
      throw error(status, "another process has changed a key that the transaction has read");
    }
    return done(status);
  }
  function& body;
  std::exception_ptr thrown;
};

}  // namespace detail

// The functions of `table` that run transactions.
class table_transactions : public table_writes {
 public:
  using table_writes::table_writes;

  // Runs a function that reads and changes several keys: `body(txn)`, with the calls of
  // `transaction_calls`. All changes happen at once. If a key that it has read is changed
  // meanwhile, it runs again. If it returns false or throws, nothing is changed. Returns whether
  // the changes were made; an exception of `body` reaches the caller.
  template <typename F>
  bool transact(F&& body) {
    return detail::transacting<F>(body).run(tavola_transaction, get());
  }
  // Does the same, but runs the function once: it waits for the turn of the table. Throws an error
  // with TAVOLA_CONFLICT if a key was changed by something without the turn.
  template <typename F>
  bool transact_once(F&& body) {
    return detail::transacting<F>(body).run(tavola_transaction_once, get());
  }
  // Runs a function that reads several keys as they were at one moment.
  template <typename F>
  bool view_keys(F&& body) const {
    return detail::transacting<F>(body).run(tavola_view_keys, get());
  }
  transaction begin(begin_as how = begin_as::optimistic) {
    tavola_txn* made = nullptr;
    detail::check(tavola_txn_begin(get(), static_cast<std::int32_t>(how), &made));
    return transaction(made);
  }
};

}  // namespace tavola

#endif

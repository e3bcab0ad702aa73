// Runs the common cases in C++: reads a request a line and answers each by one.
#include "words.h"

#include <tavola.hpp>

#include <map>

namespace {

using view = std::string_view;
using std::chrono::milliseconds;

// A request, and the table that it is about.
class session {
 public:
  explicit session(const line& at) : at_(at) {}

  void answer() {
    const auto call = calls().find(word(&at_, 0));
    if (call == calls().end()) give_up("an unknown call");
    try {
      (this->*call->second)();
    } catch (const tavola::error& error) {
      std::printf("error %s %s\n", error.name(), error.what());
    }
    std::fflush(stdout);
  }

 private:
  using call = void (session::*)();

  view bytes(std::size_t number) const {
    const auto found = bytes_of(&at_, number);
    return {static_cast<const char*>(found.data), found.len};
  }
  view key() const { return bytes(1); }

  tavola::attributes attributes(std::size_t flags, std::size_t ttl) const {
    tavola::attributes with;
    with.flags = static_cast<std::uint32_t>(unsigned_of(&at_, flags));
    if (!is_none(&at_, ttl)) with.ttl = milliseconds(number_of(&at_, ttl));
    return with;
  }

  std::vector<view> rest(std::size_t from) const {
    std::vector<view> all;
    for (auto i = from; i < at_.count; i++) all.push_back(bytes(i));
    return all;
  }

  static void say_number(long long number) { std::printf("number %lld\n", number); }

  template <typename Entry>
  static void say_entry(const std::optional<Entry>& found) {
    if (!found) return say_none();
    say_value(found->attributes.flags, found->value.data(), found->value.size());
  }

  void open() {
    tavola::options with;
    with.max_size = unsigned_of(&at_, 2);
    with.capacity = unsigned_of(&at_, 3);
    with.ttl = milliseconds(number_of(&at_, 4));
    with.versions = unsigned_of(&at_, 5) != 0;
    with.fixed_key = static_cast<std::uint32_t>(unsigned_of(&at_, 6));
    with.fixed_value = static_cast<std::uint32_t>(unsigned_of(&at_, 7));
    const view durable = word(&at_, 8);
    if (durable == "commit") {
      with.durable = TAVOLA_DURABLE_COMMIT;
    } else if (durable == "os") {
      with.durable = TAVOLA_DURABLE_OS;
    } else if (durable != "-") {
      with.durable = TAVOLA_DURABLE_WITHIN;
      with.sync = milliseconds(number_of(&at_, 8));
    }
    table_.emplace(tavola::table::open(word(&at_, 1), with));
    say_bool(1);
  }

  void close() {
    table_.reset();
    tavola::names::remove(word(&at_, 1));
    say_bool(1);
  }

  void get() { say_entry(table_->get_entry(key())); }

  // `CALL KEY VALUE FLAGS TTL TAG...`.
  void write(tavola::condition condition) {
    const auto names = rest(5);
    auto tags = tavola::tags(TAVOLA_INIT(tavola_tags));
    if (!names.empty()) tags = table_->fetch_tags(names);
    tavola::store_options how;
    how.condition = condition;
    how.attributes = attributes(3, 4);
    how.tags = &tags;
    say_bool(bool(table_->store(key(), bytes(2), how)));
  }
  void set() { write(tavola::condition::always); }
  void add() { write(tavola::condition::absent); }
  void replace() { write(tavola::condition::present); }

  void append() { say_bool(table_->append(key(), bytes(2))); }
  void prepend() { say_bool(table_->prepend(key(), bytes(2))); }
  void remove() { say_bool(table_->remove(key())); }
  void exists() { say_bool(table_->contains(key())); }

  // With the flags, which `tavola::table::take` does not return.
  void take() {
    const auto name = key();
    auto found = table_->get_entry(name);
    while (found && table_->compare_and_remove(name, found->token) == TAVOLA_CHANGED) {
      found = table_->get_entry(name);
    }
    say_entry(found);
  }

  // `swap KEY VALUE FLAGS`.
  void swap() {
    const auto name = key(), value = bytes(2);
    tavola::store_options how;
    how.attributes = tavola::attributes{};
    how.attributes->flags = static_cast<std::uint32_t>(unsigned_of(&at_, 3));
    for (;;) {
      const auto found = table_->get_entry(name);
      how.condition = found ? tavola::condition::token : tavola::condition::absent;
      how.token = found ? found->token : 0;
      if (table_->store(name, value, how)) return say_entry(found);
    }
  }

  void gets() {
    const auto found = table_->get_with_token(key());
    if (!found) return say_none();
    std::printf("number %llu\n", static_cast<unsigned long long>(found->token));
  }

  // `cas KEY VALUE FLAGS TTL TOKEN`.
  void cas() {
    const auto status =
        table_->compare_and_swap(key(), unsigned_of(&at_, 5), bytes(2), attributes(3, 4));
    say_bool(status == TAVOLA_OK);
  }

  // `count KEY BY INITIAL FLAGS TTL`.
  void count() {
    const auto name = key();
    const auto initial = number_of(&at_, 3);
    tavola::number_options how;
    how.attributes = attributes(4, 5);
    if (initial != 0) table_->add(name, std::to_string(initial), how.attributes);
    say_number(table_->add_number(name, number_of(&at_, 2), how));
  }

  // `touch KEY TTL`, where `-` is for ever.
  void touch() {
    tavola::attributes with;
    with.ttl = is_none(&at_, 2) ? tavola::for_ever : milliseconds(number_of(&at_, 2));
    say_bool(table_->touch(key(), with));
  }

  void ttl() {
    const auto left = table_->ttl(key());
    if (!left || *left == tavola::for_ever) return say_none();
    say_number(left->count());
  }

  void get_many() {
    std::fputs("entries", stdout);
    table_->get_many_entries(rest(1), [](std::size_t i, const std::optional<view>& found,
                                         const tavola::attributes& has) {
      if (!found) return;
      std::printf(" %zu %u ", i, has.flags);
      say_bytes(found->data(), found->size());
    });
    std::putchar('\n');
  }

  // `set_many TTL TAGS TAG... (KEY VALUE FLAGS)...`, where TAGS is the number of the tags.
  void set_many() {
    const auto count = static_cast<std::size_t>(unsigned_of(&at_, 2));
    std::vector<view> tags;
    for (std::size_t i = 3; i < 3 + count; i++) tags.push_back(bytes(i));
    std::vector<tavola::full_entry> entries;
    for (auto i = 3 + count; i + 2 < at_.count; i += 3) {
      entries.push_back({bytes(i), bytes(i + 1), attributes(i + 2, 1)});
    }
    if (tags.empty()) {
      table_->set_many_entries(entries);
    } else {
      table_->set_many_tagged(entries, table_->fetch_tags(tags));
    }
    say_bool(1);
  }

  void remove_many() {
    say_number(static_cast<long long>(table_->remove_many(rest(1))));
  }

  void keys() {
    std::fputs("keys", stdout);
    for (const auto& name : table_->keys_with_prefix(bytes(1))) {
      std::putchar(' ');
      say_bytes(name.data(), name.size());
    }
    std::putchar('\n');
  }

  void remove_prefix() { say_number(static_cast<long long>(table_->remove_prefix(bytes(1)))); }
  void size() { say_number(static_cast<long long>(table_->live_keys().live)); }

  void clear() {
    table_->clear();
    say_bool(1);
  }

  void invalidate() {
    table_->invalidate_tag(bytes(1));
    say_bool(1);
  }

  // `compute KEY VALUE FLAGS TTL`.
  void compute() {
    tavola::lease_options how;
    how.fresh = milliseconds(number_of(&at_, 4));
    auto asked = table_->get_or_lease(key(), how);
    if (!asked.lease) return say_value(asked.flags, asked.value.data(), asked.value.size());
    const auto value = bytes(2);
    const auto flags = static_cast<std::uint32_t>(unsigned_of(&at_, 3));
    asked.lease->fill(value, flags);
    say_value(flags, value.data(), value.size());
  }

  void is_durable() { say_bool(table_->is_durable()); }
  // A policy is a word, milliseconds, or nothing.
  void durability() {
    switch (table_->durability()) {
      case TAVOLA_DURABLE_COMMIT: return say_text("commit");
      case TAVOLA_DURABLE_OS: return say_text("os");
      case TAVOLA_DURABLE_WITHIN: return say_number(table_->sync_time().count());
      default: return say_none();
    }
  }
  void snapshot() { say_bool(table_->snapshot()); }

  void sync() {
    table_->sync();
    say_bool(1);
  }

  // `lock NAME WAIT SHARED`.
  void lock() {
    tavola::named_lock asked(*table_, std::string(bytes(1)));
    const milliseconds wait(number_of(&at_, 2));
    const bool is_shared = unsigned_of(&at_, 3) != 0;
    const bool is_mine = is_shared ? asked.try_lock_shared_for(wait) : asked.try_lock_for(wait);
    if (is_mine) locks_.push_back(std::move(asked));
    say_bool(is_mine);
  }
  void unlock() {
    locks_.pop_back();
    say_bool(1);
  }

  // `open_queue NAME PLACES`.
  void open_queue() {
    tavola::pool_options with;
    with.elements = static_cast<std::uint32_t>(unsigned_of(&at_, 2));
    with.element_bytes = JOB_BYTES;
    with.queues = {"free", "jobs"};
    pool_.emplace(tavola::pool::create(word(&at_, 1), with));
    unused_.emplace(pool_->queue("free"));
    jobs_.emplace(pool_->queue("jobs"));
    say_bool(1);
  }
  void close_queue() {
    jobs_.reset();
    unused_.reset();
    pool_.reset();
    tavola::names::remove(word(&at_, 1));
    say_bool(1);
  }

  void set_first_word(std::uint32_t element, std::uint32_t first) {
    pool_->write(element, 0, {reinterpret_cast<const char*>(&first), sizeof first});
  }
  // `push VALUE FLAGS`. A job that is not text has flags before its bytes.
  void push() {
    const auto job = bytes(1);
    const auto flags = static_cast<std::uint32_t>(unsigned_of(&at_, 2));
    const auto element = unused_->pop();
    if (!element) return say_bool(0);
    const auto word = static_cast<std::uint32_t>(job.size()) + 1;
    if (flags == TEXT) {
      pool_->write(*element, 4, job);
      set_first_word(*element, word);
    } else {
      pool_->write(*element, 4, {reinterpret_cast<const char*>(&flags), sizeof flags});
      pool_->write(*element, 8, job);
      set_first_word(*element, word | HAS_FLAGS);
    }
    jobs_->push(*element);
    say_bool(1);
  }
  void pop() {
    const auto element = jobs_->pop();
    if (!element) return say_none();
    std::uint32_t first = 0, flags = TEXT;
    pool_->read(*element, 0, &first, sizeof first);
    const bool has_flags = (first & HAS_FLAGS) != 0;
    if (has_flags) pool_->read(*element, 4, &flags, sizeof flags);
    std::string job((first & ~HAS_FLAGS) - 1, ' ');
    pool_->read(*element, has_flags ? 8 : 4, job.data(), job.size());
    held_.push_back(*element);
    say_value(flags, job.data(), job.size());
  }
  void done() {
    set_first_word(held_.back(), 0);
    push_held(*unused_);
  }
  void give_back() { push_held(*jobs_); }
  void push_held(tavola::queue& to) {
    to.push(held_.back());
    held_.pop_back();
    say_bool(1);
  }
  void waiting() { say_number(static_cast<long long>(jobs_->len())); }

  void begin() {
    txn_.emplace(table_->begin());
    say_bool(1);
  }
  void begin_turn() {
    txn_.emplace(table_->begin(tavola::begin_as::turn));
    say_bool(1);
  }
  void commit() { std::puts(txn_->commit() ? "true" : "conflict"); }
  void abort() {
    txn_->abort();
    say_bool(0);
  }
  // With the flags, which `tavola::transaction_calls::get` does not return.
  void txn_get() {
    const auto name = key();
    tavola_attributes found = TAVOLA_INIT(tavola_attributes);
    char data[256];
    tavola_buffer buffer = TAVOLA_BUFFER(data, sizeof data);
    const auto status = tavola_txn_get(txn_->get(), name.data(), name.size(), &buffer, &found);
    if (status == TAVOLA_NOT_FOUND) return say_none();
    if (status != TAVOLA_OK) return say_error(status);
    say_value(found.flags, data, buffer.len);
  }
  void txn_set() {
    txn_->set(key(), bytes(2), attributes(3, 4));
    say_bool(1);
  }
  // `CALL KEY VALUE FLAGS TTL`. C++ adds and replaces without attributes, and C with them.
  template <typename Call>
  void txn_write(Call call) {
    const auto name = key(), value = bytes(2);
    tavola_attributes with = TAVOLA_INIT(tavola_attributes);
    with.flags = static_cast<std::uint32_t>(unsigned_of(&at_, 3));
    const auto status = call(txn_->get(), name.data(), name.size(), value.data(), value.size(),
                             &with, nullptr);
    if (status < 0) return say_error(status);
    say_bool(status == TAVOLA_OK);
  }
  void txn_add() { txn_write(tavola_txn_add_with); }
  void txn_replace() { txn_write(tavola_txn_replace_with); }
  void txn_append() { say_bool(txn_->append(key(), bytes(2))); }
  void txn_remove() { say_bool(txn_->remove(key())); }
  void txn_exists() { say_bool(txn_->contains(key())); }
  // `txn_count KEY BY INITIAL FLAGS TTL`. The flags are only the C function's.
  void txn_count() {
    const auto name = key();
    tavola_attributes with = TAVOLA_INIT(tavola_attributes);
    with.flags = static_cast<std::uint32_t>(unsigned_of(&at_, 4));
    tavola_number_options how = TAVOLA_INIT(tavola_number_options);
    how.attributes = &with;
    std::int64_t now = 0;
    const auto status = tavola_txn_add_number_with(txn_->get(), name.data(), name.size(),
                                                   number_of(&at_, 2), &how, &now);
    if (status < 0) return say_error(status);
    say_number(now);
  }

  static const std::map<view, call>& calls() {
    static const std::map<view, call> all = {
        {"open", &session::open},
        {"close", &session::close},
        {"get", &session::get},
        {"set", &session::set},
        {"add", &session::add},
        {"replace", &session::replace},
        {"append", &session::append},
        {"prepend", &session::prepend},
        {"delete", &session::remove},
        {"exists", &session::exists},
        {"take", &session::take},
        {"swap", &session::swap},
        {"gets", &session::gets},
        {"cas", &session::cas},
        {"count", &session::count},
        {"touch", &session::touch},
        {"ttl", &session::ttl},
        {"get_many", &session::get_many},
        {"set_many", &session::set_many},
        {"delete_many", &session::remove_many},
        {"keys", &session::keys},
        {"delete_prefix", &session::remove_prefix},
        {"size", &session::size},
        {"clear", &session::clear},
        {"invalidate", &session::invalidate},
        {"compute", &session::compute},
        {"is_durable", &session::is_durable},
        {"durability", &session::durability},
        {"sync", &session::sync},
        {"snapshot", &session::snapshot},
        {"lock", &session::lock},
        {"unlock", &session::unlock},
        {"open_queue", &session::open_queue},
        {"close_queue", &session::close_queue},
        {"push", &session::push},
        {"pop", &session::pop},
        {"done", &session::done},
        {"give_back", &session::give_back},
        {"waiting", &session::waiting},
        {"begin", &session::begin},
        {"begin_turn", &session::begin_turn},
        {"commit", &session::commit},
        {"abort", &session::abort},
        {"txn_get", &session::txn_get},
        {"txn_set", &session::txn_set},
        {"txn_add", &session::txn_add},
        {"txn_replace", &session::txn_replace},
        {"txn_append", &session::txn_append},
        {"txn_delete", &session::txn_remove},
        {"txn_exists", &session::txn_exists},
        {"txn_count", &session::txn_count},
    };
    return all;
  }

  const line& at_;
  std::optional<tavola::table> table_;
  std::vector<tavola::named_lock> locks_;
  std::optional<tavola::pool> pool_;
  std::optional<tavola::queue> unused_, jobs_;
  std::vector<std::uint32_t> held_;
  std::optional<tavola::transaction> txn_;
};

}  // namespace

int main() {
  line at = {};
  session answers(at);
  while (next_line(&at)) answers.answer();
  std::free(at.text);
  return 0;
}

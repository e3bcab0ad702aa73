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
    };
    return all;
  }

  const line& at_;
  std::optional<tavola::table> table_;
};

}  // namespace

int main() {
  line at = {};
  session answers(at);
  while (next_line(&at)) answers.answer();
  std::free(at.text);
  return 0;
}

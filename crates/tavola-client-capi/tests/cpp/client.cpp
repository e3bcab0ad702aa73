// The client and its batches in C++, and what an exception in a callback does.

#include "check.hpp"

#include <algorithm>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tavola;

static void calls(const mc::client& client) {
  client.flush_all();
  CHECK(!client.get("a"));
  client.set("a", "apple", {7, 0, false});
  const auto found = client.get("a");
  CHECK(found && found->data == "apple" && found->flags == 7 && found->cas == 0);
  CHECK(!client.add("a", "x") && client.add("b", "x"));
  CHECK(client.replace("b", "y") && !client.replace("c", "y"));
  CHECK(client.append("b", "z") && client.prepend("b", "x") && client.get("b")->data == "xyz");
  const auto numbered = client.gets("b");
  CHECK(numbered && numbered->cas != 0);
  CHECK(client.cas("b", "1", numbered->cas) == mc::cas_result::stored);
  CHECK(client.cas("b", "2", numbered->cas) == mc::cas_result::exists);
  CHECK(client.cas("c", "2", numbered->cas) == mc::cas_result::missing);
  CHECK(!client.incr("n", 1));
  mc::count from;
  from.initial = 10;
  CHECK(client.incr("n", 1, from) == 10u && client.incr("n", 5) == 15u);
  CHECK(client.decr("n", 20) == 0u);
  CHECK(client.touch("a", 100) && !client.touch("c", 100));
  CHECK(client.get_and_touch("a", 100)->data == "apple");
  CHECK(client.gets_and_touch("a", 100)->cas != 0);
  CHECK(client.remove("a") && !client.remove("a"));
  mc::store silent;
  silent.no_reply = true;
  client.set("q", std::string(100000, 'q'), silent);
  client.flush();
  CHECK(client.get("q")->data == std::string(100000, 'q'));
  client.set("empty", "");
  CHECK(client.get("empty") && client.get("empty")->data.empty());
}

static void servers_of(const mc::client& client) {
  CHECK(client.servers().size() == 2 && client.server_of("k") < 2);
  for (const auto& answer : client.versions()) {
    CHECK(answer.status == TAVOLA_MC_OK && answer.text[0] == '1');
  }
  CHECK(client.versions().size() == 2 && client.stats().size() > 20);
  client.set("listed", "");
  const auto keys = client.keys();
  CHECK(std::count(keys.begin(), keys.end(), "listed") == 1);
}

static void errors(const mc::client& client) {
  CHECK(thrown_by([] { mc::client("a:0"); }) == TAVOLA_MC_ERR_SERVERS);
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  options.placement = 77;
  CHECK(thrown_by([&] { mc::client("a", options); }) == TAVOLA_MC_ERR_OPTION);
  CHECK(thrown_by([&] { client.get(std::string(251, 'k')); }) == TAVOLA_MC_ERR_REFUSED);
  const mc::client nowhere("127.0.0.1:1");
  CHECK(thrown_by([&] { nowhere.get("k"); }) == TAVOLA_MC_ERR_UNSENT);
  CHECK(thrown_by([&] { nowhere.keys(); }) == TAVOLA_MC_ERR_UNSENT);
  CHECK(thrown_by([&] { nowhere.set("k", "v"); }) == TAVOLA_MC_ERR_UNSENT);
  CHECK(nowhere.versions().at(0).status == TAVOLA_MC_ERR_UNSENT);
  mc::batch lost(nowhere);
  lost.gets_and_touch("a", 100);
  CHECK(lost.execute().at(0).cause == TAVOLA_MC_CAUSE_REFUSED);
}

static void batches(const mc::client& client) {
  client.flush_all();
  mc::batch batch(client);
  for (int i = 0; i < 100; i++) {
    // The batch keeps what does not live longer than this line.
    batch.set("key" + std::to_string(i), std::string(i, 'v'));
  }
  for (const auto& result : batch.execute()) CHECK(result.status == TAVOLA_MC_STORED);
  batch.clear();
  CHECK(batch.size() == 0);
  for (int i = 0; i < 100; i++) CHECK(batch.get("key" + std::to_string(i)) == std::size_t(i));
  const auto missing = batch.get("none"), number = batch.gets("key1");
  const auto invalid = batch.get(std::string(251, 'k'));
  const auto results = batch.execute();
  CHECK(results.size() == 103);
  for (int i = 0; i < 100; i++) {
    CHECK(results[i].is_hit() && results[i].value.data == std::string(i, 'v'));
  }
  CHECK(results[missing].status == TAVOLA_MC_MISS && !results[missing].is_error());
  CHECK(results[number].value.cas != 0);
  CHECK(results[invalid].is_error() && !results[invalid].why.empty());
  CHECK(results[invalid].name() == std::string("TAVOLA_MC_ERR_REFUSED"));

  batch.clear();
  mc::count from;
  from.initial = 3;
  batch.incr("c", 1, from);
  batch.incr("c", 1);
  batch.decr("c", 2);
  batch.touch("c", 100);
  batch.get_and_touch("c", 100);
  batch.remove("c");
  batch.add("d", "b");
  batch.append("d", "c");
  batch.prepend("d", "a");
  batch.replace("none", "x");
  batch.cas("key1", "new", results[number].value.cas);
  const auto more = batch.execute();
  CHECK(more[0].number == 3 && more[1].number == 4 && more[2].number == 2);
  CHECK(more[3].status == TAVOLA_MC_TOUCHED && more[4].value.data == "2");
  CHECK(more[5].status == TAVOLA_MC_DELETED && more[9].status == TAVOLA_MC_NOT_STORED);
  CHECK(more[10].status == TAVOLA_MC_STORED);
  CHECK(client.get("d")->data == "abc" && client.get("key1")->data == "new");
}

// An exception that leaves a callback ends the process, by abort: nothing is half done.
static void exceptions(const mc::client& client) {
  client.set("k", "v");
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGABRT, SIG_DFL);
    std::freopen("/dev/null", "w", stderr);
    tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(
        [](void*, std::size_t, std::uint32_t) -> void* { throw 1; }, nullptr);
    try {
      tavola_mc_get(client.get(), "k", 1, &value);
    } catch (...) {
      _exit(1);
    }
    _exit(2);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(client.get("k")->data == "v");
}

int main() {
  const mc::client client(servers());
  calls(client);
  servers_of(client);
  errors(client);
  batches(client);
  exceptions(client);
  return 0;
}

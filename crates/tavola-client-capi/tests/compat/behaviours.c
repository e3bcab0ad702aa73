// Behaviours of libmemcached that change when requests leave, where they go, and what sockets are
// like; and callbacks that depend on them.
#include <libmemcached/memcached.h>
#include <libmemcached/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                      \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define OK(call) CHECK((call) == MEMCACHED_SUCCESS)

static void set_on(memcached_st *memc, memcached_behavior_t behavior, uint64_t value) {
  OK(memcached_behavior_set(memc, behavior, value));
  CHECK(memcached_behavior_get(memc, behavior) == value);
}

// Whether a key has this value; it is missing if the value is NULL.
static bool has(memcached_st *memc, const char *key, const char *value) {
  size_t length = 0;
  memcached_return_t rc = MEMCACHED_FAILURE;
  char *got = memcached_get(memc, key, strlen(key), &length, NULL, &rc);
  bool is_same = value == NULL ? rc == MEMCACHED_NOTFOUND
                               : got != NULL && strcmp(got, value) == 0;
  free(got);
  return is_same;
}

static memcached_return_t set(memcached_st *memc, const char *key, const char *value) {
  return memcached_set(memc, key, strlen(key), value, strlen(value), 0, 0);
}

static void *set_in_a_thread(void *memc) {
  OK(set((memcached_st *)memc, "thread", "1"));
  return NULL;
}

static void without_replies(memcached_st *memc) {
  memcached_st *other = memcached_clone(NULL, memc);
  OK(set(memc, "k", "0"));
  set_on(memc, MEMCACHED_BEHAVIOR_NOREPLY, 1);
  OK(set(memc, "k", "1"));
  CHECK(has(other, "k", "0"));
  // The next request takes it along, and sees what it did.
  CHECK(has(memc, "k", "1") && has(other, "k", "1"));
  OK(set(memc, "k", "2"));
  OK(memcached_append(memc, "k", 1, "3", 1, 0, 0));
  OK(memcached_prepend(memc, "k", 1, "1", 1, 0, 0));
  OK(memcached_add(memc, "k", 1, "added", 5, 0, 0));
  OK(memcached_replace(memc, "nothing", 7, "x", 1, 0, 0));
  OK(memcached_cas(memc, "k", 1, "x", 1, 0, 0, 1));
  CHECK(has(memc, "k", "123") && has(memc, "nothing", NULL));
  OK(memcached_delete(memc, "k", 1, 0));
  OK(memcached_delete(memc, "nothing", 7, 0));
  CHECK(has(memc, "k", NULL));
  // Times and counters are answered.
  uint64_t number = 0;
  OK(set(memc, "n", "41"));
  OK(memcached_increment(memc, "n", 1, 1, &number));
  CHECK(number == 42 && memcached_touch(memc, "nothing", 7, 10) == MEMCACHED_NOTFOUND);
  // A key that cannot be sent is refused at once.
  CHECK(set(memc, "", "1") == MEMCACHED_BAD_KEY_PROVIDED);
  OK(set(memc, "k", "4"));
  OK(memcached_flush_buffers(memc));
  CHECK(has(other, "k", "4"));
  // What was asked for before a flush of the servers is gone after it.
  OK(set(memc, "k", "5"));
  OK(memcached_flush(memc, 0));
  CHECK(has(memc, "k", NULL));
  OK(set(memc, "k", "6"));
  memcached_quit(memc);
  CHECK(has(other, "k", "6"));
  OK(set(memc, "k", "7"));
  // Both: as with one of them, nothing is waited for.
  set_on(memc, MEMCACHED_BEHAVIOR_BUFFER_REQUESTS, 1);
  OK(set(memc, "k", "8"));
  CHECK(has(other, "k", "7"));
  set_on(memc, MEMCACHED_BEHAVIOR_BUFFER_REQUESTS, 0);
  CHECK(has(other, "k", "8"));
  set_on(memc, MEMCACHED_BEHAVIOR_NOREPLY, 0);
  CHECK(memcached_add(memc, "k", 1, "x", 1, 0, 0) == MEMCACHED_NOTSTORED);
  memcached_free(other);
}

// The order holds as well if the next request is of another thread, or of a group.
static void order_without_replies(memcached_st *memc) {
  memcached_server_instance_st first = memcached_server_instance_by_position(memc, 0);
  memcached_st *alone = memcached_create(NULL);
  OK(memcached_server_add(alone, memcached_server_name(first), memcached_server_port(first)));
  set_on(alone, MEMCACHED_BEHAVIOR_NOREPLY, 1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, set_in_a_thread, alone) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(has(alone, "thread", "1"));
  size_t length;
  memcached_return_t rc;
  OK(set(alone, "member", "1"));
  char *got = memcached_get_by_key(alone, "group", 5, "member", 6, &length, NULL, &rc);
  CHECK(rc == MEMCACHED_SUCCESS && strcmp(got, "1") == 0);
  free(got);
  OK(memcached_set_by_key(alone, "group", 5, "member", 6, "2", 1, 0, 0));
  CHECK(has(alone, "member", "2"));
  OK(memcached_set_by_key(alone, "group", 5, "member", 6, "3", 1, 0, 0));
  OK(memcached_flush(alone, 0));
  CHECK(has(alone, "member", NULL));

  // A handle that rests in a pool holds nothing.
  memcached_pool_st *pool = memcached_pool_create(alone, 2, 2);
  memcached_st *one = memcached_pool_pop(pool, false, &rc);
  OK(set(one, "pooled", "1"));
  CHECK(has(alone, "pooled", NULL));
  OK(memcached_pool_push(pool, one));
  CHECK(has(alone, "pooled", "1"));
  CHECK(memcached_pool_destroy(pool) == alone);
  memcached_free(alone);
}

static char removed[16];

static memcached_return_t note_removed(const memcached_st *memc, const char *key,
                                       size_t key_length) {
  CHECK(memcached_server_count(memc) == 2 && key_length < sizeof removed);
  memcpy(removed, key, key_length);
  removed[key_length] = 0;
  return MEMCACHED_FAILURE;
}

static void delete_triggers(memcached_st *memc) {
  memcached_trigger_delete_key_fn trigger = note_removed;
  void *data = *(void **)(void *)&trigger;
  memcached_return_t rc;
  OK(set(memc, "gone", "1"));
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, data));
  CHECK(memcached_callback_get(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, &rc) == data);
  OK(memcached_delete(memc, "gone", 4, 0));
  CHECK(strcmp(removed, "gone") == 0);
  // A key that was missing is not removed.
  CHECK(memcached_delete(memc, "other", 5, 0) == MEMCACHED_NOTFOUND);
  CHECK(strcmp(removed, "gone") == 0);
  OK(memcached_set_by_key(memc, "group", 5, "member", 6, "1", 1, 0, 0));
  OK(memcached_delete_by_key(memc, "group", 5, "member", 6, 0));
  CHECK(strcmp(removed, "member") == 0);
  // Without an answer nobody knows whether a key was removed.
  memcached_behavior_t silent[] = {MEMCACHED_BEHAVIOR_NOREPLY, MEMCACHED_BEHAVIOR_BUFFER_REQUESTS};
  OK(set(memc, "gone", "1"));
  for (int i = 0; i < 2; i++) {
    set_on(memc, silent[i], 1);
    CHECK(memcached_delete(memc, "gone", 4, 0) == MEMCACHED_INVALID_ARGUMENTS);
    CHECK(strstr(memcached_last_error_message(memc), "trigger") != NULL);
    OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, NULL));
    CHECK(memcached_callback_set(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, data) ==
          MEMCACHED_INVALID_ARGUMENTS);
    set_on(memc, silent[i], 0);
    OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, data));
  }
  CHECK(has(memc, "gone", "1"));
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_DELETE_TRIGGER, NULL));
  OK(memcached_delete(memc, "gone", 4, 0));
  CHECK(strcmp(removed, "member") == 0);
}

// Each request goes to any server: a key that was stored often is on both.
static void random_distribution(memcached_st *memc) {
  set_on(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_RANDOM);
  for (int i = 0; i < 64; i++) OK(set(memc, "anywhere", "1"));
  for (uint32_t i = 0; i < 2; i++) {
    memcached_server_instance_st server = memcached_server_instance_by_position(memc, i);
    memcached_st *alone = memcached_create(NULL);
    OK(memcached_server_add(alone, memcached_server_name(server), memcached_server_port(server)));
    CHECK(has(alone, "anywhere", "1"));
    OK(memcached_delete(alone, "anywhere", 8, 0));
    memcached_free(alone);
  }
  CHECK(has(memc, "anywhere", NULL));
  set_on(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_MODULA);
}

// What would place keys elsewhere than libmemcached does is refused.
static void hashes(memcached_st *memc) {
  CHECK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_HASH, MEMCACHED_HASH_HSIEH) ==
        MEMCACHED_NOT_SUPPORTED);
  set_on(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
  set_on(memc, MEMCACHED_BEHAVIOR_KETAMA_HASH, MEMCACHED_HASH_MD5);
  CHECK(set(memc, "k", "1") == MEMCACHED_NOT_SUPPORTED);
  CHECK(strstr(memcached_last_error_message(memc), "KETAMA_HASH") != NULL);
  set_on(memc, MEMCACHED_BEHAVIOR_HASH, MEMCACHED_HASH_MD5);
  OK(set(memc, "k", "1"));
  set_on(memc, MEMCACHED_BEHAVIOR_HASH, MEMCACHED_HASH_CRC);
  set_on(memc, MEMCACHED_BEHAVIOR_KETAMA_HASH, MEMCACHED_HASH_DEFAULT);
  OK(set(memc, "k", "1"));
  set_on(memc, MEMCACHED_BEHAVIOR_HASH, MEMCACHED_HASH_DEFAULT);
  set_on(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_MODULA);
}

static int number_of(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, level, option, &value, &length) == 0 ? value : 0;
}

// The sockets of this program with this idle time; each has the options of the behaviours.
static int sockets_with(int idle) {
  int count = 0;
  for (int fd = 3; fd < 256; fd++) {
    if (number_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) != idle) continue;
    CHECK(number_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
    // Linux doubles the sizes.
    CHECK(number_of(fd, SOL_SOCKET, SO_SNDBUF) == 2 * 30000);
    CHECK(number_of(fd, SOL_SOCKET, SO_RCVBUF) == 2 * 20000);
    count++;
  }
  return count;
}

static void sockets(memcached_st *memc) {
  set_on(memc, MEMCACHED_BEHAVIOR_SOCKET_SEND_SIZE, 30000);
  set_on(memc, MEMCACHED_BEHAVIOR_SOCKET_RECV_SIZE, 20000);
  set_on(memc, MEMCACHED_BEHAVIOR_TCP_KEEPALIVE, 1);
  set_on(memc, MEMCACHED_BEHAVIOR_TCP_KEEPIDLE, 1234);
  CHECK(sockets_with(1234) == 0);
  OK(memcached_version(memc));
  CHECK(sockets_with(1234) == 2);
  // Values that no system takes do not keep a program from its servers.
  set_on(memc, MEMCACHED_BEHAVIOR_SOCKET_SEND_SIZE, UINT64_MAX);
  set_on(memc, MEMCACHED_BEHAVIOR_TCP_KEEPIDLE, UINT64_MAX);
  OK(memcached_version(memc));
  set_on(memc, MEMCACHED_BEHAVIOR_SOCKET_SEND_SIZE, 0);
  set_on(memc, MEMCACHED_BEHAVIOR_SOCKET_RECV_SIZE, 0);
  set_on(memc, MEMCACHED_BEHAVIOR_TCP_KEEPIDLE, 0);
  OK(memcached_version(memc));
  // These have no effect.
  set_on(memc, MEMCACHED_BEHAVIOR_CORK, 1);
  set_on(memc, MEMCACHED_BEHAVIOR_CACHE_LOOKUPS, 0);
  CHECK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_USER_DATA, 1) == MEMCACHED_DEPRECATED);
}

static double seconds(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// A server that takes connections and never answers is down after one time-out.
static void time_outs(void) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 99) == 0);
  CHECK(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
  memcached_st *memc = memcached_create(NULL);
  OK(memcached_server_add(memc, "127.0.0.1", ntohs(address.sin_port)));
  set_on(memc, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, 600);
  set_on(memc, MEMCACHED_BEHAVIOR_SERVER_TIMEOUT_LIMIT, 1);
  CHECK(set(memc, "k", "1") == MEMCACHED_TIMEOUT);
  double began = seconds();
  CHECK(set(memc, "k", "1") == MEMCACHED_TIMEOUT);
  CHECK(seconds() - began < 0.3);
  memcached_free(memc);
  close(fd);
}

int main(void) {
  memcached_st *memc = memcached_create(NULL);
  memcached_server_list_st servers = memcached_servers_parse(getenv("TAVOLA_MC_SERVERS"));
  OK(memcached_server_push(memc, servers));
  memcached_server_list_free(servers);
  OK(memcached_flush(memc, 0));
  without_replies(memc);
  order_without_replies(memc);
  delete_triggers(memc);
  random_distribution(memc);
  hashes(memc);
  sockets(memc);
  time_outs();
  memcached_free(memc);
  return 0;
}

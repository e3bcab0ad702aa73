// A program for libmemcached, in the manner of its documentation: compiled as C and as C++.
#include <libmemcached/memcached.h>
#include <libmemcached/util.h>
#include <libmemcached-1.0/memcached.h>
#include <libmemcachedutil-1.0/pool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                      \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define OK(call) CHECK((call) == MEMCACHED_SUCCESS)

static const char *server_list;

static memcached_st *opened(void) {
  memcached_st *memc = memcached_create(NULL);
  memcached_server_list_st servers = memcached_servers_parse(server_list);
  CHECK(memcached_server_list_count(servers) == 2);
  OK(memcached_server_push(memc, servers));
  memcached_server_list_free(servers);
  CHECK(memcached_server_count(memc) == 2);
  OK(memcached_flush(memc, 0));
  return memc;
}

static void set_and_get(memcached_st *memc) {
  for (int i = 0; i < 50; i++) {
    char key[16], value[16];
    int key_length = snprintf(key, sizeof key, "key%d", i);
    int length = snprintf(value, sizeof value, "value %d", i);
    OK(memcached_set(memc, key, (size_t)key_length, value, (size_t)length, 0, (uint32_t)i));
    size_t got_length = 0;
    uint32_t flags = 0;
    memcached_return_t rc = MEMCACHED_FAILURE;
    char *got = memcached_get(memc, key, (size_t)key_length, &got_length, &flags, &rc);
    CHECK(rc == MEMCACHED_SUCCESS && flags == (uint32_t)i && got_length == (size_t)length);
    CHECK(strcmp(got, value) == 0);
    free(got);
  }
  // The length as an int, as programs of 2009 have it: only an int is written.
  int lengths[2] = {-7, -7};
  memcached_return_t rc = MEMCACHED_FAILURE;
  char *got = memcached_get(memc, "key1", 4, &lengths[0], NULL, &rc);
  CHECK(rc == MEMCACHED_SUCCESS && lengths[0] == 7 && lengths[1] == -7);
  free(got);
  size_t length = 7;
  CHECK(memcached_get(memc, "nothing", 7, &length, NULL, &rc) == NULL);
  CHECK(rc == MEMCACHED_NOTFOUND && length == 0);
  CHECK(memcached_get(memc, "", 0, &length, NULL, &rc) == NULL && rc == MEMCACHED_BAD_KEY_PROVIDED);
  CHECK(memcached_last_error(memc) == MEMCACHED_BAD_KEY_PROVIDED);
  CHECK(strstr(memcached_last_error_message(memc), "empty") != NULL);
}

static memcached_return_t count_value(const memcached_st *memc, memcached_result_st *result,
                                      void *context) {
  CHECK(memcached_server_count(memc) == 2 && memcached_result_length(result) > 6);
  ++*(int *)context;
  return MEMCACHED_SUCCESS;
}

static void multiget(memcached_st *memc) {
  const char *keys[] = {"key1", "nothing", "key2", "key3"};
  size_t lengths[] = {4, 7, 4, 4};
  int seen = 0;
  memcached_return_t rc = MEMCACHED_FAILURE;
  OK(memcached_mget(memc, keys, lengths, 4));
  memcached_result_st result;
  CHECK(memcached_result_create(memc, &result) == &result);
  while (memcached_fetch_result(memc, &result, &rc) != NULL) {
    OK(rc);
    CHECK(memcached_result_key_length(&result) == 4);
    CHECK(strncmp(memcached_result_key_value(&result), "key", 3) == 0);
    CHECK(memcached_result_value(&result)[6] == memcached_result_key_value(&result)[3]);
    seen++;
  }
  CHECK(seen == 3 && rc == MEMCACHED_END);
  memcached_result_free(&result);

  OK(memcached_mget(memc, keys, lengths, 4));
  char key[MEMCACHED_MAX_KEY];
  size_t key_length, length;
  uint32_t flags;
  char *value;
  for (seen = 0; (value = memcached_fetch(memc, key, &key_length, &length, &flags, &rc)); seen++) {
    CHECK(key_length == 4 && key[4] == 0 && flags == (uint32_t)(key[3] - '0'));
    free(value);
  }
  CHECK(seen == 3 && rc == MEMCACHED_END);

  memcached_execute_fn callbacks[] = {count_value};
  OK(memcached_mget(memc, keys, lengths, 4));
  seen = 0;
  OK(memcached_fetch_execute(memc, callbacks, &seen, 1));
  CHECK(seen == 3);
  OK(memcached_mget(memc, keys + 1, lengths + 1, 1));
  CHECK(memcached_fetch_result(memc, NULL, &rc) == NULL && rc == MEMCACHED_NOTFOUND);
}

static void stores(memcached_st *memc) {
  CHECK(memcached_add(memc, "key1", 4, "x", 1, 0, 0) == MEMCACHED_NOTSTORED);
  CHECK(memcached_replace(memc, "no", 2, "x", 1, 0, 0) == MEMCACHED_NOTSTORED);
  OK(memcached_set(memc, "list", 4, "b", 1, 0, 0));
  OK(memcached_append(memc, "list", 4, "c", 1, 0, 0));
  OK(memcached_prepend(memc, "list", 4, "a", 1, 0, 0));
  OK(memcached_exist(memc, "list", 4));
  OK(memcached_touch(memc, "list", 4, 100));
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1));
  const char *keys[] = {"list"};
  size_t lengths[] = {4};
  memcached_return_t rc;
  OK(memcached_mget(memc, keys, lengths, 1));
  memcached_result_st *result = memcached_fetch_result(memc, NULL, &rc);
  CHECK(result != NULL && strcmp(memcached_result_value(result), "abc") == 0);
  uint64_t cas = memcached_result_cas(result);
  memcached_result_free(result);
  CHECK(memcached_cas(memc, "list", 4, "x", 1, 0, 0, cas + 99) == MEMCACHED_DATA_EXISTS);
  OK(memcached_cas(memc, "list", 4, "x", 1, 0, 0, cas));
  OK(memcached_delete(memc, "list", 4, 0));
  CHECK(memcached_delete(memc, "list", 4, 0) == MEMCACHED_NOTFOUND);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_VERIFY_KEY, 1));
  CHECK(memcached_set(memc, "a b", 3, "x", 1, 0, 0) == MEMCACHED_BAD_KEY_PROVIDED);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_VERIFY_KEY, 0));
  uint64_t number = 0;
  CHECK(memcached_increment(memc, "n", 1, 1, &number) == MEMCACHED_NOTFOUND);
  // This expiration leaves a missing counter missing.
  CHECK(memcached_increment_with_initial(memc, "n", 1, 2, 40, 0xffffffff, &number) ==
        MEMCACHED_NOTFOUND);
  OK(memcached_increment_with_initial(memc, "n", 1, 2, 40, 0, &number));
  CHECK(number == 40);
  OK(memcached_increment(memc, "n", 1, 2, &number));
  CHECK(number == 42);
  OK(memcached_decrement(memc, "n", 1, 40, &number));
  CHECK(number == 2);
}

// Keys of a group are on one server, which the group names.
static void groups(memcached_st *memc) {
  for (int i = 0; i < 20; i++) {
    char key[16];
    size_t length = (size_t)snprintf(key, sizeof key, "member%d", i);
    OK(memcached_set_by_key(memc, "group", 5, key, length, key, length, 0, 0));
  }
  const char *keys[] = {"member1", "member2", "member19"};
  size_t lengths[] = {7, 7, 8};
  memcached_return_t rc;
  int seen = 0;
  OK(memcached_mget_by_key(memc, "group", 5, keys, lengths, 3));
  memcached_result_st *result;
  for (; (result = memcached_fetch_result(memc, NULL, &rc)) != NULL; seen++) {
    memcached_result_free(result);
  }
  CHECK(seen == 3);
  const memcached_instance_st *server = memcached_server_by_key(memc, "group", 5, &rc);
  CHECK(rc == MEMCACHED_SUCCESS && memcached_server_port(server) > 0);
  memcached_st *alone = memcached_create(NULL);
  OK(memcached_server_add(alone, memcached_server_name(server), memcached_server_port(server)));
  OK(memcached_exist(alone, "member19", 8));
  OK(memcached_exist(alone, "member3", 7));
  memcached_free(alone);
}

static memcached_return_t note_name(const memcached_st *memc, const memcached_instance_st *server,
                                    void *context) {
  (void)memc;
  CHECK(strcmp(memcached_server_name(server), "127.0.0.1") == 0);
  CHECK(memcached_server_type(server) == MEMCACHED_CONNECTION_TCP);
  ++*(int *)context;
  return MEMCACHED_SUCCESS;
}

static memcached_return_t note_stat(const memcached_instance_st *server, const char *key,
                                    size_t key_length, const char *value, size_t value_length,
                                    void *context) {
  CHECK(memcached_server_port(server) > 0 && strlen(key) == key_length);
  CHECK(strlen(value) == value_length);
  ++*(int *)context;
  return MEMCACHED_SUCCESS;
}

static void about_servers(memcached_st *memc) {
  memcached_server_fn callbacks[] = {note_name};
  int count = 0;
  OK(memcached_server_cursor(memc, callbacks, &count, 1));
  CHECK(count == 2);
  OK(memcached_version(memc));
  memcached_server_instance_st first = memcached_server_instance_by_position(memc, 0);
  CHECK(memcached_server_major_version(first) < 9);
  CHECK(memcached_server_instance_by_position(memc, 2) == NULL);
  CHECK(libmemcached_util_version_check(memc, 0, 0, 1));
  CHECK(!libmemcached_util_version_check(memc, 200, 0, 0));
  memcached_return_t rc;
  memcached_stat_st *stats = memcached_stat(memc, NULL, &rc);
  CHECK(rc == MEMCACHED_SUCCESS && stats[0].pid > 0 && stats[1].curr_items > 0);
  char **keys = memcached_stat_get_keys(memc, stats, &rc);
  for (count = 0; keys[count] != NULL; count++) {
    char *value = memcached_stat_get_value(memc, &stats[1], keys[count], &rc);
    CHECK(rc == MEMCACHED_SUCCESS && strlen(value) > 0);
    free(value);
  }
  CHECK(count > 20);
  free(keys);
  memcached_stat_free(memc, stats);
  count = 0;
  OK(memcached_stat_execute(memc, NULL, note_stat, &count));
  CHECK(count > 40);
  in_port_t port = memcached_server_port(first);
  CHECK(libmemcached_util_ping("127.0.0.1", port, &rc) && rc == MEMCACHED_SUCCESS);
  CHECK(libmemcached_util_getpid("127.0.0.1", port, &rc) > 0);
  CHECK(!libmemcached_util_ping("127.0.0.1", 1, &rc) && rc == MEMCACHED_CONNECTION_FAILURE);
}

static memcached_return_t count_key(const memcached_st *memc, const char *key, size_t key_length,
                                    void *context) {
  (void)memc;
  CHECK(strlen(key) == key_length);
  ++*(int *)context;
  return MEMCACHED_SUCCESS;
}

static memcached_return_t read_through(const memcached_st *memc, const char *key,
                                       size_t key_length, memcached_result_st *result) {
  CHECK(memcached_server_count(memc) == 2 && key_length == 4 && memcmp(key, "miss", 4) == 0);
  memcached_result_set_flags(result, 9);
  return memcached_result_set_value(result, "made", 4);
}

static void callbacks(memcached_st *memc) {
  memcached_dump_fn dump[] = {count_key};
  int count = 0;
  OK(memcached_dump(memc, dump, &count, 1));
  CHECK(count > 50);
  memcached_trigger_key_fn trigger = read_through;
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_GET_FAILURE, *(void **)(void *)&trigger));
  memcached_return_t rc;
  size_t length;
  uint32_t flags;
  char *made = memcached_get(memc, "miss", 4, &length, &flags, &rc);
  CHECK(rc == MEMCACHED_SUCCESS && length == 4 && flags == 9 && strcmp(made, "made") == 0);
  free(made);
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_GET_FAILURE, NULL));
  OK(memcached_exist(memc, "miss", 4));
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_NAMESPACE, "app:"));
  CHECK(memcached_exist(memc, "key1", 4) == MEMCACHED_NOTFOUND);
  char *space = (char *)memcached_callback_get(memc, MEMCACHED_CALLBACK_NAMESPACE, &rc);
  CHECK(strcmp(space, "app:") == 0);
  OK(memcached_callback_set(memc, MEMCACHED_CALLBACK_NAMESPACE, NULL));
  memcached_set_user_data(memc, &count);
  CHECK(memcached_get_user_data(memc) == &count);
}

static void buffers_and_behaviours(memcached_st *memc) {
  memcached_st *other = memcached_clone(NULL, memc);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_BUFFER_REQUESTS, 1));
  CHECK(memcached_set(memc, "held", 4, "1", 1, 0, 0) == MEMCACHED_BUFFERED);
  CHECK(memcached_exist(other, "held", 4) == MEMCACHED_NOTFOUND);
  OK(memcached_flush_buffers(memc));
  OK(memcached_exist(other, "held", 4));
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_BUFFER_REQUESTS, 0));
  OK(memcached_set(memc, "sent", 4, "1", 1, 0, 0));
  CHECK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_USE_UDP, 1) == MEMCACHED_NOT_SUPPORTED);
  CHECK(memcached_set_encoding_key(memc, "secret", 6) == MEMCACHED_NOT_SUPPORTED);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1));
  CHECK(memcached_add(memc, "sent", 4, "1", 1, 0, 0) == MEMCACHED_DATA_EXISTS);
  CHECK(memcached_replace(memc, "no", 2, "1", 1, 0, 0) == MEMCACHED_NOTFOUND);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 0));
  const uint32_t map[] = {1, 1, 1};
  OK(memcached_bucket_set(memc, map, NULL, 3, 0));
  CHECK(memcached_generate_hash(memc, "any", 3) == 1);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION,
                            MEMCACHED_DISTRIBUTION_CONSISTENT));
  // A copy on the other server, too: each of them has the key.
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_NUMBER_OF_REPLICAS, 1));
  OK(memcached_set(memc, "copied", 6, "1", 1, 0, 0));
  for (uint32_t i = 0; i < 2; i++) {
    memcached_server_instance_st server = memcached_server_instance_by_position(memc, i);
    memcached_st *alone = memcached_create(NULL);
    OK(memcached_server_add(alone, memcached_server_name(server), memcached_server_port(server)));
    OK(memcached_exist(alone, "copied", 6));
    memcached_free(alone);
  }
  OK(memcached_delete(memc, "copied", 6, 0));
  CHECK(memcached_exist(memc, "copied", 6) == MEMCACHED_NOTFOUND);
  OK(memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_NUMBER_OF_REPLICAS, 0));
  memcached_free(other);
}

// Nobody serves there, and no failure is a missing key.
static void failures(void) {
  const char *options = "--SERVER=127.0.0.1:1 --CONNECT-TIMEOUT=200";
  memcached_st *memc = memcached(options, strlen(options));
  memcached_return_t rc = MEMCACHED_SUCCESS;
  size_t length;
  CHECK(memcached_get(memc, "a", 1, &length, NULL, &rc) == NULL);
  CHECK(rc == MEMCACHED_CONNECTION_FAILURE);
  CHECK(strstr(memcached_last_error_message(memc), "127.0.0.1:1") != NULL);
  CHECK(memcached_server_port(memcached_server_get_last_disconnect(memc)) == 1);
  CHECK(memcached_failed(memcached_delete(memc, "a", 1, 0)));
  const char *keys[] = {"a"};
  size_t lengths[] = {1};
  CHECK(memcached_failed(memcached_mget(memc, keys, lengths, 1)));
  CHECK(memcached_fetch_result(memc, NULL, &rc) == NULL && rc == MEMCACHED_CONNECTION_FAILURE);
  memcached_free(memc);
  char why[100];
  CHECK(libmemcached_check_configuration("--SERVER=a --NO", 15, why, sizeof why) ==
        MEMCACHED_PARSE_ERROR);
  CHECK(strstr(why, "NO") != NULL && memcached("--NO", 4) == NULL);
}

static void pools(memcached_st *master) {
  memcached_pool_st *pool = memcached_pool_create(master, 1, 2);
  memcached_return_t rc;
  memcached_st *one = memcached_pool_pop(pool, false, &rc);
  OK(memcached_exist(one, "key1", 4));
  struct timespec moment = {0, 1000000};
  memcached_st *two = memcached_pool_fetch(pool, &moment, &rc);
  CHECK(two != NULL && two != one);
  CHECK(memcached_pool_fetch(pool, &moment, &rc) == NULL && rc == MEMCACHED_TIMEOUT);
  CHECK(memcached_pool_pop(pool, false, &rc) == NULL && rc == MEMCACHED_NOTFOUND);
  CHECK(memcached_pool_destroy(pool) == NULL);
  OK(memcached_pool_push(pool, one));
  OK(memcached_pool_release(pool, two));
  CHECK(memcached_pool_push(pool, two) == MEMCACHED_INVALID_ARGUMENTS);
  OK(memcached_pool_behavior_set(pool, MEMCACHED_BEHAVIOR_NOREPLY, 1));
  one = memcached_pool_pop(pool, true, &rc);
  CHECK(memcached_behavior_get(one, MEMCACHED_BEHAVIOR_NOREPLY) == 1);
  OK(memcached_pool_push(pool, one));
  CHECK(memcached_pool_destroy(pool) == master);
}

static size_t taken;

static void *take(const memcached_st *memc, const size_t size, void *context) {
  (void)memc;
  ++*(size_t *)context;
  return malloc(size);
}
static void give(const memcached_st *memc, void *mem, void *context) {
  (void)memc;
  if (mem != NULL) --*(size_t *)context;
  free(mem);
}
static void *take_again(const memcached_st *memc, void *mem, const size_t size, void *context) {
  (void)memc;
  (void)context;
  return realloc(mem, size);
}
static void *take_many(const memcached_st *memc, size_t count, const size_t size, void *context) {
  (void)memc;
  (void)context;
  return calloc(count, size);
}

static void allocators(memcached_st *memc) {
  CHECK(memcached_set_memory_allocators(memc, take, NULL, NULL, NULL, NULL) == MEMCACHED_FAILURE);
  OK(memcached_set_memory_allocators(memc, take, give, take_again, take_many, &taken));
  const char *keys[] = {"key1", "key2"};
  size_t lengths[] = {4, 4};
  OK(memcached_mget(memc, keys, lengths, 2));
  CHECK(taken == 2);
  memcached_quit(memc);
  CHECK(taken == 0);
}

int main(void) {
  server_list = getenv("TAVOLA_MC_SERVERS");
  memcached_st *memc = opened();
  set_and_get(memc);
  multiget(memc);
  stores(memc);
  groups(memc);
  about_servers(memc);
  callbacks(memc);
  buffers_and_behaviours(memc);
  failures();
  memcached_free(memc);
  memcached_st inside;
  CHECK(memcached_create(&inside) == &inside);
  memcached_server_list_st servers = memcached_servers_parse(server_list);
  OK(memcached_server_push(&inside, servers));
  memcached_server_list_free(servers);
  set_and_get(&inside);
  pools(&inside);
  allocators(&inside);
  memcached_free(&inside);
  return 0;
}

// Errors: codes, messages, NULL everywhere, outputs that stay, structs of other versions.

#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

// In its own thread: no error of another one.
static void *elsewhere(void *user) {
  (void)user;
  CHECK(strcmp(tavola_last_error(), "") == 0);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_clear(NULL));
  CHECK(strstr(tavola_last_error(), "table") != NULL);
  return NULL;
}

static void codes(void) {
  char place;
  tavola_table *const before = (tavola_table *)&place;
  tavola_table *table = before;
  tavola_options options = TAVOLA_INIT(tavola_options);
  pthread_t thread;
  CHECK(strcmp(tavola_last_error(), "") == 0 && tavola_last_os_error() == 0);
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_open_existing("nothing", NULL, &table));
  CHECK(table == before && strstr(tavola_last_error(), "nothing") != NULL);
  CHECK_IS(TAVOLA_ERR_BAD_NAME, tavola_open(".hidden", NULL, &table));
  options.shards = 3;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_create("bad", &options, &table));
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_names_remove("bad"));
  CHECK_IS(TAVOLA_ERR_IO, tavola_create("./no/such/directory", NULL, &table));
  CHECK(tavola_last_os_error() == ENOENT);
  CHECK(table == before);
  CHECK(pthread_create(&thread, NULL, elsewhere, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strstr(tavola_last_error(), "directory") != NULL);
  CHECK(strcmp(tavola_status_name(TAVOLA_ERR_FULL), "TAVOLA_ERR_FULL") == 0);
  CHECK(strcmp(tavola_status_name(12345), "?") == 0);
}

// Header and library are of one version here.
static void version(void) {
  char numbers[64];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", TAVOLA_VERSION_MAJOR, TAVOLA_VERSION_MINOR,
           TAVOLA_VERSION_PATCH);
  CHECK(strcmp(tavola_version(), TAVOLA_VERSION) == 0);
  CHECK(strncmp(TAVOLA_VERSION, numbers, strlen(numbers)) == 0);
}

static void nulls(tavola_table *table) {
  char bytes[8];
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_table *out = NULL;
  tavola_pool *pool = NULL;
  tavola_pool_options pool_options = TAVOLA_INIT(tavola_pool_options);
  uint64_t number = 7;
  pool_options.elements = pool_options.element_bytes = 8;
  pool_options.queue_count = 1;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_open(NULL, NULL, &out));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_open("x", NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get(NULL, "k", 1, &buffer));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get(table, NULL, 1, &buffer));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get(table, "k", 1, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set(table, "k", 1, NULL, 1));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_len(table, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_update(table, "k", 1, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_iter_open(table, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_iter_next(NULL, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_stats(table, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_batch_open(NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_pool_open("x", NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_queue_push(NULL, 1));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_queue_watch_clear(NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_names_remove(NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_names_rename("errors", NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_names_list(NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_classes(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_participants(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_recent(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_latencies(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_shard_stats(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_pools(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_pool_open("x", &pool_options, &pool));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set(table, "k", SIZE_MAX, "v", 1));
  CHECK(tavola_path(NULL) == NULL && tavola_queue_watch_fd(NULL) == -1);
  CHECK(tavola_queue_len(NULL) == 0 && tavola_pool_element_ptr(NULL, 0) == NULL);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_incr_from(table, "k", 1, 1, NULL, &number));
  CHECK(number == 7 && out == NULL);
  tavola_close(NULL);
  tavola_iter_close(NULL);
  tavola_batch_close(NULL);
  tavola_pool_close(NULL);
  tavola_queue_close(NULL);
  tavola_queue_watch_close(NULL);
}

static void *no_room(void *user, size_t len) {
  (void)len;
  *(int *)user += 1;
  return NULL;
}

// A callback that reads while a value is being handed out.
static void *reads(void *user, size_t len) {
  static char bytes[64];
  CHECK(has(user, "other", "another value") && len == 9);
  return bytes;
}

static void callbacks(tavola_table *table) {
  int calls = 0;
  tavola_buffer refused = TAVOLA_BUFFER_ALLOC(no_room, &calls);
  tavola_buffer reading = TAVOLA_BUFFER_ALLOC(reads, table);
  tavola_buffer none = TAVOLA_BUFFER(NULL, 100);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get(table, "key", 3, &refused));
  CHECK(calls == 0);
  CHECK_IS(TAVOLA_OK, set(table, "key", "the value"));
  CHECK_IS(TAVOLA_OK, set(table, "other", "another value"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_get(table, "key", 3, &refused));
  CHECK(calls == 1);
  CHECK_IS(TAVOLA_OK, tavola_get(table, "key", 3, &reading));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get(table, "key", 3, &none));
  CHECK(none.len == 9);
}

// A struct as an older program has it, and one of a newer program.
static void sizes(tavola_table *table) {
  union {
    tavola_stats stats;
    unsigned char bytes[sizeof(tavola_stats) + 8];
  } given;
  tavola_table *out = NULL;
  union {
    tavola_options options;
    unsigned char bytes[sizeof(tavola_options) + 8];
  } wanted;
  memset(&given, 0xee, sizeof given);
  given.stats.size = 2 * sizeof(size_t);
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &given.stats));
  CHECK(given.stats.keys == 2 && given.bytes[2 * sizeof(size_t)] == 0xee);
  given.stats.size = sizeof given;
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &given.stats));
  CHECK(given.stats.size == sizeof given && given.bytes[sizeof given - 1] == 0xee);
  given.stats.size = 0;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_get_stats(table, &given.stats));
  memset(&wanted, 0, sizeof wanted);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_open("errors", &wanted.options, &out));
  wanted.options.size = sizeof wanted;
  CHECK_IS(TAVOLA_OK, tavola_open("errors", &wanted.options, &out));
  tavola_close(out);
  wanted.bytes[sizeof wanted - 1] = 1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_open("errors", &wanted.options, &out));
}

static int32_t keep(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  (void)user, (void)old, (void)now;
  return old_len == 4096 ? TAVOLA_CHANGE_KEEP : TAVOLA_CHANGE_REMOVE;
}

static void full(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  static char value[4096];
  tavola_status status = TAVOLA_OK;
  options.max_size = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_create("full", &options, &table));
  for (int i = 0; status == TAVOLA_OK && i < 1000; i++) {
    status = tavola_set(table, &i, sizeof i, value, sizeof value);
  }
  CHECK_IS(TAVOLA_ERR_FULL, status);
  // What leaves a value as it is needs no room.
  tavola_buffer small = TAVOLA_BUFFER(value, 4);
  int key = 0;
  CHECK_IS(TAVOLA_OK, tavola_update(table, &key, sizeof key, keep, NULL));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_take(table, &key, sizeof key, &small));
  CHECK(small.len == sizeof value);
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_swap(table, &key, sizeof key, "x", 1, &small));
  CHECK_IS(TAVOLA_OK, tavola_contains(table, &key, sizeof key));
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("full"));
}

// Another user's table in a directory where everybody may make files.
static void owners(void) {
  if (geteuid() != 0) return;
  char dir[] = "/tmp/tavola-owners-XXXXXX", path[64];
  CHECK(mkdtemp(dir) != NULL && chmod(dir, 0777) == 0);
  snprintf(path, sizeof path, "%s/t", dir);
  tavola_options options = TAVOLA_INIT(tavola_options);
  options.max_size = 1 << 20;
  tavola_table *table = NULL;
  CHECK_IS(TAVOLA_OK, tavola_create(path, &options, &table));
  tavola_close(table);
  CHECK(chown(path, 65533, (gid_t)-1) == 0);
  CHECK_IS(TAVOLA_ERR_PERMISSION, tavola_open(path, &options, &table));
  CHECK(strstr(tavola_last_error(), "belongs to user 65533") != NULL);
  CHECK_IS(TAVOLA_ERR_PERMISSION, tavola_names_remove(path));
  options.any_owner = 1;
  CHECK_IS(TAVOLA_OK, tavola_open(path, &options, &table));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove_any_owner(path));
  CHECK(rmdir(dir) == 0);
}

int main(void) {
  codes();
  version();
  tavola_table *table = a_table("errors");
  nulls(table);
  callbacks(table);
  sizes(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("errors"));
  full();
  owners();
  return 0;
}

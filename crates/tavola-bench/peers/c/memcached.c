// A server of memcached's protocols, asked by libmemcached: no delays, no retries, no buffers.
#include <libmemcached/memcached.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct room room;

static void check(memcached_st *client, memcached_return_t status) {
  if (status != MEMCACHED_SUCCESS && status != MEMCACHED_BUFFERED)
    fail("libmemcached: %s", memcached_strerror(client, status));
}

static const char *version(void) {
  static char text[64] = "libmemcached ";
  if (strlen(text) < 20) strncat(text, memcached_lib_version(), 40);
  return text;
}

static void *open_store(const struct job *job, enum mode mode) {
  (void)mode;
  memcached_st *client = memcached_create(NULL);
  if (!client) fail("libmemcached: no memory");
  char host[2048];
  strcpy(host, job->address);
  char *colon = strrchr(host, ':');
  if (host[0] == '/') {
    check(client, memcached_server_add_unix_socket(client, host));
  } else {
    if (!colon) fail("no address: %s", host);
    *colon = 0;
    check(client, memcached_server_add(client, host, atoi(colon + 1)));
    check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1));
  }
  bool binary = strcmp(job->protocol, "binary") == 0;
  check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, binary));
  check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_NOREPLY, job->noreply));
  return client;
}

static void close_store(void *store) { memcached_free(store); }

static void put(void *store, struct span key, struct span value) {
  check(store, memcached_set(store, key.data, key.len, value.data, value.len, 0, 0));
}

static bool get(void *store, struct span key, struct span *value) {
  size_t len;
  uint32_t flags;
  memcached_return_t status;
  char *found = memcached_get(store, key.data, key.len, &len, &flags, &status);
  if (status == MEMCACHED_NOTFOUND) return false;
  check(store, status);
  make_room(&room, len);
  if (len) memcpy(room.data, found, len);
  free(found);
  *value = (struct span){room.data, len};
  return true;
}

static bool remove_key(void *store, struct span key) {
  memcached_return_t status = memcached_delete(store, key.data, key.len, 0);
  if (status != MEMCACHED_NOTFOUND) check(store, status);
  return status != MEMCACHED_NOTFOUND;
}

static void put_many(void *store, const struct pair *pairs, size_t count) {
  for (size_t at = 0; at < count; at++) put(store, pairs[at].key, pairs[at].value);
}

// Answers come in the order of the keys, and none for those that are missing.
static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  const char *names[count];
  size_t lens[count];
  for (size_t at = 0; at < count; at++) {
    names[at] = keys[at].data;
    lens[at] = keys[at].len;
  }
  check(store, memcached_mget(store, names, lens, count));
  memcached_result_st result;
  memcached_result_create(store, &result);
  memcached_return_t status;
  size_t next = 0;
  while (memcached_fetch_result(store, &result, &status)) {
    size_t len = memcached_result_key_length(&result);
    const char *key = memcached_result_key_value(&result);
    while (next < count && (lens[next] != len || memcmp(names[next], key, len)))
      each(user, next++, NULL, 0);
    if (next == count) fail("libmemcached: a key that was not asked for");
    each(user, next++, memcached_result_value(&result), memcached_result_length(&result));
  }
  while (next < count) each(user, next++, NULL, 0);
  memcached_result_free(&result);
  if (status != MEMCACHED_END && status != MEMCACHED_NOTFOUND) check(store, status);
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
    .put_many = put_many,
    .get_many = get_many,
};

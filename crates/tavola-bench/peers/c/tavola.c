// Tavola through its library for C. Everything is as it comes, but for the peers `tavola-fixed`,
// whose table is made for keys and values of fixed lengths, and `tavola-huge`, whose table is moved
// onto huge pages after the last put, as part of it.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tavola.h"

// What one call of `tavola_maintain` moves at most.
static const uint64_t MOVED_BYTES = 64 << 20;

// A table of so many keys has stretches that can be moved.
static const uint64_t SOME_KEYS = 500000;

static struct room room;
static bool is_huge;
static uint64_t asked;

static void check(tavola_status status) {
  if (status < 0) fail("Tavola: %s", tavola_last_error());
}

static const char *version(void) { return tavola_version(); }

static void *open_store(const struct job *job, enum mode mode) {
  struct tavola_table *table;
  const char *path = path_in(job, "table");
  tavola_options options = {.size = sizeof options};
  asked = job->keys;
  is_huge = strcmp(job->peer, "tavola-huge") == 0;
  if (strcmp(job->peer, "tavola-fixed") == 0) {
    options.fixed_key = job->key_bytes;
    options.fixed_value = job->value_bytes;
  }
  if (mode == READ)
    check(tavola_open_read_only(path, NULL, &table));
  else
    check(tavola_open(path, &options, &table));
  return table;
}

static void close_store(void *store) { tavola_close(store); }

static void put(void *store, struct span key, struct span value) {
  check(tavola_set(store, key.data, key.len, value.data, value.len));
}

static bool get(void *store, struct span key, struct span *value) {
  for (;;) {
    struct tavola_buffer buffer = {.data = room.data, .capacity = room.size};
    tavola_status status = tavola_get(store, key.data, key.len, &buffer);
    if (status == TAVOLA_OK) {
      *value = (struct span){room.data, buffer.len};
      return true;
    }
    if (status == TAVOLA_NOT_FOUND) return false;
    if (status != TAVOLA_ERR_TOO_SMALL) check(status);
    make_room(&room, buffer.len);
  }
}

static bool remove_key(void *store, struct span key) {
  tavola_status status = tavola_remove(store, key.data, key.len);
  if (status != TAVOLA_NOT_FOUND) check(status);
  return status == TAVOLA_OK;
}

static void finish(void *store) {
  tavola_maintained did = {.size = sizeof did};
  uint64_t moved = 0;
  while (is_huge && !did.done) {
    check(tavola_maintain(store, MOVED_BYTES, &did));
    moved += did.collapsed_bytes;
    if (!did.huge_pages_supported) fail("Tavola: this kernel moves nothing onto huge pages");
  }
  if (is_huge && asked > SOME_KEYS && !moved) fail("Tavola: no huge page was to be had");
}

static void put_many(void *store, const struct pair *pairs, size_t count) {
  check(tavola_set_many(store, (const struct tavola_pair *)pairs, count));
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  check(tavola_get_many(store, (const struct tavola_bytes *)keys, count, each, user));
}

_Static_assert(sizeof(struct pair) == sizeof(struct tavola_pair), "they are the same");
_Static_assert(sizeof(struct span) == sizeof(struct tavola_bytes), "they are the same");

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
    .finish = finish,
    .put_many = put_many,
    .get_many = get_many,
};

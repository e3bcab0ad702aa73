// GDBM through its map, nothing synced.
#include <gdbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct room room;

static void check(GDBM_FILE file, int status) {
  if (status) fail("GDBM: %s", file ? gdbm_db_strerror(file) : gdbm_strerror(gdbm_errno));
}

static const char *version(void) {
  static char text[32];
  snprintf(text, sizeof text, "%d.%d", gdbm_version_number[0], gdbm_version_number[1]);
  return text;
}

static void *open_store(const struct job *job, enum mode mode) {
  int flags = mode == READ ? GDBM_READER : mode == WRITE ? GDBM_WRITER : GDBM_NEWDB;
  GDBM_FILE file = gdbm_open(path_in(job, "gdbm"), 4096, flags, 0600, NULL);
  check(NULL, file == NULL);
  return file;
}

static void close_store(void *store) { check(NULL, gdbm_close(store)); }

static datum of(struct span span) { return (datum){(char *)span.data, span.len}; }

static void put(void *store, struct span key, struct span value) {
  check(store, gdbm_store(store, of(key), of(value), GDBM_REPLACE));
}

static bool get(void *store, struct span key, struct span *value) {
  datum found = gdbm_fetch(store, of(key));
  if (!found.dptr) {
    check(store, gdbm_errno != GDBM_ITEM_NOT_FOUND);
    return false;
  }
  make_room(&room, found.dsize);
  memcpy(room.data, found.dptr, found.dsize);
  free(found.dptr);
  *value = (struct span){room.data, found.dsize};
  return true;
}

static bool remove_key(void *store, struct span key) {
  int status = gdbm_delete(store, of(key));
  if (status && gdbm_errno != GDBM_ITEM_NOT_FOUND) check(store, status);
  return status == 0;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};

// TinyCDB: a file is made by all puts of a pass and put in its place, then read through a map.
// Where keys may come twice (workloads a to c) a put replaces, else it adds.
#include <cdb.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

struct tinycdb {
  struct cdb cdb;
  struct cdb_make make;
  bool is_read, is_made, adds;
  char path[2300], fresh[2300];
};

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static const char *version(void) { return TEXT(TINYCDB_VERSION); }

static void begin_reading(struct tinycdb *own) {
  int file = open(own->path, O_RDONLY);
  if (file < 0 || cdb_init(&own->cdb, file)) fail("TinyCDB: %s", strerror(errno));
  own->is_read = true;
}

static void *open_store(const struct job *job, enum mode mode) {
  static struct tinycdb own;
  own.adds = job->workload > 'd';
  own.is_read = own.is_made = false;
  snprintf(own.path, sizeof own.path, "%s/cdb", job->dir);
  snprintf(own.fresh, sizeof own.fresh, "%s/cdb.new", job->dir);
  if (mode == READ) begin_reading(&own);
  return &own;
}

static void end_reading(struct tinycdb *own) {
  if (!own->is_read) return;
  int file = cdb_fileno(&own->cdb);
  cdb_free(&own->cdb);
  close(file);
  own->is_read = false;
}

static void close_store(void *store) { end_reading(store); }

static void put(void *store, struct span key, struct span value) {
  struct tinycdb *own = store;
  if (!own->is_made) {
    end_reading(own);
    int file = open(own->fresh, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || cdb_make_start(&own->make, file)) fail("TinyCDB: %s", strerror(errno));
    own->is_made = true;
  }
  int status = own->adds ? cdb_make_add(&own->make, key.data, key.len, value.data, value.len)
                         : cdb_make_put(&own->make, key.data, key.len, value.data, value.len,
                                        CDB_PUT_REPLACE);
  if (status < 0) fail("TinyCDB: %s", strerror(errno));
}

static void finish(void *store) {
  struct tinycdb *own = store;
  if (!own->is_made) return;
  int file = own->make.cdb_fd;
  if (cdb_make_finish(&own->make) || close(file) || rename(own->fresh, own->path))
    fail("TinyCDB: %s", strerror(errno));
  own->is_made = false;
  begin_reading(own);
}

static bool get(void *store, struct span key, struct span *value) {
  struct tinycdb *own = store;
  int found = cdb_find(&own->cdb, key.data, key.len);
  if (found < 0) fail("TinyCDB: %s", strerror(errno));
  if (!found) return false;
  unsigned len = cdb_datalen(&own->cdb);
  *value = (struct span){cdb_get(&own->cdb, len, cdb_datapos(&own->cdb)), len};
  return true;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .finish = finish,
    .built_once = "a file is made once and cannot be changed",
};

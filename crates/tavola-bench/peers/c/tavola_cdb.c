// Tavola's constant files through its library for C: `tavola-cdb` makes cdb files of 32 bits, which
// TinyCDB reads as well, `tavola-frozen` its own format. A file is made by all puts of a pass and
// put in its place, without a wait for the disk. Where keys may come twice (workloads a to c) a put
// to a cdb file replaces, else it adds; a frozen file has the last value of each key.
#include <string.h>

#include "harness.h"
#include "tavola.h"

struct constant {
  tavola_cdb *file;
  tavola_cdb_writer *writer;
  int32_t format, mode;
  char path[2300];
};

static struct room room;

static void check(tavola_status status) {
  if (status < 0) fail("Tavola: %s", tavola_last_error());
}

static const char *version(void) { return tavola_version(); }

static void *open_store(const struct job *job, enum mode mode) {
  static struct constant own;
  bool is_frozen = strcmp(job->peer, "tavola-frozen") == 0;
  own.format = is_frozen ? TAVOLA_CDB_FORMAT_FROZEN : TAVOLA_CDB_FORMAT_32;
  own.mode = is_frozen || job->workload > 'd' ? TAVOLA_CDB_ADD : TAVOLA_CDB_REPLACE;
  strcpy(own.path, path_in(job, "constant"));
  if (mode == READ) check(tavola_cdb_open(own.path, &own.file));
  return &own;
}

static void close_store(void *store) {
  struct constant *own = store;
  tavola_cdb_close(own->file);
  own->file = NULL;
}

static void put(void *store, struct span key, struct span value) {
  struct constant *own = store;
  if (!own->writer) {
    close_store(own);
    tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
    options.format = own->format;
    options.unsynced = 1;
    check(tavola_cdb_writer_open(own->path, &options, &own->writer));
  }
  check(tavola_cdb_writer_put(own->writer, key.data, key.len, value.data, value.len, own->mode,
                              NULL));
}

static void finish(void *store) {
  struct constant *own = store;
  if (!own->writer) return;
  check(tavola_cdb_writer_finish(own->writer));
  tavola_cdb_writer_close(own->writer);
  own->writer = NULL;
  check(tavola_cdb_open(own->path, &own->file));
}

static bool get(void *store, struct span key, struct span *value) {
  struct constant *own = store;
  for (;;) {
    struct tavola_buffer buffer = {.data = room.data, .capacity = room.size};
    tavola_status status = tavola_cdb_get(own->file, key.data, key.len, &buffer);
    if (status == TAVOLA_OK) {
      *value = (struct span){room.data, buffer.len};
      return true;
    }
    if (status == TAVOLA_NOT_FOUND) return false;
    if (status != TAVOLA_ERR_TOO_SMALL) check(status);
    make_room(&room, buffer.len);
  }
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

// Constant files: written, read, walked, checked, followed.

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char file[64], other[64];

static tavola_cdb_writer *begin(const char *path, int32_t format) {
  tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
  tavola_cdb_writer *writer = NULL;
  options.format = format;
  options.mode = 0640;
  options.unsynced = 1;
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_open(path, &options, &writer));
  return writer;
}

static tavola_status put(tavola_cdb_writer *writer, const char *key, const char *value,
                         int32_t mode, int *existed) {
  return tavola_cdb_writer_put(writer, key, strlen(key), value, strlen(value), mode, existed);
}

static void make(const char *path, int32_t format, const char *value) {
  tavola_cdb_writer *writer = begin(path, format);
  CHECK_IS(TAVOLA_OK, put(writer, "alice", value, TAVOLA_CDB_ADD, NULL));
  CHECK_IS(TAVOLA_OK, put(writer, "", "nobody", TAVOLA_CDB_ADD, NULL));
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_finish(writer));
  CHECK(tavola_cdb_writer_len(writer) == 2);
  tavola_cdb_writer_close(writer);
}

static bool cdb_has(tavola_cdb *cdb, const char *key, const char *value) {
  char bytes[64];
  tavola_buffer found = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_status status = tavola_cdb_get(cdb, key, strlen(key), &found);
  if (value == NULL) {
    return status == TAVOLA_NOT_FOUND;
  }
  return status == TAVOLA_OK && holds(&found, value);
}

static void *room(void *user, size_t len) {
  *(void **)user = malloc(len);
  return *(void **)user;
}

static int32_t refuse(void *user, const void *data, size_t len) {
  (void)user, (void)data, (void)len;
  return 1;
}

static void value_is_where_it_is_said_to_be(const tavola_cdb *cdb) {
  uint64_t position = 0, len = 0;
  FILE *there = fopen(file, "rb");
  CHECK_IS(TAVOLA_OK, tavola_cdb_position(cdb, "", 0, &position, &len));
  char value[6];
  CHECK(there && len == sizeof value && !fseek(there, (long)position, SEEK_SET));
  CHECK(fread(value, 1, sizeof value, there) == sizeof value && !memcmp(value, "nobody", 6));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_cdb_position(cdb, "bob", 3, &position, &len));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_cdb_position(cdb, "bob", 3, NULL, &len));
  fclose(there);
}

static void each_format_is_read(int32_t format) {
  struct stat is;
  tavola_cdb *cdb = NULL;
  tavola_cdb_iter *iter = NULL;
  tavola_bytes key, value;
  uint64_t records = 0;
  int seen = 0;
  make(file, format, "3");
  CHECK(stat(file, &is) == 0 && (is.st_mode & 0777) == 0640);
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  CHECK(cdb_has(cdb, "alice", "3") && cdb_has(cdb, "", "nobody") && cdb_has(cdb, "bob", NULL));
  CHECK_IS(TAVOLA_OK, tavola_cdb_contains(cdb, "alice", 5));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_cdb_contains(cdb, "bob", 3));
  value_is_where_it_is_said_to_be(cdb);
  CHECK(tavola_cdb_len(cdb) == 2 && tavola_cdb_format_of(cdb) == format);
  CHECK(tavola_cdb_size_bytes(cdb) == (uint64_t)is.st_size);
  CHECK(strcmp(tavola_cdb_path(cdb), file) == 0);
  CHECK_IS(TAVOLA_OK, tavola_cdb_check(cdb, &records));
  CHECK_IS(TAVOLA_OK, tavola_cdb_check(cdb, NULL));
  CHECK(records == 2);
  CHECK_IS(TAVOLA_OK, tavola_cdb_iter_open(cdb, &iter));
  // The iterator keeps the file.
  tavola_cdb_close(cdb);
  while (tavola_cdb_iter_next(iter, &key, seen == 0 ? &value : NULL) == TAVOLA_OK) {
    CHECK(key.len == 5 || key.len == 0);
    seen += 1;
  }
  CHECK(seen == 2);
  CHECK_IS(TAVOLA_END, tavola_cdb_iter_next(iter, &key, &value));
  tavola_cdb_iter_close(iter);
}

static void results_go_where_a_buffer_says(void) {
  tavola_cdb *cdb = NULL;
  void *bytes = NULL;
  char small[2];
  tavola_buffer given = TAVOLA_BUFFER_ALLOC(room, &bytes);
  tavola_buffer refused = TAVOLA_BUFFER_WRITE(refuse, NULL);
  tavola_buffer narrow = TAVOLA_BUFFER(small, sizeof small);
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  CHECK_IS(TAVOLA_OK, tavola_cdb_get(cdb, "", 0, &given));
  CHECK(given.len == 6 && memcmp(bytes, "nobody", 6) == 0);
  free(bytes);
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_cdb_get(cdb, "", 0, &refused));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_cdb_get(cdb, "bob", 3, &refused));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_cdb_get(cdb, "", 0, &narrow));
  CHECK(narrow.len == 6);
  tavola_cdb_close(cdb);
}

static void modes_do_what_they_say(void) {
  tavola_cdb_writer *writer = begin(file, TAVOLA_CDB_FORMAT_32);
  tavola_cdb *cdb = NULL;
  tavola_cdb_find *find = NULL;
  tavola_bytes value;
  int existed = 7;
  CHECK_IS(TAVOLA_OK, put(writer, "a", "1", TAVOLA_CDB_ADD, &existed));
  CHECK(existed == 0);
  CHECK_IS(TAVOLA_OK, put(writer, "a", "2", TAVOLA_CDB_WARN, &existed));
  CHECK(existed == 1);
  CHECK_IS(TAVOLA_EXISTS, put(writer, "a", "3", TAVOLA_CDB_INSERT, &existed));
  CHECK_IS(TAVOLA_OK, put(writer, "b", "1", TAVOLA_CDB_INSERT, &existed));
  CHECK(existed == 0);
  CHECK_IS(TAVOLA_OK, put(writer, "b", "2", TAVOLA_CDB_REPLACE, &existed));
  CHECK(existed == 1);
  CHECK_IS(TAVOLA_OK, put(writer, "b", "3", TAVOLA_CDB_REPLACE_ZERO, NULL));
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_contains(writer, "a", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_cdb_writer_contains(writer, "c", 1));
  CHECK(tavola_cdb_writer_len(writer) == 3);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, put(writer, "a", "1", 9, NULL));
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_finish(writer));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, put(writer, "a", "1", TAVOLA_CDB_ADD, NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_cdb_writer_finish(writer));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_cdb_writer_contains(writer, "a", 1));
  tavola_cdb_writer_close(writer);

  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  CHECK(cdb_has(cdb, "b", "3"));
  CHECK_IS(TAVOLA_OK, tavola_cdb_find_open(cdb, "a", 1, &find));
  tavola_cdb_close(cdb);
  CHECK_IS(TAVOLA_OK, tavola_cdb_find_next(find, &value));
  CHECK(value.len == 1 && memcmp(value.data, "1", 1) == 0);
  CHECK_IS(TAVOLA_OK, tavola_cdb_find_next(find, &value));
  CHECK(value.len == 1 && memcmp(value.data, "2", 1) == 0);
  CHECK_IS(TAVOLA_END, tavola_cdb_find_next(find, &value));
  tavola_cdb_find_close(find);

  writer = begin(file, TAVOLA_CDB_FORMAT_FROZEN);
  CHECK_IS(TAVOLA_OK, put(writer, "a", "1", TAVOLA_CDB_ADD, NULL));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, put(writer, "a", "1", TAVOLA_CDB_REPLACE, NULL));
  CHECK(strstr(tavola_last_error(), "keep_first") != NULL);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_cdb_writer_contains(writer, "a", 1));
  // It is given up: the file of before stays.
  tavola_cdb_writer_close(writer);
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  CHECK(tavola_cdb_format_of(cdb) == TAVOLA_CDB_FORMAT_32);
  tavola_cdb_close(cdb);
}

static void first_or_last_values_are_kept(void) {
  tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
  options.format = TAVOLA_CDB_FORMAT_FROZEN;
  for (uint32_t first = 0; first < 2; first++) {
    tavola_cdb_writer *writer = NULL;
    tavola_cdb *cdb = NULL;
    options.keep_first = first;
    CHECK_IS(TAVOLA_OK, tavola_cdb_writer_open(file, &options, &writer));
    CHECK_IS(TAVOLA_OK, put(writer, "a", "1", TAVOLA_CDB_ADD, NULL));
    CHECK_IS(TAVOLA_OK, put(writer, "a", "2", TAVOLA_CDB_ADD, NULL));
    CHECK_IS(TAVOLA_OK, tavola_cdb_writer_finish(writer));
    tavola_cdb_writer_close(writer);
    CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
    CHECK(cdb_has(cdb, "a", first ? "1" : "2") && tavola_cdb_len(cdb) == 1);
    tavola_cdb_close(cdb);
  }
}

static void a_replaced_file_is_followed(void) {
  tavola_cdb *fixed = NULL, *followed = NULL, *later = NULL;
  int moved = 7;
  make(file, TAVOLA_CDB_FORMAT_32, "old");
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &fixed));
  CHECK_IS(TAVOLA_OK, tavola_cdb_open_followed(file, 0, &followed));
  CHECK_IS(TAVOLA_OK, tavola_cdb_open_followed(file, UINT64_MAX, &later));
  CHECK_IS(TAVOLA_OK, tavola_cdb_refresh(fixed, &moved));
  CHECK(moved == 0);
  make(other, TAVOLA_CDB_FORMAT_FROZEN, "new");
  CHECK(rename(other, file) == 0);
  CHECK(cdb_has(fixed, "alice", "old") && cdb_has(followed, "alice", "new"));
  CHECK(cdb_has(later, "alice", "old"));
  CHECK_IS(TAVOLA_OK, tavola_cdb_refresh(fixed, &moved));
  CHECK(moved == 1 && cdb_has(fixed, "alice", "new"));
  CHECK_IS(TAVOLA_OK, tavola_cdb_refresh(later, NULL));
  CHECK(cdb_has(later, "alice", "new"));
  CHECK(unlink(file) == 0);
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_cdb_refresh(fixed, &moved));
  CHECK(cdb_has(fixed, "alice", "new"));
  tavola_cdb_close(fixed);
  tavola_cdb_close(followed);
  tavola_cdb_close(later);
}

static void damage_and_wrong_arguments_are_errors(void) {
  tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
  tavola_cdb_writer *writer = NULL;
  tavola_cdb *cdb = NULL;
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_cdb_open("/no/such/file", &cdb));
  CHECK(tavola_last_os_error() == 2 && strstr(tavola_last_error(), "/no/such/file") != NULL);
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_cdb_writer_open("/no/such/file", NULL, &writer));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_cdb_open(NULL, &cdb));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_cdb_get(NULL, "a", 1, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_cdb_find_open(NULL, "a", 1, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_cdb_writer_finish(NULL));
  CHECK(tavola_cdb_len(NULL) == 0 && tavola_cdb_format_of(NULL) == -1);
  CHECK(tavola_cdb_path(NULL) == NULL);
  options.format = 3;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_cdb_writer_open(file, &options, &writer));
  CHECK(writer == NULL && cdb == NULL);

  make(file, TAVOLA_CDB_FORMAT_FROZEN, "a value");
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  FILE *damaged = fopen(file, "r+");
  CHECK(damaged != NULL && fseek(damaged, 140, SEEK_SET) == 0);
  CHECK(fputc('#', damaged) == '#' && fclose(damaged) == 0);
  CHECK_IS(TAVOLA_OK, tavola_cdb_refresh(cdb, NULL));
  CHECK_IS(TAVOLA_ERR_CORRUPT, tavola_cdb_check(cdb, NULL));
  tavola_cdb_close(cdb);
  CHECK(truncate(file, 100) == 0);
  cdb = NULL;
  CHECK_IS(TAVOLA_ERR_NOT_CONSTANT, tavola_cdb_open(file, &cdb));
  CHECK(cdb == NULL && strlen(tavola_last_error()) > 20);
  tavola_cdb_close(NULL);
  tavola_cdb_find_close(NULL);
  tavola_cdb_iter_close(NULL);
  tavola_cdb_writer_close(NULL);
}

// A file that is shortened while it is mapped is an error, and no signal. Valgrind ends the program
// at the first byte that was cut off, before the handler of the signal can run.
static void a_cut_is_an_error(void) {
  if (getenv("TAVOLA_VALGRIND") != NULL) {
    return;
  }
  static char value[100000];
  tavola_cdb_writer *writer = begin(file, TAVOLA_CDB_FORMAT_64);
  tavola_cdb *cdb = NULL;
  tavola_buffer found = TAVOLA_BUFFER(value, sizeof value);
  memset(value, 'v', sizeof value);
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_put(writer, "a", 1, value, sizeof value,
                                            TAVOLA_CDB_ADD, NULL));
  CHECK_IS(TAVOLA_OK, tavola_cdb_writer_finish(writer));
  tavola_cdb_writer_close(writer);
  CHECK_IS(TAVOLA_OK, tavola_cdb_open(file, &cdb));
  CHECK_IS(TAVOLA_OK, tavola_cdb_get(cdb, "a", 1, &found));
  CHECK(truncate(file, 5000) == 0);
  CHECK_IS(TAVOLA_ERR_FILE_LOST, tavola_cdb_get(cdb, "a", 1, &found));
  tavola_cdb_close(cdb);
}

int main(void) {
  char parent[] = "/tmp/tavola-c-XXXXXX";
  CHECK(mkdtemp(parent) != NULL);
  snprintf(file, sizeof file, "%s/people.cdb", parent);
  snprintf(other, sizeof other, "%s/other.cdb", parent);
  each_format_is_read(TAVOLA_CDB_FORMAT_32);
  each_format_is_read(TAVOLA_CDB_FORMAT_64);
  each_format_is_read(TAVOLA_CDB_FORMAT_FROZEN);
  results_go_where_a_buffer_says();
  modes_do_what_they_say();
  first_or_last_values_are_kept();
  a_replaced_file_is_followed();
  damage_and_wrong_arguments_are_errors();
  a_cut_is_an_error();
  CHECK(unlink(file) == 0 && rmdir(parent) == 0);
  return 0;
}

// Constant files: cdb files of 32 and 64 bits, and frozen files.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_CDB_H
#define TAVOLA_CDB_H

#include <tavola_table.h>

#ifdef __cplusplus
extern "C" {
#endif

// A format of constant files.
enum tavola_cdb_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // D. J. Bernstein's cdb, as TinyCDB and others read it: at most 4 GiB.
  TAVOLA_CDB_FORMAT_32 = 0,
  // The same with numbers of 64 bits.
  TAVOLA_CDB_FORMAT_64 = 1,
  // Tavola's own format: each key once, with checksums, for files of any size.
  TAVOLA_CDB_FORMAT_FROZEN = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_cdb_format tavola_cdb_format;
#else
typedef int32_t tavola_cdb_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a put treats a key that exists already.
enum tavola_cdb_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Adds another record without looking for the key. By far the fastest.
  TAVOLA_CDB_ADD = 0,
  // Removes the older records of the key, then adds this one.
  TAVOLA_CDB_REPLACE = 1,
  // Adds nothing.
  TAVOLA_CDB_INSERT = 2,
  // Adds another record, and reports that the key was there.
  TAVOLA_CDB_WARN = 3,
  // Overwrites the older records of the key with zeros, then adds this one.
  TAVOLA_CDB_REPLACE_ZERO = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_cdb_mode tavola_cdb_mode;
#else
typedef int32_t tavola_cdb_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An open constant file. Threads may share it.
typedef struct tavola_cdb tavola_cdb;

// A search for all records of a key, for one thread at a time.
typedef struct tavola_cdb_find tavola_cdb_find;

// An iterator over all records of a constant file, for one thread at a time.
typedef struct tavola_cdb_iter tavola_cdb_iter;

// Writes a constant file, for one thread at a time.
typedef struct tavola_cdb_writer tavola_cdb_writer;

// Options of a new constant file. A field that is 0 means the default. Begin with
// `tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);`.
typedef struct tavola_cdb_options {
  // `sizeof(tavola_cdb_options)`.
  size_t size;
  // One of `tavola_cdb_format`.
  int32_t format;
  // The mode of the file, whatever the umask; 0666 less the umask by default.
  uint32_t mode;
  // 1: a key of a frozen file that is put several times has its first value, and not its last.
  uint32_t keep_first;
  // 1: `tavola_cdb_writer_finish` does not wait until the file is on the disk.
  uint32_t unsynced;
} tavola_cdb_options;

// Opens a constant file, whose format is found out. It stays the file that was opened when another
// one is renamed over it; see `tavola_cdb_refresh` and `tavola_cdb_open_followed`.
//
// # Examples
// ```c
// tavola_cdb_writer *writer = NULL;
// tavola_cdb *people = NULL;
// char bytes[64];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
//
// tavola_cdb_writer_open("./people.cdb", NULL, &writer);
// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
// tavola_cdb_writer_finish(writer);
// tavola_cdb_writer_close(writer);
//
// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// if (tavola_cdb_get(people, TAVOLA_STR("alice"), &value) == TAVOLA_OK) {
//   printf("%.*s\n", (int)value.len, bytes);
// }
// if (tavola_cdb_contains(people, TAVOLA_STR("bob")) == TAVOLA_NOT_FOUND) {
//   printf("%s has %d records\n", tavola_cdb_path(people), (int)tavola_cdb_len(people));
// }
// tavola_cdb_close(people);
// remove("./people.cdb");
// ```
//
// # Errors
// `TAVOLA_ERR_NOT_CONSTANT`: the file has none of the formats, or is only the beginning of one.
// `TAVOLA_ERR_CORRUPT`: a checksum of a frozen file is wrong. `TAVOLA_ERR_NO_TABLE`,
// `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_IO`.
tavola_status tavola_cdb_open(const char *path, struct tavola_cdb **cdb);

// Opens a constant file, and follows it: a call with this handle looks at the name if
// `interval_ms` milliseconds have passed since the last look, and reads the file that has the name
// then.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// if (tavola_cdb_open_followed("./people.cdb", 1000, &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
// }
// tavola_cdb_close(people);
// ```
//
// # Errors
// As `tavola_cdb_open`. If the new file cannot be opened, one call returns that error; the calls
// after it read the old file until the interval has passed again.
tavola_status tavola_cdb_open_followed(const char *path,
                                       uint64_t interval_ms,
                                       struct tavola_cdb **cdb);

// Opens the file that has the name now, if it is another one, or was written to. `moved`, which
// may be NULL, becomes 1 then, and 0 if it is the same. Searches and iterators that are open keep
// the old file. Unless the handle follows its file, no other thread may be using it.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// int moved = 0;
// if (tavola_cdb_open("./people.cdb", &people) == TAVOLA_OK) {
//   tavola_cdb_refresh(people, &moved);
//   puts(moved ? "another file" : "the same file");
// }
// tavola_cdb_close(people);
// ```
//
// # Errors
// As `tavola_cdb_open`; the old file stays open then.
tavola_status tavola_cdb_refresh(struct tavola_cdb *cdb, int *moved);

// Checks the whole file: that its records follow each other, that each of them is found, and the
// checksums of a frozen file. `records`, which may be NULL, becomes the number of records.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// uint64_t records = 0;
// if (tavola_cdb_open("./people.cdb", &people) == TAVOLA_OK) {
//   if (tavola_cdb_check(people, &records) != TAVOLA_OK) {
//     fprintf(stderr, "%s\n", tavola_last_error());
//   }
//   printf("format %d, %d bytes\n", (int)tavola_cdb_format_of(people),
//          (int)tavola_cdb_size_bytes(people));
// }
// tavola_cdb_close(people);
// ```
//
// # Errors
// `TAVOLA_ERR_CORRUPT`: `tavola_last_error` says what is damaged, and where.
// `TAVOLA_ERR_FILE_LOST`.
tavola_status tavola_cdb_check(const struct tavola_cdb *cdb, uint64_t *records);

// Returns the number of records, and 0 after an error.
uint64_t tavola_cdb_len(const struct tavola_cdb *cdb);

// Returns the length of the file in bytes, and 0 after an error.
uint64_t tavola_cdb_size_bytes(const struct tavola_cdb *cdb);

// Returns the format of the file, one of `tavola_cdb_format`, and -1 after an error.
int32_t tavola_cdb_format_of(const struct tavola_cdb *cdb);

// Returns the path by which the file was opened, which is lent until the handle is closed.
const char *tavola_cdb_path(const struct tavola_cdb *cdb);

// Closes a constant file. NULL has no effect.
void tavola_cdb_close(struct tavola_cdb *cdb);

// Reads the first value of a key.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// char bytes[64];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// switch (tavola_cdb_get(people, TAVOLA_STR("alice"), &value)) {
//   case TAVOLA_OK:
//     printf("%.*s\n", (int)value.len, bytes);
//     break;
//   case TAVOLA_NOT_FOUND:
//     puts("there is no such key");
//     break;
//   default:
//     fputs(tavola_last_error(), stderr);
// }
// tavola_cdb_close(people);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
// room the value needs. `TAVOLA_ERR_CORRUPT`: the file is damaged at this place.
// `TAVOLA_ERR_FILE_LOST`: somebody shortened the file while it was open.
//
// # Concurrency
// Takes no lock, and writes nothing to the file.
tavola_status tavola_cdb_get(const struct tavola_cdb *cdb,
                             const void *key,
                             size_t key_len,
                             struct tavola_buffer *value);

// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
//
// # Errors
// As `tavola_cdb_get`.
tavola_status tavola_cdb_contains(const struct tavola_cdb *cdb, const void *key, size_t key_len);

// Finds the first value of a key in the file: how many bytes are before it, and how many it has.
// So a program can read it from the file by itself.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// uint64_t position = 0, len = 0;
// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// if (tavola_cdb_position(people, TAVOLA_STR("alice"), &position, &len) == TAVOLA_OK) {
//   printf("%d bytes at byte %d\n", (int)len, (int)position);
// }
// tavola_cdb_close(people);
// ```
//
// # Errors
// As `tavola_cdb_get`.
tavola_status tavola_cdb_position(const struct tavola_cdb *cdb,
                                  const void *key,
                                  size_t key_len,
                                  uint64_t *position,
                                  uint64_t *len);

// Begins a search for the records of a key: a cdb file may have several. The file stays open until
// the search is closed, also if the handle is closed or refreshed before.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// tavola_cdb_find *find = NULL;
// tavola_bytes value;
// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// tavola_cdb_find_open(people, TAVOLA_STR("alice"), &find);
// while (tavola_cdb_find_next(find, &value) == TAVOLA_OK) {
//   printf("%.*s\n", (int)value.len, (const char *)value.data);
// }
// tavola_cdb_find_close(find);
// tavola_cdb_close(people);
// ```
tavola_status tavola_cdb_find_open(const struct tavola_cdb *cdb,
                                   const void *key,
                                   size_t key_len,
                                   struct tavola_cdb_find **find);

// Returns the next value of the key, in the order in which they were written. It is lent until the
// next call with this search.
//
// # Errors
// `TAVOLA_END`: there are no more values. Otherwise as `tavola_cdb_get`; the search ends then.
tavola_status tavola_cdb_find_next(struct tavola_cdb_find *find, struct tavola_bytes *value);

// Closes a search. NULL has no effect.
void tavola_cdb_find_close(struct tavola_cdb_find *find);

// Begins an iteration over all records: of a cdb file in the order in which they were written, of
// a frozen file in no particular order. The file stays open until the iterator is closed, also if
// the handle is closed or refreshed before.
//
// # Examples
// ```c
// tavola_cdb *people = NULL;
// tavola_cdb_iter *iter = NULL;
// tavola_bytes key, value;
// if (tavola_cdb_open("./people.cdb", &people) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// tavola_cdb_iter_open(people, &iter);
// while (tavola_cdb_iter_next(iter, &key, &value) == TAVOLA_OK) {
//   printf("%.*s has %zu bytes\n", (int)key.len, (const char *)key.data, value.len);
// }
// tavola_cdb_iter_close(iter);
// tavola_cdb_close(people);
// ```
tavola_status tavola_cdb_iter_open(const struct tavola_cdb *cdb, struct tavola_cdb_iter **iter);

// Returns the next record, which is lent until the next call with this iterator. `value` may be
// NULL. Records that were replaced with `TAVOLA_CDB_REPLACE_ZERO` come as an empty key with a
// value of zeros.
//
// # Errors
// `TAVOLA_END`: there are no more records. Otherwise as `tavola_cdb_get`; the iteration ends then.
tavola_status tavola_cdb_iter_next(struct tavola_cdb_iter *iter,
                                   struct tavola_bytes *key,
                                   struct tavola_bytes *value);

// Closes an iterator. NULL has no effect.
void tavola_cdb_iter_close(struct tavola_cdb_iter *iter);

// Begins a constant file. Nothing has its name before `tavola_cdb_writer_finish`; then it replaces
// a file of that name. `options` may be NULL.
//
// # Examples
// ```c
// tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
// tavola_cdb_writer *writer = NULL;
// options.format = TAVOLA_CDB_FORMAT_FROZEN;
// if (tavola_cdb_writer_open("./people.frozen", &options, &writer) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
// if (tavola_cdb_writer_finish(writer) == TAVOLA_OK) {
//   printf("%d records\n", (int)tavola_cdb_writer_len(writer));
// }
// tavola_cdb_writer_close(writer);
// remove("./people.frozen");
// ```
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: `format` is not one of `tavola_cdb_format`. `TAVOLA_ERR_NO_TABLE`: there
// is no such directory. `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_IO`.
//
// # Crash
// A process that is killed leaves the old file or the new one, never a part of one.
tavola_status tavola_cdb_writer_open(const char *path,
                                     const struct tavola_cdb_options *options,
                                     struct tavola_cdb_writer **writer);

// Puts a record. `mode` is one of `tavola_cdb_mode`; a frozen file takes `TAVOLA_CDB_ADD` only,
// and has the last value of each key, or the first one (`keep_first`). `existed`, which may be
// NULL, becomes 1 if the key was there, and 0 if it was not or if the mode does not look.
//
// # Examples
// ```c
// tavola_cdb_writer *writer = NULL;
// int existed = 0;
// tavola_cdb_writer_open("./people.cdb", NULL, &writer);
// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("3"), TAVOLA_CDB_ADD, NULL);
// tavola_cdb_writer_put(writer, TAVOLA_STR("alice"), TAVOLA_STR("4"), TAVOLA_CDB_REPLACE,
//                       &existed);
// if (existed && tavola_cdb_writer_contains(writer, TAVOLA_STR("alice")) == TAVOLA_OK) {
//   puts("replaced");
// }
// tavola_cdb_writer_close(writer);
// ```
//
// # Errors
// `TAVOLA_EXISTS`: the key was there, and the mode is `TAVOLA_CDB_INSERT`, so nothing was added.
// `TAVOLA_ERR_FULL` of a cdb file: it would become larger than 4 GiB. The record is left out, and
// the file can be finished. `TAVOLA_ERR_TOO_LARGE`: a key of a frozen file has more than 16 MiB,
// or a value more than 1 TiB; it is left out. `TAVOLA_ERR_ARGUMENT`: the mode is unknown, or not
// one of frozen files, or the file is finished. After `TAVOLA_ERR_IO`, and if the file system is
// full, the file cannot be finished, and all calls return `TAVOLA_ERR_WRITE_FAILED`.
tavola_status tavola_cdb_writer_put(struct tavola_cdb_writer *writer,
                                    const void *key,
                                    size_t key_len,
                                    const void *value,
                                    size_t value_len,
                                    int32_t mode,
                                    int *existed);

// Returns `TAVOLA_OK` if a key was put into the cdb file that is being written, and
// `TAVOLA_NOT_FOUND` if it was not.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: the file is a frozen one, which is searched only when it is finished.
// `TAVOLA_ERR_IO`.
tavola_status tavola_cdb_writer_contains(struct tavola_cdb_writer *writer,
                                         const void *key,
                                         size_t key_len);

// Returns the number of records: of a cdb file so far, of a frozen file when it is finished, and 0
// before.
uint64_t tavola_cdb_writer_len(const struct tavola_cdb_writer *writer);

// Writes the rest of the file, waits until it is on the disk, and gives it its name. Close the
// writer afterwards, whatever the call returns.
//
// # Errors
// `TAVOLA_ERR_IO`, `TAVOLA_ERR_FULL`: the old file is there, unless the last sync failed. Then the
// new one is, and may be lost in a power failure. `TAVOLA_ERR_WRITE_FAILED`: an earlier put
// failed. `TAVOLA_ERR_ARGUMENT`: the file is finished.
tavola_status tavola_cdb_writer_finish(struct tavola_cdb_writer *writer);

// Closes a writer. If the file is not finished, it is given up: the old file stays. NULL has no
// effect.
void tavola_cdb_writer_close(struct tavola_cdb_writer *writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_CDB_H

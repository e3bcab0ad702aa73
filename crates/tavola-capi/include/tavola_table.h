// Tables: opening them, reading and writing keys, tags, leases, batches.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_TABLE_H
#define TAVOLA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this header; `tavola_version` returns that of the library.
#define TAVOLA_VERSION_MAJOR 0
#define TAVOLA_VERSION_MINOR 1
#define TAVOLA_VERSION_PATCH 0
#define TAVOLA_VERSION "0.1.0"

// Initializes a struct: sets its `size`, and all other fields to 0.
#ifdef __cplusplus
template <typename T> T tavola_init() {
  T made{};
  made.size = sizeof(T);
  return made;
}
#define TAVOLA_INIT(type) tavola_init<type>()
#else
#define TAVOLA_INIT(type) {.size = sizeof(type)}
#endif

// Expands to a string literal and its length, as two arguments, without the NUL at its end:
// `tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));`
#define TAVOLA_STR(literal) ("" literal ""), (sizeof(literal) - 1)

// Initializes a tavola_buffer: with memory of the caller, or with a callback that returns memory
// for the result, or with one that takes the result.
//
// # Examples
// ```c
// static int32_t print(void *user, const void *data, size_t len) {
//   return fwrite(data, 1, len, (FILE *)user) == len ? 0 : -1;
// }
//
// tavola_buffer value = TAVOLA_BUFFER_WRITE(print, stdout);
// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
// tavola_get(table, TAVOLA_STR("user"), &value);
// ```
#define TAVOLA_BUFFER(data, capacity) {(data), (capacity), 0, NULL, NULL, NULL}
#define TAVOLA_BUFFER_ALLOC(alloc, user) {NULL, 0, 0, (alloc), NULL, (user)}
#define TAVOLA_BUFFER_WRITE(write, user) {NULL, 0, 0, NULL, (write), (user)}

#ifdef __cplusplus
extern "C" {
#endif

// ----------------------------------------------------------------------------------------------
// Begin here: the functions that most programs need. The rest follows below.
// ----------------------------------------------------------------------------------------------

// For `ttl_ms`: a key lives as long as the table was made to let it, see `tavola_options`.
#define TAVOLA_TTL_DEFAULT 0

// For `ttl_ms`: a key lives for ever.
#define TAVOLA_TTL_NEVER -1

// The most tags of a key.
#define TAVOLA_MOST_TAGS 16

// For `back_off_ms`: who asks after an error tries again at once.
#define TAVOLA_NO_BACK_OFF -1

// The outcome of a call. 0 is success, a number above 0 is another answer, a number below 0 is an
// error. A number is never used again for something else.
enum tavola_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call did what it should.
  TAVOLA_OK = 0,
  // There is no such key, uid or tag.
  TAVOLA_NOT_FOUND = 1,
  // The key exists already, and stays as it is.
  TAVOLA_EXISTS = 2,
  // The key has another value or token than the expected one, and stays as it is.
  TAVOLA_CHANGED = 3,
  // The iteration has ended.
  TAVOLA_END = 4,
  // The queue is empty.
  TAVOLA_EMPTY = 5,
  // The time limit of the call has passed.
  TAVOLA_TIMEOUT = 6,
  // Nothing was stored: another process has the lease now, or the key was set or removed.
  TAVOLA_LEASE_LOST = 7,
  // A pointer is NULL and must not be.
  TAVOLA_ERR_NULL = -1,
  // This is a bug of the library; please report it.
  TAVOLA_ERR_PANIC = -2,
  // The result does not fit in the buffer, whose `len` says how long the result is.
  TAVOLA_ERR_TOO_SMALL = -3,
  // A callback gave no memory for the result, or refused it.
  TAVOLA_ERR_STOPPED = -4,
  // An argument is invalid.
  TAVOLA_ERR_ARGUMENT = -5,
  // An error that this library has no number for.
  TAVOLA_ERR_OTHER = -6,
  // There is no file of that name: no table, pool or log.
  TAVOLA_ERR_NO_TABLE = -10,
  // A file of that name exists already: a table, pool or log.
  TAVOLA_ERR_TABLE_EXISTS = -11,
  // There is no room: `max_size` is reached, or the file system is full. The table is intact.
  TAVOLA_ERR_FULL = -12,
  // Bytes of the table contradict each other. Nothing was changed.
  TAVOLA_ERR_CORRUPT = -13,
  // The file is not a table.
  TAVOLA_ERR_NOT_A_TABLE = -14,
  // The table has another version of the format.
  TAVOLA_ERR_VERSION = -15,
  // The table was created on a machine with the other byte order.
  TAVOLA_ERR_ENDIANNESS = -16,
  // The system refused access.
  TAVOLA_ERR_PERMISSION = -17,
  // The table is open for reading only, or is on a read-only file system.
  TAVOLA_ERR_READ_ONLY = -18,
  // The name is invalid.
  TAVOLA_ERR_BAD_NAME = -19,
  // An option is invalid.
  TAVOLA_ERR_BAD_OPTION = -20,
  // Living processes use all participant slots of the table.
  TAVOLA_ERR_TOO_MANY_PARTICIPANTS = -21,
  // Key and value together have more than 2^32 - 1 bytes.
  TAVOLA_ERR_TOO_LARGE = -22,
  // The table has a fixed length for keys and for values, and this one differs.
  TAVOLA_ERR_LENGTHS = -23,
  // The table has fixed lengths and was created without uids.
  TAVOLA_ERR_NO_UIDS = -24,
  // There is no pool, queue or log of that name in the file.
  TAVOLA_ERR_NO_OBJECT = -25,
  // A pool, queue or log of that name exists in the file already.
  TAVOLA_ERR_OBJECT_EXISTS = -26,
  // The caller does not hold the element.
  TAVOLA_ERR_NOT_HELD = -27,
  // The value is not a decimal number of the expected range.
  TAVOLA_ERR_NOT_A_COUNTER = -28,
  // A signal handler tried to write, and had interrupted a write of the same thread.
  TAVOLA_ERR_REENTRANT = -29,
  // The system reported another error; see `tavola_last_os_error`.
  TAVOLA_ERR_IO = -30,
  // The log has a drain already.
  TAVOLA_ERR_ALREADY_DRAINED = -31,
  // Lines of a log could not be written out; they stay in the log.
  TAVOLA_ERR_SINK = -32,
  // The value of a key could not be computed, now or a moment ago.
  TAVOLA_ERR_COMPUTE = -33,
  // A lock was not free within the time of `tavola_set_lock_timeout`. Nothing was done.
  TAVOLA_ERR_BUSY = -34,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_status tavola_status;
#else
typedef int32_t tavola_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What becomes of a value in `tavola_update`.
enum tavola_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value stays as it is; a missing key stays missing.
  TAVOLA_CHANGE_KEEP = 0,
  // The key is set to the bytes that the callback gave.
  TAVOLA_CHANGE_SET = 1,
  // The key is removed.
  TAVOLA_CHANGE_REMOVE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_change tavola_change;
#else
typedef int32_t tavola_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// When `tavola_store` stores.
enum tavola_condition
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Always.
  TAVOLA_CONDITION_ALWAYS = 0,
  // If the key does not exist, as `tavola_add`.
  TAVOLA_CONDITION_ABSENT = 1,
  // If the key exists, as `tavola_replace`.
  TAVOLA_CONDITION_PRESENT = 2,
  // If the key exists and has this token, as `tavola_compare_and_swap`.
  TAVOLA_CONDITION_TOKEN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_condition tavola_condition;
#else
typedef int32_t tavola_condition;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An iterator over the keys of a table, for one thread at a time.
typedef struct tavola_iter tavola_iter;

// A table. Threads share it freely.
typedef struct tavola_table tavola_table;

// Gives room for a result of `len` bytes, which is written there before the call returns; NULL: no
// room, and the call ends with `TAVOLA_ERR_STOPPED` (but where `len` is 0). Called once, with the
// exact length, after all else that may fail, and not at all when there is no result. It leaves
// the `tavola_buffer` of the call alone.
typedef void *(*tavola_alloc_fn)(void *user, size_t len);

// Takes a result: `len` bytes, lent until it returns. 0: taken; else the call ends with
// `TAVOLA_ERR_STOPPED`. Called as `tavola_alloc_fn` is.
typedef int32_t (*tavola_write_fn)(void *user, const void *data, size_t len);

// Where a result goes: into a buffer,
//
// `tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);`
//
// or where `alloc` says, for runtimes whose strings are made at their length and then written,
//
// `static void *begin(void *user, size_t len) { return bytes_of(*(string **)user = make(len)); }`
// `tavola_buffer value = TAVOLA_BUFFER_ALLOC(begin, &string);`
//
// or to `write`, for runtimes that make strings of bytes:
//
// `static int32_t push(void *L, const void *b, size_t n) { lua_pushlstring(L, b, n); return 0; }`
// `tavola_buffer value = TAVOLA_BUFFER_WRITE(push, L);`
// `tavola_status status = tavola_get(table, key, key_len, &value);`
typedef struct tavola_buffer {
  // The buffer; NULL: none, to ask for the length.
  void *data;
  // Bytes it has room for.
  size_t capacity;
  // Set by the call: bytes of the result. Also when it is longer than `capacity`
  // (`TAVOLA_ERR_TOO_SMALL`): then nothing is copied, and this says what is needed.
  size_t len;
  // If not NULL, it is called and the buffer is not used.
  tavola_alloc_fn alloc;
  // If not NULL, it is called, and neither `alloc` nor the buffer is used.
  tavola_write_fn write;
  // Handed to the callbacks.
  void *user;
} tavola_buffer;

// Options of a table; what is 0 has a default that needs no tuning. Begin with
// `tavola_options options = TAVOLA_INIT(tavola_options);`.
typedef struct tavola_options {
  // `sizeof(tavola_options)`.
  size_t size;
  // The most bytes a new table may grow to, 1 MiB to 8 TiB. When 0, 64 GiB on tmpfs and 4 GiB on
  // other file systems, or twice the `capacity` if that is more. It reserves addresses and no
  // memory. An existing table keeps its own, see `tavola_set_max_size`.
  uint64_t max_size;
  // The mode of a new table's file, whatever the umask; 0600 when 0.
  uint32_t mode;
  // Shards of a new table, a power of two from 1 to 1024; by `max_size` or `capacity` when
  // 0.
  uint32_t shards;
  // Makes a new table for keys of so many bytes only, where not 0: a key takes 8 bytes less.
  uint32_t fixed_key;
  // The bytes of all values then.
  uint32_t fixed_value;
  // 1: gives a uid to every key that this handle stores; 0: to those it is asked for. A table of
  // fixed lengths has uids only if it is made with 1.
  uint32_t uids;
  // 1: allows this handle one thread, which calls `tavola_maintain` from time to time.
  uint32_t background;
  // How many milliseconds keys of a new table live after they were set, unless they are given
  // another time (`tavola_attributes`); for ever when 0. Not with fixed lengths.
  uint64_t ttl_ms;
  // Makes a new table a cache of so many bytes, all told: keys, values, the index, free memory.
  // Where it has no room for a key, it evicts others, best such as were not read. 0: no cache,
  // full is an error. A table that is there stays what it is; see `tavola_set_capacity`.
  uint64_t capacity;
  // 1: gives each key of a new table a version, another one each time that it is set or its
  // value is changed: a token stands for that then, and not for the value. 8 bytes a key, and no
  // value is changed in place; not with fixed lengths. A table that is there keeps its own.
  uint32_t versions;
  // 1: includes the table's bytes in core dumps of this process; they are left out when 0.
  uint32_t core_dumps;
  // 1: opens tables of any owner, wherever they are; 0: in a directory where everybody may make
  // files, such as `/tmp`, tables and symbolic links of other users (root excepted) are refused
  // with `TAVOLA_ERR_PERMISSION`.
  uint32_t any_owner;
  // 0.
  uint32_t reserved;
} tavola_options;

// Bytes that are lent.
typedef struct tavola_bytes {
  // The first; NULL only where `len` is 0.
  const void *data;
  // How many.
  size_t len;
} tavola_bytes;

// What a key gets or has beside its value. From the time on at which it expires it is missing, for
// all processes at once. Begin with
// `tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);`, which says the same as NULL:
// the key lives as long as the table was made to let it, and its flags are 0.
//
// Handed in, `ttl_ms` or `expires_unix_ms` may be set, not both; told, both are. Times are kept by
// a clock that nobody sets: a wall clock that is set, forth or back, changes nothing for the keys
// that are there. It goes by the kernel's ticks, each 1 to 10 ms. After the machine was started
// anew, a table on a disk goes by the wall clock of that moment. It stands still while the machine
// sleeps: after 8 hours asleep, each key that was stored before lives 8 hours longer, and one with
// `expires_unix_ms` ends 8 hours late.
typedef struct tavola_attributes {
  // `sizeof(tavola_attributes)`.
  size_t size;
  // How many milliseconds from now on it lives, a thousand years at most; `TAVOLA_TTL_DEFAULT`,
  // which is 0, or `TAVOLA_TTL_NEVER`. Told: what is left, at least 1, or `TAVOLA_TTL_NEVER`.
  int64_t ttl_ms;
  // If not 0, when it expires: milliseconds since 1970, by the wall clock as it stands now; at
  // once, when that has passed. Told: what `ttl_ms` comes to now; 0: never.
  uint64_t expires_unix_ms;
  // Any number; the table keeps it and does not look at it.
  uint32_t flags;
  // 0.
  uint32_t reserved;
} tavola_attributes;

// A key's uid in the low 32 bits, and in the high ones which of the keys it is that have had this
// uid. The uid stays the key's as long as the key lives, and is never 0. When the key is removed
// another may get it; the generation tells them apart. A plain uid, its high bits 0, is a hint as
// well, and stands for whatever key has it now.
typedef uint64_t tavola_hint;

// Tags as they were at one moment; from `tavola_fetch_tags`. Begin with
// `tavola_tags tags = TAVOLA_INIT(tavola_tags);`, which is no tags.
typedef struct tavola_tags {
  // `sizeof(tavola_tags)`.
  size_t size;
  // How many there are.
  uint64_t count;
  // What the table knows them by.
  tavola_hint hints[TAVOLA_MOST_TAGS];
} tavola_tags;

// How `tavola_store` stores. If all fields except `size` are 0, it does the same as `tavola_set`.
// Begin with `tavola_store_options how = TAVOLA_INIT(tavola_store_options);`.
typedef struct tavola_store_options {
  // `sizeof(tavola_store_options)`.
  size_t size;
  // One of `tavola_condition`.
  int32_t condition;
  // 1: a key that exists keeps its attributes and its tags. `attributes` must then be NULL, and
  // only a key that is created gets `tags`.
  uint32_t keep;
  // For `TAVOLA_CONDITION_TOKEN`: the token that the key must have.
  uint64_t token;
  // The attributes of the key; those of `tavola_set` if NULL.
  const struct tavola_attributes *attributes;
  // The tags of the key, from `tavola_fetch_tags`; no tags if NULL.
  const struct tavola_tags *tags;
  // The version that the key gets, in a table made with `versions`; the next one if 0. The table
  // does not count on from this version: make sure that no version of a key is used twice.
  uint64_t version;
} tavola_store_options;

// What `tavola_store` stored. Begin with `tavola_stored stored = TAVOLA_INIT(tavola_stored);`.
typedef struct tavola_stored {
  // `sizeof(tavola_stored)`.
  size_t size;
  // The token that the key has now, for `tavola_compare_and_swap`. In a table made with
  // `versions` this is the key's version.
  uint64_t token;
} tavola_stored;

// Gets the old value (NULL: the key is missing), lent until it returns, and says what becomes of
// it: one of `tavola_change`. The bytes in `now` stay as they are until the next call of this
// function, or the end of `tavola_update`.
typedef int32_t (*tavola_update_fn)(void *user,
                                    const void *old,
                                    size_t old_len,
                                    struct tavola_bytes *now);

// How `tavola_add_number_with` treats a key that does not exist, and a sum of 0. Begin with
// `tavola_number_options options = TAVOLA_INIT(tavola_number_options);`.
typedef struct tavola_number_options {
  // `sizeof(tavola_number_options)`.
  size_t size;
  // The attributes of a key that is created; those of `tavola_set` if NULL. A key that exists
  // keeps its own.
  const struct tavola_attributes *attributes;
  // 1: removes the key if the sum is 0.
  uint32_t remove_zero;
  // 0.
  uint32_t reserved;
} tavola_number_options;

// Is told what the key at this position has, lent until it returns; NULL: the key is missing.
typedef void (*tavola_each_value)(void *user, size_t index, const void *value, size_t value_len);

// A key with its value.
typedef struct tavola_pair {
  // The key.
  struct tavola_bytes key;
  // The value.
  struct tavola_bytes value;
} tavola_pair;

// How long a value is fresh, how long it may be served when it is stale, how long who computes it
// may take. Begin with `tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);` and say
// `fresh_ms`, at least.
typedef struct tavola_lease_options {
  // `sizeof(tavola_lease_options)`.
  size_t size;
  // A value is fresh for so many milliseconds after it was stored, a thousand years at most;
  // 0 only together with a `stale_ms`: it is stale at once.
  uint64_t fresh_ms;
  // For so long afterwards it is stale: still there, and served while one computes it anew.
  uint64_t stale_ms;
  // How long who computes may take, up to an hour; 10 s when 0. Then another may, and the value
  // of the first is refused. For one that has died nobody waits so long.
  uint64_t lease_ms;
  // How long after an error nobody tries again, where `tavola_get_or_compute` computes, up to an
  // hour; 1 s when 0; or `TAVOLA_NO_BACK_OFF`.
  int64_t back_off_ms;
  // Lets one process now and then compute a value anew before it is stale, the more probably the
  // sooner that will be, and the longer it takes to compute (XFetch): 1 is best as a rule, more
  // is earlier, 0 is never. The key's flags then hold how long it took, in microseconds.
  double early_beta;
} tavola_lease_options;

// Computes the value of a key: returns 0 and says where it stands, or something else where it
// could not be computed; then what it says is told to the others, 88 bytes of it. These bytes stay
// as they are until the end of `tavola_get_or_compute`.
typedef int32_t (*tavola_compute_fn)(void *user, struct tavola_bytes *value);

// Opens a table, making it when it is not there. A name stands for a file in the directory of
// tables (see `tavola_names_directory`), anything with a `/` in it is a path. `options` may be
// NULL.
//
// # Examples
// ```c
// tavola_table *sessions = NULL;
// tavola_options options = TAVOLA_INIT(tavola_options);
// options.max_size = 64 << 20;
// if (tavola_open("sessions", &options, &sessions) != TAVOLA_OK) {
//   fprintf(stderr, "%s (errno %d)\n", tavola_last_error(), tavola_last_os_error());
//   return;
// }
// printf("%s, library %s\n", tavola_path(sessions), tavola_version());
// tavola_set(sessions, TAVOLA_STR("token"), TAVOLA_STR("17"));
// tavola_close(sessions);
// tavola_names_remove("sessions");
// ```
//
// # Errors
// `TAVOLA_ERR_NOT_A_TABLE`, `TAVOLA_ERR_VERSION`, `TAVOLA_ERR_ENDIANNESS` when the file is not
// one; `TAVOLA_ERR_BAD_NAME`, `TAVOLA_ERR_BAD_OPTION`, `TAVOLA_ERR_PERMISSION`,
// `TAVOLA_ERR_FULL`, `TAVOLA_ERR_IO`.
//
// # Concurrency
// Of many processes that do this at once, one makes the table and all open that one.
tavola_status tavola_open(const char *name,
                          const struct tavola_options *options,
                          struct tavola_table **table);

// Opens a table that is there.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`; else as `tavola_open`.
tavola_status tavola_open_existing(const char *name,
                                   const struct tavola_options *options,
                                   struct tavola_table **table);

// Opens a table for reading only, through a mapping that cannot be written to.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`; else as `tavola_open`.
tavola_status tavola_open_read_only(const char *name,
                                    const struct tavola_options *options,
                                    struct tavola_table **table);

// Closes a table: this process is no participant any more. NULL is none.
void tavola_close(struct tavola_table *table);

// Reads the value of a key. What a caller's buffer held behind the value, or where there is none,
// stays, but for bytes that are 0 because another value stood there meanwhile.
//
// # Examples
// ```c
// char bytes[64];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
//
// switch (tavola_get(table, TAVOLA_STR("user"), &value)) {
//   case TAVOLA_OK:
//     printf("%.*s\n", (int)value.len, bytes);
//     break;
//   case TAVOLA_NOT_FOUND:
//     puts("there is no such key");
//     break;
//   case TAVOLA_ERR_TOO_SMALL:
//     printf("the value has %zu bytes\n", value.len);
//     break;
//   default:
//     fputs(tavola_last_error(), stderr);
// }
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: it is not there. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it
// needs. `TAVOLA_ERR_CORRUPT`: the bytes on the way to it contradict each other.
//
// # Concurrency
// Takes no lock and writes nothing; never waits for a writer, living, stopped or dead. The value
// is one that was set as a whole. Of a cache it notes that the key was read, if the table is open
// for writing and the shard's lock is free just then; with the first such note the process becomes
// a participant. So it does with the first value of more than some 16 KB that it reads: such a
// value is copied once, whatever is written meanwhile, as the process notes in its line which
// pages it reads; but through a handle that may only read.
tavola_status tavola_get(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         struct tavola_buffer *value);

// Whether the key is there: `TAVOLA_OK` or `TAVOLA_NOT_FOUND`.
//
// # Examples
// ```c
// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
// if (tavola_contains(table, TAVOLA_STR("user")) == TAVOLA_OK) {
//   puts("here");
// }
// ```
//
// # Errors
// As `tavola_get`.
tavola_status tavola_contains(const struct tavola_table *table, const void *key, size_t key_len);

// Returns the length of a key's value in bytes. It does not copy the value.
//
// # Examples
// ```c
// char bytes[2];
// size_t len = 0;
// tavola_set(table, TAVOLA_STR("song"), TAVOLA_STR("do re mi"));
// tavola_value_len(table, TAVOLA_STR("song"), &len);
//
// tavola_buffer part = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_get_range(table, TAVOLA_STR("song"), 3, sizeof bytes, &part);
// printf("%zu bytes, among them %.*s\n", len, (int)part.len, bytes);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`.
tavola_status tavola_value_len(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               size_t *value_len);

// Reads a part of a key's value: at most `max` bytes, beginning with byte `start`. The result is
// shorter at the end of the value, and empty beyond it.
//
// # Errors
// As `tavola_get`.
//
// # Concurrency
// As `tavola_get`. If the value has more than about 16 KB, only this part is copied.
tavola_status tavola_get_range(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t start,
                               size_t max,
                               struct tavola_buffer *part);

// Reads many keys: calls `each` once for each, in order.
//
// # Examples
// ```c
// static void found(void *user, size_t index, const void *value, size_t len) {
//   (void)user;
//   if (value != NULL) {
//     printf("key %zu: %.*s\n", index, (int)len, (const char *)value);
//   }
// }
//
// const tavola_pair pairs[] = {{{"a", 1}, {"one", 3}}, {{"b", 1}, {"two", 3}}};
// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
// tavola_set_many(table, pairs, 2);
// tavola_prefetch(table, keys, 3);
// tavola_get_many(table, keys, 3, found, NULL);
// ```
//
// # Errors
// As `tavola_get`; the keys before the one that failed were told. A key that is NULL and has a
// length: none was.
//
// # Concurrency
// Each key is read as by `tavola_get`, at a moment of its own.
tavola_status tavola_get_many(const struct tavola_table *table,
                              const struct tavola_bytes *keys,
                              size_t count,
                              tavola_each_value each,
                              void *user);

// Sets a key, whether or not it is there. It lives as long as the table was made to let it, and
// its flags are 0, whatever it had.
//
// # Examples
// ```c
// const double price = 9.5;
// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
// tavola_set(table, TAVOLA_STR("price"), &price, sizeof price);
// ```
//
// # Errors
// `TAVOLA_ERR_FULL`, `TAVOLA_ERR_TOO_LARGE`, `TAVOLA_ERR_LENGTHS`, `TAVOLA_ERR_READ_ONLY`,
// `TAVOLA_ERR_CORRUPT`, `TAVOLA_ERR_REENTRANT`; the old value stays then. At a process's first
// write also `TAVOLA_ERR_TOO_MANY_PARTICIPANTS` and `TAVOLA_ERR_IO`.
//
// # Concurrency
// Others see the old value or the new one, whole.
//
// # Crash
// Killed before it returned: the old value or the new one. After: the new one.
tavola_status tavola_set(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         const void *value,
                         size_t value_len);

// As `tavola_set`, with attributes; NULL: those of `tavola_set`. What the key had is gone.
//
// # Examples
// ```c
// tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
// attributes.ttl_ms = 30 * 60 * 1000;
// attributes.flags = 7;
// tavola_set_with(table, TAVOLA_STR("session"), TAVOLA_STR("alice"), &attributes);
// tavola_add_with(table, TAVOLA_STR("lock"), TAVOLA_STR("me"), &attributes);
// tavola_replace_with(table, TAVOLA_STR("session"), TAVOLA_STR("bob"), &attributes);
// ```
//
// # Errors
// As `tavola_set`. `TAVOLA_ERR_ARGUMENT`: two times, or a `ttl_ms` that is none.
// `TAVOLA_ERR_BAD_OPTION`: a time or flags in a table of fixed lengths, whose items have no room
// for them.
//
// # Concurrency
// As `tavola_set`; others see the old value with its attributes, or the new ones.
//
// # Crash
// As `tavola_set`, value and attributes together.
tavola_status tavola_set_with(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              const void *value,
                              size_t value_len,
                              const struct tavola_attributes *attributes);

// Sets a key only if it is missing.
//
// # Examples
// ```c
// if (tavola_add(table, TAVOLA_STR("leader"), TAVOLA_STR("me")) == TAVOLA_EXISTS) {
//   puts("another process was faster");
// }
// if (tavola_replace(table, TAVOLA_STR("state"), TAVOLA_STR("done")) == TAVOLA_NOT_FOUND) {
//   puts("there is no such key");
// }
// ```
//
// # Errors
// `TAVOLA_EXISTS`: it is there and stays as it is. Else as `tavola_set`.
tavola_status tavola_add(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         const void *value,
                         size_t value_len);

// Sets a key only if it is there.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it is not there and stays so. Else as `tavola_set`.
tavola_status tavola_replace(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len);

// Adds bytes after the value, and writes the new length to `now_len`, which may be NULL. A key
// that does not exist is created with these attributes (NULL: those of `tavola_set`); a key that
// exists keeps its own.
//
// # Errors
// As `tavola_set_with`.
tavola_status tavola_append_with(const struct tavola_table *table,
                                 const void *key,
                                 size_t key_len,
                                 const void *more,
                                 size_t more_len,
                                 const struct tavola_attributes *attributes,
                                 size_t *now_len);

// Removes a key.
//
// # Examples
// ```c
// if (tavola_remove(table, TAVOLA_STR("user")) == TAVOLA_NOT_FOUND) {
//   puts("there was no such key");
// }
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: it was not there. Else as `tavola_set`, but never `TAVOLA_ERR_FULL`.
//
// # Crash
// Killed before it returned: the key is there, whole, or it is not.
tavola_status tavola_remove(const struct tavola_table *table, const void *key, size_t key_len);

// Sets many keys, in order.
//
// # Errors
// As `tavola_set`; the pairs before the one that failed are set. A key or value that is NULL and
// has a length: none is.
//
// # Concurrency
// Each pair is set as by `tavola_set`; others may see some of them before the rest.
tavola_status tavola_set_many(const struct tavola_table *table,
                              const struct tavola_pair *pairs,
                              size_t count);

// Removes a key and gives the value it had.
//
// # Examples
// ```c
// char bytes[64];
// tavola_buffer old = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_set(table, TAVOLA_STR("job"), TAVOLA_STR("first"));
// if (tavola_swap(table, TAVOLA_STR("job"), TAVOLA_STR("second"), &old) == TAVOLA_OK) {
//   printf("it was %.*s\n", (int)old.len, bytes);
// }
// if (tavola_take(table, TAVOLA_STR("job"), &old) == TAVOLA_OK) {
//   printf("this process removed %.*s\n", (int)old.len, bytes);
// }
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: it was not there. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it
// needs, and the key stays. `TAVOLA_ERR_STOPPED`: the callback gave no room or refused the value;
// the key is removed, and `tavola_last_taken` has the value. Else as `tavola_remove`.
//
// # Concurrency
// Of several that take a key at once, one gets its value.
tavola_status tavola_take(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          struct tavola_buffer *value);

// Sets a key, as `tavola_set` does, and gives the value it had.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it was not there, and is set now. `TAVOLA_ERR_TOO_SMALL`: `old->len` says
// how much room the old value needs, which stays. `TAVOLA_ERR_STOPPED`: the callback gave no room
// for the old value or refused it; the key is set, and `tavola_last_taken` has the old value. Else
// as `tavola_set`.
tavola_status tavola_swap(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          const void *value,
                          size_t value_len,
                          struct tavola_buffer *old);

// Changes a value atomically: `change` gets the old value and gives the new one. The key keeps its
// attributes.
//
// # Examples
// ```c
// static int32_t grow(void *user, const void *old, size_t old_len, tavola_bytes *now) {
//   static const char first[] = "x";
//   (void)user;
//   if (old != NULL && old_len >= 3) {
//     return TAVOLA_CHANGE_REMOVE;
//   }
//   now->data = first;
//   now->len = 1;
//   return TAVOLA_CHANGE_SET;
// }
//
// tavola_update(table, TAVOLA_STR("key"), grow, NULL);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key is not there now. Else as `tavola_set`.
//
// # Concurrency
// `change` is called holding no lock, and again when another process changed the key meanwhile.
tavola_status tavola_update(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            tavola_update_fn change,
                            void *user);

// Reads the value of a key, and its token for `tavola_compare_and_swap`: a hash of the value. A
// value that was changed and changed back has its old token, unless the table was made with
// `versions`: then the token is another one each time that the key is set.
//
// # Errors
// As `tavola_get`.
tavola_status tavola_get_with_token(const struct tavola_table *table,
                                    const void *key,
                                    size_t key_len,
                                    struct tavola_buffer *value,
                                    uint64_t *token);

// Sets a key if its value is still the one that `token` was read with.
//
// # Examples
// ```c
// char bytes[64];
// uint64_t token = 0;
// tavola_set(table, TAVOLA_STR("state"), TAVOLA_STR("idle"));
//
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_get_with_token(table, TAVOLA_STR("state"), &value, &token);
// if (tavola_compare_and_swap(table, TAVOLA_STR("state"), token, TAVOLA_STR("busy")) ==
//     TAVOLA_CHANGED) {
//   puts("another process was faster");
// }
// ```
//
// # Errors
// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
// Otherwise as `tavola_set`.
tavola_status tavola_compare_and_swap(const struct tavola_table *table,
                                      const void *key,
                                      size_t key_len,
                                      uint64_t token,
                                      const void *value,
                                      size_t value_len);

// Sets a key as `how` says, and writes the token that the key has then to `stored`. `tavola_set`,
// `tavola_add`, `tavola_replace`, `tavola_set_tagged` and `tavola_compare_and_swap` are short
// forms of this function. Both `how` and `stored` may be NULL.
//
// # Examples
// ```c
// tavola_store_options how = TAVOLA_INIT(tavola_store_options);
// tavola_stored stored = TAVOLA_INIT(tavola_stored);
// how.condition = TAVOLA_CONDITION_ABSENT;
// tavola_store(table, TAVOLA_STR("job"), TAVOLA_STR("queued"), &how, &stored);
//
// how.condition = TAVOLA_CONDITION_TOKEN;
// how.token = stored.token;
// if (tavola_store(table, TAVOLA_STR("job"), TAVOLA_STR("running"), &how, &stored) ==
//     TAVOLA_CHANGED) {
//   puts("another process was faster");
// }
// ```
//
// # Errors
// `TAVOLA_EXISTS`: the key exists, and the condition is `TAVOLA_CONDITION_ABSENT`.
// `TAVOLA_NOT_FOUND`: the key does not exist, and the condition needs one. `TAVOLA_CHANGED`: the
// key has another token. Nothing is stored then. `TAVOLA_ERR_ARGUMENT`: an unknown condition, a
// `token` without `TAVOLA_CONDITION_TOKEN`, or `keep` with attributes. `TAVOLA_ERR_BAD_OPTION`: a
// version in a table without `versions`. Otherwise as `tavola_set_with`.
//
// # Concurrency
// Other processes see the old value with its attributes and tags, or the new one with the new
// ones.
//
// # Crash
// If the process is killed before the call returned, the key has either the old state or the new
// one.
tavola_status tavola_store(const struct tavola_table *table,
                           const void *key,
                           size_t key_len,
                           const void *value,
                           size_t value_len,
                           const struct tavola_store_options *how,
                           struct tavola_stored *stored);

// Adds to a counter, beginning at 0 when the key is missing; `now` gets the sum, unless it is
// NULL. Past 2^64 - 1 it begins at 0 again. A counter reads as decimal text, and decimal text can
// be counted on.
//
// # Examples
// ```c
// const uint64_t hundred = 100;
// uint64_t now = 0;
// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
// minute.ttl_ms = 60 * 1000;
//
// tavola_incr(table, TAVOLA_STR("hits"), 1, &now);
// tavola_decr(table, TAVOLA_STR("hits"), 1, &now);
// tavola_incr_from(table, TAVOLA_STR("tickets"), 1, &hundred, &now);
// tavola_decr_from(table, TAVOLA_STR("tickets"), 1, NULL, &now);
// tavola_incr_with(table, TAVOLA_STR("requests"), 1, &hundred, &minute, &now);
// tavola_decr_with(table, TAVOLA_STR("requests"), 1, NULL, &minute, &now);
// printf("%llu requests\n", (unsigned long long)now);
// ```
//
// # Errors
// `TAVOLA_ERR_NOT_A_COUNTER`; else as `tavola_set`.
//
// # Crash
// Killed before it returned: added once, or not at all.
tavola_status tavola_incr(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          uint64_t by,
                          uint64_t *now);

// Subtracts from a counter, never below 0; a missing key becomes 0. `now` gets the rest, unless it
// is NULL.
//
// # Errors
// As `tavola_incr`.
tavola_status tavola_decr(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          uint64_t by,
                          uint64_t *now);

// Adds `by` to a signed number, and writes the sum to `now`, which may be NULL. A key that does
// not exist counts as 0 and is created. The value is decimal text, such as `-3`.
//
// # Examples
// ```c
// int64_t balance = 0;
// tavola_add_number(table, TAVOLA_STR("balance"), -3, &balance);
// tavola_add_number(table, TAVOLA_STR("balance"), 10, &balance);
//
// tavola_number_options options = TAVOLA_INIT(tavola_number_options);
// options.remove_zero = 1;
// tavola_add_number_with(table, TAVOLA_STR("balance"), -balance, &options, NULL);
// ```
//
// # Errors
// `TAVOLA_ERR_NOT_A_COUNTER`: the value is not a decimal number of 64 bits with sign.
// `TAVOLA_ERR_BAD_OPTION`: the sum is not. Otherwise as `tavola_set`.
//
// # Crash
// If the process is killed before the call returned, the number was added once or not at all.
tavola_status tavola_add_number(const struct tavola_table *table,
                                const void *key,
                                size_t key_len,
                                int64_t by,
                                int64_t *now);

// Tells how many milliseconds a key will still live, at least 1, or `TAVOLA_TTL_NEVER`.
//
// # Examples
// ```c
// char bytes[64];
// int64_t left_ms = 0;
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_attributes hour = TAVOLA_INIT(tavola_attributes);
// hour.ttl_ms = 60 * 60 * 1000;
//
// tavola_set(table, TAVOLA_STR("session"), TAVOLA_STR("alice"));
// tavola_touch(table, TAVOLA_STR("session"), &hour);
// tavola_ttl(table, TAVOLA_STR("session"), &left_ms);
// tavola_get_and_touch(table, TAVOLA_STR("session"), &hour, &value, NULL, NULL);
// tavola_persist(table, TAVOLA_STR("session"));
// ```
//
// # Errors
// As `tavola_contains`.
//
// # Concurrency
// As `tavola_get`.
tavola_status tavola_ttl(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         int64_t *ttl_ms);

// Lets a key expire at another time than it would: that of `attributes`, whose flags are 0. NULL:
// as long after now as the table was made to let it live. Its value and its flags stay.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it is not there. `TAVOLA_ERR_ARGUMENT`: there are flags; else as
// `tavola_set_with`. A table of fixed lengths refuses this with `TAVOLA_ERR_BAD_OPTION`, whatever
// the time.
//
// # Crash
// Killed before it returned: the old time or the new one.
tavola_status tavola_touch(const struct tavola_table *table,
                           const void *key,
                           size_t key_len,
                           const struct tavola_attributes *attributes);

// Lets a key live for ever.
//
// # Errors
// As `tavola_touch`.
//
// # Crash
// As `tavola_touch`.
tavola_status tavola_persist(const struct tavola_table *table, const void *key, size_t key_len);

// Tells tags of these names as they are at this moment, for `tavola_set_tagged`; one that is not
// there yet is made. Take them *before* reading what the value is made of: should a tag be
// invalidated while the value is made, the key is missing from the beginning. So it is if a cache
// evicted the tag meanwhile, which it does when no key was set or read with it for a while: do not
// keep them for long.
//
// # Examples
// ```c
// static void print(void *user, const void *name, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, (const char *)name);
// }
//
// const tavola_bytes names[] = {{"home", 4}, {"user:7", 6}};
// tavola_tags tags = TAVOLA_INIT(tavola_tags);
// tavola_fetch_tags(table, names, 2, &tags);
// /* Now load the source data, and compute the value. */
// tavola_set_tagged(table, TAVOLA_STR("page"), TAVOLA_STR("<p>hello</p>"), NULL, &tags);
// tavola_tags_of(table, TAVOLA_STR("page"), print, NULL);
// tavola_invalidate_tag(table, TAVOLA_STR("user:7"));
// if (tavola_add_tagged(table, TAVOLA_STR("page"), TAVOLA_STR("<p>old</p>"), NULL, &tags) ==
//     TAVOLA_OK) {
//   puts("stored, but missing at once: one of its tags was invalidated");
// }
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`: more than `TAVOLA_MOST_TAGS`, a name of more than 4096 bytes, a table
// of fixed lengths. Where a tag is made: as `tavola_set`.
//
// # Concurrency
// Takes no lock where all tags are there.
//
// # Crash
// Killed before it returned: some of the tags may have been made.
tavola_status tavola_fetch_tags(const struct tavola_table *table,
                                const struct tavola_bytes *names,
                                size_t count,
                                struct tavola_tags *tags);

// As `tavola_set_with`, with tags: the key is missing as soon as one of them is invalidated. NULL
// for `tags`: none. Like attributes, each set without them takes them from the key; changes of a
// value (`tavola_update`, `tavola_append`, `tavola_incr`) and `tavola_touch` keep them.
//
// # Errors
// As `tavola_set_with`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_set_tagged(const struct tavola_table *table,
                                const void *key,
                                size_t key_len,
                                const void *value,
                                size_t value_len,
                                const struct tavola_attributes *attributes,
                                const struct tavola_tags *tags);

// Invalidates a tag: all keys that have it are missing from this moment on, for all processes, and
// in the same time however many they are. Their memory comes back as that of keys that have
// expired. `TAVOLA_NOT_FOUND`: there was no such tag, and so no such key.
//
// # Errors
// As `tavola_remove`.
//
// # Crash
// Killed before it returned: all the keys are there, or none is.
tavola_status tavola_invalidate_tag(const struct tavola_table *table,
                                    const void *name,
                                    size_t name_len);

// The value of a key, which one process of all that ask for it computes, by `compute`, if it is
// missing or stale: see `tavola_get_or_lease`. The others sleep meanwhile, or get the stale value.
//
// A value that cannot be stored, as the table is full, or that is not stored, as it took longer
// than the lease, is returned all the same.
//
// # Examples
// ```c
// static int32_t render(void *user, tavola_bytes *value) {
//   (void)user;
//   value->data = "<p>hello</p>";
//   value->len = 12;
//   return 0;
// }
//
// char bytes[256];
// const tavola_bytes names[] = {{"home", 4}};
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
// options.fresh_ms = 60 * 1000;
// options.stale_ms = 10 * 60 * 1000;
// tavola_get_or_compute(table, TAVOLA_STR("page"), &options, render, NULL, &value);
// tavola_get_or_compute_tagged(table, TAVOLA_STR("home"), &options, names, 1, render, NULL,
//                              &value);
// ```
//
// # Errors
// `TAVOLA_ERR_COMPUTE`: it could not be computed, by the caller just now or by another a moment
// ago; `tavola_last_error` has what was told of it. `TAVOLA_ERR_TOO_SMALL` and
// `TAVOLA_ERR_STOPPED`: the value may be there now, though it was not handed over. Else as
// `tavola_get_or_lease`, but that a table without room for leases computes without.
//
// # Concurrency
// `compute` is called once at most, holding no lock. It does not ask for the same key: it would
// wait for itself. Who waits does so as long as others compute: each for its lease at most.
//
// # Crash
// Killed in `compute`: another process computes.
tavola_status tavola_get_or_compute(const struct tavola_table *table,
                                    const void *key,
                                    size_t key_len,
                                    const struct tavola_lease_options *options,
                                    tavola_compute_fn compute,
                                    void *user,
                                    struct tavola_buffer *value);

// Begins an iteration over all keys, in no particular order. The table stays open until the
// iterator is closed.
//
// # Examples
// ```c
// tavola_iter *iter = NULL;
// tavola_bytes key, value;
// tavola_set(table, TAVOLA_STR("user:1"), TAVOLA_STR("alice"));
// tavola_set(table, TAVOLA_STR("cart:1"), TAVOLA_STR("[]"));
//
// tavola_iter_open(table, &iter);
// while (tavola_iter_next(iter, &key, &value) == TAVOLA_OK) {
//   printf("%.*s has %zu bytes\n", (int)key.len, (const char *)key.data, value.len);
// }
// tavola_iter_close(iter);
// ```
//
// # Concurrency
// Takes no lock. A key that exists during the whole iteration is returned at least once, even if
// the table grows or shrinks. A key that is written meanwhile may be returned twice.
tavola_status tavola_iter_open(const struct tavola_table *table, struct tavola_iter **iter);

// Begins an iteration over the keys that begin with `prefix`, in no particular order. It looks at
// every key of the table: the table does not keep its keys in order.
//
// # Examples
// ```c
// tavola_iter *iter = NULL;
// tavola_bytes key;
// uint64_t removed = 0;
// tavola_set(table, TAVOLA_STR("user:1"), TAVOLA_STR("alice"));
//
// tavola_iter_open_prefix(table, TAVOLA_STR("user:"), &iter);
// while (tavola_iter_next(iter, &key, NULL) == TAVOLA_OK) {
//   printf("%.*s\n", (int)key.len, (const char *)key.data);
// }
// tavola_iter_close(iter);
// tavola_remove_prefix(table, TAVOLA_STR("user:"), &removed);
// ```
//
// # Concurrency
// As `tavola_iter_open`.
tavola_status tavola_iter_open_prefix(const struct tavola_table *table,
                                      const void *prefix,
                                      size_t prefix_len,
                                      struct tavola_iter **iter);

// Returns the next key and its value, which are lent until the next call with this iterator.
// `value` may be NULL.
//
// # Errors
// `TAVOLA_END`: there are no more keys. `TAVOLA_ERR_CORRUPT`: some item could not be read. This is
// reported once, after all items that could be read; the next call returns `TAVOLA_END`.
tavola_status tavola_iter_next(struct tavola_iter *iter,
                               struct tavola_bytes *key,
                               struct tavola_bytes *value);

// Closes an iterator. NULL has no effect.
void tavola_iter_close(struct tavola_iter *iter);

// Removes the keys that begin with these bytes, and writes how many it removed to `removed`, which
// may be NULL. It looks at every key of the table. If you remove the same group of keys often,
// give the keys a tag and call `tavola_invalidate_tag`, which takes the same time for any number
// of keys.
//
// # Errors
// As `tavola_iter_next` and `tavola_remove`; keys that were removed before the error stay removed.
//
// # Concurrency
// Each key is removed on its own. A key that another process sets meanwhile may stay.
//
// # Crash
// If the process is killed before the call returned, some of the keys are removed, each as a
// whole.
tavola_status tavola_remove_prefix(const struct tavola_table *table,
                                   const void *prefix,
                                   size_t prefix_len,
                                   uint64_t *removed);

// How many keys there are, at no one moment while others write. One that has expired counts until
// it is removed.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_len(const struct tavola_table *table, uint64_t *keys);

// Removes all keys.
//
// # Errors
// As `tavola_remove`.
//
// # Concurrency
// Keys that were there at the beginning are gone at the end; one that is set meanwhile may stay or
// go. No lock is held for more than some 200 keys.
tavola_status tavola_clear(const struct tavola_table *table);

// Unlinks a table. Processes that have it open keep it until they close it.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`; `TAVOLA_ERR_NOT_A_TABLE` if the file is something else, which is left
// alone; `TAVOLA_ERR_PERMISSION`, also for another user's table in a directory where everybody may
// make files.
tavola_status tavola_names_remove(const char *name);

// Returns the message of the last error of this thread, a sentence that says what to do, or "" if
// there was no error. Statuses above 0 are not errors and do not change it. The text stays valid
// until the next error of this thread or until the thread ends.
const char *tavola_last_error(void);

// Returns the `errno` that caused the last error of this thread, or 0 if there was none.
int tavola_last_os_error(void);

// Returns the name of a status, such as "TAVOLA_ERR_FULL", or "?" for an unknown number.
const char *tavola_status_name(int32_t status);

// Returns the version of the library, such as "0.1.0". `TAVOLA_VERSION` is that of the header.
const char *tavola_version(void);

// ----------------------------------------------------------------------------------------------
// The rest, for when you need more.
// ----------------------------------------------------------------------------------------------

// What there is of a key, and who is to compute it.
enum tavola_lease_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value, fresh.
  TAVOLA_LEASE_HIT = 0,
  // The value, no more fresh: it may be served still. Another computes it anew, or has failed to
  // a moment ago.
  TAVOLA_LEASE_STALE = 1,
  // The value, no more fresh, or soon not to be: it may be served still. The caller is to
  // compute it anew.
  TAVOLA_LEASE_STALE_WON = 2,
  // There is no value: the caller is to compute it.
  TAVOLA_LEASE_WON = 3,
  // There is no value yet: another computes it.
  TAVOLA_LEASE_WAIT = 4,
  // There is no value: it could not be computed a moment ago.
  TAVOLA_LEASE_FAILED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_lease_outcome tavola_lease_outcome;
#else
typedef int32_t tavola_lease_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Operations that were prepared, to be executed together; for one thread at a time.
typedef struct tavola_batch tavola_batch;

// A watch of one key, for one thread at a time. It keeps the table open.
typedef struct tavola_key_watch tavola_key_watch;

// The right, and the duty, to compute the value of a key; or, after `TAVOLA_LEASE_WAIT`, the lease
// that another has. For one thread at a time. It keeps the table open.
typedef struct tavola_lease tavola_lease;

// A value that is lent where it stands.
typedef struct tavola_view tavola_view;

// Is told one name, path or sentence: `len` bytes and a NUL, lent until it returns.
typedef void (*tavola_each_text)(void *user, const char *text, size_t len);

// Is told the name of a tag: any bytes, lent until it returns.
typedef void (*tavola_each_tag)(void *user, const void *name, size_t name_len);

// Is told what the key at this position has, all lent until it returns; NULL: the key is missing.
typedef void (*tavola_each_entry)(void *user,
                                  size_t index,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes);

// A key with its value, and what it gets beside it.
typedef struct tavola_entry {
  // The key.
  struct tavola_bytes key;
  // The value.
  struct tavola_bytes value;
  // NULL: those of `tavola_set`.
  const struct tavola_attributes *attributes;
} tavola_entry;

// What `tavola_get_or_lease` tells. Begin with
// `tavola_leased leased = TAVOLA_INIT(tavola_leased);`.
typedef struct tavola_leased {
  // `sizeof(tavola_leased)`.
  size_t size;
  // What there is.
  tavola_lease_outcome outcome;
  // 0.
  uint32_t reserved;
  // After `TAVOLA_LEASE_WAIT` how many milliseconds the other has at most, after
  // `TAVOLA_LEASE_FAILED` in how many one may try again; else 0.
  uint64_t left_ms;
} tavola_leased;

// Tells the directory of named tables: `TAVOLA_DIR`, else `/dev/shm/tavola-UID`.
//
// # Examples
// ```c
// static void print(void *user, const char *path, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, path);
// }
//
// char bytes[4096];
// tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_names_directory(&text);
// printf("tables are in %.*s\n", (int)text.len, bytes);
// tavola_names_list(print, NULL);
// tavola_names_path_of("sessions", &text);
// if (tavola_names_warning("sessions", &text) == TAVOLA_OK) {
//   printf("warning: %.*s\n", (int)text.len, bytes);
// }
// if (tavola_names_remove("sessions") == TAVOLA_ERR_NO_TABLE) {
//   puts("there is no such table");
// }
// tavola_names_remove_any_owner("sessions");
// ```
tavola_status tavola_names_directory(struct tavola_buffer *path);

// Tells the file that a name stands for. A name with a `/` in it is a path already.
//
// # Errors
// `TAVOLA_ERR_BAD_NAME` for an empty name, one of more than 200 bytes, one that begins with a dot,
// and one with control characters.
tavola_status tavola_names_path_of(const char *name, struct tavola_buffer *path);

// Tells the path of each table in the directory, sorted by name, of those that may not be read
// too: opening them says why they cannot be read.
//
// # Errors
// `TAVOLA_ERR_IO`, `TAVOLA_ERR_PERMISSION`. A directory that does not exist holds no tables.
tavola_status tavola_names_list(tavola_each_text each, void *user);

// Says why processes may not see each other's writes to this table, because of the file system
// that it is on or will be on: overlayfs, a network file system, FUSE. The sentence says what to
// do. `TAVOLA_NOT_FOUND`: they do see them, and nothing is written.
//
// # Errors
// `TAVOLA_ERR_BAD_NAME`.
tavola_status tavola_names_warning(const char *name, struct tavola_buffer *warning);

// Unlinks a table whoever owns it, also in a directory where everybody may make files.
// `tavola_names_remove` refuses the tables of other users there.
//
// # Errors
// As `tavola_names_remove`.
tavola_status tavola_names_remove_any_owner(const char *name);

// Makes a table.
//
// # Examples
// ```c
// tavola_table *made = NULL, *opened = NULL, *reader = NULL;
// tavola_status status = tavola_create("prices", NULL, &made);
// if (status == TAVOLA_ERR_TABLE_EXISTS) {
//   puts("another process has created it");
// } else if (status != TAVOLA_OK) {
//   fprintf(stderr, "%s: %s\n", tavola_status_name(status), tavola_last_error());
// }
// tavola_open_existing("prices", NULL, &opened);
// tavola_open_read_only("prices", NULL, &reader);
// if (tavola_is_read_only(reader)) {
//   puts("this handle cannot write");
// }
// tavola_close(reader);
// tavola_close(opened);
// tavola_close(made);
// tavola_names_remove("prices");
// ```
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`; else as `tavola_open`.
//
// # Crash
// The table appears whole or not at all.
tavola_status tavola_create(const char *name,
                            const struct tavola_options *options,
                            struct tavola_table **table);

// Makes a table in this process's own memory: no file, no other process, gone when closed. For
// tests; all of `max_size` is taken at once.
//
// # Examples
// ```c
// tavola_table *mine = NULL;
// tavola_options options = TAVOLA_INIT(tavola_options);
// options.max_size = 1 << 20;
// tavola_open_private(&options, &mine);
// tavola_set(mine, TAVOLA_STR("key"), TAVOLA_STR("value"));
// tavola_close(mine);
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`.
tavola_status tavola_open_private(const struct tavola_options *options,
                                  struct tavola_table **table);

// Opens a table again, with the same options, if its file was removed or replaced meanwhile (`mv
// new live`, a logout): a handle goes on in the file it has opened. `*table` is the new handle
// then, and the old one is closed as by `tavola_close`: no other thread may be using it. `*moved`,
// which may be NULL, says whether that was so. Costs one system call if not.
//
// A handle that writes looks for itself, once a second at most, and gives a notice
// (`tavola_on_notice`); it does not move over by itself.
//
// # Examples
// ```c
// tavola_table *live = NULL;
// int moved = 0;
// tavola_open("live", NULL, &live);
// if (tavola_refresh(&live, &moved) == TAVOLA_OK && moved) {
//   puts("the file was replaced, and the handle leads to the new one");
// }
// tavola_close(live);
// tavola_names_remove("live");
// ```
//
// # Errors
// `TAVOLA_ERR_NO_TABLE` when there is no table of that name any more; else as
// `tavola_open_existing`. The handle stays as it is then.
tavola_status tavola_refresh(struct tavola_table **table, int *moved);

// Hands notices of the library to `each`, instead of writing them to standard error: that a table
// which is open has lost its name, for example. A notice is one sentence or two, without an end of
// line. `each` is called by the thread that found it out, in the middle of a call, but while no
// lock is held. NULL: notices go nowhere. `user` is handed to `each` as it is, by any thread.
//
// # Examples
// ```c
// static void notice(void *user, const char *text, size_t len) {
//   fprintf((FILE *)user, "tavola: %.*s\n", (int)len, text);
// }
//
// tavola_on_notice(notice, stderr);
// ```
void tavola_on_notice(tavola_each_text each, void *user);

// The path of the table's file, lent until the table is closed.
const char *tavola_path(const struct tavola_table *table);

// Whether the table was opened for reading only.
bool tavola_is_read_only(const struct tavola_table *table);

// Lends the value of a key: it stays as it is until `tavola_view_close`, whatever is written to
// the key. The table stays open until then.
//
// A value that is longer than some 16 KB is not copied, and stands in one or more pieces; a
// shorter one is copied. So is any value of a table that is open for reading only, of a process
// that cannot become a participant, and where six views and reads of large values are under way
// through this handle.
//
// # Examples
// ```c
// tavola_view *view = NULL;
// tavola_bytes piece;
// tavola_set(table, TAVOLA_STR("page"), TAVOLA_STR("<p>hello</p>"));
// if (tavola_get_view(table, TAVOLA_STR("page"), &view) == TAVOLA_OK) {
//   printf("%zu bytes\n", tavola_view_len(view));
//   for (size_t i = 0; tavola_view_piece(view, i, &piece) == TAVOLA_OK; i++) {
//     fwrite(piece.data, 1, piece.len, stdout);
//   }
//   tavola_view_close(view);
// }
// ```
//
// # Errors
// As `tavola_get`, but for `TAVOLA_ERR_TOO_SMALL`.
//
// # Concurrency
// As `tavola_get`. Writers go on: the pages of a value that is overwritten or removed stay in use
// until the view has ended, and are freed by the next write. In a forked child a view of its
// parent's is not to be used, only ended.
//
// # Crash
// Pages that a dead process had in view come back with what else it held.
tavola_status tavola_get_view(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              struct tavola_view **view);

// How many bytes the value has.
size_t tavola_view_len(const struct tavola_view *view);

// One of the pieces that the value stands in, in their order, from 0 on: lent until the view ends.
//
// # Errors
// `TAVOLA_END`: there are no more.
tavola_status tavola_view_piece(const struct tavola_view *view,
                                size_t number,
                                struct tavola_bytes *piece);

// Ends a view: its bytes are lent no more. NULL is none.
void tavola_view_close(struct tavola_view *view);

// As `tavola_add`, with attributes; NULL: those of `tavola_set`.
//
// # Errors
// `TAVOLA_EXISTS`: it is there and stays as it is. Else as `tavola_set_with`.
tavola_status tavola_add_with(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              const void *value,
                              size_t value_len,
                              const struct tavola_attributes *attributes);

// As `tavola_replace`, with attributes; NULL: those of `tavola_set`. What the key had is gone.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it is not there and stays so. Else as `tavola_set_with`.
tavola_status tavola_replace_with(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes);

// Adds bytes after the value. The key keeps its attributes.
//
// # Examples
// ```c
// size_t len = 0;
// tavola_append_with(table, TAVOLA_STR("list"), TAVOLA_STR("b,"), NULL, &len);
// tavola_append(table, TAVOLA_STR("list"), TAVOLA_STR("c,"));
// tavola_prepend(table, TAVOLA_STR("list"), TAVOLA_STR("a,"));
// ```
//
// # Errors
// As `tavola_replace`.
tavola_status tavola_append(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            const void *more,
                            size_t more_len);

// Adds bytes before the value. The key keeps its attributes.
//
// # Errors
// As `tavola_replace`.
tavola_status tavola_prepend(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             const void *more,
                             size_t more_len);

// Returns the token of every key that has this value, for a value that was not read by
// `tavola_get_with_token`.
//
// # Examples
// ```c
// uint64_t token = 0;
// tavola_set(table, TAVOLA_STR("state"), TAVOLA_STR("idle"));
// tavola_token_of(table, TAVOLA_STR("idle"), &token);
//
// tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
// attributes.ttl_ms = 1000;
// tavola_compare_and_swap_with(table, TAVOLA_STR("state"), token, TAVOLA_STR("busy"),
//                              &attributes);
// if (tavola_compare_and_remove(table, TAVOLA_STR("state"), token) == TAVOLA_CHANGED) {
//   puts("it is busy now");
// }
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`: the table was made with `versions`, so the token does not follow from
// the value. At the first use of a table also the errors of mapping it.
tavola_status tavola_token_of(const struct tavola_table *table,
                              const void *value,
                              size_t value_len,
                              uint64_t *token);

// Does the same as `tavola_compare_and_swap`, and sets the attributes of the key. NULL for
// `attributes` means those of `tavola_set`.
//
// # Errors
// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
// Otherwise as `tavola_set_with`.
tavola_status tavola_compare_and_swap_with(const struct tavola_table *table,
                                           const void *key,
                                           size_t key_len,
                                           uint64_t token,
                                           const void *value,
                                           size_t value_len,
                                           const struct tavola_attributes *attributes);

// Removes a key if its value is still the one that `token` was read with.
//
// # Errors
// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
// Otherwise as `tavola_remove`.
//
// # Crash
// If the process is killed before the call returned, the whole key exists, or it does not.
tavola_status tavola_compare_and_remove(const struct tavola_table *table,
                                        const void *key,
                                        size_t key_len,
                                        uint64_t token);

// As `tavola_update`, of the key with this uid: `old` is never NULL. Its uid stays.
//
// # Examples
// ```c
// static int32_t reset(void *user, const void *old, size_t old_len, tavola_bytes *now) {
//   (void)user;
//   (void)old;
//   (void)old_len;
//   now->data = "0";
//   now->len = 1;
//   return TAVOLA_CHANGE_SET;
// }
//
// tavola_hint hint = 0;
// tavola_set_uid(table, TAVOLA_STR("counter"), TAVOLA_STR("5"), &hint);
// tavola_update_by_uid(table, hint, reset, NULL);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none now, as there was none, and `change` was not called, or as
// `change` removed it. Else as `tavola_set`.
//
// # Concurrency
// `change` is called holding no lock, and again when another process changed the key meanwhile, or
// removed it and the uid went to another key, unless the hint has a generation.
tavola_status tavola_update_by_uid(const struct tavola_table *table,
                                   tavola_hint hint,
                                   tavola_update_fn change,
                                   void *user);

// Gives again what the last `tavola_take` or `tavola_swap` of this thread that came to
// `TAVOLA_ERR_STOPPED` took from the table, and its callback did not take. It is kept until it is
// given, or the next is refused, or the thread ends.
//
// # Examples
// ```c
// static void *room(void *user, size_t len) {
//   return *(void **)user = malloc(len);
// }
//
// void *bytes = NULL;
// tavola_buffer value = TAVOLA_BUFFER_ALLOC(room, &bytes);
// tavola_set(table, TAVOLA_STR("job"), TAVOLA_STR("first"));
// if (tavola_take(table, TAVOLA_STR("job"), &value) == TAVOLA_ERR_STOPPED) {
//   puts("no memory for the value; try once more");
//   tavola_last_taken(&value);
// }
// free(bytes);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none, or it was given. `TAVOLA_ERR_TOO_SMALL`,
// `TAVOLA_ERR_STOPPED`: it is kept.
tavola_status tavola_last_taken(struct tavola_buffer *value);

// As `tavola_incr`, but a missing key becomes `*initial`, or stays missing when that is NULL.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it was not there, and `initial` is NULL. Else as `tavola_incr`.
tavola_status tavola_incr_from(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               uint64_t *now);

// As `tavola_decr`, but a missing key becomes `*initial`, or stays missing when that is NULL.
//
// # Errors
// As `tavola_incr_from`.
tavola_status tavola_decr_from(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               uint64_t *now);

// As `tavola_incr_from`; a key that was missing gets these attributes (NULL: those of
// `tavola_set`), any other keeps its own.
//
// # Errors
// As `tavola_incr_from` and `tavola_set_with`.
tavola_status tavola_incr_with(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               const struct tavola_attributes *attributes,
                               uint64_t *now);

// As `tavola_decr_from`; a key that was missing gets these attributes (NULL: those of
// `tavola_set`), any other keeps its own.
//
// # Errors
// As `tavola_incr_with`.
tavola_status tavola_decr_with(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               const struct tavola_attributes *attributes,
                               uint64_t *now);

// Does the same as `tavola_add_number`, with attributes for a key that is created, and the choice
// to remove a key whose number becomes 0. `options` and `now` may be NULL.
//
// # Errors
// As `tavola_add_number` and `tavola_set_with`.
//
// # Crash
// As `tavola_add_number`.
tavola_status tavola_add_number_with(const struct tavola_table *table,
                                     const void *key,
                                     size_t key_len,
                                     int64_t by,
                                     const struct tavola_number_options *options,
                                     int64_t *now);

// Reads the value of a key, its attributes, and its token for `tavola_compare_and_swap`; each may
// be NULL, and what is NULL costs nothing: without value and token, no value is copied.
//
// # Examples
// ```c
// char bytes[64];
// uint64_t token = 0;
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_attributes has = TAVOLA_INIT(tavola_attributes);
// tavola_set(table, TAVOLA_STR("user"), TAVOLA_STR("alice"));
// if (tavola_get_entry(table, TAVOLA_STR("user"), &value, &has, &token) == TAVOLA_OK) {
//   printf("%.*s, flags %u\n", (int)value.len, bytes, has.flags);
// }
// ```
//
// # Errors
// As `tavola_get`.
//
// # Concurrency
// As `tavola_get`; all three are of one moment.
tavola_status tavola_get_entry(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               struct tavola_buffer *value,
                               struct tavola_attributes *attributes,
                               uint64_t *token);

// As `tavola_touch`, and reads the value of the key, the attributes it had before (`had`), and its
// token; each of these may be NULL.
//
// # Errors
// As `tavola_touch`. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it needs;
// `TAVOLA_ERR_STOPPED`: the callback gave no room. The key has its new time after these two, too.
//
// # Concurrency
// The value is the one whose time was changed.
//
// # Crash
// As `tavola_touch`.
tavola_status tavola_get_and_touch(const struct tavola_table *table,
                                   const void *key,
                                   size_t key_len,
                                   const struct tavola_attributes *attributes,
                                   struct tavola_buffer *value,
                                   struct tavola_attributes *had,
                                   uint64_t *token);

// Tells the uid of a key, which gets one if it has none.
//
// # Examples
// ```c
// char bytes[64];
// tavola_hint hint = 0;
// tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_attributes has = TAVOLA_INIT(tavola_attributes);
// tavola_set_uid(table, TAVOLA_STR("user:alice"), TAVOLA_STR("1"), &hint);
// tavola_uid_of(table, TAVOLA_STR("user:alice"), &hint);
//
// tavola_get_by_uid(table, hint, &text);
// tavola_get_entry_by_uid(table, hint, &text, &has, NULL);
// tavola_set_by_uid(table, hint, TAVOLA_STR("2"));
// tavola_key_of_uid(table, hint, &text);
// tavola_remove_by_uid(table, hint);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key is not there. Else as `tavola_get`, and where the key has no uid yet
// as `tavola_set_uid`.
//
// # Crash
// Killed before it returned: the key has a uid or it has none.
tavola_status tavola_uid_of(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            tavola_hint *hint);

// Sets a key, as `tavola_set` does, gives it a uid if it has none, and tells that.
//
// # Errors
// As `tavola_set`; `TAVOLA_ERR_FULL` also when all uids of the key's shard are given out (2^32 a
// table, shared evenly by its shards); `TAVOLA_ERR_NO_UIDS`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_set_uid(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len,
                             tavola_hint *hint);

// Reads the value of the key with this uid, as `tavola_get` does that of a key.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none, or it is another key than the one that was meant. Else as
// `tavola_get`.
//
// # Concurrency
// As `tavola_get`; what is read by uid and what is read by key agree at every moment.
tavola_status tavola_get_by_uid(const struct tavola_table *table,
                                tavola_hint hint,
                                struct tavola_buffer *value);

// Reads the value of the key with this uid, its attributes and its token, as `tavola_get_entry`
// does those of a key; each may be NULL.
//
// # Errors
// As `tavola_get_by_uid`.
//
// # Concurrency
// As `tavola_get_by_uid`; all three are of one moment.
tavola_status tavola_get_entry_by_uid(const struct tavola_table *table,
                                      tavola_hint hint,
                                      struct tavola_buffer *value,
                                      struct tavola_attributes *attributes,
                                      uint64_t *token);

// Sets the value of the key with this uid, as `tavola_set` does that of a key: it lives as long as
// the table was made to let it, and its flags are 0, whatever it had. Its uid stays.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Else as `tavola_set`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_set_by_uid(const struct tavola_table *table,
                                tavola_hint hint,
                                const void *value,
                                size_t value_len);

// Removes the key with this uid.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Else as `tavola_remove`.
//
// # Crash
// As `tavola_remove`.
tavola_status tavola_remove_by_uid(const struct tavola_table *table, tavola_hint hint);

// Tells the key with this uid.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Else as `tavola_get`.
tavola_status tavola_key_of_uid(const struct tavola_table *table,
                                tavola_hint hint,
                                struct tavola_buffer *key);

// Does the same as `tavola_iter_next`, and returns the attributes of the key. `value` and
// `attributes` may be NULL.
//
// # Examples
// ```c
// tavola_iter *iter = NULL;
// tavola_bytes key, value;
// tavola_attributes has = TAVOLA_INIT(tavola_attributes);
// tavola_iter_open(table, &iter);
// while (tavola_iter_next_with_attributes(iter, &key, &value, &has) == TAVOLA_OK) {
//   printf("%.*s has flags %u\n", (int)key.len, (const char *)key.data, has.flags);
// }
// tavola_iter_close(iter);
// ```
//
// # Errors
// As `tavola_iter_next`.
tavola_status tavola_iter_next_with_attributes(struct tavola_iter *iter,
                                               struct tavola_bytes *key,
                                               struct tavola_bytes *value,
                                               struct tavola_attributes *attributes);

// How many bytes a cache may take, all told; 0: the table is no cache.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_capacity(const struct tavola_table *table, uint64_t *bytes);

// Changes how many bytes a cache may take, for all who use it; rounded down to 16 KiB. A smaller
// capacity is applied step by step, by the writes that follow, and by `tavola_maintain`, which
// does all that is left.
//
// # Examples
// ```c
// tavola_table *cache = NULL;
// uint64_t bytes = 0;
// tavola_options options = TAVOLA_INIT(tavola_options);
// options.max_size = 16 << 20;
// options.capacity = 8 << 20;
// tavola_open_private(&options, &cache);
// tavola_set_capacity(cache, 4 << 20);
// tavola_capacity(cache, &bytes);
// tavola_close(cache);
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` when the table is no cache, or cannot have so many;
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_set_capacity(const struct tavola_table *table, uint64_t bytes);

// Raises the most bytes that a table may grow to, for all who use it; rounded up to 16 KiB. A
// table can be raised to sixteen times the `max_size` that it was created with, as far as 256 GiB.
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` if it is less than now, or more than the table can be raised to;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` or `TAVOLA_ERR_IO` if the file cannot be made longer.
// Nothing has changed then.
tavola_status tavola_set_max_size(const struct tavola_table *table, uint64_t bytes);

// Watches a key for changes by any process, whether or not the key is there.
//
// # Examples
// ```c
// tavola_key_watch *watch = NULL;
// tavola_set(table, TAVOLA_STR("config"), TAVOLA_STR("1"));
// tavola_key_watch_open(table, TAVOLA_STR("config"), &watch);
// tavola_set(table, TAVOLA_STR("config"), TAVOLA_STR("2")); // as another process might
// if (tavola_key_watch_wait(watch, 10000) == TAVOLA_OK) {
//   puts("config has changed");
// }
// tavola_key_watch_close(watch);
// ```
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`: a watcher writes that it watches. `TAVOLA_ERR_FULL`: there is no memory
// for the records of watches.
//
// # Concurrency
// Without a watcher, a write of any process does one load more. With one, each write to the same
// shard compares eight records.
tavola_status tavola_key_watch_open(const struct tavola_table *table,
                                    const void *key,
                                    size_t key_len,
                                    struct tavola_key_watch **watch);

// Waits until the key has changed since the watch was opened, or since the last call that returned
// `TAVOLA_OK`: it was set, removed, evicted, or it expired. Several changes may be reported as
// one; the last one is never missed.
//
// # Errors
// `TAVOLA_TIMEOUT`: it has not changed within `timeout_ms` milliseconds. Otherwise as
// `tavola_get`.
//
// # Concurrency
// It may also return `TAVOLA_OK` without a change, so read the key afterwards.
//
// # Crash
// A change by a process that was killed right after it is reported within about a second.
tavola_status tavola_key_watch_wait(struct tavola_key_watch *watch, uint64_t timeout_ms);

// Ends a watch. NULL has no effect.
void tavola_key_watch_close(struct tavola_key_watch *watch);

// Sets a key with attributes and tags if it does not exist; see `tavola_set_tagged`.
//
// # Errors
// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set_tagged`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_add_tagged(const struct tavola_table *table,
                                const void *key,
                                size_t key_len,
                                const void *value,
                                size_t value_len,
                                const struct tavola_attributes *attributes,
                                const struct tavola_tags *tags);

// Tells the names of the tags that a key has, as it was at one moment. `TAVOLA_NOT_FOUND`: there
// is no such key.
//
// # Errors
// As `tavola_get`.
tavola_status tavola_tags_of(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             tavola_each_tag each,
                             void *user);

// As `tavola_get_many`, with what each key has beside its value.
//
// # Examples
// ```c
// static void found(void *user, size_t index, const void *value, size_t len,
//                   const tavola_attributes *has) {
//   (void)user;
//   (void)len;
//   if (value != NULL) {
//     printf("key %zu has flags %u\n", index, has->flags);
//   }
// }
//
// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
// minute.ttl_ms = 60 * 1000;
// const tavola_pair pairs[] = {{{"a", 1}, {"one", 3}}, {{"b", 1}, {"two", 3}}};
// const tavola_entry entries[] = {{{"c", 1}, {"three", 5}, &minute},
//                                 {{"d", 1}, {"four", 4}, NULL}};
// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
// tavola_set_many_with(table, pairs, 2, &minute);
// tavola_set_many_entries(table, entries, 2);
// tavola_get_many_entries(table, keys, 3, found, NULL);
// ```
//
// # Errors
// As `tavola_get_many`.
//
// # Concurrency
// As `tavola_get_many`; value and attributes are of one moment.
tavola_status tavola_get_many_entries(const struct tavola_table *table,
                                      const struct tavola_bytes *keys,
                                      size_t count,
                                      tavola_each_entry each,
                                      void *user);

// As `tavola_set_many`; all of them get these attributes; NULL: those of `tavola_set`.
//
// # Errors
// As `tavola_set_many` and `tavola_set_with`.
//
// # Concurrency
// As `tavola_set_many`.
tavola_status tavola_set_many_with(const struct tavola_table *table,
                                   const struct tavola_pair *pairs,
                                   size_t count,
                                   const struct tavola_attributes *attributes);

// As `tavola_set_many`; each gets attributes of its own.
//
// # Errors
// As `tavola_set_many` and `tavola_set_with`. Attributes that are none: none of the keys is set.
//
// # Concurrency
// As `tavola_set_many`.
tavola_status tavola_set_many_entries(const struct tavola_table *table,
                                      const struct tavola_entry *entries,
                                      size_t count);

// Has the memory fetched that calls on these keys will look at, so that they wait for it once and
// not one after the other: for calls of several kinds, which are to follow at once. It pays for
// some ten keys at a time. Calls that take arrays of keys, and batches, do so by themselves.
//
// # Errors
// Those of mapping the table, where this is its first use. A key that is NULL and has a length:
// nothing is fetched for any.
tavola_status tavola_prefetch(const struct tavola_table *table,
                              const struct tavola_bytes *keys,
                              size_t count);

// Makes an empty batch. It belongs to no table, and can be executed and cleared again and again.
//
// # Examples
// ```c
// const uint64_t first = 1;
// size_t at = 0;
// uint64_t number = 0;
// tavola_bytes value;
// tavola_batch *batch = NULL;
// tavola_attributes minute = TAVOLA_INIT(tavola_attributes);
// minute.ttl_ms = 60 * 1000;
//
// tavola_batch_open(&batch);
// tavola_batch_set(batch, TAVOLA_STR("a"), TAVOLA_STR("one"), NULL);
// tavola_batch_set_with(batch, TAVOLA_STR("b"), TAVOLA_STR("two"), &minute, NULL);
// tavola_batch_add_with(batch, TAVOLA_STR("c"), TAVOLA_STR("three"), &minute, NULL);
// tavola_batch_replace_with(batch, TAVOLA_STR("c"), TAVOLA_STR("four"), NULL, NULL);
// tavola_batch_touch(batch, TAVOLA_STR("a"), &minute, NULL);
// tavola_batch_remove(batch, TAVOLA_STR("b"), NULL);
// tavola_batch_incr_with(batch, TAVOLA_STR("hits"), 1, &first, NULL, NULL);
// tavola_batch_decr_with(batch, TAVOLA_STR("hits"), 1, &first, NULL, NULL);
// tavola_batch_get(batch, TAVOLA_STR("a"), &at);
// tavola_batch_execute(batch, table);
// if (tavola_batch_result(batch, at, &value) == TAVOLA_OK) {
//   printf("%.*s\n", (int)value.len, (const char *)value.data);
// }
// tavola_batch_attributes(batch, at, &minute);
// tavola_batch_number(batch, 6, &number);
// tavola_batch_clear(batch);
// tavola_batch_close(batch);
// ```
tavola_status tavola_batch_open(struct tavola_batch **batch);

// Prepares a read; `index`, unless it is NULL, gets its number for `tavola_batch_result` and
// `tavola_batch_attributes`: 0, 1, ...
tavola_status tavola_batch_get(struct tavola_batch *batch,
                               const void *key,
                               size_t key_len,
                               size_t *index);

// Prepares what `tavola_set` does; `index`, unless it is NULL, gets its number.
tavola_status tavola_batch_set(struct tavola_batch *batch,
                               const void *key,
                               size_t key_len,
                               const void *value,
                               size_t value_len,
                               size_t *index);

// Prepares what `tavola_set_with` does; `attributes` may be NULL: those of `tavola_set`. A
// `ttl_ms` counts from when it is executed. `index`, unless it is NULL, gets its number.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: two times, or a `ttl_ms` that is none.
tavola_status tavola_batch_set_with(struct tavola_batch *batch,
                                    const void *key,
                                    size_t key_len,
                                    const void *value,
                                    size_t value_len,
                                    const struct tavola_attributes *attributes,
                                    size_t *index);

// Prepares what `tavola_add_with` does; else as `tavola_batch_set_with`.
//
// # Errors
// As `tavola_batch_set_with`.
tavola_status tavola_batch_add_with(struct tavola_batch *batch,
                                    const void *key,
                                    size_t key_len,
                                    const void *value,
                                    size_t value_len,
                                    const struct tavola_attributes *attributes,
                                    size_t *index);

// Prepares what `tavola_replace_with` does; else as `tavola_batch_set_with`.
//
// # Errors
// As `tavola_batch_set_with`.
tavola_status tavola_batch_replace_with(struct tavola_batch *batch,
                                        const void *key,
                                        size_t key_len,
                                        const void *value,
                                        size_t value_len,
                                        const struct tavola_attributes *attributes,
                                        size_t *index);

// Prepares what `tavola_remove` does; `index`, unless it is NULL, gets its number.
tavola_status tavola_batch_remove(struct tavola_batch *batch,
                                  const void *key,
                                  size_t key_len,
                                  size_t *index);

// Prepares what `tavola_incr_with` does; `index`, unless it is NULL, gets its number for
// `tavola_batch_number`.
//
// # Errors
// As `tavola_batch_set_with`.
tavola_status tavola_batch_incr_with(struct tavola_batch *batch,
                                     const void *key,
                                     size_t key_len,
                                     uint64_t by,
                                     const uint64_t *initial,
                                     const struct tavola_attributes *attributes,
                                     size_t *index);

// Prepares what `tavola_decr_with` does; else as `tavola_batch_incr_with`.
//
// # Errors
// As `tavola_batch_set_with`.
tavola_status tavola_batch_decr_with(struct tavola_batch *batch,
                                     const void *key,
                                     size_t key_len,
                                     uint64_t by,
                                     const uint64_t *initial,
                                     const struct tavola_attributes *attributes,
                                     size_t *index);

// Prepares what `tavola_touch` does; `index`, unless it is NULL, gets its number.
//
// # Errors
// As `tavola_batch_set_with`, and where there are flags.
tavola_status tavola_batch_touch(struct tavola_batch *batch,
                                 const void *key,
                                 size_t key_len,
                                 const struct tavola_attributes *attributes,
                                 size_t *index);

// Executes what was prepared, in order: a read finds what a write before it in the batch has set.
//
// # Errors
// As the functions that the operations are named after; those before the one that failed are done.
//
// # Concurrency
// Each operation has a moment of its own; others may see some of them before the rest.
tavola_status tavola_batch_execute(struct tavola_batch *batch, const struct tavola_table *table);

// What an operation came to: what its function returns. `value`, unless it is NULL, gets what was
// read, lent until the batch is executed, changed or closed; of a write: nothing.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is no such key. `TAVOLA_EXISTS`: it was to be added, and was there.
// `TAVOLA_ERR_ARGUMENT`: there is no such number, or it was not executed.
tavola_status tavola_batch_result(const struct tavola_batch *batch,
                                  size_t index,
                                  struct tavola_bytes *value);

// What the key of a read has beside its value, as it was when that was executed.
//
// # Errors
// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT`: also when it was no read.
tavola_status tavola_batch_attributes(const struct tavola_batch *batch,
                                      size_t index,
                                      struct tavola_attributes *attributes);

// The number that a counter came to.
//
// # Errors
// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT`: also when nothing was counted.
tavola_status tavola_batch_number(const struct tavola_batch *batch, size_t index, uint64_t *number);

// Makes a batch empty; its memory is kept for what is prepared next.
tavola_status tavola_batch_clear(struct tavola_batch *batch);

// Closes a batch. NULL is none.
void tavola_batch_close(struct tavola_batch *batch);

// The value of a key, or the lease to compute it: of all that ask for a key that is missing, one
// gets the lease, in whichever process; the others wait, or, where the value is stale only, go on
// with that. See also `tavola_get_or_compute`, which does all this.
//
// `value` gets the value after `TAVOLA_LEASE_HIT`, `TAVOLA_LEASE_STALE` and
// `TAVOLA_LEASE_STALE_WON`, and after `TAVOLA_LEASE_FAILED` what was told of it. `lease` gets a
// lease to fill after `TAVOLA_LEASE_WON` and `TAVOLA_LEASE_STALE_WON`, one to wait for after
// `TAVOLA_LEASE_WAIT`, else NULL; it is closed in each case by `tavola_lease_close`.
//
// A value is stored by `tavola_lease_fill` to expire when it is neither fresh nor stale any more.
// One that was set otherwise is stale when it has no more than `stale_ms` to live, and fresh as
// long as it does not expire. `tavola_remove` ends the lease of a key, too: what is computed from
// what was before is not stored.
//
// # Examples
// ```c
// char bytes[256];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_leased leased = TAVOLA_INIT(tavola_leased);
// tavola_lease *lease = NULL;
// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
// options.fresh_ms = 60 * 1000;
// tavola_get_or_lease(table, TAVOLA_STR("page"), &options, &value, &leased, &lease);
// if (leased.outcome == TAVOLA_LEASE_WON || leased.outcome == TAVOLA_LEASE_STALE_WON) {
//   if (!tavola_lease_is_recorded(lease)) {
//     puts("other processes may compute the value, too");
//   }
//   if (tavola_lease_fill(lease, TAVOLA_STR("<p>hello</p>")) == TAVOLA_LEASE_LOST) {
//     puts("not stored: it took too long, or the key was changed");
//   }
// } else if (leased.outcome == TAVOLA_LEASE_WAIT) {
//   tavola_lease_wait(lease, 1000);
// }
// tavola_lease_close(lease);
// ```
//
// # Errors
// As `tavola_get`; where what was to go to `value` has no room, the lease is given up.
// `TAVOLA_ERR_ARGUMENT`: `options` do not say how long a value is fresh. `TAVOLA_ERR_BAD_OPTION`:
// one is out of its bounds; also in a table of fixed lengths, whose items have no room for a time.
// Where a lease was to be won: `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL`, when the file system has
// no room for the first lease of a table; at a process's first write as `tavola_set`.
//
// # Concurrency
// A hit takes no lock and writes nothing, nor does who finds the lease another's.
//
// # Crash
// The lease of a process that has died is won by the next that asks for it.
tavola_status tavola_get_or_lease(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const struct tavola_lease_options *options,
                                  struct tavola_buffer *value,
                                  struct tavola_leased *leased,
                                  struct tavola_lease **lease);

// Stores the value and ends the lease: who waits for it gets the value.
//
// # Errors
// `TAVOLA_LEASE_LOST`: nothing is stored, for the lease has passed on, as its time was over; or
// the key was removed or set meanwhile; or this is a forked child. `TAVOLA_ERR_ARGUMENT`: the
// lease is another's, or has ended before. Else as `tavola_set`; the lease is given up then.
//
// # Crash
// Killed before it returned: the value is there, or the lease passes on.
tavola_status tavola_lease_fill(struct tavola_lease *lease, const void *value, size_t value_len);

// As `tavola_lease_fill`, with tags, which are to be taken before the value is computed: see
// `tavola_fetch_tags`. NULL: none.
//
// # Examples
// ```c
// char bytes[256];
// const tavola_bytes names[] = {{"home", 4}};
// tavola_tags tags = TAVOLA_INIT(tavola_tags);
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_leased leased = TAVOLA_INIT(tavola_leased);
// tavola_lease *lease = NULL;
// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
// options.fresh_ms = 60 * 1000;
// tavola_fetch_tags(table, names, 1, &tags);
// tavola_get_or_lease(table, TAVOLA_STR("page"), &options, &value, &leased, &lease);
// if (leased.outcome == TAVOLA_LEASE_WON) {
//   tavola_lease_fill_tagged(lease, TAVOLA_STR("<p>hello</p>"), &tags);
// }
// tavola_lease_close(lease);
//
// lease = NULL;
// tavola_get_or_lease(table, TAVOLA_STR("other"), &options, &value, &leased, &lease);
// if (leased.outcome == TAVOLA_LEASE_WON) {
//   tavola_lease_fail(lease, 1000, TAVOLA_STR("the database does not answer"));
// }
// tavola_lease_close(lease);
// ```
//
// # Errors
// As `tavola_lease_fill`.
//
// # Crash
// As `tavola_lease_fill`.
tavola_status tavola_lease_fill_tagged(struct tavola_lease *lease,
                                       const void *value,
                                       size_t value_len,
                                       const struct tavola_tags *tags);

// Ends the lease without a value. For `back_off_ms`, an hour at most, nobody wins it again: who
// asks gets the stale value where there is one, else is told `TAVOLA_LEASE_FAILED` with `error`,
// of which 88 bytes are kept.
//
// # Errors
// `TAVOLA_LEASE_LOST`: it had passed on. `TAVOLA_ERR_ARGUMENT`: the lease is another's, or has
// ended before. Else as `tavola_remove`.
//
// # Crash
// Killed before it returned: others are told, or the lease passes on.
tavola_status tavola_lease_fail(struct tavola_lease *lease,
                                uint64_t back_off_ms,
                                const void *error,
                                size_t error_len);

// Sleeps until a lease that another has (`TAVOLA_LEASE_WAIT`) has ended, or its owner has died, or
// the key is there: ask for it again.
//
// # Errors
// `TAVOLA_TIMEOUT`: the time was up before. `TAVOLA_ERR_ARGUMENT`: the lease is the caller's own.
// Else as `tavola_get`.
//
// # Concurrency
// Who ends the lease wakes all that sleep. That its owner has died they find out themselves,
// within some 10 ms.
tavola_status tavola_lease_wait(struct tavola_lease *lease, uint64_t timeout_ms);

// Whether others know of a lease of the caller's. False: so many keys of its shard are being
// computed at once that there is no record left. Then others may compute this value, too, and a
// fill may store nothing because another key was removed or changed meanwhile. False also of one
// that has ended, or is another's.
bool tavola_lease_is_recorded(const struct tavola_lease *lease);

// Closes a lease. One that was neither filled nor failed is given up, and another may win it at
// once. NULL is none.
void tavola_lease_close(struct tavola_lease *lease);

// As `tavola_get_or_compute`, of a value that gets tags of these names, see `tavola_set_tagged`.
// They are taken before it is computed: if one is invalidated meanwhile, the value is returned,
// but missing for who asks next. A value that is there already keeps the tags it has.
//
// # Errors
// As `tavola_get_or_compute`; where the value is to be computed, as `tavola_fetch_tags`, too.
//
// # Concurrency
// As `tavola_get_or_compute`.
//
// # Crash
// As `tavola_get_or_compute`.
tavola_status tavola_get_or_compute_tagged(const struct tavola_table *table,
                                           const void *key,
                                           size_t key_len,
                                           const struct tavola_lease_options *options,
                                           const struct tavola_bytes *tags,
                                           size_t tag_count,
                                           tavola_compute_fn compute,
                                           void *user,
                                           struct tavola_buffer *value);

// Waits until `count` processes, or threads, have called this with the same table and key; then
// all return. The key is a counter of those that have come: it may be used again by as many. It
// lives for ever, whatever the table's `ttl_ms`.
//
// # Examples
// ```c
// if (tavola_barrier_wait(table, TAVOLA_STR("start"), 1, 5000) == TAVOLA_TIMEOUT) {
//   puts("the other processes did not come within 5 seconds");
// }
// ```
//
// # Errors
// `TAVOLA_TIMEOUT`: they have not come within `timeout_ms`; the caller is not counted any more.
// `TAVOLA_ERR_ARGUMENT`: `count` is 0. Else as `tavola_incr`; a table of fixed lengths has no
// counters.
//
// # Concurrency
// Who waits for long naps between two looks, for 100 us: of four processes on two processors, the
// last returned 130 us after the first, in the median of 50 races. Who has to wait for a processor
// returns so much later.
//
// # Crash
// Who is killed while it waits stays counted; remove the key before the next race.
tavola_status tavola_barrier_wait(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  uint32_t count,
                                  uint64_t timeout_ms);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_TABLE_H

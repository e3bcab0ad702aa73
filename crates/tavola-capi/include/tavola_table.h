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

// For `ttl_ms`: a key lives as long as the table says, see `tavola_options`.
#define TAVOLA_TTL_DEFAULT 0

// For `ttl_ms`: a key lives forever.
#define TAVOLA_TTL_NEVER -1

// How many tags a key can have.
#define TAVOLA_MOST_TAGS 16

// For `back_off_ms`: the next call after an error tries again at once.
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
  // Nothing was changed: another process has changed a key that the transaction had read.
  TAVOLA_CONFLICT = 8,
  // Nothing was changed: the function of the transaction has aborted it.
  TAVOLA_ABORTED = 9,
  // The lock or permit was taken, and the one that had it before died with it: what it guards
  // may be half changed.
  TAVOLA_OWNER_DIED = 10,
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
  // There is no file of that name: no table, pool, log or constant file.
  TAVOLA_ERR_NO_TABLE = -10,
  // A file of that name exists already: a table, pool or log.
  TAVOLA_ERR_TABLE_EXISTS = -11,
  // There is no room: `max_size` is reached, the file system is full, or a constant file would
  // be larger than its format allows. The table is intact.
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
  // The caller does not hold the element or lock.
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
  // A transaction changes more than 65,536 keys.
  TAVOLA_ERR_TOO_MANY_CHANGES = -35,
  // The disk of a durable table failed. The change was made, but may not survive a power
  // failure; or it was refused, as the disk had failed before. Reads go on.
  TAVOLA_ERR_NOT_DURABLE = -36,
  // The key has more than 8192 bytes, which keys of a durable table may not have.
  TAVOLA_ERR_KEY_TOO_LONG = -37,
  // The files of a durable table are damaged.
  TAVOLA_ERR_DAMAGED_JOURNAL = -38,
  // The table is in the shared memory of processes that this one cannot reach.
  TAVOLA_ERR_IN_USE_ELSEWHERE = -39,
  // The file is damaged, or is not one that `tavola_save` has written, or has a newer format.
  TAVOLA_ERR_NOT_RESTORABLE = -40,
  // The file is not a constant file, or only the beginning of one.
  TAVOLA_ERR_NOT_CONSTANT = -41,
  // The constant file was shortened, or could not be read, while it was open.
  TAVOLA_ERR_FILE_LOST = -42,
  // An earlier write to the new constant file failed, so it cannot be finished.
  TAVOLA_ERR_WRITE_FAILED = -43,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_status tavola_status;
#else
typedef int32_t tavola_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The meaning of a returned write for a power failure.
enum tavola_durable
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The table is in memory only.
  TAVOLA_DURABLE_NONE = 0,
  // The change is on disk.
  TAVOLA_DURABLE_COMMIT = 1,
  // The change is on disk after `sync_ms` at most, as long as a process has the table open for
  // writing; a forked child does not count, and opens the table itself.
  TAVOLA_DURABLE_WITHIN = 2,
  // The change is on disk when the system has written it.
  TAVOLA_DURABLE_OS = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_durable tavola_durable;
#else
typedef int32_t tavola_durable;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What `tavola_update` does with a key.
enum tavola_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value stays as it is. A key that does not exist is not created.
  TAVOLA_CHANGE_KEEP = 0,
  // The key gets the bytes that the callback returned.
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

// With whom a table goes. After the end of its owner the name leads to nothing: the next process
// that opens or lists the table removes it. Processes that have it open can use it until they
// close it.
enum tavola_lives_with
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The table stays until it is removed.
  TAVOLA_LIVES_WITH_NOBODY = 0,
  // It goes with a process, see `owner_pid`.
  TAVOLA_LIVES_WITH_PROCESS = 1,
  // It goes with the last process that has it open for writing. A forked child counts from its
  // first write on.
  TAVOLA_LIVES_WITH_LAST_USER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_lives_with tavola_lives_with;
#else
typedef int32_t tavola_lives_with;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An iterator over the keys of a table, for one thread at a time.
typedef struct tavola_iter tavola_iter;

// A table. Threads may share it.
typedef struct tavola_table tavola_table;

// Returns memory for a result of `len` bytes, which the library writes there before the call
// returns. If it returns NULL, the call returns `TAVOLA_ERR_STOPPED`, unless `len` is 0. It is
// called once, with the exact length, after everything else that can fail, and not at all without
// a result. It must not change the `tavola_buffer` of the call.
typedef void *(*tavola_alloc_fn)(void *user, size_t len);

// Takes a result: `len` bytes, which are lent until it returns. If it does not return 0, the call
// returns `TAVOLA_ERR_STOPPED`. It is called when `tavola_alloc_fn` would be.
typedef int32_t (*tavola_write_fn)(void *user, const void *data, size_t len);

// Says where a result goes: to a buffer,
//
// `tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);`
//
// or to memory that `alloc` returns, for runtimes that create a string with its length,
//
// `static void *begin(void *user, size_t len) { return bytes_of(*(string **)user = make(len)); }`
// `tavola_buffer value = TAVOLA_BUFFER_ALLOC(begin, &string);`
//
// or to `write`, for runtimes that create a string from bytes:
//
// `static int32_t push(void *L, const void *b, size_t n) { lua_pushlstring(L, b, n); return 0; }`
// `tavola_buffer value = TAVOLA_BUFFER_WRITE(push, L);`
// `tavola_status status = tavola_get(table, key, key_len, &value);`
typedef struct tavola_buffer {
  // The buffer, or NULL to ask only for the length.
  void *data;
  // How many bytes the buffer has room for.
  size_t capacity;
  // The call sets it to the length of the result, also if the result is longer than `capacity`
  // (`TAVOLA_ERR_TOO_SMALL`) and was not copied.
  size_t len;
  // If not NULL, the library calls it and does not use the buffer.
  tavola_alloc_fn alloc;
  // If not NULL, the library calls it and uses neither `alloc` nor the buffer.
  tavola_write_fn write;
  // Passed to the callbacks.
  void *user;
} tavola_buffer;

// Options of a table. A field that is 0 means the default. Begin with `tavola_options options =
// TAVOLA_INIT(tavola_options);`.
typedef struct tavola_options {
  // `sizeof(tavola_options)`.
  size_t size;
  // The most bytes that a new table may grow to, 1 MiB to 4 TiB. The default is 64 GiB on tmpfs
  // and 4 GiB on other file systems, or twice the `capacity` if that is more. This reserves
  // addresses and no memory. A table that exists keeps its own; see `tavola_set_max_size`.
  uint64_t max_size;
  // The mode of the file of a new table, whatever the umask; 0600 by default.
  uint32_t mode;
  // The shards of a new table, a power of two from 1 to 1024. The default follows from
  // `max_size` or `capacity`.
  uint32_t shards;
  // If not 0: all keys of a new table have this length, and each takes 8 bytes less.
  uint32_t fixed_key;
  // The length of all values of such a table.
  uint32_t fixed_value;
  // 1: every key that this handle stores gets a uid. 0: only keys that a uid is asked for. A
  // table of fixed lengths has uids only if it is created with 1.
  uint32_t uids;
  // 1: this handle may start one thread, which calls `tavola_maintain` from time to time.
  uint32_t background;
  // How many milliseconds the keys of a new table live after they were set, if they have no time
  // of their own (`tavola_attributes`); forever by default. Not with fixed lengths.
  uint64_t ttl_ms;
  // Makes a new table a cache of so many bytes in all: keys, values, the index, free memory. If
  // it has no room for a key, it evicts others, first those that were not read. 0: not a cache,
  // and a full table is an error. A table that exists stays what it is; see
  // `tavola_set_capacity`.
  uint64_t capacity;
  // 1: each key of a new table has a version, which changes each time that the key is set or its
  // value is changed. The token of a key is then its version and not a hash of its value. It
  // takes 8 bytes for each key, and no value is changed in place. Not with fixed lengths. A
  // table that exists keeps its own.
  uint32_t versions;
  // 1: core dumps of this process include the table's bytes.
  uint32_t core_dumps;
  // 1: opens tables of any owner, wherever they are. 0: in a directory where everybody may
  // create files, such as `/tmp`, tables and symbolic links of other users except root are
  // refused with `TAVOLA_ERR_PERMISSION`.
  uint32_t any_owner;
  // The group of a new table's file, by its number; nobody sees the file with another group. The
  // mode is then 0660 unless `mode` is set. 0: the group of a directory that has the setgid
  // bit, else that of the process. If the user is not in the group, creating the table fails
  // with `TAVOLA_ERR_PERMISSION`.
  uint32_t group_id;
  // One of `tavola_durable`: whether a new table survives a restart of the machine, and when a
  // change is on disk. The name of a durable table is the path of a directory, which is created
  // if it is missing. A durable table that exists keeps its policy, unless this one is stricter:
  // then it is that of this handle.
  int32_t durable;
  // The time of `TAVOLA_DURABLE_WITHIN`, in milliseconds; 0 means 50.
  uint32_t sync_ms;
  // One of `tavola_lives_with`: with whom a new table goes. Not with `durable`. A table that
  // exists keeps its own.
  int32_t lives_with;
  // The process of `TAVOLA_LIVES_WITH_PROCESS`, by its number; 0: this process.
  uint32_t owner_pid;
} tavola_options;

// Bytes that are lent.
typedef struct tavola_bytes {
  // The first; NULL only where `len` is 0.
  const void *data;
  // How many.
  size_t len;
} tavola_bytes;

// What a key has beside its value. After the time at which it expires, the key is missing for all
// processes. Begin with `tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);`, which
// means the same as NULL: the key lives as long as the table says, and its flags are 0. As an
// argument, only one of `ttl_ms` and `expires_unix_ms` may be set; as a result, both are set. The
// table measures times with a clock that nobody can set, so a change of the wall clock does not
// affect existing keys. The clock has a resolution of 1 to 10 ms. After the machine was restarted,
// a table on a disk uses the wall clock of that moment. The clock stands still while the machine
// sleeps: after 8 hours of sleep, keys that were stored before live 8 hours longer.
typedef struct tavola_attributes {
  // `sizeof(tavola_attributes)`.
  size_t size;
  // How many milliseconds the key lives from now on, at most a thousand years, or
  // `TAVOLA_TTL_DEFAULT` or `TAVOLA_TTL_NEVER`. As a result: the milliseconds that are left, at
  // least 1, or `TAVOLA_TTL_NEVER`.
  int64_t ttl_ms;
  // If not 0: when the key expires, in milliseconds since 1970 by the current wall clock; at
  // once if this has passed. As a result: the same time as `ttl_ms`, or 0 for never.
  uint64_t expires_unix_ms;
  // Any number; the table stores it and does not use it.
  uint32_t flags;
  // Must be 0.
  uint32_t reserved;
} tavola_attributes;

// A uid in the low 32 bits, and its generation in the high 32 bits. A key keeps its uid, which is
// never 0, as long as it lives. When the key is removed, another key may get the uid; the
// generation distinguishes them. A plain uid with a generation of 0 stands for the key that has it
// now.
typedef uint64_t tavola_hint;

// Handles of tags, from `tavola_fetch_tags`. `tavola_tags tags = TAVOLA_INIT(tavola_tags);` means
// no tags.
typedef struct tavola_tags {
  // `sizeof(tavola_tags)`.
  size_t size;
  // How many tags there are.
  uint64_t count;
  // The handles.
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

// Gets the old value, which is lent until it returns and is NULL if the key does not exist.
// Returns one of `tavola_change`. The bytes in `now` must stay valid until the next call of this
// function or the end of `tavola_update`.
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

// Called with the value of the key at this position, which is lent until it returns. `value` is
// NULL if the key does not exist.
typedef void (*tavola_each_value)(void *user, size_t index, const void *value, size_t value_len);

// A key with its value.
typedef struct tavola_pair {
  // The key.
  struct tavola_bytes key;
  // The value.
  struct tavola_bytes value;
} tavola_pair;

// How long a value is fresh, how long a stale value may be served, and how long a computation may
// take. Begin with `tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);` and set at
// least `fresh_ms`.
typedef struct tavola_lease_options {
  // `sizeof(tavola_lease_options)`.
  size_t size;
  // How many milliseconds a value is fresh after it was stored, at most a thousand years. 0 only
  // with a `stale_ms`: the value is stale at once.
  uint64_t fresh_ms;
  // How many milliseconds after that a value is stale: it exists, and is served while one
  // process computes it again.
  uint64_t stale_ms;
  // How long the computation may take, up to an hour; 10 s by default. After that another
  // process may get the lease, and the value of the first is refused. If a process dies, the
  // others do not wait for so long.
  uint64_t lease_ms;
  // How long after an error of `tavola_get_or_compute` no process tries again, up to an hour; 1
  // s by default, or `TAVOLA_NO_BACK_OFF`.
  int64_t back_off_ms;
  // Lets a process now and then compute a value before it is stale. This becomes more likely as
  // that time comes nearer, and with the duration of the computation (XFetch). 1 is a good
  // value, more is earlier, 0 is never. The low 16 bits of the key's flags
  // then hold the duration.
  double early_beta;
} tavola_lease_options;

// Computes the value of a key. It returns 0 and the bytes of the value in `value`, or another
// number and an error text, of which the other processes get 88 bytes. The bytes must stay valid
// until the end of `tavola_get_or_compute`.
typedef int32_t (*tavola_compute_fn)(void *user, struct tavola_bytes *value);

// Opens a table, and creates it if it does not exist. A name stands for a file in the directory of
// tables (see `tavola_names_directory`); a name with a `/` is a path. `options` may be NULL.
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
// `TAVOLA_ERR_NOT_A_TABLE`, `TAVOLA_ERR_VERSION` and `TAVOLA_ERR_ENDIANNESS` if the file is not a
// table that this library can use; `TAVOLA_ERR_BAD_NAME`, `TAVOLA_ERR_BAD_OPTION`,
// `TAVOLA_ERR_PERMISSION`, `TAVOLA_ERR_FULL`, `TAVOLA_ERR_IO`.
//
// # Concurrency
// If several processes do this at once, one creates the table, and all open that one.
tavola_status tavola_open(const char *name,
                          const struct tavola_options *options,
                          struct tavola_table **table);

// Opens a table that exists.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`; otherwise as `tavola_open`.
tavola_status tavola_open_existing(const char *name,
                                   const struct tavola_options *options,
                                   struct tavola_table **table);

// Opens a table for reading only, with a mapping that cannot be written to.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`; otherwise as `tavola_open`.
tavola_status tavola_open_read_only(const char *name,
                                    const struct tavola_options *options,
                                    struct tavola_table **table);

// Closes a table. The process is no longer a participant of it. NULL has no effect.
void tavola_close(struct tavola_table *table);

// Reads the value of a key. Bytes of the buffer after the value, or all if there is none, stay as
// they are, or become 0 if another value was there meanwhile.
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
// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
// room the value needs. `TAVOLA_ERR_CORRUPT`: bytes of the table contradict each other.
//
// # Concurrency
// Takes no lock and writes nothing, so it never waits for a writer, even one that is stopped or
// dead. The value is one that was set as a whole. There are two exceptions from "writes nothing".
// In a cache, the call marks the key as read if the table is open for writing and the lock of the
// shard is free at that moment. And the call notes which pages it reads if the value has more than
// about 16 KB, unless the handle is read-only: such a value is copied once, whatever is written
// meanwhile. With the first such note the process becomes a participant.
tavola_status tavola_get(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         struct tavola_buffer *value);

// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
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

// Reads many keys: calls `each` once for each key, in order.
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
// As `tavola_get`; `each` was called for the keys before the one that failed. If a key is NULL and
// its length is not 0, `each` is not called at all.
//
// # Concurrency
// Each key is read as by `tavola_get`, each at its own moment.
tavola_status tavola_get_many(const struct tavola_table *table,
                              const struct tavola_bytes *keys,
                              size_t count,
                              tavola_each_value each,
                              void *user);

// Sets a key, whether or not it exists. The key gets the time of the table and the flags 0, and
// loses the attributes and tags that it had.
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
// `TAVOLA_ERR_CORRUPT`, `TAVOLA_ERR_REENTRANT`, `TAVOLA_ERR_BUSY`; the old value then stays. The
// first write of a process may also return `TAVOLA_ERR_TOO_MANY_PARTICIPANTS` and `TAVOLA_ERR_IO`.
//
// # Concurrency
// Other processes see the whole old value or the whole new one.
//
// # Crash
// If the process is killed before the call returned, the key has the old value or the new one.
tavola_status tavola_set(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         const void *value,
                         size_t value_len);

// Sets a key with attributes. NULL for `attributes` means those of `tavola_set`. The key loses the
// attributes and tags that it had.
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
// As `tavola_set`. `TAVOLA_ERR_ARGUMENT`: two times, or an invalid `ttl_ms`.
// `TAVOLA_ERR_BAD_OPTION`: a time or flags in a table of fixed lengths, which has no room for
// them.
//
// # Concurrency
// As `tavola_set`. Value and attributes change together.
//
// # Crash
// As `tavola_set`, for value and attributes together.
tavola_status tavola_set_with(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              const void *value,
                              size_t value_len,
                              const struct tavola_attributes *attributes);

// Sets a key only if it does not exist.
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
// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set`.
tavola_status tavola_add(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         const void *value,
                         size_t value_len);

// Sets a key only if it exists.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set`.
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
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set`, without
// `TAVOLA_ERR_FULL`.
//
// # Crash
// If the process is killed before the call returned, the whole key exists, or it does not.
tavola_status tavola_remove(const struct tavola_table *table, const void *key, size_t key_len);

// Sets many keys, in order. With `TAVOLA_DURABLE_COMMIT` this waits for the disk once, at its end,
// as all calls do that change many keys.
//
// # Errors
// As `tavola_set`; the pairs before the one that failed are set. If a key or value is NULL and its
// length is not 0, no key is set.
//
// # Concurrency
// Each pair is set as by `tavola_set`. Other processes may see some of them before the rest.
tavola_status tavola_set_many(const struct tavola_table *table,
                              const struct tavola_pair *pairs,
                              size_t count);

// Removes a key and returns the value that it had.
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
// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much
// room the value needs, and the key stays. `TAVOLA_ERR_STOPPED`: the callback gave no memory or
// refused the value; the key is removed, and `tavola_last_taken` returns the value. Otherwise as
// `tavola_remove`.
//
// # Concurrency
// If several processes take a key at once, one of them gets its value.
tavola_status tavola_take(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          struct tavola_buffer *value);

// Sets a key as `tavola_set` does, and returns the value that it had.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key did not exist, and is set now. `TAVOLA_ERR_TOO_SMALL`: `old->len`
// says how much room the old value needs, and the key stays as it is. `TAVOLA_ERR_STOPPED`: the
// callback gave no memory or refused the old value; the key is set, and `tavola_last_taken`
// returns the old value. Otherwise as `tavola_set`.
tavola_status tavola_swap(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          const void *value,
                          size_t value_len,
                          struct tavola_buffer *old);

// Changes a value atomically: `change` gets the old value and returns the new one. The key keeps
// its attributes and tags.
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
// `TAVOLA_NOT_FOUND`: the key does not exist now. Otherwise as `tavola_set`.
//
// # Concurrency
// The call holds no lock while it calls `change`. If another process changes the key meanwhile, it
// calls `change` again.
tavola_status tavola_update(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            tavola_update_fn change,
                            void *user);

// Reads the value of a key, and its token for `tavola_compare_and_swap`: a hash of the value. A
// value that was changed and changed back has its old token, unless the table was made with
// `versions`; then the token changes each time that the key is set.
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

// Adds to a counter, and writes the sum to `now`, which may be NULL. A key that does not exist
// counts as 0. After 2^64 - 1 the counter begins at 0 again. A counter reads as decimal text, and
// decimal text can be counted on. In a table of fixed lengths whose values have 8 bytes, each
// value is a counter, a `uint64_t`.
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
// `TAVOLA_ERR_NOT_A_COUNTER`; `TAVOLA_ERR_LENGTHS` in a table of fixed lengths whose values do not
// have 8 bytes. Otherwise as `tavola_set`.
//
// # Crash
// If the process is killed before the call returned, the number was added once or not at all.
tavola_status tavola_incr(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          uint64_t by,
                          uint64_t *now);

// Subtracts from a counter, down to 0, and writes the result to `now`, which may be NULL. A key
// that does not exist becomes 0.
//
// # Errors
// As `tavola_incr`.
tavola_status tavola_decr(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          uint64_t by,
                          uint64_t *now);

// Adds `by` to a signed number, and writes the sum to `now`, which may be NULL. A key that does
// not exist counts as 0 and is created. The value is decimal text, such as `-3`; in a table of
// fixed lengths whose values have 8 bytes, it is an `int64_t`.
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

// Returns how many milliseconds a key will still live: at least 1, or `TAVOLA_TTL_NEVER`.
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

// Changes when a key expires, to the time of `attributes`, whose flags must be 0. NULL means the
// time of the table, counted from now. The key keeps its value and its flags.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_ERR_ARGUMENT`: flags. Otherwise as
// `tavola_set_with`. A table of fixed lengths returns `TAVOLA_ERR_BAD_OPTION` for every time.
//
// # Crash
// If the process is killed before the call returned, the key has the old time or the new one.
tavola_status tavola_touch(const struct tavola_table *table,
                           const void *key,
                           size_t key_len,
                           const struct tavola_attributes *attributes);

// Lets a key live forever.
//
// # Errors
// As `tavola_touch`.
//
// # Crash
// As `tavola_touch`.
tavola_status tavola_persist(const struct tavola_table *table, const void *key, size_t key_len);

// Returns the handles of the tags of these names, for `tavola_set_tagged`. A tag that does not
// exist is created. Fetch the handles *before* you load the source data of a value: if a tag is
// invalidated while you compute the value, the key is then missing from the beginning. This also
// happens if a cache evicts the tag meanwhile, which it does if no key was set or read with it for
// a while; so do not keep handles for long.
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
// `TAVOLA_ERR_BAD_OPTION`: more than `TAVOLA_MOST_TAGS` names, a name of more than 4096 bytes, or
// a table of fixed lengths. If a tag is created, also as `tavola_set`.
//
// # Concurrency
// Takes no lock if all tags exist.
//
// # Crash
// If the process is killed before the call returned, some of the tags may exist.
tavola_status tavola_fetch_tags(const struct tavola_table *table,
                                const struct tavola_bytes *names,
                                size_t count,
                                struct tavola_tags *tags);

// Sets a key with attributes and tags. The key is missing as soon as one of its tags is
// invalidated. NULL for `tags` means no tags. The next set without tags takes them from the key,
// as it does with attributes; changes of the value (`tavola_update`, `tavola_append`,
// `tavola_incr`) and `tavola_touch` keep them.
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

// Invalidates a tag: from this moment all keys that have it are missing, for all processes. This
// takes the same time for any number of keys. Their memory is reclaimed like that of expired keys.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is no such tag, and so no key that has it. Otherwise as
// `tavola_remove`.
//
// # Crash
// If the process is killed before the call returned, all of these keys exist, or none.
tavola_status tavola_invalidate_tag(const struct tavola_table *table,
                                    const void *name,
                                    size_t name_len);

// Returns the value of a key. If it is missing or stale, one of all processes that ask for it
// computes it with `compute`; the others sleep, or get the stale value. See `tavola_get_or_lease`.
//
// The call returns a computed value even if it could not be stored because the table is full, or
// was not stored because the computation took longer than the lease.
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
// `TAVOLA_ERR_COMPUTE`: this process has just failed to compute the value, or another one a moment
// ago; `tavola_last_error` returns the reason. `TAVOLA_ERR_TOO_SMALL` and `TAVOLA_ERR_STOPPED`:
// the value may be stored, but was not returned. Otherwise as `tavola_get_or_lease`. A table
// without room for leases is not an error: the process computes without one.
//
// # Concurrency
// The call holds no lock while it calls `compute`, and calls it at most once. `compute` must not
// ask for the same key, because it would wait for itself. A process waits as long as others
// compute, each for at most its lease.
//
// # Crash
// If the process is killed in `compute`, another process computes the value.
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

// Returns how many keys the table has. Keys that have expired or lost a tag count until they are
// removed.
//
// # Errors
// At the first use of a table, the errors of mapping it.
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

// Removes the file of a table. Processes that have it open keep it until they close it. Of a
// durable table, it removes the files and the directory; processes that have it open cannot write
// any more.
//
// # Errors
// `TAVOLA_ERR_NO_TABLE`. `TAVOLA_ERR_NOT_A_TABLE`: the file is not a table, and stays.
// `TAVOLA_ERR_BAD_OPTION`: it is the memory of a durable table, which stays, too.
// `TAVOLA_ERR_PERMISSION`: also for the table of another user in a directory where everybody may
// create files.
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

// What exists of a key, and which process computes its value.
enum tavola_lease_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value exists and is fresh.
  TAVOLA_LEASE_HIT = 0,
  // The value is stale and may still be served. Another process computes it again, or has failed
  // to a moment ago.
  TAVOLA_LEASE_STALE = 1,
  // The value is stale, or soon will be, and may still be served. The caller has the lease to
  // compute it again.
  TAVOLA_LEASE_STALE_WON = 2,
  // There is no value. The caller has the lease to compute it.
  TAVOLA_LEASE_WON = 3,
  // There is no value yet. Another process computes it.
  TAVOLA_LEASE_WAIT = 4,
  // There is no value. A process failed to compute it a moment ago.
  TAVOLA_LEASE_FAILED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_lease_outcome tavola_lease_outcome;
#else
typedef int32_t tavola_lease_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a transaction begins.
enum tavola_begin
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // At once. Its commit finds out whether a key that it has read was changed since.
  TAVOLA_BEGIN_OPTIMISTIC = 0,
  // When it has the turn of the table, which one transaction has at a time. Transactions that
  // all begin so never conflict with each other.
  TAVOLA_BEGIN_TURN = 1,
  // At once, and it writes nothing.
  TAVOLA_BEGIN_READ_ONLY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_begin tavola_begin;
#else
typedef int32_t tavola_begin;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Operations that were prepared, to be executed together; for one thread at a time.
typedef struct tavola_batch tavola_batch;

// A watch of one key, for one thread at a time. It keeps the table open.
typedef struct tavola_key_watch tavola_key_watch;

// The lease to compute the value of a key, or, after `TAVOLA_LEASE_WAIT`, another process's lease.
// For one thread at a time. It keeps the table open.
typedef struct tavola_lease tavola_lease;

// A transaction. For the thread that began it. It keeps the table open.
typedef struct tavola_txn tavola_txn;

// A value that the table lends without a copy.
typedef struct tavola_view tavola_view;

// Called with a name, path or sentence: `len` bytes and a NUL, which are lent until it returns.
typedef void (*tavola_each_text)(void *user, const char *text, size_t len);

// The state of a durable table's journal. Begin with
// `tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);`.
typedef struct tavola_durable_stats {
  // `sizeof(tavola_durable_stats)`.
  size_t size;
  // The policy of the table, one of `tavola_durable`; a handle may have a stricter one, see
  // `tavola_durability`.
  int32_t durable;
  // The time of `TAVOLA_DURABLE_WITHIN`, in milliseconds; 0 for other policies.
  uint32_t sync_ms;
  // Bytes of the journal since the last snapshot, which a rebuild reads.
  uint64_t journal_bytes;
  // Bytes that are in memory only: not written to the files yet.
  uint64_t unwritten_bytes;
  // Bytes that would not survive a power failure now. They include `unwritten_bytes`.
  uint64_t unsynced_bytes;
  // How often the journal was synced since the memory of the table was made.
  uint64_t syncs;
  // How many nanoseconds all of these syncs took.
  uint64_t sync_ns;
  // When the last snapshot was made, in milliseconds since 1970; 0 if there is none.
  uint64_t snapshot_unix_ms;
  // The bytes of the last snapshot.
  uint64_t snapshot_bytes;
  // The error number of the system for which the journal has failed; 0 if it has not.
  uint64_t failed_errno;
} tavola_durable_stats;

// The numbers of a `tavola_save`.
typedef struct tavola_saved {
  // `sizeof(tavola_saved)`.
  size_t size;
  // Keys in the file.
  uint64_t keys;
  // Bytes of the file.
  uint64_t bytes;
} tavola_saved;

// The numbers of a `tavola_restore`: where the keys of the file went.
typedef struct tavola_restored {
  // `sizeof(tavola_restored)`.
  size_t size;
  // Keys that were set.
  uint64_t keys;
  // Keys that the table had already, and kept.
  uint64_t present;
  // Keys that have expired.
  uint64_t expired;
  // Keys that have lost a tag.
  uint64_t invalidated;
  // Keys for which the table has no room.
  uint64_t left_out;
} tavola_restored;

// Called with the name of a tag: any bytes, which are lent until it returns.
typedef void (*tavola_each_tag)(void *user, const void *name, size_t name_len);

// The function of a transaction. It returns 0 to commit what it has done in `txn`, and another
// number to abort. It must not close `txn`.
typedef int32_t (*tavola_txn_fn)(void *user, struct tavola_txn *txn);

// Called with the value and the attributes of the key at this position, which are lent until it
// returns. `value` is NULL if the key does not exist.
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

// The result of `tavola_get_or_lease`. Begin with `tavola_leased leased =
// TAVOLA_INIT(tavola_leased);`.
typedef struct tavola_leased {
  // `sizeof(tavola_leased)`.
  size_t size;
  // What exists.
  tavola_lease_outcome outcome;
  // The flags of the value, or 0 if there is none. With `early_beta`, their low 16 bits hold how
  // long the value took to compute.
  uint32_t flags;
  // After `TAVOLA_LEASE_WAIT`: how many milliseconds the other process still has. After
  // `TAVOLA_LEASE_FAILED`: after how many milliseconds a process may try again. Otherwise 0.
  uint64_t left_ms;
} tavola_leased;

// Returns the directory of named tables: `TAVOLA_DIR`, or `/dev/shm/tavola-UID`.
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
// tavola_names_rename("carts", "old carts");
// ```
tavola_status tavola_names_directory(struct tavola_buffer *path);

// Returns the file that a name stands for. A name with a `/` is a path already.
//
// # Errors
// `TAVOLA_ERR_BAD_NAME`: the name is empty, has more than 200 bytes, begins with a dot, or has
// control characters.
tavola_status tavola_names_path_of(const char *name, struct tavola_buffer *path);

// Calls `each` with the path of each table in the directory, sorted. It includes tables that this
// process must not read; to open them returns the reason. A durable table whose memory is in the
// directory is listed by the path of its own directory.
//
// # Errors
// `TAVOLA_ERR_IO`, `TAVOLA_ERR_PERMISSION`. A directory that does not exist holds no tables.
tavola_status tavola_names_list(tavola_each_text each, void *user);

// Returns why processes may not see each other's writes to this table: because of its file system
// (overlayfs, a network file system, FUSE). The sentence says what to do.
//
// # Errors
// `TAVOLA_NOT_FOUND`: they see each other's writes, and there is no warning.
// `TAVOLA_ERR_BAD_NAME`.
tavola_status tavola_names_warning(const char *name, struct tavola_buffer *warning);

// Removes a table even if another user owns it and everybody may create files in its directory.
// `tavola_names_remove` refuses this.
//
// # Errors
// As `tavola_names_remove`.
tavola_status tavola_names_remove_any_owner(const char *name);

// Renames a table atomically: other processes find it under the old or the new name. Processes
// that have it open can continue to use it. A symbolic link is renamed, not its target. The
// directory of a durable table is renamed only if no process has it open.
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`: a table has the new name already, and does not change.
// `TAVOLA_ERR_NOT_A_TABLE`: a file of either name is not a table. `TAVOLA_ERR_NO_TABLE`.
// `TAVOLA_ERR_IO`: the new name is on another file system; `tavola_copy` copies it there.
// `TAVOLA_ERR_PERMISSION`: as of `tavola_names_remove`.
//
// # Crash
// The table has one of the names. On a file system without `renameat2` it may have both.
tavola_status tavola_names_rename(const char *from, const char *to);

// Creates a table.
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
// `TAVOLA_ERR_TABLE_EXISTS`; otherwise as `tavola_open`.
//
// # Crash
// The table appears complete or not at all.
tavola_status tavola_create(const char *name,
                            const struct tavola_options *options,
                            struct tavola_table **table);

// Creates a table in the memory of this process: without a file, invisible to other processes, and
// freed when it is closed. For tests. It allocates all of `max_size` at once.
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

// Opens a table again with the same options if its file was removed or replaced (`mv new live`, a
// logout): an open handle keeps the file that it has opened. `*table` is then the new handle, and
// the old one is closed as by `tavola_close`, so no other thread may be using it. `*moved`, which
// may be NULL, says whether the handle has changed. If nothing has changed, this costs one system
// call.
//
// A handle that writes checks this itself, at most once a second, and sends a notice
// (`tavola_on_notice`); it does not change over by itself.
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
// `TAVOLA_ERR_NO_TABLE` if there is no table of that name any more; otherwise as
// `tavola_open_existing`. The handle then stays as it is.
tavola_status tavola_refresh(struct tavola_table **table, int *moved);

// Sends notices of the library to `each`, and no longer to standard error. A notice says, for
// example, that an open table has lost its name; it has one or two sentences, without a newline.
// The thread that noticed it calls `each`, in the middle of a call, but while it holds no lock. If
// `each` is NULL, notices are dropped. Any thread may pass `user` to `each`.
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

// Returns the path of the table's file, which is lent until the table is closed.
const char *tavola_path(const struct tavola_table *table);

// Returns whether the table was opened for reading only.
bool tavola_is_read_only(const struct tavola_table *table);

// Lends the value of a key without a copy. The value stays as it is until `tavola_view_close`,
// even if the key is written meanwhile, and the table stays open until then.
//
// Only a value of more than about 16 KB is lent where it is, in one or more pieces. A shorter
// value is copied. A value is also copied if the table is open for reading only, if the process
// cannot become a participant, and if six views and reads of large values are under way with this
// handle.
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
// As `tavola_get`, without `TAVOLA_ERR_TOO_SMALL`.
//
// # Concurrency
// As `tavola_get`. Writers do not wait: if the value is overwritten or removed, its pages stay in
// use until the view is closed, and the next write frees them. In a forked child, only close a
// view of the parent.
//
// # Crash
// Pages that a dead process had in a view are reclaimed with its other resources.
tavola_status tavola_get_view(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              struct tavola_view **view);

// Returns how many bytes the value has.
size_t tavola_view_len(const struct tavola_view *view);

// Returns one of the pieces of the value, in order, from 0 on. It is lent until the view is
// closed.
//
// # Errors
// `TAVOLA_END`: there are no more pieces.
tavola_status tavola_view_piece(const struct tavola_view *view,
                                size_t number,
                                struct tavola_bytes *piece);

// Closes a view, after which its bytes must not be used. NULL has no effect.
void tavola_view_close(struct tavola_view *view);

// Sets a key with attributes only if it does not exist. NULL for `attributes` means those of
// `tavola_set`.
//
// # Errors
// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set_with`.
tavola_status tavola_add_with(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              const void *value,
                              size_t value_len,
                              const struct tavola_attributes *attributes);

// Sets a key with attributes only if it exists. NULL for `attributes` means those of `tavola_set`.
// The key loses the attributes and tags that it had.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_set_with`.
tavola_status tavola_replace_with(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes);

// Adds bytes after the value. The key keeps its attributes. See `tavola_append_with` for a call
// that creates the key.
//
// # Examples
// ```c
// size_t len = 0;
// tavola_append_with(table, TAVOLA_STR("list"), TAVOLA_STR("b,"), NULL, &len);
// tavola_append(table, TAVOLA_STR("list"), TAVOLA_STR("c,"));
// tavola_prepend(table, TAVOLA_STR("list"), TAVOLA_STR("a,"));
// tavola_prepend_with(table, TAVOLA_STR("stack"), TAVOLA_STR("top,"), NULL, &len);
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

// Adds bytes before the value, and writes the new length to `now_len`, which may be NULL. A key
// that does not exist is created with these attributes (NULL: those of `tavola_set`); a key that
// exists keeps its own.
//
// # Errors
// As `tavola_set_with`.
tavola_status tavola_prepend_with(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const void *more,
                                  size_t more_len,
                                  const struct tavola_attributes *attributes,
                                  size_t *now_len);

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

// Changes the value of the key with this uid, as `tavola_update` does. `old` is never NULL, and
// the uid stays.
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
// `TAVOLA_NOT_FOUND`: no key has the uid, and `change` was not called; or `change` has removed the
// key. Otherwise as `tavola_set`.
//
// # Concurrency
// As `tavola_update`. If the hint has no generation and the uid goes to another key meanwhile,
// `change` is called again for that key.
tavola_status tavola_update_by_uid(const struct tavola_table *table,
                                   tavola_hint hint,
                                   tavola_update_fn change,
                                   void *user);

// Returns the value that the last `tavola_take` or `tavola_swap` of this thread removed and could
// not return (`TAVOLA_ERR_STOPPED`). The value is kept until this call has returned it, or until
// the next one is refused, or until the thread ends.
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
// `TAVOLA_NOT_FOUND`: there is no such value. `TAVOLA_ERR_TOO_SMALL`, `TAVOLA_ERR_STOPPED`: the
// value is still kept.
tavola_status tavola_last_taken(struct tavola_buffer *value);

// Does the same as `tavola_incr`, but a key that does not exist becomes `*initial`, or is not
// created if `initial` is NULL.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist, and `initial` is NULL. Otherwise as `tavola_incr`.
tavola_status tavola_incr_from(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               uint64_t *now);

// Does the same as `tavola_decr`, but a key that does not exist becomes `*initial`, or is not
// created if `initial` is NULL.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist, and `initial` is NULL. Otherwise as `tavola_decr`.
tavola_status tavola_decr_from(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               uint64_t by,
                               const uint64_t *initial,
                               uint64_t *now);

// Does the same as `tavola_incr_from`. A key that is created gets these attributes (NULL: those of
// `tavola_set`); any other key keeps its own.
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

// Does the same as `tavola_decr_from`. A key that is created gets these attributes (NULL: those of
// `tavola_set`); any other key keeps its own.
//
// # Errors
// As `tavola_decr_from` and `tavola_set_with`.
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

// Reads the value of a key, its attributes, and its token for `tavola_compare_and_swap`. Each of
// the three may be NULL, and then costs nothing: without value and token, no value is copied.
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
// As `tavola_get`. All three are of the same moment.
tavola_status tavola_get_entry(const struct tavola_table *table,
                               const void *key,
                               size_t key_len,
                               struct tavola_buffer *value,
                               struct tavola_attributes *attributes,
                               uint64_t *token);

// Changes when a key expires, as `tavola_touch` does, and reads its value, the attributes that it
// had before (`had`), and its token. Each of these three may be NULL.
//
// # Errors
// As `tavola_touch`. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room the value needs.
// `TAVOLA_ERR_STOPPED`: the callback gave no memory. After these two the key has its new time,
// too.
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

// Returns the uid of a key, and gives it one if it has none.
//
// # Examples
// ```c
// char bytes[64];
// tavola_hint hint = 0;
// tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_attributes has = TAVOLA_INIT(tavola_attributes), hour = TAVOLA_INIT(tavola_attributes);
// uint64_t now = 0;
// hour.ttl_ms = 60 * 60 * 1000;
// tavola_set_uid(table, TAVOLA_STR("user:alice"), TAVOLA_STR("1"), &hint);
// tavola_uid_of(table, TAVOLA_STR("user:alice"), &hint);
//
// tavola_get_by_uid(table, hint, &text);
// tavola_get_entry_by_uid(table, hint, &text, &has, NULL);
// tavola_set_by_uid(table, hint, TAVOLA_STR("2"));
// tavola_incr_by_uid(table, hint, 10, &now);
// tavola_decr_by_uid(table, hint, 2, NULL);
// tavola_touch_by_uid(table, hint, &hour);
// tavola_key_of_uid(table, hint, &text);
// tavola_remove_by_uid(table, hint);
// ```
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`, and as `tavola_set_uid`
// if the key has no uid yet.
//
// # Crash
// If the process is killed before the call returned, the key has a uid or it has none.
tavola_status tavola_uid_of(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            tavola_hint *hint);

// Sets a key as `tavola_set` does, and returns its uid. A key without a uid gets one.
//
// # Errors
// As `tavola_set`; `TAVOLA_ERR_FULL` also if no uid of the key's shard is free (a table has 2^32,
// divided evenly among its shards); `TAVOLA_ERR_NO_UIDS`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_set_uid(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len,
                             tavola_hint *hint);

// Reads the value of the key with this uid, as `tavola_get` does.
//
// # Errors
// `TAVOLA_NOT_FOUND`: no key has this uid, or another key than the one that was meant. Otherwise
// as `tavola_get`.
//
// # Concurrency
// As `tavola_get`. Reads by uid and reads by key agree at every moment.
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
// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_set`.
//
// # Crash
// As `tavola_set`.
tavola_status tavola_set_by_uid(const struct tavola_table *table,
                                tavola_hint hint,
                                const void *value,
                                size_t value_len);

// Adds to the counter of the key with this uid, as `tavola_incr` does, and writes the sum to
// `now`, which may be NULL.
//
// # Errors
// `TAVOLA_NOT_FOUND`: no key has this uid; none is created. Otherwise as `tavola_incr`.
//
// # Crash
// As `tavola_incr`.
tavola_status tavola_incr_by_uid(const struct tavola_table *table,
                                 tavola_hint hint,
                                 uint64_t by,
                                 uint64_t *now);

// Subtracts from the counter of the key with this uid, as `tavola_decr` does, and writes the
// result to `now`, which may be NULL.
//
// # Errors
// As `tavola_incr_by_uid`.
//
// # Crash
// As `tavola_incr`.
tavola_status tavola_decr_by_uid(const struct tavola_table *table,
                                 tavola_hint hint,
                                 uint64_t by,
                                 uint64_t *now);

// Changes when the key with this uid expires, as `tavola_touch` does.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_touch`.
//
// # Crash
// As `tavola_touch`.
tavola_status tavola_touch_by_uid(const struct tavola_table *table,
                                  tavola_hint hint,
                                  const struct tavola_attributes *attributes);

// Removes the key with this uid.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_remove`.
//
// # Crash
// As `tavola_remove`.
tavola_status tavola_remove_by_uid(const struct tavola_table *table, tavola_hint hint);

// Returns the key with this uid.
//
// # Errors
// `TAVOLA_NOT_FOUND`: there is none. Otherwise as `tavola_get`.
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

// Returns how many bytes a cache may take, in all; 0 if the table is not a cache.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_capacity(const struct tavola_table *table, uint64_t *bytes);

// Changes how many bytes a cache may take, for all processes; rounded down to 16 KiB. Later writes
// apply a smaller capacity step by step; `tavola_maintain` applies all that is left.
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
// `TAVOLA_ERR_BAD_OPTION` if the table is not a cache, or cannot have so many bytes;
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_set_capacity(const struct tavola_table *table, uint64_t bytes);

// Raises the most bytes that a table may grow to, for all who use it; rounded up to 16 KiB. A
// table can be raised to sixteen times the `max_size` that it was created with, as far as 64 GiB.
//
// # Examples
// ```c
// tavola_options options = TAVOLA_INIT(tavola_options);
// tavola_table *orders = NULL;
// options.max_size = 16 << 20;
// tavola_open("orders", &options, &orders);
// tavola_set_max_size(orders, 64 << 20);
// tavola_close(orders);
// tavola_names_remove("orders");
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` if it is less than now, or more than the table can be raised to;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` or `TAVOLA_ERR_IO` if the file cannot be made longer.
// Nothing has changed then.
tavola_status tavola_set_max_size(const struct tavola_table *table, uint64_t bytes);

// Returns whether the table is durable: it survives a restart of the machine. `false` also if it
// cannot be read.
//
// # Examples
// ```c
// tavola_options options = TAVOLA_INIT(tavola_options);
// tavola_table *users = NULL;
// options.durable = TAVOLA_DURABLE_WITHIN;
// options.sync_ms = 20;
// if (tavola_open("./users", &options, &users) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// tavola_set(users, TAVOLA_STR("alice"), TAVOLA_STR("admin"));
// if (tavola_is_durable(users) && tavola_sync(users) == TAVOLA_OK) {
//   puts("alice survives a power failure");
// }
// if (tavola_durability(users, NULL) != TAVOLA_DURABLE_COMMIT) {
//   puts("writes do not wait for the disk");
// }
// tavola_snapshot(users, NULL);
// tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
// if (tavola_get_durable_stats(users, &stats) == TAVOLA_OK) {
//   printf("%llu syncs\n", (unsigned long long)stats.syncs);
// }
// tavola_close(users);
// tavola_names_remove("./users");
// ```
bool tavola_is_durable(const struct tavola_table *table);

// Returns when the changes of this handle are on disk: the policy of the table, or a stricter one
// with which the handle was opened. `sync_ms`, which may be NULL, gets the time of
// `TAVOLA_DURABLE_WITHIN`, and 0 for other policies. Returns `TAVOLA_DURABLE_NONE` if the table is
// not durable, if the handle is open read-only, or if the table cannot be read.
//
// With `TAVOLA_DURABLE_COMMIT` each call that changes the table waits for the disk. So do other
// work meanwhile, or change many keys in one call.
tavola_durable tavola_durability(const struct tavola_table *table, uint32_t *sync_ms);

// Returns when all changes of all processes that were made before survive a power failure. Call it
// before you report what another process has written.
//
// # Errors
// `TAVOLA_ERR_NOT_DURABLE`: the disk failed. `TAVOLA_ERR_BAD_OPTION`: the table is not durable.
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_sync(const struct tavola_table *table);

// Writes a snapshot of a durable table, and removes what the journal does not need any more.
// `made`, which may be NULL, gets 1; or 0 if another process is just writing a snapshot. Snapshots
// are also made automatically. If the disk had failed, one that succeeds lets writes go on.
//
// # Errors
// `TAVOLA_ERR_FULL`: it does not fit on the disk; `TAVOLA_ERR_IO`: it could not be written;
// otherwise as `tavola_sync`.
//
// # Concurrency
// Other processes can write meanwhile.
//
// # Crash
// The snapshot is there whole, or not at all.
tavola_status tavola_snapshot(const struct tavola_table *table, uint32_t *made);

// Writes the state of a durable table's journal to `stats`. A handle that is open read-only may
// ask, too.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the table is not durable. Otherwise as `tavola_get`.
//
// # Concurrency
// The numbers are read one after the other, while other processes write.
tavola_status tavola_get_durable_stats(const struct tavola_table *table,
                                       struct tavola_durable_stats *stats);

// Writes all keys to a file, from which `tavola_restore` sets them again: after a restart of the
// machine, or in another table. The file has each key with its value, flags, tags, marks, version
// and the time at which it expires. Only its owner may read it. It gets its name when it is
// complete and on disk, and replaces a file of that name; until then it is called `PATH.new`.
// `saved` may be NULL.
//
// # Examples
// ```c
// tavola_options options = TAVOLA_INIT(tavola_options);
// tavola_restored restored = TAVOLA_INIT(tavola_restored);
// tavola_table *pages = NULL;
// options.capacity = 4 << 20;
// if (tavola_open("pages", &options, &pages) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// tavola_set(pages, TAVOLA_STR("/"), TAVOLA_STR("<p>hello</p>"));
// if (tavola_save(pages, "./pages.saved", NULL) == TAVOLA_OK) {
//   tavola_restore(pages, "./pages.saved", &restored);
//   printf("%d were there\n", (int)restored.present);
// }
// remove("./pages.saved");
// tavola_close(pages);
// tavola_names_remove("pages");
// ```
//
// # Errors
// `TAVOLA_ERR_IO`: it could not be written, or another process is writing it; a file that had the
// name is unchanged. `TAVOLA_ERR_NOT_A_TABLE`: a queue pool or a log. `TAVOLA_ERR_CORRUPT`.
//
// # Concurrency
// No writer waits. The file has each key as it was at some moment meanwhile.
//
// # Crash
// The file has its earlier content or the new one, also after a power failure.
tavola_status tavola_save(const struct tavola_table *table,
                          const char *path,
                          struct tavola_saved *saved);

// Sets all keys of a file that `tavola_save` has written, and which the table lacks: a key that it
// has already is newer, and stays. The whole file is checked before the first key is set. A cache
// that is smaller than the file takes the keys that eviction would remove last. `restored`, which
// may be NULL, gets what became of the keys of the file.
//
// # Errors
// `TAVOLA_ERR_NOT_RESTORABLE`: the file is damaged, or is not such a file, or has a newer format;
// `TAVOLA_ERR_LENGTHS`: the table has other fixed lengths; `TAVOLA_ERR_IO`: the file cannot be
// read. Nothing was changed then. `TAVOLA_ERR_READ_ONLY`. A full table is not an error, see
// `left_out` of the struct.
//
// # Concurrency
// Each key appears on its own, and never replaces what others have set meanwhile.
//
// # Crash
// Some of the keys are set, each of them whole.
tavola_status tavola_restore(const struct tavola_table *table,
                             const char *path,
                             struct tavola_restored *restored);

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

// Calls `each` with the name of each tag that a key has, as of one moment.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`.
tavola_status tavola_tags_of(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             tavola_each_tag each,
                             void *user);

// Begins a transaction: it collects writes, of which no other process sees anything before
// `tavola_txn_commit`. `begin` is one of `tavola_begin`. `tavola_transaction` does all of it, and
// begins again after a conflict.
//
// # Examples
// ```c
// tavola_txn *txn = NULL;
// int64_t left = 0;
// tavola_status status = TAVOLA_CONFLICT;
// tavola_set(table, TAVOLA_STR("alice"), TAVOLA_STR("10"));
// while (status == TAVOLA_CONFLICT) {
//   tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
//   tavola_txn_add_number(txn, TAVOLA_STR("alice"), -4, &left);
//   tavola_txn_add_number(txn, TAVOLA_STR("bob"), 4, NULL);
//   if (left < 0) {
//     tavola_txn_abort(txn);
//     break;
//   }
//   status = tavola_txn_commit(txn);
// }
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`: the table is a cache, which may evict a key at any moment.
// `TAVOLA_ERR_REENTRANT`: this thread has the turn already. With the turn also as `tavola_set`.
tavola_status tavola_txn_begin(const struct tavola_table *table,
                               int32_t begin,
                               struct tavola_txn **txn);

// Reads the value of a key, with the writes of the transaction, and its attributes if `attributes`
// is not NULL.
//
// # Examples
// ```c
// char bytes[64];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_txn *txn = NULL;
// tavola_txn_begin(table, TAVOLA_BEGIN_READ_ONLY, &txn);
// if (tavola_txn_get(txn, TAVOLA_STR("user"), &value, NULL) == TAVOLA_NOT_FOUND &&
//     tavola_txn_contains(txn, TAVOLA_STR("guest")) == TAVOLA_NOT_FOUND) {
//   puts("at one moment, neither of them exists");
// }
// tavola_txn_commit(txn);
// ```
//
// # Errors
// As `tavola_get`.
tavola_status tavola_txn_get(struct tavola_txn *txn,
                             const void *key,
                             size_t key_len,
                             struct tavola_buffer *value,
                             struct tavola_attributes *attributes);

// Returns `TAVOLA_OK` if the key exists, and `TAVOLA_NOT_FOUND` if it does not.
//
// # Errors
// As `tavola_contains`.
tavola_status tavola_txn_contains(struct tavola_txn *txn, const void *key, size_t key_len);

// Sets a key, whether or not it exists.
//
// # Examples
// ```c
// tavola_attributes hour = TAVOLA_INIT(tavola_attributes);
// tavola_txn *txn = NULL;
// hour.ttl_ms = 60 * 60 * 1000;
// tavola_txn_begin(table, TAVOLA_BEGIN_TURN, &txn);
// tavola_txn_set(txn, TAVOLA_STR("name"), TAVOLA_STR("alice"));
// tavola_txn_set_with(txn, TAVOLA_STR("session"), TAVOLA_STR("7"), &hour, NULL);
// if (tavola_txn_add(txn, TAVOLA_STR("name"), TAVOLA_STR("bob")) == TAVOLA_EXISTS) {
//   tavola_txn_replace(txn, TAVOLA_STR("name"), TAVOLA_STR("carol"));
// }
// tavola_txn_append(txn, TAVOLA_STR("name"), TAVOLA_STR(" smith"));
// tavola_txn_remove(txn, TAVOLA_STR("old"));
// tavola_txn_commit(txn);
// ```
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`: the transaction writes nothing. `TAVOLA_ERR_TOO_MANY_CHANGES`: it
// changes more than 65,536 keys. Otherwise `TAVOLA_ERR_TOO_LARGE` and `TAVOLA_ERR_LENGTHS`, as
// `tavola_set`.
tavola_status tavola_txn_set(struct tavola_txn *txn,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len);

// Sets a key with attributes and tags. Each of the two may be NULL.
//
// # Errors
// As `tavola_txn_set` and `tavola_set_tagged`.
tavola_status tavola_txn_set_with(struct tavola_txn *txn,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes,
                                  const struct tavola_tags *tags);

// Sets a key only if it does not exist.
//
// # Errors
// `TAVOLA_EXISTS`: it exists. Otherwise as `tavola_txn_set`.
tavola_status tavola_txn_add(struct tavola_txn *txn,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len);

// Sets a key only if it exists.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it does not. Otherwise as `tavola_txn_set`.
tavola_status tavola_txn_replace(struct tavola_txn *txn,
                                 const void *key,
                                 size_t key_len,
                                 const void *value,
                                 size_t value_len);

// Appends bytes to a value. The key keeps its attributes.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist, and is not created. Otherwise as `tavola_txn_set`.
tavola_status tavola_txn_append(struct tavola_txn *txn,
                                const void *key,
                                size_t key_len,
                                const void *more,
                                size_t more_len);

// Removes a key.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it does not exist. Otherwise as `tavola_txn_set`.
tavola_status tavola_txn_remove(struct tavola_txn *txn, const void *key, size_t key_len);

// Adds `by` to a signed number, as `tavola_add_number` does. `now` may be NULL.
//
// # Errors
// As `tavola_add_number` and `tavola_txn_set`.
tavola_status tavola_txn_add_number(struct tavola_txn *txn,
                                    const void *key,
                                    size_t key_len,
                                    int64_t by,
                                    int64_t *now);

// Sets a savepoint and writes its number to `savepoint`: `tavola_txn_roll_back_to` undoes what
// comes after it.
//
// # Examples
// ```c
// uint32_t before = 0;
// tavola_txn *txn = NULL;
// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
// tavola_txn_set(txn, TAVOLA_STR("a"), TAVOLA_STR("1"));
// tavola_txn_savepoint(txn, &before);
// tavola_txn_set(txn, TAVOLA_STR("b"), TAVOLA_STR("2"));
// tavola_txn_roll_back_to(txn, before);
// tavola_txn_commit(txn);
// ```
tavola_status tavola_txn_savepoint(struct tavola_txn *txn, uint32_t *savepoint);

// Undoes all writes since a savepoint, and forgets the savepoints after it.
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`: the transaction has no such savepoint any more; nothing is undone.
tavola_status tavola_txn_roll_back_to(struct tavola_txn *txn, uint32_t savepoint);

// Commits a transaction, and closes it whatever is returned: all changes happen at once, or none.
//
// # Errors
// `TAVOLA_CONFLICT`: another process has changed a key after this transaction had read it. Nothing
// happens, and the caller may begin again. Otherwise as `tavola_set`; nothing is changed then.
//
// # Concurrency
// Takes the locks of the shards of all keys. Readers do not wait: they see all changes or none.
//
// # Crash
// If the process is killed before the call returned, all keys are changed or none.
tavola_status tavola_txn_commit(struct tavola_txn *txn);

// Commits a transaction as `tavola_txn_commit` does, but does not close it: after
// `TAVOLA_ERR_BUSY` the caller may try again. `tavola_txn_abort` closes it.
//
// # Examples
// ```c
// tavola_txn *txn = NULL;
// tavola_status status = TAVOLA_ERR_BUSY;
// tavola_set_lock_timeout(table, 50);
// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
// tavola_txn_set(txn, TAVOLA_STR("name"), TAVOLA_STR("alice"));
// while ((status = tavola_txn_try_commit(txn)) == TAVOLA_ERR_BUSY) {
//   puts("another process keeps a lock");
// }
// tavola_txn_abort(txn);
// ```
//
// # Errors
// As `tavola_txn_commit`.
//
// # Concurrency
// As `tavola_txn_commit`.
//
// # Crash
// As `tavola_txn_commit`.
tavola_status tavola_txn_try_commit(struct tavola_txn *txn);

// Returns `TAVOLA_OK` if the transaction has seen all keys as they were at one moment, and
// `TAVOLA_CONFLICT` if not: then a failure that follows from what it has read does not count.
//
// # Examples
// ```c
// tavola_txn *txn = NULL;
// bool has_both = false;
// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
// has_both = tavola_txn_contains(txn, TAVOLA_STR("a")) == TAVOLA_OK &&
//            tavola_txn_contains(txn, TAVOLA_STR("b")) == TAVOLA_OK;
// if (!has_both && tavola_txn_validate(txn) == TAVOLA_OK) {
//   puts("at one moment, one of them was missing");
// }
// tavola_txn_abort(txn);
// ```
//
// # Errors
// As `tavola_view_keys`.
//
// # Concurrency
// Takes the locks of the shards of all keys that were read.
tavola_status tavola_txn_validate(struct tavola_txn *txn);

// Closes a transaction without doing anything. NULL has no effect, and neither has the transaction
// of a function that runs: to abort that, return another number than 0.
void tavola_txn_abort(struct tavola_txn *txn);

// Runs a function that reads and changes several keys, and commits what it has done: all changes
// happen at once. If another process has changed a key that the function has read, the function
// runs again; so it must do nothing that cannot be repeated.
//
// # Examples
// ```c
// static int32_t move(void *user, tavola_txn *txn) {
//   int64_t left = 0;
//   (void)user;
//   tavola_txn_add_number(txn, TAVOLA_STR("alice"), -4, &left);
//   tavola_txn_add_number(txn, TAVOLA_STR("bob"), 4, NULL);
//   return left < 0;
// }
//
// static int32_t look(void *user, tavola_txn *txn) {
//   *(bool *)user = tavola_txn_contains(txn, TAVOLA_STR("alice")) == TAVOLA_OK &&
//                   tavola_txn_contains(txn, TAVOLA_STR("bob")) == TAVOLA_OK;
//   return 0;
// }
//
// bool has_both = false;
// tavola_set(table, TAVOLA_STR("alice"), TAVOLA_STR("10"));
// if (tavola_transaction(table, move, NULL) == TAVOLA_ABORTED) {
//   puts("alice has not so much");
// }
// tavola_transaction_once(table, move, NULL);
// tavola_view_keys(table, look, &has_both);
// ```
//
// # Errors
// `TAVOLA_ABORTED`: the function has returned another number than 0; nothing is changed. Otherwise
// as `tavola_txn_begin` and `tavola_txn_commit`, without `TAVOLA_CONFLICT`.
//
// # Concurrency
// Transactions and single calls are strictly serializable. After eight conflicts, the transaction
// waits for the turn (`TAVOLA_BEGIN_TURN`).
//
// # Crash
// As `tavola_txn_commit`.
tavola_status tavola_transaction(const struct tavola_table *table, tavola_txn_fn body, void *user);

// Does the same as `tavola_transaction`, but runs the function only once: it waits for the turn of
// the table first.
//
// # Errors
// `TAVOLA_CONFLICT`: a key was changed meanwhile by something other than a transaction with the
// turn; nothing is changed. Otherwise as `tavola_transaction`.
//
// # Crash
// As `tavola_txn_commit`. If the process is killed while it has the turn, the next one gets it.
tavola_status tavola_transaction_once(const struct tavola_table *table,
                                      tavola_txn_fn body,
                                      void *user);

// Runs a function that reads several keys as they were at one moment. It may run several times,
// and writes nothing.
//
// # Errors
// As `tavola_transaction`. `TAVOLA_ERR_READ_ONLY` if the table is open for reading only and the
// function reads more than one key.
tavola_status tavola_view_keys(const struct tavola_table *table, tavola_txn_fn body, void *user);

// Sets a key with attributes and tags only if it does not exist. Each of the two may be NULL.
//
// # Examples
// ```c
// tavola_attributes json = TAVOLA_INIT(tavola_attributes);
// tavola_number_options counter = TAVOLA_INIT(tavola_number_options);
// tavola_txn *txn = NULL;
// int64_t edits = 0;
// json.flags = 0x54040000;
// counter.attributes = &json;
// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
// if (tavola_txn_add_with(txn, TAVOLA_STR("page"), TAVOLA_STR("[]"), &json, NULL) ==
//     TAVOLA_EXISTS) {
//   tavola_txn_replace_with(txn, TAVOLA_STR("page"), TAVOLA_STR("[1]"), &json, NULL);
// }
// tavola_txn_add_number_with(txn, TAVOLA_STR("edits"), 1, &counter, &edits);
// tavola_txn_commit(txn);
// ```
//
// # Errors
// `TAVOLA_EXISTS`: it exists. Otherwise as `tavola_txn_set_with`.
tavola_status tavola_txn_add_with(struct tavola_txn *txn,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes,
                                  const struct tavola_tags *tags);

// Sets a key with attributes and tags only if it exists. Each of the two may be NULL.
//
// # Errors
// `TAVOLA_NOT_FOUND`: it does not. Otherwise as `tavola_txn_set_with`.
tavola_status tavola_txn_replace_with(struct tavola_txn *txn,
                                      const void *key,
                                      size_t key_len,
                                      const void *value,
                                      size_t value_len,
                                      const struct tavola_attributes *attributes,
                                      const struct tavola_tags *tags);

// Adds `by` to a signed number, as `tavola_add_number_with` does. `options` and `now` may be NULL.
//
// # Errors
// As `tavola_add_number_with` and `tavola_txn_set_with`.
tavola_status tavola_txn_add_number_with(struct tavola_txn *txn,
                                         const void *key,
                                         size_t key_len,
                                         int64_t by,
                                         const struct tavola_number_options *options,
                                         int64_t *now);

// Reads the values of the keys with these uids: calls `each` once for each uid, in order, as
// `tavola_get_many` does for each key. The cache misses of the uids overlap.
//
// # Examples
// ```c
// static void found(void *user, size_t index, const void *value, size_t len) {
//   (void)user;
//   if (value != NULL) {
//     printf("uid %zu: %.*s\n", index, (int)len, (const char *)value);
//   }
// }
//
// tavola_hint hints[2];
// tavola_set_uid(table, TAVOLA_STR("a"), TAVOLA_STR("one"), &hints[0]);
// tavola_set_uid(table, TAVOLA_STR("b"), TAVOLA_STR("two"), &hints[1]);
// tavola_get_many_by_uid(table, hints, 2, found, NULL);
// ```
//
// # Errors
// As `tavola_get`; `each` was called for the uids before the one that failed.
//
// # Concurrency
// As `tavola_get_by_uid`; each value is read at its own moment.
tavola_status tavola_get_many_by_uid(const struct tavola_table *table,
                                     const tavola_hint *hints,
                                     size_t count,
                                     tavola_each_value each,
                                     void *user);

// Reads many keys as `tavola_get_many` does, with the attributes of each key.
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
// As `tavola_get_many`. Value and attributes of a key are of the same moment.
tavola_status tavola_get_many_entries(const struct tavola_table *table,
                                      const struct tavola_bytes *keys,
                                      size_t count,
                                      tavola_each_entry each,
                                      void *user);

// Sets many keys as `tavola_set_many` does. All of them get these attributes; NULL means those of
// `tavola_set`.
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

// Sets many keys as `tavola_set_many` does, each with attributes of its own.
//
// # Errors
// As `tavola_set_many` and `tavola_set_with`. If any attributes are invalid, no key is set.
//
// # Concurrency
// As `tavola_set_many`.
tavola_status tavola_set_many_entries(const struct tavola_table *table,
                                      const struct tavola_entry *entries,
                                      size_t count);

// Sets many keys as `tavola_set_many_entries` does, all with these tags; NULL means no tags. See
// `tavola_set_tagged`.
//
// # Examples
// ```c
// const tavola_bytes names[] = {{"news", 4}};
// const tavola_bytes keys[] = {{"a", 1}, {"b", 1}, {"c", 1}};
// const tavola_entry entries[] = {{{"a", 1}, {"one", 3}, NULL}, {{"b", 1}, {"two", 3}, NULL}};
// tavola_tags tags = TAVOLA_INIT(tavola_tags);
// uint64_t removed = 0;
// tavola_fetch_tags(table, names, 1, &tags);
// tavola_set_many_tagged(table, entries, 2, &tags);
// tavola_remove_many(table, keys, 3, &removed);
// printf("%llu keys existed\n", (unsigned long long)removed);
// ```
//
// # Errors
// As `tavola_set_many_entries` and `tavola_set_tagged`.
//
// # Concurrency
// As `tavola_set_many`.
tavola_status tavola_set_many_tagged(const struct tavola_table *table,
                                     const struct tavola_entry *entries,
                                     size_t count,
                                     const struct tavola_tags *tags);

// Removes many keys, in order. `removed`, which may be NULL, gets how many of them existed; after
// an error, how many it has removed.
//
// # Errors
// As `tavola_remove`, except `TAVOLA_NOT_FOUND`; the keys before the one that failed are removed.
// If a key is NULL and its length is not 0, no key is removed.
//
// # Concurrency
// Each key is removed as by `tavola_remove`. Other processes may miss some of them before the
// rest.
tavola_status tavola_remove_many(const struct tavola_table *table,
                                 const struct tavola_bytes *keys,
                                 size_t count,
                                 uint64_t *removed);

// Prefetches the memory that calls with these keys need, so that they wait for it once. Make these
// calls at once. It is worth it for about ten keys or more. Calls with arrays of keys, and
// batches, do it by themselves.
//
// # Errors
// At the first use of a table, the errors of mapping it. If a key is NULL and its length is not 0,
// nothing is fetched.
tavola_status tavola_prefetch(const struct tavola_table *table,
                              const struct tavola_bytes *keys,
                              size_t count);

// Creates an empty batch. It belongs to no table, and can be executed and cleared many times.
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

// Prepares a read. `index`, which may be NULL, gets its number for `tavola_batch_result` and
// `tavola_batch_attributes`: 0, 1, ...
tavola_status tavola_batch_get(struct tavola_batch *batch,
                               const void *key,
                               size_t key_len,
                               size_t *index);

// Prepares a `tavola_set`. `index`, which may be NULL, gets its number.
tavola_status tavola_batch_set(struct tavola_batch *batch,
                               const void *key,
                               size_t key_len,
                               const void *value,
                               size_t value_len,
                               size_t *index);

// Prepares a `tavola_set_with`. `attributes` may be NULL. A `ttl_ms` counts from the execution.
// `index`, which may be NULL, gets its number.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: two times, or an invalid `ttl_ms`.
tavola_status tavola_batch_set_with(struct tavola_batch *batch,
                                    const void *key,
                                    size_t key_len,
                                    const void *value,
                                    size_t value_len,
                                    const struct tavola_attributes *attributes,
                                    size_t *index);

// Prepares a `tavola_add_with`; see `tavola_batch_set_with`.
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

// Prepares a `tavola_replace_with`; see `tavola_batch_set_with`.
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

// Prepares a `tavola_remove`. `index`, which may be NULL, gets its number.
tavola_status tavola_batch_remove(struct tavola_batch *batch,
                                  const void *key,
                                  size_t key_len,
                                  size_t *index);

// Prepares a `tavola_incr_with`. `index`, which may be NULL, gets its number for
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

// Prepares a `tavola_decr_with`. `index`, which may be NULL, gets its number for
// `tavola_batch_number`.
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

// Prepares a `tavola_touch`. `index`, which may be NULL, gets its number.
//
// # Errors
// As `tavola_batch_set_with`; also if there are flags.
tavola_status tavola_batch_touch(struct tavola_batch *batch,
                                 const void *key,
                                 size_t key_len,
                                 const struct tavola_attributes *attributes,
                                 size_t *index);

// Executes the prepared operations in order. A read finds what an earlier write of the batch has
// set.
//
// # Errors
// Those of the operations. The operations before the one that failed are done.
//
// # Concurrency
// With `TAVOLA_DURABLE_COMMIT` it waits for the disk once, at its end.
// Each operation has its own moment. Other processes may see some of them before the rest.
tavola_status tavola_batch_execute(struct tavola_batch *batch, const struct tavola_table *table);

// Returns the status of an executed operation. `value`, which may be NULL, gets the value that a
// read found, lent until the batch is executed, changed or closed; it is empty for a write.
//
// # Errors
// `TAVOLA_NOT_FOUND`: the key does not exist. `TAVOLA_EXISTS`: the key was not added, because it
// exists. `TAVOLA_ERR_ARGUMENT`: there is no operation of this number, or it was not executed.
tavola_status tavola_batch_result(const struct tavola_batch *batch,
                                  size_t index,
                                  struct tavola_bytes *value);

// Returns the attributes that the key of a read had when the read was executed.
//
// # Errors
// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT` also if the operation is not a read.
tavola_status tavola_batch_attributes(const struct tavola_batch *batch,
                                      size_t index,
                                      struct tavola_attributes *attributes);

// Returns the number that a counter had after an operation.
//
// # Errors
// As `tavola_batch_result`. `TAVOLA_ERR_ARGUMENT` also if the operation is not one of a counter.
tavola_status tavola_batch_number(const struct tavola_batch *batch, size_t index, uint64_t *number);

// Removes all operations from a batch. It keeps its memory for the next ones.
tavola_status tavola_batch_clear(struct tavola_batch *batch);

// Closes a batch. NULL has no effect.
void tavola_batch_close(struct tavola_batch *batch);

// Returns the value of a key, or the lease to compute it. If several processes ask for a missing
// key, one of them gets the lease, and the others wait or use the stale value.
// `tavola_get_or_compute` does all this in one call.
//
// `value` gets the value after `TAVOLA_LEASE_HIT`, `TAVOLA_LEASE_STALE` and
// `TAVOLA_LEASE_STALE_WON`, and the text of the error after `TAVOLA_LEASE_FAILED`. `lease` gets a
// lease to fill after `TAVOLA_LEASE_WON` and `TAVOLA_LEASE_STALE_WON`, a lease to wait for after
// `TAVOLA_LEASE_WAIT`, and NULL otherwise. Close it with `tavola_lease_close` in any case.
//
// A value that `tavola_lease_fill` stores expires when it is no longer fresh or stale. A value
// that was set in another way is stale if it expires within `stale_ms`, and fresh before.
// `tavola_remove` also ends the lease of a key, so a value that was computed from older data is
// not stored.
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
// As `tavola_get`; if `value` has no room, the lease is given up. `TAVOLA_ERR_ARGUMENT`: `options`
// do not say how long a value is fresh. `TAVOLA_ERR_BAD_OPTION`: an option is invalid, or the
// table has fixed lengths and so no room for a time. A call that tries to get the lease may also
// return `TAVOLA_ERR_READ_ONLY`, `TAVOLA_ERR_FULL` if the file system has no room for the first
// lease of a table, and at the first write of a process the errors of `tavola_set`.
//
// # Concurrency
// A hit takes no lock and writes nothing; neither does a call that finds another process's lease.
//
// # Crash
// The next process that asks for the lease of a dead process gets it.
tavola_status tavola_get_or_lease(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const struct tavola_lease_options *options,
                                  struct tavola_buffer *value,
                                  struct tavola_leased *leased,
                                  struct tavola_lease **lease);

// Stores the value and ends the lease. Processes that wait for it get the value.
//
// # Errors
// `TAVOLA_LEASE_LOST`: nothing is stored, because the time of the lease has passed and another
// process has it, or the key was removed or set meanwhile, or this is a forked child.
// `TAVOLA_ERR_ARGUMENT`: the lease is another process's, or has ended before. Otherwise as
// `tavola_set`; the lease is then given up.
//
// # Crash
// If the process is killed before the call returned, the value is stored, or another process gets
// the lease.
tavola_status tavola_lease_fill(struct tavola_lease *lease, const void *value, size_t value_len);

// Does the same as `tavola_lease_fill`, with tags. Fetch the handles before you compute the value;
// see `tavola_fetch_tags`. NULL means no tags.
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

// Does the same as `tavola_lease_fill_tagged`, and also sets the flags of the key. With
// `early_beta`, the low 16 bits of the flags must be 0, because they will hold how long the value
// took to compute.
//
// # Examples
// ```c
// enum { HTML = 7 };
// char bytes[256];
// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
// tavola_leased leased = TAVOLA_INIT(tavola_leased);
// tavola_lease *lease = NULL;
// tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
// options.fresh_ms = 60 * 1000;
// tavola_get_or_lease(table, TAVOLA_STR("start"), &options, &value, &leased, &lease);
// if (leased.outcome == TAVOLA_LEASE_WON) {
//   tavola_lease_fill_with(lease, TAVOLA_STR("<p>hello</p>"), HTML, NULL);
// } else {
//   printf("%.*s has flags %u\n", (int)value.len, bytes, leased.flags);
// }
// tavola_lease_close(lease);
// ```
//
// # Errors
// As `tavola_lease_fill`. `TAVOLA_ERR_BAD_OPTION`: the flags are invalid.
//
// # Crash
// As `tavola_lease_fill`.
tavola_status tavola_lease_fill_with(struct tavola_lease *lease,
                                     const void *value,
                                     size_t value_len,
                                     uint32_t flags,
                                     const struct tavola_tags *tags);

// Ends the lease without a value. For `back_off_ms`, at most an hour, no process gets the lease
// again: processes that ask get the stale value, or `TAVOLA_LEASE_FAILED` with the first 88 bytes
// of `error`.
//
// # Errors
// `TAVOLA_LEASE_LOST`: another process has the lease. `TAVOLA_ERR_ARGUMENT`: the lease is another
// process's, or has ended before. Otherwise as `tavola_remove`.
//
// # Crash
// If the process is killed before the call returned, other processes get the error, or one gets
// the lease.
tavola_status tavola_lease_fail(struct tavola_lease *lease,
                                uint64_t back_off_ms,
                                const void *error,
                                size_t error_len);

// Sleeps until another process's lease (`TAVOLA_LEASE_WAIT`) has ended, its owner has died, or the
// key exists. Then ask for the key again.
//
// # Errors
// `TAVOLA_TIMEOUT`: the time limit passed before. `TAVOLA_ERR_ARGUMENT`: the lease is the caller's
// own. Otherwise as `tavola_get`.
//
// # Concurrency
// The process that ends the lease wakes all that sleep. They notice the death of the owner within
// about 10 ms.
tavola_status tavola_lease_wait(struct tavola_lease *lease, uint64_t timeout_ms);

// Returns whether other processes know of this lease of the caller. It returns false if so many
// keys of the shard are being computed at once that no record is free. Other processes may then
// compute the value, too, and a fill may store nothing because another key was removed or changed
// meanwhile. It also returns false for a lease that has ended or that is another process's.
bool tavola_lease_is_recorded(const struct tavola_lease *lease);

// Closes a lease. A lease that was neither filled nor failed is given up, and another process may
// get it at once. NULL has no effect.
void tavola_lease_close(struct tavola_lease *lease);

// Does the same as `tavola_get_or_compute`, and gives the value tags of these names. The handles
// are fetched before the value is computed: if a tag is invalidated meanwhile, the call returns
// the value, but the key is missing. A value that exists already keeps its tags.
//
// # Errors
// As `tavola_get_or_compute`; if the value is computed, also as `tavola_fetch_tags`.
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

// Waits until `count` processes or threads have called this with the same table and key; then all
// calls return. The key counts the calls, so it can be used again at once. It lives forever,
// whatever the `ttl_ms` of the table.
//
// # Examples
// ```c
// uint32_t dead = 0;
// tavola_barrier_join(table, TAVOLA_STR("start"));
// if (tavola_barrier_wait(table, TAVOLA_STR("start"), 1, 5000) == TAVOLA_TIMEOUT) {
//   puts("the other processes did not come within 5 seconds");
// }
// if (tavola_barrier_meet(table, TAVOLA_STR("start"), 1, 5000, &dead) == TAVOLA_OK && dead != 0) {
//   printf("%u of them have died\n", dead);
// }
// ```
//
// # Errors
// `TAVOLA_TIMEOUT`: the others have not called within `timeout_ms`, and this call no longer
// counts. `TAVOLA_ERR_ARGUMENT`: `count` is 0. `TAVOLA_ERR_NOT_A_COUNTER`: the key has a value of
// another kind. Otherwise as `tavola_set`; not in a table of fixed lengths.
//
// # Concurrency
// A caller that waits for more than 2 ms looks every 100 us: of four processes on two processors,
// the last returned 130 us after the first (median of 50 runs). A process that waits for a
// processor returns that much later.
//
// # Crash
// A process that is killed while it waits has come. In later rounds, nobody waits for a process
// that has died; nor in the first, if it had called `tavola_barrier_join`. The others find out
// within some 10 ms. `tavola_barrier_meet` says how many have died.
tavola_status tavola_barrier_wait(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  uint32_t count,
                                  uint64_t timeout_ms);

// Does the same as `tavola_barrier_wait`, and writes to `dead`, which may be NULL, how many of the
// `count` have died: while they waited, or before they came.
//
// # Errors
// As `tavola_barrier_wait`.
//
// # Crash
// As `tavola_barrier_wait`.
tavola_status tavola_barrier_meet(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  uint32_t count,
                                  uint64_t timeout_ms,
                                  uint32_t *dead);

// Announces that this process will come to a barrier. If it is killed before it does, the others
// do not wait for it. Each call announces one caller. It counts as long as one of all that are
// announced or wait lives.
//
// # Errors
// As `tavola_barrier_wait`.
tavola_status tavola_barrier_join(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_TABLE_H

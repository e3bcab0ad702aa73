/*
 * Tavola for C: key-value tables, queues and logs in shared memory, which all processes of a
 * machine use at once and which any of them may leave killed at any instruction.
 *
 * # Errors
 * A function that can fail returns a `tavola_status`. `TAVOLA_OK` is 0: done. Above 0 are the
 * other answers (`TAVOLA_MISSING`: there is no such key), below 0 the errors; their numbers never
 * change their meaning. After an error, `tavola_last_error` has a sentence that says what to do.
 * What a function writes through its pointers, it writes only when it returns `TAVOLA_OK`, unless
 * it says otherwise. A NULL where there must be none is `TAVOLA_ERR_NULL`, no crash. A bug of the
 * library itself is `TAVOLA_ERR_PANIC`; nothing unwinds into the caller. Where the system refuses
 * memory to the process, it is ended (`abort`), as by any library in Rust.
 *
 * # Ownership
 * Bytes that are handed in are copied before the call returns. Bytes that are lent say until when.
 * Handles come through the last argument of a function that opens, and each is closed once, by the
 * function that closes its kind; NULL is closed without effect. Handles may be closed in any
 * order: a walk, a lease, a queue or a drain keeps the file open that it belongs to. A struct
 * whose first field is `size` is set to zero and its size before it is handed in:
 * `tavola_stats stats = TAVOLA_INIT(tavola_stats);`.
 *
 * # Results
 * Results go where a `tavola_buffer` says: into memory of the caller's, or through a callback,
 * `alloc` or `store`. A callback is called once a call, with the result's exact length, after all
 * else that may fail, and not at all where there is no result. What it gets is copied from memory
 * that the thread keeps for that, up to 1 MiB: so reading keys asks the system for memory only
 * where a result is longer than those before. Where `alloc` gives NULL (for an empty result it
 * may), or `store` refuses, the call ends with `TAVOLA_ERR_STOPPED`. It has done then what it was
 * to do, and nothing is lost: what was read is still there, and what `tavola_take` and
 * `tavola_swap` took away, `tavola_untaken` gives again. Memory of the caller's that is too small,
 * `TAVOLA_ERR_TOO_SMALL`, is found before anything is done, but by `tavola_get_and_touch` and
 * `tavola_get_or_compute`.
 *
 * # Bytes and text
 * Keys and values are any bytes, with their length; a pointer may be NULL where the length is 0.
 * Names and paths end with a NUL.
 *
 * # Threads
 * Threads share tables, pools, queues, watches and logs freely. Walks, batches, leases, drains,
 * readers and buffers are for one thread at a time. A handle is closed when nobody uses it any
 * more.
 *
 * # Fork
 * Handles work in a forked child, which becomes a participant of its own; it holds no element of a
 * queue that its parent holds, and leases and drains stay its parent's. Threads are not forked: a
 * table with background work does none in the child, and a watch is to be made anew. Fork while no
 * other thread is inside a call.
 *
 * # Signals
 * No function may be called from a signal handler, as they allocate memory, but one:
 * `tavola_log_line`, if its thread has written a line to that log before, and none to four others
 * since. It allocates only where it fails; so the log has room for a piece more than there are
 * threads that write. Where it is `TAVOLA_BLOCK`, the handler waits for the drain, and must not
 * have interrupted it. A write to a table that interrupts a write of its own thread is
 * refused with `TAVOLA_ERR_REENTRANT` and does no harm. The library installs no handlers.
 *
 * # Callbacks
 * Called by the thread that made the call, before it returns, holding no lock: they may call the
 * library again, but not with the walk, batch, lease, drain or reader that called them. They
 * return; they do not throw, and not jump out (`longjmp`).
 *
 * # Crash
 * A process may be killed in any call. The others go on; what had returned is there, and of a call
 * that had not, all or nothing is done.
 *
 * MIT OR Apache-2.0, at your choice.
 *
 * Made by `cargo xtask header` from crates/tavola-capi; change it there.
 */


#ifndef TAVOLA_H
#define TAVOLA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this header; `tavola_version` has the library's.
#define TAVOLA_VERSION_MAJOR 0
#define TAVOLA_VERSION_MINOR 1
#define TAVOLA_VERSION_PATCH 0
#define TAVOLA_VERSION "0.1.0"

// A struct with its size set and all else 0, an initializer.
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

// A tavola_buffer of a caller's memory, and those that ask a callback; initializers.
#define TAVOLA_BUFFER(data, capacity) {(data), (capacity), 0, NULL, NULL, NULL}
#define TAVOLA_ALLOC(alloc, user) {NULL, 0, 0, (alloc), NULL, (user)}
#define TAVOLA_STORE(store, user) {NULL, 0, 0, NULL, (store), (user)}

// For `ttl_ms`: a key lives as long as the table was made to let it, see `tavola_options`.
#define TAVOLA_TTL_DEFAULT 0

// For `ttl_ms`: a key lives for ever.
#define TAVOLA_TTL_NEVER -1

// The most tags of a key.
#define TAVOLA_MOST_TAGS 16

// For `back_off_ms`: who asks after an error tries again at once.
#define TAVOLA_NO_BACK_OFF -1

// What became of a call: 0, done; above 0, another answer; below 0, an error. Numbers are never
// used again for something else.
enum tavola_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  TAVOLA_OK = 0,
  // The key, or the uid, is not there.
  TAVOLA_MISSING = 1,
  // The key is there already, and stays as it is.
  TAVOLA_PRESENT = 2,
  // The key has another value than the one that was expected.
  TAVOLA_CHANGED = 3,
  // The walk is over.
  TAVOLA_END = 4,
  // The queue is empty.
  TAVOLA_EMPTY = 5,
  // The time is up.
  TAVOLA_TIMEOUT = 6,
  // The lease is another's by now, or its key was set or removed; nothing was stored.
  TAVOLA_PASSED_ON = 7,
  // A pointer is NULL that must not be.
  TAVOLA_ERR_NULL = -1,
  // A bug of the library; please report it.
  TAVOLA_ERR_PANIC = -2,
  // The result does not fit in the buffer, whose `len` says how long it is.
  TAVOLA_ERR_TOO_SMALL = -3,
  // A callback gave no place for the result, or did not take it.
  TAVOLA_ERR_STOPPED = -4,
  // An argument is out of its bounds.
  TAVOLA_ERR_ARGUMENT = -5,
  // An error that this library has no number for.
  TAVOLA_ERR_OTHER = -6,
  // No table of that name.
  TAVOLA_ERR_NOT_FOUND = -10,
  // A table of that name is there already.
  TAVOLA_ERR_ALREADY_EXISTS = -11,
  // No room: `max_size` is reached, or the file system is full. The table is intact.
  TAVOLA_ERR_FULL = -12,
  // Bytes of the table contradict each other; nothing was changed.
  TAVOLA_ERR_CORRUPT = -13,
  // The file is no table.
  TAVOLA_ERR_NOT_A_TABLE = -14,
  // The table was made by another version of the format.
  TAVOLA_ERR_VERSION = -15,
  // The table was made on a machine of the other byte order.
  TAVOLA_ERR_ENDIANNESS = -16,
  // The system refused access.
  TAVOLA_ERR_PERMISSION = -17,
  // The table is open read-only, or lies on a read-only file system.
  TAVOLA_ERR_READ_ONLY = -18,
  // A name that cannot stand for a table.
  TAVOLA_ERR_BAD_NAME = -19,
  // An option outside its bounds.
  TAVOLA_ERR_BAD_OPTION = -20,
  // Every participant slot is taken by a living process.
  TAVOLA_ERR_TOO_MANY_PARTICIPANTS = -21,
  // Key and value together exceed 2^32 - 1 bytes.
  TAVOLA_ERR_TOO_LARGE = -22,
  // The table has keys and values of other lengths only.
  TAVOLA_ERR_LENGTHS = -23,
  // A table of fixed lengths that was made without uids.
  TAVOLA_ERR_NO_UIDS = -24,
  // Nothing of that name stands beside the table.
  TAVOLA_ERR_NOT_THERE = -25,
  // Something of that name stands beside the table already.
  TAVOLA_ERR_ALREADY_THERE = -26,
  // An element was pushed by who does not hold it.
  TAVOLA_ERR_NOT_HELD = -27,
  // The value is no decimal number below 2^64.
  TAVOLA_ERR_NOT_A_COUNTER = -28,
  // A write in a signal handler that had interrupted a write of the same thread.
  TAVOLA_ERR_REENTRANT = -29,
  // Any other failure of the system; see `tavola_last_os_error`.
  TAVOLA_ERR_IO = -30,
  // The log has a drain already.
  TAVOLA_ERR_ALREADY_DRAINED = -31,
  // Lines of a log could not be written out; they are still the log's.
  TAVOLA_ERR_SINK = -32,
  // The value of a key could not be computed, now or a moment ago.
  TAVOLA_ERR_COMPUTE = -33,
  // A lock was not to be had within the time of `tavola_set_lock_timeout`; nothing was done.
  TAVOLA_ERR_BUSY = -34,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_status tavola_status;
#else
typedef int32_t tavola_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What there is of a key, and who is to compute it.
enum tavola_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value, fresh.
  TAVOLA_HIT = 0,
  // The value, no more fresh: it may be served still. Another computes it anew, or has failed to
  // a moment ago.
  TAVOLA_STALE = 1,
  // The value, no more fresh, or soon not to be: it may be served still. The caller is to
  // compute it anew.
  TAVOLA_STALE_WON = 2,
  // There is no value: the caller is to compute it.
  TAVOLA_WON = 3,
  // There is no value yet: another computes it.
  TAVOLA_WAIT = 4,
  // There is no value: it could not be computed a moment ago.
  TAVOLA_FAILED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_outcome tavola_outcome;
#else
typedef int32_t tavola_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What becomes of a value in `tavola_update`.
enum tavola_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The value stays as it is; a missing key stays missing.
  TAVOLA_KEEP = 0,
  // The key is set to the bytes that the callback gave.
  TAVOLA_STORE = 1,
  // The key is removed.
  TAVOLA_REMOVE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_change tavola_change;
#else
typedef int32_t tavola_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How much a line matters.
enum tavola_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Something failed.
  TAVOLA_LEVEL_ERROR = 1,
  // Something may fail.
  TAVOLA_LEVEL_WARN = 2,
  // What a user wants to know.
  TAVOLA_LEVEL_INFO = 3,
  // What who looks for a fault wants to know.
  TAVOLA_LEVEL_DEBUG = 4,
  // Everything.
  TAVOLA_LEVEL_TRACE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_level tavola_level;
#else
typedef int32_t tavola_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happens when a line finds no room: every piece of the log that is in no living thread's
// hand is full of lines that no drain has written out, be it that the drain is too slow or that
// there is none.
enum tavola_overload
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The oldest lines are overwritten, a piece at a time, and counted.
  TAVOLA_DROP_OLDEST = 0,
  // The new line is not written, but counted: the log keeps the oldest.
  TAVOLA_DROP_NEWEST = 1,
  // The writer waits for the drain, as long as it lives. Without one it is as with
  // `TAVOLA_DROP_NEWEST`.
  TAVOLA_BLOCK = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_overload tavola_overload;
#else
typedef int32_t tavola_overload;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Operations that were prepared, to be executed together; for one thread at a time.
typedef struct tavola_batch tavola_batch;

// A walk through a table, for one thread at a time.
typedef struct tavola_iter tavola_iter;

// The right, and the duty, to compute the value of a key; or, after `TAVOLA_WAIT`, the lease that
// another has. For one thread at a time. It keeps the table open.
typedef struct tavola_lease tavola_lease;

// Lines that all processes write, in shared memory. One drain writes them out in the order of
// their times; as long as there is none, each is also shown on the standard error of its writer,
// and stays for the next drain as long as there is room. Whatever became of their writers, lines
// can be read until they are overwritten.
typedef struct tavola_log tavola_log;

// The one who writes a log's lines out; for one thread at a time. It keeps the log open.
typedef struct tavola_log_drain tavola_log_drain;

// Reads a log's lines without taking them from anybody, those that were drained, too; for one
// thread at a time. It keeps the log open.
typedef struct tavola_log_reader tavola_log_reader;

// Elements in shared memory, and queues of them. What moves between queues are the numbers of
// elements; their bytes stay where they are. Who popped an element holds it, and is the only one
// to touch its bytes, until it pushes it to any of the pool's queues. What is popped through a
// handle and its queues is held by all threads that use these.
typedef struct tavola_pool tavola_pool;

// A queue of elements, first in, first out. Any number of threads and processes push and pop at
// once.
typedef struct tavola_queue tavola_queue;

// A table. Threads share it freely.
typedef struct tavola_table tavola_table;

// A value that is lent where it stands.
typedef struct tavola_view tavola_view;

// A descriptor that is readable while a queue holds something.
typedef struct tavola_watch tavola_watch;

// Gives room for a result of `len` bytes, which is written there before the call returns; NULL: no
// room, and the call ends with `TAVOLA_ERR_STOPPED` (but where `len` is 0). Called once, with the
// exact length, after all else that may fail, and not at all when there is no result. It leaves
// the `tavola_buffer` of the call alone.
typedef void *(*tavola_alloc)(void *user, size_t len);

// Takes a result: `len` bytes, lent until it returns. 0: taken; else the call ends with
// `TAVOLA_ERR_STOPPED`. Called as `tavola_alloc` is.
typedef int32_t (*tavola_store)(void *user, const void *data, size_t len);

// Where a result goes: into a buffer,
//
// `tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);`
//
// or where `alloc` says, for runtimes whose strings are made at their length and then written,
//
// `static void *begin(void *user, size_t len) { return bytes_of(*(string **)user = make(len)); }`
// `tavola_buffer value = TAVOLA_ALLOC(begin, &string);`
//
// or to `store`, for runtimes that make strings of bytes:
//
// `static int32_t push(void *L, const void *b, size_t n) { lua_pushlstring(L, b, n); return 0; }`
// `tavola_buffer value = TAVOLA_STORE(push, L);`
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
  tavola_alloc alloc;
  // If not NULL, it is called, and neither `alloc` nor the buffer is used.
  tavola_store store;
  // Handed to the callbacks.
  void *user;
} tavola_buffer;

// Is told one name, path or sentence: `len` bytes and a NUL, lent until it returns.
typedef void (*tavola_each_text)(void *user, const char *text, size_t len);

// Options of a table; what is 0 has a default that needs no tuning. Begin with
// `tavola_options options = TAVOLA_INIT(tavola_options);`.
typedef struct tavola_options {
  // `sizeof(tavola_options)`.
  size_t size;
  // The most bytes a new table may grow to, 1 MiB to 8 TiB; 64 GiB when 0, or twice the
  // `capacity` if that is more. A reservation of addresses, not of memory; a table that is there
  // keeps its own.
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
  // The group of a new table's file, by its number; nobody sees the file with another group. The
  // mode is then 0660 unless `mode` is set. 0: the group of a directory that has the setgid
  // bit, else that of the process. If the user is not in the group, creating the table fails
  // with `TAVOLA_ERR_PERMISSION`.
  uint32_t group_id;
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

// Gets the old value (NULL: the key is missing), lent until it returns, and says what becomes of
// it: one of `tavola_change`. The bytes in `now` stay as they are until the next call of this
// function, or the end of `tavola_update`.
typedef int32_t (*tavola_update_fn)(void *user,
                                    const void *old,
                                    size_t old_len,
                                    struct tavola_bytes *now);

// A key's uid in the low 32 bits, and in the high ones which of the keys it is that have had this
// uid. The uid stays the key's as long as the key lives, and is never 0. When the key is removed
// another may get it; the generation tells them apart. A plain uid, its high bits 0, is a hint as
// well, and stands for whatever key has it now.
typedef uint64_t tavola_hint;

// The state of a table. Sizes are bytes.
typedef struct tavola_stats {
  // `sizeof(tavola_stats)`.
  size_t size;
  // Keys; those that have expired, or lost a tag, count until they are removed:
  // `tavola_get_live_keys` tells them apart.
  uint64_t keys;
  // Bytes of all keys and values, and of the names of tags; a counter's value counts as 8.
  uint64_t payload_bytes;
  // What the system has allocated for the file, the index and all slack included.
  uint64_t resident_bytes;
  // The most the table may grow to.
  uint64_t max_size;
  // The length of all keys in a table of fixed lengths; else 0.
  uint32_t fixed_key;
  // The length of all values then.
  uint32_t fixed_value;
  // Keys with a uid, and tags.
  uint64_t uids;
  // Segments of the index.
  uint64_t segments;
  // Keys divided by the slots of all segments, 0 to 1.
  double index_load;
  // Pages of the index.
  uint64_t index_bytes;
  // Pages of blocks.
  uint64_t slab_bytes;
  // Pages of the uid table.
  uint64_t uid_bytes;
  // Pages of large items.
  uint64_t large_bytes;
  // Pages of the queue pools and logs beside the table.
  uint64_t beside_bytes;
  // Pages in the pool that are still backed by memory.
  uint64_t free_bytes;
  // Shards.
  uint32_t shards;
  // Participants attached for writing, the dead ones' slots included.
  uint32_t participants;
  // Recoveries of a shard, since the table was made.
  uint64_t recoveries;
  // When it was made, in seconds since 1970.
  uint64_t created_unix_s;
  // Its uuid.
  uint8_t uuid[16];
  // Version of the format.
  uint64_t format_version;
  // Keys that had expired, or lost a tag, and were removed for it, since the table was made.
  uint64_t expired;
  // How many milliseconds keys live unless they are given another time; 0: for ever.
  uint64_t ttl_ms;
  // How many bytes a cache may take; 0: the table is no cache.
  uint64_t capacity;
  // Key and value bytes of a cache's newcomers, on probation.
  uint64_t newcomer_bytes;
  // Newcomers that a cache evicted, since it was made.
  uint64_t evicted_new;
  // Protected keys that a cache evicted, since it was made.
  uint64_t evicted_old;
  // Keys that came back soon after a cache had evicted them, since it was made.
  uint64_t ghost_hits;
  // Reads of a cache that found their key, since it was made. Those of handles that may not
  // write are not counted, nor the first two reads after an open, by uid and `tavola_contains`.
  uint64_t hits;
  // Reads that did not.
  uint64_t misses;
  // Writes to a cache, since it was made: calls that set, change or remove a key, or try to.
  uint64_t writes;
  // Tags.
  uint64_t tags;
  // Of the writes those that set or change a key, or try to: all but the removes.
  uint64_t sets;
  // Of the writes those that remove keys, or try to: `tavola_remove`, `tavola_take`,
  // `tavola_remove_by_uid`, `tavola_update` where it removes, `tavola_invalidate_tag` and
  // `tavola_clear`. What goes by itself, expired or evicted, is none.
  uint64_t removes;
} tavola_stats;

// One size class of blocks that is in use.
typedef struct tavola_class {
  // `sizeof(tavola_class)`, as the library knows it.
  size_t size;
  // Bytes of a block.
  uint64_t block_bytes;
  // Pages.
  uint64_t pages;
  // Blocks in those pages.
  uint64_t blocks;
  // Blocks in use.
  uint64_t used;
} tavola_class;

// Is told a size class, lent until it returns.
typedef void (*tavola_each_class)(void *user, const struct tavola_class *class_);

// A process that is attached for writing.
typedef struct tavola_participant {
  // `sizeof(tavola_participant)`, as the library knows it.
  size_t size;
  // Its process id, in its own pid namespace.
  uint32_t pid;
  // Its slot.
  uint32_t slot;
  // When it attached, in seconds since 1970.
  uint64_t attached_unix_s;
  // Its command line; NULL when it is not local or cannot be read.
  const char *command;
  // Whether it lives; a dead one's slot is freed by the next `tavola_reap`.
  uint64_t alive;
  // Reads of a cache that found their key, by all that ever had its slot; as in `tavola_stats`.
  uint64_t hits;
  // Those that did not.
  uint64_t misses;
  // Writes to a cache.
  uint64_t writes;
  // Those that set or change a key.
  uint64_t sets;
  // Those that remove keys.
  uint64_t removes;
  // 1: `pid` is a number of the caller's own pid namespace; 0: another process, or none, has
  // that number here.
  uint32_t is_local;
  // 1: a signal (SIGSTOP) or a debugger has stopped it; known of local ones only.
  uint32_t is_stopped;
} tavola_participant;

// Is told a participant, lent until it returns.
typedef void (*tavola_each_participant)(void *user, const struct tavola_participant *participant);

// Keys of a table.
typedef struct tavola_live_keys {
  // `sizeof(tavola_live_keys)`.
  size_t size;
  // Keys that a read finds.
  uint64_t live;
  // Keys that have expired or lost a tag, and take their room until they are removed.
  uint64_t unreclaimed;
  // 1: both are estimates, from a part of the keys: of a table with many keys that expire.
  uint64_t is_estimate;
} tavola_live_keys;

// What was done with a cache in the last while: counts, to be divided by `spanned_ms` for rates.
// They are what was done from a sample until now, of which those who read and write take one about
// each second that has calls: the one whose age is nearest to what was wanted, not less than half.
typedef struct tavola_recent {
  // `sizeof(tavola_recent)`, as the library knows it.
  size_t size;
  // The time that was asked for, in milliseconds: 1000, 10000 or 60000.
  uint64_t wanted_ms;
  // The time that the counts are of: the age of that sample. Where there was a pause it begins
  // before it, and may be the same for one second and for ten. 0: they are not known, and all 0.
  uint64_t spanned_ms;
  // Reads that found their key.
  uint64_t hits;
  // Reads that did not.
  uint64_t misses;
  // Writes.
  uint64_t writes;
  // Keys evicted.
  uint64_t evicted;
  // Keys removed as they had expired, or lost a tag.
  uint64_t expired;
} tavola_recent;

// Is told what was done in a while, lent until it returns.
typedef void (*tavola_each_recent)(void *user, const struct tavola_recent *recent);

// How many calls to a cache took so long, of those that were timed since it was made: about one in
// 1024 of the calls that read one key, and of those that set one.
typedef struct tavola_latency {
  // `sizeof(tavola_latency)`, as the library knows it.
  size_t size;
  // They took so many nanoseconds, or more.
  uint64_t from_ns;
  // They took less than so many; `UINT64_MAX`: there is no limit.
  uint64_t below_ns;
  // Reads.
  uint64_t reads;
  // Writes.
  uint64_t writes;
} tavola_latency;

// Is told how many calls took so long, lent until it returns.
typedef void (*tavola_each_latency)(void *user, const struct tavola_latency *latency);

// A shard: a part of the keys with a lock of its own. Where one has far more writes than the
// others, many write to the same key.
typedef struct tavola_shard {
  // `sizeof(tavola_shard)`, as the library knows it.
  size_t size;
  // Its number, from 0 on.
  uint64_t number;
  // Keys.
  uint64_t keys;
  // Bytes of their keys and values.
  uint64_t payload_bytes;
  // How often a key of it was set, changed or removed by who asked for that, since the table was
  // made.
  uint64_t writes;
  // Keys that were evicted from it, since the table was made.
  uint64_t evicted;
  // Recoveries after a death, since the table was made.
  uint64_t recoveries;
} tavola_shard;

// Is told a shard, lent until it returns.
typedef void (*tavola_each_shard)(void *user, const struct tavola_shard *shard);

// A process that holds a lock of a table.
typedef struct tavola_holder {
  // `sizeof(tavola_holder)`, as the library knows it.
  size_t size;
  // The shard whose lock it holds; -1: the lock of the page pool.
  int64_t shard;
  // Its process id, in its own pid namespace; 0 when it is not known.
  uint32_t pid;
  // 1: `pid` is a number of the caller's own pid namespace; 0: another process, or none, has
  // that number here.
  uint32_t is_local;
  // 1: a signal or a debugger has stopped it, as far as that can be seen from here.
  uint32_t is_stopped;
  // 0: it is dead; the next that wants the lock takes it over.
  uint32_t is_alive;
} tavola_holder;

// Is called with a holder, lent until it returns.
typedef void (*tavola_each_holder)(void *user, const struct tavola_holder *holder);

// What a check found.
typedef struct tavola_check_report {
  // `sizeof(tavola_check_report)`.
  size_t size;
  // Keys found.
  uint64_t keys;
  // Bytes of the blocks, segments and large pages that the index leads to.
  uint64_t bytes_reachable;
  // Bytes of the blocks, segments and large pages that the allocator holds to be in use.
  uint64_t bytes_in_use;
  // How many things are wrong.
  uint64_t problems;
  // 1: the file was copied by something that does not know tables (`cp`, `mv` to another file
  // system, a snapshot) while a process was attached to the original. A value may then consist
  // of parts of two, which no check or repair can find. Not counted as a problem.
  uint64_t copied_in_use;
} tavola_check_report;

// What a call of `tavola_maintain` did.
typedef struct tavola_maintained {
  // `sizeof(tavola_maintained)`.
  size_t size;
  // Bytes that lie on huge pages now and did not before, or were found to already.
  uint64_t collapsed_bytes;
  // Bytes given back to the system.
  uint64_t given_back_bytes;
  // 1: the kernel can do it: Linux 6.1 or newer, with transparent huge pages.
  uint32_t huge_pages_supported;
  // 1: nothing was left to do.
  uint32_t done;
} tavola_maintained;

// Tags as they were at one moment; from `tavola_tags_of`. Begin with
// `tavola_tags tags = TAVOLA_INIT(tavola_tags);`, which is no tags.
typedef struct tavola_tags {
  // `sizeof(tavola_tags)`.
  size_t size;
  // How many there are.
  uint64_t count;
  // What the table knows them by.
  tavola_hint hints[TAVOLA_MOST_TAGS];
} tavola_tags;

// Is told the name of a tag: any bytes, lent until it returns.
typedef void (*tavola_each_tag)(void *user, const void *name, size_t name_len);

// Is told what the key at this position has, lent until it returns; NULL: the key is missing.
typedef void (*tavola_found)(void *user, size_t index, const void *value, size_t value_len);

// Is told what the key at this position has, all lent until it returns; NULL: the key is missing.
typedef void (*tavola_found_entry)(void *user,
                                   size_t index,
                                   const void *value,
                                   size_t value_len,
                                   const struct tavola_attributes *attributes);

// A key with its value.
typedef struct tavola_pair {
  // The key.
  struct tavola_bytes key;
  // The value.
  struct tavola_bytes value;
} tavola_pair;

// A key with its value, and what it gets beside it.
typedef struct tavola_entry {
  // The key.
  struct tavola_bytes key;
  // The value.
  struct tavola_bytes value;
  // NULL: those of `tavola_set`.
  const struct tavola_attributes *attributes;
} tavola_entry;

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

// What `tavola_get_or_lease` tells. Begin with
// `tavola_leased leased = TAVOLA_INIT(tavola_leased);`.
typedef struct tavola_leased {
  // `sizeof(tavola_leased)`.
  size_t size;
  // What there is.
  tavola_outcome outcome;
  // 0.
  uint32_t reserved;
  // After `TAVOLA_WAIT` how many milliseconds the other has at most, after `TAVOLA_FAILED` in
  // how many one may try again; else 0.
  uint64_t left_ms;
} tavola_leased;

// Computes the value of a key: returns 0 and says where it stands, or something else where it
// could not be computed; then what it says is told to the others, 88 bytes of it. These bytes stay
// as they are until the end of `tavola_get_or_compute`.
typedef int32_t (*tavola_compute_fn)(void *user, struct tavola_bytes *value);

// What a pool of queues is made with. Begin with
// `tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);`.
typedef struct tavola_pool_options {
  // `sizeof(tavola_pool_options)`.
  size_t size;
  // Elements, 1 to 2^30.
  uint32_t elements;
  // Bytes of each.
  uint32_t element_bytes;
  // The names of its queues, 1 to 65,536 of 1 to 56 bytes each. In the first, all elements stand
  // at the beginning. NULL: one, "free".
  const char *const *queues;
  // How many names.
  size_t queue_count;
  // The mode of the file of a pool that has one of its own; 0600 when 0.
  uint64_t mode;
  // Room for so many queues in all, up to 65,536: those that are named here, and those that
  // `tavola_pool_add_queue` adds; as many as are named when 0. Each takes 4 bytes for each
  // element, their number rounded up to a power of two, and 256 bytes, from the beginning.
  size_t queue_room;
  // 1: opens a file of any owner, see `tavola_options`.
  uint64_t any_owner;
} tavola_pool_options;

// Is told the number of an element.
typedef void (*tavola_each_element)(void *user, uint32_t element);

// What a log is made with; what is 0 has a default. Begin with
// `tavola_log_options options = TAVOLA_INIT(tavola_log_options);`.
typedef struct tavola_log_options {
  // `sizeof(tavola_log_options)`.
  size_t size;
  // Room for lines, 64 KiB to 16 GiB, in whole pieces of 16 KiB; 4 MiB when 0. A line takes 24
  // bytes and its text, in whole words of 8 bytes. Each thread that writes has one piece in
  // hand, which no other thread writes on, so there should be several times as many of them as
  // threads. At the end of a full piece up to 1 KiB may stay empty.
  uint64_t bytes;
  // One of `tavola_overload`.
  int32_t overload;
  // The mode of the file of a log that has one of its own; 0600 when 0.
  uint32_t mode;
  // 1: opens a file of any owner, see `tavola_options`.
  uint32_t any_owner;
  // 0.
  uint32_t reserved;
} tavola_log_options;

// The state of a log. Sizes are bytes. Every line that was ever written to the log was written out
// by a drain, or is one of the `awaiting` lines, or is counted in `dropped`.
typedef struct tavola_log_stats {
  // `sizeof(tavola_log_stats)`.
  size_t size;
  // Room for lines: all pieces together.
  uint64_t bytes;
  // Bytes that lines take.
  uint64_t used_bytes;
  // Pieces of 16 KiB.
  uint32_t pieces;
  // Pieces that a thread writes on, or that a dead one has left.
  uint32_t pieces_in_hand;
  // Lines that can be read.
  uint64_t lines;
  // Of these, lines that no drain has written out.
  uint64_t awaiting;
  // Lines that were lost since the log was made; as `tavola_log_dropped`.
  uint64_t dropped;
  // Whether a drain is at work, or was when it was last looked for.
  uint32_t has_drain;
  // What happens when the log is full: one of `tavola_overload`.
  int32_t overload;
} tavola_log_stats;

// A line of a log, lent to a callback until it returns.
typedef struct tavola_line {
  // Nanoseconds since 1970-01-01 UTC, by the clock of the machine.
  uint64_t unix_ns;
  // The process that wrote it, by its own number.
  uint32_t pid;
  // The thread, by its own number.
  uint32_t tid;
  // One of `tavola_level`.
  int32_t level;
  // Bytes at the end of the text that had no room.
  uint32_t cut;
  // What was written: any bytes, without a NUL at the end.
  const char *text;
  // How many.
  size_t len;
  // Whether it was shown on its writer's standard error, as there was no drain.
  bool is_shown;
} tavola_line;

// Where a drain writes lines. Begin with
// `tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);`. Each function returns 0, or what went
// wrong, an `errno` as a rule: then the lines come again, with the next pass.
typedef struct tavola_log_sink {
  // `sizeof(tavola_log_sink)`.
  size_t size;
  // Handed to the functions.
  void *user;
  // Takes a line, lent until it returns.
  int (*line)(void *user, const struct tavola_line *line);
  // Is told that so many lines were dropped since it was told last. May be NULL.
  int (*dropped)(void *user, uint64_t lines);
  // Writes out what was taken: when this returns 0, the lines are the sink's. May be NULL.
  int (*flush)(void *user);
} tavola_log_sink;

// Is told a line.
typedef void (*tavola_each_line)(void *user, const struct tavola_line *line);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What the last error of this thread was: a sentence that says what to do, or "" when there was
// none. An answer above 0 is no error and leaves it. Stays until the next error of this thread, or
// its end.
const char *tavola_last_error(void);

// The `errno` of the system that led to the last error of this thread; 0 when there was none.
int tavola_last_os_error(void);

// The name of a status, as "TAVOLA_ERR_FULL"; "?" for a number that is none.
const char *tavola_status_name(int32_t status);

// The version of the library, as "0.1.0"; that of the header is `TAVOLA_VERSION`.
const char *tavola_version(void);

// Tells the directory of named tables: `TAVOLA_DIR`, else `/dev/shm/tavola-UID`.
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
// do. `TAVOLA_MISSING`: they do see them, and nothing is written.
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

// Unlinks a table. Processes that have it open keep it until they close it.
//
// # Errors
// `TAVOLA_ERR_NOT_FOUND`; `TAVOLA_ERR_NOT_A_TABLE` if the file is something else, which is left
// alone; `TAVOLA_ERR_PERMISSION`, also for another user's table in a directory where everybody may
// make files.
tavola_status tavola_names_remove(const char *name);

// Opens a table, making it when it is not there. A name stands for a file in the directory of
// tables (see `tavola_names_directory`), anything with a `/` in it is a path. `options` may be
// NULL.
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

// Makes a table.
//
// # Errors
// `TAVOLA_ERR_ALREADY_EXISTS`; else as `tavola_open`.
//
// # Crash
// The table appears whole or not at all.
tavola_status tavola_create(const char *name,
                            const struct tavola_options *options,
                            struct tavola_table **table);

// Opens a table that is there.
//
// # Errors
// `TAVOLA_ERR_NOT_FOUND`; else as `tavola_open`.
tavola_status tavola_open_existing(const char *name,
                                   const struct tavola_options *options,
                                   struct tavola_table **table);

// Opens a table for reading only, through a mapping that cannot be written to.
//
// # Errors
// `TAVOLA_ERR_NOT_FOUND`; else as `tavola_open`.
tavola_status tavola_open_read_only(const char *name,
                                    const struct tavola_options *options,
                                    struct tavola_table **table);

// Makes a table in this process's own memory: no file, no other process, gone when closed. For
// tests; all of `max_size` is taken at once.
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION`.
tavola_status tavola_open_private(const struct tavola_options *options,
                                  struct tavola_table **table);

// Closes a table: this process is no participant any more. NULL is none.
void tavola_close(struct tavola_table *table);

// Opens a table again, with the same options, if its file was removed or replaced meanwhile (`mv
// new live`, a logout): a handle goes on in the file it has opened. `*table` is the new handle
// then, and the old one is closed as by `tavola_close`: no other thread may be using it. `*moved`,
// which may be NULL, says whether that was so. Costs one system call if not.
//
// A handle that writes looks for itself, once a second at most, and gives a notice
// (`tavola_on_notice`); it does not move over by itself.
//
// # Errors
// `TAVOLA_ERR_NOT_FOUND` when there is no table of that name any more; else as
// `tavola_open_existing`. The handle stays as it is then.
tavola_status tavola_refresh(struct tavola_table **table, int *moved);

// Hands notices of the library to `each`, instead of writing them to standard error: that a table
// which is open has lost its name, for example. A notice is one sentence or two, without an end of
// line. `each` is called by the thread that found it out, in the middle of a call, but while no
// lock is held. NULL: notices go nowhere. `user` is handed to `each` as it is, by any thread.
void tavola_on_notice(tavola_each_text each, void *user);

// The path of the table's file, lent until the table is closed.
const char *tavola_path(const struct tavola_table *table);

// Whether the table was opened for reading only.
bool tavola_is_read_only(const struct tavola_table *table);

// Reads the value of a key. What a caller's buffer held behind the value, or where there is none,
// stays, but for bytes that are 0 because another value stood there meanwhile.
//
// # Errors
// `TAVOLA_MISSING`: it is not there. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it
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

// Whether the key is there: `TAVOLA_OK` or `TAVOLA_MISSING`.
//
// # Errors
// As `tavola_get`.
tavola_status tavola_contains(const struct tavola_table *table, const void *key, size_t key_len);

// Lends the value of a key: it stays as it is until `tavola_view_end`, whatever is written to the
// key. The table stays open until then.
//
// A value that is longer than some 16 KB is not copied, and stands in one or more pieces; a
// shorter one is copied. So is any value of a table that is open for reading only, of a process
// that cannot become a participant, and where six views and reads of large values are under way
// through this handle.
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
tavola_status tavola_view_begin(const struct tavola_table *table,
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
void tavola_view_end(struct tavola_view *view);

// Sets a key, whether or not it is there. It lives as long as the table was made to let it, and
// its flags are 0, whatever it had.
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

// Sets a key only if it is missing.
//
// # Errors
// `TAVOLA_PRESENT`: it is there and stays as it is. Else as `tavola_set`.
tavola_status tavola_add(const struct tavola_table *table,
                         const void *key,
                         size_t key_len,
                         const void *value,
                         size_t value_len);

// Sets a key only if it is there.
//
// # Errors
// `TAVOLA_MISSING`: it is not there and stays so. Else as `tavola_set`.
tavola_status tavola_replace(const struct tavola_table *table,
                             const void *key,
                             size_t key_len,
                             const void *value,
                             size_t value_len);

// As `tavola_set`, with attributes; NULL: those of `tavola_set`. What the key had is gone.
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

// As `tavola_add`, with attributes; NULL: those of `tavola_set`.
//
// # Errors
// `TAVOLA_PRESENT`: it is there and stays as it is. Else as `tavola_set_with`.
tavola_status tavola_add_with(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              const void *value,
                              size_t value_len,
                              const struct tavola_attributes *attributes);

// As `tavola_replace`, with attributes; NULL: those of `tavola_set`. What the key had is gone.
//
// # Errors
// `TAVOLA_MISSING`: it is not there and stays so. Else as `tavola_set_with`.
tavola_status tavola_replace_with(const struct tavola_table *table,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_attributes *attributes);

// Adds bytes after the value. The key keeps its attributes.
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

// Removes a key.
//
// # Errors
// `TAVOLA_MISSING`: it was not there. Else as `tavola_set`, but never `TAVOLA_ERR_FULL`.
//
// # Crash
// Killed before it returned: the key is there, whole, or it is not.
tavola_status tavola_remove(const struct tavola_table *table, const void *key, size_t key_len);

// Changes a value atomically: `change` gets the old value and gives the new one. The key keeps its
// attributes.
//
// # Errors
// `TAVOLA_MISSING`: the key is not there now. Else as `tavola_set`.
//
// # Concurrency
// `change` is called holding no lock, and again when another process changed the key meanwhile.
tavola_status tavola_update(const struct tavola_table *table,
                            const void *key,
                            size_t key_len,
                            tavola_update_fn change,
                            void *user);

// As `tavola_update`, of the key with this uid: `old` is never NULL. Its uid stays.
//
// # Errors
// `TAVOLA_MISSING`: there is none now, as there was none, and `change` was not called, or as
// `change` removed it. Else as `tavola_set`.
//
// # Concurrency
// `change` is called holding no lock, and again when another process changed the key meanwhile, or
// removed it and the uid went to another key, unless the hint has a generation.
tavola_status tavola_update_by_uid(const struct tavola_table *table,
                                   tavola_hint hint,
                                   tavola_update_fn change,
                                   void *user);

// Removes a key and gives the value it had.
//
// # Errors
// `TAVOLA_MISSING`: it was not there. `TAVOLA_ERR_TOO_SMALL`: `value->len` says how much room it
// needs, and the key stays. `TAVOLA_ERR_STOPPED`: the callback gave no room or refused the value;
// the key is removed, and `tavola_untaken` has the value. Else as `tavola_remove`.
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
// `TAVOLA_MISSING`: it was not there, and is set now. `TAVOLA_ERR_TOO_SMALL`: `old->len` says how
// much room the old value needs, which stays. `TAVOLA_ERR_STOPPED`: the callback gave no room for
// the old value or refused it; the key is set, and `tavola_untaken` has the old value. Else as
// `tavola_set`.
tavola_status tavola_swap(const struct tavola_table *table,
                          const void *key,
                          size_t key_len,
                          const void *value,
                          size_t value_len,
                          struct tavola_buffer *old);

// Gives again what the last `tavola_take` or `tavola_swap` of this thread that came to
// `TAVOLA_ERR_STOPPED` took from the table, and its callback did not take. It is kept until it is
// given, or the next is refused, or the thread ends.
//
// # Errors
// `TAVOLA_MISSING`: there is none, or it was given. `TAVOLA_ERR_TOO_SMALL`, `TAVOLA_ERR_STOPPED`:
// it is kept.
tavola_status tavola_untaken(struct tavola_buffer *value);

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

// Tells the token of a key that has this value, whichever key it is: for what was read otherwise
// than by `tavola_get_with_token`. Of a table made with `versions`: TAVOLA_ERR_BAD_OPTION.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_token_of(const struct tavola_table *table,
                              const void *value,
                              size_t value_len,
                              uint64_t *token);

// Sets a key if its value is still the one its token was read with.
//
// # Errors
// `TAVOLA_CHANGED`: it has another value. `TAVOLA_MISSING`: it is not there. Else as `tavola_set`.
tavola_status tavola_compare_and_swap(const struct tavola_table *table,
                                      const void *key,
                                      size_t key_len,
                                      uint64_t token,
                                      const void *value,
                                      size_t value_len);

// As `tavola_compare_and_swap`, with attributes; NULL: those of `tavola_set`. What the key had is
// gone.
//
// # Errors
// `TAVOLA_CHANGED`: it has another value. `TAVOLA_MISSING`: it is not there. Else as
// `tavola_set_with`.
tavola_status tavola_compare_and_swap_with(const struct tavola_table *table,
                                           const void *key,
                                           size_t key_len,
                                           uint64_t token,
                                           const void *value,
                                           size_t value_len,
                                           const struct tavola_attributes *attributes);

// Adds to a counter, beginning at 0 when the key is missing; `now` gets the sum, unless it is
// NULL. Past 2^64 - 1 it begins at 0 again. A counter reads as decimal text, and decimal text can
// be counted on.
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

// As `tavola_incr`, but a missing key becomes `*initial`, or stays missing when that is NULL.
//
// # Errors
// `TAVOLA_MISSING`: it was not there, and `initial` is NULL. Else as `tavola_incr`.
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

// Reads the value of a key, its attributes, and its token for `tavola_compare_and_swap`; each may
// be NULL, and what is NULL costs nothing: without value and token, no value is copied.
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

// Tells how many milliseconds a key will still live, at least 1, or `TAVOLA_TTL_NEVER`.
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
// `TAVOLA_MISSING`: it is not there. `TAVOLA_ERR_ARGUMENT`: there are flags; else as
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
// # Errors
// `TAVOLA_MISSING`: the key is not there. Else as `tavola_get`, and where the key has no uid yet
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
// `TAVOLA_MISSING`: there is none, or it is another key than the one that was meant. Else as
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
// `TAVOLA_MISSING`: there is none. Else as `tavola_set`.
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
// `TAVOLA_MISSING`: there is none. Else as `tavola_remove`.
//
// # Crash
// As `tavola_remove`.
tavola_status tavola_remove_by_uid(const struct tavola_table *table, tavola_hint hint);

// Tells the key with this uid.
//
// # Errors
// `TAVOLA_MISSING`: there is none. Else as `tavola_get`.
tavola_status tavola_key_of_uid(const struct tavola_table *table,
                                tavola_hint hint,
                                struct tavola_buffer *key);

// Begins a walk through all keys, in no particular order. The table stays open until the walk is
// closed.
//
// # Concurrency
// Takes no lock. A key that is there from the beginning of the walk to its end is met at least
// once, whatever grows, shrinks or moves; one that is written meanwhile may be met twice.
tavola_status tavola_iter_open(const struct tavola_table *table, struct tavola_iter **iter);

// The next key and its value, lent until the next call with this walk. `value` may be NULL.
//
// # Errors
// `TAVOLA_END`: there are no more. `TAVOLA_ERR_CORRUPT`: some item could not be read; reported
// once, after all that could. The next call returns `TAVOLA_END`.
tavola_status tavola_iter_next(struct tavola_iter *iter,
                               struct tavola_bytes *key,
                               struct tavola_bytes *value);

// As `tavola_iter_next`, with what the key has beside its value. `value` and `attributes` may be
// NULL.
//
// # Errors
// As `tavola_iter_next`.
tavola_status tavola_iter_next_with_attributes(struct tavola_iter *iter,
                                               struct tavola_bytes *key,
                                               struct tavola_bytes *value,
                                               struct tavola_attributes *attributes);

// Ends a walk. NULL is none.
void tavola_iter_close(struct tavola_iter *iter);

// How many keys there are, at no one moment while others write. One that has expired counts until
// it is removed.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_len(const struct tavola_table *table, uint64_t *keys);

// Tells what the table holds. Reads a word a page: about 1 ms for 64 GiB.
//
// # Errors
// `TAVOLA_ERR_IO` when the file's size cannot be read.
tavola_status tavola_get_stats(const struct tavola_table *table, struct tavola_stats *stats);

// Tells the size classes of blocks that are in use, one by one.
//
// # Errors
// As `tavola_get_stats`.
tavola_status tavola_classes(const struct tavola_table *table, tavola_each_class each, void *user);

// Tells the processes attached for writing, one by one. Those that only read are not known to the
// table.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_participants(const struct tavola_table *table,
                                  tavola_each_participant each,
                                  void *user);

// Tells the keys that a read finds from those that have expired, or lost a tag, and were not
// removed yet: `keys` of `tavola_stats` is the sum of both. It looks at keys that expire only, and
// at some 100,000 of them at most; of more it is an estimate.
//
// # Errors
// Those of mapping the table, where this is its first use.
//
// # Concurrency
// Takes no lock; the numbers are of no one moment while others write.
tavola_status tavola_get_live_keys(const struct tavola_table *table, struct tavola_live_keys *keys);

// Tells what was done with a cache in the last second, the last ten and the last sixty, in this
// order. Of other tables nothing is known.
//
// # Errors
// As `tavola_get_stats`.
tavola_status tavola_get_recent(const struct tavola_table *table,
                                tavola_each_recent each,
                                void *user);

// Tells how long reads and writes of a cache took, by samples: a histogram, from short times to
// long ones, without gaps. Of other tables nothing is known: all counts are 0.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_latencies(const struct tavola_table *table,
                               tavola_each_latency each,
                               void *user);

// Tells the times in nanoseconds within which that part of the timed calls, 0 to 1, was done,
// estimated from what `tavola_latencies` tells: 0.5 for the median. 0: none was timed. NULL for
// what is not wanted.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: `part` is not from 0 to 1. Else as `tavola_latencies`.
tavola_status tavola_latency_quantile(const struct tavola_table *table,
                                      double part,
                                      uint64_t *read_ns,
                                      uint64_t *write_ns);

// Tells what each shard holds and does, one by one, in the order of their numbers; at no one
// moment while others write.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_shards(const struct tavola_table *table, tavola_each_shard each, void *user);

// Sets how long each lock is waited for while its holder lives, for this handle, in milliseconds;
// `UINT64_MAX`, as from the beginning: as long as it takes. After that a call returns
// `TAVOLA_ERR_BUSY`, and `tavola_last_error` names the holder.
//
// A lock is held for less than a microsecond as a rule. A holder that is stopped (SIGSTOP, a
// debugger, `docker pause`) keeps it until it goes on; one that dies does not, whatever the limit.
// A call may wait for several locks, one after the other. The lock of the page pool is waited for
// without a limit.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_set_lock_timeout(const struct tavola_table *table, uint64_t limit_ms);

// Reports the locks of shards and of the page pool that one process has held at three looks in
// 40 ms: it is stopped, or very busy. Without any, it returns at once.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_lock_holders(const struct tavola_table *table,
                                  tavola_each_holder each,
                                  void *user);

// Reads everything and compares what is derived with what it is derived from. `each` is told what
// is wrong, in plain sentences, at most 100 of them; it may be NULL. `TAVOLA_OK` says that it was
// checked: nothing is wrong when `report->problems` is 0.
//
// # Errors
// `TAVOLA_ERR_IO` when this process cannot attach.
//
// # Concurrency
// Holds one shard's lock at a time for as long as that shard takes. A table open for reading only
// is checked without locks: what others write meanwhile may look wrong.
tavola_status tavola_check(const struct tavola_table *table,
                           struct tavola_check_report *report,
                           tavola_each_text each,
                           void *user);

// Recovers every shard as after a death: whatever is derived from the index is made anew, and what
// cannot be read any more is dropped. The report is that of a check afterwards, with one problem
// told for what was dropped.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`; else as `tavola_check`.
//
// # Crash
// The next to lock the shard recovers it.
tavola_status tavola_repair(const struct tavola_table *table,
                            struct tavola_check_report *report,
                            tavola_each_text each,
                            void *user);

// Copies all keys into a new table, while other processes go on using this one. `keys` gets the
// number of keys of the copy, unless it is NULL.
//
// The copy has the same limits and options, the same mode and the same group. If this process may
// not give it that group, the group of the copy has no rights. A key keeps its value, expiry,
// flags, tags, marks and version. A key that has a uid gets a new uid in the copy. Queues and logs
// beside the table are not copied. The new file is complete and synchronised to its disk before it
// gets its name.
//
// # Errors
// `TAVOLA_ERR_ALREADY_EXISTS`: the name is taken, and that file is unchanged.
// `TAVOLA_ERR_NOT_A_TABLE`: this file is a queue pool or a log. Otherwise as `tavola_create`,
// `tavola_set` and `tavola_iter_next`.
//
// # Concurrency
// A key that is there during the whole copy is in it, with a value that it had meanwhile, whole.
// The values of two keys may be of two moments.
//
// # Crash
// The copy appears whole or not at all.
tavola_status tavola_copy_to(const struct tavola_table *table, const char *name, uint64_t *keys);

// Removes all keys.
//
// # Errors
// As `tavola_remove`.
//
// # Concurrency
// Keys that were there at the beginning are gone at the end; one that is set meanwhile may stay or
// go. No lock is held for more than some 200 keys.
tavola_status tavola_clear(const struct tavola_table *table);

// Gives back all memory that can be given back: merges sparse parts of the index, empties sparse
// pages, waits up to two and a half seconds for the grace of freed pages. `given_back` gets the
// bytes, unless it is NULL.
//
// # Errors
// As `tavola_remove`.
//
// # Concurrency
// Moves at most 64 items under one hold of a lock.
tavola_status tavola_compact(const struct tavola_table *table, uint64_t *given_back);

// Collapses up to `budget_bytes` of the table into huge pages, where the kernel can (about a
// second a GiB), searches up to 256 buckets of each shard for keys that have expired, evicts keys
// of a cache that has more than its capacity until it fits, and gives back some memory nobody
// needs. Goes on where the last call of this process ended.
//
// # Errors
// As `tavola_remove`.
tavola_status tavola_maintain(const struct tavola_table *table,
                              uint64_t budget_bytes,
                              struct tavola_maintained *did);

// Removes all keys that have expired. Writes and `tavola_maintain` do so bit by bit; no reader
// sees them in the meantime.
//
// # Errors
// As `tavola_remove`.
tavola_status tavola_remove_expired(const struct tavola_table *table);

// Frees the slots of participants that died, and wins back what they held; `freed` gets how many
// there were, unless it is NULL. Writes do so by themselves from time to time.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_reap(const struct tavola_table *table, uint32_t *freed);

// How many bytes a cache may take, all told; 0: the table is no cache.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_capacity(const struct tavola_table *table, uint64_t *bytes);

// Changes how many bytes a cache may take, for all who use it; rounded down to 16 KiB. A smaller
// capacity is applied step by step, by the writes that follow, and by `tavola_maintain`, which
// does all that is left.
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` when the table is no cache, or cannot have so many;
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_set_capacity(const struct tavola_table *table, uint64_t bytes);

// Tells tags of these names as they are at this moment, for `tavola_set_tagged`; one that is not
// there yet is made. Take them *before* reading what the value is made of: should a tag be
// invalidated while the value is made, the key is missing from the beginning. So it is if a cache
// evicted the tag meanwhile, which it does when no key was set or read with it for a while: do not
// keep them for long.
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
tavola_status tavola_tags_of(const struct tavola_table *table,
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
// expired. `TAVOLA_MISSING`: there was no such tag, and so no such key.
//
// # Errors
// As `tavola_remove`.
//
// # Crash
// Killed before it returned: all the keys are there, or none is.
tavola_status tavola_invalidate_tag(const struct tavola_table *table,
                                    const void *name,
                                    size_t name_len);

// Tells the names of the tags that a key has, as it was at one moment. `TAVOLA_MISSING`: there is
// no such key.
//
// # Errors
// As `tavola_get`.
tavola_status tavola_key_tags(const struct tavola_table *table,
                              const void *key,
                              size_t key_len,
                              tavola_each_tag each,
                              void *user);

// Reads many keys: calls `each` once for each, in order.
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
                              tavola_found each,
                              void *user);

// As `tavola_get_many`, with what each key has beside its value.
//
// # Errors
// As `tavola_get_many`.
//
// # Concurrency
// As `tavola_get_many`; value and attributes are of one moment.
tavola_status tavola_get_many_entries(const struct tavola_table *table,
                                      const struct tavola_bytes *keys,
                                      size_t count,
                                      tavola_found_entry each,
                                      void *user);

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
// `TAVOLA_MISSING`: there is no such key. `TAVOLA_PRESENT`: it was to be added, and was there.
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
// `value` gets the value after `TAVOLA_HIT`, `TAVOLA_STALE` and `TAVOLA_STALE_WON`, and after
// `TAVOLA_FAILED` what was told of it. `lease` gets a lease to fill after `TAVOLA_WON` and
// `TAVOLA_STALE_WON`, one to wait for after `TAVOLA_WAIT`, else NULL; it is closed in each case by
// `tavola_lease_close`.
//
// A value is stored by `tavola_lease_fill` to expire when it is neither fresh nor stale any more.
// One that was set otherwise is stale when it has no more than `stale_ms` to live, and fresh as
// long as it does not expire. `tavola_remove` ends the lease of a key, too: what is computed from
// what was before is not stored.
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
// `TAVOLA_PASSED_ON`: nothing is stored, for the lease has passed on, as its time was over; or the
// key was removed or set meanwhile; or this is a forked child.
// `TAVOLA_ERR_ARGUMENT`: the lease is another's, or has ended before. Else as `tavola_set`; the
// lease is given up then.
//
// # Crash
// Killed before it returned: the value is there, or the lease passes on.
tavola_status tavola_lease_fill(struct tavola_lease *lease, const void *value, size_t value_len);

// As `tavola_lease_fill`, with tags, which are to be taken before the value is computed: see
// `tavola_tags_of`. NULL: none.
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
// asks gets the stale value where there is one, else is told `TAVOLA_FAILED` with `error`, of
// which 88 bytes are kept.
//
// # Errors
// `TAVOLA_PASSED_ON`: it had passed on. `TAVOLA_ERR_ARGUMENT`: the lease is another's, or has
// ended before. Else as `tavola_remove`.
//
// # Crash
// Killed before it returned: others are told, or the lease passes on.
tavola_status tavola_lease_fail(struct tavola_lease *lease,
                                uint64_t back_off_ms,
                                const void *error,
                                size_t error_len);

// Sleeps until a lease that another has (`TAVOLA_WAIT`) has ended, or its owner has died, or the
// key is there: ask for it again.
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

// The value of a key, which one process of all that ask for it computes, by `compute`, if it is
// missing or stale: see `tavola_get_or_lease`. The others sleep meanwhile, or get the stale value.
//
// A value that cannot be stored, as the table is full, or that is not stored, as it took longer
// than the lease, is returned all the same.
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

// As `tavola_get_or_compute`, of a value that gets tags of these names, see `tavola_set_tagged`.
// They are taken before it is computed: if one is invalidated meanwhile, the value is returned,
// but missing for who asks next. A value that is there already keeps the tags it has.
//
// # Errors
// As `tavola_get_or_compute`; where the value is to be computed, as `tavola_tags_of`, too.
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

// Opens a pool in a file of its own, making it when it is not there. An existing one keeps its own
// elements and queues.
//
// # Errors
// `TAVOLA_ERR_NOT_THERE` when there is a table of that name which is no pool's; else as
// `tavola_open` and `tavola_pool_create`.
tavola_status tavola_pool_open(const char *name,
                               const struct tavola_pool_options *options,
                               struct tavola_pool **pool);

// Makes a pool in a file of its own, which is a table as well, without room for keys.
//
// # Errors
// `TAVOLA_ERR_ALREADY_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` when the file system has
// no room for all elements; else as `tavola_create`.
//
// # Crash
// The pool appears whole or not at all.
tavola_status tavola_pool_create(const char *name,
                                 const struct tavola_pool_options *options,
                                 struct tavola_pool **pool);

// Opens a pool that is there, in a file of its own.
//
// # Errors
// As `tavola_open_existing`; `TAVOLA_ERR_NOT_THERE` when that file has none.
tavola_status tavola_pool_open_existing(const char *name, struct tavola_pool **pool);

// Opens a pool beside a table, in its file and within its `max_size`, making it when it is not
// there. There can be 16, and each stays as long as the table.
//
// # Errors
// As `tavola_pool_create_beside`.
tavola_status tavola_pool_open_beside(const struct tavola_table *table,
                                      const char *name,
                                      const struct tavola_pool_options *options,
                                      struct tavola_pool **pool);

// Makes a pool beside a table.
//
// # Errors
// `TAVOLA_ERR_ALREADY_THERE`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` when the table has no such stretch of pages that were
// never used, or the file system no room.
//
// # Crash
// The pool appears whole or not at all.
tavola_status tavola_pool_create_beside(const struct tavola_table *table,
                                        const char *name,
                                        const struct tavola_pool_options *options,
                                        struct tavola_pool **pool);

// Opens a pool that is there, beside a table.
//
// # Errors
// `TAVOLA_ERR_NOT_THERE`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_pool_open_existing_beside(const struct tavola_table *table,
                                               const char *name,
                                               struct tavola_pool **pool);

// Tells the names of the pools beside a table.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_pools(const struct tavola_table *table, tavola_each_text each, void *user);

// Tells the names of a pool's queues, the one that had all elements at the beginning first.
tavola_status tavola_pool_queues(const struct tavola_pool *pool, tavola_each_text each, void *user);

// The path of the file that the pool is in, lent until the pool is closed.
const char *tavola_pool_path(const struct tavola_pool *pool);

// How many elements the pool has.
uint32_t tavola_pool_elements(const struct tavola_pool *pool);

// How many queues the pool has room for, those that it has among them.
uint32_t tavola_pool_queue_room(const struct tavola_pool *pool);

// Bytes of an element.
uint32_t tavola_pool_element_bytes(const struct tavola_pool *pool);

// Checks the file that the pool is in; see `tavola_check`.
//
// # Errors
// As `tavola_check`.
//
// # Concurrency
// All queues stand still while they are looked at.
tavola_status tavola_pool_check(const struct tavola_pool *pool,
                                struct tavola_check_report *report,
                                tavola_each_text each,
                                void *user);

// As `tavola_set_lock_timeout`, for the queues of this pool and the table that it was opened by.
tavola_status tavola_pool_set_lock_timeout(const struct tavola_pool *pool, uint64_t limit_ms);

// Closes a pool. What was popped through it and not pushed is lost, and can be reclaimed, when its
// queues are closed as well. NULL is none.
void tavola_pool_close(struct tavola_pool *pool);

// The bytes of an element, aligned to 8, at the same place as long as the pool or one of its
// queues is open; NULL when the pool has no such element. Only who holds the element may read or
// write them, and of its threads one at a time. Pushing and popping hand on what was written.
void *tavola_pool_element(const struct tavola_pool *pool, uint32_t element);

// Copies `len` bytes of an element that this handle holds, from `at` on.
//
// # Errors
// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_ARGUMENT` when there are no such bytes; else as
// `tavola_push`.
tavola_status tavola_pool_read(const struct tavola_pool *pool,
                               uint32_t element,
                               uint32_t at,
                               void *data,
                               size_t len);

// Copies bytes into an element that this handle holds, from `at` on.
//
// # Errors
// As `tavola_pool_read`.
tavola_status tavola_pool_write(const struct tavola_pool *pool,
                                uint32_t element,
                                uint32_t at,
                                const void *data,
                                size_t len);

// Tells the elements that are held by processes which died or closed the pool.
//
// # Errors
// As `tavola_pool_reclaim`.
//
// # Concurrency
// As `tavola_pool_reclaim`.
tavola_status tavola_pool_lost(const struct tavola_pool *pool,
                               tavola_each_element each,
                               void *user);

// Takes those elements: this handle holds them now, and each is told to the callback, which may
// look at it and push it. Each goes to one, however many reclaim at once. Work that grows with the
// number of elements.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at a process's first write as `tavola_set`.
//
// # Concurrency
// Passes the locks of all queues once, and so waits for a process that is stopped in a push or
// pop.
tavola_status tavola_pool_reclaim(const struct tavola_pool *pool,
                                  tavola_each_element each,
                                  void *user);

// Opens one of a pool's queues, which keeps the pool's file open. A pool's handle reads each
// name once.
//
// # Errors
// `TAVOLA_ERR_NOT_THERE`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_queue_open(const struct tavola_pool *pool,
                                const char *name,
                                struct tavola_queue **queue);

// Adds a queue, without elements, for which the pool was made with room (`queue_room`), and opens
// it. It stays as long as the pool.
//
// # Errors
// `TAVOLA_ERR_ALREADY_THERE` when there is one of that name: `tavola_queue_open` opens it;
// `TAVOLA_ERR_BAD_NAME` when the name has not 1 to 56 bytes; `TAVOLA_ERR_FULL` when the pool has
// no room for another; `TAVOLA_ERR_CORRUPT`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at a
// process's first write as `tavola_set`.
//
// # Concurrency
// Whoever has the pool open finds the queue by its name at once. Of those that add one of the same
// name at once, one does.
//
// # Crash
// The queue is there whole or not at all.
tavola_status tavola_pool_add_queue(const struct tavola_pool *pool,
                                    const char *name,
                                    struct tavola_queue **queue);

// Adds an element that this process holds, and holds no more then.
//
// # Errors
// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at a process's first
// write as `tavola_set`.
//
// # Concurrency
// Takes a short lock. A process that dies or is stopped within delays those who need the same one
// until its death is noticed (some 10 ms), or until it goes on.
//
// # Crash
// Killed before it returned: the element stands in the queue, or is held by a dead process.
tavola_status tavola_push(const struct tavola_queue *queue, uint32_t element);

// Adds elements in this order. Of each 1024, others see all or none.
//
// # Errors
// As `tavola_push`; those of earlier stretches of 1024 are in the queue then, the others are still
// held.
tavola_status tavola_push_many(const struct tavola_queue *queue,
                               const uint32_t *elements,
                               size_t count);

// Takes the first element.
//
// # Errors
// `TAVOLA_EMPTY`: there is none. Else as `tavola_push`; `TAVOLA_ERR_CORRUPT`.
//
// # Concurrency
// As `tavola_push`, by another lock. A look at an empty queue takes none.
//
// # Crash
// Killed before it returned: the element stands in the queue, or is held by a dead process.
tavola_status tavola_pop(const struct tavola_queue *queue, uint32_t *element);

// As `tavola_pop`, waiting for an element if there is none, but no longer than `timeout_ms`;
// `UINT64_MAX`: for ever.
//
// # Errors
// `TAVOLA_TIMEOUT`: none came. Else as `tavola_pop`.
tavola_status tavola_pop_wait(const struct tavola_queue *queue,
                              uint64_t timeout_ms,
                              uint32_t *element);

// Takes as many elements as there are and `elements` has room for, at most 1024; `count` gets how
// many.
//
// # Errors
// As `tavola_pop`.
tavola_status tavola_pop_many(const struct tavola_queue *queue,
                              uint32_t *elements,
                              size_t most,
                              size_t *count);

// As `tavola_pop_many`, waiting for the first element if there is none.
//
// # Errors
// As `tavola_pop_wait`.
tavola_status tavola_pop_many_wait(const struct tavola_queue *queue,
                                   uint32_t *elements,
                                   size_t most,
                                   uint64_t timeout_ms,
                                   size_t *count);

// Pops at most `most` elements, of 1024, and pushes them to another queue of the pool; `count`,
// unless it is NULL, gets how many.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: the other queue is of another pool, or of another handle of it.
// `TAVOLA_ERR_NOT_HELD`: another thread has just pushed one of them, or the pool is damaged; the
// others are at the end of this queue then, and none is in the other. Else as `tavola_pop`.
//
// # Crash
// In between, the elements are this process's, as if it had popped them.
tavola_status tavola_pass(const struct tavola_queue *queue,
                          const struct tavola_queue *to,
                          size_t most,
                          size_t *count);

// As `tavola_pass`, waiting for the first element if there is none.
//
// # Errors
// `TAVOLA_TIMEOUT`: none came. Else as `tavola_pass`.
tavola_status tavola_pass_wait(const struct tavola_queue *queue,
                               const struct tavola_queue *to,
                               size_t most,
                               uint64_t timeout_ms,
                               size_t *count);

// How many elements the queue holds, in passing.
size_t tavola_queue_len(const struct tavola_queue *queue);

// Closes a queue. NULL is none.
void tavola_queue_close(struct tavola_queue *queue);

// Watches a queue; starts a thread. When the descriptor is readable, clear it first, then pop
// until the queue is empty, and poll again.
//
// # Errors
// `TAVOLA_ERR_IO` when there is no descriptor or no thread to be had; `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_watch_open(const struct tavola_queue *queue, struct tavola_watch **watch);

// The descriptor, for `poll` and `epoll`; it stays the watch's. -1 for NULL.
int tavola_watch_fd(const struct tavola_watch *watch);

// Makes it unreadable until the queue is looked at again, which is at once if it still holds
// something.
tavola_status tavola_watch_clear(const struct tavola_watch *watch);

// Ends a watch, and its thread. NULL is none.
void tavola_watch_close(struct tavola_watch *watch);

// Opens a log in a file of its own, making it when it is not there. An existing one keeps its own
// size, and what it does when it is full. `options` may be NULL.
//
// # Errors
// `TAVOLA_ERR_NOT_THERE` when there is a table of that name which is no log's; else as
// `tavola_open` and `tavola_log_create`.
tavola_status tavola_log_open(const char *name,
                              const struct tavola_log_options *options,
                              struct tavola_log **log);

// Makes a log in a file of its own, which is a table as well, without room for keys. `options` may
// be NULL.
//
// # Errors
// `TAVOLA_ERR_ALREADY_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` when the file system has
// no room for it; else as `tavola_create`.
//
// # Crash
// The log appears whole or not at all.
tavola_status tavola_log_create(const char *name,
                                const struct tavola_log_options *options,
                                struct tavola_log **log);

// Opens a log that is there, in a file of its own.
//
// # Errors
// As `tavola_open_existing`; `TAVOLA_ERR_NOT_THERE` when that file has none.
tavola_status tavola_log_open_existing(const char *name, struct tavola_log **log);

// Opens a log that is there, in a file of its own, only to read it (`tavola_log_reader_open`).
//
// # Errors
// As `tavola_log_open_existing`.
tavola_status tavola_log_open_read_only(const char *name, struct tavola_log **log);

// Opens a log beside a table, in its file and within its `max_size`, making it when it is not
// there. There can be 16 logs and pools, and each stays as long as the table. `options` may be
// NULL.
//
// # Errors
// As `tavola_log_create_beside`.
tavola_status tavola_log_open_beside(const struct tavola_table *table,
                                     const char *name,
                                     const struct tavola_log_options *options,
                                     struct tavola_log **log);

// Makes a log beside a table. `options` may be NULL.
//
// # Errors
// `TAVOLA_ERR_ALREADY_THERE`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` when the table has no such stretch of pages that were
// never used, or the file system no room.
//
// # Crash
// The log appears whole or not at all.
tavola_status tavola_log_create_beside(const struct tavola_table *table,
                                       const char *name,
                                       const struct tavola_log_options *options,
                                       struct tavola_log **log);

// Opens a log that is there, beside a table; to read it, a table that is open read-only will do.
//
// # Errors
// `TAVOLA_ERR_NOT_THERE`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_log_open_existing_beside(const struct tavola_table *table,
                                              const char *name,
                                              struct tavola_log **log);

// Tells the names of the logs beside a table.
//
// # Errors
// Those of mapping the table, where this is its first use.
tavola_status tavola_logs(const struct tavola_table *table, tavola_each_text each, void *user);

// The path of the file that the log is in, lent until the log is closed.
const char *tavola_log_path(const struct tavola_log *log);

// Bytes of all its lines together, at most.
uint64_t tavola_log_bytes(const struct tavola_log *log);

// What happens when a line finds no room: one of `tavola_overload`.
int32_t tavola_log_overload(const struct tavola_log *log);

// Lines that were lost since the log was made: overwritten before a drain wrote them out, or not
// written for want of room, whether or not they were shown on standard error.
uint64_t tavola_log_dropped(const struct tavola_log *log);

// Whether a drain is at work, or was when it was last looked for.
bool tavola_log_has_drain(const struct tavola_log *log);

// Whether lines are shown on standard error while there is no drain, as they are when this is not
// called. For this handle.
//
// A line that finds no room is shown, too; it counts as dropped all the same.
tavola_status tavola_log_show_on_stderr(const struct tavola_log *log, bool shown);

// Closes a log. NULL is none.
void tavola_log_close(struct tavola_log *log);

// Reports what the log holds, at no one moment while others write. Looks at each piece.
tavola_status tavola_log_get_stats(const struct tavola_log *log, struct tavola_log_stats *stats);

// Writes a line: any bytes, without a line's end. Beyond 16,360 they are cut, and the line says
// so. `level` is one of `tavola_level`, whatever `tavola_log_set_level` says.
//
// With `TAVOLA_BLOCK` it waits for the drain if it has to.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_ARGUMENT`: no such level; `TAVOLA_ERR_FULL` when living
// threads have every piece of the log in hand, and the line is shown nowhere; at a process's first
// write as `tavola_set`.
//
// # Concurrency
// All processes and threads write at once, without a lock and without a system call. But as long
// as there is no drain, a line is also shown on standard error, by one `write` (a very long one by
// several), unless `tavola_log_show_on_stderr` says not to.
//
// # Crash
// The line is there when this returns, whatever becomes of its writer then; of a line under way
// there is nothing.
tavola_status tavola_log_line(const struct tavola_log *log,
                              int32_t level,
                              const char *text,
                              size_t len);

// Lets the macros `TAVOLA_LOG_ERROR` to `TAVOLA_LOG_TRACE` skip lines above this level; 0: skip
// all. When this is not called, they skip none. For this handle, in this process.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: no such level.
tavola_status tavola_log_set_level(const struct tavola_log *log, int32_t level);

// Whether the macros write lines of this level. False for NULL: a program whose log could not be
// opened may go on without.
bool tavola_log_is_on(const struct tavola_log *log, int32_t level);

// Tells a line as `tavola log show` prints it, in UTC, without a line's end. Control characters
// are escaped, and what is not UTF-8 is replaced:
// `2026-11-22T10:31:05.123456Z  INFO 4711/4712 text`.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: no such level; those of the buffer.
tavola_status tavola_line_print(const struct tavola_line *line, struct tavola_buffer *printed);

// Becomes the log's drain.
//
// # Errors
// `TAVOLA_ERR_ALREADY_DRAINED`; `TAVOLA_ERR_READ_ONLY`; at a process's first write as
// `tavola_set`.
//
// # Concurrency
// Lines come in the order of their times. One that its writer, held up between reading the clock
// and the end of the line, finishes a tenth of a second later may come after later ones, and so
// may lines around the moment at which the clock of the machine is set back.
//
// # Crash
// A drain begins with the lines that none before it has written out, also those of a time without
// a drain. If a drain dies in the middle of a pass, the next writes the lines of that pass again.
tavola_status tavola_log_drain_open(const struct tavola_log *log, struct tavola_log_drain **drain);

// Writes out the lines that are due: those of the last millisecond may not be. `lines`, unless it
// is NULL, gets how many. The functions of the sink may write to the log.
//
// # Errors
// `TAVOLA_ERR_SINK`: a function of the sink failed, and the lines come again;
// `tavola_last_os_error` has what it returned. `TAVOLA_ERR_ALREADY_DRAINED` in a forked child.
tavola_status tavola_log_drain_pass(struct tavola_log_drain *drain,
                                    const struct tavola_log_sink *sink,
                                    size_t *lines);

// Writes out all lines that are there; for the end, when the writers have ended.
//
// # Errors
// As `tavola_log_drain_pass`.
tavola_status tavola_log_drain_finish(struct tavola_log_drain *drain,
                                      const struct tavola_log_sink *sink,
                                      size_t *lines);

// As `tavola_log_drain_pass`, to a file, a pipe or a terminal, as text: see `tavola_line_print`. A
// descriptor that does not block will not do. Another one may be given with each pass, as a file
// that has become large is rotated; `tavola log drain --file PATH --rotate SIZE` in the shell does
// so by itself.
//
// # Errors
// `TAVOLA_ERR_SINK`: the lines come again, and a part of them may have been written. Else as
// `tavola_log_drain_pass`.
tavola_status tavola_log_drain_pass_fd(struct tavola_log_drain *drain, int fd, size_t *lines);

// As `tavola_log_drain_finish`, to a descriptor.
//
// # Errors
// As `tavola_log_drain_pass_fd`.
tavola_status tavola_log_drain_finish_fd(struct tavola_log_drain *drain, int fd, size_t *lines);

// Sleeps for a while, 10 ms and `timeout_ms` at most, less if much is written.
tavola_status tavola_log_drain_wait(struct tavola_log_drain *drain, uint64_t timeout_ms);

// Ends a drain. NULL is none.
void tavola_log_drain_close(struct tavola_log_drain *drain);

// Opens a reader, which begins with the oldest line that is there; a log that is open read-only
// will do.
tavola_status tavola_log_reader_open(const struct tavola_log *log,
                                     struct tavola_log_reader **reader);

// Tells the lines that are there and were not told before, in the order of their times.
//
// # Concurrency
// Lines that are just being written may be missing here and come the next time, after later ones;
// `tavola_log_reader_follow` waits for them.
tavola_status tavola_log_reader_lines(struct tavola_log_reader *reader,
                                      tavola_each_line each,
                                      void *user);

// As `tavola_log_reader_lines`, without the lines of the last millisecond, or as long as a writer
// is held up in the middle of a line: so the order holds from call to call, as of a drain.
tavola_status tavola_log_reader_follow(struct tavola_log_reader *reader,
                                       tavola_each_line each,
                                       void *user);

// Passes over all lines that are there.
tavola_status tavola_log_reader_skip(struct tavola_log_reader *reader);

// Pieces of the log, 16 KiB each, that were overwritten before all of them was read; at least, as
// what was written to a piece after it was looked at is not known.
uint64_t tavola_log_reader_missed(struct tavola_log_reader *reader);

// Closes a reader. NULL is none.
void tavola_log_reader_close(struct tavola_log_reader *reader);

// Waits until `count` processes, or threads, have called this with the same table and key; then
// all return. The key is a counter of those that have come: it may be used again by as many. It
// lives for ever, whatever the table's `ttl_ms`.
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
tavola_status tavola_race_start(const struct tavola_table *table,
                                const void *key,
                                size_t key_len,
                                uint32_t count,
                                uint64_t timeout_ms);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TAVOLA_H */


#include <tavola_log.h>

// What a table reports about itself, checks, and maintenance.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_STATS_H
#define TAVOLA_STATS_H

#include <tavola_table.h>

#ifdef __cplusplus
extern "C" {
#endif

// The state of a table. Sizes are bytes.
typedef struct tavola_stats {
  // `sizeof(tavola_stats)`.
  size_t size;
  // Keys; those that have expired, or lost a tag, count until they are removed:
  // `tavola_get_live_keys` distinguishes them.
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
  uint64_t queue_and_log_bytes;
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
  // How many milliseconds keys live unless they are given another time; 0: forever.
  uint64_t ttl_ms;
  // How many bytes a cache may take; 0: the table is no cache.
  uint64_t capacity;
  // Key and value bytes of a cache's probationary, on probation.
  uint64_t probationary_bytes;
  // Probationary that a cache evicted, since it was made.
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
  // `tavola_clear`. Expired and evicted keys do not count.
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

// Called with a size class, which is lent until it returns.
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
  // Whether it lives; a dead one's slot is freed by the next `tavola_reclaim`.
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

// Called with a participant, which is lent until it returns.
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

// Called with the counts of the last while, which are lent until it returns.
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

// Called with a bucket of a histogram, which is lent until it returns.
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

// Called with a shard, which is lent until it returns.
typedef void (*tavola_each_shard)(void *user, const struct tavola_shard *shard);

// A process that holds a lock of a table.
typedef struct tavola_holder {
  // `sizeof(tavola_holder)`, as the library knows it.
  size_t size;
  // The shard whose lock it holds; -1: the lock of the page pool, or a named lock.
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

// Returns the state of a table. It reads one word for each page: about 1 ms for 64 GiB.
//
// # Examples
// ```c
// uint64_t keys = 0;
// tavola_stats stats = TAVOLA_INIT(tavola_stats);
// tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
// tavola_len(table, &keys);
// tavola_get_stats(table, &stats);
// tavola_get_live_keys(table, &live);
// printf("%llu keys in %llu bytes\n", (unsigned long long)live.live,
//        (unsigned long long)stats.resident_bytes);
// ```
//
// # Errors
// `TAVOLA_ERR_IO` if the size of the file cannot be read.
tavola_status tavola_get_stats(const struct tavola_table *table, struct tavola_stats *stats);

// Calls `each` with each size class of blocks that is in use.
//
// # Examples
// ```c
// static void size_class(void *user, const tavola_class *one) {
//   (void)user;
//   printf("blocks of %llu bytes\n", (unsigned long long)one->block_bytes);
// }
//
// static void shard(void *user, const tavola_shard *one) {
//   (void)user;
//   printf("%llu writes\n", (unsigned long long)one->writes);
// }
//
// tavola_classes(table, size_class, NULL);
// tavola_shard_stats(table, shard, NULL);
// ```
//
// # Errors
// As `tavola_get_stats`.
tavola_status tavola_classes(const struct tavola_table *table, tavola_each_class each, void *user);

// Calls `each` with each process that is attached for writing. The table does not know processes
// that only read.
//
// # Examples
// ```c
// static void process(void *user, const tavola_participant *participant) {
//   (void)user;
//   printf("%u %s\n", participant->pid, participant->command ? participant->command : "?");
// }
//
// static void holder(void *user, const tavola_holder *holder) {
//   (void)user;
//   printf("process %u holds the lock of shard %lld\n", holder->pid, (long long)holder->shard);
// }
//
// uint32_t freed = 0;
// tavola_participants(table, process, NULL);
// tavola_lock_holders(table, holder, NULL);
// tavola_reclaim(table, &freed);
// ```
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_participants(const struct tavola_table *table,
                                  tavola_each_participant each,
                                  void *user);

// Counts the keys that a read finds, and the keys that have expired or lost a tag and were not
// removed yet. `keys` of `tavola_stats` is the sum of both. It looks only at keys that can expire,
// and at about 100,000 of them at most; if there are more, the numbers are an estimate.
//
// # Errors
// At the first use of a table, the errors of mapping it.
//
// # Concurrency
// Takes no lock. While other processes write, the numbers are not of one moment.
tavola_status tavola_get_live_keys(const struct tavola_table *table, struct tavola_live_keys *keys);

// Calls `each` with the counts of a cache for the last 1, 10 and 60 seconds, in this order. It is
// not called for a table that is not a cache.
//
// # Examples
// ```c
// static void rates(void *user, const tavola_recent *recent) {
//   (void)user;
//   printf("%llu hits in %llu ms\n", (unsigned long long)recent->hits,
//          (unsigned long long)recent->spanned_ms);
// }
//
// static void bucket(void *user, const tavola_latency *latency) {
//   (void)user;
//   printf("%llu reads of %llu ns or more\n", (unsigned long long)latency->reads,
//          (unsigned long long)latency->from_ns);
// }
//
// uint64_t median_ns = 0;
// tavola_get_recent(table, rates, NULL);
// tavola_latencies(table, bucket, NULL);
// tavola_latency_quantile(table, 0.5, &median_ns, NULL);
// ```
//
// # Errors
// As `tavola_get_stats`.
tavola_status tavola_get_recent(const struct tavola_table *table,
                                tavola_each_recent each,
                                void *user);

// Calls `each` with the buckets of a histogram: how long sampled reads and writes of a cache took,
// from short times to long ones, without gaps. All counts are 0 for a table that is not a cache.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_latencies(const struct tavola_table *table,
                               tavola_each_latency each,
                               void *user);

// Returns an estimated quantile of the times of `tavola_latencies`, in nanoseconds. `part` is 0 to
// 1; 0.5 is the median. The result is 0 without samples. `read_ns` and `write_ns` may be NULL.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: `part` is not from 0 to 1. Otherwise as `tavola_latencies`.
tavola_status tavola_latency_quantile(const struct tavola_table *table,
                                      double part,
                                      uint64_t *read_ns,
                                      uint64_t *write_ns);

// Calls `each` with the state of each shard, in the order of their numbers. While other processes
// write, the numbers are not of one moment.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_shard_stats(const struct tavola_table *table,
                                 tavola_each_shard each,
                                 void *user);

// Limits how long a call with this handle waits for a lock whose holder lives, in milliseconds.
// `UINT64_MAX`, the default, is no limit. When the limit has passed, the call returns
// `TAVOLA_ERR_BUSY`, and `tavola_last_error` names the holder.
//
// A process usually holds a lock for less than a microsecond. A holder that is stopped (SIGSTOP, a
// debugger, `docker pause`) keeps it until it continues; a dead holder never keeps it. A call may
// wait for several locks, one after the other. The limit does not apply to the lock of the page
// pool.
//
// # Examples
// ```c
// tavola_set_lock_timeout(table, 100);
// if (tavola_set(table, TAVOLA_STR("key"), TAVOLA_STR("value")) == TAVOLA_ERR_BUSY) {
//   fputs(tavola_last_error(), stderr);
// }
// ```
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_set_lock_timeout(const struct tavola_table *table, uint64_t limit_ms);

// Calls `each` with each lock of a shard or of the page pool that one process has held at three
// looks within 40 ms; this process is stopped or very busy. Without such a lock it returns at
// once.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_lock_holders(const struct tavola_table *table,
                                  tavola_each_holder each,
                                  void *user);

// Checks a whole table: it reads everything and compares derived data with its source. It calls
// `each`, which may be NULL, with at most 100 sentences about what is wrong. `TAVOLA_OK` says that
// the check was done; the table is sound if `report->problems` is 0.
//
// # Examples
// ```c
// static void problem(void *user, const char *text, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, text);
// }
//
// tavola_check_report report = TAVOLA_INIT(tavola_check_report);
// tavola_check(table, &report, problem, NULL);
// if (report.problems != 0) {
//   tavola_repair(table, &report, problem, NULL);
// }
// ```
//
// # Errors
// `TAVOLA_ERR_IO` if this process cannot attach.
//
// # Concurrency
// Holds the lock of one shard at a time, for as long as this shard takes. With a read-only handle
// it takes no locks, and what others write meanwhile may look wrong.
tavola_status tavola_check(const struct tavola_table *table,
                           struct tavola_check_report *report,
                           tavola_each_text each,
                           void *user);

// Repairs a table: it recovers every shard as after a death, so it builds derived data again and
// drops what cannot be read. The report is that of a check afterwards, with one more problem if
// something was dropped.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`; otherwise as `tavola_check`.
//
// # Crash
// The next process that locks the shard recovers it.
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
// in the table's file are not copied. The new file is complete and synchronised to its disk before
// it gets its name.
//
// # Examples
// ```c
// uint64_t keys = 0;
// if (tavola_copy_to(table, "./backup.tavola", &keys) == TAVOLA_OK) {
//   printf("copied %llu keys\n", (unsigned long long)keys);
// }
// ```
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`: the name is taken, and that file is unchanged.
// `TAVOLA_ERR_NOT_A_TABLE`: this file is a queue pool or a log. Otherwise as `tavola_create`,
// `tavola_set` and `tavola_iter_next`.
//
// # Concurrency
// A key that is there during the whole copy is in it, with a value that it had meanwhile, whole.
// The values of two keys may be of two moments.
//
// # Crash
// The copy appears complete or not at all.
tavola_status tavola_copy_to(const struct tavola_table *table, const char *name, uint64_t *keys);

// Gives back all memory that can be given back: it merges sparse parts of the index, empties
// sparse pages, and waits up to 2.5 seconds for pages whose free is deferred. `given_back`, which
// may be NULL, gets the number of bytes.
//
// # Errors
// As `tavola_remove`.
//
// # Concurrency
// Moves at most 64 items each time that it holds a lock.
tavola_status tavola_compact(const struct tavola_table *table, uint64_t *given_back);

// Does some maintenance: it collapses up to `budget_bytes` of the table into huge pages if the
// kernel can (about one second for 1 GiB), searches up to 256 buckets of each shard for expired
// keys, evicts keys of a cache that exceeds its capacity until it fits, and gives back some unused
// memory. It continues where the last call of this process ended.
//
// # Examples
// ```c
// uint64_t given_back = 0;
// tavola_maintained did = TAVOLA_INIT(tavola_maintained);
// tavola_maintain(table, 64 << 20, &did);
// tavola_remove_expired(table);
// tavola_compact(table, &given_back);
// tavola_clear(table);
// ```
//
// # Errors
// As `tavola_remove`.
tavola_status tavola_maintain(const struct tavola_table *table,
                              uint64_t budget_bytes,
                              struct tavola_maintained *did);

// Removes all keys that have expired. Writes and `tavola_maintain` also do so step by step. No
// reader finds an expired key in the meantime.
//
// # Errors
// As `tavola_remove`.
tavola_status tavola_remove_expired(const struct tavola_table *table);

// Frees the slots of participants that died, and reclaims their resources. `freed`, which may be
// NULL, gets how many there were. Writes also do so from time to time.
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_reclaim(const struct tavola_table *table, uint32_t *freed);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_STATS_H

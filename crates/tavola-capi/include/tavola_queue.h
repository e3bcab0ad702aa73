// Queues of elements in shared memory.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_QUEUE_H
#define TAVOLA_QUEUE_H

#include <tavola_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

// Elements in shared memory, and queues of them. What moves between queues are the numbers of
// elements; their bytes stay where they are. Who popped an element holds it, and is the only one
// to touch its bytes, until it pushes it to any of the pool's queues. What is popped through a
// handle and its queues is held by all threads that use these.
typedef struct tavola_pool tavola_pool;

// A queue of elements, first in, first out. Any number of threads and processes push and pop at
// once.
typedef struct tavola_queue tavola_queue;

// A descriptor that is readable while a queue holds something.
typedef struct tavola_queue_watch tavola_queue_watch;

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

// Opens a pool in a file of its own, making it when it is not there. An existing one keeps its own
// elements and queues.
//
// # Examples
// ```c
// tavola_pool *pool = NULL, *same = NULL;
// const char *names[] = {"free", "jobs"};
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// options.queues = names;
// options.queue_count = 2;
// if (tavola_pool_create("work", &options, &pool) == TAVOLA_ERR_TABLE_EXISTS) {
//   tavola_pool_open("work", &options, &pool);
// }
// tavola_pool_open_existing("work", &same);
// printf("%s: %u elements of %u bytes\n", tavola_pool_path(pool), tavola_pool_elements(pool),
//        tavola_pool_element_bytes(pool));
// tavola_pool_close(same);
// tavola_pool_close(pool);
// tavola_names_remove("work");
// ```
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT` when there is a table of that name which is no pool's; else as
// `tavola_open` and `tavola_pool_create`.
tavola_status tavola_pool_open(const char *name,
                               const struct tavola_pool_options *options,
                               struct tavola_pool **pool);

// Makes a pool in a file of its own, which is a table as well, without room for keys.
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` when the file system has
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
// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` when that file has none.
tavola_status tavola_pool_open_existing(const char *name, struct tavola_pool **pool);

// Opens a pool beside a table, in its file and within its `max_size`, making it when it is not
// there. There can be 16, and each stays as long as the table.
//
// # Examples
// ```c
// static void print(void *user, const char *name, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, name);
// }
//
// tavola_pool *pool = NULL, *same = NULL, *made = NULL;
// tavola_queue *added = NULL;
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// options.queue_room = 4;
// tavola_pool_open_in(table, "work", &options, &pool);
// if (tavola_pool_create_in(table, "work", &options, &made) == TAVOLA_ERR_OBJECT_EXISTS) {
//   tavola_pool_open_existing_in(table, "work", &same);
// }
// tavola_pools(table, print, NULL);
//
// tavola_pool_add_queue(pool, "urgent", &added);
// tavola_pool_queues(pool, print, NULL);
// printf("room for %u queues\n", tavola_pool_queue_room(pool));
// tavola_queue_close(added);
// tavola_pool_close(same);
// tavola_pool_close(pool);
// ```
//
// # Errors
// As `tavola_pool_create_in`.
tavola_status tavola_pool_open_in(const struct tavola_table *table,
                                  const char *name,
                                  const struct tavola_pool_options *options,
                                  struct tavola_pool **pool);

// Makes a pool beside a table.
//
// # Errors
// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` when the table has no such stretch of pages that were
// never used, or the file system no room.
//
// # Crash
// The pool appears whole or not at all.
tavola_status tavola_pool_create_in(const struct tavola_table *table,
                                    const char *name,
                                    const struct tavola_pool_options *options,
                                    struct tavola_pool **pool);

// Opens a pool that is there, beside a table.
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_pool_open_existing_in(const struct tavola_table *table,
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
void *tavola_pool_element_ptr(const struct tavola_pool *pool, uint32_t element);

// Copies `len` bytes of an element that this handle holds, from `at` on.
//
// # Examples
// ```c
// char bytes[6] = "";
// uint32_t element = 0;
// tavola_pool *pool = NULL;
// tavola_queue *empty = NULL;
// tavola_check_report report = TAVOLA_INIT(tavola_check_report);
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// tavola_pool_open_in(table, "work", &options, &pool);
// tavola_pool_set_lock_timeout(pool, 1000);
// tavola_queue_open(pool, "free", &empty);
// if (tavola_queue_pop(empty, &element) == TAVOLA_OK) {
//   tavola_pool_write(pool, element, 0, TAVOLA_STR("hello"));
//   tavola_pool_read(pool, element, 0, bytes, 5);
//   tavola_queue_push(empty, element);
// }
// tavola_pool_check(pool, &report, NULL, NULL);
// tavola_queue_close(empty);
// tavola_pool_close(pool);
// ```
//
// # Errors
// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_ARGUMENT` when there are no such bytes; else as
// `tavola_queue_push`.
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
// # Examples
// ```c
// static void lost(void *user, uint32_t element) {
//   (void)user;
//   printf("a process died with element %u\n", element);
// }
//
// static void reclaimed(void *user, uint32_t element) {
//   tavola_queue_push((tavola_queue *)user, element);
// }
//
// tavola_pool *pool = NULL;
// tavola_queue *empty = NULL;
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// tavola_pool_open_in(table, "work", &options, &pool);
// tavola_queue_open(pool, "free", &empty);
// tavola_pool_lost(pool, lost, NULL);
// tavola_pool_reclaim(pool, reclaimed, empty);
// tavola_queue_close(empty);
// tavola_pool_close(pool);
// ```
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
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_queue_open(const struct tavola_pool *pool,
                                const char *name,
                                struct tavola_queue **queue);

// Adds a queue, without elements, for which the pool was made with room (`queue_room`), and opens
// it. It stays as long as the pool.
//
// # Errors
// `TAVOLA_ERR_OBJECT_EXISTS` when there is one of that name: `tavola_queue_open` opens it;
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
// # Examples
// ```c
// uint32_t element = 0;
// tavola_pool *pool = NULL;
// tavola_queue *empty = NULL, *jobs = NULL;
// const char *names[] = {"free", "jobs"};
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// options.queues = names;
// options.queue_count = 2;
// tavola_pool_open_in(table, "work", &options, &pool);
// tavola_queue_open(pool, "free", &empty);
// tavola_queue_open(pool, "jobs", &jobs);
//
// if (tavola_queue_pop(empty, &element) == TAVOLA_OK) {
//   strcpy((char *)tavola_pool_element_ptr(pool, element), "resize image 7");
//   tavola_queue_push(jobs, element);
// }
// if (tavola_queue_pop_wait(jobs, 1000, &element) == TAVOLA_OK) {
//   puts((const char *)tavola_pool_element_ptr(pool, element));
//   tavola_queue_push(empty, element);
// }
// tavola_queue_close(jobs);
// tavola_queue_close(empty);
// tavola_pool_close(pool);
// ```
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
tavola_status tavola_queue_push(const struct tavola_queue *queue, uint32_t element);

// Adds elements in this order. Of each 1024, others see all or none.
//
// # Errors
// As `tavola_queue_push`; those of earlier stretches of 1024 are in the queue then, the others are
// still held.
tavola_status tavola_queue_push_many(const struct tavola_queue *queue,
                                     const uint32_t *elements,
                                     size_t count);

// Takes the first element.
//
// # Errors
// `TAVOLA_EMPTY`: there is none. Else as `tavola_queue_push`; `TAVOLA_ERR_CORRUPT`.
//
// # Concurrency
// As `tavola_queue_push`, by another lock. A look at an empty queue takes none.
//
// # Crash
// Killed before it returned: the element stands in the queue, or is held by a dead process.
tavola_status tavola_queue_pop(const struct tavola_queue *queue, uint32_t *element);

// As `tavola_queue_pop`, waiting for an element if there is none, but no longer than `timeout_ms`;
// `UINT64_MAX`: for ever.
//
// # Errors
// `TAVOLA_TIMEOUT`: none came. Else as `tavola_queue_pop`.
tavola_status tavola_queue_pop_wait(const struct tavola_queue *queue,
                                    uint64_t timeout_ms,
                                    uint32_t *element);

// Takes as many elements as there are and `elements` has room for, at most 1024; `count` gets how
// many.
//
// # Examples
// ```c
// uint32_t some[16];
// size_t count = 0;
// tavola_pool *pool = NULL;
// tavola_queue *empty = NULL, *jobs = NULL;
// const char *names[] = {"free", "jobs"};
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// options.queues = names;
// options.queue_count = 2;
// tavola_pool_open_in(table, "work", &options, &pool);
// tavola_queue_open(pool, "free", &empty);
// tavola_queue_open(pool, "jobs", &jobs);
//
// tavola_queue_pop_many(empty, some, 16, &count);
// tavola_queue_push_many(jobs, some, count);
// tavola_queue_pop_many_wait(jobs, some, 16, 1000, &count);
// tavola_queue_push_many(jobs, some, count);
// tavola_queue_pass(jobs, empty, 8, &count);
// tavola_queue_pass_wait(jobs, empty, 8, 1000, &count);
// printf("%zu elements are free\n", tavola_queue_len(empty));
// tavola_queue_close(jobs);
// tavola_queue_close(empty);
// tavola_pool_close(pool);
// ```
//
// # Errors
// As `tavola_queue_pop`.
tavola_status tavola_queue_pop_many(const struct tavola_queue *queue,
                                    uint32_t *elements,
                                    size_t most,
                                    size_t *count);

// As `tavola_queue_pop_many`, waiting for the first element if there is none.
//
// # Errors
// As `tavola_queue_pop_wait`.
tavola_status tavola_queue_pop_many_wait(const struct tavola_queue *queue,
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
// others are at the end of this queue then, and none is in the other. Else as `tavola_queue_pop`.
//
// # Crash
// In between, the elements are this process's, as if it had popped them.
tavola_status tavola_queue_pass(const struct tavola_queue *queue,
                                const struct tavola_queue *to,
                                size_t most,
                                size_t *count);

// As `tavola_queue_pass`, waiting for the first element if there is none.
//
// # Errors
// `TAVOLA_TIMEOUT`: none came. Else as `tavola_queue_pass`.
tavola_status tavola_queue_pass_wait(const struct tavola_queue *queue,
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
// # Examples
// ```c
// tavola_pool *pool = NULL;
// tavola_queue *jobs = NULL;
// tavola_queue_watch *watch = NULL;
// tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
// options.elements = 64;
// options.element_bytes = 256;
// tavola_pool_open_in(table, "work", &options, &pool);
// tavola_queue_open(pool, "free", &jobs);
// tavola_queue_watch_open(jobs, &watch);
// printf("poll descriptor %d\n", tavola_queue_watch_fd(watch));
// tavola_queue_watch_clear(watch);
// tavola_queue_watch_close(watch);
// tavola_queue_close(jobs);
// tavola_pool_close(pool);
// ```
//
// # Errors
// `TAVOLA_ERR_IO` when there is no descriptor or no thread to be had; `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_queue_watch_open(const struct tavola_queue *queue,
                                      struct tavola_queue_watch **watch);

// The descriptor, for `poll` and `epoll`; it stays the watch's. -1 for NULL.
int tavola_queue_watch_fd(const struct tavola_queue_watch *watch);

// Makes it unreadable until the queue is looked at again, which is at once if it still holds
// something.
tavola_status tavola_queue_watch_clear(const struct tavola_queue_watch *watch);

// Ends a watch, and its thread. NULL is none.
void tavola_queue_watch_close(struct tavola_queue_watch *watch);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_QUEUE_H

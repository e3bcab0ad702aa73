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

// A pool of elements in shared memory, and queues of them. Only the numbers of elements move
// between queues; their bytes stay where they are. A process that has popped an element holds it,
// and is the only one that may use its bytes, until it pushes it to a queue of the pool. All
// threads that use a handle hold what was popped with it.
typedef struct tavola_pool tavola_pool;

// A queue of elements, first in, first out. Any number of threads and processes may push and pop
// at once.
typedef struct tavola_queue tavola_queue;

// A descriptor that is readable while a queue has elements.
typedef struct tavola_queue_watch tavola_queue_watch;

// Options of a new pool. Begin with `tavola_pool_options options =
// TAVOLA_INIT(tavola_pool_options);`.
typedef struct tavola_pool_options {
  // `sizeof(tavola_pool_options)`.
  size_t size;
  // How many elements, 1 to 2^30.
  uint32_t elements;
  // How many bytes each element has.
  uint32_t element_bytes;
  // The names of the queues: 1 to 65,536 names of 1 to 56 bytes. The first queue has all
  // elements at the beginning. NULL: one queue, "free".
  const char *const *queues;
  // How many names there are.
  size_t queue_count;
  // The mode of the file, if the pool has a file of its own; 0600 by default.
  uint64_t mode;
  // Room for so many queues in all, up to 65,536: those that are named here, and those of
  // `tavola_pool_add_queue`; by default only the former. From the beginning, each queue takes
  // 256 bytes, and 4 bytes for each element, with the number of elements rounded up to a power
  // of two.
  size_t queue_room;
  // 1: opens a file of any owner, see `tavola_options`.
  uint64_t any_owner;
} tavola_pool_options;

// Called with the number of an element.
typedef void (*tavola_each_element)(void *user, uint32_t element);

// Opens a pool in a file of its own, and creates it if it does not exist. A pool that exists keeps
// its elements and queues.
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
// `TAVOLA_ERR_NO_OBJECT` if the file of that name is not a pool; otherwise as `tavola_open` and
// `tavola_pool_create`.
tavola_status tavola_pool_open(const char *name,
                               const struct tavola_pool_options *options,
                               struct tavola_pool **pool);

// Creates a pool in a file of its own. The file is a table as well, without room for keys.
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` if the file system has no
// room for all elements; otherwise as `tavola_create`.
//
// # Crash
// The pool appears complete or not at all.
tavola_status tavola_pool_create(const char *name,
                                 const struct tavola_pool_options *options,
                                 struct tavola_pool **pool);

// Opens a pool that exists in a file of its own.
//
// # Errors
// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` if the file is not a pool.
tavola_status tavola_pool_open_existing(const char *name, struct tavola_pool **pool);

// Opens a pool in the file of a table, within its `max_size`, and creates it if it does not exist.
// A table has room for 16 pools, logs and areas, and each stays as long as the table.
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

// Creates a pool in the file of a table.
//
// # Errors
// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` if the table has too few pages in a row that were
// never used, or the file system has no room.
//
// # Crash
// The pool appears complete or not at all.
tavola_status tavola_pool_create_in(const struct tavola_table *table,
                                    const char *name,
                                    const struct tavola_pool_options *options,
                                    struct tavola_pool **pool);

// Opens a pool that exists in the file of a table.
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_pool_open_existing_in(const struct tavola_table *table,
                                           const char *name,
                                           struct tavola_pool **pool);

// Calls `each` with the name of each pool in the file of a table.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_pools(const struct tavola_table *table, tavola_each_text each, void *user);

// Calls `each` with the name of each queue of a pool, first with the queue that had all elements
// at the beginning.
tavola_status tavola_pool_queues(const struct tavola_pool *pool, tavola_each_text each, void *user);

// Returns the path of the pool's file, which is lent until the pool is closed.
const char *tavola_pool_path(const struct tavola_pool *pool);

// Returns how many elements the pool has.
uint32_t tavola_pool_elements(const struct tavola_pool *pool);

// Returns how many queues the pool has room for, including those that it has.
uint32_t tavola_pool_queue_room(const struct tavola_pool *pool);

// Returns how many bytes an element has.
uint32_t tavola_pool_element_bytes(const struct tavola_pool *pool);

// Checks the file of a pool; see `tavola_check`.
//
// # Errors
// As `tavola_check`.
//
// # Concurrency
// All queues stand still during the check.
tavola_status tavola_pool_check(const struct tavola_pool *pool,
                                struct tavola_check_report *report,
                                tavola_each_text each,
                                void *user);

// Limits how long a call waits for a lock, as `tavola_set_lock_timeout` does, for the queues of
// this pool and the table that it was opened with.
tavola_status tavola_pool_set_lock_timeout(const struct tavola_pool *pool, uint64_t limit_ms);

// Closes a pool. If its queues are closed, too, the elements that were popped and not pushed are
// lost, and can be reclaimed. NULL has no effect.
void tavola_pool_close(struct tavola_pool *pool);

// Returns the bytes of an element, aligned to 8, or NULL if there is no such element. The address
// stays the same as long as the pool or one of its queues is open. Only the process that holds the
// element may read or write the bytes, with one thread at a time. After a push, the process that
// pops the element sees them.
void *tavola_pool_element_ptr(const struct tavola_pool *pool, uint32_t element);

// Copies `len` bytes of an element that this handle holds, beginning with byte `at`.
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
// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_ARGUMENT` if the element has no such bytes; otherwise as
// `tavola_queue_push`.
tavola_status tavola_pool_read(const struct tavola_pool *pool,
                               uint32_t element,
                               uint32_t at,
                               void *data,
                               size_t len);

// Copies bytes to an element that this handle holds, beginning with byte `at`.
//
// # Errors
// As `tavola_pool_read`.
tavola_status tavola_pool_write(const struct tavola_pool *pool,
                                uint32_t element,
                                uint32_t at,
                                const void *data,
                                size_t len);

// Calls `each` with each element that is held by a process which died or closed the pool.
//
// # Errors
// As `tavola_pool_reclaim`.
//
// # Concurrency
// As `tavola_pool_reclaim`.
tavola_status tavola_pool_lost(const struct tavola_pool *pool,
                               tavola_each_element each,
                               void *user);

// Takes the lost elements, so that this handle holds them, and calls `each` with each of them.
// `each` may use the element and push it. If several processes reclaim at once, each element goes
// to one of them. The work grows with the number of elements.
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
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at the first write of a process as `tavola_set`.
//
// # Concurrency
// Takes the locks of all queues once, and so waits for a process that is stopped in a push or pop.
tavola_status tavola_pool_reclaim(const struct tavola_pool *pool,
                                  tavola_each_element each,
                                  void *user);

// Opens a queue of a pool. It keeps the file of the pool open. A handle of a pool looks up each
// name once.
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_queue_open(const struct tavola_pool *pool,
                                const char *name,
                                struct tavola_queue **queue);

// Adds a queue without elements to a pool that was created with room for it (`queue_room`), and
// opens it. It stays as long as the pool.
//
// # Errors
// `TAVOLA_ERR_OBJECT_EXISTS` if there is a queue of that name; open it with `tavola_queue_open`.
// `TAVOLA_ERR_BAD_NAME` if the name does not have 1 to 56 bytes; `TAVOLA_ERR_FULL` if the pool has
// no room for another queue; `TAVOLA_ERR_CORRUPT`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`;
// at the first write of a process as `tavola_set`.
//
// # Concurrency
// All processes that have the pool open find the queue by its name at once. If several add a queue
// of the same name, one does.
//
// # Crash
// The queue exists completely or not at all.
tavola_status tavola_pool_add_queue(const struct tavola_pool *pool,
                                    const char *name,
                                    struct tavola_queue **queue);

// Adds an element that this process holds to the end of a queue. The process no longer holds it.
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
// `TAVOLA_ERR_NOT_HELD`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_REENTRANT`; at the first write of a
// process as `tavola_set`.
//
// # Concurrency
// Takes a lock for a short time. If a process dies while it holds the lock, others notice it after
// about 10 ms; if it is stopped, they wait until it continues.
//
// # Crash
// If the process is killed before the call returned, the element is in the queue, or is held by a
// dead process.
tavola_status tavola_queue_push(const struct tavola_queue *queue, uint32_t element);

// Adds elements in this order. Other processes see all or none of each 1024.
//
// # Errors
// As `tavola_queue_push`. The earlier groups of 1024 are then in the queue, and the process still
// holds the others.
tavola_status tavola_queue_push_many(const struct tavola_queue *queue,
                                     const uint32_t *elements,
                                     size_t count);

// Takes the first element of a queue.
//
// # Errors
// `TAVOLA_EMPTY`: the queue is empty. Otherwise as `tavola_queue_push`; `TAVOLA_ERR_CORRUPT`.
//
// # Concurrency
// As `tavola_queue_push`, with another lock. If the queue is empty, it takes no lock.
//
// # Crash
// If the process is killed before the call returned, the element is in the queue, or is held by a
// dead process.
tavola_status tavola_queue_pop(const struct tavola_queue *queue, uint32_t *element);

// Takes the first element of a queue, and waits for one for at most `timeout_ms`; `UINT64_MAX` is
// no limit.
//
// # Errors
// `TAVOLA_TIMEOUT`: the time limit passed before. Otherwise as `tavola_queue_pop`.
tavola_status tavola_queue_pop_wait(const struct tavola_queue *queue,
                                    uint64_t timeout_ms,
                                    uint32_t *element);

// Takes as many elements as the queue has and `elements` has room for (`most`), at most 1024.
// `count` gets how many.
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

// Does the same as `tavola_queue_pop_many`, and waits for the first element for at most
// `timeout_ms`.
//
// # Errors
// As `tavola_queue_pop_wait`.
tavola_status tavola_queue_pop_many_wait(const struct tavola_queue *queue,
                                         uint32_t *elements,
                                         size_t most,
                                         uint64_t timeout_ms,
                                         size_t *count);

// Moves at most `most` elements (and at most 1024) to another queue of the pool. `count`, which
// may be NULL, gets how many.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: the other queue belongs to another pool, or to another handle of this
// one. `TAVOLA_ERR_NOT_HELD`: another thread has just pushed one of the elements, or the pool is
// damaged; the others are then at the end of this queue, and none is in the other one. Otherwise
// as `tavola_queue_pop`.
//
// # Crash
// If the process is killed in between, it holds the elements, as if it had popped them.
tavola_status tavola_queue_pass(const struct tavola_queue *queue,
                                const struct tavola_queue *to,
                                size_t most,
                                size_t *count);

// Does the same as `tavola_queue_pass`, and waits for the first element for at most `timeout_ms`.
//
// # Errors
// `TAVOLA_TIMEOUT`: the time limit passed before. Otherwise as `tavola_queue_pass`.
tavola_status tavola_queue_pass_wait(const struct tavola_queue *queue,
                                     const struct tavola_queue *to,
                                     size_t most,
                                     uint64_t timeout_ms,
                                     size_t *count);

// Returns how many elements the queue holds at this moment.
size_t tavola_queue_len(const struct tavola_queue *queue);

// Closes a queue. NULL has no effect.
void tavola_queue_close(struct tavola_queue *queue);

// Opens a watch on a queue, and starts a thread for it. When its descriptor is readable, clear it
// first, then pop until the queue is empty, and poll again.
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
// `TAVOLA_ERR_IO` if the system gives no descriptor or thread; `TAVOLA_ERR_READ_ONLY`.
tavola_status tavola_queue_watch_open(const struct tavola_queue *queue,
                                      struct tavola_queue_watch **watch);

// Returns the descriptor for `poll` and `epoll`. It belongs to the watch. Returns -1 for NULL.
int tavola_queue_watch_fd(const struct tavola_queue_watch *watch);

// Makes the descriptor unreadable until the watch looks at the queue again, which is at once if
// the queue has elements.
tavola_status tavola_queue_watch_clear(const struct tavola_queue_watch *watch);

// Closes a watch, and ends its thread. NULL has no effect.
void tavola_queue_watch_close(struct tavola_queue_watch *watch);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_QUEUE_H

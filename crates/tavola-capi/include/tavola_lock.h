// Named locks, semaphores, and memory of a program's own.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_LOCK_H
#define TAVOLA_LOCK_H

#include <tavola_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of a program's own in the file of a table.
typedef struct tavola_area tavola_area;

// A lock with a name in the file of a table. All threads of all processes that open it meet at it:
// one holds it exclusively, or up to 96 share it.
typedef struct tavola_lock tavola_lock;

// A semaphore with a name in the file of a table: no more threads of all processes have a permit
// at once than it was created with.
typedef struct tavola_sem tavola_sem;

// Opens the lock of that name in the file of a table, and creates it if it is missing. It takes
// 512 bytes and stays as long as the table; a table has room for 18,716 locks and semaphores.
//
// # Examples
// ```c
// tavola_lock *lock = NULL;
// if (tavola_lock_open(table, "report", &lock) != TAVOLA_OK) {
//   fprintf(stderr, "%s\n", tavola_last_error());
//   return;
// }
// if (tavola_lock_lock(lock) == TAVOLA_OWNER_DIED) {
//   puts("the last one died here: mend what it left");
// }
// printf("again: %s\n", tavola_status_name(tavola_lock_try(lock)));
// printf("10 ms later: %s\n", tavola_status_name(tavola_lock_wait(lock, 10)));
// tavola_lock_unlock(lock);
//
// tavola_lock_shared(lock);
// printf("shared: %s\n", tavola_status_name(tavola_lock_shared_try(lock)));
// printf("and again: %s\n", tavola_status_name(tavola_lock_shared_wait(lock, 10)));
// tavola_lock_close(lock); // All three are released.
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_NAME` if the name does not have 1 to 56 bytes; `TAVOLA_ERR_BAD_OPTION` if it is
// that of a semaphore; `TAVOLA_ERR_FULL`; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_CORRUPT`; at the
// first write of a process as `tavola_set`.
//
// # Crash
// The lock of a killed process is free again: a thread that waits has it within some 20 ms.
// If it was held exclusively, the next holder has the lock exclusively, even if it asked to share
// it, and its call returns `TAVOLA_OWNER_DIED`.
tavola_status tavola_lock_open(const struct tavola_table *table,
                               const char *name,
                               struct tavola_lock **lock);

// Closes a lock. What is held by its handle is released.
void tavola_lock_close(struct tavola_lock *lock);

// Locks it for this thread alone. Waits as long as others hold it; a thread that locks again what
// it holds waits for itself.
//
// Returns `TAVOLA_OK`, or `TAVOLA_OWNER_DIED`: the lock is held then, too.
//
// # Errors
// At the first write of a process as `tavola_set`.
tavola_status tavola_lock_lock(const struct tavola_lock *lock);

// Locks it for this thread alone if nobody holds it; otherwise returns `TAVOLA_TIMEOUT`.
//
// # Errors
// As `tavola_lock_lock`.
tavola_status tavola_lock_try(const struct tavola_lock *lock);

// Locks it for this thread alone. Returns `TAVOLA_TIMEOUT` if others still hold it after so many
// milliseconds; `UINT64_MAX` is no limit.
//
// # Errors
// As `tavola_lock_lock`.
tavola_status tavola_lock_wait(const struct tavola_lock *lock, uint64_t limit_ms);

// Locks it together with others that share it. Waits as long as one holds it exclusively, or waits
// to do so.
//
// # Errors
// As `tavola_lock_lock`.
tavola_status tavola_lock_shared(const struct tavola_lock *lock);

// Shares it if nobody holds it exclusively or waits to do so; otherwise returns `TAVOLA_TIMEOUT`.
//
// # Errors
// As `tavola_lock_lock`.
tavola_status tavola_lock_shared_try(const struct tavola_lock *lock);

// Shares it. Returns `TAVOLA_TIMEOUT` if that was impossible for so many milliseconds;
// `UINT64_MAX` is no limit.
//
// # Errors
// As `tavola_lock_lock`.
tavola_status tavola_lock_shared_wait(const struct tavola_lock *lock, uint64_t limit_ms);

// Releases what was locked by this handle, exclusively or shared: one hold. In a forked child this
// has no effect on what the parent holds.
//
// # Errors
// `TAVOLA_ERR_NOT_HELD`.
tavola_status tavola_lock_unlock(const struct tavola_lock *lock);

// Calls `each` with each process that holds the lock, once for each hold, with the shard -1.
//
// # Examples
// ```c
// static void print(void *user, const tavola_holder *holder) {
//   (void)user;
//   printf("pid %u%s\n", holder->pid, holder->is_stopped ? ", stopped" : "");
// }
//
// tavola_lock *lock = NULL;
// tavola_lock_open(table, "report", &lock);
// tavola_lock_lock(lock);
// tavola_lock_holders_of(lock, print, NULL);
// tavola_lock_close(lock);
// ```
tavola_status tavola_lock_holders_of(const struct tavola_lock *lock,
                                     tavola_each_holder each,
                                     void *user);

// Calls `each` with the name of each lock and semaphore in the file of a table.
//
// # Examples
// ```c
// static void print(void *user, const char *name, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, name);
// }
//
// tavola_lock_names(table, print, NULL);
// ```
//
// # Errors
// `TAVOLA_ERR_CORRUPT`; at the first use of a table, the errors of mapping it.
tavola_status tavola_lock_names(const struct tavola_table *table,
                                tavola_each_text each,
                                void *user);

// Opens the semaphore of that name in the file of a table, and creates it with 1 to 96 permits if
// it is missing.
//
// # Examples
// ```c
// tavola_sem *converters = NULL;
// tavola_sem_open(table, "converters", 2, &converters);
// tavola_sem_acquire(converters);
// tavola_sem_acquire(converters);
// printf("a third: %s\n", tavola_status_name(tavola_sem_try(converters)));
// tavola_sem_release(converters);
// printf("now: %s\n", tavola_status_name(tavola_sem_wait(converters, 100)));
// tavola_sem_close(converters);
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` for another number of permits than it has, or if the name is that of a
// lock; otherwise as `tavola_lock_open`.
//
// # Crash
// The permits of a killed process pass on to those that wait for one, within some 20 ms: their
// calls return `TAVOLA_OWNER_DIED`.
tavola_status tavola_sem_open(const struct tavola_table *table,
                              const char *name,
                              uint32_t permits,
                              struct tavola_sem **semaphore);

// Closes a semaphore. The permits of its handle are given back.
void tavola_sem_close(struct tavola_sem *semaphore);

// Takes a permit. Waits as long as all are taken.
//
// Returns `TAVOLA_OK`, or `TAVOLA_OWNER_DIED`: the permit is taken then, too.
//
// # Errors
// At the first write of a process as `tavola_set`.
tavola_status tavola_sem_acquire(const struct tavola_sem *semaphore);

// Takes a permit if one is free; otherwise returns `TAVOLA_TIMEOUT`.
//
// # Errors
// As `tavola_sem_acquire`.
tavola_status tavola_sem_try(const struct tavola_sem *semaphore);

// Takes a permit. Returns `TAVOLA_TIMEOUT` if all were taken for so many milliseconds;
// `UINT64_MAX` is no limit.
//
// # Errors
// As `tavola_sem_acquire`.
tavola_status tavola_sem_wait(const struct tavola_sem *semaphore, uint64_t limit_ms);

// Gives a permit of this handle back.
//
// # Errors
// `TAVOLA_ERR_NOT_HELD`.
tavola_status tavola_sem_release(const struct tavola_sem *semaphore);

// Opens the area of that name in the file of a table, and creates it with that size if it is
// missing. Its bytes are zero at first. It counts towards the table's `max_size` and stays as long
// as the table; a table has room for 16 pools, logs and areas.
//
// # Examples
// ```c
// static void print(void *user, const char *name, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, name);
// }
//
// tavola_area *area = NULL, *same = NULL;
// tavola_area_open_in(table, "settings", 4096, &area);
// strcpy(tavola_area_data(area), "shared by all processes");
// printf("%s, %llu bytes\n", (char *)tavola_area_data(area),
//        (unsigned long long)tavola_area_bytes(area));
// tavola_areas(table, print, NULL);
// tavola_area_open_existing_in(table, "settings", &same);
// tavola_area_close(same);
// tavola_area_close(area);
// ```
//
// # Errors
// `TAVOLA_ERR_BAD_OPTION` if there is one of another size; `TAVOLA_ERR_BAD_NAME` if the name does
// not have 1 to 96 bytes; `TAVOLA_ERR_FULL` if the table has too few adjacent unused pages, or the
// file system has no room; `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_CORRUPT`.
//
// # Crash
// The area appears complete or not at all.
tavola_status tavola_area_open_in(const struct tavola_table *table,
                                  const char *name,
                                  uint64_t bytes,
                                  struct tavola_area **area);

// Opens an area that exists, whatever its size.
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_area_open_existing_in(const struct tavola_table *table,
                                           const char *name,
                                           struct tavola_area **area);

// Closes an area. Pointers to its bytes are invalid from then on.
void tavola_area_close(struct tavola_area *area);

// Returns the bytes of an area, which begin at a page of the system and never move; NULL if `area`
// is NULL. Other processes may have them at other addresses. If the table is open for reading
// only, a write ends the process with a signal.
void *tavola_area_data(const struct tavola_area *area);

// Returns the size of an area in bytes; 0 if `area` is NULL.
uint64_t tavola_area_bytes(const struct tavola_area *area);

// Calls `each` with the name of each area in the file of a table.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_areas(const struct tavola_table *table, tavola_each_text each, void *user);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_LOCK_H

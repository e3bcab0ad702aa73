// Named locks, semaphores and areas.

#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static tavola_lock *a_lock(tavola_table *table, const char *name) {
  tavola_lock *lock = NULL;
  CHECK_IS(TAVOLA_OK, tavola_lock_open(table, name, &lock));
  return lock;
}

static void count_holder(void *user, const tavola_holder *holder) {
  CHECK(holder->pid == (uint32_t)getpid() && holder->is_alive && holder->shard == -1);
  ++*(int *)user;
}

static void alone_and_shared(tavola_table *table) {
  tavola_lock *lock = a_lock(table, "l"), *same = a_lock(table, "l");
  int holders = 0;
  CHECK_IS(TAVOLA_ERR_NOT_HELD, tavola_lock_unlock(lock));
  CHECK_IS(TAVOLA_OK, tavola_lock_lock(lock));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_try(same));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_wait(same, 5));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_shared_try(same));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_shared_wait(same, 5));
  CHECK_IS(TAVOLA_ERR_NOT_HELD, tavola_lock_unlock(same));
  CHECK_IS(TAVOLA_OK, tavola_lock_holders_of(same, count_holder, &holders));
  CHECK(holders == 1);
  CHECK_IS(TAVOLA_OK, tavola_lock_unlock(lock));

  CHECK_IS(TAVOLA_OK, tavola_lock_shared(lock));
  CHECK_IS(TAVOLA_OK, tavola_lock_shared_try(lock));
  CHECK_IS(TAVOLA_OK, tavola_lock_shared_wait(same, UINT64_MAX));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_try(same));
  holders = 0;
  CHECK_IS(TAVOLA_OK, tavola_lock_holders_of(lock, count_holder, &holders));
  CHECK(holders == 3);
  CHECK_IS(TAVOLA_OK, tavola_lock_unlock(lock));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_try(same));
  // A closed handle holds nothing.
  tavola_lock_close(lock);
  CHECK_IS(TAVOLA_OK, tavola_lock_unlock(same));
  CHECK_IS(TAVOLA_OK, tavola_lock_wait(same, UINT64_MAX));
  tavola_lock_close(same);
  tavola_lock_close(NULL);
}

static void of_the_dead(tavola_table *table) {
  tavola_lock *lock = a_lock(table, "of the dead");
  tavola_sem *semaphore = NULL;
  int ready[2];
  char byte = 0;
  pid_t child;
  CHECK_IS(TAVOLA_OK, tavola_sem_open(table, "permits", 2, &semaphore));
  CHECK(pipe(ready) == 0);
  child = fork();
  if (child == 0) {
    if (tavola_lock_lock(lock) != TAVOLA_OK || tavola_sem_acquire(semaphore) != TAVOLA_OK) {
      _exit(1);
    }
    if (write(ready[1], "x", 1) != 1) _exit(2);
    for (;;) pause();
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lock_try(lock));
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  CHECK_IS(TAVOLA_OWNER_DIED, tavola_lock_wait(lock, 60000));
  CHECK_IS(TAVOLA_OK, tavola_lock_unlock(lock));
  CHECK_IS(TAVOLA_OK, tavola_lock_lock(lock));
  CHECK_IS(TAVOLA_OK, tavola_sem_acquire(semaphore));
  CHECK_IS(TAVOLA_OWNER_DIED, tavola_sem_wait(semaphore, 60000));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_sem_try(semaphore));
  CHECK_IS(TAVOLA_OK, tavola_sem_release(semaphore));
  CHECK_IS(TAVOLA_OK, tavola_sem_try(semaphore));
  tavola_sem_close(semaphore);
  CHECK_IS(TAVOLA_OK, tavola_sem_open(table, "permits", 2, &semaphore));
  CHECK_IS(TAVOLA_OK, tavola_sem_try(semaphore));
  CHECK_IS(TAVOLA_OK, tavola_sem_release(semaphore));
  CHECK_IS(TAVOLA_ERR_NOT_HELD, tavola_sem_release(semaphore));
  tavola_sem_close(semaphore);
  tavola_lock_close(lock);
  close(ready[0]);
  close(ready[1]);
}

static void areas(tavola_table *table) {
  tavola_area *area = NULL, *same = NULL;
  unsigned char *bytes;
  CHECK_IS(TAVOLA_OK, tavola_area_open_in(table, "own", 10000, &area));
  bytes = tavola_area_data(area);
  CHECK(tavola_area_bytes(area) == 10000 && bytes[0] == 0 && bytes[9999] == 0);
  CHECK((uintptr_t)bytes % 4096 == 0);
  bytes[9999] = 7;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_area_open_in(table, "own", 10001, &same));
  CHECK_IS(TAVOLA_ERR_NO_OBJECT, tavola_area_open_existing_in(table, "none", &same));
  CHECK_IS(TAVOLA_OK, tavola_area_open_existing_in(table, "own", &same));
  CHECK(((unsigned char *)tavola_area_data(same))[9999] == 7);
  CHECK(tavola_area_data(NULL) == NULL && tavola_area_bytes(NULL) == 0);
  tavola_area_close(same);
  tavola_area_close(area);
}

static void count_name(void *user, const char *name, size_t len) {
  CHECK(strlen(name) == len);
  ++*(int *)user;
}

static void names(tavola_table *table) {
  tavola_lock *lock = NULL;
  tavola_sem *semaphore = NULL;
  int count = 0;
  CHECK_IS(TAVOLA_OK, tavola_lock_names(table, count_name, &count));
  CHECK(count == 3);
  CHECK_IS(TAVOLA_OK, tavola_areas(table, count_name, &count));
  CHECK(count == 4);
  CHECK_IS(TAVOLA_ERR_BAD_NAME, tavola_lock_open(table, "", &lock));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_lock_open(table, "permits", &lock));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_sem_open(table, "l", 1, &semaphore));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_sem_open(table, "none", 97, &semaphore));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lock_lock(NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_sem_acquire(NULL));
}

int main(void) {
  tavola_table *table = NULL;
  CHECK_IS(TAVOLA_OK, tavola_open("locks", NULL, &table));
  alone_and_shared(table);
  of_the_dead(table);
  areas(table);
  names(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("locks"));
  return 0;
}

// Processes: they begin together, write to one table and hand on elements; one is killed in the
// middle, the others go on, and what it held comes back.

#include "check.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4, WRITES = 2000, ELEMENTS = 64 };

static tavola_queue *a_queue(tavola_pool *pool, const char *name) {
  tavola_queue *queue = NULL;
  CHECK_IS(TAVOLA_OK, tavola_queue_open(pool, name, &queue));
  return queue;
}

// Writes keys of its own and a counter of all, and takes turns with an element. The victim does so
// until it is killed.
static void child(tavola_table *table, tavola_pool *pool, int number) {
  tavola_queue *free_ones = a_queue(pool, "free");
  uint32_t held = 0, element = 0;
  CHECK_IS(TAVOLA_OK, tavola_queue_pop(free_ones, &held));
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "start", 5, CHILDREN + 1, 60000));
  for (int i = 0; number == 0 || i < WRITES; i++) {
    int key[2] = {number, i % WRITES};
    CHECK_IS(TAVOLA_OK, tavola_set(table, key, sizeof key, &i, sizeof i));
    CHECK_IS(TAVOLA_OK, tavola_incr(table, number == 0 ? "victim" : "all", number == 0 ? 6 : 3, 1, NULL));
    CHECK_IS(TAVOLA_OK, tavola_queue_pop_wait(free_ones, 60000, &element));
    *(uint64_t *)tavola_pool_element_ptr(pool, element) += 1;
    CHECK_IS(TAVOLA_OK, tavola_queue_push(free_ones, element));
  }
  CHECK_IS(TAVOLA_OK, tavola_queue_push(free_ones, held));
  tavola_queue_close(free_ones);
}

static void push_back(void *user, uint32_t element) {
  CHECK_IS(TAVOLA_OK, tavola_queue_push(user, element));
}

// Kills the first once it has written, and waits for the others.
static void kill_and_wait(tavola_table *table, const pid_t *children) {
  int status = 0;
  while (has(table, "victim", NULL) || has(table, "victim", "1")) {
    usleep(1000);
  }
  CHECK(kill(children[0], SIGKILL) == 0);
  CHECK(waitpid(children[0], &status, 0) == children[0]);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (int i = 1; i < CHILDREN; i++) {
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void nothing_is_lost(tavola_table *table, tavola_pool *pool) {
  tavola_queue *free_ones = a_queue(pool, "free");
  char text[16];
  CHECK(tavola_queue_len(free_ones) < ELEMENTS);
  CHECK_IS(TAVOLA_OK, tavola_pool_reclaim(pool, push_back, free_ones));
  CHECK(tavola_queue_len(free_ones) == ELEMENTS);
  tavola_queue_close(free_ones);
  snprintf(text, sizeof text, "%d", (CHILDREN - 1) * WRITES);
  CHECK(has(table, "all", text));
  for (int number = 1; number < CHILDREN; number++) {
    for (int i = 0; i < WRITES; i++) {
      int key[2] = {number, i};
      CHECK_IS(TAVOLA_OK, tavola_contains(table, key, sizeof key));
    }
  }
  check_clean(table);
}

// A race that nobody else comes to ends by its time, and is as if it had not been.
static void a_race_without_others(tavola_table *table) {
  CHECK_IS(TAVOLA_TIMEOUT, tavola_barrier_wait(table, "alone", 5, 2, 5));
  CHECK(has(table, "alone", "0"));
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "alone", 5, 1, 0));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_barrier_wait(table, "alone", 5, 0, 0));
  CHECK_IS(TAVOLA_OK, set(table, "text", "no race"));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_barrier_wait(table, "text", 4, 2, 0));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_barrier_join(table, "text", 4));
}

// One of three is killed: while it waits, or after it has said that it will come.
static void a_race_with_a_dead_one(tavola_table *table, bool comes) {
  uint32_t dead = 7;
  int status = 0, ends[2];
  char said = 0;
  CHECK(pipe(ends) == 0);
  CHECK_IS(TAVOLA_OK, tavola_barrier_join(table, "deadly", 6));
  pid_t victim = fork();
  CHECK(victim >= 0);
  if (victim == 0) {
    // From now on its death is noticed.
    CHECK_IS(TAVOLA_OK, tavola_barrier_join(table, "deadly", 6));
    CHECK(write(ends[1], "j", 1) == 1);
    if (comes) {
      tavola_barrier_wait(table, "deadly", 6, 3, 60000);
    }
    pause();
  }
  CHECK(read(ends[0], &said, 1) == 1);
  pid_t other = fork();
  CHECK(other >= 0);
  if (other == 0) {
    CHECK_IS(TAVOLA_OK, tavola_barrier_meet(table, "deadly", 6, 3, 60000, &dead));
    CHECK(dead == 1);
    CHECK_IS(TAVOLA_OK, tavola_barrier_meet(table, "deadly", 6, 3, 60000, &dead));
    exit(dead == 1 ? 0 : 1);
  }
  if (comes) {
    usleep(20 * 1000);
  }
  CHECK(kill(victim, SIGKILL) == 0 && waitpid(victim, &status, 0) == victim);
  CHECK_IS(TAVOLA_OK, tavola_barrier_meet(table, "deadly", 6, 3, 60000, &dead));
  CHECK(dead == 1);
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "deadly", 6, 3, 60000));
  CHECK(waitpid(other, &status, 0) == other && status == 0);
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "deadly", 6));
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

// Removes the key of a race that somebody waits for, as often as there is one. It does not outlive
// its parent.
static void remove_until_killed(tavola_table *table) {
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
  for (;;) {
    if (!has(table, "gone", NULL) && !has(table, "gone", "0")) {
      CHECK_IS(TAVOLA_OK, tavola_remove(table, "gone", 4));
    }
    usleep(1000);
  }
}

// Who waits longer than keys live, is counted all the same; a key that somebody removed stays away.
static void a_race_longer_than_keys_live(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  int64_t ttl_ms = 0;
  int status = 0, races = 0;
  pid_t late;
  options.max_size = 16 << 20;
  options.ttl_ms = 20;
  CHECK_IS(TAVOLA_OK, tavola_create("short-lived", &options, &table));
  late = fork();
  CHECK(late >= 0);
  if (late == 0) {
    usleep(100 * 1000);
    CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "late", 4, 2, 60000));
    remove_until_killed(table);
  }
  CHECK_IS(TAVOLA_TIMEOUT, tavola_barrier_wait(table, "alone", 5, 2, 5));
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "late", 4, 2, 60000));
  CHECK(has(table, "alone", "0"));
  CHECK_IS(TAVOLA_OK, tavola_ttl(table, "alone", 5, &ttl_ms));
  CHECK(ttl_ms == TAVOLA_TTL_NEVER);
  // Once more, where the other had no turn in that time: then the key is as after any race.
  do {
    CHECK_IS(TAVOLA_TIMEOUT, tavola_barrier_wait(table, "gone", 4, 2, 1000));
  } while (has(table, "gone", "0") && ++races < 60);
  CHECK(has(table, "gone", NULL));
  CHECK(kill(late, SIGKILL) == 0 && waitpid(late, &status, 0) == late);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("short-lived"));
}

int main(void) {
  tavola_table *table = NULL;
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  tavola_pool *pool = NULL;
  pid_t children[CHILDREN];
  options.elements = ELEMENTS;
  options.element_bytes = 8;
  // First: its child has nothing else to close.
  a_race_longer_than_keys_live();
  table = a_table("processes");
  a_race_without_others(table);
  a_race_with_a_dead_one(table, false);
  a_race_with_a_dead_one(table, true);
  CHECK_IS(TAVOLA_OK, tavola_pool_create_in(table, "pool", &options, &pool));
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      child(table, pool, i);
      tavola_pool_close(pool);
      tavola_close(table);
      return 0;
    }
  }
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "start", 5, CHILDREN + 1, 60000));
  kill_and_wait(table, children);
  nothing_is_lost(table, pool);
  tavola_pool_close(pool);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("processes"));
  return 0;
}

// Processes that miss a value at once: one computes it; when it is killed, one more does.

#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 8, LONG = 3600000 };

static tavola_lease_options an_hour(void) {
  tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
  options.fresh_ms = LONG;
  options.lease_ms = LONG;
  options.back_off_ms = LONG;
  return options;
}

static uint64_t number(tavola_table *table, const char *key) {
  uint64_t now = 0;
  CHECK_IS(TAVOLA_OK, tavola_incr(table, key, strlen(key), 0, &now));
  return now;
}

// Counts itself and says who computes; then waits until it is told to go on, or is killed.
static int32_t computes(void *user, tavola_bytes *value) {
  tavola_table *table = user;
  const pid_t self = getpid();
  CHECK_IS(TAVOLA_OK, tavola_set(table, "who", 3, &self, sizeof self));
  CHECK_IS(TAVOLA_OK, tavola_incr(table, "computed", 8, 1, NULL));
  while (has(table, "go on", NULL)) {
    usleep(1000);
  }
  value->data = "value";
  value->len = 5;
  return 0;
}

static int32_t fails(void *user, tavola_bytes *value) {
  computes(user, value);
  value->data = "no luck";
  value->len = 7;
  return 1;
}

// Misses the key together with all others, and gets the value, or the error.
static void child(tavola_table *table, tavola_compute_fn compute) {
  const tavola_lease_options options = an_hour();
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  CHECK_IS(TAVOLA_OK, tavola_barrier_wait(table, "start", 5, CHILDREN, 60000));
  CHECK_IS(TAVOLA_OK, tavola_incr(table, "asking", 6, 1, NULL));
  const tavola_status status =
      tavola_get_or_compute(table, "page", 4, &options, compute, table, &value);
  if (compute == computes) {
    CHECK(status == TAVOLA_OK && holds(&value, "value"));
  } else {
    CHECK(status == TAVOLA_ERR_COMPUTE && strstr(tavola_last_error(), "no luck") != NULL);
  }
}

static void start(tavola_table *table, tavola_compute_fn compute, pid_t *children) {
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      child(table, compute);
      tavola_close(table);
      exit(0);
    }
  }
}

static void await(tavola_table *table, const char *key, uint64_t count) {
  while (number(table, key) < count) {
    usleep(1000);
  }
}

static pid_t who_computes(tavola_table *table) {
  pid_t who = 0;
  tavola_buffer value = TAVOLA_BUFFER(&who, sizeof who);
  CHECK_IS(TAVOLA_OK, tavola_get(table, "who", 3, &value));
  return who;
}

// Lets the one go on that computes, once all have asked. All end well but those that were killed.
static void end(tavola_table *table, const pid_t *children, int killed, uint64_t computed) {
  await(table, "asking", CHILDREN);
  usleep(50 * 1000);
  CHECK(number(table, "computed") == computed);
  CHECK_IS(TAVOLA_OK, set(table, "go on", "now"));
  for (int i = 0; i < CHILDREN; i++) {
    int status = 0;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    if (WIFSIGNALED(status)) {
      CHECK(WTERMSIG(status) == SIGKILL && killed-- > 0);
    } else {
      CHECK(WEXITSTATUS(status) == 0);
    }
  }
  CHECK(killed == 0 && number(table, "computed") == computed);
  check_clean(table);
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
}

static void one_computes(tavola_table *table) {
  pid_t children[CHILDREN];
  start(table, computes, children);
  await(table, "computed", 1);
  end(table, children, 0, 1);
}

static void when_it_is_killed_one_more_does(tavola_table *table) {
  pid_t children[CHILDREN];
  start(table, computes, children);
  await(table, "computed", 1);
  CHECK(kill(who_computes(table), SIGKILL) == 0);
  await(table, "computed", 2);
  end(table, children, 1, 2);
}

static void one_fails_for_all(tavola_table *table) {
  pid_t children[CHILDREN];
  start(table, fails, children);
  await(table, "computed", 1);
  end(table, children, 0, 1);
}

// A lease is its parent's: the child ends nothing and stores nothing.
static void a_lease_is_not_forked(tavola_table *table) {
  const tavola_lease_options options = an_hour();
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_lease *lease = NULL, *other = NULL;
  int status = 0;
  CHECK_IS(TAVOLA_OK, tavola_get_or_lease(table, "mine", 4, &options, &value, &leased, &lease));
  CHECK(leased.outcome == TAVOLA_LEASE_WON);
  const pid_t forked = fork();
  CHECK(forked >= 0);
  if (forked == 0) {
    CHECK_IS(TAVOLA_LEASE_LOST, tavola_lease_fill(lease, "child", 5));
    tavola_lease_close(lease);
    CHECK_IS(TAVOLA_OK, tavola_get_or_lease(table, "mine", 4, &options, &value, &leased, &other));
    CHECK(leased.outcome == TAVOLA_LEASE_WAIT && leased.left_ms > 0);
    tavola_lease_close(other);
    tavola_close(table);
    exit(0);
  }
  CHECK(waitpid(forked, &status, 0) == forked && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_IS(TAVOLA_OK, tavola_lease_fill(lease, "parent", 6));
  CHECK(has(table, "mine", "parent"));
  tavola_lease_close(lease);
}

int main(void) {
  tavola_table *table = a_table("lease-processes");
  one_computes(table);
  when_it_is_killed_one_more_does(table);
  one_fails_for_all(table);
  a_lease_is_not_forked(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("lease-processes"));
  return 0;
}

// Processes write lines while one drains: one is killed in the middle, and its last lines are
// there; the drain is killed, and another goes on where it was.

#include "check.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 5, LINES = 3000, ENOUGH = 500 };

// What has come of each writer: its next number.
struct taken {
  uint64_t before;
  int next[WRITERS];
  // Of the first, lines from here on may come again: a drain has taken them in the pass it died in.
  int dealt_with;
  bool is_again;
  int late;
};

// Whether the line may come now: the lines of a writer come in order, none is missing and none
// comes twice, but those of a drain's last pass.
static bool is_due(const struct taken *taken, int writer, int number) {
  bool is_taken = number < taken->next[writer];
  bool may_come_again = taken->is_again && writer == 0 && number >= taken->dealt_with;
  return number == taken->next[writer] || (is_taken && may_come_again);
}

// All lines come in the order of their times, but those of writers that were held up.
static int take(void *user, const tavola_line *line) {
  struct taken *taken = user;
  char text[64];
  int writer = -1, number = -1;
  CHECK(line->len < sizeof text && line->level == TAVOLA_LEVEL_INFO);
  memcpy(text, line->text, line->len);
  text[line->len] = '\0';
  CHECK(sscanf(text, "writer %d line %d", &writer, &number) == 2);
  CHECK(writer >= 0 && writer < WRITERS);
  if (!is_due(taken, writer, number)) {
    fprintf(stderr, "writer %d: line %d, not %d\n", writer, number, taken->next[writer]);
  }
  CHECK(is_due(taken, writer, number));
  if (number == taken->next[writer]) {
    taken->next[writer]++;
  }
  taken->late += line->unix_ns < taken->before;
  taken->before = line->unix_ns;
  return 0;
}

// The first writes until it is killed, and tells the number of each line that is written.
static void write_lines(tavola_log *log, int writer, int told) {
  for (int i = 0; writer == 0 || i < LINES; i++) {
    CHECK_IS(TAVOLA_OK,
             tavola_log_printf(log, TAVOLA_LEVEL_INFO, "writer %d line %d", writer, i));
    if (writer == 0) {
      CHECK(write(told, &i, sizeof i) == sizeof i);
    }
  }
}

// Kills the first writer in the middle; the last number that it told.
static int kill_in_the_middle(pid_t victim, int told) {
  int last = -1, status = 0;
  while (last < ENOUGH) {
    CHECK(read(told, &last, sizeof last) == sizeof last);
  }
  CHECK(kill(victim, SIGKILL) == 0);
  CHECK(waitpid(victim, &status, 0) == victim);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  while (read(told, &last, sizeof last) == sizeof last) {
  }
  return last;
}

static void all_have_ended(const pid_t *writers) {
  for (int i = 1; i < WRITERS; i++) {
    int status = 0;
    CHECK(waitpid(writers[i], &status, 0) == writers[i]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void start(tavola_log *log, pid_t *writers, const int *pipe_ends) {
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = fork();
    CHECK(writers[i] >= 0);
    if (writers[i] == 0) {
      CHECK(close(pipe_ends[0]) == 0);
      write_lines(log, i, pipe_ends[1]);
      tavola_log_close(log);
      exit(0);
    }
  }
  CHECK(close(pipe_ends[1]) == 0);
}

struct last_of {
  uint32_t pid;
  int number;
};

static void note_last(void *user, const tavola_line *line) {
  struct last_of *last = user;
  if (line->pid == last->pid) {
    last->number++;
  }
}

// The lines of the dead are there for who only reads.
static void the_dead_are_heard(pid_t victim, int last_told) {
  tavola_log *log = NULL;
  tavola_log_reader *reader = NULL;
  struct last_of last = {(uint32_t)victim, -1};
  CHECK_IS(TAVOLA_OK, tavola_log_open_read_only("events", &log));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_open(log, &reader));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, note_last, &last));
  CHECK(last.number >= last_told);
  tavola_log_reader_close(reader);
  tavola_log_close(log);
}

static void write_some(tavola_log *log, int writer, int from, int until) {
  for (int i = from; i < until; i++) {
    CHECK_IS(TAVOLA_OK,
             tavola_log_printf(log, TAVOLA_LEVEL_INFO, "writer %d line %d", writer, i));
  }
}

// Drains, and tells that it has begun, and of each pass. It does not outlive its parent, not even
// stopped.
static void drain_until_killed(tavola_log *log, struct taken *taken, int told) {
  tavola_log_drain *drain = NULL;
  tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
  sink.user = taken;
  sink.line = take;
  CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  for (;;) {
    CHECK(write(told, "r", 1) == 1);
    CHECK_IS(TAVOLA_OK, tavola_log_drain_pass(drain, &sink, NULL));
    taken->dealt_with = taken->next[0];
    CHECK_IS(TAVOLA_OK, tavola_log_drain_wait(drain, 1));
  }
}

// Starts a drain; stops it when it has dealt with some lines, and writes more, which it leaves.
static pid_t drain_a_part(tavola_log *log, struct taken *taken) {
  int ends[2], status = 0;
  char told = 0;
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    drain_until_killed(log, taken, ends[1]);
  }
  CHECK(close(ends[1]) == 0);
  // What is written before there is a drain is for none.
  CHECK(read(ends[0], &told, 1) == 1);
  write_some(log, 0, 0, LINES / 2);
  while (taken->dealt_with == 0) {
    CHECK(read(ends[0], &told, 1) == 1);
  }
  CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child);
  CHECK(WIFSTOPPED(status));
  write_some(log, 0, LINES / 2, LINES);
  CHECK(close(ends[0]) == 0);
  return child;
}

// A child drains for a while and is killed; this process takes over. What the child has taken
// stands in memory of both.
static void a_drain_dies(tavola_log *log) {
  tavola_log_drain *drain = NULL;
  tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
  int status = 0;
  struct taken *taken = mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(taken != MAP_FAILED);
  const pid_t child = drain_a_part(log, taken);
  CHECK_IS(TAVOLA_ERR_ALREADY_DRAINED, tavola_log_drain_open(log, &drain));
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(taken->next[0] <= LINES / 2);
  // A line between the two drains waits for the second.
  write_some(log, 1, 0, 1);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  write_some(log, 1, 1, 10);
  taken->is_again = true;
  sink.user = taken;
  sink.line = take;
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, NULL));
  CHECK(taken->next[0] == LINES && taken->next[1] == 10 && tavola_log_dropped(log) == 0);
  tavola_log_drain_close(drain);
  CHECK(munmap(taken, sizeof *taken) == 0);
}

// A drain is its parent's: in a child it does nothing.
static void a_drain_is_not_inherited(tavola_log *log) {
  tavola_log_drain *drain = NULL;
  int status = 0;
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  pid_t child = fork();
  if (child == 0) {
    CHECK_IS(TAVOLA_ERR_ALREADY_DRAINED, tavola_log_drain_pass_fd(drain, 2, NULL));
    tavola_log_drain_close(drain);
    CHECK(tavola_log_has_drain(log));
    tavola_log_close(log);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_pass_fd(drain, 2, NULL));
  tavola_log_drain_close(drain);
}

int main(void) {
  tavola_log *log = NULL;
  tavola_log_drain *drain = NULL;
  tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
  struct taken taken = {0};
  pid_t writers[WRITERS];
  int ends[2];
  CHECK_IS(TAVOLA_OK, tavola_log_create("events", NULL, &log));
  CHECK_IS(TAVOLA_OK, tavola_log_show_on_stderr(log, false));
  a_drain_is_not_inherited(log);
  CHECK(pipe(ends) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  start(log, writers, ends);
  sink.user = &taken;
  sink.line = take;
  const int last_told = kill_in_the_middle(writers[0], ends[0]);
  the_dead_are_heard(writers[0], last_told);
  for (int i = 0; i < 20; i++) {
    CHECK_IS(TAVOLA_OK, tavola_log_drain_pass(drain, &sink, NULL));
    CHECK_IS(TAVOLA_OK, tavola_log_drain_wait(drain, 1));
  }
  all_have_ended(writers);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, NULL));
  CHECK(taken.next[0] > last_told);
  CHECK(tavola_log_dropped(log) == 0 && taken.late < 100);
  for (int i = 1; i < WRITERS; i++) {
    CHECK(taken.next[i] == LINES);
  }
  tavola_log_drain_close(drain);
  a_drain_dies(log);
  tavola_log_close(log);
  CHECK(close(ends[0]) == 0);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("events"));
  return 0;
}

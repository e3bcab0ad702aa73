// Ten processes write to one log; one process drains it in the order of time; one of the ten is
// killed, and its last lines are read. See log.md.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tavola.h>
#include <unistd.h>

enum { WRITERS = 10, STEPS = 5, LAST = 3, WIDTH = 256 };

static void must(tavola_status status, const char *what) {
  if (status < 0) {
    fprintf(stderr, "%s: %s\n", what, tavola_last_error());
    exit(1);
  }
}

// Does its steps; the first of the writers has no end.
static void work(tavola_log *log, int number) {
  for (int step = 1; number == 0 || step <= STEPS; step++) {
    TAVOLA_LOG_INFO(log, "worker %d, step %d", number, step);
    TAVOLA_LOG_DEBUG(log, "a line that nobody wants: it is not even formatted");
    usleep(1000);
  }
  TAVOLA_LOG_WARN(log, "worker %d has nothing left to do", number);
}

// The last lines of one process.
struct last {
  uint32_t pid;
  int count;
  char lines[LAST][WIDTH];
};

static void keep(void *user, const tavola_line *line) {
  struct last *last = user;
  if (line->pid != last->pid) {
    return;
  }
  tavola_buffer printed = TAVOLA_BUFFER(last->lines[last->count++ % LAST], WIDTH - 1);
  must(tavola_line_print(line, &printed), "a line");
  ((char *)printed.data)[printed.len] = '\0';
}

// The log has all lines that it has room for, those that were drained, too. So the process need
// not have been ours, and the drain may have died with it.
static int show_last(tavola_log *log, pid_t pid) {
  tavola_log_reader *reader = NULL;
  struct last last = {(uint32_t)pid, 0, {{0}}};
  must(tavola_log_reader_open(log, &reader), "a reader");
  must(tavola_log_reader_lines(reader, keep, &last), "the lines");
  tavola_log_reader_close(reader);
  printf("\nthe last lines of process %d, which was killed:\n", (int)pid);
  const int from = last.count > LAST ? last.count - LAST : 0;
  for (int i = from; i < last.count; i++) {
    printf("%s\n", last.lines[i % LAST]);
  }
  return last.count;
}

// Writes out what the others write, until all but the first have ended.
static void drain_lines(tavola_log_drain *drain, const pid_t *writers) {
  for (int ended = 0; ended < WRITERS - 1;) {
    must(tavola_log_drain_pass_fd(drain, STDOUT_FILENO, NULL), "draining");
    must(tavola_log_drain_wait(drain, 10), "waiting");
    for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
      ended += pid != writers[0];
    }
  }
}

int main(void) {
  tavola_log *log = NULL;
  tavola_log_drain *drain = NULL;
  pid_t writers[WRITERS];
  must(tavola_log_create("example-log", NULL, &log), "the log");
  must(tavola_log_set_level(log, TAVOLA_LEVEL_INFO), "the level");
  must(tavola_log_drain_open(log, &drain), "the drain");
  for (int i = 0; i < WRITERS; i++) {
    writers[i] = fork();
    if (writers[i] == 0) {
      work(log, i);
      // The drain itself stays the parent's.
      tavola_log_drain_close(drain);
      tavola_log_close(log);
      return 0;
    }
  }
  drain_lines(drain, writers);
  kill(writers[0], SIGKILL);
  waitpid(writers[0], NULL, 0);
  must(tavola_log_drain_finish_fd(drain, STDOUT_FILENO, NULL), "the rest");
  tavola_log_drain_close(drain);
  const int lines = show_last(log, writers[0]);
  tavola_log_close(log);
  must(tavola_names_remove("example-log"), "the log");
  return lines > 0 ? 0 : 1;
}

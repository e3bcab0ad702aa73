// Logs: lines, formatted ones, levels, a drain to a sink and to a descriptor, readers, signals.

#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

// What a sink has taken, and when it fails.
struct taken {
  char text[4096];
  int lines, dropped, flushed;
  int fails_with;
  tavola_log *log;
  tavola_log_drain *drain;
};

static int take(void *user, const tavola_line *line) {
  struct taken *taken = user;
  taken->lines++;
  if (taken->fails_with != 0) {
    return taken->fails_with;
  }
  snprintf(taken->text, sizeof taken->text, "%.*s", (int)line->len, line->text);
  CHECK(line->pid == (uint32_t)getpid() && line->unix_ns > 1700000000000000000u);
  if (taken->log != NULL) {
    // A sink may write to its log, but not go through it once more.
    CHECK_IS(TAVOLA_OK, tavola_log_line(taken->log, TAVOLA_LEVEL_INFO, "from the sink", 13));
    CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_drain_wait(taken->drain, 0));
    taken->log = NULL;
  }
  return 0;
}

static int drop(void *user, uint64_t lines) {
  ((struct taken *)user)->dropped += (int)lines;
  return 0;
}

static int flush(void *user) {
  ((struct taken *)user)->flushed++;
  return 0;
}

static tavola_log_sink a_sink(struct taken *taken) {
  tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
  memset(taken, 0, sizeof *taken);
  sink.user = taken;
  sink.line = take;
  sink.dropped = drop;
  sink.flush = flush;
  return sink;
}

static tavola_log *a_log(const char *name, int32_t overload) {
  tavola_log_options options = TAVOLA_INIT(tavola_log_options);
  tavola_log *log = NULL;
  options.bytes = 128 << 10;
  options.overload = overload;
  CHECK_IS(TAVOLA_OK, tavola_log_create(name, &options, &log));
  CHECK_IS(TAVOLA_ERR_TABLE_EXISTS, tavola_log_create(name, &options, &log));
  CHECK_IS(TAVOLA_OK, tavola_log_show_on_stderr(log, false));
  return log;
}

static void drained(tavola_log *log) {
  tavola_log_drain *drain = NULL, *other = NULL;
  struct taken taken;
  tavola_log_sink sink = a_sink(&taken), empty = TAVOLA_INIT(tavola_log_sink);
  size_t lines = 7;
  CHECK(!tavola_log_has_drain(log));
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  CHECK_IS(TAVOLA_ERR_ALREADY_DRAINED, tavola_log_drain_open(log, &other));
  CHECK(tavola_log_has_drain(log) && other == NULL);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, &lines));
  CHECK(lines == 0 && taken.lines == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_line(log, TAVOLA_LEVEL_WARN, "first", 5));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_drain_finish(drain, &empty, NULL));
  taken.fails_with = ENOSPC;
  CHECK_IS(TAVOLA_ERR_SINK, tavola_log_drain_finish(drain, &sink, &lines));
  CHECK(tavola_last_os_error() == ENOSPC && lines == 0 && taken.lines == 1);
  taken.fails_with = 0;
  taken.log = log;
  taken.drain = drain;
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, &lines));
  CHECK(lines == 1 && taken.flushed == 1 && strcmp(taken.text, "first") == 0);
  while (taken.lines < 3) {
    CHECK_IS(TAVOLA_OK, tavola_log_drain_pass(drain, &sink, NULL));
    CHECK_IS(TAVOLA_OK, tavola_log_drain_wait(drain, 1));
  }
  CHECK(strcmp(taken.text, "from the sink") == 0);
  tavola_log_drain_close(drain);
  CHECK(!tavola_log_has_drain(log) && taken.dropped == 0);
}

static void to_a_descriptor(tavola_log *log) {
  tavola_log_drain *drain = NULL;
  char text[400], expected[100];
  size_t lines = 0;
  int ends[2];
  CHECK(pipe(ends) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  CHECK_IS(TAVOLA_OK, tavola_log_printf(log, TAVOLA_LEVEL_ERROR, "%d\n%s", 7, "up"));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_drain_finish_fd(drain, -1, &lines));
  CHECK_IS(TAVOLA_ERR_SINK, tavola_log_drain_finish_fd(drain, ends[0], &lines));
  CHECK(tavola_last_os_error() == EBADF);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish_fd(drain, ends[1], &lines));
  CHECK_IS(TAVOLA_OK, tavola_log_drain_pass_fd(drain, ends[1], NULL));
  ssize_t len = read(ends[0], text, sizeof text - 1);
  CHECK(lines == 1 && len > 0 && text[len - 1] == '\n');
  text[len - 1] = '\0';
  snprintf(expected, sizeof expected, "Z ERROR %d/%d 7\\nup", getpid(), gettid());
  CHECK(strstr(text, expected) == text + strlen("2026-11-22T10:31:05.123456"));
  tavola_log_drain_close(drain);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

// The last line a reader told, and how many.
struct seen {
  int lines;
  int32_t level;
  uint32_t cut;
  size_t len;
  char text[4096];
  char printed[8192];
};

static void see(void *user, const tavola_line *line) {
  struct seen *seen = user;
  tavola_buffer printed = TAVOLA_BUFFER(seen->printed, sizeof seen->printed - 1);
  seen->lines++;
  seen->level = line->level;
  seen->cut = line->cut;
  seen->len = line->len;
  snprintf(seen->text, sizeof seen->text, "%.*s", (int)line->len, line->text);
  if (line->len < 4096 && memchr(line->text, '\n', line->len) == NULL) {
    CHECK_IS(TAVOLA_OK, tavola_line_print(line, &printed));
    seen->printed[printed.len] = '\0';
    CHECK(strcmp(seen->printed + printed.len - line->len, seen->text) == 0);
  }
}

static int times_called;

static int called(void) {
  times_called++;
  return times_called;
}

static void formatted_with_level(tavola_log *log, tavola_log_reader *reader) {
  struct seen seen = {0};
  char *const large = malloc(20001);
  memset(large, 'x', 20000);
  large[20000] = '\0';
  CHECK_IS(TAVOLA_OK, tavola_log_reader_skip(reader));
  CHECK_IS(TAVOLA_OK, tavola_log_set_level(log, TAVOLA_LEVEL_WARN));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_set_level(log, 6));
  CHECK(tavola_log_is_on(log, TAVOLA_LEVEL_WARN) && !tavola_log_is_on(log, TAVOLA_LEVEL_INFO));
  CHECK(!tavola_log_is_on(NULL, TAVOLA_LEVEL_ERROR));
  TAVOLA_LOG_INFO(log, "%d", called());
  TAVOLA_LOG_DEBUG(log, "%d", called());
  TAVOLA_LOG_TRACE(NULL, "%d", called());
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(times_called == 0 && seen.lines == 0);
  TAVOLA_LOG_WARN(log, "%s %d", "call", called());
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines == 1 && seen.level == TAVOLA_LEVEL_WARN && strcmp(seen.text, "call 1") == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_set_level(log, 0));
  TAVOLA_LOG_ERROR(log, "none");
  CHECK_IS(TAVOLA_OK, tavola_log_set_level(log, TAVOLA_LEVEL_TRACE));
  // At the edges of the buffer, and beyond what a line has room for.
  for (int len = 1022; len < 1027; len++) {
    TAVOLA_LOG_TRACE(log, "%.*s", len, large);
    CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
    CHECK(seen.len == (size_t)len && strlen(seen.text) == (size_t)len && seen.cut == 0);
  }
  CHECK_IS(TAVOLA_OK, tavola_log_printf(log, TAVOLA_LEVEL_INFO, "%s", large));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.len == 16360 && seen.cut == 20000 - 16360 && seen.lines == 7);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_line(log, 0, "", 0));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_line(NULL, TAVOLA_LEVEL_INFO, "", 0));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_line(log, TAVOLA_LEVEL_INFO, NULL, 1));
  free(large);
}

// Who reads needs no rights to write, and sees what was drained.
static void read_only(void) {
  tavola_log *log = NULL;
  tavola_log_drain *drain = NULL;
  tavola_log_reader *reader = NULL;
  struct seen seen = {0};
  CHECK_IS(TAVOLA_OK, tavola_log_open_read_only("events", &log));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_log_line(log, TAVOLA_LEVEL_INFO, "no", 2));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_log_drain_open(log, &drain));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_open(log, &reader));
  tavola_log_close(log);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_reader_lines(reader, NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines == 10 && tavola_log_reader_missed(reader) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_follow(reader, see, &seen));
  CHECK(seen.lines == 10);
  tavola_log_reader_close(reader);
}

static void more_than_it_holds(void) {
  tavola_log *log = a_log("small", TAVOLA_OVERLOAD_DROP_NEWEST);
  tavola_log_drain *drain = NULL;
  struct taken taken;
  tavola_log_sink sink = a_sink(&taken);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  for (int i = 0; i < 6000; i++) {
    TAVOLA_LOG_INFO(log, "number %d of 6000", i);
  }
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, NULL));
  CHECK(taken.dropped > 0 && taken.lines + taken.dropped == 6000);
  CHECK(tavola_log_dropped(log) == (uint64_t)taken.dropped);
  tavola_log_drain_close(drain);
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("small"));
}

// Without a drain the same holds; the next drain gets what is there.
static void without_a_drain(int overload) {
  tavola_log *log = a_log("alone", overload);
  tavola_log_drain *drain = NULL;
  tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
  struct taken taken;
  tavola_log_sink sink = a_sink(&taken);
  for (int i = 0; i < 6000; i++) {
    TAVOLA_LOG_INFO(log, "number %d of 6000", i);
  }
  CHECK_IS(TAVOLA_OK, tavola_log_get_stats(log, &stats));
  CHECK(stats.dropped > 0 && stats.lines + stats.dropped == 6000);
  CHECK(stats.awaiting == stats.lines && !stats.has_drain && stats.overload == overload);
  CHECK(stats.pieces == 8 && stats.bytes == 128 << 10 && stats.used_bytes > stats.bytes / 10 * 8);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_open(log, &drain));
  CHECK_IS(TAVOLA_OK, tavola_log_drain_finish(drain, &sink, NULL));
  CHECK((uint64_t)taken.lines == stats.lines && (uint64_t)taken.dropped == stats.dropped);
  CHECK_IS(TAVOLA_OK, tavola_log_get_stats(log, &stats));
  CHECK(stats.awaiting == 0 && stats.has_drain);
  tavola_log_drain_close(drain);
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("alone"));
}

static tavola_log *handlers;

static void write_in_handler(int number) {
  tavola_log_line(handlers, TAVOLA_LEVEL_ERROR, "signal", 6);
  (void)number;
}

static void *write_interrupted(void *user) {
  tavola_log *log = user;
  for (int i = 0; i < 2000; i++) {
    CHECK_IS(TAVOLA_OK, tavola_log_line(log, TAVOLA_LEVEL_INFO, "plain", 5));
    if (i % 10 == 0) {
      CHECK(raise(SIGUSR1) == 0);
    }
  }
  return NULL;
}

// A handler writes to a log that its thread writes to; signals come in the middle of lines, too.
static void in_handlers(void) {
  pthread_t writer;
  handlers = a_log("handlers", TAVOLA_OVERLOAD_DROP_OLDEST);
  tavola_log_reader *reader = NULL;
  struct seen seen = {0};
  CHECK(signal(SIGUSR1, write_in_handler) != SIG_ERR);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_open(handlers, &reader));
  CHECK(pthread_create(&writer, NULL, write_interrupted, handlers) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_line(handlers, TAVOLA_LEVEL_INFO, "main", 4));
  for (int i = 0; i < 200; i++) {
    CHECK(pthread_kill(writer, SIGUSR1) == 0);
  }
  CHECK(pthread_join(writer, NULL) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines > 2200 && tavola_log_dropped(handlers) == 0);
  tavola_log_reader_close(reader);
  tavola_log_close(handlers);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("handlers"));
}

static void beside(void) {
  tavola_table *table = a_table("main");
  tavola_log *log = NULL, *again = NULL;
  int logs = 0;
  CHECK_IS(TAVOLA_ERR_NO_OBJECT, tavola_log_open_existing_in(table, "events", &log));
  CHECK_IS(TAVOLA_OK, tavola_log_create_in(table, "events", NULL, &log));
  CHECK_IS(TAVOLA_ERR_OBJECT_EXISTS, tavola_log_create_in(table, "events", NULL, &again));
  CHECK_IS(TAVOLA_OK, tavola_log_open_in(table, "events", NULL, &again));
  tavola_log_close(again);
  CHECK_IS(TAVOLA_OK, tavola_log_open_existing_in(table, "events", &again));
  CHECK_IS(TAVOLA_OK, tavola_logs(table, count_text, &logs));
  CHECK(logs == 1 && tavola_log_bytes(again) == 4 << 20);
  CHECK(tavola_log_overload(again) == TAVOLA_OVERLOAD_DROP_OLDEST && tavola_log_dropped(again) == 0);
  CHECK(strcmp(tavola_log_path(log), tavola_path(table)) == 0);
  tavola_log_close(again);
  tavola_log_close(log);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("main"));
}

int main(void) {
  tavola_log *log = a_log("events", TAVOLA_OVERLOAD_BLOCK), *again = NULL;
  tavola_log_reader *reader = NULL;
  tavola_log_options wrong = TAVOLA_INIT(tavola_log_options);
  CHECK(tavola_log_bytes(log) == 128 << 10 && tavola_log_overload(log) == TAVOLA_OVERLOAD_BLOCK);
  wrong.overload = 3;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_open("events", &wrong, &again));
  wrong.overload = 0;
  wrong.bytes = 1;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_log_create("other", &wrong, &again));
  drained(log);
  to_a_descriptor(log);
  CHECK_IS(TAVOLA_OK, tavola_log_open("events", NULL, &again));
  CHECK_IS(TAVOLA_OK, tavola_log_show_on_stderr(again, false));
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_open(again, &reader));
  formatted_with_level(again, reader);
  tavola_log_reader_close(reader);
  tavola_log_close(again);
  CHECK_IS(TAVOLA_OK, tavola_log_open_existing("events", &log));
  read_only();
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("events"));
  more_than_it_holds();
  without_a_drain(TAVOLA_OVERLOAD_DROP_OLDEST);
  without_a_drain(TAVOLA_OVERLOAD_DROP_NEWEST);
  without_a_drain(TAVOLA_OVERLOAD_BLOCK);
  in_handlers();
  beside();
  return 0;
}

// Logs: a thread that drains, to a file that is rotated and to a descriptor; at exit; a stream.

#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Lives until the exit of the process.
static tavola_log_drain_thread *kept;

static tavola_log *a_log(const char *name) {
  tavola_log_options options = TAVOLA_INIT(tavola_log_options);
  tavola_log *log = NULL;
  options.bytes = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_log_open(name, &options, &log));
  CHECK_IS(TAVOLA_OK, tavola_log_show_on_stderr(log, false));
  return log;
}

// The text of a file, which is removed.
static const char *text_of(const char *path) {
  static char text[4096];
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  CHECK(remove(path) == 0);
  return text;
}

static void line(tavola_log *log, const char *text) {
  CHECK_IS(TAVOLA_OK, tavola_log_line(log, TAVOLA_LEVEL_INFO, text, strlen(text)));
}

static void to_a_file(tavola_log *log) {
  tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
  tavola_log_drain_thread *drain = NULL, *second = NULL;
  uint64_t lines = 0;
  options.path = "out";
  options.rotate_bytes = 40;
  options.keep = 2;
  options.form = TAVOLA_LOG_SHORT;
  CHECK_IS(TAVOLA_OK, tavola_log_drain_start(log, &options, &drain));
  CHECK_IS(TAVOLA_ERR_ALREADY_DRAINED, tavola_log_drain_start(log, &options, &second));
  CHECK(tavola_log_has_drain(log) && !tavola_log_drain_has_failed(drain));
  line(log, "a line of some length");
  CHECK_IS(TAVOLA_OK, tavola_log_drain_stop(drain, &lines));
  CHECK(lines == 1 && !tavola_log_has_drain(log));
  CHECK_IS(TAVOLA_OK, tavola_log_drain_start(log, &options, &drain));
  line(log, "another");
  CHECK_IS(TAVOLA_OK, tavola_log_drain_stop(drain, NULL));
  CHECK(strcmp(text_of("out.1"), "#0.000000 1 a line of some length\n") == 0);
  CHECK(strcmp(text_of("out"), "#0.000000 1 another\n") == 0);
}

static void refused(tavola_log *log) {
  tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
  tavola_log_drain_thread *drain = NULL;
  options.fd = -1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_drain_start(log, &options, &drain));
  options.fd = 1;
  options.rotate_bytes = 1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_drain_start(log, &options, &drain));
  options.rotate_bytes = 0;
  options.form = 2;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_drain_start(log, &options, &drain));
  options.form = 0;
  options.path = "no such folder/out";
  CHECK_IS(TAVOLA_ERR_IO, tavola_log_drain_start(log, &options, &drain));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_drain_start(NULL, &options, &drain));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_drain_start(log, NULL, &drain));
  CHECK_IS(TAVOLA_OK, tavola_log_drain_stop(NULL, NULL));
  CHECK(!tavola_log_has_drain(log));
}

// What cannot be written stays in the log.
static void to_a_full_disk(tavola_log *log) {
  tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
  tavola_log_drain_thread *drain = NULL;
  uint64_t lines = 7;
  options.path = "/dev/full";
  line(log, "one");
  CHECK_IS(TAVOLA_OK, tavola_log_drain_start(log, &options, &drain));
  for (int i = 0; i < 60000 && !tavola_log_drain_has_failed(drain); i++) {
    usleep(1000);
  }
  CHECK(tavola_log_drain_has_failed(drain));
  CHECK_IS(TAVOLA_ERR_SINK, tavola_log_drain_stop(drain, &lines));
  CHECK(lines == 7);
  options.path = NULL;
  options.fd = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(options.fd >= 0);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_start(log, &options, &drain));
  // It writes to a duplicate.
  close(options.fd);
  CHECK_IS(TAVOLA_OK, tavola_log_drain_stop(drain, &lines));
  CHECK(lines == 1 && strstr(text_of("out"), " INFO ") != NULL);
}

// Asked by a sanitizer: it takes a child for one that has the threads of its parent, and what they
// had for lost.
int __lsan_is_turned_off(void);
static int is_child;
int __lsan_is_turned_off(void) { return is_child; }

// The program says nothing of the drain at its end, and has a child that ends as well.
static void until_exit(void) {
  tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
  tavola_log *log = a_log("exits");
  int status = 0;
  options.path = "out";
  options.form = TAVOLA_LOG_SHORT;
  CHECK_IS(TAVOLA_OK, tavola_log_drain_start(log, &options, &kept));
  line(log, "first");
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    is_child = 1;
    line(log, "of a child");
    CHECK(!tavola_log_drain_has_failed(kept));
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  line(log, "last");
  tavola_log_close(log);
  exit(0);
}

static void at_exit(void) {
  int status = 0;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    until_exit();
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  const char *text = text_of("out");
  CHECK(strncmp(text, "#0.000000 1 first\n", 18) == 0);
  CHECK(strstr(text, " 2 of a child\n") != NULL && strstr(text, " 1 last\n") != NULL);
  tavola_log *log = a_log("exits");
  CHECK(!tavola_log_has_drain(log));
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("exits"));
}

struct seen {
  int lines;
  size_t longest;
  char last[64];
};

static void see(void *user, const tavola_line *line) {
  struct seen *seen = user;
  CHECK(line->level == TAVOLA_LEVEL_WARN);
  seen->lines++;
  seen->longest = line->len + line->cut > seen->longest ? line->len + line->cut : seen->longest;
  snprintf(seen->last, sizeof seen->last, "%.*s", (int)line->len, line->text);
}

static void a_stream(tavola_log *log) {
  tavola_log_reader *reader = NULL;
  struct seen seen = {0};
  FILE *stream = NULL;
  CHECK_IS(TAVOLA_OK, tavola_log_reader_open(log, &reader));
  CHECK_IS(TAVOLA_OK, tavola_log_reader_skip(reader));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_log_file(log, 9, &stream));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_log_file(log, TAVOLA_LEVEL_WARN, NULL));
  CHECK_IS(TAVOLA_OK, tavola_log_file(log, TAVOLA_LEVEL_WARN, &stream));
  CHECK(fprintf(stream, "cart %d", 3) == 6);
  CHECK(fflush(stream) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines == 0);
  CHECK(fputs(" is ready\n\ncart 4 is not\n", stream) >= 0);
  // The stream needs no flush: each line's end writes it out.
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines == 3 && seen.longest == 15 && strcmp(seen.last, "cart 4 is not") == 0);
  for (int i = 0; i < 200000; i++) {
    CHECK(fputc('x', stream) == 'x');
  }
  CHECK(fputs("\nthe rest", stream) >= 0);
  CHECK(fclose(stream) == 0);
  CHECK_IS(TAVOLA_OK, tavola_log_reader_lines(reader, see, &seen));
  CHECK(seen.lines >= 3 + 4 && seen.longest <= 70000 && strcmp(seen.last, "the rest") == 0);
  tavola_log_reader_close(reader);
}

// A stream keeps the log open, and reports lines that cannot be written.
static void a_stream_that_fails(void) {
  tavola_log *log = NULL;
  FILE *stream = NULL;
  CHECK_IS(TAVOLA_OK, tavola_log_open_read_only("events", &log));
  CHECK_IS(TAVOLA_OK, tavola_log_file(log, TAVOLA_LEVEL_INFO, &stream));
  tavola_log_close(log);
  fputs("no\n", stream);
  CHECK(ferror(stream));
  CHECK(strlen(tavola_last_error()) > 0);
  fclose(stream);
}

int main(void) {
  tavola_log *log = a_log("events");
  to_a_file(log);
  refused(log);
  to_a_full_disk(log);
  a_stream(log);
  a_stream_that_fails();
  tavola_log_close(log);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("events"));
  at_exit();
  return 0;
}

// Logs in shared memory.
// A part of tavola.h, which says what holds for all functions.
//
// MIT OR Apache-2.0, at your choice.
//
// Made by `cargo xtask header` from crates/tavola-capi; change it there.

#ifndef TAVOLA_LOG_H
#define TAVOLA_LOG_H

#include <stdio.h>
#include <tavola_table.h>

#ifdef __cplusplus
extern "C" {
#endif

// The level of a line.
enum tavola_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Something failed.
  TAVOLA_LEVEL_ERROR = 1,
  // Something may fail.
  TAVOLA_LEVEL_WARN = 2,
  // Something that a user wants to know.
  TAVOLA_LEVEL_INFO = 3,
  // Something that helps to find a fault.
  TAVOLA_LEVEL_DEBUG = 4,
  // Everything.
  TAVOLA_LEVEL_TRACE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_level tavola_level;
#else
typedef int32_t tavola_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a line is printed.
enum tavola_log_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Time, level, process, thread and text, see `tavola_line_print`.
  TAVOLA_LOG_FULL = 0,
  // `#0.003948 2 text`: the seconds since the first line that was written, the number of the
  // thread (1 for the first that came), and the text.
  TAVOLA_LOG_SHORT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_log_form tavola_log_form;
#else
typedef int32_t tavola_log_form;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The policy for a line that finds no room, because all pieces of the log that living threads do
// not use are full of lines that no drain has written out.
enum tavola_overload
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The oldest lines are overwritten, one piece at a time, and counted.
  TAVOLA_OVERLOAD_DROP_OLDEST = 0,
  // The new line is not written, and counted. The log keeps the oldest lines.
  TAVOLA_OVERLOAD_DROP_NEWEST = 1,
  // The writer waits for the drain while the drain lives. Without a drain it does the same as
  // `TAVOLA_OVERLOAD_DROP_NEWEST`.
  TAVOLA_OVERLOAD_BLOCK = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_overload tavola_overload;
#else
typedef int32_t tavola_overload;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A log in shared memory that all processes write lines to. One drain writes the lines out in the
// order of their times. While there is no drain, each line is also shown on the standard error of
// its writer, and is kept for the next drain as long as there is room. Lines can be read until
// they are overwritten, even if their writers have died.
typedef struct tavola_log tavola_log;

// Writes the lines of a log out. For one thread at a time. It keeps the log open.
typedef struct tavola_log_drain tavola_log_drain;

// A thread of this process that writes the lines of a log out, see `tavola_log_drain_start`.
typedef struct tavola_log_drain_thread tavola_log_drain_thread;

// Reads the lines of a log, including those that were drained, and leaves them for others. For one
// thread at a time. It keeps the log open.
typedef struct tavola_log_reader tavola_log_reader;

// Options of a new log. A field that is 0 means the default. Begin with `tavola_log_options
// options = TAVOLA_INIT(tavola_log_options);`.
typedef struct tavola_log_options {
  // `sizeof(tavola_log_options)`.
  size_t size;
  // Room for lines, 64 KiB to 16 GiB in pieces of 16 KiB; 4 MiB by default. A line takes 24
  // bytes and its text, rounded up to 8 bytes. Each thread that writes has one piece for itself,
  // so create the log with several times as many pieces as threads. Up to 1 KiB at the end of a
  // piece may stay empty.
  uint64_t bytes;
  // One of `tavola_overload`.
  int32_t overload;
  // The mode of the file, if the log has a file of its own; 0600 by default.
  uint32_t mode;
  // 1: opens a file of any owner, see `tavola_options`.
  uint32_t any_owner;
  // Must be 0.
  uint32_t reserved;
} tavola_log_options;

// The state of a log. Sizes are bytes. Every line that was ever written to the log was written out
// by a drain, or is one of the `awaiting` lines, or is counted in `dropped`.
typedef struct tavola_log_stats {
  // `sizeof(tavola_log_stats)`.
  size_t size;
  // Room for lines: all pieces together.
  uint64_t bytes;
  // Bytes that lines take.
  uint64_t used_bytes;
  // Pieces of 16 KiB.
  uint32_t pieces;
  // Pieces that a thread writes on, or that a dead one has left.
  uint32_t pieces_in_hand;
  // Lines that can be read.
  uint64_t lines;
  // Of these, lines that no drain has written out.
  uint64_t awaiting;
  // Lines that were lost since the log was made; as `tavola_log_dropped`.
  uint64_t dropped;
  // Whether a drain is at work, or was when it was last looked for.
  uint32_t has_drain;
  // The policy for a full log: one of `tavola_overload`.
  int32_t overload;
} tavola_log_stats;

// A line of a log, which is lent to a callback until it returns.
typedef struct tavola_line {
  // Nanoseconds since 1970-01-01 UTC, by the clock of the machine.
  uint64_t unix_ns;
  // The process that wrote the line, by its own number.
  uint32_t pid;
  // The thread that wrote it, by its own number.
  uint32_t tid;
  // One of `tavola_level`.
  int32_t level;
  // How many bytes at the end of the text had no room.
  uint32_t cut;
  // The text: any bytes, without a NUL at the end.
  const char *text;
  // How many bytes the text has.
  size_t len;
  // Whether the line was shown on the standard error of its writer, because there was no drain.
  bool is_shown;
} tavola_line;

// Where a drain writes lines. Begin with `tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);`.
// Each function returns 0, or the number of an error, usually an `errno`; then the lines come
// again with the next pass.
typedef struct tavola_log_sink {
  // `sizeof(tavola_log_sink)`.
  size_t size;
  // Passed to the functions.
  void *user;
  // Takes a line, which is lent until it returns.
  int (*line)(void *user, const struct tavola_line *line);
  // Called with the number of lines that were dropped since its last call. May be NULL.
  int (*dropped)(void *user, uint64_t lines);
  // Writes out the lines that were taken. After it has returned 0, they do not come again. May
  // be NULL.
  int (*flush)(void *user);
} tavola_log_sink;

// Where a thread writes the lines of a log. Begin with `tavola_log_drain_options options =
// TAVOLA_INIT(tavola_log_drain_options);`.
typedef struct tavola_log_drain_options {
  // `sizeof(tavola_log_drain_options)`.
  size_t size;
  // A file to append to, which is created if it does not exist; NULL: `fd`.
  const char *path;
  // Before a write that would make the file larger than this, it is renamed to PATH.1, PATH.1 to
  // PATH.2 and so on, and a new file is begun. 0: never. Only with `path`.
  uint64_t rotate_bytes;
  // How many old files stay.
  uint32_t keep;
  // A descriptor that is open for writing and blocking, if `path` is NULL. The thread writes to
  // a duplicate, so the caller may close it.
  int fd;
  // One of `tavola_log_form`.
  int32_t form;
  // Must be 0.
  uint32_t reserved;
} tavola_log_drain_options;

// Called with a line, which is lent until it returns.
typedef void (*tavola_each_line)(void *user, const struct tavola_line *line);

// Opens a log in a file of its own, and creates it if it does not exist. A log that exists keeps
// its size and what it does when it is full. `options` may be NULL.
//
// # Examples
// ```c
// tavola_log *log = NULL, *same = NULL, *reader = NULL;
// tavola_log_options options = TAVOLA_INIT(tavola_log_options);
// options.bytes = 1 << 20;
// options.overload = TAVOLA_OVERLOAD_DROP_NEWEST;
// if (tavola_log_create("events", &options, &log) == TAVOLA_ERR_TABLE_EXISTS) {
//   tavola_log_open("events", &options, &log);
// }
// tavola_log_open_existing("events", &same);
// tavola_log_open_read_only("events", &reader);
// printf("%s has room for %llu bytes\n", tavola_log_path(log),
//        (unsigned long long)tavola_log_bytes(log));
// tavola_log_close(reader);
// tavola_log_close(same);
// tavola_log_close(log);
// tavola_names_remove("events");
// ```
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT` if the file of that name is not a log; otherwise as `tavola_open` and
// `tavola_log_create`.
tavola_status tavola_log_open(const char *name,
                              const struct tavola_log_options *options,
                              struct tavola_log **log);

// Creates a log in a file of its own. The file is a table as well, without room for keys.
// `options` may be NULL.
//
// # Errors
// `TAVOLA_ERR_TABLE_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_FULL` if the file system has no
// room for it; otherwise as `tavola_create`.
//
// # Crash
// The log appears complete or not at all.
tavola_status tavola_log_create(const char *name,
                                const struct tavola_log_options *options,
                                struct tavola_log **log);

// Opens a log that exists in a file of its own.
//
// # Errors
// As `tavola_open_existing`; `TAVOLA_ERR_NO_OBJECT` if the file is not a log.
tavola_status tavola_log_open_existing(const char *name, struct tavola_log **log);

// Opens a log that exists in a file of its own, for reading only (`tavola_log_reader_open`).
//
// # Errors
// As `tavola_log_open_existing`.
tavola_status tavola_log_open_read_only(const char *name, struct tavola_log **log);

// Opens a log in the file of a table, within its `max_size`, and creates it if it does not exist.
// A table has room for 16 pools, logs and areas, and each stays as long as the table. `options`
// may be NULL.
//
// # Examples
// ```c
// static void print(void *user, const char *name, size_t len) {
//   (void)user;
//   printf("%.*s\n", (int)len, name);
// }
//
// tavola_log *log = NULL, *same = NULL, *made = NULL;
// tavola_log_open_in(table, "events", NULL, &log);
// if (tavola_log_create_in(table, "events", NULL, &made) == TAVOLA_ERR_OBJECT_EXISTS) {
//   tavola_log_open_existing_in(table, "events", &same);
// }
// tavola_logs(table, print, NULL);
// tavola_log_close(same);
// tavola_log_close(log);
// ```
//
// # Errors
// As `tavola_log_create_in`.
tavola_status tavola_log_open_in(const struct tavola_table *table,
                                 const char *name,
                                 const struct tavola_log_options *options,
                                 struct tavola_log **log);

// Creates a log in the file of a table. `options` may be NULL.
//
// # Errors
// `TAVOLA_ERR_OBJECT_EXISTS`; `TAVOLA_ERR_BAD_OPTION`; `TAVOLA_ERR_BAD_NAME`;
// `TAVOLA_ERR_READ_ONLY`; `TAVOLA_ERR_FULL` if the table has too few pages in a row that were
// never used, or the file system has no room.
//
// # Crash
// The log appears complete or not at all.
tavola_status tavola_log_create_in(const struct tavola_table *table,
                                   const char *name,
                                   const struct tavola_log_options *options,
                                   struct tavola_log **log);

// Opens a log that exists in the file of a table. To read it, a read-only handle of the table is
// enough.
//
// # Errors
// `TAVOLA_ERR_NO_OBJECT`; `TAVOLA_ERR_CORRUPT`.
tavola_status tavola_log_open_existing_in(const struct tavola_table *table,
                                          const char *name,
                                          struct tavola_log **log);

// Calls `each` with the name of each log in the file of a table.
//
// # Errors
// At the first use of a table, the errors of mapping it.
tavola_status tavola_logs(const struct tavola_table *table, tavola_each_text each, void *user);

// Returns the path of the log's file, which is lent until the log is closed.
const char *tavola_log_path(const struct tavola_log *log);

// Returns how many bytes of lines the log has room for.
uint64_t tavola_log_bytes(const struct tavola_log *log);

// Returns what happens when a line finds no room: one of `tavola_overload`.
int32_t tavola_log_overload(const struct tavola_log *log);

// Returns how many lines were lost since the log was created: overwritten before a drain wrote
// them out, or not written for lack of room. Lines that were shown on standard error count as
// well.
uint64_t tavola_log_dropped(const struct tavola_log *log);

// Returns whether the log has a drain, or had one at the last look.
bool tavola_log_has_drain(const struct tavola_log *log);

// Sets whether lines are shown on standard error while the log has no drain; the default is true.
// This is a setting of the handle. A line that finds no room is shown, too, and counts as dropped.
tavola_status tavola_log_show_on_stderr(const struct tavola_log *log, bool shown);

// Closes a log. NULL has no effect.
void tavola_log_close(struct tavola_log *log);

// Returns the state of a log. It looks at each piece. While other processes write, the numbers are
// not of one moment.
tavola_status tavola_log_get_stats(const struct tavola_log *log, struct tavola_log_stats *stats);

// Writes a line: any bytes, without a newline. Bytes beyond 16,360 are cut, and the line says so.
// `level` is one of `tavola_level`; the level of `tavola_log_set_level` does not apply. With
// `TAVOLA_OVERLOAD_BLOCK` the call may wait for the drain.
//
// # Examples
// ```c
// tavola_log *log = NULL;
// tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_show_on_stderr(log, false);
// tavola_log_set_level(log, TAVOLA_LEVEL_INFO);
// if (tavola_log_is_on(log, TAVOLA_LEVEL_INFO)) {
//   tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
// }
// tavola_log_get_stats(log, &stats);
// if (tavola_log_dropped(log) != 0 && !tavola_log_has_drain(log) &&
//     tavola_log_overload(log) == TAVOLA_OVERLOAD_DROP_OLDEST) {
//   puts("lines were overwritten");
// }
// tavola_log_close(log);
// ```
//
// # Errors
// `TAVOLA_ERR_READ_ONLY`. `TAVOLA_ERR_ARGUMENT`: an unknown level. `TAVOLA_ERR_FULL`: all log
// buffers are in use by living threads, and the line is not shown anywhere; create the log with
// more `bytes`. At the first write of a process as `tavola_set`.
//
// # Concurrency
// All processes and threads write at once, without a lock and without a system call. While the log
// has no drain, a line is also shown on standard error with one `write` (a very long line with
// several), unless `tavola_log_show_on_stderr` has disabled this.
//
// # Crash
// When the call has returned, the line is kept, even if its writer is killed. If the writer is
// killed during the call, the line is not written.
tavola_status tavola_log_line(const struct tavola_log *log,
                              int32_t level,
                              const char *text,
                              size_t len);

// Lets the macros `TAVOLA_LOG_ERROR` to `TAVOLA_LOG_TRACE` skip lines above this level; 0 skips
// all. By default they skip none. This is a setting of the handle in this process.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: an unknown level.
tavola_status tavola_log_set_level(const struct tavola_log *log, int32_t level);

// Returns whether the macros write lines of this level. It returns false for NULL, so that a
// program whose log could not be opened can go on.
bool tavola_log_is_on(const struct tavola_log *log, int32_t level);

// Returns a line as `tavola log show` prints it, in UTC, without a line's end. Control characters
// are escaped, and what is not UTF-8 is replaced: `2026-11-22T10:31:05.123456Z  INFO 4711/4712
// text`.
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: no such level; those of the buffer.
tavola_status tavola_line_print(const struct tavola_line *line, struct tavola_buffer *printed);

// Opens a drain of a log. A log has one drain at a time.
//
// # Examples
// ```c
// tavola_log *log = NULL;
// tavola_log_drain *drain = NULL;
// size_t lines = 0;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_drain_open(log, &drain);
// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
// for (int i = 0; i < 10; i++) {
//   tavola_log_drain_pass_fd(drain, 1, &lines);
//   tavola_log_drain_wait(drain, 10);
// }
// tavola_log_drain_finish_fd(drain, 1, &lines);
// tavola_log_drain_close(drain);
// tavola_log_close(log);
// ```
//
// # Errors
// `TAVOLA_ERR_ALREADY_DRAINED`; `TAVOLA_ERR_READ_ONLY`; at the first write of a process as
// `tavola_set`.
//
// # Concurrency
// Lines come in the order of their times. There are two exceptions: a line whose writer was held
// up for a tenth of a second or more while it wrote it may come after later ones, and so may lines
// around a moment at which the clock of the machine is set back.
//
// # Crash
// A drain begins with the lines that no drain before it has written out. If a drain dies in the
// middle of a pass, the next one writes the lines of that pass again.
tavola_status tavola_log_drain_open(const struct tavola_log *log, struct tavola_log_drain **drain);

// Writes out the lines that are due. Lines of the last millisecond may not be due yet. `lines`,
// which may be NULL, gets how many lines it wrote. The functions of the sink may write to the log.
//
// # Examples
// ```c
// static int take(void *user, const tavola_line *line) {
//   fprintf((FILE *)user, "%.*s\n", (int)line->len, line->text);
//   return 0;
// }
//
// tavola_log *log = NULL;
// tavola_log_drain *drain = NULL;
// tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
// sink.user = stdout;
// sink.line = take;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_drain_open(log, &drain);
// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
// tavola_log_drain_pass(drain, &sink, NULL);
// tavola_log_drain_finish(drain, &sink, NULL);
// tavola_log_drain_close(drain);
// tavola_log_close(log);
// ```
//
// # Errors
// `TAVOLA_ERR_SINK`: a function of the sink failed, and the lines come again;
// `tavola_last_os_error` returns what the function returned. `TAVOLA_ERR_ALREADY_DRAINED` in a
// forked child.
tavola_status tavola_log_drain_pass(struct tavola_log_drain *drain,
                                    const struct tavola_log_sink *sink,
                                    size_t *lines);

// Writes out all lines. Call it at the end, when the writers have ended.
//
// # Errors
// As `tavola_log_drain_pass`.
tavola_status tavola_log_drain_finish(struct tavola_log_drain *drain,
                                      const struct tavola_log_sink *sink,
                                      size_t *lines);

// Does the same as `tavola_log_drain_pass`, and writes the lines as text to a file, a pipe or a
// terminal; see `tavola_line_print`. The descriptor must be blocking. You may pass another one
// each time, to rotate a large file; `tavola log drain --file PATH --rotate SIZE` in the shell
// rotates by itself.
//
// # Errors
// `TAVOLA_ERR_SINK`: the lines come again, and a part of them may have been written. Otherwise as
// `tavola_log_drain_pass`.
tavola_status tavola_log_drain_pass_fd(struct tavola_log_drain *drain, int fd, size_t *lines);

// Does the same as `tavola_log_drain_finish`, and writes the lines as text to a descriptor.
//
// # Errors
// As `tavola_log_drain_pass_fd`.
tavola_status tavola_log_drain_finish_fd(struct tavola_log_drain *drain, int fd, size_t *lines);

// Sleeps for at most 10 ms and at most `timeout_ms`, and less if many lines are written.
tavola_status tavola_log_drain_wait(struct tavola_log_drain *drain, uint64_t timeout_ms);

// Closes a drain. NULL has no effect.
void tavola_log_drain_close(struct tavola_log_drain *drain);

// Starts a thread that writes the lines of a log out, to a file or a descriptor, until
// `tavola_log_drain_stop`. It keeps the log open. The library starts no thread unless it is asked
// to.
//
// # Examples
// ```c
// tavola_log *log = NULL;
// tavola_log_drain_thread *drain = NULL;
// uint64_t lines = 0;
// tavola_log_drain_options options = TAVOLA_INIT(tavola_log_drain_options);
// options.path = "events.log";
// options.rotate_bytes = 100 << 20;
// options.keep = 5;
// options.form = TAVOLA_LOG_SHORT;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_drain_start(log, &options, &drain);
// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
// if (tavola_log_drain_has_failed(drain)) {
//   puts("the file cannot be written now; the lines are in the log");
// }
// tavola_log_drain_stop(drain, &lines);
// tavola_log_close(log);
// ```
//
// # Errors
// `TAVOLA_ERR_ALREADY_DRAINED`; `TAVOLA_ERR_ARGUMENT`: neither a path nor a descriptor, or a
// `rotate_bytes` without a path. `TAVOLA_ERR_IO`: the file cannot be opened, or the thread not
// started. Otherwise as `tavola_log_drain_open`.
//
// # Concurrency
// If the lines cannot be written, the thread tries again every 100 ms. A forked child has no
// thread, and the lines that it writes are written out by its parent's.
//
// # Crash
// As `tavola_log_drain_open`. If the process ends by `exit` or by returning from `main`, the
// thread writes out all lines first, for at most 10 seconds. After `_exit` or a signal that kills,
// they stay in the log for the next drain.
tavola_status tavola_log_drain_start(const struct tavola_log *log,
                                     const struct tavola_log_drain_options *options,
                                     struct tavola_log_drain_thread **thread);

// Returns whether the thread's last attempt to write lines has failed. They stay in the log, and
// the thread tries again.
bool tavola_log_drain_has_failed(const struct tavola_log_drain_thread *thread);

// Writes out all lines and ends the thread. `lines`, which may be NULL, gets how many lines it has
// written. NULL for `thread` has no effect. In a forked child it only forgets the thread.
//
// # Errors
// `TAVOLA_ERR_SINK`: the last lines could not be written, and stay in the log;
// `TAVOLA_ERR_ALREADY_DRAINED` in a forked child. The thread has ended in any case, and the
// handle must not be used any more.
tavola_status tavola_log_drain_stop(struct tavola_log_drain_thread *thread, uint64_t *lines);

// Opens a stream of the C library whose lines go to a log, all with this level: for `fprintf`,
// `fputs`, and libraries that write to a `FILE *`. A line is written when its end comes, or with
// `fclose`. The stream keeps the log open; close it with `fclose`.
//
// # Examples
// ```c
// tavola_log *log = NULL;
// FILE *stream = NULL;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_show_on_stderr(log, false);
// if (tavola_log_file(log, TAVOLA_LEVEL_INFO, &stream) == TAVOLA_OK) {
//   fprintf(stream, "cart %d", 3);
//   fputs(" is ready\ncart 4 is not\n", stream);
//   fclose(stream);
// }
// tavola_log_close(log);
// ```
//
// # Errors
// `TAVOLA_ERR_ARGUMENT`: an unknown level. `TAVOLA_ERR_IO`: the C library has no memory for a
// stream. If a line cannot be written, the functions of the stream return an error, as they do if
// a disk is full.
//
// # Concurrency
// Threads may share the stream; the C library locks it for each call. A line that one thread puts
// together by several calls may get mixed with another's, so give each thread a stream, or write a
// line by one call.
//
// # Crash
// Lines whose end was written are in the log. The beginning of a line is lost with its process.
tavola_status tavola_log_file(const struct tavola_log *log, int32_t level, FILE **stream);

// Opens a reader, which begins with the oldest line of the log. A read-only handle of the log is
// enough.
//
// # Examples
// ```c
// static void show(void *user, const tavola_line *line) {
//   char bytes[512];
//   tavola_buffer text = TAVOLA_BUFFER(bytes, sizeof bytes);
//   (void)user;
//   if (tavola_line_print(line, &text) == TAVOLA_OK) {
//     printf("%.*s\n", (int)text.len, bytes);
//   }
// }
//
// tavola_log *log = NULL;
// tavola_log_reader *reader = NULL;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_show_on_stderr(log, false);
// tavola_log_reader_open(log, &reader);
// tavola_log_reader_skip(reader);
// tavola_log_line(log, TAVOLA_LEVEL_INFO, TAVOLA_STR("cart 3 is ready"));
// tavola_log_reader_lines(reader, show, NULL);
// tavola_log_reader_follow(reader, show, NULL);
// printf("%llu pieces missed\n", (unsigned long long)tavola_log_reader_missed(reader));
// tavola_log_reader_close(reader);
// tavola_log_close(log);
// ```
tavola_status tavola_log_reader_open(const struct tavola_log *log,
                                     struct tavola_log_reader **reader);

// Calls `each` with the lines that this reader has not returned before, in the order of their
// times.
//
// # Concurrency
// Lines that are being written at this moment may be missing, and come with the next call after
// later ones; `tavola_log_reader_follow` waits for them.
tavola_status tavola_log_reader_lines(struct tavola_log_reader *reader,
                                      tavola_each_line each,
                                      void *user);

// Does the same as `tavola_log_reader_lines`, but leaves out the lines of the last millisecond,
// and waits for a writer that is held up in the middle of a line. So the order holds from call to
// call, as it does for a drain.
tavola_status tavola_log_reader_follow(struct tavola_log_reader *reader,
                                       tavola_each_line each,
                                       void *user);

// Skips all lines that the log has now.
tavola_status tavola_log_reader_skip(struct tavola_log_reader *reader);

// Returns how many pieces of the log, 16 KiB each, were overwritten before this reader had read
// all of them. The number is a lower bound: it does not include lines that were written to a piece
// after the reader had looked at it.
uint64_t tavola_log_reader_missed(struct tavola_log_reader *reader);

// Closes a reader. NULL has no effect.
void tavola_log_reader_close(struct tavola_log_reader *reader);

#ifdef __cplusplus
}  // extern "C"
#endif

#include <tavola_log_printf.h>

#endif  // TAVOLA_LOG_H

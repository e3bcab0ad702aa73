// Lines of a log that are formatted as by printf; a part of tavola_log.h, which includes it. C11 and
// C++17.
//
// MIT OR Apache-2.0, at your choice.

#ifndef TAVOLA_LOG_PRINTF_H
#define TAVOLA_LOG_PRINTF_H

#include <tavola_log.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Lets the compiler check the arguments of a function against its format.
#if defined(__GNUC__)
#define TAVOLA_PRINTF(format, first) __attribute__((__format__(__printf__, format, first)))
#else
#define TAVOLA_PRINTF(format, first)
#endif

// Formats a line as `printf` does, and writes it as `tavola_log_line` does, whatever level
// `tavola_log_set_level` has set. It allocates memory only for lines of 1 KiB or more; if there is
// no memory for such a line, it writes the part that fits. A line that cannot be formatted is
// written as its bare format.
//
// # Examples
// ```c
// tavola_log *log = NULL;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_show_on_stderr(log, false);
// tavola_log_printf(log, TAVOLA_LEVEL_INFO, "%d carts", 3);
// TAVOLA_LOG(log, TAVOLA_LEVEL_INFO, "%d carts", 3);
// TAVOLA_LOG_ERROR(log, "cart %d is lost", 3);
// TAVOLA_LOG_WARN(log, "cart %d is late", 3);
// TAVOLA_LOG_INFO(log, "cart %d is ready", 3);
// TAVOLA_LOG_DEBUG(log, "cart %d has %d items", 3, 7);
// TAVOLA_LOG_TRACE(log, "cart %d", 3);
// tavola_log_close(log);
// ```
//
// # Errors
// As `tavola_log_line`.
static inline tavola_status tavola_log_printf(const tavola_log *log, int32_t level,
                                              const char *format, ...) TAVOLA_PRINTF(3, 4);

// Does the same as `tavola_log_printf`, with a list of arguments.
//
// # Examples
// ```c
// static void say(tavola_log *log, const char *format, ...) TAVOLA_PRINTF(2, 3);
//
// static void say(tavola_log *log, const char *format, ...) {
//   va_list args;
//   va_start(args, format);
//   tavola_log_vprintf(log, TAVOLA_LEVEL_INFO, format, args);
//   va_end(args);
// }
//
// tavola_log *log = NULL;
// tavola_log_open_in(table, "events", NULL, &log);
// tavola_log_show_on_stderr(log, false);
// say(log, "cart %d is ready", 3);
// tavola_log_close(log);
// ```
//
// # Errors
// As `tavola_log_line`.
static inline tavola_status tavola_log_vprintf(const tavola_log *log, int32_t level,
                                               const char *format, va_list args)
    TAVOLA_PRINTF(3, 0);

// Formats and writes a line, unless `tavola_log_set_level` has set a lower level or `log` is NULL;
// then it does not evaluate the arguments. A line that cannot be written is lost; call
// `tavola_log_printf` if you need the error.
#define TAVOLA_LOG(log, level, ...)                                   \
  do {                                                                \
    const tavola_log *tavola_log_at_ = (log);                         \
    if (tavola_log_is_on(tavola_log_at_, (level))) {                  \
      (void)tavola_log_printf(tavola_log_at_, (level), __VA_ARGS__);  \
    }                                                                 \
  } while (0)

// Does the same as `TAVOLA_LOG`, with the level in the name:
// `TAVOLA_LOG_INFO(log, "cart %d is ready", 3);`
#define TAVOLA_LOG_ERROR(log, ...) TAVOLA_LOG(log, TAVOLA_LEVEL_ERROR, __VA_ARGS__)
#define TAVOLA_LOG_WARN(log, ...) TAVOLA_LOG(log, TAVOLA_LEVEL_WARN, __VA_ARGS__)
#define TAVOLA_LOG_INFO(log, ...) TAVOLA_LOG(log, TAVOLA_LEVEL_INFO, __VA_ARGS__)
#define TAVOLA_LOG_DEBUG(log, ...) TAVOLA_LOG(log, TAVOLA_LEVEL_DEBUG, __VA_ARGS__)
#define TAVOLA_LOG_TRACE(log, ...) TAVOLA_LOG(log, TAVOLA_LEVEL_TRACE, __VA_ARGS__)

static inline tavola_status tavola_log_vprintf(const tavola_log *log, int32_t level,
                                               const char *format, va_list args) {
  char text[1024];
  char *longer = NULL;
  va_list again;
  va_copy(again, args);
  const int needed = vsnprintf(text, sizeof text, format, args);
  size_t len = needed < 0 ? 0 : (size_t)needed;
  if (len >= sizeof text) {
    longer = (char *)malloc(len + 1);
    if (longer == NULL || vsnprintf(longer, len + 1, format, again) < 0) {
      len = sizeof text - 1;
      free(longer);
      longer = NULL;
    }
  }
  va_end(again);
  const char *whole = longer != NULL ? longer : text;
  if (needed < 0) {
    whole = format;
    len = strlen(format);
  }
  const tavola_status status = tavola_log_line(log, level, whole, len);
  free(longer);
  return status;
}

static inline tavola_status tavola_log_printf(const tavola_log *log, int32_t level,
                                              const char *format, ...) {
  va_list args;
  va_start(args, format);
  const tavola_status status = tavola_log_vprintf(log, level, format, args);
  va_end(args);
  return status;
}

#endif

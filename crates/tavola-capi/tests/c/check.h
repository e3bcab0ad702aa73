// What the programs have in common: a check that tells where it failed and what the library said.

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tavola.h>

#define CHECK(holds)                                                                       \
  do {                                                                                     \
    if (!(holds)) {                                                                        \
      fprintf(stderr, "%s:%d: does not hold: %s (last error: %s)\n", __FILE__, __LINE__,   \
              #holds, tavola_last_error());                                                \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

// CHECK_IS(status, call): the call returns that status.
#define CHECK_IS(status, call) check_is(__FILE__, __LINE__, #call, (status), (call))

static inline void check_is(const char *file, int line, const char *call, int32_t expected,
                            int32_t found) {
  if (found != expected) {
    fprintf(stderr, "%s:%d: %s is %s, not %s (last error: %s)\n", file, line, call,
            tavola_status_name(found), tavola_status_name(expected), tavola_last_error());
    exit(1);
  }
}

// A table of a few megabytes.
static inline tavola_table *a_table(const char *name) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  options.max_size = 16 << 20;
  CHECK_IS(TAVOLA_OK, tavola_create(name, &options, &table));
  return table;
}

static inline tavola_status set(tavola_table *table, const char *key, const char *value) {
  return tavola_set(table, key, strlen(key), value, strlen(value));
}

// Whether the key has this value; NULL: whether it is missing.
static inline bool has(tavola_table *table, const char *key, const char *value) {
  char bytes[256];
  tavola_buffer found = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_status status = tavola_get(table, key, strlen(key), &found);
  if (value == NULL) {
    return status == TAVOLA_NOT_FOUND;
  }
  return status == TAVOLA_OK && found.len == strlen(value) && memcmp(bytes, value, found.len) == 0;
}

// Whether a buffer holds this text.
static inline bool holds(const tavola_buffer *buffer, const char *text) {
  return buffer->len == strlen(text) && memcmp(buffer->data, text, buffer->len) == 0;
}

// Counts what a list tells.
static inline void count_text(void *user, const char *text, size_t len) {
  CHECK(strlen(text) == len);
  *(int *)user += 1;
}

static inline void check_clean(tavola_table *table) {
  tavola_check_report report = TAVOLA_INIT(tavola_check_report);
  CHECK_IS(TAVOLA_OK, tavola_check(table, &report, NULL, NULL));
  CHECK(report.problems == 0 && report.bytes_in_use == report.bytes_reachable);
}

#endif

// What the programs have in common: a check that prints where it failed and what the library said.

#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tavola_client.h>

#define CHECK(holds)                                                                      \
  do {                                                                                    \
    if (!(holds)) {                                                                       \
      fprintf(stderr, "%s:%d: does not hold: %s (last error: %s)\n", __FILE__, __LINE__,  \
              #holds, tavola_mc_last_error());                                            \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

// CHECK_IS(STATUS, call): the call returns TAVOLA_MC_STATUS.
#define CHECK_IS(status, call) check_is(__FILE__, __LINE__, #call, TAVOLA_MC_##status, (call))

static inline void check_is(const char *file, int line, const char *call, int32_t expected,
                            int32_t found) {
  if (found != expected) {
    fprintf(stderr, "%s:%d: %s is %s, not %s (last error: %s)\n", file, line, call,
            tavola_mc_status_name(found), tavola_mc_status_name(expected),
            tavola_mc_last_error());
    exit(1);
  }
}

// The servers of the test.
static inline const char *servers(void) {
  const char *list = getenv("TAVOLA_MC_SERVERS");
  CHECK(list != NULL);
  return list;
}

// A client of the servers of the test, whose keys are gone.
static inline tavola_mc_client *a_client(void) {
  tavola_mc_client *client = NULL;
  CHECK_IS(OK, tavola_mc_open(servers(), NULL, &client));
  CHECK_IS(OK, tavola_mc_flush_all(client, 0, NULL, NULL));
  return client;
}

// Whether the key has this value; NULL: whether it is missing.
static inline bool has(tavola_mc_client *client, const char *key, const char *value) {
  char bytes[256];
  tavola_mc_value found = TAVOLA_MC_VALUE(bytes, sizeof bytes);
  tavola_mc_status status = tavola_mc_get(client, key, strlen(key), &found);
  if (value == NULL) {
    return status == TAVOLA_MC_MISS;
  }
  return status == TAVOLA_MC_HIT && found.len == strlen(value) &&
         memcmp(bytes, value, found.len) == 0;
}

#endif

// A program for the C client of Cache::Memcached::Fast as people wrote them in 2009: one key is set
// and fetched, then many in a loop, and then all of them by one call. client_execute has one
// argument, as it had then.
#include <client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOPS 2000

static int errors = 0;
static int stored = 0;
static char *last = NULL;
static size_t last_size = 0;

void *value_alloc(value_size_type value_size, void **opaque)
{
  last_size = value_size;
  last = (char *) malloc(value_size + 1);
  last[value_size] = '\0';
  *opaque = last;
  return last;
}

void value_store(void *arg, void *opaque, int key_index, void *meta)
{
  (void) arg; (void) meta;
  printf("key %d: %s\n", key_index, (char *) opaque);
}

void value_count(void *arg, void *opaque, int key_index, void *meta)
{
  char value[32];
  (void) arg; (void) meta;
  snprintf(value, sizeof(value), "value%d", key_index);
  if (strcmp((char *) opaque, value) != 0) ++errors;
  ++stored;
  free(opaque);
}

void value_free(void *opaque)
{
  free(opaque);
}

void set_store(void *arg, void *opaque, int key_index, void *meta)
{
  (void) arg; (void) key_index; (void) meta;
  if (opaque == NULL) ++errors;
}

struct result_object set_object = { NULL, set_store, NULL, NULL };
struct result_object get_object = { value_alloc, value_store, value_free, NULL };
struct result_object loop_object = { value_alloc, value_count, value_free, NULL };

int main()
{
  struct client *c;
  int i, res;
  char key[32], value[32];
  static char keys[LOOPS][32], values[LOOPS][32];
  clock_t begin;
  char *list = getenv("TAVOLA_MC_SERVERS");
  char *port = strchr(list, ':') + 1;

  c = client_init();
  if (c == NULL) {
    printf("client_init failed\n");
    return 1;
  }
  client_set_ketama_points(c, 0);
  client_set_connect_timeout(c, 250);
  client_set_io_timeout(c, 1000);
  client_set_max_failures(c, 3);
  client_set_failure_timeout(c, 10);
  res = client_add_server(c, list, port - 1 - list, port, strcspn(port, ","), 1.0, 1);
  if (res != MEMCACHED_SUCCESS) {
    printf("client_add_server: %d\n", res);
    return 1;
  }
  client_set_prefix(c, "loop:", 5);

  // The sample.
  client_reset(c, &set_object, 0);
  client_prepare_set(c, CMD_SET, 0, "hello", 5, 0, 0, "world", 5);
  res = client_execute(c);
  printf("set: %d\n", res);
  client_reset(c, &get_object, 0);
  client_prepare_get(c, CMD_GET, 0, "hello", 5);
  res = client_execute(c);
  printf("get: %d, %d bytes\n", res, (int) last_size);
  if (last == NULL || strcmp(last, "world") != 0) ++errors;
  free(last);

  // The loop: a set without an answer, and a get.
  begin = clock();
  for (i = 0; i < LOOPS; i++) {
    int key_len = sprintf(key, "key%d", i % 100);
    int value_len = sprintf(value, "value%d", i);
    client_reset(c, &set_object, 1);
    client_prepare_set(c, CMD_SET, i, key, key_len, 0, 0, value, value_len);
    client_execute(c);
    client_reset(c, &loop_object, 0);
    client_prepare_get(c, CMD_GET, i, key, key_len);
    client_execute(c);
  }
  printf("%d sets and gets: %.3f s\n", LOOPS, (double) (clock() - begin) / CLOCKS_PER_SEC);
  if (stored != LOOPS) ++errors;

  // All of them by one call.
  client_reset(c, &set_object, 0);
  for (i = 0; i < LOOPS; i++) {
    sprintf(keys[i], "all%d", i);
    sprintf(values[i], "value%d", i);
    client_prepare_set(c, CMD_SET, i, keys[i], strlen(keys[i]), 0, 60, values[i],
                       strlen(values[i]));
  }
  client_execute(c);
  client_reset(c, &loop_object, 0);
  for (i = 0; i < LOOPS; i++)
    client_prepare_get(c, CMD_GET, i, keys[i], strlen(keys[i]));
  client_execute(c);
  printf("%d values, %d errors\n", stored, errors);
  client_destroy(c);
  return errors != 0 || stored != 2 * LOOPS;
}

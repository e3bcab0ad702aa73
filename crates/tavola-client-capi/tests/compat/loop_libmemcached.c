// A program for libmemcached as people wrote them in 2009: a set and a get in a loop, with a server
// that is given by name, and the length of a value in an int.
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOPS 2000

int main()
{
  memcached_st *memc;
  memcached_return rc;
  memcached_server_st *servers;
  int i, errors = 0;
  clock_t begin;
  char key[32], value[32], host[32];
  char *list = getenv("TAVOLA_MC_SERVERS");
  char *port = strchr(list, ':');

  sprintf(host, "%.*s", (int) (port - list), list);
  memc = memcached_create(NULL);
  servers = memcached_server_list_append(NULL, host, atoi(port + 1), &rc);
  rc = memcached_server_push(memc, servers);
  memcached_server_free(servers);
  if (rc != MEMCACHED_SUCCESS) {
    printf("memcached_server_push: %s\n", memcached_strerror(memc, rc));
    return 1;
  }
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_NO_BLOCK, 1);

  begin = clock();
  for (i = 0; i < LOOPS; i++) {
    uint32_t flags;
    int value_length;
    char *got;
    int key_len = sprintf(key, "key%d", i % 100);
    int value_len = sprintf(value, "value%d", i);

    rc = memcached_set(memc, key, key_len, value, value_len, (time_t) 0, (uint32_t) i);
    if (rc != MEMCACHED_SUCCESS) {
      printf("set %s: %s\n", key, memcached_strerror(memc, rc));
      ++errors;
    }
    got = memcached_get(memc, key, key_len, &value_length, &flags, &rc);
    if (rc != MEMCACHED_SUCCESS) {
      printf("get %s: %s\n", key, memcached_strerror(memc, rc));
      ++errors;
      continue;
    }
    if (value_length != value_len || memcmp(got, value, value_len) || flags != (uint32_t) i)
      ++errors;
    free(got);
  }
  printf("%d sets and gets: %.3f s, %d errors\n", LOOPS,
         (double) (clock() - begin) / CLOCKS_PER_SEC, errors);
  memcached_free(memc);
  return errors != 0;
}

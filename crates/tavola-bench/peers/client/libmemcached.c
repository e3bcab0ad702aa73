// Loops of a program that uses libmemcached. Arguments: the addresses of servers, HOST:PORT or a
// path. Each line of standard input is a load and for how many milliseconds it is to run; the
// answer is the number of loops and the nanoseconds that they took. Every answer is checked.
#include <libmemcached/memcached.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, VALUE = 100 };

static char keys[BATCH][16];
static const char *names[BATCH];
static size_t lens[BATCH];
static char value[VALUE];

static void fail(const char *what) {
  fprintf(stderr, "libmemcached: %s\n", what);
  exit(1);
}

static void check(memcached_st *client, memcached_return_t status) {
  if (status != MEMCACHED_SUCCESS) fail(memcached_strerror(client, status));
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static memcached_st *connect_to(char **addresses, int count) {
  memcached_st *client = memcached_create(NULL);
  if (!client) fail("no memory");
  for (int at = 0; at < count; at++) {
    char host[512];
    if (snprintf(host, sizeof host, "%s", addresses[at]) >= (int)sizeof host) fail("long address");
    char *colon = strrchr(host, ':');
    if (host[0] == '/') {
      check(client, memcached_server_add_unix_socket(client, host));
      continue;
    }
    if (!colon) fail("no address");
    *colon = 0;
    check(client, memcached_server_add(client, host, (in_port_t)atoi(colon + 1)));
    check(client, memcached_behavior_set(client, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1));
  }
  return client;
}

static void set(memcached_st *client, int at) {
  check(client, memcached_set(client, names[at], lens[at], value, VALUE, 0, 0));
}

static void get(memcached_st *client, int at) {
  size_t len;
  uint32_t flags;
  memcached_return_t status;
  char *found = memcached_get(client, names[at], lens[at], &len, &flags, &status);
  check(client, status);
  if (len != VALUE || memcmp(found, value, VALUE)) fail("another value");
  free(found);
}

static void get_all(memcached_st *client) {
  check(client, memcached_mget(client, names, lens, BATCH));
  memcached_result_st result;
  memcached_return_t status;
  int found = 0;
  memcached_result_create(client, &result);
  while (memcached_fetch_result(client, &result, &status)) {
    if (memcached_result_length(&result) != VALUE) fail("another value");
    found++;
  }
  memcached_result_free(&result);
  if (found != BATCH) fail("missing keys");
}

static void set_all(memcached_st *client) {
  for (int at = 0; at < BATCH; at++) set(client, at);
}

int main(int argc, char **argv) {
  if (argc < 2) fail("no servers");
  memset(value, 'v', VALUE);
  for (int at = 0; at < BATCH; at++) {
    lens[at] = (size_t)snprintf(keys[at], sizeof keys[at], "key:%d", at);
    names[at] = keys[at];
  }
  memcached_st *one = connect_to(argv + 1, 1), *all = connect_to(argv + 1, argc - 1);
  memcached_st *quiet = connect_to(argv + 1, 1);
  check(quiet, memcached_behavior_set(quiet, MEMCACHED_BEHAVIOR_NOREPLY, 1));
  set_all(one);
  set_all(all);
  char load[32];
  unsigned millis;
  while (scanf("%31s %u", load, &millis) == 2) {
    uint64_t begin = now_ns(), end = begin + millis * UINT64_C(1000000), loops = 0, now = begin;
    int next = 0;
    for (; now < end; now = now_ns(), loops++, next = (next + 1) % BATCH) {
      if (!strcmp(load, "wait") || !strcmp(load, "batch")) {
        set(one, next);
        get(one, next);
      } else if (!strcmp(load, "joined")) {
        memcached_return_t sent = memcached_set(quiet, names[next], lens[next], value, VALUE, 0, 0);
        if (sent != MEMCACHED_BUFFERED) check(quiet, sent);
        get(quiet, next);
      } else if (!strcmp(load, "mget") || !strcmp(load, "line")) {
        get_all(one);
      } else if (!strcmp(load, "mget-4")) {
        get_all(all);
      } else if (!strcmp(load, "sets")) {
        set_all(one);
      } else {
        fail("no such load");
      }
    }
    printf("%llu %llu\n", (unsigned long long)loops, (unsigned long long)(now - begin));
    fflush(stdout);
  }
  memcached_free(one);
  memcached_free(all);
  memcached_free(quiet);
  return 0;
}

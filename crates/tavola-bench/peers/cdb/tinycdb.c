// Loops of a program that uses TinyCDB. Arguments: the path of the file, and the number of keys.
// Each line of standard input is a phase and a seed; the answer is the number of records and the
// nanoseconds on a processor that they took. Every answer is checked. Keys and values are those of
// src/cdb.rs.
#include <cdb.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static uint64_t keys, sum;
static struct cdb cdb;
static int is_open;

static void fail(const char *what) {
  fprintf(stderr, "TinyCDB: %s\n", what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t key_of(uint64_t index) {
  uint64_t word = index * UINT64_C(0x9e3779b97f4a7c15);
  return word ^ word >> 32;
}

static void close_file(void) {
  if (!is_open) return;
  int file = cdb_fileno(&cdb);
  cdb_free(&cdb);
  close(file);
  is_open = 0;
}

static void open_file(void) {
  int file = open(path, O_RDONLY);
  if (file < 0 || cdb_init(&cdb, file)) fail("cannot open the file");
  is_open = 1;
}

static void build(void) {
  struct cdb_make make;
  int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || cdb_make_start(&make, file)) fail("cannot make the file");
  sum = 0;
  for (uint64_t index = 0; index < keys; index++) {
    uint64_t key = key_of(index), value = ~key;
    if (cdb_make_add(&make, &key, sizeof key, &value, sizeof value)) fail("cannot add");
    sum += key;
  }
  if (cdb_make_finish(&make) || close(file)) fail("cannot finish the file");
}

static uint64_t word_at(unsigned len, unsigned at) {
  uint64_t word;
  const void *bytes = cdb_get(&cdb, len, at);
  if (!bytes || len != sizeof word) fail("a record of another length");
  memcpy(&word, bytes, sizeof word);
  return word;
}

static void scan(void) {
  unsigned at;
  uint64_t count = 0, found = 0;
  cdb_seqinit(&at, &cdb);
  while (cdb_seqnext(&at, &cdb) > 0) {
    uint64_t key = word_at(cdb_keylen(&cdb), cdb_keypos(&cdb));
    if (word_at(cdb_datalen(&cdb), cdb_datapos(&cdb)) != ~key) fail("another value");
    found += key;
    count++;
  }
  if (count != keys || found != sum) fail("other records");
}

static void get(uint64_t seed) {
  uint64_t state = seed;
  for (uint64_t count = 0; count < keys; count++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    uint64_t key = key_of((uint64_t)((unsigned __int128)state * keys >> 64));
    if (cdb_find(&cdb, &key, sizeof key) <= 0) fail("a missing key");
    if (word_at(cdb_datalen(&cdb), cdb_datapos(&cdb)) != ~key) fail("another value");
  }
}

int main(int argc, char **argv) {
  if (argc != 3) fail("needs a path and a number of keys");
  path = argv[1];
  keys = strtoull(argv[2], NULL, 10);
  char phase[16];
  unsigned long long seed;
  while (scanf("%15s %llu", phase, &seed) == 2) {
    if (!strcmp(phase, "build")) {
      close_file();
      unlink(path);
    }
    uint64_t begin = now_ns();
    if (!strcmp(phase, "build")) {
      build();
    } else if (!strcmp(phase, "first")) {
      close_file();
      open_file();
      scan();
    } else if (!strcmp(phase, "scan")) {
      scan();
    } else if (!strcmp(phase, "get")) {
      get(seed);
    } else {
      fail("no such phase");
    }
    printf("%llu %llu\n", (unsigned long long)keys, (unsigned long long)(now_ns() - begin));
    fflush(stdout);
  }
  close_file();
  return 0;
}

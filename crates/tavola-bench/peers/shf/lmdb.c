// A process of `tavola-bench shf` that uses LMDB: its share of the keys, phase by phase.
//
// It reads one line that says who it is, and then a line for each phase, and answers each with a
// line, as the processes of Tavola do (crew.rs, shf/worker.rs). A put is one of a transaction of up
// to 1,000, a key that is deleted and put again has a transaction of its own, and a get renews the
// transaction that it reads in, so that it sees what others have put.
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MANY 1000
#define EACH 1024

static MDB_env *env;
static MDB_dbi dbi;
static MDB_txn *reading;
static uint64_t part, parts, keys, mix, ops;
static int counts;

static void fail(bool wrong, const char *what) {
  printf("{\"Failed\":{\"wrong\":%s,\"what\":\"%s\"}}\n", wrong ? "true" : "false", what);
  fflush(stdout);
  exit(1);
}

static void check(int status) {
  if (status) fail(false, mdb_strerror(status));
}

static uint64_t number(const char *line, const char *name) {
  const char *at = strstr(line, name);
  if (at == NULL) fail(false, "a number is missing in a line of the leader");
  return strtoull(at + strlen(name), NULL, 10);
}

static char *text(const char *line, const char *name) {
  const char *at = strstr(line, name);
  if (at == NULL) fail(false, "a path is missing in a line of the leader");
  at += strlen(name);
  return strndup(at, strcspn(at, "\""));
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void count(void) {
  if (pwrite(counts, &ops, sizeof ops, (off_t)(part * sizeof ops)) != sizeof ops)
    fail(false, "the counts cannot be written");
}

static void counted(void) {
  if (++ops % EACH == 0) count();
}

static void put(MDB_txn *txn, uint32_t key, uint32_t value) {
  MDB_val name = {sizeof key, &key}, bytes = {sizeof value, &value};
  check(mdb_put(txn, dbi, &name, &bytes, 0));
}

static void put_all(uint64_t from, uint64_t end, bool is_update) {
  while (from < end) {
    MDB_txn *txn;
    check(mdb_txn_begin(env, NULL, 0, &txn));
    uint64_t stop = end - from > MANY ? from + MANY : end, at = from;
    for (; at < stop; at++) put(txn, (uint32_t)at, is_update ? ~(uint32_t)at : (uint32_t)at);
    check(mdb_txn_commit(txn));
    for (; from < stop; from++) counted();
  }
}

static void renew_one(uint32_t key) {
  MDB_txn *txn;
  MDB_val name = {sizeof key, &key};
  check(mdb_txn_begin(env, NULL, 0, &txn));
  if (mdb_del(txn, dbi, &name, NULL)) fail(true, "a key was missing");
  put(txn, key, ~key);
  check(mdb_txn_commit(txn));
}

static void get(uint32_t key) {
  uint32_t wanted = ~key;
  MDB_val name = {sizeof key, &key}, found;
  mdb_txn_reset(reading);
  check(mdb_txn_renew(reading));
  if (mdb_get(reading, dbi, &name, &found) || found.mv_size != sizeof wanted ||
      memcmp(found.mv_data, &wanted, sizeof wanted) != 0)
    fail(true, "a key has another value, or none");
}

static void read_all(uint64_t from, uint64_t end, uint64_t mixed) {
  for (uint64_t at = from; at < end; at++) {
    if (at % 100 < mixed)
      renew_one((uint32_t)at);
    else
      get((uint32_t)at);
    counted();
  }
  mdb_txn_reset(reading);
}

static void open_all(const char *line) {
  part = number(line, "\"part\":");
  parts = number(line, "\"parts\":");
  keys = number(line, "\"keys\":");
  mix = number(line, "\"mix\":");
  counts = open(text(line, "\"counts\":\""), O_WRONLY | O_CLOEXEC);
  if (counts < 0) fail(false, "the counts cannot be opened");
  check(mdb_env_create(&env));
  check(mdb_env_set_mapsize(env, (keys * 256 + ((uint64_t)1 << 30)) & ~(uint64_t)4095));
  check(mdb_env_open(env, text(line, "\"path\":\""),
                     MDB_NOSUBDIR | MDB_NOTLS | MDB_WRITEMAP | MDB_NOSYNC | MDB_NOMETASYNC, 0600));
  MDB_txn *txn;
  check(mdb_txn_begin(env, NULL, 0, &txn));
  check(mdb_dbi_open(txn, NULL, 0, &dbi));
  check(mdb_txn_commit(txn));
  check(mdb_txn_begin(env, NULL, MDB_RDONLY, &reading));
  mdb_txn_reset(reading);
}

int main(void) {
  char line[8192];
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if ((uint64_t)getppid() != number(line, "\"leader_pid\":")) return 1;
  open_all(line);
  puts("\"Ready\"");
  fflush(stdout);
  uint64_t from = (uint64_t)((unsigned __int128)keys * part / parts);
  uint64_t end = (uint64_t)((unsigned __int128)keys * (part + 1) / parts);
  while (fgets(line, sizeof line, stdin) != NULL) {
    uint64_t start_ns = number(line, "\"start_ns\":"), before = ops;
    struct timespec at = {(time_t)(start_ns / 1000000000), (long)(start_ns % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    if (strstr(line, "\"PUT\"") != NULL) put_all(from, end, false);
    if (strstr(line, "\"UPD\"") != NULL) put_all(from, end, true);
    if (strstr(line, "\"MIX\"") != NULL) read_all(from, end, mix);
    if (strstr(line, "\"GET\"") != NULL) read_all(from, end, 0);
    uint64_t end_ns = now_ns();
    count();
    printf("{\"Done\":{\"end_ns\":%" PRIu64 ",\"ops\":%" PRIu64 "}}\n", end_ns, ops - before);
    fflush(stdout);
  }
  return 0;
}

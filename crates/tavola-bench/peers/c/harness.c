// See harness.h. The loops are those of the programs in Rust (src/compare/inproc/harness.rs).
//
// Workloads e to i: key i is 8 bytes of a bijection of i, its value the key's word repeated. Keys
// are put in the order of i, which is no order of the keys, and asked for in an order that the seed
// fixes. Workloads b to d: key i is `k` and seven digits, its value the word of i and of how often
// it was put. Workload a: what is in the file.
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// So many operations go by between two looks at the clock.
#define STRIDE 64
// Phases that change nothing are gone through again until so much time has passed.
#define LEAST_NS 100000000u
// A put may take so many times as long as the other phases, so that all of the keys are there.
#define PUT_TIMES 8
// Each so-manieth operation of the mix is a remove and a put.
#define EVERY 50
// More seconds are not told one by one.
#define SECONDS 4096

static struct job job;
static void *store;
static bool wrong;
// Keys that were put of this process's share.
static uint64_t there = UINT64_MAX;
static struct room filled;

_Noreturn void fail(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  for (char *c = text; *c; c++)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < 32) *c = '\'';
  printf("{\"error\":\"%s\"}\n", text);
  fflush(stdout);
  _exit(1);
}

const char *path_in(const struct job *of, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", of->dir, name);
  return path;
}

uint64_t most_keys(const struct job *of) {
  if (of->workload == 'a') return 4096;
  return of->keys < 1024 ? 1024 : of->keys;
}

void make_room(struct room *room, size_t size) {
  if (room->size >= size) return;
  free(room->data);
  room->size = size + size / 2 + 64;
  room->data = malloc(room->size);
  if (!room->data) fail("no memory for a value");
}

// ---- the job

static const char *field(const char *text, const char *name) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  const char *at = strstr(text, quoted);
  return at ? at + strlen(quoted) : NULL;
}

static uint64_t number(const char *text, const char *name, uint64_t missing) {
  const char *at = field(text, name);
  return at && *at != 'n' ? strtoull(at, NULL, 10) : missing;
}

static void word(const char *text, const char *name, char *out, size_t size) {
  const char *at = field(text, name);
  out[0] = 0;
  if (!at || *at != '"') return;
  size_t len = strcspn(at + 1, "\"");
  if (len >= size || memchr(at + 1, '\\', len)) fail("the job's %s is not understood", name);
  memcpy(out, at + 1, len);
  out[len] = 0;
}

static void read_job(const char *text) {
  word(text, "peer", job.peer, sizeof job.peer);
  word(text, "dir", job.dir, sizeof job.dir);
  word(text, "address", job.address, sizeof job.address);
  word(text, "file", job.file, sizeof job.file);
  word(text, "protocol", job.protocol, sizeof job.protocol);
  char letter[4], reply[16];
  word(text, "workload", letter, sizeof letter);
  word(text, "reply", reply, sizeof reply);
  job.workload = letter[0];
  job.noreply = strcmp(reply, "noreply") == 0;
  const char *timed = field(text, "timed");
  job.timed = timed && *timed == 't';
  job.keys = number(text, "keys", 0);
  job.key_bytes = number(text, "key_bytes", 8);
  job.value_bytes = number(text, "value_bytes", 8);
  job.procs = number(text, "procs", 1);
  job.proc = number(text, "proc", 0);
  job.loops = number(text, "loops", 0);
  job.batch = number(text, "batch", 0);
  uint64_t limit_ms = number(text, "limit_ms", 0);
  job.limit_ns = limit_ms ? limit_ms * 1000000 : UINT64_MAX;
  job.seed = number(text, "seed", 7);
  const char *phases = field(text, "phases");
  if (!phases || *phases != '[') fail("the job has no phases");
  for (const char *at = phases + 1; *at == '"' || *at == ',';) {
    if (*at == ',') {
      at++;
      continue;
    }
    size_t len = strcspn(++at, "\"");
    if (job.phase_count == 8 || len > 23) fail("the job's phases are not understood");
    memcpy(job.phases[job.phase_count++], at, len);
    at += len + 1;
  }
}

// ---- time, and what a phase comes to

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// 32 buckets for each power of two: a latency is told within 3 %.
#define BUCKETS (60 * 32)
static uint64_t histogram[BUCKETS];

static unsigned bucket_of(uint64_t ns) {
  if (ns < 32) return ns;
  unsigned top = 63 - __builtin_clzll(ns);
  unsigned bucket = (top - 4) * 32 + ((ns >> (top - 5)) & 31);
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

// The largest latency of a bucket.
static uint64_t edge_of(unsigned bucket) {
  if (bucket < 32) return bucket;
  unsigned top = bucket / 32 + 4;
  return ((uint64_t)(32 + bucket % 32 + 1) << (top - 5)) - 1;
}

static struct {
  const char *name;
  uint64_t begin, last, end, cpu, ops, pause, slowest, limit;
  uint64_t per_second[SECONDS];
} phase;

static void begin(const char *name, bool puts, uint64_t start_ns) {
  memset(&phase, 0, sizeof phase);
  memset(histogram, 0, sizeof histogram);
  wrong = false;
  phase.name = name;
  phase.limit = puts && job.limit_ns < UINT64_MAX ? PUT_TIMES * job.limit_ns : job.limit_ns;
  phase.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  phase.begin = phase.last = start_ns ? start_ns : now_ns();
}

// After some operations: whether the time is over.
static bool note(uint64_t ops) {
  uint64_t now = now_ns(), took = now - phase.last;
  phase.last = now;
  phase.ops += ops;
  if (job.timed) {
    histogram[bucket_of(took)]++;
    if (took > phase.slowest) phase.slowest = took;
  } else if (took > phase.pause) {
    phase.pause = took;
  }
  uint64_t second = (now - phase.begin) / 1000000000u;
  if (second < SECONDS) phase.per_second[second] += ops;
  return now - phase.begin > phase.limit;
}

static void end(uint64_t wanted) {
  phase.end = now_ns();
  uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - phase.cpu;
  printf("{\"phase\":\"%s\",\"ops\":%lu,\"seconds\":%.9f,\"cpu_seconds\":%.9f,\"verified\":%s,"
         "\"begin_ns\":%lu,\"end_ns\":%lu",
         phase.name, phase.ops, (phase.end - phase.begin) / 1e9, cpu / 1e9,
         wrong ? "false" : "true", phase.begin, phase.end);
  if (phase.ops < wanted)
    printf(",\"note\":\"only %lu of %lu within its time\"", phase.ops, wanted);
  uint64_t seconds = (phase.last - phase.begin) / 1000000000u + 1;
  printf(",\"per_second\":[");
  for (uint64_t at = 0; at < seconds && at < SECONDS; at++)
    printf("%s%lu", at ? "," : "", phase.per_second[at]);
  printf("]");
  if (phase.pause) printf(",\"pause_ns\":%lu", phase.pause);
  if (job.timed) {
    static const struct {
      const char *name;
      double share;
    } quantiles[] = {{"p50_ns", 0.5}, {"p99_ns", 0.99}, {"p999_ns", 0.999}};
    uint64_t all = 0, below = 0;
    for (unsigned at = 0; at < BUCKETS; at++) all += histogram[at];
    unsigned which = 0;
    double last = -1;
    char cdf[16384];
    int len = 0;
    for (unsigned at = 0; at < BUCKETS && all; at++) {
      if (!histogram[at]) continue;
      below += histogram[at];
      double share = (double)below / all;
      uint64_t ns = edge_of(at) < phase.slowest ? edge_of(at) : phase.slowest;
      for (; which < 3 && share >= quantiles[which].share; which++)
        printf(",\"%s\":%lu", quantiles[which].name, ns);
      if (share - last < 0.01 && share < 0.99) continue;
      if (len < (int)sizeof cdf - 64)
        len += snprintf(cdf + len, sizeof cdf - len, "%s[%lu,%.6f]", len ? "," : "", ns, share);
      last = share;
    }
    if (all) printf(",\"max_ns\":%lu,\"cdf\":[%.*s]", phase.slowest, len, cdf);
  }
  printf("}\n");
  fflush(stdout);
}

static void refuse(const char *name, const char *why) {
  printf("{\"phase\":\"%s\",\"refused\":\"%s\"}\n", name, why);
  fflush(stdout);
}

// ---- keys, values, order

static uint64_t mix64(uint64_t index) {
  index *= 0x9e3779b97f4a7c15u;
  return index ^ index >> 32;
}

static inline struct span value_of(uint64_t word) {
  char *at = filled.data;
  size_t len = job.value_bytes;
  if (len == 8) {
    memcpy(at, &word, 8);
  } else {
    size_t done = 0;
    for (; done + 8 <= len; done += 8) memcpy(at + done, &word, 8);
    memcpy(at + done, &word, len - done);
  }
  return (struct span){at, len};
}

static inline bool holds(const void *data, size_t len, uint64_t word) {
  if (len != job.value_bytes) return false;
  if (len == 8) return memcmp(data, &word, 8) == 0;
  const char *at = data;
  uint64_t other = 0, part;
  size_t done = 0;
  for (; done + 8 <= len; done += 8) {
    memcpy(&part, at + done, 8);
    other |= part ^ word;
  }
  return other == 0 && memcmp(at + done, &word, len - done) == 0;
}

// Each index of a share once, in order or not.
struct order {
  uint64_t start, count, mask, walker, left;
  bool shuffled;
};

static struct order order_of(uint64_t start, uint64_t count, bool shuffled, uint64_t seed) {
  struct order order = {start, count, 0, 0, count, shuffled};
  if (shuffled) {
    uint64_t bits = count > 1 ? 64 - __builtin_clzll(count - 1) : 0;
    order.mask = bits ? UINT64_MAX >> (64 - bits) : 0;
    order.walker = seed * (0x9e3779b97f4a7c15u ^ seed << 32);
    order.left = count ? order.mask + 1 : 0;
  }
  return order;
}

static unsigned next(struct order *order, uint64_t *out, unsigned most) {
  unsigned len = 0;
  if (!order->shuffled) {
    for (; len < most && order->left; len++) out[len] = order->start + order->count - order->left--;
    return len;
  }
  while (len < most && order->left) {
    uint64_t at = order->walker & order->mask;
    at = (at ^ at >> 11) * 0xd1b54a32d192ed03u & order->mask;
    order->walker += 0x9e3779b97f4a7c15u;
    order->left--;
    out[len] = order->start + at;
    len += at < order->count;
  }
  return len;
}

// ---- workloads e to i

static inline void put_one(uint64_t index) {
  uint64_t key = mix64(index);
  adapter.put(store, (struct span){&key, 8}, value_of(key));
}

static inline void get_one(uint64_t index) {
  uint64_t key = mix64(index);
  struct span value;
  bool found = adapter.get(store, (struct span){&key, 8}, &value);
  wrong |= !found || !holds(value.data, value.len, key);
}

static void put_keys(const uint64_t *keys, unsigned count) {
  for (unsigned at = 0; at < count; at++) put_one(keys[at]);
}

static void get_keys(const uint64_t *keys, unsigned count) {
  for (unsigned at = 0; at < count; at++) get_one(keys[at]);
}

static void miss_keys(const uint64_t *keys, unsigned count) {
  for (unsigned at = 0; at < count; at++) {
    uint64_t key = mix64(keys[at] + job.keys);
    struct span value;
    wrong |= adapter.get(store, (struct span){&key, 8}, &value);
  }
}

static void mix_keys(const uint64_t *keys, unsigned count) {
  static unsigned turn;
  for (unsigned at = 0; at < count; at++) {
    if (++turn < EVERY) {
      get_one(keys[at]);
      continue;
    }
    turn = 0;
    uint64_t key = mix64(keys[at]);
    wrong |= !adapter.remove(store, (struct span){&key, 8});
    put_one(keys[at]);
  }
}

static uint64_t *batch_keys;
static struct pair *batch_pairs;
static struct span *batch_spans;
static char *batch_values;

static void make_batches(void) {
  if (batch_keys || !job.batch) return;
  batch_keys = calloc(job.batch, sizeof *batch_keys);
  batch_pairs = calloc(job.batch, sizeof *batch_pairs);
  batch_spans = calloc(job.batch, sizeof *batch_spans);
  batch_values = malloc(job.batch * (job.value_bytes + 8));
  if (!batch_keys || !batch_pairs || !batch_spans || !batch_values) fail("no memory");
}

static void put_batch(const uint64_t *keys, unsigned count) {
  for (unsigned at = 0; at < count; at++) {
    batch_keys[at] = mix64(keys[at]);
    char *value = batch_values + at * job.value_bytes;
    memcpy(value, value_of(batch_keys[at]).data, job.value_bytes);
    batch_pairs[at] = (struct pair){{&batch_keys[at], 8}, {value, job.value_bytes}};
  }
  adapter.put_many(store, batch_pairs, count);
}

static uint64_t answers;

static void check_of_many(void *user, size_t at, const void *value, size_t len) {
  (void)user;
  answers++;
  wrong |= !value || !holds(value, len, batch_keys[at]);
}

static void get_batch(const uint64_t *keys, unsigned count) {
  for (unsigned at = 0; at < count; at++) {
    batch_keys[at] = mix64(keys[at]);
    batch_spans[at] = (struct span){&batch_keys[at], 8};
  }
  answers = 0;
  adapter.get_many(store, batch_spans, count, check_of_many, NULL);
  wrong |= answers != count;
}

// Passes over this process's share, in strides between two looks at the clock.
static void go(const char *name, bool puts, unsigned stride,
               void (*some)(const uint64_t *keys, unsigned count), uint64_t start_ns) {
  uint64_t first = (unsigned __int128)job.keys * job.proc / job.procs;
  uint64_t count = (unsigned __int128)job.keys * (job.proc + 1) / job.procs - first;
  if (!puts && count > there) count = there;
  uint64_t *keys = calloc(stride, sizeof *keys);
  if (!keys) fail("no memory for keys");
  begin(name, puts, start_ns);
  bool over = false;
  for (uint64_t pass = 0; !over; pass++) {
    struct order order = order_of(first, count, !puts, job.seed + pass);
    unsigned len;
    while (!over && (len = next(&order, keys, stride))) {
      if (job.timed) phase.last = now_ns();
      some(keys, len);
      over = note(len);
    }
    if (puts) {
      there = phase.ops;
      if (adapter.finish) adapter.finish(store);
    }
    if (puts || !count || phase.last - phase.begin > LEAST_NS) break;
  }
  free(keys);
  end(puts ? count : 0);
}

static void many_keys(const char *name, uint64_t start_ns) {
  unsigned stride = job.timed ? 1 : STRIDE;
  make_batches();
  if (strcmp(name, "put") == 0) return go(name, true, stride, put_keys, start_ns);
  if (strcmp(name, "get") == 0) return go(name, false, stride, get_keys, start_ns);
  if (strcmp(name, "miss") == 0) return go(name, false, stride, miss_keys, start_ns);
  if (strcmp(name, "mix") == 0 && adapter.built_once) return refuse(name, adapter.built_once);
  if (strcmp(name, "mix") == 0) return go(name, false, stride, mix_keys, start_ns);
  if (!adapter.put_many || !adapter.get_many) return refuse(name, "it has no such calls");
  if (strcmp(name, "put_batch") == 0) return go(name, true, job.batch, put_batch, start_ns);
  if (strcmp(name, "get_batch") == 0) return go(name, false, job.batch, get_batch, start_ns);
  fail("it knows no phase %s", name);
}

// ---- workloads b to d

// How often each key was put.
static uint32_t *times_put;

static uint64_t word_of(uint64_t index) { return mix64(index) + times_put[index]; }

static struct span text_key(uint64_t index) {
  static char key[32];
  snprintf(key, sizeof key, "k%07lu", index);
  return (struct span){key, 8};
}

static void text_put(uint64_t index) {
  times_put[index]++;
  adapter.put(store, text_key(index), value_of(word_of(index)));
}

static void text_get(uint64_t index) {
  struct span value;
  bool found = adapter.get(store, text_key(index), &value);
  wrong |= !found || !holds(value.data, value.len, word_of(index));
}

static void few_keys(const char *name) {
  bool puts = strcmp(name, "put") == 0 || strcmp(name, "write") == 0;
  bool pairs = strcmp(name, "pairs") == 0;
  if (pairs && adapter.built_once) return refuse(name, adapter.built_once);
  if (!times_put) times_put = calloc(job.keys, sizeof *times_put);
  if (!times_put) fail("no memory for counts");
  // Only keys that are there are asked for.
  uint64_t keys = puts || pairs || there > job.keys ? job.keys : there;
  begin(name, puts, 0);
  uint64_t noted = 0;
  for (uint64_t loop = 0; loop < job.loops && keys; loop++) {
    uint64_t index = loop % keys;
    if (puts || pairs) text_put(index);
    if (!puts) text_get(index);
    bool pass_over = puts && (index + 1 == keys || loop + 1 == job.loops);
    // A pass that was cut short would leave keys out of a store that is made anew by each.
    if (pass_over && adapter.finish) adapter.finish(store);
    if (puts) there = loop + 1;
    if (loop + 1 < noted + 16 && !pass_over && loop + 1 < job.loops) continue;
    bool over = note(loop + 1 - noted);
    noted = loop + 1;
    if (over && (!adapter.finish || pass_over)) break;
  }
  end(job.loops);
}

// ---- workload a

struct record {
  struct span key, value;
};

static struct record *records;
static size_t record_count;
// Of each key the record that was written last.
static size_t *distinct;
static size_t distinct_count;

static int by_key(const void *one, const void *other) {
  const struct record *a = &records[*(const size_t *)one], *b = &records[*(const size_t *)other];
  size_t len = a->key.len < b->key.len ? a->key.len : b->key.len;
  int differ = memcmp(a->key.data, b->key.data, len);
  if (differ) return differ;
  if (a->key.len != b->key.len) return a->key.len < b->key.len ? -1 : 1;
  return a < b ? -1 : a > b;
}

static int by_place(const void *one, const void *other) {
  size_t a = *(const size_t *)one, b = *(const size_t *)other;
  return a < b ? -1 : a > b;
}

static void add_record(char *line) {
  char *fields[5] = {line};
  int count = 1;
  for (char *at = line; *at && count < 5; at++)
    if (*at == '\t') {
      *at = 0;
      fields[count++] = at + 1;
    }
  if (count < 5 || !*fields[2]) return;
  fields[4][strcspn(fields[4], "\t\r")] = 0;
  records = realloc(records, (record_count + 1) * sizeof *records);
  if (!records) fail("no memory for records");
  records[record_count++] =
      (struct record){{fields[2], strlen(fields[2])}, {fields[4], strlen(fields[4])}};
}

static void read_records(void) {
  FILE *file = fopen(job.file, "r");
  struct stat status;
  if (!file || fstat(fileno(file), &status)) fail("%s: %s", job.file, strerror(errno));
  char *text = malloc(status.st_size + 1);
  if (!text) fail("no memory for the file");
  text[fread(text, 1, status.st_size, file)] = 0;
  fclose(file);
  for (char *line = text; line;) {
    char *rest = strchr(line, '\n');
    if (rest) *rest++ = 0;
    add_record(line);
    line = rest;
  }
  if (!record_count) fail("%s has no records", job.file);
  size_t *all = calloc(record_count, sizeof *all);
  distinct = calloc(record_count, sizeof *distinct);
  if (!all || !distinct) fail("no memory for records");
  for (size_t at = 0; at < record_count; at++) all[at] = at;
  qsort(all, record_count, sizeof *all, by_key);
  for (size_t at = 0; at < record_count; at++) {
    struct record *a = &records[all[at]];
    struct record *b = at + 1 < record_count ? &records[all[at + 1]] : NULL;
    if (b && a->key.len == b->key.len && !memcmp(a->key.data, b->key.data, a->key.len)) continue;
    distinct[distinct_count++] = all[at];
  }
  qsort(distinct, distinct_count, sizeof *distinct, by_place);
  free(all);
}

static bool is_value(const struct record *record, const void *value, size_t len) {
  return len == record->value.len && memcmp(value, record->value.data, len) == 0;
}

static void read_record(const struct record *record) {
  struct span value;
  bool found = adapter.get(store, record->key, &value);
  wrong |= !found || !is_value(record, value.data, value.len);
}

static void check_record(void *user, size_t at, const void *value, size_t len) {
  const size_t *first = user;
  answers++;
  wrong |= !value || !is_value(&records[first[at]], value, len);
}

static void read_all(void) {
  enum { MOST = 250 };
  if (!adapter.get_many) {
    for (size_t at = 0; at < distinct_count; at++) read_record(&records[distinct[at]]);
    return;
  }
  struct span keys[MOST];
  for (size_t first = 0; first < distinct_count; first += MOST) {
    size_t count = distinct_count - first < MOST ? distinct_count - first : MOST;
    for (size_t at = 0; at < count; at++) keys[at] = records[distinct[first + at]].key;
    answers = 0;
    adapter.get_many(store, keys, count, check_record, &distinct[first]);
    wrong |= answers != count;
  }
}

static void company(const char *name) {
  if (!records) read_records();
  bool writes = strcmp(name, "write_all") == 0, reads = strcmp(name, "read_all") == 0;
  uint64_t loops = job.loops;
  if (!writes && !reads) loops = strtoull(strrchr(name, '_') + 1, NULL, 10);
  static bool made;
  begin(name, writes, 0);
  for (uint64_t loop = 0; loop < loops; loop++) {
    store = adapter.open(&job, !writes ? READ : made ? WRITE : MAKE);
    made = true;
    uint64_t ops = 1;
    if (writes) {
      for (size_t at = 0; at < record_count; at++)
        adapter.put(store, records[at].key, records[at].value);
      if (adapter.finish) adapter.finish(store);
      ops = record_count;
    } else if (reads) {
      read_all();
      ops = distinct_count;
    } else {
      read_record(&records[distinct[loop * 7919 % distinct_count]]);
    }
    adapter.close(store);
    store = NULL;
    note(ops);
  }
  there = distinct_count;
  end(0);
}

// ---- the program

// Says that this process is ready, and waits for the instant that the leader names.
static uint64_t wait_for_start(const char *name) {
  char line[128];
  printf("{\"ready\":\"%s\"}\n", name);
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) exit(1);
  uint64_t at = number(line, "start_at_ns", 0), now = now_ns();
  if (at > now + 200000) {
    uint64_t sleep = at - now - 200000;
    struct timespec time = {sleep / 1000000000u, sleep % 1000000000u};
    nanosleep(&time, NULL);
  }
  while (now_ns() < at) {
  }
  return at;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "takes a job as its argument\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  read_job(argv[1]);
  filled.size = job.value_bytes + 8;
  filled.data = malloc(filled.size);
  if (!filled.data) fail("no memory for a value");
  if (job.workload != 'a') store = adapter.open(&job, job.proc == 0 ? MAKE : WRITE);
  for (int at = 0; at < job.phase_count; at++) {
    const char *name = job.phases[at];
    uint64_t start_ns = job.procs > 1 ? wait_for_start(name) : 0;
    if (job.workload == 'a')
      company(name);
    else if (job.workload <= 'd')
      few_keys(name);
    else
      many_keys(name, start_ns);
  }
  if (job.procs > 1) wait_for_start("end");
  if (store) adapter.close(store);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  // Of several processes each tells its own.
  uint64_t keys = job.workload > 'a' && there > job.keys ? job.keys : there;
  printf("{\"end\":true,\"version\":\"%s\",\"bytes\":0,\"keys\":%lu,\"peak_rss_bytes\":%lu}\n",
         adapter.version(), keys, (unsigned long)usage.ru_maxrss * 1024);
  return 0;
}

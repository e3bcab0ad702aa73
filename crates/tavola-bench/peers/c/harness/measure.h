// Part of harness.c: time, and what a phase comes to.

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
  uint64_t slices[SLICES];
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
  uint64_t slice = (now - phase.begin) / job.slice_ns;
  if (slice < SLICES) phase.slices[slice] += ops;
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
  uint64_t slices = (phase.last - phase.begin) / job.slice_ns + 1;
  printf(",\"slices\":[");
  for (uint64_t at = 0; at < slices && at < SLICES; at++)
    printf("%s%lu", at ? "," : "", phase.slices[at]);
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

// Part of harness.c: workloads e to i.

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
  // All processes end a mix at the same time, so that each has its share of all of it.
  bool until_end = some == mix_keys && job.mix_ns;
  if (until_end) phase.limit = job.mix_ns;
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
    if (puts || !count || (!until_end && phase.last - phase.begin > LEAST_NS)) break;
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

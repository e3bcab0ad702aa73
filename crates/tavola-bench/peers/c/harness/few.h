// Part of harness.c: workloads b to d.

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

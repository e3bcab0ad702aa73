// Part of harness.c: workload a.

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
  if (!adapter.get_many || adapter.many_is_slower) {
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

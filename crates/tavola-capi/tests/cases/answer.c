// Runs the common cases in C: reads a request a line and answers each by one.
#include "inner.h"

static tavola_options options;

static void open_table(void) {
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.max_size = unsigned_of(asked, 2);
  options.capacity = unsigned_of(asked, 3);
  options.ttl_ms = unsigned_of(asked, 4);
  options.versions = (uint32_t)unsigned_of(asked, 5);
  options.fixed_key = (uint32_t)unsigned_of(asked, 6);
  options.fixed_value = (uint32_t)unsigned_of(asked, 7);
  const char *durable = word(asked, 8);
  if (strcmp(durable, "commit") == 0) {
    options.durable = TAVOLA_DURABLE_COMMIT;
  } else if (strcmp(durable, "os") == 0) {
    options.durable = TAVOLA_DURABLE_OS;
  } else if (strcmp(durable, "-") != 0) {
    options.durable = TAVOLA_DURABLE_WITHIN;
    options.sync_ms = (uint32_t)unsigned_of(asked, 8);
  }
  say_done(tavola_open(word(asked, 1), &options, &table));
}

static void close_table(void) {
  tavola_close(table);
  table = NULL;
  say_done(tavola_names_remove(word(asked, 1)));
}

// Reads a key, its flags and its token.
static tavola_status read_key(tavola_bytes key, value *found, uint32_t *flags, uint64_t *token) {
  tavola_buffer buffer = into(found);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  tavola_status status =
      tavola_get_entry(table, key.data, key.len, &buffer, &attributes, token);
  *flags = attributes.flags;
  return status;
}

static void get(void) {
  value found = {NULL, 0};
  uint32_t flags = 0;
  tavola_status status = read_key(bytes_of(asked, 1), &found, &flags, NULL);
  say_read(status, flags, &found);
  free(found.data);
}

// Fetches the tags of the words from `first` on.
static tavola_status fetch_tags(size_t first, size_t count, tavola_tags *tags) {
  tavola_bytes names[MOST_WORDS];
  for (size_t i = 0; i < count; i++) {
    names[i] = bytes_of(asked, first + i);
  }
  return count > 0 ? tavola_fetch_tags(table, names, count, tags) : TAVOLA_OK;
}

// Stores a value: `CALL KEY VALUE FLAGS TTL TAG...`.
static void write_key(int32_t condition) {
  tavola_bytes key = bytes_of(asked, 1), stored = bytes_of(asked, 2);
  tavola_attributes attributes = attributes_of(3, 4);
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  tavola_status fetched = fetch_tags(5, asked->count - 5, &tags);
  if (fetched != TAVOLA_OK) {
    say_error(fetched);
    return;
  }
  tavola_store_options how = TAVOLA_INIT(tavola_store_options);
  how.condition = condition;
  how.attributes = &attributes;
  how.tags = &tags;
  say_done(tavola_store(table, key.data, key.len, stored.data, stored.len, &how, NULL));
}

static void append(void) {
  tavola_bytes key = bytes_of(asked, 1), more = bytes_of(asked, 2);
  say_done(tavola_append(table, key.data, key.len, more.data, more.len));
}

static void prepend(void) {
  tavola_bytes key = bytes_of(asked, 1), more = bytes_of(asked, 2);
  say_done(tavola_prepend(table, key.data, key.len, more.data, more.len));
}

static void remove_key(void) {
  tavola_bytes key = bytes_of(asked, 1);
  say_done(tavola_remove(table, key.data, key.len));
}

static void exists(void) {
  tavola_bytes key = bytes_of(asked, 1);
  say_done(tavola_contains(table, key.data, key.len));
}

// Removes a key and returns its value with its flags, which `tavola_take` does not.
static void take(void) {
  tavola_bytes key = bytes_of(asked, 1);
  value found = {NULL, 0};
  uint32_t flags = 0;
  uint64_t token = 0;
  tavola_status status;
  do {
    status = read_key(key, &found, &flags, &token);
  } while (status == TAVOLA_OK &&
           tavola_compare_and_remove(table, key.data, key.len, token) == TAVOLA_CHANGED);
  say_read(status, flags, &found);
  free(found.data);
}

// Sets a key and returns its old value with its flags: `swap KEY VALUE FLAGS`.
static void swap(void) {
  tavola_bytes key = bytes_of(asked, 1), next = bytes_of(asked, 2);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.flags = (uint32_t)unsigned_of(asked, 3);
  value found = {NULL, 0};
  uint32_t flags = 0;
  tavola_status status, stored;
  do {
    tavola_store_options how = TAVOLA_INIT(tavola_store_options);
    how.attributes = &attributes;
    status = read_key(key, &found, &flags, &how.token);
    int is_there = status == TAVOLA_OK;
    how.condition = is_there ? TAVOLA_CONDITION_TOKEN : TAVOLA_CONDITION_ABSENT;
    stored = tavola_store(table, key.data, key.len, next.data, next.len, &how, NULL);
  } while (stored > 0);
  say_read(stored < 0 ? stored : status, flags, &found);
  free(found.data);
}

static void gets_token(void) {
  value found = {NULL, 0};
  uint32_t flags = 0;
  uint64_t token = 0;
  tavola_status status = read_key(bytes_of(asked, 1), &found, &flags, &token);
  free(found.data);
  if (status == TAVOLA_OK) {
    printf("number %llu\n", (unsigned long long)token);
  } else {
    say_read(status, 0, NULL);
  }
}

// `cas KEY VALUE FLAGS TTL TOKEN`.
static void cas(void) {
  tavola_bytes key = bytes_of(asked, 1), next = bytes_of(asked, 2);
  tavola_attributes attributes = attributes_of(3, 4);
  say_done(tavola_compare_and_swap_with(table, key.data, key.len, unsigned_of(asked, 5),
                                        next.data, next.len, &attributes));
}

// `count KEY BY INITIAL FLAGS TTL`.
static void count(void) {
  tavola_bytes key = bytes_of(asked, 1);
  int64_t by = number_of(asked, 2), initial = number_of(asked, 3), now = 0;
  tavola_attributes attributes = attributes_of(4, 5);
  if (initial != 0) {
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)initial);
    tavola_status added =
        tavola_add_with(table, key.data, key.len, text, (size_t)len, &attributes);
    if (added < 0) {
      say_error(added);
      return;
    }
  }
  tavola_number_options how = TAVOLA_INIT(tavola_number_options);
  how.attributes = &attributes;
  tavola_status status = tavola_add_number_with(table, key.data, key.len, by, &how, &now);
  if (status == TAVOLA_OK) {
    printf("number %lld\n", (long long)now);
  } else {
    say_error(status);
  }
}

// `touch KEY TTL`, where `-` is for ever.
static void touch(void) {
  tavola_bytes key = bytes_of(asked, 1);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.ttl_ms = is_none(asked, 2) ? TAVOLA_TTL_NEVER : number_of(asked, 2);
  say_done(tavola_touch(table, key.data, key.len, &attributes));
}

static void ttl(void) {
  tavola_bytes key = bytes_of(asked, 1);
  int64_t left_ms = 0;
  tavola_status status = tavola_ttl(table, key.data, key.len, &left_ms);
  if (status == TAVOLA_OK && left_ms != TAVOLA_TTL_NEVER) {
    printf("number %lld\n", (long long)left_ms);
  } else if (status < 0) {
    say_error(status);
  } else {
    say_none();
  }
}

static void say_entry(void *user, size_t index, const void *data, size_t len,
                      const tavola_attributes *attributes) {
  (void)user;
  if (data != NULL) {
    printf(" %zu %u ", index, attributes->flags);
    say_bytes(data, len);
  }
}

static void get_many(void) {
  tavola_bytes keys[MOST_WORDS];
  for (size_t i = 1; i < asked->count; i++) {
    keys[i - 1] = bytes_of(asked, i);
  }
  fputs("entries", stdout);
  tavola_status status =
      tavola_get_many_entries(table, keys, asked->count - 1, say_entry, NULL);
  putchar('\n');
  if (status != TAVOLA_OK) {
    give_up(tavola_last_error());
  }
}

// `set_many TTL TAGS TAG... (KEY VALUE FLAGS)...`, where TAGS is the number of the tags.
static void set_many(void) {
  tavola_entry entries[MOST_WORDS];
  tavola_attributes attributes[MOST_WORDS];
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  size_t tag_count = unsigned_of(asked, 2), first = 3 + tag_count;
  size_t count = (asked->count - first) / 3;
  for (size_t i = 0; i < count; i++) {
    attributes[i] = attributes_of(first + 3 * i + 2, 1);
    entries[i].key = bytes_of(asked, first + 3 * i);
    entries[i].value = bytes_of(asked, first + 3 * i + 1);
    entries[i].attributes = &attributes[i];
  }
  tavola_status status = fetch_tags(3, tag_count, &tags);
  if (status == TAVOLA_OK) {
    status = tag_count > 0 ? tavola_set_many_tagged(table, entries, count, &tags)
                           : tavola_set_many_entries(table, entries, count);
  }
  say_done(status);
}

static void remove_many(void) {
  tavola_bytes keys[MOST_WORDS];
  uint64_t removed = 0;
  for (size_t i = 1; i < asked->count; i++) {
    keys[i - 1] = bytes_of(asked, i);
  }
  tavola_status status = tavola_remove_many(table, keys, asked->count - 1, &removed);
  if (status == TAVOLA_OK) {
    printf("number %llu\n", (unsigned long long)removed);
  } else {
    say_error(status);
  }
}

static void keys(void) {
  tavola_bytes prefix = bytes_of(asked, 1), key;
  tavola_iter *iter = NULL;
  tavola_status status = tavola_iter_open_prefix(table, prefix.data, prefix.len, &iter);
  fputs("keys", stdout);
  while (status == TAVOLA_OK) {
    status = tavola_iter_next(iter, &key, NULL);
    if (status == TAVOLA_OK) {
      putchar(' ');
      say_bytes(key.data, key.len);
    }
  }
  putchar('\n');
  tavola_iter_close(iter);
}

static void remove_prefix(void) {
  tavola_bytes prefix = bytes_of(asked, 1);
  uint64_t removed = 0;
  tavola_status status = tavola_remove_prefix(table, prefix.data, prefix.len, &removed);
  if (status == TAVOLA_OK) {
    printf("number %llu\n", (unsigned long long)removed);
  } else {
    say_error(status);
  }
}

static void size(void) {
  tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
  tavola_status status = tavola_get_live_keys(table, &live);
  if (status == TAVOLA_OK) {
    printf("number %llu\n", (unsigned long long)live.live);
  } else {
    say_error(status);
  }
}

static void invalidate(void) {
  tavola_bytes tag = bytes_of(asked, 1);
  tavola_status status = tavola_invalidate_tag(table, tag.data, tag.len);
  say_done(status < 0 ? status : TAVOLA_OK);
}

// `compute KEY VALUE FLAGS TTL`.
static void compute(void) {
  tavola_bytes key = bytes_of(asked, 1), computed = bytes_of(asked, 2);
  uint32_t flags = (uint32_t)unsigned_of(asked, 3);
  tavola_lease_options how = TAVOLA_INIT(tavola_lease_options);
  how.fresh_ms = unsigned_of(asked, 4);
  value found = {NULL, 0};
  tavola_buffer buffer = into(&found);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_lease *lease = NULL;
  tavola_status status =
      tavola_get_or_lease(table, key.data, key.len, &how, &buffer, &leased, &lease);
  if (status != TAVOLA_OK) {
    say_error(status);
  } else if (leased.outcome == TAVOLA_LEASE_HIT) {
    say_value(leased.flags, found.data, found.len);
  } else {
    status = tavola_lease_fill_with(lease, computed.data, computed.len, flags, NULL);
    say_read(status, flags, &(value){(void *)computed.data, computed.len});
  }
  tavola_lease_close(lease);
  free(found.data);
}

static void set(void) { write_key(TAVOLA_CONDITION_ALWAYS); }
static void add(void) { write_key(TAVOLA_CONDITION_ABSENT); }
static void replace(void) { write_key(TAVOLA_CONDITION_PRESENT); }
static void clear(void) { say_done(tavola_clear(table)); }
static void is_durable(void) { say_bool(tavola_is_durable(table)); }

// A policy is a word, milliseconds, or nothing.
static void durability(void) {
  uint32_t ms = 0;
  switch (tavola_durability(table, &ms)) {
    case TAVOLA_DURABLE_COMMIT: say_text("commit"); break;
    case TAVOLA_DURABLE_OS: say_text("os"); break;
    case TAVOLA_DURABLE_WITHIN: printf("number %u\n", ms); break;
    default: say_none();
  }
}

static void sync_table(void) { say_done(tavola_sync(table)); }

static void snapshot(void) {
  uint32_t made = 0;
  tavola_status status = tavola_snapshot(table, &made);
  if (status == TAVOLA_OK) {
    say_bool(made == 1);
  } else {
    say_error(status);
  }
}

static const struct call {
  const char *name;
  void (*run)(void);
} CALLS[] = {
    {"open", open_table},     {"close", close_table},   {"get", get},
    {"set", set},             {"add", add},             {"replace", replace},
    {"append", append},       {"prepend", prepend},     {"delete", remove_key},
    {"exists", exists},       {"take", take},           {"swap", swap},
    {"gets", gets_token},     {"cas", cas},             {"count", count},
    {"touch", touch},         {"ttl", ttl},             {"get_many", get_many},
    {"set_many", set_many},   {"delete_many", remove_many}, {"keys", keys},
    {"delete_prefix", remove_prefix}, {"size", size},   {"clear", clear},
    {"invalidate", invalidate}, {"compute", compute},   {"is_durable", is_durable},
    {"durability", durability}, {"sync", sync_table},   {"snapshot", snapshot},
    {"lock", lock},           {"unlock", unlock},       {"open_queue", open_queue},
    {"close_queue", close_queue}, {"push", push},       {"pop", pop},
    {"done", job_done},       {"give_back", give_back}, {"waiting", waiting},
    {"begin", begin},         {"begin_turn", begin_turn}, {"commit", commit},
    {"abort", abort_changes},
    {"txn_get", txn_get},     {"txn_set", txn_set},     {"txn_add", txn_add},
    {"txn_replace", txn_replace}, {"txn_append", txn_append}, {"txn_delete", txn_remove},
    {"txn_exists", txn_exists}, {"txn_count", txn_count},
};

int main(void) {
  line at = {NULL, 0, 0, {NULL}};
  asked = &at;
  while (next_line(&at)) {
    size_t i = 0, count = sizeof CALLS / sizeof *CALLS;
    while (i < count && strcmp(CALLS[i].name, word(&at, 0)) != 0) {
      i++;
    }
    if (i == count) {
      give_up("an unknown call");
    }
    CALLS[i].run();
    fflush(stdout);
  }
  free(at.text);
  return 0;
}

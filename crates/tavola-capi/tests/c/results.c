// Results through callbacks: rooms of the exact length, bytes that are ready, rooms that go back.

#include "check.h"

enum { MOST = 8 };

// What a runtime would make of it: rooms that were given, filled or given back, and strings.
struct runtime {
  void *rooms[MOST];
  size_t lens[MOST];
  int given, back, stored;
  char string[4096];
  size_t string_len;
  // What alloc does meanwhile, as another process might.
  tavola_table *table;
  const char *meanwhile;
};

static void *room(void *user, size_t len) {
  struct runtime *runtime = user;
  CHECK(runtime->given < MOST);
  runtime->rooms[runtime->given] = malloc(len + 1);
  runtime->lens[runtime->given] = len;
  if (runtime->given++ == 0 && runtime->meanwhile != NULL) {
    CHECK_IS(TAVOLA_OK, set(runtime->table, "key", runtime->meanwhile));
  }
  return runtime->rooms[runtime->given - 1];
}

static void back(void *user, void *place, size_t len) {
  struct runtime *runtime = user;
  CHECK(place == runtime->rooms[runtime->back] && len == runtime->lens[runtime->back]);
  free(place);
  runtime->back++;
}

static void *no_room(void *user, size_t len) {
  (void)len;
  ((struct runtime *)user)->given++;
  return NULL;
}

static int32_t string(void *user, const void *data, size_t len) {
  struct runtime *runtime = user;
  CHECK(len <= sizeof runtime->string);
  memcpy(runtime->string, data, len);
  runtime->string_len = len;
  runtime->stored++;
  return 0;
}

static int32_t refuse(void *user, const void *data, size_t len) {
  (void)data, (void)len;
  ((struct runtime *)user)->stored++;
  return -1;
}

static tavola_buffer rooms_of(struct runtime *runtime) {
  tavola_buffer result = TAVOLA_ALLOC(room, runtime);
  memset(runtime, 0, sizeof *runtime);
  result.free = back;
  return result;
}

static tavola_buffer strings_of(struct runtime *runtime) {
  tavola_buffer result = TAVOLA_STORE(string, runtime);
  memset(runtime, 0, sizeof *runtime);
  return result;
}

// The last room holds the result, of its exact length; all others went back.
static void check_room(struct runtime *runtime, const tavola_buffer *result, const char *text,
                       int given) {
  const size_t len = strlen(text);
  CHECK(runtime->given == given && runtime->back == given - 1);
  CHECK(result->len == len && runtime->lens[given - 1] == len);
  CHECK(memcmp(runtime->rooms[given - 1], text, len) == 0);
  free(runtime->rooms[given - 1]);
}

static void check_string(struct runtime *runtime, const tavola_buffer *result, const char *text) {
  CHECK(runtime->stored == 1 && runtime->string_len == strlen(text));
  CHECK(result->len == strlen(text) && memcmp(runtime->string, text, strlen(text)) == 0);
}

// A function that gives a result, once by each callback. No room is enough for no bytes.
#define BY_CALLBACKS(text, call)                         \
  do {                                                   \
    struct runtime runtime;                              \
    tavola_buffer result = rooms_of(&runtime);           \
    CHECK_IS(TAVOLA_OK, call);                           \
    check_room(&runtime, &result, text, 1);              \
    result = strings_of(&runtime);                       \
    CHECK_IS(TAVOLA_OK, call);                           \
    check_string(&runtime, &result, text);               \
    result = (tavola_buffer)TAVOLA_STORE(refuse, &runtime); \
    runtime.stored = 0;                                  \
    CHECK_IS(TAVOLA_ERR_STOPPED, call);                  \
    CHECK(runtime.stored == 1);                          \
    result = (tavola_buffer)TAVOLA_ALLOC(no_room, &runtime); \
    runtime.given = 0;                                   \
    CHECK_IS((text)[0] == '\0' ? TAVOLA_OK : TAVOLA_ERR_STOPPED, call); \
    CHECK(runtime.given == 1);                           \
  } while (0)

static void reads(tavola_table *table, const char *text) {
  tavola_hint hint = 0;
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  uint64_t token = 0, same = 0;
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "key", 3, text, strlen(text), &hint));
  BY_CALLBACKS(text, tavola_get(table, "key", 3, &result));
  BY_CALLBACKS(text, tavola_get_by_uid(table, hint, &result));
  BY_CALLBACKS(text, tavola_get_with_token(table, "key", 3, &result, &token));
  BY_CALLBACKS(text, tavola_get_entry(table, "key", 3, &result, &has, &same));
  CHECK(token == same && has.ttl_ms == TAVOLA_TTL_NEVER);
  BY_CALLBACKS(text, tavola_get_entry_by_uid(table, hint, &result, &has, &same));
  BY_CALLBACKS(text, tavola_get_and_touch(table, "key", 3, NULL, &result, &has, &same));
  CHECK(token == same);
  BY_CALLBACKS("key", tavola_key_of_uid(table, hint, &result));
  BY_CALLBACKS(getenv("TAVOLA_DIR"), tavola_names_directory(&result));
}

static void missing(tavola_table *table) {
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  uint64_t token = 0;
  for (int i = 0; i < 2; i++) {
    CHECK_IS(TAVOLA_MISSING, tavola_get(table, "none", 4, &result));
    CHECK_IS(TAVOLA_MISSING, tavola_get_with_token(table, "none", 4, &result, &token));
    CHECK_IS(TAVOLA_MISSING, tavola_take(table, "none", 4, &result));
    CHECK_IS(TAVOLA_MISSING, tavola_get_and_touch(table, "none", 4, NULL, &result, NULL, NULL));
    CHECK_IS(TAVOLA_MISSING, tavola_key_of_uid(table, 77, &result));
    CHECK(runtime.given == 0 && runtime.stored == 0);
    result = strings_of(&runtime);
  }
}

// Without room the key stays; what store refuses is gone.
static void takes(tavola_table *table) {
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  tavola_buffer none = TAVOLA_ALLOC(no_room, &runtime), refused = TAVOLA_STORE(refuse, &runtime);
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_take(table, "key", 3, &none));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_swap(table, "key", 3, "new", 3, &none));
  CHECK(has(table, "key", "1234"));
  result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "", 0, &result));
  check_room(&runtime, &result, "1234", 1);
  result = strings_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "123", 3, &result));
  check_string(&runtime, &result, "");
  result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &result));
  check_room(&runtime, &result, "123", 1);
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_swap(table, "key", 3, "5", 1, &refused));
  CHECK(has(table, "key", "5"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_take(table, "key", 3, &refused));
  CHECK(has(table, "key", NULL));
}

// The key changes after room was given for the value it had.
static void changed_meanwhile(tavola_table *table) {
  struct runtime runtime;
  tavola_buffer result;
  for (int i = 0; i < 2; i++) {
    const char *now = i == 0 ? "longer" : "abcd";
    CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
    result = rooms_of(&runtime);
    runtime.table = table;
    runtime.meanwhile = now;
    CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &result));
    // Of the same length it goes where the first was to go.
    check_room(&runtime, &result, now, i == 0 ? 2 : 1);
    CHECK(has(table, "key", NULL));
  }
}

static void *removes(void *user, size_t len) {
  struct runtime *runtime = user;
  CHECK_IS(TAVOLA_OK, tavola_remove(runtime->table, "key", 3));
  runtime->meanwhile = NULL;
  return room(user, len);
}

// Room was given, and there is no result.
static void in_vain(tavola_table *table) {
  static char large[1 << 20];
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *small = NULL;
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  result.alloc = removes;
  runtime.table = table;
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  CHECK_IS(TAVOLA_MISSING, tavola_take(table, "key", 3, &result));
  CHECK(runtime.given == 1 && runtime.back == 1);
  options.max_size = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_open_private(&options, &small));
  CHECK_IS(TAVOLA_OK, set(small, "key", "1234"));
  result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_ERR_FULL, tavola_swap(small, "key", 3, large, sizeof large, &result));
  CHECK(runtime.given == 1 && runtime.back == 1 && has(small, "key", "1234"));
  tavola_close(small);
}

int main(void) {
  tavola_table *table = a_table("results");
  reads(table, "");
  reads(table, "12345678");
  reads(table, "a value that is longer than what is copied in few steps");
  missing(table);
  takes(table);
  changed_meanwhile(table);
  in_vain(table);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("results"));
  return 0;
}

// Results through callbacks: rooms of the exact length and bytes that are ready, asked for once a
// call; what is refused is not lost.

#include "check.h"
#include <pthread.h>

// What a runtime would make of it: a room that was given, and a string.
struct runtime {
  char *room;
  size_t room_len;
  int given, stored;
  char string[4096];
  size_t string_len;
};

static void *room(void *user, size_t len) {
  struct runtime *runtime = user;
  CHECK(runtime->given++ == 0);
  runtime->room = malloc(len + 1);
  runtime->room_len = len;
  return runtime->room;
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
  tavola_buffer result = TAVOLA_BUFFER_ALLOC(room, runtime);
  memset(runtime, 0, sizeof *runtime);
  return result;
}

static tavola_buffer strings_of(struct runtime *runtime) {
  tavola_buffer result = TAVOLA_BUFFER_WRITE(string, runtime);
  memset(runtime, 0, sizeof *runtime);
  return result;
}

// The room holds the result, of its exact length.
static void check_room(struct runtime *runtime, const tavola_buffer *result, const char *text) {
  const size_t len = strlen(text);
  CHECK(runtime->given == 1 && runtime->room_len == len && result->len == len);
  CHECK(memcmp(runtime->room, text, len) == 0);
  free(runtime->room);
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
    check_room(&runtime, &result, text);                 \
    result = strings_of(&runtime);                       \
    CHECK_IS(TAVOLA_OK, call);                           \
    check_string(&runtime, &result, text);               \
    result = (tavola_buffer)TAVOLA_BUFFER_WRITE(refuse, &runtime); \
    runtime.stored = 0;                                  \
    CHECK_IS(TAVOLA_ERR_STOPPED, call);                  \
    CHECK(runtime.stored == 1);                          \
    result = (tavola_buffer)TAVOLA_BUFFER_ALLOC(no_room, &runtime); \
    runtime.given = 0;                                   \
    CHECK_IS((text)[0] == '\0' ? TAVOLA_OK : TAVOLA_ERR_STOPPED, call); \
    CHECK(runtime.given == 1);                           \
  } while (0)

static int32_t is_not_called(void *user, tavola_bytes *value) {
  (void)user, (void)value;
  CHECK(false);
  return 1;
}

static void reads(tavola_table *table, const char *text) {
  tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_lease *none = NULL;
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
  options.fresh_ms = 1000;
  BY_CALLBACKS(text, tavola_get_or_lease(table, "key", 3, &options, &result, &leased, &none));
  CHECK(leased.outcome == TAVOLA_LEASE_HIT && none == NULL);
  BY_CALLBACKS(text, tavola_get_or_compute(table, "key", 3, &options, is_not_called, NULL,
                                           &result));
  BY_CALLBACKS("key", tavola_key_of_uid(table, hint, &result));
  BY_CALLBACKS(getenv("TAVOLA_DIR"), tavola_names_directory(&result));
}

static void missing(tavola_table *table) {
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  uint64_t token = 0;
  for (int i = 0; i < 2; i++) {
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_get(table, "none", 4, &result));
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_with_token(table, "none", 4, &result, &token));
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_take(table, "none", 4, &result));
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_and_touch(table, "none", 4, NULL, &result, NULL, NULL));
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_key_of_uid(table, 77, &result));
    CHECK(runtime.given == 0 && runtime.stored == 0);
    result = strings_of(&runtime);
  }
}

// What is refused is not in the table any more, and its thread has it.
static void refused(tavola_table *table) {
  struct runtime runtime = {0};
  tavola_buffer none = TAVOLA_BUFFER_ALLOC(no_room, &runtime), no = TAVOLA_BUFFER_WRITE(refuse, &runtime);
  char bytes[8];
  tavola_buffer result, small = TAVOLA_BUFFER(bytes, 3), plain = TAVOLA_BUFFER(bytes, 8);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(&none));
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  // Memory of the caller's is looked at before.
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_take(table, "key", 3, &small));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_swap(table, "key", 3, "new", 3, &small));
  CHECK(small.len == 4 && has(table, "key", "1234"));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(&none));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_take(table, "key", 3, &none));
  CHECK(runtime.given == 1 && has(table, "key", NULL));
  // It is kept until somebody takes it.
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_last_taken(&none));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_last_taken(&no));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_last_taken(&small));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_take(table, "key", 3, &none));
  result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_last_taken(&result));
  check_room(&runtime, &result, "1234");
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(&plain));
  CHECK_IS(TAVOLA_OK, set(table, "key", "5678"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_swap(table, "key", 3, "9", 1, &no));
  CHECK(has(table, "key", "9"));
  CHECK_IS(TAVOLA_OK, tavola_last_taken(&plain));
  CHECK(holds(&plain, "5678"));
  // The last counts, and what is read is there still.
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_swap(table, "key", 3, "10", 2, &none));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_swap(table, "key", 3, "11", 2, &none));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_get(table, "key", 3, &none));
  CHECK_IS(TAVOLA_OK, tavola_last_taken(&plain));
  CHECK(holds(&plain, "10") && has(table, "key", "11"));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_last_taken(NULL));
}

static void takes(tavola_table *table) {
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "", 0, &result));
  check_room(&runtime, &result, "1234");
  result = strings_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "123", 3, &result));
  check_string(&runtime, &result, "");
  result = rooms_of(&runtime);
  CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &result));
  check_room(&runtime, &result, "123");
}

// Without room for an empty value nothing is refused.
static void empty(tavola_table *table) {
  struct runtime runtime = {0};
  tavola_buffer none = TAVOLA_BUFFER_ALLOC(no_room, &runtime);
  CHECK_IS(TAVOLA_OK, set(table, "key", ""));
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "", 0, &none));
  CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &none));
  CHECK(runtime.given == 2);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(&none));
}

// Where there is no result no room is asked for.
static void in_vain(void) {
  static char large[1 << 20];
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *small = NULL;
  struct runtime runtime;
  tavola_buffer result = rooms_of(&runtime);
  options.max_size = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_open_private(&options, &small));
  CHECK_IS(TAVOLA_OK, set(small, "key", "1234"));
  CHECK_IS(TAVOLA_ERR_FULL, tavola_swap(small, "key", 3, large, sizeof large, &result));
  CHECK(runtime.given == 0 && has(small, "key", "1234"));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(&result));
  tavola_close(small);
}

enum { TAKEN = 300 };

// Sets the key to values of ever other lengths, each of one letter, until it is told to end.
static void *sets(void *table) {
  char letters[3000];
  for (size_t i = 0; has(table, "end", NULL); i++) {
    memset(letters, 'a' + (int)(i % 26), sizeof letters);
    const size_t len = 1 + i * 37 % sizeof letters;
    CHECK_IS(TAVOLA_OK, tavola_set(table, "key", 3, letters, len));
  }
  return NULL;
}

// Whatever becomes of the key meanwhile, room is asked for once, and for what is taken.
static void changed_meanwhile(tavola_table *table) {
  struct runtime runtime;
  pthread_t other;
  CHECK(pthread_create(&other, NULL, sets, table) == 0);
  for (int taken = 0; taken < TAKEN;) {
    tavola_buffer result = rooms_of(&runtime);
    const tavola_status status = taken % 2 == 0 ? tavola_take(table, "key", 3, &result)
                                                : tavola_swap(table, "key", 3, "x", 1, &result);
    CHECK(status == TAVOLA_OK || status == TAVOLA_NOT_FOUND);
    CHECK(runtime.given == (status == TAVOLA_OK));
    if (status == TAVOLA_OK) {
      CHECK(result.len == runtime.room_len && result.len > 0);
      for (size_t i = 0; i < result.len; i++) {
        CHECK(runtime.room[i] == runtime.room[0]);
      }
      free(runtime.room);
    }
    taken += status == TAVOLA_OK;
  }
  CHECK_IS(TAVOLA_OK, set(table, "end", "now"));
  CHECK(pthread_join(other, NULL) == 0);
}

static void *finds_nothing(void *user) {
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_last_taken(user));
  return NULL;
}

// What one thread refused another does not get.
static void of_one_thread(tavola_table *table) {
  struct runtime runtime = {0};
  tavola_buffer none = TAVOLA_BUFFER_ALLOC(no_room, &runtime);
  char bytes[8];
  tavola_buffer result = TAVOLA_BUFFER(bytes, sizeof bytes);
  pthread_t other;
  CHECK_IS(TAVOLA_OK, set(table, "key", "1234"));
  CHECK_IS(TAVOLA_ERR_STOPPED, tavola_take(table, "key", 3, &none));
  CHECK(pthread_create(&other, NULL, finds_nothing, &none) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK_IS(TAVOLA_OK, tavola_last_taken(&result));
  CHECK(holds(&result, "1234"));
}

int main(void) {
  static char large[3001];
  tavola_table *table = a_table("results");
  memset(large, 'x', sizeof large - 1);
  reads(table, "");
  reads(table, "12345678");
  reads(table, "a value that is longer than what is copied in few steps");
  reads(table, large);
  missing(table);
  refused(table);
  takes(table);
  empty(table);
  in_vain();
  changed_meanwhile(table);
  of_one_thread(table);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("results"));
  return 0;
}

// One call for each command: what it returns, and what it leaves.

#include "check.h"

#define S TAVOLA_MC_STR

struct room {
  char *bytes;
  size_t calls, len;
  uint32_t flags;
  bool refuses;
};

static void *give(void *user, size_t len, uint32_t flags) {
  struct room *room = user;
  room->calls += 1;
  room->len = len;
  room->flags = flags;
  if (room->refuses) return NULL;
  return room->bytes = malloc(len + 1);
}

static void stores(tavola_mc_client *client) {
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  CHECK(has(client, "a", NULL));
  CHECK_IS(NOT_STORED, tavola_mc_replace(client, S("a"), S("1"), NULL));
  CHECK_IS(NOT_STORED, tavola_mc_append(client, S("a"), S("1"), NULL));
  CHECK_IS(NOT_STORED, tavola_mc_prepend(client, S("a"), S("1"), NULL));
  CHECK_IS(STORED, tavola_mc_add(client, S("a"), S("b"), NULL));
  CHECK_IS(NOT_STORED, tavola_mc_add(client, S("a"), S("c"), NULL));
  CHECK_IS(STORED, tavola_mc_append(client, S("a"), S("c"), NULL));
  CHECK_IS(STORED, tavola_mc_prepend(client, S("a"), S("a"), NULL));
  CHECK(has(client, "a", "abc"));
  CHECK_IS(STORED, tavola_mc_replace(client, S("a"), S("new"), NULL));
  CHECK(has(client, "a", "new"));
  how.exptime = -1;
  CHECK_IS(STORED, tavola_mc_set(client, S("a"), S("gone"), &how));
  CHECK(has(client, "a", NULL));
  CHECK_IS(MISS, tavola_mc_delete(client, S("a"), 0));
  CHECK_IS(MISS, tavola_mc_touch(client, S("a"), 10, 0));
  CHECK_IS(STORED, tavola_mc_set(client, S("a"), NULL, 0, NULL));
  CHECK(has(client, "a", ""));
  CHECK_IS(TOUCHED, tavola_mc_touch(client, S("a"), 10, 0));
  CHECK_IS(DELETED, tavola_mc_delete(client, S("a"), 0));
  CHECK(has(client, "a", NULL));
}

static void values(tavola_mc_client *client) {
  char bytes[8] = "-------";
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  tavola_mc_value value = TAVOLA_MC_VALUE(bytes, 5);
  how.flags = 4000000000u;
  CHECK_IS(STORED, tavola_mc_set(client, S("v"), S("hello"), &how));
  CHECK_IS(HIT, tavola_mc_get(client, S("v"), &value));
  CHECK(value.len == 5 && value.flags == 4000000000u && value.cas == 0);
  CHECK(memcmp(bytes, "hello--", 8) == 0);

  tavola_mc_value small = TAVOLA_MC_VALUE(bytes, 4);
  memset(bytes, '-', 7);
  CHECK_IS(ERR_TOO_SMALL, tavola_mc_get(client, S("v"), &small));
  CHECK(small.len == 5 && memcmp(bytes, "-------", 8) == 0);
  CHECK(strstr(tavola_mc_last_error(), "5 bytes") != NULL);
  tavola_mc_value none = TAVOLA_MC_VALUE(NULL, 0);
  CHECK_IS(ERR_TOO_SMALL, tavola_mc_get(client, S("v"), &none));
  CHECK(none.len == 5);

  struct room room = {0};
  tavola_mc_value asked = TAVOLA_MC_VALUE_ROOM(give, &room);
  CHECK_IS(MISS, tavola_mc_get(client, S("nothing"), &asked));
  CHECK(room.calls == 0);
  CHECK_IS(HIT, tavola_mc_get_and_touch(client, S("v"), 100, &asked));
  CHECK(room.calls == 1 && room.len == 5 && room.flags == 4000000000u);
  CHECK(memcmp(room.bytes, "hello", 5) == 0);
  free(room.bytes);
  CHECK(asked.cas == 0);
  CHECK_IS(HIT, tavola_mc_gets_and_touch(client, S("v"), 100, &asked));
  CHECK(room.calls == 2 && memcmp(room.bytes, "hello", 5) == 0 && asked.cas != 0);
  CHECK_IS(STORED, tavola_mc_cas(client, S("v"), S("hello"), asked.cas, NULL));
  free(room.bytes);
  room.refuses = true;
  CHECK_IS(ERR_STOPPED, tavola_mc_get(client, S("v"), &asked));
  // The connection is of use as before.
  CHECK(has(client, "v", "hello"));

  CHECK_IS(STORED, tavola_mc_set(client, S("empty"), NULL, 0, NULL));
  CHECK_IS(HIT, tavola_mc_get(client, S("empty"), &none));
  CHECK(none.len == 0);
}

// A value of a megabyte, most of which is received at its place.
static void long_value(tavola_mc_client *client) {
  size_t len = 1000 * 1000;
  char *sent = malloc(len), *found = malloc(len);
  for (size_t i = 0; i < len; i++) sent[i] = (char)(i * 31 >> 3);
  tavola_mc_value value = TAVOLA_MC_VALUE(found, len);
  CHECK_IS(STORED, tavola_mc_set(client, S("long"), sent, len, NULL));
  CHECK_IS(HIT, tavola_mc_get(client, S("long"), &value));
  CHECK(value.len == len && memcmp(sent, found, len) == 0);
  free(sent);
  free(found);
}

static void unique_numbers(tavola_mc_client *client) {
  char bytes[8];
  tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
  CHECK_IS(MISS, tavola_mc_cas(client, S("u"), S("1"), 7, NULL));
  CHECK_IS(STORED, tavola_mc_set(client, S("u"), S("1"), NULL));
  CHECK_IS(HIT, tavola_mc_gets(client, S("u"), &value));
  CHECK(value.cas != 0);
  CHECK_IS(STORED, tavola_mc_cas(client, S("u"), S("2"), value.cas, NULL));
  CHECK_IS(EXISTS, tavola_mc_cas(client, S("u"), S("3"), value.cas, NULL));
  CHECK(has(client, "u", "2"));
}

static void counters(tavola_mc_client *client) {
  tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
  uint64_t number = 99;
  CHECK_IS(MISS, tavola_mc_incr(client, S("n"), 1, NULL, &number));
  CHECK(number == 99);
  how.has_initial = 1;
  how.initial = 5;
  CHECK_IS(COUNT, tavola_mc_incr(client, S("n"), 2, &how, &number));
  CHECK(number == 5);
  CHECK_IS(COUNT, tavola_mc_incr(client, S("n"), 2, &how, &number));
  CHECK(number == 7);
  CHECK_IS(COUNT, tavola_mc_decr(client, S("n"), 10, NULL, &number));
  CHECK(number == 0);
  CHECK_IS(COUNT, tavola_mc_incr(client, S("n"), UINT64_MAX, NULL, NULL));
  CHECK_IS(STORED, tavola_mc_set(client, S("n"), S("x"), NULL));
  CHECK_IS(ERR_REFUSED, tavola_mc_incr(client, S("n"), 1, NULL, &number));
}

// Requests without an answer leave with the next one, or by a flush.
static void without_answers(tavola_mc_client *client) {
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  how.no_reply = 1;
  CHECK_IS(QUEUED, tavola_mc_set(client, S("q"), S("1"), &how));
  CHECK(has(client, "q", "1"));
  CHECK_IS(QUEUED, tavola_mc_delete(client, S("q"), 1));
  CHECK_IS(OK, tavola_mc_flush(client));
  CHECK(has(client, "q", NULL));
  how.no_reply = 2;
  CHECK_IS(ERR_OPTION, tavola_mc_set(client, S("q"), S("1"), &how));
}

struct seen {
  size_t answers, figures, keys;
  tavola_mc_client *client;
};

static void see_answer(void *user, size_t server, const char *name, int32_t status,
                       const char *text) {
  struct seen *seen = user;
  CHECK(server == seen->answers && strstr(servers(), name) != NULL);
  CHECK(status == TAVOLA_MC_OK && text[0] == '1');
  seen->answers += 1;
}

static void see_figure(void *user, size_t server, const char *name, const char *value) {
  struct seen *seen = user;
  CHECK(server < 2 && name[0] != 0);
  if (strcmp(name, "pid") == 0) CHECK(atol(value) > 0);
  seen->figures += 1;
}

static void see_key(void *user, size_t server, const void *key, size_t key_len) {
  struct seen *seen = user;
  size_t place = 9;
  if (key_len != 4 || memcmp(key, "\x01 \xff", 3) != 0) return;
  CHECK_IS(OK, tavola_mc_server_of(seen->client, key, key_len, &place));
  CHECK(place == server);
  seen->keys += 1;
}

static void count_key(void *user, size_t server, const void *key, size_t key_len) {
  struct seen *seen = user;
  CHECK(key != NULL && key_len > 0 && server > 0);
  seen->keys += 1;
}

// Keys have any bytes, and those of another name space are not listed.
static void keys_of_servers(tavola_mc_client *client) {
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *spaced = NULL;
  struct seen seen = {0, 0, 0, client};
  options.name_space = "space:";
  options.name_space_len = 6;
  CHECK_IS(OK, tavola_mc_open(servers(), &options, &spaced));
  for (int i = 0; i < 30; i++) {
    char key[] = {1, ' ', (char)0xff, (char)(i % 20)};
    CHECK_IS(STORED, tavola_mc_set(i < 20 ? client : spaced, key, 4, S("1"), NULL));
  }
  CHECK_IS(OK, tavola_mc_keys(client, see_key, &seen));
  CHECK(seen.keys == 20);
  seen.keys = 0;
  seen.client = spaced;
  CHECK_IS(OK, tavola_mc_keys(spaced, see_key, &seen));
  CHECK(seen.keys == 10);
  CHECK_IS(OK, tavola_mc_keys(spaced, NULL, NULL));
  tavola_mc_close(spaced);
  // A server that is down is an error, and the keys of the others are listed.
  char list[300];
  snprintf(list, sizeof list, "127.0.0.1:1,%s", servers());
  CHECK_IS(OK, tavola_mc_open(list, NULL, &spaced));
  seen.keys = 0;
  CHECK_IS(ERR_UNSENT, tavola_mc_keys(spaced, count_key, &seen));
  CHECK(seen.keys >= 30);
  CHECK_IS(ERR_NULL, tavola_mc_keys(NULL, see_key, &seen));
  tavola_mc_close(spaced);
}

static void about_servers(tavola_mc_client *client) {
  struct seen seen = {0, 0, 0, NULL};
  bool used[2] = {false, false};
  CHECK(tavola_mc_server_count(client) == 2);
  CHECK(tavola_mc_server_name(client, 2) == NULL);
  for (int i = 0; i < 100; i++) {
    char key[16];
    size_t server = 9;
    int len = snprintf(key, sizeof key, "key%d", i);
    CHECK_IS(OK, tavola_mc_server_of(client, key, (size_t)len, &server));
    CHECK(server < 2);
    used[server] = true;
  }
  CHECK(used[0] && used[1]);
  CHECK_IS(OK, tavola_mc_versions(client, see_answer, &seen));
  CHECK(seen.answers == 2);
  CHECK_IS(OK, tavola_mc_stats(client, NULL, see_figure, &seen));
  CHECK(seen.figures > 20);
  CHECK_IS(OK, tavola_mc_flush_all(client, 0, NULL, NULL));
  CHECK(has(client, "u", NULL));
  CHECK(strcmp(tavola_mc_version(), TAVOLA_MC_VERSION) == 0);
}

int main(void) {
  tavola_mc_client *client = a_client();
  stores(client);
  values(client);
  long_value(client);
  unique_numbers(client);
  counters(client);
  without_answers(client);
  keys_of_servers(client);
  about_servers(client);
  tavola_mc_close(client);
  return 0;
}

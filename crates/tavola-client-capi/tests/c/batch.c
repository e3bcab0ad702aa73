// Batches: each request has one result, and values lie where `room` says.

#include "check.h"

#define S TAVOLA_MC_STR
#define MOST 2000

struct seen {
  int32_t status[MOST];
  char *value[MOST];
  size_t len[MOST], rooms[MOST], dones[MOST];
  uint32_t flags[MOST];
  uint64_t cas[MOST], number[MOST];
};

static struct seen seen;

static void *room(void *user, size_t index, size_t value_len, uint32_t flags) {
  CHECK(user == &seen && index < MOST);
  seen.flags[index] = flags;
  seen.rooms[index] += 1;
  seen.len[index] = value_len;
  // Exactly as many bytes, so that valgrind and sanitizers see one too many.
  return seen.value[index] = malloc(value_len == 0 ? 1 : value_len);
}

static void done(void *user, size_t index, const tavola_mc_result *result) {
  CHECK(user == &seen && index < MOST && result->size >= sizeof *result);
  seen.dones[index] += 1;
  seen.status[index] = result->status;
  seen.cas[index] = result->cas;
  seen.number[index] = result->number;
  CHECK((result->why[0] != 0) == (result->status < 0));
}

static tavola_mc_sink a_sink(void) {
  tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
  sink.room = room;
  sink.done = done;
  sink.user = &seen;
  return sink;
}

static void reset(void) {
  for (size_t i = 0; i < MOST; i++) free(seen.value[i]);
  memset(&seen, 0, sizeof seen);
}

// Each `count` requests have one result, and no other has.
static void check_results(size_t count) {
  for (size_t i = 0; i < MOST; i++) CHECK(seen.dones[i] == (i < count));
}

static bool is(size_t index, const char *text) {
  return seen.rooms[index] == 1 && seen.len[index] == strlen(text) &&
         memcmp(seen.value[index], text, seen.len[index]) == 0;
}

static void all_kinds(tavola_mc_client *client, tavola_mc_batch *batch) {
  tavola_mc_sink sink = a_sink();
  tavola_mc_count_options count = TAVOLA_MC_INIT(tavola_mc_count_options);
  char too_long[251];
  memset(too_long, 'k', sizeof too_long);
  count.has_initial = 1;
  count.initial = 40;
  CHECK_IS(STORED, tavola_mc_set(client, S("old"), S("1"), NULL));
  CHECK_IS(OK, tavola_mc_batch_get(batch, S("old")));
  CHECK_IS(OK, tavola_mc_batch_set(batch, S("s"), S("set"), NULL));
  CHECK_IS(OK, tavola_mc_batch_add(batch, S("old"), S("2"), NULL));
  CHECK_IS(OK, tavola_mc_batch_replace(batch, S("nothing"), S("2"), NULL));
  CHECK_IS(OK, tavola_mc_batch_append(batch, S("old"), S("2"), NULL));
  CHECK_IS(OK, tavola_mc_batch_prepend(batch, S("old"), S("0"), NULL));
  CHECK_IS(OK, tavola_mc_batch_cas(batch, S("old"), S("no"), UINT64_MAX / 3, NULL));
  CHECK_IS(OK, tavola_mc_batch_delete(batch, S("nothing"), 0));
  CHECK_IS(OK, tavola_mc_batch_incr(batch, S("n"), 2, &count));
  CHECK_IS(OK, tavola_mc_batch_incr(batch, S("n"), 2, &count));
  CHECK_IS(OK, tavola_mc_batch_decr(batch, S("n"), 1, NULL));
  CHECK_IS(OK, tavola_mc_batch_touch(batch, S("old"), 100, 0));
  CHECK_IS(OK, tavola_mc_batch_get(batch, too_long, sizeof too_long));
  CHECK_IS(OK, tavola_mc_batch_get(batch, S("nothing")));
  CHECK(tavola_mc_batch_len(batch) == 14);
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  const int32_t expected[] = {
      TAVOLA_MC_HIT,     TAVOLA_MC_STORED, TAVOLA_MC_NOT_STORED,  TAVOLA_MC_NOT_STORED,
      TAVOLA_MC_STORED,  TAVOLA_MC_STORED, TAVOLA_MC_EXISTS,      TAVOLA_MC_MISS,
      TAVOLA_MC_COUNT,   TAVOLA_MC_COUNT,  TAVOLA_MC_COUNT,       TAVOLA_MC_TOUCHED,
      TAVOLA_MC_ERR_REFUSED, TAVOLA_MC_MISS};
  check_results(14);
  for (size_t i = 0; i < 14; i++) {
    if (seen.status[i] != expected[i]) fprintf(stderr, "request %zu: ", i);
    check_is(__FILE__, __LINE__, "a request of the batch", expected[i], seen.status[i]);
  }
  CHECK(is(0, "1") && seen.rooms[13] == 0);
  CHECK(seen.number[8] == 40 && seen.number[9] == 42 && seen.number[10] == 41);
  CHECK(has(client, "old", "012") && has(client, "s", "set"));
  CHECK_IS(OK, tavola_mc_batch_clear(batch));
  reset();

  CHECK_IS(OK, tavola_mc_batch_gets(batch, S("old")));
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  CHECK(seen.cas[0] != 0 && is(0, "012"));
  uint64_t cas = seen.cas[0];
  CHECK_IS(OK, tavola_mc_batch_clear(batch));
  reset();
  CHECK_IS(OK, tavola_mc_batch_cas(batch, S("old"), S("new"), cas, NULL));
  CHECK_IS(OK, tavola_mc_batch_get_and_touch(batch, S("s"), 100));
  CHECK_IS(OK, tavola_mc_batch_gets_and_touch(batch, S("s"), 100));
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  CHECK(seen.status[0] == TAVOLA_MC_STORED && seen.status[1] == TAVOLA_MC_HIT);
  CHECK(seen.status[2] == TAVOLA_MC_HIT && seen.cas[1] == 0 && seen.cas[2] != 0);
  CHECK_IS(OK, tavola_mc_batch_clear(batch));
  reset();
}

// A thousand keys of different lengths on two servers, of which every third is missing.
static void many(tavola_mc_client *client, tavola_mc_batch *batch) {
  static char keys[MOST][16], values[MOST][64];
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  tavola_mc_sink sink = a_sink();
  for (size_t i = 0; i < MOST; i++) {
    snprintf(keys[i], sizeof keys[i], "key:%zu", i);
    snprintf(values[i], sizeof values[i], "%0*zu", (int)(i % 50), i);
    how.flags = i % 7;
    how.no_reply = i % 2;
    if (i % 3 != 0) {
      CHECK_IS(OK, tavola_mc_batch_set(batch, keys[i], strlen(keys[i]), values[i],
                                       strlen(values[i]), &how));
    }
  }
  // Nothing is reported without a sink.
  CHECK_IS(OK, tavola_mc_batch_execute(batch, NULL));
  CHECK_IS(OK, tavola_mc_batch_clear(batch));
  for (size_t i = 0; i < MOST; i++) {
    CHECK_IS(OK, tavola_mc_batch_get(batch, keys[i], strlen(keys[i])));
  }
  for (int turn = 0; turn < 2; turn++) {
    CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
    check_results(MOST);
    for (size_t i = 0; i < MOST; i++) {
      CHECK(i % 3 == 0 ? seen.status[i] == TAVOLA_MC_MISS : is(i, values[i]));
      CHECK(i % 3 == 0 || seen.flags[i] == i % 7);
    }
    reset();
  }
  // Without room values are dropped, and what follows is not taken for them.
  sink.room = NULL;
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  check_results(MOST);
  for (size_t i = 0; i < MOST; i++) {
    CHECK(seen.status[i] == (i % 3 == 0 ? TAVOLA_MC_MISS : TAVOLA_MC_HIT));
  }
  reset();
  CHECK(has(client, keys[1], values[1]));
}

static void wrong_arguments(tavola_mc_client *client, tavola_mc_batch *batch) {
  tavola_mc_sink sink = a_sink();
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  CHECK_IS(OK, tavola_mc_batch_clear(batch));
  CHECK_IS(ERR_NULL, tavola_mc_batch_get(NULL, S("a")));
  CHECK_IS(ERR_NULL, tavola_mc_batch_get(batch, NULL, 1));
  CHECK_IS(ERR_NULL, tavola_mc_batch_new(client, NULL));
  CHECK_IS(ERR_NULL, tavola_mc_batch_new(NULL, &batch));
  how.size = 0;
  CHECK_IS(ERR_ARGUMENT, tavola_mc_batch_set(batch, S("a"), S("b"), &how));
  CHECK(tavola_mc_batch_len(batch) == 0 && tavola_mc_batch_len(NULL) == 0);
  // An invalid key is refused when it is executed, and does not disturb the others.
  char too_long[251];
  memset(too_long, 'k', sizeof too_long);
  CHECK_IS(OK, tavola_mc_batch_get(batch, too_long, sizeof too_long));
  CHECK_IS(OK, tavola_mc_batch_get(batch, NULL, 0));
  CHECK_IS(OK, tavola_mc_batch_get(batch, S("nothing")));
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  check_results(3);
  CHECK(seen.status[0] == TAVOLA_MC_ERR_REFUSED && seen.status[1] == TAVOLA_MC_ERR_REFUSED);
  CHECK(seen.status[2] == TAVOLA_MC_MISS);
  sink.size = 1;
  CHECK_IS(ERR_ARGUMENT, tavola_mc_batch_execute(batch, &sink));
  check_results(3);
}

int main(void) {
  tavola_mc_client *client = a_client();
  tavola_mc_batch *batch = NULL;
  CHECK_IS(OK, tavola_mc_batch_new(client, &batch));
  all_kinds(client, batch);
  many(client, batch);
  wrong_arguments(client, batch);
  // A batch works after its client is closed.
  tavola_mc_close(client);
  tavola_mc_sink sink = a_sink();
  reset();
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  check_results(3);
  tavola_mc_batch_free(batch);
  tavola_mc_batch_free(NULL);
  tavola_mc_close(NULL);
  return 0;
}

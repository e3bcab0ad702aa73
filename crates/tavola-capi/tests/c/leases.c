// Leases: a value that is missing or stale is computed by one, and failures are told.

#include "check.h"
#include <unistd.h>

enum { MINUTE = 60000 };

static tavola_lease_options minute(uint64_t stale_ms) {
  tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
  options.fresh_ms = MINUTE;
  options.stale_ms = stale_ms;
  return options;
}

// What is told of a key: the outcome, the value or error, and a lease.
struct told {
  tavola_leased leased;
  char bytes[256];
  tavola_buffer value;
  tavola_lease *lease;
};

static void ask(tavola_table *table, const char *key, const tavola_lease_options *options,
                tavola_lease_outcome expected, struct told *told) {
  told->leased = (tavola_leased)TAVOLA_INIT(tavola_leased);
  told->value = (tavola_buffer)TAVOLA_BUFFER(told->bytes, sizeof told->bytes);
  told->lease = (void *)1;
  CHECK_IS(TAVOLA_OK, tavola_get_or_lease(table, key, strlen(key), options, &told->value,
                                          &told->leased, &told->lease));
  CHECK(told->leased.outcome == expected && told->leased.flags == 0);
  const bool has_lease =
      expected == TAVOLA_LEASE_WON || expected == TAVOLA_LEASE_STALE_WON || expected == TAVOLA_LEASE_WAIT;
  CHECK((told->lease != NULL) == has_lease);
}

static tavola_status fill(struct told *told, const char *value) {
  return tavola_lease_fill(told->lease, value, strlen(value));
}

static void fills(tavola_table *table) {
  const tavola_lease_options options = minute(0);
  struct told mine, other;
  int64_t ttl_ms = 0;
  ask(table, "k", &options, TAVOLA_LEASE_WON, &mine);
  CHECK(tavola_lease_is_recorded(mine.lease) && mine.leased.left_ms == 0);
  ask(table, "k", &options, TAVOLA_LEASE_WAIT, &other);
  CHECK(other.leased.left_ms > 0 && other.leased.left_ms <= 10000);
  CHECK(!tavola_lease_is_recorded(other.lease));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_lease_wait(other.lease, 1));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_lease_wait(mine.lease, 1));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, fill(&other, "no"));
  CHECK_IS(TAVOLA_OK, fill(&mine, "value"));
  CHECK_IS(TAVOLA_OK, tavola_lease_wait(other.lease, MINUTE));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, fill(&mine, "again"));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_lease_fail(mine.lease, 1000, "no", 2));
  CHECK(!tavola_lease_is_recorded(mine.lease));
  tavola_lease_close(mine.lease);
  tavola_lease_close(other.lease);
  ask(table, "k", &options, TAVOLA_LEASE_HIT, &mine);
  CHECK(holds(&mine.value, "value"));
  CHECK_IS(TAVOLA_OK, tavola_ttl(table, "k", 1, &ttl_ms));
  CHECK(ttl_ms > 0 && ttl_ms <= MINUTE);
  tavola_lease_close(NULL);
}

// The flags of a value come back with it, and early recomputation keeps the low 16 bits.
static void keeps_flags(tavola_table *table) {
  tavola_lease_options options = minute(0);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_lease *lease = NULL;
  struct told mine;
  ask(table, "flagged", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_OK, tavola_lease_fill_with(mine.lease, "1", 1, 0x54020007, NULL));
  tavola_lease_close(mine.lease);
  CHECK_IS(TAVOLA_OK,
           tavola_get_or_lease(table, "flagged", 7, &options, &value, &leased, &lease));
  CHECK(leased.outcome == TAVOLA_LEASE_HIT && leased.flags == 0x54020007 && lease == NULL);
  options.early_beta = 1e-9;
  ask(table, "early", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_lease_fill_with(mine.lease, "1", 1, 1, NULL));
  tavola_lease_close(mine.lease);
  ask(table, "early", &options, TAVOLA_LEASE_WON, &mine);
  usleep(10);
  CHECK_IS(TAVOLA_OK, tavola_lease_fill_with(mine.lease, "1", 1, 0x54020000, NULL));
  tavola_lease_close(mine.lease);
  CHECK_IS(TAVOLA_OK, tavola_get_or_lease(table, "early", 5, &options, &value, &leased, &lease));
  CHECK(leased.outcome == TAVOLA_LEASE_HIT && leased.flags >> 16 == 0x5402);
  CHECK((leased.flags & 0xffff) >= 10);
}

// A minute fresh, an hour stale: what has less than an hour to live is stale.
static void serves_stale(tavola_table *table) {
  const tavola_lease_options options = minute(60 * MINUTE);
  tavola_attributes half_an_hour = TAVOLA_INIT(tavola_attributes);
  struct told mine, other;
  half_an_hour.ttl_ms = 30 * MINUTE;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "s", 1, "old", 3, &half_an_hour));
  ask(table, "s", &options, TAVOLA_LEASE_STALE_WON, &mine);
  ask(table, "s", &options, TAVOLA_LEASE_STALE, &other);
  CHECK(holds(&mine.value, "old") && holds(&other.value, "old"));
  CHECK_IS(TAVOLA_OK, fill(&mine, "new"));
  tavola_lease_close(mine.lease);
  ask(table, "s", &options, TAVOLA_LEASE_HIT, &mine);
  CHECK(holds(&mine.value, "new"));
}

static void tells_failures(tavola_table *table) {
  const tavola_lease_options options = minute(0);
  struct told mine, other;
  ask(table, "f", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_OK, tavola_lease_fail(mine.lease, MINUTE, "no luck", 7));
  tavola_lease_close(mine.lease);
  ask(table, "f", &options, TAVOLA_LEASE_FAILED, &other);
  CHECK(holds(&other.value, "no luck"));
  CHECK(other.leased.left_ms > 0 && other.leased.left_ms <= MINUTE);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove(table, "f", 1));
  ask(table, "f", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_OK, tavola_lease_fail(mine.lease, 0, NULL, 0));
  tavola_lease_close(mine.lease);
  // Closed without a word, it is another's at once.
  ask(table, "f", &options, TAVOLA_LEASE_WON, &mine);
  tavola_lease_close(mine.lease);
  ask(table, "f", &options, TAVOLA_LEASE_WON, &mine);
  tavola_lease_close(mine.lease);
}

// What was computed from what was before is not stored.
static void passes_on(tavola_table *table) {
  tavola_lease_options options = minute(0);
  struct told mine, other;
  ask(table, "p", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove(table, "p", 1));
  CHECK_IS(TAVOLA_LEASE_LOST, fill(&mine, "late"));
  tavola_lease_close(mine.lease);
  CHECK(has(table, "p", NULL));
  ask(table, "p", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_OK, set(table, "p", "set"));
  CHECK_IS(TAVOLA_LEASE_LOST, fill(&mine, "late"));
  tavola_lease_close(mine.lease);
  CHECK(has(table, "p", "set"));
  options.lease_ms = 1;
  ask(table, "q", &options, TAVOLA_LEASE_WON, &mine);
  usleep(30 * 1000);
  ask(table, "q", &options, TAVOLA_LEASE_WON, &other);
  CHECK_IS(TAVOLA_LEASE_LOST, tavola_lease_fail(mine.lease, 1000, "late", 4));
  tavola_lease_close(mine.lease);
  tavola_lease_close(other.lease);
}

// A lease keeps its table open.
static void outlives_its_handle(void) {
  const tavola_lease_options options = minute(0);
  tavola_table *table = NULL;
  struct told mine;
  CHECK_IS(TAVOLA_OK, tavola_open_existing("leases", NULL, &table));
  ask(table, "o", &options, TAVOLA_LEASE_WON, &mine);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, fill(&mine, "there"));
  tavola_lease_close(mine.lease);
}

// What a computation gives, and how often it was asked.
struct computation {
  const char *gives;
  int32_t status;
  int count;
};

static int32_t computes(void *user, tavola_bytes *value) {
  struct computation *computation = user;
  computation->count++;
  if (computation->gives != NULL) {
    value->data = computation->gives;
    value->len = strlen(computation->gives);
  }
  return computation->status;
}

static int32_t gives_null(void *user, tavola_bytes *value) {
  (void)user;
  value->len = 7;
  return 0;
}

#define COMPUTE(status, key, options, computation)                                     \
  CHECK_IS(status, tavola_get_or_compute(table, key, strlen(key), options, computes,   \
                                         computation, &value))

static void computes_once(tavola_table *table) {
  const tavola_lease_options options = minute(0);
  struct computation seven = {"seven", 0, 0}, nothing = {NULL, 0, 0};
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes), small = TAVOLA_BUFFER(bytes, 3);
  for (int i = 0; i < 3; i++) {
    value.len = 0;
    COMPUTE(TAVOLA_OK, "c", &options, &seven);
    CHECK(holds(&value, "seven") && seven.count == 1);
    COMPUTE(TAVOLA_OK, "empty", &options, &nothing);
    CHECK(value.len == 0 && nothing.count == 1);
  }
  // What was not handed over is there.
  CHECK_IS(TAVOLA_ERR_TOO_SMALL,
           tavola_get_or_compute(table, "d", 1, &options, computes, &seven, &small));
  CHECK(small.len == 5 && seven.count == 2 && has(table, "d", "seven"));
}

static void computes_in_vain(tavola_table *table) {
  tavola_lease_options options = minute(0);
  struct computation fails = {"no luck", 1, 0}, seven = {"seven", 0, 0};
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  options.back_off_ms = MINUTE;
  COMPUTE(TAVOLA_ERR_COMPUTE, "x", &options, &fails);
  CHECK(strstr(tavola_last_error(), "no luck") != NULL);
  // Another is told so, and does not try.
  COMPUTE(TAVOLA_ERR_COMPUTE, "x", &options, &seven);
  CHECK(strstr(tavola_last_error(), "no luck") != NULL);
  CHECK(fails.count == 1 && seven.count == 0 && value.len == 0);
  options.back_off_ms = TAVOLA_NO_BACK_OFF;
  COMPUTE(TAVOLA_ERR_COMPUTE, "y", &options, &fails);
  COMPUTE(TAVOLA_OK, "y", &options, &seven);
  CHECK(fails.count == 2 && seven.count == 1);
  CHECK_IS(TAVOLA_ERR_NULL,
           tavola_get_or_compute(table, "z", 1, &options, gives_null, NULL, &value));
  COMPUTE(TAVOLA_OK, "z", &options, &seven);
}

static void refuses_options(tavola_table *table, const tavola_lease_options *options,
                            tavola_status status) {
  struct computation seven = {"seven", 0, 0};
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_lease *lease = NULL;
  COMPUTE(status, "r", options, &seven);
  CHECK_IS(status, tavola_get_or_lease(table, "r", 1, options, &value, &leased, &lease));
  CHECK(seven.count == 0 && lease == NULL);
}

static void refuses(tavola_table *table) {
  tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_buffer value = TAVOLA_BUFFER(NULL, 0);
  tavola_lease *lease = NULL;
  struct told mine;
  refuses_options(table, NULL, TAVOLA_ERR_NULL);
  refuses_options(table, &options, TAVOLA_ERR_ARGUMENT);
  options.fresh_ms = MINUTE;
  options.back_off_ms = -2;
  refuses_options(table, &options, TAVOLA_ERR_ARGUMENT);
  options.back_off_ms = 0;
  options.lease_ms = 3600001;
  refuses_options(table, &options, TAVOLA_ERR_BAD_OPTION);
  options.lease_ms = 0;
  options.early_beta = -1;
  refuses_options(table, &options, TAVOLA_ERR_BAD_OPTION);
  options.early_beta = 1;
  CHECK_IS(TAVOLA_ERR_NULL,
           tavola_get_or_lease(NULL, "r", 1, &options, &value, &leased, &lease));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_or_lease(table, "r", 1, &options, NULL, &leased, &lease));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_or_lease(table, "r", 1, &options, &value, NULL, &lease));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_or_lease(table, "r", 1, &options, &value, &leased, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_or_compute(table, "r", 1, &options, NULL, NULL, &value));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_or_compute(table, "r", 1, &options, computes, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lease_fill(NULL, "r", 1));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lease_fail(NULL, 0, "r", 1));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lease_wait(NULL, 0));
  CHECK(!tavola_lease_is_recorded(NULL));
  // None of these has won it.
  ask(table, "r", &options, TAVOLA_LEASE_WON, &mine);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lease_fill(mine.lease, NULL, 1));
  CHECK_IS(TAVOLA_OK, fill(&mine, "done"));
  tavola_lease_close(mine.lease);
}

// A lease whose value has no room is given up.
static void without_room(tavola_table *table) {
  const tavola_lease_options options = minute(60 * MINUTE);
  tavola_attributes half_an_hour = TAVOLA_INIT(tavola_attributes);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_buffer none = TAVOLA_BUFFER(NULL, 0);
  tavola_lease *lease = NULL;
  struct told mine;
  half_an_hour.ttl_ms = 30 * MINUTE;
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "w", 1, "old", 3, &half_an_hour));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL,
           tavola_get_or_lease(table, "w", 1, &options, &none, &leased, &lease));
  CHECK(none.len == 3 && lease == NULL && leased.outcome == TAVOLA_LEASE_HIT);
  ask(table, "w", &options, TAVOLA_LEASE_STALE_WON, &mine);
  tavola_lease_close(mine.lease);
}

static void tables_without_leases(void) {
  const tavola_lease_options options = minute(0);
  struct computation seven = {"seven", 0, 0};
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_options fixed = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  fixed.max_size = 16 << 20;
  fixed.fixed_key = fixed.fixed_value = 1;
  CHECK_IS(TAVOLA_OK, tavola_open_private(&fixed, &table));
  COMPUTE(TAVOLA_ERR_BAD_OPTION, "k", &options, &seven);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("leases", NULL, &table));
  COMPUTE(TAVOLA_ERR_READ_ONLY, "none", &options, &seven);
  COMPUTE(TAVOLA_OK, "k", &options, &seven);
  CHECK(seven.count == 0 && holds(&value, "value"));
  tavola_close(table);
}

// A value whose tag is invalidated while it is computed is missing from the beginning.
static void fills_with_tags(tavola_table *table) {
  const tavola_lease_options options = minute(MINUTE);
  const tavola_bytes name = {"tag", 3};
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  struct told mine;
  for (int during = 0; during < 2; during++) {
    ask(table, "tagged", &options, TAVOLA_LEASE_WON, &mine);
    CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, &name, 1, &tags));
    if (during) {
      CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(table, "tag", 3));
    }
    CHECK_IS(TAVOLA_OK, tavola_lease_fill_tagged(mine.lease, "1", 1, &tags));
    tavola_lease_close(mine.lease);
    CHECK(has(table, "tagged", during ? NULL : "1"));
    if (!during) {
      CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(table, "tag", 3));
      CHECK(has(table, "tagged", NULL));
    }
  }
}

// Invalidates the tag of the value that it computes.
static int32_t invalidates(void *user, tavola_bytes *value) {
  CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(user, "tag", 3));
  *value = (tavola_bytes){"late", 4};
  return 0;
}

static void computes_with_tags(tavola_table *table) {
  const tavola_lease_options options = minute(0);
  const tavola_bytes names[] = {{"tag", 3}, {"other", 5}};
  struct computation seven = {"seven", 0, 0};
  char bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  for (int i = 1; i <= 3; i++) {
    for (int again = 0; again < 2; again++) {
      value.len = 0;
      CHECK_IS(TAVOLA_OK, tavola_get_or_compute_tagged(table, "t", 1, &options, names, 2,
                                                       computes, &seven, &value));
      CHECK(holds(&value, "seven") && seven.count == i && has(table, "t", "seven"));
    }
    CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(table, i % 2 ? "tag" : "other", i % 2 ? 3 : 5));
    CHECK(has(table, "t", NULL));
  }
  CHECK_IS(TAVOLA_OK, tavola_get_or_compute_tagged(table, "t", 1, &options, names, 1, invalidates,
                                                   table, &value));
  CHECK(holds(&value, "late") && has(table, "t", NULL));
  // Without tags, as without that.
  CHECK_IS(TAVOLA_OK, tavola_get_or_compute_tagged(table, "t", 1, &options, NULL, 0, computes,
                                                   &seven, &value));
  CHECK(seven.count == 4 && has(table, "t", "seven"));
}

static void refuses_tags(tavola_table *table) {
  const tavola_lease_options options = minute(0);
  struct computation seven = {"seven", 0, 0};
  tavola_bytes names[TAVOLA_MOST_TAGS + 1];
  char texts[TAVOLA_MOST_TAGS + 1], bytes[16];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  for (int i = 0; i <= TAVOLA_MOST_TAGS; i++) {
    texts[i] = (char)('a' + i);
    names[i] = (tavola_bytes){&texts[i], 1};
  }
#define TAGGED(status, tags, count, compute)                                                  \
  CHECK_IS(status, tavola_get_or_compute_tagged(table, "u", 1, &options, tags, count, compute, \
                                                &seven, &value))
  TAGGED(TAVOLA_ERR_BAD_OPTION, names, TAVOLA_MOST_TAGS + 1, computes);
  TAGGED(TAVOLA_ERR_NULL, names, 1, NULL);
  TAGGED(TAVOLA_ERR_NULL, NULL, 1, computes);
  names[1].data = NULL;
  TAGGED(TAVOLA_ERR_NULL, names, 2, computes);
  CHECK(seven.count == 0 && value.len == 0 && has(table, "u", NULL));
  // None of these keeps the lease.
  TAGGED(TAVOLA_OK, names, 1, computes);
  CHECK(seven.count == 1 && has(table, "u", "seven"));
}

int main(void) {
  tavola_table *table = a_table("leases");
  fills(table);
  fills_with_tags(table);
  keeps_flags(table);
  serves_stale(table);
  tells_failures(table);
  passes_on(table);
  outlives_its_handle();
  CHECK(has(table, "o", "there"));
  computes_once(table);
  computes_in_vain(table);
  computes_with_tags(table);
  refuses_tags(table);
  refuses(table);
  without_room(table);
  tables_without_leases();
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("leases"));
  return 0;
}

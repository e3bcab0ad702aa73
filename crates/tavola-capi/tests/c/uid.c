// Uids and hints, and tables of fixed lengths.

#include "check.h"

static void uids(void) {
  tavola_table *table = a_table("uids");
  char bytes[16] = {0};
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_hint alice = 0, again = 0, bob = 0;
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_uid_of(table, "alice", 5, &alice));
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "alice", 5, "1", 1, &alice));
  CHECK_IS(TAVOLA_OK, tavola_uid_of(table, "alice", 5, &again));
  CHECK(alice == again && (uint32_t)alice != 0 && alice >> 32 != 0);
  CHECK_IS(TAVOLA_OK, tavola_get_by_uid(table, alice, &buffer));
  CHECK(holds(&buffer, "1"));
  CHECK_IS(TAVOLA_OK, tavola_set_by_uid(table, alice, "22", 2));
  CHECK_IS(TAVOLA_OK, tavola_get_by_uid(table, (uint32_t)alice, &buffer));
  CHECK(holds(&buffer, "22"));
  CHECK(bytes[2] == 0);
  buffer.capacity = 1;
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get_by_uid(table, alice, &buffer));
  CHECK(buffer.len == 2);
  buffer.capacity = sizeof bytes;
  CHECK_IS(TAVOLA_OK, tavola_key_of_uid(table, alice, &buffer));
  CHECK(holds(&buffer, "alice"));
  buffer.capacity = 4;
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_key_of_uid(table, alice, &buffer));
  CHECK(buffer.len == 5);
  CHECK_IS(TAVOLA_OK, set(table, "bob", "3"));
  CHECK_IS(TAVOLA_OK, tavola_uid_of(table, "bob", 3, &bob));
  CHECK((uint32_t)bob != (uint32_t)alice);
  CHECK_IS(TAVOLA_OK, tavola_remove_by_uid(table, alice));
  CHECK(has(table, "alice", NULL));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_by_uid(table, alice, &buffer));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_set_by_uid(table, alice, "4", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove_by_uid(table, alice));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_key_of_uid(table, alice, &buffer));
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("uids"));
}

// What stands beside a value, by uid; and what becomes of it.
static void entries(void) {
  tavola_table *table = a_table("entries");
  tavola_attributes with = TAVOLA_INIT(tavola_attributes), has = TAVOLA_INIT(tavola_attributes);
  char bytes[16];
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes), small = TAVOLA_BUFFER(bytes, 2);
  tavola_hint hint = 0;
  uint64_t token = 0, by_uid = 0;
  with.ttl_ms = 3600 * 1000;
  with.flags = 7;
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "alice", 5, "1", 1, &hint));
  CHECK_IS(TAVOLA_OK, tavola_set_with(table, "alice", 5, "value", 5, &with));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "alice", 5, &buffer, NULL, &token));
  memset(bytes, 'x', sizeof bytes);
  CHECK_IS(TAVOLA_OK, tavola_get_entry_by_uid(table, hint, &buffer, &has, &by_uid));
  CHECK(holds(&buffer, "value") && bytes[5] == 'x' && token == by_uid);
  CHECK(has.flags == 7 && has.ttl_ms > 0 && has.ttl_ms <= with.ttl_ms);
  has.flags = by_uid = 0;
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get_entry_by_uid(table, hint, &small, &has, &by_uid));
  CHECK(small.len == 5 && has.flags == 0 && by_uid == 0);
  CHECK_IS(TAVOLA_OK, tavola_get_entry_by_uid(table, hint, NULL, &has, NULL));
  CHECK(has.flags == 7);
  CHECK_IS(TAVOLA_OK, tavola_get_entry_by_uid(table, hint, NULL, NULL, &by_uid));
  CHECK(token == by_uid);
  CHECK_IS(TAVOLA_OK, tavola_set_by_uid(table, hint, "next", 4));
  CHECK_IS(TAVOLA_OK, tavola_get_entry_by_uid(table, hint, &buffer, &has, NULL));
  CHECK(holds(&buffer, "next") && has.flags == 0 && has.ttl_ms == TAVOLA_TTL_NEVER);
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "alice", 5));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_entry_by_uid(table, hint, &buffer, &has, NULL));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("entries"));
}

static int32_t longer(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  char *text = user;
  CHECK(old != NULL);
  if (old_len >= 4) {
    return old_len == 4 ? TAVOLA_CHANGE_KEEP : TAVOLA_CHANGE_REMOVE;
  }
  memcpy(text, old, old_len);
  text[old_len] = '+';
  now->data = text;
  now->len = old_len + 1;
  return TAVOLA_CHANGE_SET;
}

static int32_t uncalled(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  (void)user, (void)old, (void)old_len, (void)now;
  CHECK(false);
  return TAVOLA_CHANGE_KEEP;
}

static int32_t nonsense(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  (void)user, (void)old, (void)old_len, (void)now;
  return 77;
}

// Another one changes the key meanwhile: what the first try came to does not count.
static int32_t overtaken(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  if (old_len == 1) {
    CHECK_IS(TAVOLA_OK, set(user, "alice", "theirs"));
  } else {
    CHECK(old_len == 6 && memcmp(old, "theirs", old_len) == 0);
  }
  now->data = old_len == 1 ? "late" : "ours";
  now->len = 4;
  return TAVOLA_CHANGE_SET;
}

static void updates(void) {
  tavola_table *table = a_table("updates");
  char text[16];
  tavola_hint alice = 0, bob = 0;
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "alice", 5, "ab", 2, &alice));
  CHECK_IS(TAVOLA_OK, tavola_update_by_uid(table, alice, longer, text));
  CHECK(has(table, "alice", "ab+"));
  CHECK_IS(TAVOLA_OK, tavola_update_by_uid(table, (uint32_t)alice, longer, text));
  CHECK_IS(TAVOLA_OK, tavola_update_by_uid(table, alice, longer, text));
  CHECK(has(table, "alice", "ab++"));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_update_by_uid(table, alice, nonsense, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_update_by_uid(table, alice, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_update_by_uid(NULL, alice, longer, text));
  CHECK(has(table, "alice", "ab++"));
  CHECK_IS(TAVOLA_OK, set(table, "alice", "x"));
  CHECK_IS(TAVOLA_OK, tavola_update_by_uid(table, alice, overtaken, table));
  CHECK(has(table, "alice", "ours"));
  CHECK_IS(TAVOLA_OK, set(table, "alice", "longer"));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_update_by_uid(table, alice, longer, text));
  CHECK(has(table, "alice", NULL));
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "bob", 3, "b", 1, &bob));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_update_by_uid(table, alice, uncalled, NULL));
  CHECK(has(table, "bob", "b"));
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("updates"));
}

static void each_value(void *user, size_t index, const void *value, size_t len) {
  size_t *next = user;
  CHECK(index == (*next)++);
  CHECK(index == 1 ? value == NULL : len == 2 && memcmp(value, "42", 2) == 0);
}

static void counters(void) {
  tavola_table *table = a_table("counters");
  tavola_attributes hour = TAVOLA_INIT(tavola_attributes);
  tavola_hint hits = 0, gone = 0;
  uint64_t now = 7;
  int64_t ttl = 0;
  size_t next = 0;
  hour.ttl_ms = 3600 * 1000;
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "gone", 4, "1", 1, &gone));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "gone", 4));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_incr_by_uid(table, gone, 1, &now));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_decr_by_uid(table, gone, 1, &now));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_touch_by_uid(table, gone, &hour));
  CHECK(now == 7);
  CHECK_IS(TAVOLA_OK, tavola_set_uid(table, "hits", 4, "50", 2, &hits));
  CHECK_IS(TAVOLA_OK, tavola_incr_by_uid(table, hits, 2, &now));
  CHECK(now == 52);
  CHECK_IS(TAVOLA_OK, tavola_decr_by_uid(table, (uint32_t)hits, 10, NULL));
  CHECK(has(table, "hits", "42"));
  CHECK_IS(TAVOLA_OK, tavola_touch_by_uid(table, hits, &hour));
  CHECK_IS(TAVOLA_OK, tavola_ttl(table, "hits", 4, &ttl));
  CHECK(ttl > 0 && ttl <= hour.ttl_ms);
  hour.flags = 1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_touch_by_uid(table, hits, &hour));
  const tavola_hint hints[] = {hits, gone, hits};
  CHECK_IS(TAVOLA_OK, tavola_get_many_by_uid(table, hints, 3, each_value, &next));
  CHECK(next == 3);
  CHECK_IS(TAVOLA_OK, tavola_get_many_by_uid(table, NULL, 0, each_value, &next));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many_by_uid(table, NULL, 1, each_value, &next));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_many_by_uid(table, hints, 1, NULL, NULL));
  CHECK_IS(TAVOLA_OK, set(table, "hits", "many"));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_incr_by_uid(table, hits, 1, &now));
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("counters"));
}

static void fixed(bool with_uids) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  tavola_table *table = NULL;
  uint64_t key = 1, value = 2, read = 0;
  tavola_buffer buffer = TAVOLA_BUFFER(&read, sizeof read);
  tavola_hint hint = 0;
  options.max_size = 16 << 20;
  options.fixed_key = 8;
  options.fixed_value = 8;
  options.uids = with_uids;
  CHECK_IS(TAVOLA_OK, tavola_create("fixed", &options, &table));
  CHECK_IS(TAVOLA_OK, tavola_set(table, &key, 8, &value, 8));
  CHECK_IS(TAVOLA_OK, tavola_get(table, &key, 8, &buffer));
  CHECK(read == 2);
  CHECK_IS(TAVOLA_OK, tavola_incr(table, &key, 8, 40, NULL));
  CHECK_IS(TAVOLA_OK, tavola_get(table, &key, 8, &buffer));
  CHECK(read == 42);
  CHECK_IS(TAVOLA_OK, tavola_add_number(table, &key, 8, -43, NULL));
  CHECK_IS(TAVOLA_OK, tavola_get(table, &key, 8, &buffer));
  CHECK((int64_t)read == -1);
  CHECK_IS(TAVOLA_ERR_LENGTHS, tavola_set(table, "short", 5, &value, 8));
  CHECK_IS(TAVOLA_ERR_LENGTHS, tavola_incr(table, "short", 5, 1, NULL));
  CHECK_IS(with_uids ? TAVOLA_OK : TAVOLA_ERR_NO_UIDS, tavola_uid_of(table, &key, 8, &hint));
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.fixed_key == 8 && stats.fixed_value == 8 && stats.uids == with_uids);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("fixed"));
}

int main(void) {
  uids();
  entries();
  updates();
  counters();
  fixed(false);
  fixed(true);
  return 0;
}

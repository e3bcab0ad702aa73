// Tables: each operation, results into a buffer and through a callback, walks, counts, checks.

#include "check.h"

static void *store(void *user, size_t len) {
  tavola_bytes *place = user;
  CHECK(place->data == NULL);
  place->data = malloc(len);
  place->len = len;
  return (void *)place->data;
}

static void reads_and_writes(tavola_table *table) {
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_replace(table, "a", 1, "0", 1));
  CHECK_IS(TAVOLA_OK, tavola_add(table, "a", 1, "1", 1));
  CHECK_IS(TAVOLA_EXISTS, tavola_add(table, "a", 1, "2", 1));
  CHECK(has(table, "a", "1"));
  CHECK_IS(TAVOLA_OK, tavola_replace(table, "a", 1, "3", 1));
  CHECK_IS(TAVOLA_OK, tavola_append(table, "a", 1, "45", 2));
  CHECK_IS(TAVOLA_OK, tavola_prepend(table, "a", 1, "12", 2));
  CHECK(has(table, "a", "12345"));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_append(table, "b", 1, "x", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_prepend(table, "b", 1, "x", 1));
  CHECK_IS(TAVOLA_OK, tavola_contains(table, "a", 1));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "a", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_remove(table, "a", 1));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, "a", 1));
  CHECK_IS(TAVOLA_OK, tavola_set(table, NULL, 0, NULL, 0));
  CHECK(has(table, "", ""));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, NULL, 0));
}

static void results(tavola_table *table) {
  char bytes[8];
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_bytes place = {NULL, 0};
  tavola_buffer placed = TAVOLA_BUFFER_ALLOC(store, &place);
  CHECK_IS(TAVOLA_OK, set(table, "key", "a value that is longer"));
  memset(bytes, 'x', sizeof bytes);
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get(table, "key", 3, &buffer));
  CHECK(buffer.len == 22 && bytes[0] == 'x');
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_take(table, "key", 3, &buffer));
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_swap(table, "key", 3, "new", 3, &buffer));
  CHECK(has(table, "key", "a value that is longer"));
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "short", 5, &placed));
  CHECK(place.len == 22 && memcmp(place.data, "a value", 7) == 0);
  free((void *)place.data);
  CHECK_IS(TAVOLA_OK, tavola_swap(table, "key", 3, "new", 3, &buffer));
  CHECK(holds(&buffer, "short"));
  CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &buffer));
  CHECK(holds(&buffer, "new") && has(table, "key", NULL));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_swap(table, "key", 3, "first", 5, &buffer));
  CHECK(has(table, "key", "first"));
  place.data = NULL;
  CHECK_IS(TAVOLA_OK, tavola_take(table, "key", 3, &placed));
  CHECK(place.len == 5);
  free((void *)place.data);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_take(table, "key", 3, &placed));
}

// Into the caller's bytes: what stands behind the value stays.
static void a_part_of_a_buffer(tavola_table *table) {
  static char bytes[50000], value[40000];
  const size_t lens[] = {0, 1, 8, 13, 32, 33, 1000, 16000, 40000};
  memset(value, 'v', sizeof value);
  for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
    const size_t len = lens[i];
    tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
    memset(bytes, 'x', sizeof bytes);
    CHECK_IS(TAVOLA_OK, tavola_set(table, "key", 3, value, len));
    CHECK_IS(TAVOLA_OK, tavola_get(table, "key", 3, &buffer));
    CHECK(buffer.len == len && memcmp(bytes, value, len) == 0);
    CHECK(bytes[len] == 'x' && memcmp(bytes + len, bytes + len + 1, 9999) == 0);
    buffer = (tavola_buffer)TAVOLA_BUFFER(NULL, 0);
    CHECK_IS(len == 0 ? TAVOLA_OK : TAVOLA_ERR_TOO_SMALL, tavola_get(table, "key", 3, &buffer));
    CHECK(buffer.len == len);
  }
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "key", 3));
}

// A value may be read over its key, whole or in part.
static void over_the_key(tavola_table *table) {
  char bytes[64];
  CHECK_IS(TAVOLA_OK, set(table, "key", "a value that is longer"));
  for (size_t at = 0; at < 40; at++) {
    tavola_buffer buffer = TAVOLA_BUFFER(bytes + 20, 30);
    memcpy(bytes + at, "key", 3);
    CHECK_IS(TAVOLA_OK, tavola_get(table, bytes + at, 3, &buffer));
    CHECK(holds(&buffer, "a value that is longer"));
  }
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "key", 3));
}

static void compare(tavola_table *table) {
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  uint64_t token = 0;
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_with_token(table, "cas", 3, &value, &token));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_compare_and_swap(table, "cas", 3, token, "x", 1));
  CHECK_IS(TAVOLA_OK, set(table, "cas", "1"));
  CHECK_IS(TAVOLA_OK, tavola_get_with_token(table, "cas", 3, &value, &token));
  CHECK(holds(&value, "1"));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_swap(table, "cas", 3, token, "2", 1));
  CHECK_IS(TAVOLA_CHANGED, tavola_compare_and_swap(table, "cas", 3, token, "3", 1));
  CHECK(has(table, "cas", "2"));
}

// The token of a value, whichever key has it and however it was read.
static void tokens(tavola_table *table) {
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  uint64_t read = 0, token = 77, other = 77;
  CHECK_IS(TAVOLA_OK, set(table, "cas", "1"));
  CHECK_IS(TAVOLA_OK, tavola_get_with_token(table, "cas", 3, &value, &read));
  CHECK_IS(TAVOLA_OK, tavola_token_of(table, bytes, value.len, &token));
  CHECK_IS(TAVOLA_OK, tavola_token_of(table, "2", 1, &other));
  CHECK(token == read && other != token);
  CHECK_IS(TAVOLA_CHANGED, tavola_compare_and_swap(table, "cas", 3, other, "3", 1));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_swap(table, "cas", 3, token, "2", 1));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_swap(table, "cas", 3, other, "", 0));
  CHECK_IS(TAVOLA_OK, tavola_token_of(table, NULL, 0, &token));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_swap(table, "cas", 3, token, "2", 1));
  CHECK(has(table, "cas", "2"));
  token = 77;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_token_of(NULL, "2", 1, &token));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_token_of(table, NULL, 1, &token));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_token_of(table, "2", 1, NULL));
  CHECK(token == 77);
}

static void counters(tavola_table *table) {
  uint64_t now = 0, initial = 10;
  CHECK_IS(TAVOLA_OK, tavola_incr(table, "n", 1, 5, &now));
  CHECK(now == 5);
  CHECK_IS(TAVOLA_OK, tavola_decr(table, "n", 1, 7, &now));
  CHECK(now == 0);
  CHECK_IS(TAVOLA_OK, tavola_incr(table, "n", 1, 42, NULL));
  CHECK(has(table, "n", "42"));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_incr_from(table, "m", 1, 1, NULL, &now));
  CHECK_IS(TAVOLA_OK, tavola_incr_from(table, "m", 1, 1, &initial, &now));
  CHECK(now == 10);
  CHECK_IS(TAVOLA_OK, tavola_decr_from(table, "m", 1, 3, NULL, &now));
  CHECK(now == 7);
  CHECK_IS(TAVOLA_OK, set(table, "text", "none"));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_incr(table, "text", 4, 1, &now));
  CHECK(now == 7);
}

static int32_t twice(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  char *text = user;
  if (old == NULL) {
    return TAVOLA_CHANGE_KEEP;
  }
  if (old_len >= 8) {
    return TAVOLA_CHANGE_REMOVE;
  }
  memcpy(text, old, old_len);
  memcpy(text + old_len, old, old_len);
  now->data = text;
  now->len = 2 * old_len;
  return TAVOLA_CHANGE_SET;
}

static int32_t nonsense(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  (void)user, (void)old, (void)old_len, (void)now;
  return 77;
}

// Another one changes the key meanwhile: what the first try came to does not count.
static int32_t overtaken(void *user, const void *old, size_t old_len, tavola_bytes *now) {
  if (old_len == 1) {
    CHECK_IS(TAVOLA_OK, set(user, "u", "theirs"));
    now->data = "late";
    now->len = 4;
    return TAVOLA_CHANGE_SET;
  }
  CHECK(memcmp(old, "theirs", old_len) == 0);
  now->data = "ours";
  now->len = 4;
  return TAVOLA_CHANGE_SET;
}

static void updates(tavola_table *table) {
  char text[16];
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_update(table, "u", 1, twice, text));
  CHECK_IS(TAVOLA_OK, set(table, "u", "ab"));
  CHECK_IS(TAVOLA_OK, tavola_update(table, "u", 1, twice, text));
  CHECK(has(table, "u", "abab"));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_update(table, "u", 1, nonsense, NULL));
  CHECK(has(table, "u", "abab"));
  CHECK_IS(TAVOLA_OK, tavola_update(table, "u", 1, twice, text));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_update(table, "u", 1, twice, text));
  CHECK(has(table, "u", NULL));
  CHECK_IS(TAVOLA_OK, set(table, "u", "x"));
  CHECK_IS(TAVOLA_OK, tavola_update(table, "u", 1, overtaken, table));
  CHECK(has(table, "u", "ours"));
}

static void walks(tavola_table *table) {
  tavola_iter *iter = NULL;
  tavola_bytes key, value;
  uint64_t keys = 0;
  int met = 0;
  tavola_status status;
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  for (int i = 0; i < 500; i++) {
    CHECK_IS(TAVOLA_OK, tavola_set(table, &i, sizeof i, &i, sizeof i));
  }
  CHECK_IS(TAVOLA_OK, tavola_len(table, &keys));
  CHECK(keys == 500);
  CHECK_IS(TAVOLA_OK, tavola_iter_open(table, &iter));
  while ((status = tavola_iter_next(iter, &key, &value)) == TAVOLA_OK) {
    CHECK(key.len == sizeof(int) && memcmp(key.data, value.data, value.len) == 0);
    met++;
  }
  CHECK_IS(TAVOLA_END, status);
  CHECK(met == 500);
  tavola_iter_close(iter);
}

static void a_walk_keeps_its_table(void) {
  tavola_table *table = a_table("walked");
  tavola_iter *iter = NULL;
  tavola_bytes key;
  CHECK_IS(TAVOLA_OK, set(table, "only", "one"));
  CHECK_IS(TAVOLA_OK, tavola_iter_open(table, &iter));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_iter_next(iter, &key, NULL));
  CHECK(key.len == 4);
  tavola_iter_close(iter);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("walked"));
}

static void count_class(void *user, const tavola_class *class_) {
  CHECK(class_->size == sizeof *class_ && class_->used <= class_->blocks);
  *(int *)user += 1;
}

static void count_participant(void *user, const tavola_participant *participant) {
  CHECK(participant->alive && participant->pid != 0);
  CHECK(participant->is_local && !participant->is_stopped);
  *(int *)user += 1;
}

static void count_holder(void *user, const tavola_holder *holder) {
  CHECK(holder->size == sizeof *holder);
  *(int *)user += 1;
}

static void states(tavola_table *table) {
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  tavola_maintained did = TAVOLA_INIT(tavola_maintained);
  tavola_check_report report = TAVOLA_INIT(tavola_check_report);
  uint64_t given_back = 7;
  uint32_t freed = 7;
  tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
  int classes = 0, participants = 0, holders = 0;
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.keys == 500 && stats.max_size == 16 << 20 && stats.format_version >= 1);
  CHECK_IS(TAVOLA_OK, tavola_classes(table, count_class, &classes));
  CHECK(classes > 0);
  CHECK_IS(TAVOLA_OK, tavola_participants(table, count_participant, &participants));
  CHECK(participants == 1);
  CHECK_IS(TAVOLA_OK, tavola_get_live_keys(table, &live));
  CHECK(live.live == 500 && live.unreclaimed == 0 && !live.is_estimate);
  CHECK_IS(TAVOLA_OK, tavola_lock_holders(table, count_holder, &holders));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_lock_holders(table, NULL, NULL));
  CHECK(holders == 0);
  // It can be had: the limit changes nothing.
  CHECK_IS(TAVOLA_OK, tavola_set_lock_timeout(table, 0));
  CHECK_IS(TAVOLA_OK, set(table, "limited", "yes"));
  CHECK_IS(TAVOLA_OK, tavola_set_lock_timeout(table, UINT64_MAX));
  CHECK_IS(TAVOLA_OK, tavola_maintain(table, 0, &did));
  CHECK_IS(TAVOLA_OK, tavola_clear(table));
  CHECK_IS(TAVOLA_OK, tavola_compact(table, &given_back));
  CHECK_IS(TAVOLA_OK, tavola_reclaim(table, &freed));
  CHECK(freed == 0);
  CHECK_IS(TAVOLA_OK, tavola_repair(table, &report, NULL, NULL));
  CHECK(report.problems == 0 && report.keys == 0);
  check_clean(table);
}

static void copies(tavola_table *table) {
  tavola_table *copy = NULL;
  uint64_t keys = 0;
  CHECK_IS(TAVOLA_OK, set(table, "copied", "whole"));
  CHECK_IS(TAVOLA_OK, tavola_copy_to(table, "copy", &keys));
  CHECK(keys == 1);
  CHECK_IS(TAVOLA_ERR_TABLE_EXISTS, tavola_copy_to(table, "copy", NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_copy_to(table, NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_open_existing("copy", NULL, &copy));
  CHECK(has(copy, "copied", "whole"));
  check_clean(copy);
  tavola_close(copy);
  CHECK_IS(TAVOLA_ERR_TABLE_EXISTS, tavola_names_rename("copy", "main"));
  CHECK_IS(TAVOLA_OK, tavola_names_rename("copy", "renamed"));
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_names_remove("copy"));
  CHECK_IS(TAVOLA_OK, tavola_names_remove("renamed"));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "copied", 6));
}

static void names(tavola_table *table) {
  char path[4096];
  tavola_buffer buffer = TAVOLA_BUFFER(path, sizeof path);
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *other = NULL;
  int tables = 0;
  CHECK_IS(TAVOLA_OK, tavola_names_directory(&buffer));
  CHECK(holds(&buffer, getenv("TAVOLA_DIR")));
  CHECK_IS(TAVOLA_OK, tavola_names_path_of("main", &buffer));
  CHECK(holds(&buffer, tavola_path(table)));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_names_warning("main", &buffer));
  CHECK(!tavola_is_read_only(table));
  CHECK_IS(TAVOLA_OK, tavola_names_list(count_text, &tables));
  CHECK(tables == 1);
  CHECK_IS(TAVOLA_OK, set(table, "shared", "yes"));
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("main", NULL, &other));
  CHECK(tavola_is_read_only(other) && has(other, "shared", "yes"));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, set(other, "shared", "no"));
  tavola_close(other);
  CHECK_IS(TAVOLA_OK, tavola_open("main", NULL, &other));
  tavola_close(other);
  CHECK_IS(TAVOLA_OK, tavola_open_existing("main", NULL, &other));
  tavola_close(other);
  options.max_size = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_open_private(&options, &other));
  CHECK_IS(TAVOLA_OK, set(other, "mine", "alone"));
  CHECK(has(other, "mine", "alone"));
  tavola_close(other);
}

static void refreshes(void) {
  char live[4096];
  tavola_buffer buffer = TAVOLA_BUFFER(live, sizeof live);
  tavola_table *table = a_table("live");
  tavola_table *other = a_table("new");
  int moved = 7;
  CHECK_IS(TAVOLA_OK, set(table, "key", "old"));
  CHECK_IS(TAVOLA_OK, set(other, "key", "new"));
  CHECK_IS(TAVOLA_OK, tavola_refresh(&table, &moved));
  CHECK(moved == 0 && has(table, "key", "old"));
  CHECK_IS(TAVOLA_OK, tavola_names_path_of("live", &buffer));
  live[buffer.len] = 0;
  CHECK(rename(tavola_path(other), live) == 0);
  CHECK_IS(TAVOLA_OK, tavola_refresh(&table, &moved));
  CHECK(moved == 1 && has(table, "key", "new"));
  tavola_close(other);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("live"));
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_refresh(&table, NULL));
  CHECK(has(table, "key", "new"));
  tavola_close(table);
}

// A table goes with its owner; other processes find it missing then.
static void owners(void) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL, *other = NULL;
  options.max_size = 1 << 20;
  options.lives_with = 3;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_create("owned", &options, &table));
  options.lives_with = TAVOLA_LIVES_WITH_LAST_USER;
  options.owner_pid = 1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_create("owned", &options, &table));
  options.owner_pid = 0;
  CHECK_IS(TAVOLA_OK, tavola_create("owned", &options, &table));
  CHECK_IS(TAVOLA_OK, tavola_open_existing("owned", NULL, &other));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_set(other, "key", 3, "value", 5));
  tavola_close(other);
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_open_existing("owned", NULL, &table));
  options.lives_with = TAVOLA_LIVES_WITH_PROCESS;
  CHECK_IS(TAVOLA_OK, tavola_create("owned", &options, &table));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_open_existing("owned", NULL, &table));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("owned"));
  options.owner_pid = INT32_MAX;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_create("owned", &options, &table));
}

int main(void) {
  tavola_table *table = a_table("main");
  reads_and_writes(table);
  results(table);
  a_part_of_a_buffer(table);
  over_the_key(table);
  compare(table);
  tokens(table);
  counters(table);
  updates(table);
  walks(table);
  states(table);
  copies(table);
  names(table);
  refreshes();
  a_walk_keeps_its_table();
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("main"));
  owners();
  return 0;
}

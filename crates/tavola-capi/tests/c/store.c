// Storing as options say, parts of values, signed numbers, prefixes.

#include "check.h"

static uint64_t store(tavola_table *table, const tavola_store_options *how, const char *value,
                      tavola_status expected) {
  tavola_stored stored = TAVOLA_INIT(tavola_stored);
  CHECK_IS(expected, tavola_store(table, TAVOLA_STR("key"), value, strlen(value), how, &stored));
  return stored.token;
}

static void conditions(tavola_table *table, bool has_versions) {
  tavola_store_options how = TAVOLA_INIT(tavola_store_options);
  uint64_t token = 0, first = 0;
  how.condition = TAVOLA_CONDITION_PRESENT;
  CHECK(store(table, &how, "x", TAVOLA_NOT_FOUND) == 0);
  how.condition = TAVOLA_CONDITION_ABSENT;
  first = store(table, &how, "one", TAVOLA_OK);
  CHECK(first != 0 && store(table, &how, "two", TAVOLA_EXISTS) == 0);
  how.condition = TAVOLA_CONDITION_TOKEN;
  how.token = first;
  token = store(table, &how, "two", TAVOLA_OK);
  CHECK(token != first && store(table, &how, "three", TAVOLA_CHANGED) == 0);
  how.token = token;
  CHECK(has_versions == (store(table, &how, "two", TAVOLA_OK) != token));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, TAVOLA_STR("key")));
  CHECK(store(table, &how, "three", TAVOLA_NOT_FOUND) == 0);
  CHECK_IS(TAVOLA_OK, tavola_store(table, TAVOLA_STR("key"), NULL, 0, NULL, NULL));
  how.condition = TAVOLA_CONDITION_ALWAYS;
  CHECK(store(table, &how, "x", TAVOLA_ERR_ARGUMENT) == 0);
  how.token = 0;
  how.condition = 4;
  CHECK(store(table, &how, "x", TAVOLA_ERR_ARGUMENT) == 0);
  how.condition = TAVOLA_CONDITION_ALWAYS;
  how.version = 77;
  token = store(table, &how, "x", has_versions ? TAVOLA_OK : TAVOLA_ERR_BAD_OPTION);
  CHECK(token == (has_versions ? 77 : 0));
}

static void kept(tavola_table *table) {
  const tavola_bytes names[] = {{"tag", 3}};
  tavola_store_options how = TAVOLA_INIT(tavola_store_options);
  tavola_attributes given = TAVOLA_INIT(tavola_attributes), has = TAVOLA_INIT(tavola_attributes);
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  given.flags = 9;
  how.attributes = &given;
  how.tags = &tags;
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, names, 1, &tags));
  CHECK(store(table, &how, "tagged", TAVOLA_OK) != 0);
  how.keep = 1;
  CHECK(store(table, &how, "x", TAVOLA_ERR_ARGUMENT) == 0);
  how.attributes = NULL;
  how.tags = NULL;
  CHECK(store(table, &how, "kept", TAVOLA_OK) != 0);
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, TAVOLA_STR("key"), NULL, &has, NULL));
  CHECK(has.flags == 9);
  CHECK_IS(TAVOLA_EXISTS, tavola_add_tagged(table, TAVOLA_STR("key"), NULL, 0, NULL, &tags));
  CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(table, TAVOLA_STR("tag")));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, TAVOLA_STR("key")));
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, names, 1, &tags));
  CHECK_IS(TAVOLA_OK, tavola_add_tagged(table, TAVOLA_STR("key"), NULL, 0, NULL, &tags));
  CHECK_IS(TAVOLA_OK, tavola_invalidate_tag(table, TAVOLA_STR("tag")));
}

static void tokens(tavola_table *table) {
  char bytes[8];
  tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
  uint64_t token = 0;
  CHECK_IS(TAVOLA_OK, tavola_set(table, TAVOLA_STR("key"), TAVOLA_STR("one")));
  CHECK_IS(TAVOLA_OK, tavola_get_with_token(table, TAVOLA_STR("key"), &value, &token));
  CHECK_IS(TAVOLA_CHANGED, tavola_compare_and_remove(table, TAVOLA_STR("key"), token + 1));
  CHECK_IS(TAVOLA_OK, tavola_compare_and_remove(table, TAVOLA_STR("key"), token));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_compare_and_remove(table, TAVOLA_STR("key"), token));
}

static void ranges(tavola_table *table) {
  char bytes[4] = "";
  tavola_buffer part = TAVOLA_BUFFER(bytes, sizeof bytes);
  size_t len = 0;
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_value_len(table, TAVOLA_STR("song"), &len));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_range(table, TAVOLA_STR("song"), 0, 1, &part));
  CHECK_IS(TAVOLA_OK,
           tavola_append_with(table, TAVOLA_STR("song"), TAVOLA_STR("do re"), NULL, &len));
  CHECK(len == 5);
  CHECK_IS(TAVOLA_OK,
           tavola_append_with(table, TAVOLA_STR("song"), TAVOLA_STR(" mi"), NULL, NULL));
  CHECK_IS(TAVOLA_OK, tavola_value_len(table, TAVOLA_STR("song"), &len));
  CHECK(len == 8);
  CHECK_IS(TAVOLA_OK,
           tavola_prepend_with(table, TAVOLA_STR("coda"), TAVOLA_STR("fa"), NULL, NULL));
  CHECK_IS(TAVOLA_OK,
           tavola_prepend_with(table, TAVOLA_STR("coda"), TAVOLA_STR("mi "), NULL, &len));
  CHECK(len == 5 && has(table, "coda", "mi fa"));
  CHECK_IS(TAVOLA_OK, tavola_get_range(table, TAVOLA_STR("song"), 3, 2, &part));
  CHECK(part.len == 2 && memcmp(bytes, "re", 2) == 0);
  CHECK_IS(TAVOLA_OK, tavola_get_range(table, TAVOLA_STR("song"), 6, SIZE_MAX, &part));
  CHECK(part.len == 2 && memcmp(bytes, "mi", 2) == 0);
  CHECK_IS(TAVOLA_OK, tavola_get_range(table, TAVOLA_STR("song"), UINT64_MAX, 9, &part));
  CHECK(part.len == 0);
  CHECK_IS(TAVOLA_ERR_TOO_SMALL, tavola_get_range(table, TAVOLA_STR("song"), 0, 5, &part));
  CHECK(part.len == 5);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_value_len(table, TAVOLA_STR("song"), NULL));
}

static void numbers(tavola_table *table) {
  int64_t now = 0;
  tavola_number_options options = TAVOLA_INIT(tavola_number_options);
  CHECK_IS(TAVOLA_OK, tavola_add_number(table, TAVOLA_STR("n"), -3, &now));
  CHECK(now == -3);
  options.remove_zero = 1;
  CHECK_IS(TAVOLA_OK, tavola_add_number_with(table, TAVOLA_STR("n"), 3, &options, &now));
  CHECK(now == 0);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, TAVOLA_STR("n")));
  CHECK_IS(TAVOLA_OK, tavola_add_number_with(table, TAVOLA_STR("n"), INT64_MAX, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_add_number(table, TAVOLA_STR("n"), 1, &now));
  CHECK_IS(TAVOLA_OK, tavola_set(table, TAVOLA_STR("n"), TAVOLA_STR("x")));
  CHECK_IS(TAVOLA_ERR_NOT_A_COUNTER, tavola_add_number(table, TAVOLA_STR("n"), 1, &now));
  options.remove_zero = 2;
  CHECK_IS(TAVOLA_ERR_ARGUMENT,
           tavola_add_number_with(table, TAVOLA_STR("n"), 1, &options, &now));
}

static void prefixes(tavola_table *table) {
  tavola_iter *iter = NULL;
  tavola_bytes key;
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  uint64_t removed = 0;
  int met = 0;
  for (char i = '0'; i < '8'; i++) {
    const char keys[2][2] = {{'a', i}, {'b', i}};
    CHECK_IS(TAVOLA_OK, tavola_set(table, keys[0], 2, NULL, 0));
    CHECK_IS(TAVOLA_OK, tavola_set(table, keys[1], 2, NULL, 0));
  }
  CHECK_IS(TAVOLA_OK, tavola_iter_open_prefix(table, TAVOLA_STR("a"), &iter));
  while (tavola_iter_next_with_attributes(iter, &key, NULL, &has) == TAVOLA_OK) {
    met += *(const char *)key.data == 'a' && has.flags == 0 ? 1 : 100;
  }
  CHECK_IS(TAVOLA_END, tavola_iter_next(iter, &key, NULL));
  tavola_iter_close(iter);
  CHECK(met == 8);
  CHECK_IS(TAVOLA_OK, tavola_remove_prefix(table, TAVOLA_STR("a"), &removed));
  CHECK(removed == 8);
  CHECK_IS(TAVOLA_OK, tavola_remove_prefix(table, NULL, 0, NULL));
  CHECK_IS(TAVOLA_OK, tavola_len(table, &removed));
  CHECK(removed == 0);
}

int main(void) {
  for (uint32_t versions = 0; versions < 2; versions++) {
    tavola_table *table = NULL;
    tavola_options options = TAVOLA_INIT(tavola_options);
    options.max_size = 4 << 20;
    options.versions = versions;
    CHECK_IS(TAVOLA_OK, tavola_open_private(&options, &table));
    conditions(table, versions != 0);
    kept(table);
    tokens(table);
    ranges(table);
    numbers(table);
    prefixes(table);
    tavola_close(table);
  }
  return 0;
}

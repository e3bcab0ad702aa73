// Tags: keys that have one are gone together, in one table and in all processes.

#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static tavola_tags tags_of(tavola_table *table, const char *one, const char *two) {
  const tavola_bytes names[] = {{one, strlen(one)}, {two, two ? strlen(two) : 0}};
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, names, two ? 2 : 1, &tags));
  CHECK(tags.count == (two ? 2 : 1));
  return tags;
}

static void set_tagged(tavola_table *table, const char *key, const tavola_tags *tags) {
  CHECK_IS(TAVOLA_OK, tavola_set_tagged(table, key, strlen(key), "1", 1, NULL, tags));
  CHECK(has(table, key, "1"));
}

static tavola_status invalidate(tavola_table *table, const char *name) {
  return tavola_invalidate_tag(table, name, strlen(name));
}

static void keep_name(void *user, const void *name, size_t name_len) {
  char *kept = user;
  const size_t at = strlen(kept);
  memcpy(kept + at, name, name_len);
  strcpy(kept + at + name_len, ",");
}

static void told(tavola_table *table) {
  const tavola_tags both = tags_of(table, "x", "y");
  set_tagged(table, "t", &both);
  set_tagged(table, "u", NULL);
  char kept[16] = "";
  CHECK_IS(TAVOLA_OK, tavola_tags_of(table, "t", 1, keep_name, kept));
  CHECK(strcmp(kept, "x,y,") == 0);
  CHECK_IS(TAVOLA_OK, tavola_tags_of(table, "u", 1, keep_name, kept));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_tags_of(table, "none", 4, keep_name, kept));
  CHECK(strcmp(kept, "x,y,") == 0);
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "t", 1));
}

static void together(tavola_table *table) {
  const tavola_tags x = tags_of(table, "x", NULL), both = tags_of(table, "x", "y");
  const tavola_tags y = tags_of(table, "y", NULL);
  set_tagged(table, "a", &x);
  set_tagged(table, "b", &both);
  set_tagged(table, "c", &y);
  set_tagged(table, "d", NULL);
  CHECK_IS(TAVOLA_OK, invalidate(table, "x"));
  CHECK(has(table, "a", NULL) && has(table, "b", NULL) && has(table, "c", "1"));
  CHECK_IS(TAVOLA_NOT_FOUND, invalidate(table, "x"));
  // Of before: missing from the beginning.
  CHECK_IS(TAVOLA_OK, tavola_set_tagged(table, "a", 1, "2", 1, NULL, &x));
  CHECK(has(table, "a", NULL));
  tavola_attributes with = TAVOLA_INIT(tavola_attributes), found = with;
  with.flags = 7;
  CHECK_IS(TAVOLA_OK, tavola_set_tagged(table, "c", 1, "2", 1, &with, &y));
  CHECK_IS(TAVOLA_OK, tavola_append(table, "c", 1, "3", 1));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, "c", 1, NULL, &found, NULL));
  CHECK(has(table, "c", "23") && found.flags == 7);
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  CHECK_IS(TAVOLA_OK, tavola_get_stats(table, &stats));
  CHECK(stats.tags == 1);
  CHECK_IS(TAVOLA_OK, invalidate(table, "y"));
  CHECK(has(table, "c", NULL) && has(table, "d", "1"));
}

// Many keys get the same tags in one call.
static void of_many(tavola_table *table) {
  enum { MANY = 70 };
  char texts[MANY];
  tavola_entry entries[MANY];
  tavola_attributes with = TAVOLA_INIT(tavola_attributes), found = with;
  const tavola_tags tags = tags_of(table, "many", NULL);
  with.flags = 7;
  for (int i = 0; i < MANY; i++) {
    texts[i] = (char)i;
    entries[i] = (tavola_entry){{&texts[i], 1}, {"1", 1}, i % 2 ? &with : NULL};
  }
  CHECK_IS(TAVOLA_OK, tavola_set_many_tagged(table, entries, MANY, &tags));
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, &texts[69], 1, NULL, &found, NULL));
  CHECK(found.flags == 7);
  CHECK_IS(TAVOLA_OK, tavola_get_entry(table, &texts[68], 1, NULL, &found, NULL));
  CHECK(found.flags == 0);
  CHECK_IS(TAVOLA_OK, tavola_set_many_tagged(table, entries, 1, NULL));
  CHECK_IS(TAVOLA_OK, invalidate(table, "many"));
  CHECK_IS(TAVOLA_OK, tavola_contains(table, &texts[0], 1));
  for (int i = 1; i < MANY; i++) {
    CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, &texts[i], 1));
  }
  CHECK_IS(TAVOLA_OK, tavola_set_many_tagged(table, NULL, 0, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_many_tagged(table, NULL, 1, &tags));
  entries[40].value.data = NULL;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_set_many_tagged(table, entries, MANY, NULL));
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_contains(table, &texts[1], 1));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, &texts[0], 1));
}

// What a child invalidates is missing in the parent when the child has ended.
static void in_all_processes(tavola_table *table) {
  const tavola_tags tags = tags_of(table, "shared", NULL);
  set_tagged(table, "of all", &tags);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_IS(TAVOLA_OK, invalidate(table, "shared"));
    tavola_close(table);
    exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(has(table, "of all", NULL));
}

static void refuses(tavola_table *table) {
  tavola_bytes names[TAVOLA_MOST_TAGS + 1];
  char texts[TAVOLA_MOST_TAGS + 1];
  for (int i = 0; i <= TAVOLA_MOST_TAGS; i++) {
    texts[i] = (char)('a' + i);
    names[i] = (tavola_bytes){&texts[i], 1};
  }
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, names, TAVOLA_MOST_TAGS, &tags));
  CHECK(tags.count == TAVOLA_MOST_TAGS);
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_fetch_tags(table, names, TAVOLA_MOST_TAGS + 1, &tags));
  CHECK(tags.count == TAVOLA_MOST_TAGS);
  names[1].data = NULL;
  CHECK_IS(TAVOLA_ERR_NULL, tavola_fetch_tags(table, names, 2, &tags));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_fetch_tags(table, NULL, 1, &tags));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_fetch_tags(table, names, 1, NULL));
  tags.count = TAVOLA_MOST_TAGS + 1;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set_tagged(table, "k", 1, "1", 1, NULL, &tags));
  tavola_tags unsized;
  memset(&unsized, 0, sizeof unsized);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_set_tagged(table, "k", 1, "1", 1, NULL, &unsized));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_invalidate_tag(table, NULL, 1));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_tags_of(table, "k", 1, NULL, NULL));
  CHECK(has(table, "k", NULL));
  tavola_table *reader = NULL;
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("tags", NULL, &reader));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_invalidate_tag(reader, "a", 1));
  tavola_close(reader);
}

int main(void) {
  tavola_table *table = a_table("tags");
  told(table);
  together(table);
  of_many(table);
  in_all_processes(table);
  refuses(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("tags"));
  return 0;
}

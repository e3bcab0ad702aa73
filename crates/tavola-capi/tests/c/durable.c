// Durable tables: they are there again after their memory is gone.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static tavola_table *open_as(const char *home, int32_t durable) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  options.max_size = 16 << 20;
  options.durable = durable;
  options.sync_ms = 5;
  CHECK_IS(TAVOLA_OK, tavola_open(home, &options, &table));
  CHECK(tavola_is_durable(table) && strcmp(tavola_path(table), home) == 0);
  uint32_t sync_ms = 7;
  CHECK(tavola_durability(table, &sync_ms) == durable);
  CHECK(sync_ms == (durable == TAVOLA_DURABLE_WITHIN ? 5 : 0));
  return table;
}

// Calls a function with the path of the memory of each durable table.
static void each_memory(void (*work)(const char *path)) {
  char directory[2048], path[4096];
  tavola_buffer buffer = TAVOLA_BUFFER(directory, sizeof directory);
  CHECK_IS(TAVOLA_OK, tavola_names_directory(&buffer));
  directory[buffer.len] = 0;
  DIR *opened = opendir(directory);
  CHECK(opened != NULL);
  for (struct dirent *entry; (entry = readdir(opened)) != NULL;) {
    if (strncmp(entry->d_name, "durable-", 8) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    work(path);
  }
  closedir(opened);
}

static void unlink_path(const char *path) { CHECK(unlink(path) == 0); }

// Removes the memory of the table, as a restart of the machine does.
static void lose_memory(void) { each_memory(unlink_path); }

static void refuse_removal(const char *path) {
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_names_remove(path));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_names_rename(path, "other"));
}

static void find_home(void *user, const char *path, size_t len) {
  (void)len;
  CHECK(strstr(path, "/durable-") == NULL);
  int *found = ((void **)user)[0];
  *found += strcmp(path, ((char **)user)[1]) == 0;
}

// The table is listed by its own directory, and its memory is none of the tables.
static void is_listed(const char *home) {
  int found = 0;
  const void *user[] = {&found, home};
  tavola_table *table = open_as(home, TAVOLA_DURABLE_OS);
  CHECK_IS(TAVOLA_OK, tavola_names_list(find_home, user));
  CHECK(found == 1);
  each_memory(refuse_removal);
  CHECK_IS(TAVOLA_OK, set(table, "alice", "1"));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
}

static void comes_back(const char *home, int32_t durable) {
  uint32_t made = 7;
  tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
  tavola_table *table = open_as(home, durable);
  CHECK_IS(TAVOLA_OK, tavola_get_durable_stats(table, &stats));
  CHECK(stats.durable == durable && stats.snapshot_unix_ms == 0 && stats.failed_errno == 0);
  CHECK_IS(TAVOLA_OK, set(table, "alice", "1"));
  CHECK_IS(TAVOLA_OK, tavola_sync(table));
  CHECK_IS(TAVOLA_OK, tavola_snapshot(table, &made));
  CHECK(made == 1);
  CHECK_IS(TAVOLA_OK, tavola_get_durable_stats(table, &stats));
  CHECK(stats.syncs > 0 && stats.sync_ns > 0 && stats.unsynced_bytes == 0);
  CHECK(stats.snapshot_unix_ms > 1000000000000 && stats.snapshot_bytes > 0);
  CHECK_IS(TAVOLA_OK, tavola_snapshot(table, NULL));
  CHECK_IS(TAVOLA_OK, set(table, "bob", "2"));
  CHECK_IS(TAVOLA_OK, tavola_sync(table));
  tavola_close(table);
  lose_memory();
  CHECK_IS(TAVOLA_OK, tavola_open_existing(home, NULL, &table));
  CHECK(has(table, "alice", "1") && has(table, "bob", "2"));
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
  CHECK_IS(TAVOLA_ERR_NO_TABLE, tavola_open_existing(home, NULL, &table));
}

// Returns how often the journal of a table was synced.
static uint64_t syncs(const tavola_table *table) {
  tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
  CHECK_IS(TAVOLA_OK, tavola_get_durable_stats(table, &stats));
  return stats.syncs;
}

#define KEYS 200

// A call for many keys waits for the disk once.
static void waits_once(const char *home) {
  static char text[KEYS][8];
  tavola_pair pairs[KEYS];
  tavola_entry entries[KEYS];
  tavola_bytes keys[KEYS], names[] = {{"tag", 3}};
  tavola_tags tags = TAVOLA_INIT(tavola_tags);
  tavola_batch *batch = NULL;
  uint64_t removed = 0;
  tavola_table *table = open_as(home, TAVOLA_DURABLE_COMMIT);
  CHECK_IS(TAVOLA_OK, tavola_batch_open(&batch));
  for (int i = 0; i < KEYS; i++) {
    keys[i] = (tavola_bytes){text[i], (size_t)snprintf(text[i], sizeof text[i], "%d", i)};
    pairs[i] = (tavola_pair){keys[i], keys[i]};
    entries[i] = (tavola_entry){keys[i], keys[i], NULL};
    CHECK_IS(TAVOLA_OK, tavola_batch_set(batch, keys[i].data, keys[i].len, "v", 1, NULL));
    CHECK_IS(TAVOLA_OK, tavola_batch_remove(batch, keys[i].data, keys[i].len, NULL));
  }
  CHECK_IS(TAVOLA_OK, tavola_fetch_tags(table, names, 1, &tags));
  uint64_t before = syncs(table);
  CHECK_IS(TAVOLA_OK, set(table, "alice", "1"));
  CHECK(syncs(table) == before + 1);
  CHECK_IS(TAVOLA_OK, tavola_set_many(table, pairs, KEYS));
  CHECK(syncs(table) == before + 2);
  CHECK_IS(TAVOLA_OK, tavola_set_many_entries(table, entries, KEYS));
  CHECK(syncs(table) == before + 3);
  CHECK_IS(TAVOLA_OK, tavola_set_many_tagged(table, entries, KEYS, &tags));
  CHECK(syncs(table) == before + 4);
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, keys, KEYS, &removed));
  CHECK(syncs(table) == before + 5 && removed == KEYS);
  CHECK_IS(TAVOLA_OK, tavola_remove_many(table, keys, KEYS, NULL));
  CHECK_IS(TAVOLA_OK, tavola_batch_execute(batch, table));
  CHECK(syncs(table) == before + 6);
  tavola_batch_close(batch);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
}

// A handle may be stricter than its table.
static void policies(const char *home) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = open_as(home, TAVOLA_DURABLE_OS), *strict = NULL, *reader = NULL;
  options.durable = TAVOLA_DURABLE_COMMIT;
  CHECK_IS(TAVOLA_OK, tavola_open_existing(home, &options, &strict));
  CHECK_IS(TAVOLA_OK, tavola_open_read_only(home, NULL, &reader));
  CHECK(tavola_durability(table, NULL) == TAVOLA_DURABLE_OS);
  CHECK(tavola_durability(strict, NULL) == TAVOLA_DURABLE_COMMIT);
  CHECK(tavola_durability(reader, NULL) == TAVOLA_DURABLE_NONE && tavola_is_durable(reader));
  tavola_close(reader);
  tavola_close(strict);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
}

static void limits(const char *home) {
  static char key[8193];
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = open_as(home, TAVOLA_DURABLE_OS), *other = NULL;
  CHECK_IS(TAVOLA_ERR_KEY_TOO_LONG, tavola_set(table, key, sizeof key, "v", 1));
  CHECK_IS(TAVOLA_OK, tavola_set(table, key, sizeof key - 1, "v", 1));
  tavola_close(table);
  options.durable = 4;
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_open(home, &options, &other));
  options.durable = TAVOLA_DURABLE_COMMIT;
  CHECK_IS(TAVOLA_ERR_TABLE_EXISTS, tavola_create(home, &options, &other));
  options.capacity = 1 << 20;
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_create(home, &options, &other));
  rmdir(home);
}

static void damage(const char *home) {
  char file[4200], byte = 7;
  tavola_table *table = open_as(home, TAVOLA_DURABLE_COMMIT);
  for (int i = 0; i < 3; i++) CHECK_IS(TAVOLA_OK, set(table, "alice", "1"));
  tavola_close(table);
  lose_memory();
  snprintf(file, sizeof file, "%s/journal-0000000000000002", home);
  FILE *journal = fopen(file, "r+");
  CHECK(journal != NULL && fseek(journal, 4096 + 40, SEEK_SET) == 0);
  CHECK(fwrite(&byte, 1, 1, journal) == 1 && fclose(journal) == 0);
  CHECK_IS(TAVOLA_ERR_DAMAGED_JOURNAL, tavola_open_existing(home, NULL, &table));
  CHECK_IS(TAVOLA_OK, tavola_names_remove(home));
}

int main(void) {
  char parent[] = "/tmp/tavola-c-XXXXXX", home[64];
  tavola_table *volatile_table = NULL;
  CHECK(mkdtemp(parent) != NULL);
  snprintf(home, sizeof home, "%s/users", parent);
  comes_back(home, TAVOLA_DURABLE_COMMIT);
  comes_back(home, TAVOLA_DURABLE_WITHIN);
  comes_back(home, TAVOLA_DURABLE_OS);
  waits_once(home);
  policies(home);
  is_listed(home);
  limits(home);
  damage(home);
  CHECK_IS(TAVOLA_OK, tavola_open("volatile", NULL, &volatile_table));
  CHECK(!tavola_is_durable(volatile_table) && !tavola_is_durable(NULL));
  CHECK(tavola_durability(volatile_table, NULL) == TAVOLA_DURABLE_NONE);
  CHECK(tavola_durability(NULL, NULL) == TAVOLA_DURABLE_NONE);
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_sync(volatile_table));
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_snapshot(volatile_table, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_sync(NULL));
  tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_durable_stats(volatile_table, &stats));
  CHECK(stats.syncs == 0);
  tavola_close(volatile_table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("volatile"));
  CHECK(rmdir(parent) == 0);
  return 0;
}

// Saved files: a cache that starts warm.

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static char file[64];

static tavola_table *a_cache(const char *name) {
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *table = NULL;
  options.max_size = 32 << 20;
  options.capacity = 8 << 20;
  CHECK_IS(TAVOLA_OK, tavola_create(name, &options, &table));
  return table;
}

static void comes_back(void) {
  tavola_saved saved = TAVOLA_INIT(tavola_saved);
  tavola_restored restored = TAVOLA_INIT(tavola_restored);
  tavola_table *pages = a_cache("pages"), *other = a_cache("other");
  CHECK_IS(TAVOLA_OK, set(pages, "a", "1"));
  CHECK_IS(TAVOLA_OK, set(pages, "b", "2"));
  CHECK_IS(TAVOLA_OK, tavola_save(pages, file, &saved));
  CHECK(saved.keys == 2 && saved.bytes > 100 && access(file, F_OK) == 0);
  CHECK_IS(TAVOLA_OK, tavola_save(pages, file, NULL));
  CHECK_IS(TAVOLA_OK, set(other, "b", "newer"));
  CHECK_IS(TAVOLA_OK, tavola_restore(other, file, &restored));
  CHECK(restored.keys == 1 && restored.present == 1 && restored.left_out == 0);
  CHECK(has(other, "a", "1") && has(other, "b", "newer"));
  CHECK_IS(TAVOLA_OK, tavola_restore(other, file, NULL));
  tavola_close(pages);
  tavola_close(other);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("pages"));
  CHECK_IS(TAVOLA_OK, tavola_names_remove("other"));
}

static void errors(void) {
  tavola_restored restored = TAVOLA_INIT(tavola_restored);
  tavola_table *table = a_table("table"), *reader = NULL;
  CHECK_IS(TAVOLA_OK, set(table, "a", "1"));
  CHECK_IS(TAVOLA_OK, tavola_save(table, file, NULL));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "a", 1));
  FILE *saved = fopen(file, "r+");
  CHECK(saved != NULL && fseek(saved, 100, SEEK_SET) == 0);
  CHECK(fputc('x', saved) == 'x' && fclose(saved) == 0);
  CHECK_IS(TAVOLA_ERR_NOT_RESTORABLE, tavola_restore(table, file, &restored));
  CHECK(restored.keys == 0 && has(table, "a", NULL));
  CHECK_IS(TAVOLA_ERR_IO, tavola_restore(table, "/no/such/file", &restored));
  CHECK_IS(TAVOLA_ERR_IO, tavola_save(table, "/no/such/file", NULL));
  CHECK(tavola_last_os_error() == 2);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_save(table, NULL, NULL));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_restore(NULL, file, NULL));
  CHECK_IS(TAVOLA_OK, tavola_open_read_only("table", NULL, &reader));
  CHECK_IS(TAVOLA_OK, tavola_save(reader, file, NULL));
  CHECK_IS(TAVOLA_ERR_READ_ONLY, tavola_restore(reader, file, NULL));
  tavola_close(reader);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("table"));
}

int main(void) {
  char parent[] = "/tmp/tavola-c-XXXXXX";
  CHECK(mkdtemp(parent) != NULL);
  snprintf(file, sizeof file, "%s/pages.saved", parent);
  comes_back();
  errors();
  CHECK(unlink(file) == 0 && rmdir(parent) == 0);
  return 0;
}

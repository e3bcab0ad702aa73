// The tour's table from C: see `scripts/tour`.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tavola.h>

static void check(tavola_status status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", tavola_last_error());
    exit(1);
  }
}

int main(int argc, char **argv) {
  tavola_table *table = NULL;
  char record[256], before[64];
  tavola_buffer value = TAVOLA_BUFFER(record, sizeof record - 1);
  tavola_buffer old = TAVOLA_BUFFER(before, sizeof before);
  int64_t visits = 0;
  check(argc == 2 ? tavola_open(argv[1], NULL, &table) : TAVOLA_ERR_NULL);
  check(tavola_get(table, TAVOLA_STR("U+1F30A"), &value));
  record[value.len] = '\0';
  const char *name = strtok(record, ";");
  check(tavola_swap(table, TAVOLA_STR("tour/last"), TAVOLA_STR("C"), &old));
  check(tavola_add_number(table, TAVOLA_STR("tour/languages"), 1, &visits));
  printf("  %-14s U+1F30A is %s; before it came %.*s; tour/languages is %" PRId64 "\n", "C",
         name != NULL ? name : "?", (int)old.len, before, visits);
  tavola_close(table);
  return 0;
}

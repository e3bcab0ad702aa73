// A worker in C: see `test`. It leaves the queue to the bindings, whose jobs have a form of their
// own.

#include <fcntl.h>
#include <stdio.h>
#include <tavola.h>
#include <unistd.h>

int main(int argc, char **argv) {
  tavola_table *table = NULL;
  int journal = argc == 5 ? open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (journal < 0 || tavola_open(argv[1], NULL, &table) < 0) {
    return fprintf(stderr, "%s\n", tavola_last_error()), 1;
  }
  while (access(argv[4], F_OK) != 0) {
    if (tavola_add_number(table, TAVOLA_STR("count"), 1, NULL) < 0 || write(journal, "1\n", 2) < 0) {
      return fprintf(stderr, "%s\n", tavola_last_error()), 1;
    }
    usleep(100);
  }
  tavola_close(table);
  return 0;
}

// Values lent where they stand.

#include "check.h"

#include <stdlib.h>

#define LEN ((size_t)1 << 20)

static void set_large(tavola_table *table, char *bytes, char with) {
  memset(bytes, with, LEN);
  CHECK_IS(TAVOLA_OK, tavola_set(table, "large", 5, bytes, LEN));
}

// Whether the pieces are as long as the value, and have only this byte.
static bool shows(const tavola_view *view, size_t len, char byte) {
  tavola_bytes piece = {NULL, 0};
  size_t sum = 0;
  size_t number = 0;
  while (tavola_view_piece(view, number, &piece) == TAVOLA_OK) {
    const char *bytes = piece.data;
    for (size_t i = 0; i < piece.len; i++) {
      if (bytes[i] != byte) return false;
    }
    sum += piece.len;
    number++;
  }
  return sum == len && tavola_view_len(view) == len &&
         tavola_view_piece(view, number, &piece) == TAVOLA_END;
}

int main(void) {
  tavola_table *table = a_table("views");
  tavola_view *view = NULL;
  tavola_view *other = NULL;
  char *bytes = malloc(LEN);
  CHECK(bytes != NULL);
  CHECK_IS(TAVOLA_NOT_FOUND, tavola_get_view(table, "large", 5, &view));
  CHECK(view == NULL);
  set_large(table, bytes, 'a');
  CHECK_IS(TAVOLA_OK, tavola_get_view(table, "large", 5, &view));
  set_large(table, bytes, 'b');
  CHECK_IS(TAVOLA_OK, tavola_get_view(table, "large", 5, &other));
  CHECK_IS(TAVOLA_OK, tavola_remove(table, "large", 5));
  set_large(table, bytes, 'c');
  CHECK(shows(view, LEN, 'a'));
  CHECK(shows(other, LEN, 'b'));
  tavola_view_close(other);
  CHECK_IS(TAVOLA_OK, set(table, "short", "sss"));
  CHECK_IS(TAVOLA_OK, tavola_get_view(table, "short", 5, &other));
  CHECK(shows(other, 3, 's'));
  tavola_view_close(other);
  CHECK_IS(TAVOLA_OK, set(table, "empty", ""));
  CHECK_IS(TAVOLA_OK, tavola_get_view(table, "empty", 5, &other));
  CHECK(shows(other, 0, 's'));
  tavola_view_close(other);
  tavola_view_close(NULL);
  CHECK_IS(TAVOLA_ERR_NULL, tavola_get_view(table, "large", 5, NULL));
  CHECK(tavola_view_len(NULL) == 0);
  check_clean(table);
  // The view keeps it open.
  tavola_close(table);
  CHECK(shows(view, LEN, 'a'));
  tavola_view_close(view);
  free(bytes);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("views"));
  return 0;
}

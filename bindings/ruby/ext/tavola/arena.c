// Memory for bytes that callbacks of the library copy. It does not use Ruby, so it works without
// the GVL, and a lack of memory is noted and not raised.

#include "tavola_ruby.h"

// Adds bytes at the end, or only room for them when `data` is NULL. Returns NULL without memory.
char *tvl_arena_add(tvl_arena *arena, const void *data, size_t len) {
  if (arena->has_failed) return NULL;
  if (len > arena->capacity - arena->len) {
    size_t capacity = arena->capacity ? arena->capacity : 1024;
    while (capacity - arena->len < len && capacity <= SIZE_MAX / 2) capacity *= 2;
    char *bytes = capacity - arena->len < len ? NULL : realloc(arena->bytes, capacity);
    if (bytes == NULL) {
      arena->has_failed = true;
      return NULL;
    }
    arena->bytes = bytes;
    arena->capacity = capacity;
  }
  char *at = arena->bytes + arena->len;
  if (data != NULL && len != 0) memcpy(at, data, len);
  arena->len += len;
  return at;
}

void tvl_arena_free(tvl_arena *arena) {
  free(arena->bytes);
  *arena = (tvl_arena){0};
}

// Plain files: one a key in 256 folders. A file is written beside its place and renamed, so that
// nobody reads half of it; nothing is synced.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

struct files {
  const struct job *job;
  int folders[256];
  char fresh[64];
};

static struct room room;

static const char *version(void) { return ""; }

static void *open_store(const struct job *job, enum mode mode) {
  static struct files own;
  own.job = job;
  snprintf(own.fresh, sizeof own.fresh, "new-%u", job->proc);
  // Folders are opened as they are needed.
  for (int at = 0; at < 256; at++) own.folders[at] = -1;
  if (mode == MAKE)
    for (int at = 0; at < 256; at++) {
      char name[8];
      snprintf(name, sizeof name, "%02x", at);
      if (mkdir(path_in(job, name), 0700)) fail("files: %s", strerror(errno));
    }
  return &own;
}

static void close_store(void *store) {
  struct files *own = store;
  for (int at = 0; at < 256; at++)
    if (own->folders[at] >= 0) close(own->folders[at]);
}

// The name is the key in hexadecimal digits, the folder a hash of it.
static int place(struct files *own, struct span key, char name[256]) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *bytes = key.data;
  if (key.len > 120) fail("files: the key is too long");
  unsigned hash = 0;
  for (size_t at = 0; at < key.len; at++) {
    name[2 * at] = digits[bytes[at] >> 4];
    name[2 * at + 1] = digits[bytes[at] & 15];
    hash = hash * 31 + bytes[at];
  }
  name[2 * key.len] = 0;
  unsigned folder = (hash ^ hash >> 8) & 255;
  if (own->folders[folder] < 0) {
    char text[8];
    snprintf(text, sizeof text, "%02x", folder);
    own->folders[folder] = open(path_in(own->job, text), O_PATH | O_DIRECTORY);
    if (own->folders[folder] < 0) fail("files: %s", strerror(errno));
  }
  return own->folders[folder];
}

static void put(void *store, struct span key, struct span value) {
  struct files *own = store;
  char name[256];
  int folder = place(own, key, name);
  int file = openat(folder, own->fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, value.data, value.len) != (ssize_t)value.len || close(file) ||
      renameat(folder, own->fresh, folder, name))
    fail("files: %s", strerror(errno));
}

static bool get(void *store, struct span key, struct span *value) {
  struct files *own = store;
  char name[256];
  int folder = place(own, key, name);
  int file = openat(folder, name, O_RDONLY);
  if (file < 0 && errno == ENOENT) return false;
  make_room(&room, own->job->value_bytes > 4096 ? own->job->value_bytes + 1 : 4096);
  ssize_t len = file < 0 ? -1 : read(file, room.data, room.size);
  if (len < 0 || close(file)) fail("files: %s", strerror(errno));
  *value = (struct span){room.data, len};
  return true;
}

static bool remove_key(void *store, struct span key) {
  char name[256];
  int folder = place(store, key, name);
  if (unlinkat(folder, name, 0) == 0) return true;
  if (errno != ENOENT) fail("files: %s", strerror(errno));
  return false;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};

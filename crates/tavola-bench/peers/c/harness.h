// What the programs in C share: an adapter says how a store is used, the harness does the rest.
//
// A program takes one job, a JSON object, as its argument and prints a JSON line a phase. The loops,
// the clock, keys, values and the comparison of every answer are the harness's; an adapter has no
// loop of its own but where a store takes many keys a call.
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes that somebody else owns.
struct span {
  const void *data;
  size_t len;
};

// A key and its value.
struct pair {
  struct span key;
  struct span value;
};

struct job {
  char peer[64];
  char workload;
  // An empty folder for the store's files.
  char dir[2048];
  // Of the server: HOST:PORT, or a path.
  char address[2048];
  // The file of workload a.
  char file[2048];
  char protocol[16];
  bool noreply;
  bool timed;
  uint64_t keys;
  size_t key_bytes;
  size_t value_bytes;
  unsigned procs;
  unsigned proc;
  uint64_t loops;
  unsigned batch;
  uint64_t limit_ns;
  // How long the mix goes on; 0: once over the keys.
  uint64_t mix_ns;
  // Operations are counted by such parts of a phase.
  uint64_t slice_ns;
  uint64_t seed;
  char phases[8][24];
  int phase_count;
};

// How a store is opened.
enum mode {
  // It is not there yet.
  MAKE,
  // To read and write; it is there.
  WRITE,
  // To read only.
  READ,
};

// Is told the value of the key at this position; NULL: it is missing.
typedef void (*each_value)(void *user, size_t at, const void *value, size_t len);

// How a store is used. What fails calls fail() and does not return.
struct adapter {
  // The store's own word for its version.
  const char *(*version)(void);
  void *(*open)(const struct job *job, enum mode mode);
  void (*close)(void *store);
  void (*put)(void *store, struct span key, struct span value);
  // Whether the key is there; its value is lent until the next call.
  bool (*get)(void *store, struct span key, struct span *value);
  // Whether the key was there.
  bool (*remove)(void *store, struct span key);
  // After the last put of a pass over all keys, where a store needs to know; else NULL.
  void (*finish)(void *store);
  // Many keys a call, or NULL.
  void (*put_many)(void *store, const struct pair *pairs, size_t count);
  void (*get_many)(void *store, const struct span *keys, size_t count, each_value each, void *user);
  // A call for many may take longer than as many for one: it is made only in the case of batches.
  bool many_is_slower;
  // Why keys cannot be changed one by one, where they cannot.
  const char *built_once;
};

// Each program has one.
extern const struct adapter adapter;

// Tells the leader one sentence and ends the program.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The path of a file in the job's folder, lent until the next call.
const char *path_in(const struct job *job, const char *name);

// What a store is to be made for, at least.
uint64_t most_keys(const struct job *job);

// Room for a value, for stores that copy it out.
struct room {
  char *data;
  size_t size;
};

// Makes room for so many bytes.
void make_room(struct room *room, size_t size);

#endif

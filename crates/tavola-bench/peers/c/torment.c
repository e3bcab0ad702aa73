// A process of a trial of the torment table (src/compare/torment), on any store with an adapter.
//
// The parts, the board and the values are those of the programs in Rust, Ruby and PHP. It takes the
// place of harness.c.
#include "torment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Operations between two looks at the board and the clock.
#define STRIDE 16
#define SLOT_WORDS 8
#define SLOTS 8
// Puts after removals.
#define FEW 3

static struct job job;
static struct {
  char role[16], prefixes[16], board[2048];
  uint64_t slot, from, ops, millis, keys, key_bytes, value_bytes;
  bool alone;
} part;

// Slots of 64 bytes; the first word of all says stop.
static volatile uint64_t *board;
enum { READY, OPS, ACKED, WRONG, VANISHED };
static volatile uint64_t *notes;

static struct {
  bool opened, works;
  const char *error, *means, *seen;
  uint64_t good, lost, torn, total;
} answer;

static void *store;
static uint64_t deadline_ns;
// Where fail() goes on, if anywhere.
static jmp_buf *rescue;
static char complaint[512];

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

static void nap(unsigned microseconds) {
  struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

// ---- what adapters ask of a harness

static _Noreturn void say(void) {
  printf("{\"opened\":%s,\"works\":%s,\"done\":%lu,\"good\":%lu,\"lost\":%lu,\"torn\":%lu,"
         "\"total\":%lu,\"means\":\"%s\",\"seen\":\"%s\"",
         answer.opened ? "true" : "false", answer.works ? "true" : "false", notes[OPS],
         answer.good, answer.lost, answer.torn, answer.total, answer.means ? answer.means : "",
         answer.seen ? answer.seen : "");
  if (answer.error) printf(",\"error\":\"%s\"", answer.error);
  printf("}\n");
  fflush(stdout);
  _exit(0);
}

_Noreturn void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(complaint, sizeof complaint, format, list);
  va_end(list);
  for (char *c = complaint; *c; c++)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < 32) *c = '\'';
  if (rescue) longjmp(*rescue, 1);
  answer.error = complaint;
  say();
}

const char *path_in(const struct job *of, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", of->dir, name);
  return path;
}

uint64_t most_keys(const struct job *of) { return of->keys < 1 << 14 ? of->keys : 1 << 14; }

void make_room(struct room *room, size_t size) {
  if (room->data && room->size >= size) return;
  free(room->data);
  room->size = size + size / 2 + 64;
  room->data = malloc(room->size);
  if (!room->data) fail("no memory for a value");
}

// ---- the job

static const char *field(const char *text, const char *name) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  const char *at = strstr(text, quoted);
  if (!at) fail("the job has no %s", name);
  return at + strlen(quoted);
}

static uint64_t number(const char *text, const char *name) {
  return strtoull(field(text, name), NULL, 10);
}

static void word(const char *text, const char *name, char *out, size_t size) {
  const char *at = field(text, name) + 1;
  size_t len = strcspn(at, "\"");
  if (len >= size || memchr(at, '\\', len)) fail("the job's %s is not understood", name);
  memcpy(out, at, len);
  out[len] = 0;
}

static void read_job(const char *text) {
  static uint64_t none[SLOT_WORDS];
  notes = none;
  word(text, "peer", job.peer, sizeof job.peer);
  word(text, "store", job.dir, sizeof job.dir);
  word(text, "address", job.address, sizeof job.address);
  word(text, "role", part.role, sizeof part.role);
  word(text, "prefixes", part.prefixes, sizeof part.prefixes);
  word(text, "board", part.board, sizeof part.board);
  part.slot = number(text, "slot");
  part.from = number(text, "from");
  part.ops = number(text, "ops");
  part.millis = number(text, "millis");
  part.alone = number(text, "alone") != 0;
  job.workload = 'e';
  part.keys = number(text, "keys");
  part.key_bytes = number(text, "key_bytes");
  part.value_bytes = number(text, "value_bytes");
  // What an adapter goes by: how many keys there are, and the longest value.
  job.keys = part.ops && part.ops < part.keys ? part.ops : part.keys;
  job.key_bytes = part.key_bytes ? part.key_bytes : 8;
  job.value_bytes = part.value_bytes + 251;
  job.procs = part.alone ? 1 : 2;
  job.proc = part.slot;
  job.seed = number(text, "seed");
  job.limit_ns = UINT64_MAX;
  strcpy(job.protocol, "text");
}

static void open_board(void) {
  int file = open(part.board, O_RDWR | O_CLOEXEC);
  if (file < 0 || part.slot >= SLOTS) fail("the board: %s", strerror(errno));
  size_t bytes = SLOTS * SLOT_WORDS * sizeof *board;
  board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (board == MAP_FAILED) fail("the board: %s", strerror(errno));
  notes = board + part.slot * SLOT_WORDS;
}

static bool is_over(void) { return board[0] || now_ns() >= deadline_ns; }

// One operation more has returned: whether to go on.
static bool goes_on(void) {
  uint64_t ops = notes[OPS] + 1;
  notes[OPS] = ops;
  if (part.ops && ops >= part.ops) return false;
  return ops % STRIDE || !is_over();
}

// ---- keys and values that say what they are

static struct span key_of(char prefix, uint64_t index) {
  static char key[32];
  int len = snprintf(key, sizeof key, "%c%07lu", prefix, index);
  return (struct span){key, len};
}

static struct span value_of(struct span key, uint64_t number, struct room *room) {
  char unit[64];
  size_t unit_len = snprintf(unit, sizeof unit, "%.*s:%016lx:", (int)key.len,
                             (const char *)key.data, number);
  size_t len = part.value_bytes + number * 37 % 251;
  make_room(room, len);
  for (size_t at = 0; at < len; at++) room->data[at] = unit[at % unit_len];
  return (struct span){room->data, len};
}

// The number of the put that put this value; 0 if none did.
static uint64_t number_of(struct span key, struct span value) {
  static struct room room;
  const char *text = value.data;
  if (value.len < key.len + 18 || memcmp(text, key.data, key.len) || text[key.len] != ':') return 0;
  char digits[17] = {0};
  memcpy(digits, text + key.len + 1, 16);
  uint64_t number = strtoull(digits, NULL, 16);
  struct span due = value_of(key, number, &room);
  return due.len == value.len && memcmp(due.data, text, due.len) == 0 ? number : 0;
}

// The last put to key `index` of those up to `last`; 0: there was none.
static uint64_t due_of(uint64_t index, uint64_t last) {
  uint64_t back = (last % part.keys + part.keys - index) % part.keys;
  return last > back ? last - back : 0;
}

static void put_number(uint64_t number) {
  static struct room room;
  struct span key = key_of(part.prefixes[0], number % part.keys);
  adapter.put(store, key, value_of(key, number, &room));
}

// ---- opening

static bool is_made(void) {
  DIR *folder = opendir(job.dir);
  if (!folder) return false;
  bool any = false;
  for (struct dirent *entry; (entry = readdir(folder));) any |= entry->d_name[0] != '.';
  closedir(folder);
  return any;
}

static void *open_as(enum mode mode) {
  if (job.address[0]) return adapter.open(&job, WRITE);
  return adapter.open(&job, is_made() ? mode : MAKE);
}

// ---- what a process does

// A store that is built once is built anew for each pass over the keys.
static void write_whole(void) {
  for (uint64_t number = part.from;;) {
    store = adapter.open(&job, MAKE);
    answer.opened = true;
    notes[READY] = 1;
    uint64_t count = 0, most = part.keys > 1 << 20 ? part.ops : part.keys;
    for (; count < most; count++) put_number(number + count);
    if (adapter.finish) adapter.finish(store);
    adapter.close(store);
    number += count;
    notes[ACKED] = number - 1;
    notes[OPS] += count - 1;
    if (!goes_on() || is_over() || part.keys > 1 << 20) return;
  }
}

static void write_numbers(void) {
  for (uint64_t number = part.from;; number++) {
    put_number(number);
    notes[ACKED] = number;
    if (!goes_on()) return;
  }
}

static void read_numbers(void) {
  size_t prefixes = strlen(part.prefixes), count = prefixes * part.keys;
  uint64_t *seen = calloc(count, sizeof *seen), state = job.seed | 1;
  if (!seen) fail("no memory for numbers");
  do {
    if (adapter.built_once && notes[OPS] % part.keys == part.keys - 1) {
      adapter.close(store);
      store = open_as(READ);
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t at = (state >> 33) % count;
    struct span value, key = key_of(part.prefixes[at / part.keys], at % part.keys);
    if (!adapter.get(store, key, &value)) {
      if (seen[at]) notes[VANISHED]++;
      continue;
    }
    uint64_t number = number_of(key, value);
    if (!number)
      notes[WRONG]++;
    else if (number < seen[at])
      notes[VANISHED]++;
    else
      seen[at] = number;
  } while (goes_on());
}

// A store that is read well may still refuse: that is no fault of what was read.
static bool takes_a_put(void) {
  static jmp_buf back;
  if (setjmp(back)) {
    rescue = NULL;
    answer.means = complaint;
    say();
  }
  rescue = &back;
  struct span probe = {"zprobe00", 8}, five = {"probe", 5}, value;
  adapter.put(store, probe, five);
  bool took = adapter.get(store, probe, &value) && value.len == 5 &&
              memcmp(value.data, "probe", 5) == 0;
  rescue = NULL;
  return took;
}

static void look(void) {
  uint64_t last = part.from;
  // One put more may have been under way; of a store that is built, one pass more.
  uint64_t more = adapter.built_once ? part.keys : 1;
  for (uint64_t index = 0; index < part.keys && index < last + 2; index++) {
    struct span value, key = key_of(part.prefixes[0], index);
    uint64_t due = due_of(index, last), number = 0;
    if (adapter.get(store, key, &value)) {
      number = number_of(key, value);
      if (!number) {
        answer.torn++;
        continue;
      }
    }
    bool good = number == due || (number > due && number <= last + more);
    if (good)
      answer.good++;
    else
      answer.lost++;
  }
}

static void verify(void) {
  look();
  answer.works = adapter.built_once || takes_a_put();
}

static void remove_half(void) {
  // A store that is built once is built anew, of few.
  if (adapter.built_once) store = adapter.open(&job, MAKE);
  for (uint64_t number = 1; number <= part.from / 2 && !adapter.built_once; number++)
    adapter.remove(store, key_of(part.prefixes[0], number % part.keys));
  for (uint64_t number = 1; number <= FEW; number++) put_number(number);
  if (adapter.built_once) adapter.finish(store);
  struct span value, key = key_of(part.prefixes[0], FEW % part.keys);
  answer.works = adapter.get(store, key, &value) && number_of(key, value) == FEW;
}

static void probe(void) {
  jmp_buf back;
  struct span key = {calloc(1, part.key_bytes + 1), part.key_bytes};
  struct span value = {calloc(1, part.value_bytes + 1), part.value_bytes}, found;
  if (!key.data || !value.data) fail("no memory for a value");
  memset((char *)key.data, 'k', key.len);
  memset((char *)value.data, 'v', value.len);
  if (setjmp(back)) {
    rescue = NULL;
    answer.seen = "refused";
    answer.means = complaint;
    say();
  }
  rescue = &back;
  if (adapter.built_once) store = adapter.open(&job, MAKE);
  adapter.put(store, key, value);
  if (adapter.built_once) {
    adapter.finish(store);
    adapter.close(store);
    store = adapter.open(&job, READ);
  }
  rescue = NULL;
  if (!adapter.get(store, key, &found))
    answer.seen = "missing";
  else if (found.len == value.len && memcmp(found.data, value.data, value.len) == 0)
    answer.seen = "same";
  else
    answer.seen = "other";
}

static void hold(void) {
  struct span value, key = key_of(part.prefixes[0], 0);
  if (&extra && extra.hold) {
    extra.hold(store, key);
    answer.means = extra.hold_means;
  } else {
    adapter.get(store, key, &value);
    answer.means = "a store that is open to read";
  }
  goes_on();
  while (!is_over()) nap(2000);
}

static uint64_t counter_value(void) {
  struct span value, key = {"counter", 7};
  char text[32] = {0};
  if (!adapter.get(store, key, &value) || value.len >= sizeof text) return 0;
  memcpy(text, value.data, value.len);
  return strtoull(text, NULL, 10);
}

static void add_by_hand(void) {
  char text[32];
  int len = snprintf(text, sizeof text, "%lu", counter_value() + 1);
  adapter.put(store, (struct span){"counter", 7}, (struct span){text, len});
}

// Opens again and again until nobody else has the store.
static void open_alone(void) {
  jmp_buf back;
  // What goes wrong from here on comes back; it goes on until there is no time left.
  if (setjmp(back)) {
    rescue = NULL;
    if (now_ns() >= deadline_ns) fail("%s", complaint);
    nap(50);
  }
  rescue = &back;
  store = open_as(WRITE);
  rescue = NULL;
}

static void count(void) {
  if (adapter.built_once) fail("%s", adapter.built_once);
  struct span key = {"counter", 7};
  do {
    if (part.alone) {
      open_alone();
      answer.opened = true;
      answer.means = "opening it for each, which keeps others out";
      add_by_hand();
      adapter.close(store);
    } else if (&extra && extra.add_one) {
      answer.means = extra.add_means;
      extra.add_one(store, key);
    } else {
      answer.means = "a get and a put, as it has no other means";
      add_by_hand();
    }
  } while (goes_on());
}

static void total(void) {
  if (!adapter.built_once) answer.total = counter_value();
}

static const struct {
  const char *name;
  void (*play)(void);
  enum mode mode;
} parts[] = {
    {"write", write_numbers, WRITE}, {"read", read_numbers, READ}, {"verify", verify, WRITE},
    {"remove", remove_half, WRITE},  {"probe", probe, WRITE},      {"hold", hold, READ},
    {"count", count, WRITE},         {"total", total, WRITE},      {"verifyfull", look, READ},
};

// Whether the part opens the store itself.
static bool opens(void (*play)(void)) {
  if (play == count && part.alone) return true;
  return adapter.built_once && (play == write_numbers || play == probe || play == total ||
                                play == remove_half);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "takes a job as its argument\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A server that is gone is an error, and no death.
  signal(SIGPIPE, SIG_IGN);
  read_job(argv[1]);
  open_board();
  deadline_ns = now_ns() + part.millis * 1000000u;
  if (mkdir(job.dir, 0755) && errno != EEXIST) fail("%s: %s", job.dir, strerror(errno));
  for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
    if (strcmp(parts[at].name, part.role)) continue;
    void (*play)(void) = parts[at].play;
    bool itself = opens(play);
    enum mode mode = adapter.built_once ? READ : parts[at].mode;
    if (!itself) {
      store = open_as(mode);
      answer.opened = true;
      notes[READY] = 1;
    }
    if (play == write_numbers && adapter.built_once) play = write_whole;
    play();
    if (!itself || play == probe) adapter.close(store);
    say();
  }
  fail("it knows no part %s", part.role);
}

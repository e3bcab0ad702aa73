// A worker in C: see `test`. Its jobs have the form of bindings/README.md.

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tavola.h>
#include <unistd.h>

// The flags of two kinds of values, by bindings/README.md.
#define TEXT 0x54010000u
#define JSON 0x54040000u
// Set in the first word of an element: flags follow it, and then the job.
#define HAS_FLAGS 0x80000000u

// A queue of jobs. The first word of an element is 0 if it has no job, and otherwise the length of
// the job plus 1.
typedef struct jobs {
  tavola_pool *pool;
  tavola_queue *unused;
  tavola_queue *waiting;
} jobs;

static void need(int is_so) {
  if (!is_so) {
    fprintf(stderr, "the worker in C: %s\n", tavola_last_error());
    exit(1);
  }
}

static void set_word(const jobs *of, uint32_t element, uint32_t word) {
  word = htole32(word);
  need(tavola_pool_write(of->pool, element, 0, &word, sizeof word) == TAVOLA_OK);
}

static uint32_t word_of(const jobs *of, uint32_t element, uint32_t at) {
  uint32_t word = 0;
  need(tavola_pool_read(of->pool, element, at, &word, sizeof word) == TAVOLA_OK);
  return le32toh(word);
}

static void push(const jobs *of, const char *job, size_t len) {
  uint32_t element = 0;
  need(tavola_queue_pop_wait(of->unused, 30000, &element) == TAVOLA_OK);
  need(tavola_pool_write(of->pool, element, 4, job, len) == TAVOLA_OK);
  set_word(of, element, (uint32_t)len + 1);
  need(tavola_queue_push(of->waiting, element) == TAVOLA_OK);
}

// The first word of an element says to which queue it returns.
static void hand_back(void *user, uint32_t element) {
  const jobs *of = (const jobs *)user;
  tavola_queue *to = word_of(of, element, 0) == 0 ? of->unused : of->waiting;
  need(tavola_queue_push(to, element) == TAVOLA_OK);
}

static void add_done(tavola_table *table, const char *job, int len) {
  char key[120];
  tavola_attributes text = TAVOLA_INIT(tavola_attributes);
  text.flags = TEXT;
  int size = snprintf(key, sizeof key, "done %.*s", len, job);
  need(tavola_add_with(table, key, (size_t)size, TAVOLA_STR("c"), &text) >= 0);
}

// Takes a job, notes it as done in the table, and acknowledges it.
static void work(tavola_table *table, jobs *of) {
  uint32_t element = 0, start = 4;
  tavola_status status = tavola_queue_pop_wait(of->waiting, 10, &element);
  if (status == TAVOLA_TIMEOUT) {
    need(tavola_pool_reclaim(of->pool, hand_back, of) == TAVOLA_OK);
    return;
  }
  need(status == TAVOLA_OK);
  uint32_t word = word_of(of, element, 0);
  if ((word & HAS_FLAGS) != 0) {
    start = 8;
    word &= ~HAS_FLAGS;
  }
  const char *bytes = (const char *)tavola_pool_element_ptr(of->pool, element);
  if (word == 0 || word - 1 > tavola_pool_element_bytes(of->pool) - start) {
    fprintf(stderr, "the worker in C: element %u is not a job\n", element);
    exit(1);
  }
  add_done(table, bytes + start, (int)(word - 1));
  set_word(of, element, 0);
  need(tavola_queue_push(of->unused, element) == TAVOLA_OK);
}

static void store(tavola_table *table, const char *key, const char *value, uint32_t flags) {
  tavola_attributes kind = TAVOLA_INIT(tavola_attributes);
  kind.flags = flags;
  tavola_status status =
      tavola_set_with(table, key, strlen(key), value, strlen(value), &kind);
  need(status == TAVOLA_OK);
}

int main(int argc, char **argv) {
  tavola_table *table = NULL;
  jobs of = {NULL, NULL, NULL};
  need(argc == 5 && tavola_open(argv[1], NULL, &table) == TAVOLA_OK);
  need(tavola_pool_open_existing(argv[2], &of.pool) == TAVOLA_OK);
  need(tavola_queue_open(of.pool, "free", &of.unused) == TAVOLA_OK);
  need(tavola_queue_open(of.pool, "jobs", &of.waiting) == TAVOLA_OK);
  store(table, "text of c", "grüße", TEXT);
  store(table, "list of c", "[1,\"zwei\",null]", JSON);
  push(&of, TAVOLA_STR("grüße of c"));
  int journal = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
  while (access(argv[4], F_OK) != 0) {
    need(tavola_add_number(table, TAVOLA_STR("count"), 1, NULL) == TAVOLA_OK);
    need(write(journal, "1\n", 2) == 2);
    work(table, &of);
  }
  close(journal);
  tavola_queue_close(of.waiting);
  tavola_queue_close(of.unused);
  tavola_pool_close(of.pool);
  tavola_close(table);
  return 0;
}

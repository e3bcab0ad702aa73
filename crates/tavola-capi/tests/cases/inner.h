// Calls that may have steps of their own, in C: locks, jobs of a queue, and transactions.
#ifndef CASES_INNER_H
#define CASES_INNER_H

#include "answer.h"

#include <tavola_lock.h>
#include <tavola_queue.h>

// The locks that are held, the last one on top.
static tavola_lock *locks[MOST_HELD];
static size_t lock_count;

// `lock NAME WAIT SHARED`.
static void lock(void) {
  uint64_t wait_ms = unsigned_of(asked, 2), is_shared = unsigned_of(asked, 3);
  tavola_lock *one = NULL;
  tavola_status status = tavola_lock_open(table, text_of(asked, 1), &one);
  if (status == TAVOLA_OK) {
    status = is_shared ? tavola_lock_shared_wait(one, wait_ms) : tavola_lock_wait(one, wait_ms);
  }
  say_done(status);
  if (status == TAVOLA_OK) {
    locks[checked_place(lock_count++)] = one;
  } else {
    tavola_lock_close(one);
  }
}

static void unlock(void) {
  tavola_lock_close(locks[--lock_count]);
  say_bool(1);
}

static tavola_pool *pool;
static tavola_queue *unused, *jobs;
// The elements of the jobs that are held, the last one on top.
static uint32_t held[MOST_HELD];
static size_t held_count;

// `open_queue NAME PLACES`.
static void open_queue(void) {
  const char *const names[] = {"free", "jobs"};
  tavola_pool_options with = TAVOLA_INIT(tavola_pool_options);
  with.elements = (uint32_t)unsigned_of(asked, 2);
  with.element_bytes = JOB_BYTES;
  with.queues = names;
  with.queue_count = 2;
  tavola_status status = tavola_pool_create(word(asked, 1), &with, &pool);
  status = status == TAVOLA_OK ? tavola_queue_open(pool, "free", &unused) : status;
  say_done(status == TAVOLA_OK ? tavola_queue_open(pool, "jobs", &jobs) : status);
}

static void close_queue(void) {
  tavola_queue_close(jobs);
  tavola_queue_close(unused);
  tavola_pool_close(pool);
  say_done(tavola_names_remove(word(asked, 1)));
}

// Says the end of a call that pushes an element.
static void push_to(tavola_queue *to, uint32_t element, uint32_t first_word) {
  tavola_status status = tavola_pool_write(pool, element, 0, &first_word, sizeof first_word);
  say_done(status == TAVOLA_OK ? tavola_queue_push(to, element) : status);
}

// `push VALUE FLAGS`. A job that is not text has flags before its bytes.
static void push(void) {
  tavola_bytes job = bytes_of(asked, 1);
  uint32_t element = 0, flags = (uint32_t)unsigned_of(asked, 2);
  uint32_t first_word = (uint32_t)job.len + 1, start = 4;
  tavola_status status = tavola_queue_pop(unused, &element);
  if (status == TAVOLA_OK && flags != TEXT) {
    status = tavola_pool_write(pool, element, start, &flags, sizeof flags);
    first_word |= HAS_FLAGS;
    start += sizeof flags;
  }
  if (status == TAVOLA_OK) {
    status = tavola_pool_write(pool, element, start, job.data, job.len);
  }
  if (status == TAVOLA_OK) {
    push_to(jobs, element, first_word);
  } else {
    say_done(status);
  }
}

static void pop(void) {
  uint32_t element = 0, first_word = 0, flags = TEXT, start = 4;
  char job[JOB_BYTES];
  tavola_status status = tavola_queue_pop(jobs, &element);
  if (status == TAVOLA_OK) {
    status = tavola_pool_read(pool, element, 0, &first_word, sizeof first_word);
  }
  if (status == TAVOLA_OK && (first_word & HAS_FLAGS) != 0) {
    status = tavola_pool_read(pool, element, start, &flags, sizeof flags);
    first_word &= ~HAS_FLAGS;
    start += sizeof flags;
  }
  if (status == TAVOLA_OK) {
    status = tavola_pool_read(pool, element, start, job, first_word - 1);
  }
  if (status == TAVOLA_OK) {
    held[checked_place(held_count++)] = element;
    say_value(flags, job, first_word - 1);
  } else if (status == TAVOLA_EMPTY) {
    say_none();
  } else {
    say_error(status);
  }
}

static void job_done(void) { push_to(unused, held[--held_count], 0); }

static void give_back(void) { say_done(tavola_queue_push(jobs, held[--held_count])); }

static void waiting(void) { printf("number %zu\n", (size_t)tavola_queue_len(jobs)); }

static tavola_txn *txn;

static void begin(void) { say_done(tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn)); }

static void begin_turn(void) { say_done(tavola_txn_begin(table, TAVOLA_BEGIN_TURN, &txn)); }

static void commit(void) {
  tavola_status status = tavola_txn_commit(txn);
  if (status == TAVOLA_CONFLICT) {
    puts("conflict");
  } else {
    say_done(status);
  }
}

static void abort_changes(void) {
  tavola_txn_abort(txn);
  say_bool(0);
}

static void txn_get(void) {
  tavola_bytes key = bytes_of(asked, 1);
  value found = {NULL, 0};
  tavola_buffer buffer = into(&found);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  tavola_status status = tavola_txn_get(txn, key.data, key.len, &buffer, &attributes);
  say_read(status, attributes.flags, &found);
  free(found.data);
}

// Stores a value: `CALL KEY VALUE FLAGS TTL`.
static void txn_write(int32_t condition) {
  tavola_bytes key = bytes_of(asked, 1), stored = bytes_of(asked, 2);
  tavola_attributes how = attributes_of(3, 4);
  const void *data = stored.data;
  size_t len = stored.len;
  if (condition == TAVOLA_CONDITION_ABSENT) {
    say_done(tavola_txn_add_with(txn, key.data, key.len, data, len, &how, NULL));
  } else if (condition == TAVOLA_CONDITION_PRESENT) {
    say_done(tavola_txn_replace_with(txn, key.data, key.len, data, len, &how, NULL));
  } else {
    say_done(tavola_txn_set_with(txn, key.data, key.len, data, len, &how, NULL));
  }
}

static void txn_set(void) { txn_write(TAVOLA_CONDITION_ALWAYS); }
static void txn_add(void) { txn_write(TAVOLA_CONDITION_ABSENT); }
static void txn_replace(void) { txn_write(TAVOLA_CONDITION_PRESENT); }

static void txn_append(void) {
  tavola_bytes key = bytes_of(asked, 1), more = bytes_of(asked, 2);
  say_done(tavola_txn_append(txn, key.data, key.len, more.data, more.len));
}

static void txn_remove(void) {
  tavola_bytes key = bytes_of(asked, 1);
  say_done(tavola_txn_remove(txn, key.data, key.len));
}

static void txn_exists(void) {
  tavola_bytes key = bytes_of(asked, 1);
  say_done(tavola_txn_contains(txn, key.data, key.len));
}

// `txn_count KEY BY INITIAL FLAGS TTL`.
static void txn_count(void) {
  tavola_bytes key = bytes_of(asked, 1);
  int64_t now = 0;
  tavola_attributes attributes = attributes_of(4, 5);
  tavola_number_options how = TAVOLA_INIT(tavola_number_options);
  how.attributes = &attributes;
  tavola_status status =
      tavola_txn_add_number_with(txn, key.data, key.len, number_of(asked, 2), &how, &now);
  if (status == TAVOLA_OK) {
    printf("number %lld\n", (long long)now);
  } else {
    say_error(status);
  }
}

#endif

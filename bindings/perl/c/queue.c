/*
 * Queues of jobs, in the form of `tavola queue` in the shell.
 *
 * A pool has two queues of elements, `free` and `jobs`. The first word of an element, in
 * little-endian order, is 0 if it has no job, and otherwise the length of the job and 1. Only the
 * process that holds the element changes the word. So when a process dies, the word of each element
 * that it held says where the element belongs.
 */
#include "tvl.h"

#include <endian.h>
#include <string.h>
#include <unistd.h>

#define PREFIX 4u
/* Set in the first word: flags follow it, and the job is a value of that kind. */
#define HAS_FLAGS 0x80000000u
#define LOOK_MS 1000u

static void close_queue(void *pointer) {
  tvl_queue *queue = (tvl_queue *)pointer;
  tavola_queue_close(queue->jobs);
  tavola_queue_close(queue->free);
  tavola_pool_close(queue->pool);
  free(queue);
}

MGVTBL tvl_queue_vtbl = {NULL, NULL, NULL, NULL, tvl_common_free, NULL, tvl_common_dup, NULL};

tvl_queue *tvl_queue_of(pTHX_ SV *self) {
  return (tvl_queue *)tvl_common_pointer(aTHX_ self, &tvl_queue_vtbl, "Tavola::Queue");
}

typedef struct queue_options {
  tavola_pool_options pool;
  SV *in;
  bool creates;
  bool is_json;
} queue_options;

static void read_options(pTHX_ queue_options *to, SV **args, I32 count) {
  I32 i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i < count; i += 2) {
    const char *name = SvPV_nolen_const(args[i]);
    SV *value = args[i + 1];
    if (strEQ(name, "places")) {
      to->pool.elements = (uint32_t)SvUV(value);
    } else if (strEQ(name, "job_bytes")) {
      uint64_t bytes = tvl_size(aTHX_ value, name);
      to->pool.element_bytes = bytes > UINT32_MAX - PREFIX ? UINT32_MAX : (uint32_t)bytes + PREFIX;
    } else if (strEQ(name, "mode")) {
      to->pool.mode = SvUV(value);
    } else if (strEQ(name, "any_owner")) {
      to->pool.any_owner = SvTRUE(value);
    } else if (strEQ(name, "create")) {
      to->creates = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "json")) {
      to->is_json = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "in")) {
      to->in = value;
    } else {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
}

static tavola_status open_pool(pTHX_ const char *name, const queue_options *options,
                               tavola_pool **pool) {
  if (options->in != NULL) {
    tavola_table *table = tvl_handle_of(aTHX_ options->in)->table;
    return options->creates ? tavola_pool_open_in(table, name, &options->pool, pool)
                            : tavola_pool_open_existing_in(table, name, pool);
  }
  return options->creates ? tavola_pool_open(name, &options->pool, pool)
                          : tavola_pool_open_existing(name, pool);
}

/* Opens a queue: its name, and pairs of options. */
SV *tvl_queue_open(pTHX_ const char *class_name, SV **args, I32 count) {
  static const char *const names[] = {"free", "jobs"};
  queue_options options = {.pool = TAVOLA_INIT(tavola_pool_options), .creates = true};
  tvl_queue opened = {NULL, NULL, NULL, false};
  tvl_queue *made = NULL;
  tavola_status status;
  options.pool.elements = 1024;
  options.pool.element_bytes = 1024 + PREFIX;
  options.pool.queues = names;
  options.pool.queue_count = 2;
  read_options(aTHX_ &options, args + 1, count - 1);
  if (options.is_json) {
    // For the flags.
    options.pool.element_bytes += PREFIX;
  }
  opened.is_json = options.is_json;
  status = open_pool(aTHX_ SvPV_nolen_const(args[0]), &options, &opened.pool);
  if (status == TAVOLA_OK) {
    status = tavola_queue_open(opened.pool, "free", &opened.free);
  }
  if (status == TAVOLA_OK) {
    status = tavola_queue_open(opened.pool, "jobs", &opened.jobs);
  }
  if (status == TAVOLA_OK) {
    made = malloc(sizeof *made);
  }
  if (made == NULL) {
    tavola_queue_close(opened.free);
    tavola_pool_close(opened.pool);
    if (status != TAVOLA_OK) {
      tvl_throw(aTHX_ status);
    }
    croak("Tavola: no memory for a queue");
  }
  *made = opened;
  return tvl_new_common(aTHX_ class_name, &tvl_queue_vtbl, made, close_queue);
}

static void hand_back(void *user, uint32_t element) {
  const tvl_queue *queue = (const tvl_queue *)user;
  uint32_t word = 0;
  if (tavola_pool_read(queue->pool, element, 0, &word, sizeof word) == TAVOLA_OK) {
    tavola_queue_push(word == 0 ? queue->free : queue->jobs, element);
  }
}

static void count_lost(void *user, uint32_t element) {
  PERL_UNUSED_ARG(element);
  ++*(UV *)user;
}

/* Hands back the elements of dead processes. Returns how many there were. */
UV tvl_queue_reclaim(pTHX_ tvl_queue *queue) {
  UV count = 0;
  tavola_status status = tavola_pool_lost(queue->pool, count_lost, &count);
  if (status == TAVOLA_OK && count != 0) {
    status = tavola_pool_reclaim(queue->pool, hand_back, queue);
  }
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  return count;
}

typedef struct waiting {
  tavola_queue *queue;
  uint32_t *element;
} waiting;

static tavola_status wait_for_element(void *what, uint64_t timeout_ms) {
  const waiting *one = (const waiting *)what;
  return tavola_queue_pop_wait(one->queue, timeout_ms, one->element);
}

/* Takes an element of a queue. Elements of dead processes come when there are no others. */
static bool take(pTHX_ tvl_queue *queue, tavola_queue *from, uint64_t timeout_ms,
                 uint32_t *element) {
  waiting one = {from, element};
  tavola_status status = tavola_queue_pop(from, element);
  while (status == TAVOLA_EMPTY || status == TAVOLA_TIMEOUT) {
    uint64_t look = timeout_ms < LOOK_MS ? timeout_ms : LOOK_MS;
    if (tvl_queue_reclaim(aTHX_ queue) != 0) {
      status = tavola_queue_pop(from, element);
      if (status == TAVOLA_OK) {
        return true;
      }
    }
    if (timeout_ms == 0) {
      return false;
    }
    status = tvl_wait(aTHX_ wait_for_element, &one, look);
    timeout_ms -= timeout_ms == UINT64_MAX ? 0 : look;
  }
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  return true;
}

bool tvl_queue_pop(pTHX_ tvl_queue *queue, uint64_t timeout_ms, uint32_t *element) {
  return take(aTHX_ queue, queue->jobs, timeout_ms, element);
}

/* Pushes a job. Returns false if all places are taken. */
bool tvl_queue_push(pTHX_ tvl_queue *queue, SV *value, uint64_t timeout_ms) {
  tvl_bytes bytes;
  uint32_t element = 0, word;
  size_t most = tavola_pool_element_bytes(queue->pool) - PREFIX, start = PREFIX;
  char *place;
  tavola_status status;
  if (queue->is_json) {
    start += PREFIX;
    most = most > PREFIX ? most - PREFIX : 0;
    SV *text = sv_2mortal(tvl_json_write(aTHX_ value));
    bytes.data = SvPV(text, bytes.len);
  } else {
    SvGETMAGIC(value);
    tvl_encode_plain(aTHX_ value, &bytes);
  }
  if (bytes.len > most) {
    tvl_argument(aTHX_ "the job has %lu bytes, but the queue accepts at most %lu; create a queue "
                       "with a larger job_bytes",
                 (unsigned long)bytes.len, (unsigned long)most);
  }
  if (!take(aTHX_ queue, queue->free, timeout_ms, &element)) {
    return false;
  }
  place = tavola_pool_element_ptr(queue->pool, element);
  memcpy(place + start, bytes.data, bytes.len);
  if (queue->is_json) {
    word = htole32(TVL_JSON);
    memcpy(place + PREFIX, &word, sizeof word);
  }
  word = htole32(((uint32_t)bytes.len + 1) | (queue->is_json ? HAS_FLAGS : 0));
  memcpy(place, &word, sizeof word);
  status = tavola_queue_push(queue->jobs, element);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  return true;
}

/* Ends a job: its place is free again. */
tavola_status tvl_queue_finish(tvl_queue *queue, uint32_t element) {
  const uint32_t none = 0;
  tavola_status status = tavola_pool_write(queue->pool, element, 0, &none, sizeof none);
  return status == TAVOLA_OK ? tavola_queue_push(queue->free, element) : status;
}

/* Returns a new scalar with the job of an element. */
SV *tvl_queue_value(pTHX_ tvl_queue *queue, uint32_t element) {
  size_t most = tavola_pool_element_bytes(queue->pool) - PREFIX;
  const char *place = tavola_pool_element_ptr(queue->pool, element);
  uint32_t word, flags = TVL_BYTES;
  SV *made = NULL;
  tvl_handle plain;
  memcpy(&word, place, sizeof word);
  word = le32toh(word);
  if ((word & HAS_FLAGS) != 0 && most >= PREFIX) {
    place += PREFIX;
    most -= PREFIX;
    memcpy(&flags, place, sizeof flags);
    flags = le32toh(flags);
    word &= ~HAS_FLAGS;
  }
  if (word == 0 || word - 1 > most) {
    tavola_queue_push(queue->jobs, element);
    tvl_argument(aTHX_ "element %u is not a job (its first word is %u); another program uses this "
                       "pool for other data",
                 (unsigned)element, (unsigned)word);
  }
  if (queue->is_json && flags == TVL_BYTES) {
    made = tvl_json_read(aTHX_ place + PREFIX, word - 1);
  }
  if (made != NULL) {
    return made;
  }
  // A queue has no serializer.
  memset(&plain, 0, sizeof plain);
  return tvl_decode_copy(aTHX_ &plain, place + PREFIX, word - 1, flags);
}

/* A job that is neither done nor handed back returns to the queue. */
static int free_job(pTHX_ SV *sv, MAGIC *mg) {
  tvl_job *job = (tvl_job *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (job != NULL) {
    tvl_queue *queue = (tvl_queue *)job->queue->pointer;
    if (job->pid == getpid()) {
      tavola_queue_push(queue->jobs, job->element);
    }
    tvl_common_drop(job->queue);
    free(job);
  }
  return 0;
}

MGVTBL tvl_job_vtbl = {NULL, NULL, NULL, NULL, free_job, NULL, tvl_forget_dup, NULL};

/* Returns an object for an element that this process holds. */
SV *tvl_queue_new_job(pTHX_ SV *self, uint32_t element) {
  tvl_common *common = tvl_pointer(aTHX_ self, &tvl_queue_vtbl, "Tavola::Queue");
  tvl_job *job = malloc(sizeof *job);
  if (job == NULL) {
    tavola_queue_push(((tvl_queue *)common->pointer)->jobs, element);
    croak("Tavola: no memory for a job");
  }
  __atomic_add_fetch(&common->refs, 1, __ATOMIC_RELAXED);
  job->queue = common;
  job->element = element;
  job->pid = getpid();
  return tvl_new(aTHX_ "Tavola::Job", &tvl_job_vtbl, job);
}

/* Ends a job or hands it back. Returns false if that was done before. */
bool tvl_job_end(pTHX_ SV *self, bool is_done) {
  tvl_job *job = tvl_take_pointer(aTHX_ self, &tvl_job_vtbl);
  tavola_status status;
  if (job == NULL) {
    return false;
  }
  if (is_done) {
    status = tvl_queue_finish((tvl_queue *)job->queue->pointer, job->element);
  } else {
    status = tavola_queue_push(((tvl_queue *)job->queue->pointer)->jobs, job->element);
  }
  tvl_common_drop(job->queue);
  free(job);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  return true;
}

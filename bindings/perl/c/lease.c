/*
 * Leases, locks, watches and iterators: objects of one thread; and barriers.
 *
 * A lock is a lease of the key `\0lock\0NAME` that is never filled. The library records its owner in
 * the table. When the owner closes it or dies, the next process gets it; those that wait are woken,
 * and notice a death within about 10 ms. No key is stored, so a cache cannot evict a lock.
 */
#include "tvl.h"

#include <string.h>
#include <time.h>

#define LOCK_MS 3600000u
#define PAUSE_MS 5

static int free_lease(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_lease_close((tavola_lease *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

static int free_watch(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_key_watch_close((tavola_key_watch *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

static int free_iterator(pTHX_ SV *sv, MAGIC *mg) {
  tvl_iterator *iterator = (tvl_iterator *)mg->mg_ptr;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (iterator != NULL) {
    tavola_iter_close(iterator->iter);
    SvREFCNT_dec(iterator->table);
    free(iterator);
  }
  return 0;
}

MGVTBL tvl_lease_vtbl = {NULL, NULL, NULL, NULL, free_lease, NULL, tvl_forget_dup, NULL};
MGVTBL tvl_watch_vtbl = {NULL, NULL, NULL, NULL, free_watch, NULL, tvl_forget_dup, NULL};
MGVTBL tvl_iter_vtbl = {NULL, NULL, NULL, NULL, free_iterator, NULL, tvl_forget_dup, NULL};

tavola_status tvl_lease_wait(void *lease, uint64_t timeout_ms) {
  return tavola_lease_wait((tavola_lease *)lease, timeout_ms);
}

tavola_status tvl_watch_wait(void *watch, uint64_t timeout_ms) {
  return tavola_key_watch_wait((tavola_key_watch *)watch, timeout_ms);
}

typedef struct barrier {
  const tavola_table *table;
  tavola_bytes key;
  uint32_t count;
} barrier;

/* Between two slices the caller does not count. The others see it again in the next one. */
static tavola_status barrier_slice(void *what, uint64_t timeout_ms) {
  const barrier *at = (const barrier *)what;
  return tavola_barrier_wait(at->table, at->key.data, at->key.len, at->count, timeout_ms);
}

bool tvl_barrier(pTHX_ SV *self, SV *key, IV count, SV *timeout) {
  tvl_handle *handle = tvl_handle_of(aTHX_ self);
  const char *data;
  STRLEN len;
  barrier at = {handle->table, {NULL, 0}, (uint32_t)count};
  tavola_status status;
  /* A handler of a signal may run between two slices, and change the variable of the key. */
  SV *kept = sv_2mortal(newSVsv(key));
  if (count < 1 || (UV)count > UINT32_MAX) {
    tvl_argument(aTHX_ "a barrier has 1 to 2^32 - 1 callers, and not %" IVdf, count);
  }
  tvl_key(aTHX_ handle, kept, &data, &len);
  at.key.data = data;
  at.key.len = len;
  status = tvl_wait(aTHX_ barrier_slice, &at, tvl_wait_ms(aTHX_ timeout));
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return status == TAVOLA_OK;
}

static tavola_status pause_for(void *what, uint64_t timeout_ms) {
  const long pause_ms = timeout_ms < PAUSE_MS ? (long)timeout_ms : PAUSE_MS;
  const struct timespec pause = {0, pause_ms * 1000000};
  PERL_UNUSED_ARG(what);
  nanosleep(&pause, NULL);
  return TAVOLA_OK;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Asks for the lock once. Returns the guard if the lock was free, and else the lease to wait for,
 * or neither if the table has no record for a lock at this moment. */
static bool ask(pTHX_ tvl_handle *handle, const char *key, STRLEN len, uint64_t lease_ms,
                SV **lease) {
  tavola_lease_options how = TAVOLA_INIT(tavola_lease_options);
  tavola_leased leased = TAVOLA_INIT(tavola_leased);
  tavola_lease *got = NULL;
  tvl_result value = {NULL, 0, {0}};
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &value);
  tavola_status status;
  how.fresh_ms = 1;
  how.lease_ms = lease_ms;
  status = tavola_get_or_lease(handle->table, key, len, &how, &buffer, &leased, &got);
  PerlMem_free(value.heap);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  *lease = NULL;
  if (leased.outcome != TAVOLA_LEASE_WON && leased.outcome != TAVOLA_LEASE_WAIT) {
    tavola_lease_close(got);
    tvl_argument(aTHX_ "the key '%.*s' has a value, so it cannot be a lock; use another name for "
                       "the lock",
                 (int)len, key);
  }
  if (leased.outcome == TAVOLA_LEASE_WON && !tavola_lease_is_recorded(got)) {
    tavola_lease_close(got);
    return false;
  }
  *lease = sv_2mortal(tvl_new(aTHX_ "Tavola::Lock", &tvl_lease_vtbl, got));
  return leased.outcome == TAVOLA_LEASE_WON;
}

/* Returns a guard object for a lock, or `undef` if it was not free in time. */
SV *tvl_lock(pTHX_ SV *self, SV *name, SV **args, I32 count) {
  tvl_handle *handle = tvl_handle_of(aTHX_ self);
  uint64_t timeout_ms = UINT64_MAX, lease_ms = LOCK_MS, start = now_ms();
  const char *data;
  STRLEN len;
  SV *key = newSVpvn_flags("\0lock\0", 6, SVs_TEMP);
  I32 i;
  tvl_key(aTHX_ handle, name, &data, &len);
  sv_catpvn(key, data, len);
  for (i = 0; i + 1 < count; i += 2) {
    const char *option = SvPV_nolen_const(args[i]);
    if (strEQ(option, "timeout")) {
      timeout_ms = tvl_wait_ms(aTHX_ args[i + 1]);
    } else if (strEQ(option, "at_most")) {
      lease_ms = tvl_wait_ms(aTHX_ args[i + 1]);
    } else {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
  for (;;) {
    SV *lease;
    uint64_t passed, left;
    if (ask(aTHX_ handle, SvPVX_const(key), SvCUR(key), lease_ms, &lease)) {
      return SvREFCNT_inc_simple_NN(lease);
    }
    passed = now_ms() - start;
    if (timeout_ms != UINT64_MAX && passed >= timeout_ms) {
      return &PL_sv_undef;
    }
    left = timeout_ms == UINT64_MAX ? UINT64_MAX : timeout_ms - passed;
    if (lease == NULL) {
      tvl_wait(aTHX_ pause_for, NULL, left);
    } else {
      tavola_status status = tvl_wait(aTHX_ tvl_lease_wait,
                                      tvl_pointer(aTHX_ lease, &tvl_lease_vtbl, "lease"), left);
      if (status < 0) {
        tvl_throw(aTHX_ status);
      }
    }
  }
}

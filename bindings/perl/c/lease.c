/* Leases, named locks, watches and iterators: objects of one thread; and barriers. */
#include "tvl.h"

#include <string.h>
#include <unistd.h>

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

static int free_lock(pTHX_ SV *sv, MAGIC *mg) {
  tvl_lock *lock = (tvl_lock *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  tvl_lock_close(lock);
  return 0;
}

MGVTBL tvl_lock_vtbl = {NULL, NULL, NULL, NULL, free_lock, NULL, tvl_forget_dup, NULL};

/* Releases a lock, if this process holds it: a forked child has no effect on that of its parent. */
void tvl_lock_close(tvl_lock *lock) {
  if (lock != NULL) {
    tavola_lock_close(lock->lock);
    free(lock);
  }
}

static tavola_status lock_slice(void *what, uint64_t timeout_ms) {
  const tvl_lock *lock = (const tvl_lock *)what;
  return lock->is_shared ? tavola_lock_shared_wait(lock->lock, timeout_ms)
                         : tavola_lock_wait(lock->lock, timeout_ms);
}

/* Returns a guard object for a lock, or `undef` if it was not free in time. */
SV *tvl_lock_take(pTHX_ SV *self, SV *name, SV **args, I32 count) {
  tvl_handle *handle = tvl_handle_of(aTHX_ self);
  uint64_t timeout_ms = UINT64_MAX;
  bool is_shared = false;
  const char *data;
  STRLEN len;
  tvl_lock *lock;
  tavola_status status;
  SV *guard;
  SV *copy = sv_2mortal(newSVsv(name));
  I32 i;
  for (i = 0; i + 1 < count; i += 2) {
    const char *option = SvPV_nolen_const(args[i]);
    if (strEQ(option, "timeout")) {
      timeout_ms = tvl_wait_ms(aTHX_ args[i + 1]);
    } else if (strEQ(option, "shared")) {
      is_shared = SvTRUE(args[i + 1]);
    } else {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
  /* The bytes of a name are those of a key, and end with the NUL of a scalar. */
  tvl_key(aTHX_ handle, copy, &data, &len);
  if (memchr(data, 0, len) != NULL) {
    tvl_argument(aTHX_ "the name of a lock has no byte 0");
  }
  lock = calloc(1, sizeof *lock);
  if (lock == NULL) {
    croak("Tavola: no memory for a lock");
  }
  lock->pid = getpid();
  lock->is_shared = is_shared;
  status = tavola_lock_open(handle->table, data, &lock->lock);
  if (status < 0) {
    free(lock);
    tvl_throw(aTHX_ status);
  }
  /* The guard closes the lock, also if a handler of a signal dies during the wait. */
  guard = sv_2mortal(tvl_new(aTHX_ "Tavola::Lock", &tvl_lock_vtbl, lock));
  status = tvl_wait(aTHX_ lock_slice, lock, timeout_ms);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  if (status == TAVOLA_TIMEOUT) {
    return &PL_sv_undef;
  }
  lock->owner_died = status == TAVOLA_OWNER_DIED;
  /* After a death it is held alone. */
  lock->is_shared = is_shared && !lock->owner_died;
  return SvREFCNT_inc_simple_NN(guard);
}

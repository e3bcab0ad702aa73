// Waits and long calls without the GVL, so that other threads of the process run meanwhile.

#include <time.h>
#include "tavola_ruby.h"

typedef struct {
  tvl_wait_fn wait;
  void *user;
  uint64_t timeout_ms;
  tavola_status status;
  atomic_bool is_interrupted;
} waiting;

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Waits in slices: the library has no call that ends a wait from another thread.
static void *wait_in_slices(void *user) {
  waiting *one = user;
  uint64_t start = now_ms();
  for (;;) {
    uint64_t gone = now_ms() - start;
    uint64_t left = one->timeout_ms == TVL_FOREVER ? TVL_SLICE_MS
                    : gone >= one->timeout_ms      ? 0
                                                   : one->timeout_ms - gone;
    uint64_t slice = left < TVL_SLICE_MS ? left : TVL_SLICE_MS;
    one->status = one->wait(one->user, slice);
    if (one->status != TAVOLA_TIMEOUT || atomic_load(&one->is_interrupted)) break;
    if (one->timeout_ms != TVL_FOREVER && now_ms() - start >= one->timeout_ms) break;
  }
  return NULL;
}

static void interrupt(void *user) {
  waiting *one = user;
  atomic_store(&one->is_interrupted, true);
}

// Calls `wait` without the GVL until it returns something else than TAVOLA_TIMEOUT, or until the
// time has passed. Thread#kill, Timeout and signals end it within a slice. They are raised only
// when the wait has brought nothing, so that an element of a queue is never lost.
tavola_status tvl_wait(tvl_wait_fn wait, void *user, uint64_t timeout_ms) {
  uint64_t start = now_ms();
  for (;;) {
    uint64_t gone = now_ms() - start;
    waiting one = {wait, user, timeout_ms, TAVOLA_TIMEOUT, false};
    if (timeout_ms != TVL_FOREVER) one.timeout_ms = gone < timeout_ms ? timeout_ms - gone : 0;
    rb_thread_call_without_gvl2(wait_in_slices, &one, interrupt, &one);
    if (one.status != TAVOLA_TIMEOUT) return one.status;
    rb_thread_check_ints();
    if (timeout_ms != TVL_FOREVER && now_ms() - start >= timeout_ms) return TAVOLA_TIMEOUT;
  }
}

typedef struct {
  void *(*work)(void *);
  void *user;
  bool has_run;
} long_call;

static void *run(void *user) {
  long_call *call = user;
  call->has_run = true;
  return call->work(call->user);
}

// Runs a long call without the GVL, to its end, and raises nothing: what it has done must not be
// lost. When an interrupt is pending, Ruby refuses to release the GVL, and the call keeps it. So
// this is not for calls that wait for another thread of this process.
void tvl_without_gvl(void *(*work)(void *), void *user) {
  long_call call = {work, user, false};
  rb_thread_call_without_gvl2(run, &call, NULL, NULL);
  if (!call.has_run) work(user);
}

typedef struct {
  tvl_write_fn write;
  const tvl_handle *handle;
  const tvl_call *call;
  tavola_status status;
} waiting_write;

static void *write_now(void *user) {
  waiting_write *one = user;
  one->status = one->write(one->handle->table, one->call);
  return NULL;
}

// Runs a call with this handle that waits for the disk. What interrupts this thread is raised
// before the call has begun.
void tvl_wait_for_disk(VALUE self, tvl_handle *handle, void *(*work)(void *), void *user) {
  long_call call = {work, user, false};
  for (;;) {
    tvl_enter(handle);
    rb_thread_call_without_gvl2(run, &call, NULL, NULL);
    tvl_leave(handle);
    if (call.has_run) return;
    rb_thread_check_ints();
    tvl_handle_of(self);
  }
}

// Makes a write that waits for the disk.
tavola_status tvl_write_waiting(VALUE self, tvl_handle *handle, tvl_write_fn write, tvl_call call) {
  uint64_t waited_ms = 0;
  waiting_write one = {write, handle, &call, TAVOLA_OK};
  do {
    tvl_wait_for_disk(self, handle, write_now, &one);
  } while (one.status == TAVOLA_ERR_BUSY && tvl_busy_again(self, handle, &waited_ms));
  return one.status;
}

// Runs a call that may wait for another thread, which needs the GVL. What interrupts this thread is
// raised before the call has begun, so the caller cleans up with `rb_ensure`.
void tvl_blocking(void *(*work)(void *), void *user) {
  long_call call = {work, user, false};
  for (;;) {
    rb_thread_call_without_gvl2(run, &call, NULL, NULL);
    if (call.has_run) return;
    rb_thread_check_ints();
  }
}

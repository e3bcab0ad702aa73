/* Waits in slices, so that Perl's signal handlers run, and may throw. */
#include "tvl.h"

#define SLICE_MS 50

/* Calls `wait` until it returns something else than a timeout, or the time is up. */
tavola_status tvl_wait(pTHX_ tvl_wait_fn wait, void *what, uint64_t timeout_ms) {
  for (;;) {
    uint64_t slice = timeout_ms < SLICE_MS ? timeout_ms : SLICE_MS;
    tavola_status status = wait(what, slice);
    if (status != TAVOLA_TIMEOUT) {
      return status;
    }
    PERL_ASYNC_CHECK();
    if (timeout_ms != UINT64_MAX) {
      timeout_ms -= slice;
      if (timeout_ms == 0) {
        return TAVOLA_TIMEOUT;
      }
    }
  }
}

/*
 * The short way of `compute`: a value that is there and fresh.
 *
 * A read returns the value and the time that it has left. It is fresh if that is more than
 * `stale`; then the library's own call would return it, too. Anything else is left to Perl, in
 * `Tavola::_compute`, which asks for a lease. So does `early`, because the library draws lots.
 */
#include "tvl.h"

#include <string.h>

static bool is_option(const char *name) {
  static const char *const known[] = {"ttl",      "stale",   "lease", "early",
                                      "back_off", "timeout", "tags"};
  size_t i;
  for (i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strEQ(name, known[i])) {
      return true;
    }
  }
  return false;
}

/* Checks the options, of which the last argument is the function. Returns the milliseconds of
 * `stale`, or -1 if the short way cannot be taken. */
static int64_t stale_ms(pTHX_ SV **args, I32 count) {
  int64_t stale = 0;
  I32 i;
  SV *code = count > 0 ? args[count - 1] : NULL;
  if (code == NULL || !SvROK(code) || SvTYPE(SvRV(code)) != SVt_PVCV) {
    tvl_argument(aTHX_ "the last argument of compute is a function that returns the value");
  }
  if (count % 2 != 1) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i + 1 < count; i += 2) {
    const char *name = SvPV_nolen_const(args[i]);
    if (!is_option(name)) {
      tvl_unknown_option(aTHX_ args[i]);
    }
    if (strEQ(name, "early") && SvTRUE(args[i + 1])) {
      stale = -1;
    } else if (strEQ(name, "stale") && stale >= 0 && SvTRUE(args[i + 1])) {
      stale = tvl_ttl_ms(aTHX_ args[i + 1]);
    }
  }
  return stale;
}

/* Returns a new scalar with a fresh value, or NULL. */
SV *tvl_fresh(pTHX_ tvl_handle *handle, SV *key, SV **args, I32 count) {
  tvl_result result;
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  int64_t stale = stale_ms(aTHX_ args, count);
  const char *data;
  STRLEN len;
  tavola_status status;
  if (stale < 0) {
    return NULL;
  }
  tvl_key(aTHX_ handle, key, &data, &len);
  status = tavola_get_entry(handle->table, data, len, &buffer, &attributes, NULL);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  if (status != TAVOLA_OK) {
    return NULL;
  }
  if (attributes.ttl_ms >= 0 && attributes.ttl_ms <= stale) {
    if (result.heap != NULL) {
      PerlMem_free(result.heap);
    }
    return NULL;
  }
  return tvl_decode(aTHX_ handle, &result, attributes.flags);
}

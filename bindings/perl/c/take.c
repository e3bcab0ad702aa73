/*
 * `take` and `swap`: removing or replacing a value and returning it.
 *
 * The library's own calls return the bytes without the flags, which say what kind of value they
 * are. So the value is read with its flags and its token, and is then removed or replaced if it is
 * still the same. If another process was faster, both steps are done again.
 */
#include "tvl.h"

/* Reads a value and its token. Returns a mortal, or NULL if the key is missing. */
static SV *read_entry(pTHX_ tvl_handle *handle, SV *key, uint64_t *token) {
  tvl_result result;
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  const char *data;
  STRLEN len;
  tavola_status status;
  tvl_key(aTHX_ handle, key, &data, &len);
  status = tavola_get_entry(handle->table, data, len, &buffer, &attributes, token);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return status == TAVOLA_OK ? sv_2mortal(tvl_decode(aTHX_ handle, &result, attributes.flags))
                             : NULL;
}

/* Removes a key. Returns a new scalar with its value, or NULL if it is missing. */
SV *tvl_take(pTHX_ tvl_handle *handle, SV *key) {
  for (;;) {
    uint64_t token = 0;
    const char *data;
    STRLEN len;
    tavola_status status;
    SV *value = read_entry(aTHX_ handle, key, &token);
    if (value == NULL) {
      return NULL;
    }
    tvl_key(aTHX_ handle, key, &data, &len);
    status = tavola_compare_and_remove(handle->table, data, len, token);
    if (status == TAVOLA_OK) {
      return SvREFCNT_inc_simple_NN(value);
    }
    if (status < 0) {
      tvl_throw(aTHX_ status);
    }
  }
}

/* Sets a key. Returns a new scalar with the value that it had, or NULL if it was missing. */
SV *tvl_swap(pTHX_ tvl_handle *handle, SV *key, SV *value, const tvl_write *write) {
  for (;;) {
    uint64_t token = 0;
    SV *old = read_entry(aTHX_ handle, key, &token);
    int32_t condition = old != NULL ? TAVOLA_CONDITION_TOKEN : TAVOLA_CONDITION_ABSENT;
    if (tvl_store(aTHX_ handle, key, value, condition, token, write) == TAVOLA_OK) {
      return old != NULL ? SvREFCNT_inc_simple_NN(old) : NULL;
    }
  }
}

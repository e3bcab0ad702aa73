/* Counters: decimal text with a sign. */
#include "tvl.h"

#include <string.h>

/* Reads the number of a key and its token. Returns false if the key is missing. */
static bool read_number(pTHX_ tvl_handle *handle, const char *key, STRLEN len, SV **number,
                        uint64_t *token) {
  tvl_result result;
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  tavola_status status = tavola_get_with_token(handle->table, key, len, &buffer, token);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  *number = status == TAVOLA_OK ? sv_2mortal(tvl_string(aTHX_ &result)) : NULL;
  return status == TAVOLA_OK;
}

/*
 * Counts with a first value that is not 0. The library's own call begins with 0, so a missing key
 * is added here, and a key that another process has added or removed meanwhile is tried again.
 * Numbers in another notation are left to the library, which also names the error.
 */
static IV count_from(pTHX_ tvl_handle *handle, const char *key, STRLEN len, IV by, IV first,
                     const tavola_attributes *attributes) {
  char digits[24];
  for (;;) {
    IV sum;
    uint64_t token;
    SV *number;
    tavola_status status;
    SV *text;
    if (!read_number(aTHX_ handle, key, len, &number, &token)) {
      sum = first;
      text = sv_2mortal(newSViv(sum));
      status = tavola_add_with(handle->table, key, len, digits,
                               tvl_write_integer(digits, text), attributes);
    } else {
      tavola_store_options how = TAVOLA_INIT(tavola_store_options);
      SV *old = tvl_read_integer(aTHX_ SvPVX_const(number), SvCUR(number));
      if (old == NULL || SvIsUV(old)) {
        int64_t now = 0;
        SvREFCNT_dec(old);
        status = tavola_add_number(handle->table, key, len, by, &now);
        if (status < 0) {
          tvl_throw(aTHX_ status);
        }
        return (IV)now;
      }
      sv_2mortal(old);
      if (__builtin_add_overflow(SvIV(old), by, &sum)) {
        tvl_throw(aTHX_ tavola_add_number(handle->table, key, len, by, NULL));
      }
      text = sv_2mortal(newSViv(sum));
      how.condition = TAVOLA_CONDITION_TOKEN;
      how.keep = 1;
      how.token = token;
      status = tavola_store(handle->table, key, len, digits, tvl_write_integer(digits, text),
                            &how, NULL);
    }
    if (status < 0) {
      tvl_throw(aTHX_ status);
    }
    if (status == TAVOLA_OK) {
      return sum;
    }
  }
}

/* Reads the options `initial` and `ttl`. Returns the number of a key that is created. */
IV tvl_number_options(pTHX_ SV **args, I32 count, IV by, tavola_attributes *attributes,
                      bool *has_time) {
  IV initial = 0, first;
  I32 i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i < count; i += 2) {
    const char *name = SvPV_nolen_const(args[i]);
    if (strEQ(name, "initial")) {
      initial = tvl_integer_argument(aTHX_ args[i + 1], "initial");
    } else if (strEQ(name, "ttl")) {
      attributes->ttl_ms = tvl_ttl_ms(aTHX_ args[i + 1]);
      *has_time = true;
    } else {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
  if (__builtin_add_overflow(initial, by, &first)) {
    tvl_argument(aTHX_ "the sum of initial and by does not fit in 64 bits");
  }
  return first;
}

/* Adds to a number and returns the sum. The options are `initial` and `ttl`. */
IV tvl_count(pTHX_ tvl_handle *handle, SV *key, IV by, SV **args, I32 count) {
  tavola_number_options options = TAVOLA_INIT(tavola_number_options);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  bool has_time = false;
  IV first = tvl_number_options(aTHX_ args, count, by, &attributes, &has_time);
  int64_t now = 0;
  const char *data;
  STRLEN len;
  tavola_status status;
  attributes.flags = TVL_INTEGER;
  options.attributes = &attributes;
  tvl_key(aTHX_ handle, key, &data, &len);
  if (first != by) {
    return count_from(aTHX_ handle, data, len, by, first, &attributes);
  }
  status = tavola_add_number_with(handle->table, data, len, by, &options, &now);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return (IV)now;
}

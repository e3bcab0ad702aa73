/* Options of single calls: times, tags, conditions. */
#include "tvl.h"

#include <math.h>
#include <string.h>

#define MOST_SECONDS 31536000000.0 /* A thousand years, the limit of the library. */

/* Returns milliseconds from seconds; `undef` is for ever. */
int64_t tvl_ttl_ms(pTHX_ SV *seconds) {
  NV value;
  SvGETMAGIC(seconds);
  if (!SvOK(seconds)) {
    return TAVOLA_TTL_NEVER;
  }
  value = looks_like_number(seconds) ? SvNV_nomg(seconds) : -1;
  if (!(value > 0 && value <= MOST_SECONDS)) {
    tvl_argument(aTHX_ "a ttl is a number of seconds above 0, or undef for ever, and not '%" SVf
                       "'", SVfARG(seconds));
  }
  return (int64_t)Perl_ceil(value * 1000);
}

/* Returns how long a call waits, in milliseconds; `undef` is without limit. */
uint64_t tvl_wait_ms(pTHX_ SV *seconds) {
  NV value;
  SvGETMAGIC(seconds);
  if (!SvOK(seconds)) {
    return UINT64_MAX;
  }
  value = looks_like_number(seconds) ? SvNV_nomg(seconds) : -1;
  if (!(value >= 0)) {
    tvl_argument(aTHX_ "a timeout is a number of seconds, or undef for no limit, and not '%" SVf
                       "'", SVfARG(seconds));
  }
  return value > MOST_SECONDS ? UINT64_MAX : (uint64_t)Perl_ceil(value * 1000);
}

/* Fetches the handles of tags: of a list of names, of one name, or of a Tavola::Tags object. */
void tvl_fetch_tags(pTHX_ tvl_handle *handle, SV *tags, tavola_tags *to) {
  tavola_bytes names[TAVOLA_MOST_TAGS];
  size_t count = 1, i;
  tavola_status status;
  AV *list = NULL;
  SvGETMAGIC(tags);
  if (sv_derived_from(tags, "Tavola::Tags")) {
    STRLEN len;
    const char *data = SvPV_const(SvRV(tags), len);
    if (len != sizeof *to) {
      tvl_argument(aTHX_ "these tags are damaged; fetch them again with the method tags");
    }
    memcpy(to, data, len);
    return;
  }
  if (SvROK(tags) && SvTYPE(SvRV(tags)) == SVt_PVAV) {
    list = (AV *)SvRV(tags);
    count = (size_t)(av_len(list) + 1);
  }
  if (count > TAVOLA_MOST_TAGS) {
    tvl_bad_option(aTHX_ "the option tag is invalid: a key has at most %d tags", TAVOLA_MOST_TAGS);
  }
  for (i = 0; i < count; i++) {
    SV **item = list != NULL ? av_fetch(list, (SSize_t)i, 0) : &tags;
    STRLEN len;
    const char *data;
    if (item == NULL || (SvROK(*item) && !SvAMAGIC(*item)) || !SvOK(*item)) {
      tvl_argument(aTHX_ "a tag is a string, and tags are a list of them");
    }
    tvl_key(aTHX_ handle, *item, &data, &len);
    names[i].data = data;
    names[i].len = len;
  }
  status = tavola_fetch_tags(handle->table, names, count, to);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
}

static void read_one(pTHX_ tvl_handle *handle, SV *name, SV *value, tvl_write *to) {
  STRLEN len;
  const char *text = SvPV_const(name, len);
  if (strEQ(text, "ttl")) {
    to->attributes.ttl_ms = tvl_ttl_ms(aTHX_ value);
    to->has_time = true;
  } else if (strEQ(text, "expires_at")) {
    NV at = SvNV(value);
    if (!(at >= 0 && at <= 1e12)) {
      tvl_argument(aTHX_ "expires_at is a time in seconds since 1970");
    }
    to->attributes.expires_unix_ms = at < 0.001 ? 1 : (uint64_t)(at * 1000);
    to->has_time = true;
  } else if (strEQ(text, "tags")) {
    SvGETMAGIC(value);
    if (SvOK(value)) {
      tvl_fetch_tags(aTHX_ handle, value, &to->tags);
      to->has_tags = true;
    }
  } else {
    tvl_unknown_option(aTHX_ name);
  }
}

/* Reads how a key is written: one argument is its time to live, others are names and values. */
void tvl_read_write_options(pTHX_ tvl_handle *handle, SV **args, I32 count, tvl_write *to) {
  static const tavola_attributes no_attributes = TAVOLA_INIT(tavola_attributes);
  I32 i;
  to->has_time = false;
  to->has_tags = false;
  to->attributes = no_attributes;
  if (count == 0) {
    return;
  }
  to->tags.size = sizeof to->tags;
  to->tags.count = 0;
  if (count == 1) {
    to->attributes.ttl_ms = tvl_ttl_ms(aTHX_ args[0]);
    to->has_time = true;
    return;
  }
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i < count; i += 2) {
    read_one(aTHX_ handle, args[i], args[i + 1], to);
  }
}

/* Returns whether a table of fixed lengths has refused the flags of a value. It stores none. */
bool tvl_has_fixed_lengths(tvl_handle *handle, const tvl_write *write) {
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  if (write->has_time || write->has_tags || handle->has_fixed_lengths ||
      tavola_get_stats(handle->table, &stats) != TAVOLA_OK) {
    return false;
  }
  handle->has_fixed_lengths = stats.fixed_key != 0;
  return handle->has_fixed_lengths;
}

/* Stores a value under a condition. Throws every error; returns answers. */
tavola_status tvl_store(pTHX_ tvl_handle *handle, SV *key, SV *value, int32_t condition,
                        uint64_t token, const tvl_write *write) {
  tavola_store_options how = TAVOLA_INIT(tavola_store_options);
  tavola_attributes attributes = write->attributes;
  tavola_table *table = handle->table;
  tvl_bytes bytes;
  const char *data;
  STRLEN len;
  tavola_status status;
  tvl_encode(aTHX_ handle, value, &bytes);
  tvl_key(aTHX_ handle, key, &data, &len);
  attributes.flags = bytes.flags;
  how.condition = condition;
  how.token = token;
  how.tags = write->has_tags ? &write->tags : NULL;
  for (;;) {
    how.attributes = write->has_time || attributes.flags != 0 ? &attributes : NULL;
    status = condition == TAVOLA_CONDITION_ALWAYS && !write->has_tags
                 ? tavola_set_with(table, data, len, bytes.data, bytes.len, how.attributes)
                 : tavola_store(table, data, len, bytes.data, bytes.len, &how, NULL);
    if (status != TAVOLA_ERR_BAD_OPTION || attributes.flags == 0 ||
        !tvl_has_fixed_lengths(handle, write)) {
      break;
    }
    attributes.flags = 0;
  }
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return status;
}

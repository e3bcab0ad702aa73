/*
 * Values: from a Perl scalar to bytes with flags, and back.
 *
 * A string is what Perl says it is: with the UTF-8 flag it is text, without it bytes. A number that
 * was never a string is an integer or a float. A reference goes to the serializer of the table, or
 * else to JSON. A read never fails because of the value: what does not decode is bytes.
 */
#include "tvl.h"

#include <string.h>

/* Gives the library memory for a result. It calls nothing of Perl, so it cannot `longjmp`. */
void *tvl_alloc(void *user, size_t len) {
  tvl_result *result = (tvl_result *)user;
  result->len = len;
  if (len <= sizeof result->small) {
    result->heap = NULL;
    return result->small;
  }
  result->heap = len < SIZE_MAX ? (char *)PerlMem_malloc(len + 1) : NULL;
  return result->heap;
}

/* Returns a new scalar with the bytes of a result. A long result is not copied again. */
SV *tvl_string(pTHX_ tvl_result *result) {
  SV *made;
  if (result->heap == NULL) {
    return newSVpvn(result->small, result->len);
  }
#if defined(PERL_TRACK_MEMPOOL) || defined(MYMALLOC)
  made = newSVpvn(result->heap, result->len);
  PerlMem_free(result->heap);
#else
  made = newSV_type(SVt_PV);
  result->heap[result->len] = '\0';
  SvPV_set(made, result->heap);
  SvCUR_set(made, result->len);
  SvLEN_set(made, result->len + 1);
  SvPOK_only(made);
#endif
  result->heap = NULL;
  return made;
}

/* Calls a function or method with one argument, and returns what it returned, as a mortal. */
static SV *call_one(pTHX_ SV *object, const char *name, SV *argument, bool catches) {
  dSP;
  SV *answer;
  I32 how = G_SCALAR | (catches ? G_EVAL : 0);
  ENTER;
  SAVETMPS;
  PUSHMARK(SP);
  EXTEND(SP, 2);
  if (object != NULL) {
    PUSHs(object);
  }
  PUSHs(argument);
  PUTBACK;
  if (object != NULL) {
    call_method(name, how);
  } else {
    call_pv(name, how);
  }
  SPAGAIN;
  answer = POPs;
  SvREFCNT_inc_simple_void(answer);
  PUTBACK;
  FREETMPS;
  LEAVE;
  return sv_2mortal(answer);
}

static void set_bytes(tvl_bytes *out, const char *data, STRLEN len, uint32_t flags) {
  out->data = data;
  out->len = len;
  out->flags = flags;
}

static void encode_string(pTHX_ SV *value, tvl_bytes *out) {
  STRLEN len;
  const char *data = SvPV_nomg_const(value, len);
  if (!SvUTF8(value)) {
    set_bytes(out, data, len, TVL_BYTES);
    return;
  }
  if (!tvl_is_utf8(data, len)) {
    tvl_argument(aTHX_ "the text has characters that Unicode does not have (surrogates, or above "
                       "U+10FFFF); encode it to bytes");
  }
  set_bytes(out, data, len, TVL_TEXT);
}

static void encode_reference(pTHX_ tvl_handle *handle, SV *value, tvl_bytes *out) {
  SV *made;
  STRLEN len;
  const char *data;
  uint32_t flags = TVL_JSON;
  if (handle->uses == TVL_USE_STORABLE) {
    made = call_one(aTHX_ NULL, "Storable::nfreeze", value, false);
    flags = TVL_STORABLE;
  } else if (handle->uses == TVL_USE_OBJECT) {
    made = call_one(aTHX_ handle->serializer, "serialize", value, false);
    flags = TVL_OBJECT;
  } else {
    made = sv_2mortal(tvl_json_write(aTHX_ value));
  }
  data = SvPVbyte(made, len);
  set_bytes(out, data, len, flags);
}

/* Sets bytes and kind of a value. Numbers are written to `out->digits`. */
void tvl_encode(pTHX_ tvl_handle *handle, SV *value, tvl_bytes *out) {
  SvGETMAGIC(value);
  if (SvROK(value)) {
    encode_reference(aTHX_ handle, value, out);
#ifdef SvIsBOOL
  } else if (SvPOK(value) && SvIOK(value) && SvIsBOOL(value)) {
    bool is_true = cBOOL(SvTRUE_nomg_NN(value));
    set_bytes(out, is_true ? "true" : "false", is_true ? 4 : 5, TVL_JSON);
#endif
  } else if (!SvOK(value)) {
    set_bytes(out, "null", 4, TVL_JSON);
  } else {
    tvl_encode_plain(aTHX_ value, out);
  }
  if (handle->has_fixed_lengths) {
    out->flags = 0;
  }
}

/* Does the same for a string or number, and refuses anything else. */
void tvl_encode_plain(pTHX_ SV *value, tvl_bytes *out) {
  if (isGV_with_GP(value)) {
    tvl_argument(aTHX_ "a glob cannot be stored; store a string, a number, or a reference");
  }
  if (SvROK(value) && !SvAMAGIC(value)) {
    tvl_argument(aTHX_ "a reference cannot be stored here; give a string or a number");
  }
  if (SvPOK(value) || SvROK(value)) {
    encode_string(aTHX_ value, out);
  } else if (SvIOK(value)) {
    set_bytes(out, out->digits, tvl_write_integer(out->digits, value), TVL_INTEGER);
  } else if (SvNOK(value)) {
    set_bytes(out, out->digits, tvl_write_float(out->digits, (double)SvNVX(value)), TVL_FLOAT);
  } else if (SvPOKp(value) || !SvOK(value)) {
    encode_string(aTHX_ value, out);
  } else if (SvIOKp(value) && !SvNOKp(value)) {
    set_bytes(out, out->digits, tvl_write_integer(out->digits, value), TVL_INTEGER);
  } else {
    NV number = SvNV_nomg(value);
    set_bytes(out, out->digits, tvl_write_float(out->digits, (double)number), TVL_FLOAT);
  }
}

/* Returns what a Perl function makes of the bytes, or NULL if it dies or returns nothing. */
static SV *thaw(pTHX_ tvl_handle *handle, SV *bytes, bool is_storable) {
  SV *answer;
  SV *saved = newSVsv(ERRSV);
  if (is_storable) {
    answer = call_one(aTHX_ NULL, "Storable::thaw", bytes, true);
  } else {
    answer = call_one(aTHX_ handle->serializer, "deserialize", bytes, true);
  }
  if (SvTRUE(ERRSV) || !SvOK(answer)) {
    answer = NULL;
  } else {
    answer = newSVsv(answer);
  }
  sv_setsv(ERRSV, saved);
  SvREFCNT_dec(saved);
  return answer;
}

/* Returns the value that the bytes are by their kind, or NULL if they are bytes. */
static SV *decode(pTHX_ tvl_handle *handle, const char *data, size_t len, uint32_t flags) {
  uint32_t kind = flags & TVL_KIND_MASK;
  bool is_storable, is_object;
  switch (kind) {
    case TVL_INTEGER:
      return tvl_read_integer(aTHX_ data, len);
    case TVL_FLOAT:
      return tvl_read_float(aTHX_ data, len);
    case TVL_JSON:
      return tvl_json_read(aTHX_ data, len);
    default:
      break;
  }
  is_storable = handle->uses == TVL_USE_STORABLE && kind == TVL_STORABLE;
  is_object = handle->uses == TVL_USE_OBJECT && (kind == TVL_OBJECT || kind == TVL_OBJECT_BEFORE);
  if (is_storable || is_object) {
    return thaw(aTHX_ handle, newSVpvn_flags(data, len, SVs_TEMP), is_storable);
  }
  return NULL;
}

static bool is_text(const char *data, size_t len, uint32_t flags) {
  return (flags & TVL_KIND_MASK) == TVL_TEXT && tvl_is_utf8(data, len);
}

/* Returns a new scalar for a result, and frees the result. */
SV *tvl_decode(pTHX_ tvl_handle *handle, tvl_result *result, uint32_t flags) {
  const char *data = result->heap != NULL ? result->heap : result->small;
  SV *made;
  bool is_utf8;
  if (LIKELY(flags == TVL_BYTES)) {
    return tvl_string(aTHX_ result);
  }
  is_utf8 = is_text(data, result->len, flags);
  made = is_utf8 ? NULL : decode(aTHX_ handle, data, result->len, flags);
  if (made != NULL) {
    PerlMem_free(result->heap);
    return made;
  }
  made = tvl_string(aTHX_ result);
  if (is_utf8) {
    SvUTF8_on(made);
  }
  return made;
}

/* Does the same for bytes that are lent. */
SV *tvl_decode_copy(pTHX_ tvl_handle *handle, const char *data, size_t len, uint32_t flags) {
  SV *made = NULL;
  if (flags != TVL_BYTES) {
    if (is_text(data, len, flags)) {
      return newSVpvn_flags(data, len, SVf_UTF8);
    }
    made = decode(aTHX_ handle, data, len, flags);
  }
  return made != NULL ? made : newSVpvn(data, len);
}

/* The slow way of `tvl_key`. */
void tvl_key_slow(pTHX_ const tvl_handle *handle, SV *key, const char **data, STRLEN *len) {
  SvGETMAGIC(key);
  *data = SvPV_nomg_const(key, *len);
  if (handle->has_text_keys && !SvUTF8(key) &&
      !tvl_is_ascii(*data, *len)) {
    SV *text = newSVpvn_flags(*data, *len, SVs_TEMP);
    sv_utf8_upgrade(text);
    *data = SvPV_const(text, *len);
  }
}

/* Returns a new scalar for a key that the library lends. */
SV *tvl_key_sv(pTHX_ const tvl_handle *handle, const char *data, size_t len) {
  bool is_utf8 = handle->has_text_keys && !tvl_is_ascii(data, len) &&
                 tvl_is_utf8(data, len);
  return newSVpvn_flags(data, len, is_utf8 ? SVf_UTF8 : 0);
}

/*
 * Keys and values: from Perl scalars to bytes, and back.
 *
 * Plain strings are done here. What needs a serializer, a compressor, or an error goes to the
 * methods of Tavola::Memcached::Value.
 */
#include "fleet.h"

/* Throws a sentence at the line of the program, not of the binding. */
void tvf_wrong(pTHX_ const char *sentence) {
  dSP;
  PUSHMARK(SP);
  XPUSHs(sv_2mortal(newSVpv(sentence, 0)));
  PUTBACK;
  call_pv("Tavola::Memcached::Value::wrong", G_DISCARD | G_VOID);
  croak("Tavola::Memcached::Value::wrong has returned");
}

/* Returns a scalar whose bytes can be read without a call of Perl code. The caller has called the
 * magic of a tied variable, once. */
static SV *plain_string(pTHX_ SV *sv) {
  if (!tvf_is_plain(sv)) {
    STRLEN len;
    SV *copy = sv_mortalcopy_flags(sv, 0);
    const char *data = SvPV_const(copy, len);
    return SvROK(copy) ? newSVpvn_flags(data, len, SVs_TEMP | (SvUTF8(copy) ? SVf_UTF8 : 0))
                       : copy;
  }
  if (!SvPOKp(sv)) {
    STRLEN len;
    const char *data = SvPV_nomg_const(sv, len);
    if (!SvPOKp(sv)) {
      return newSVpvn_flags(data, len, SVs_TEMP);
    }
  }
  return sv;
}

/* Sets the key of a call: the bytes of a string as Perl stores them. */
void tvf_key(pTHX_ tvf_call *call, SV *key) {
  SvGETMAGIC(key);
  if (!SvOK(key)) {
    tvf_wrong(aTHX_ "a key must be defined");
  }
  call->key = plain_string(aTHX_ key);
}

/* Returns the object that encodes and decodes what is not plain. */
static SV *values_of(pTHX_ SV *self) {
  SV **found = hv_fetchs((HV *)SvRV(self), "values", 0);
  if (found == NULL) {
    croak("Tavola::Memcached: the object has lost its values");
  }
  return *found;
}

/* Sets bytes and flags as the method of Perl says. */
static void encode_by_perl(pTHX_ SV *self, tvf_call *call, SV *value) {
  dSP;
  I32 count;
  PUSHMARK(SP);
  EXTEND(SP, 2);
  PUSHs(values_of(aTHX_ self));
  PUSHs(value);
  PUTBACK;
  count = call_method("encode", G_ARRAY);
  SPAGAIN;
  if (count != 2) {
    croak("Tavola::Memcached::Value::encode has not returned two values");
  }
  call->flags = (uint32_t)SvUV(TOPs);
  (void)POPs;
  call->value = POPs;
  PUTBACK;
  (void)SvPVbyte_nolen(call->value);
}

/* Sets the bytes of a call that puts them to a value that is there. They are never compressed. */
static void encode_part(pTHX_ SV *self, const tvf_handle *handle, tvf_call *call, SV *value) {
  SV *text = plain_string(aTHX_ value);
  if (!SvUTF8(text) || handle->is_utf8) {
    call->value = text;
  } else {
    encode_by_perl(aTHX_ self, call, text);
  }
}

static void encode_whole(pTHX_ SV *self, const tvf_handle *handle, tvf_call *call, SV *value) {
  bool is_plain = !SvROK(value) && (!SvUTF8(value) || handle->is_utf8);
  if (is_plain) {
    value = plain_string(aTHX_ value);
    is_plain = SvCUR(value) < handle->threshold;
  }
  if (is_plain) {
    call->value = value;
    call->flags = SvUTF8(value) ? TVF_UTF8 : 0;
  } else {
    encode_by_perl(aTHX_ self, call, value);
  }
}

/* Sets the value and the flags of a call that stores, or leaves it out if it is too large. */
void tvf_encode(pTHX_ SV *self, const tvf_handle *handle, enum tvf_verb verb, tvf_call *call,
                SV *value) {
  SvGETMAGIC(value);
  if (SvGMAGICAL(value)) {
    value = sv_mortalcopy_flags(value, 0);
  }
  if (!SvOK(value)) {
    tvf_wrong(aTHX_ "a value must be defined");
  }
  if (verb == TVF_APPEND || verb == TVF_PREPEND) {
    encode_part(aTHX_ self, handle, call, value);
  } else {
    encode_whole(aTHX_ self, handle, call, value);
  }
  if (SvCUR(call->value) > handle->max_size) {
    call->is_left_out = true;
    call->status = TAVOLA_MC_ERR_REFUSED;
    call->why = "the value is longer than max_size; give a larger max_size, if servers take it";
  }
}

static SV *decode_by_perl(pTHX_ SV *self, const tvf_call *call) {
  dSP;
  I32 count;
  SV *made = NULL;
  PUSHMARK(SP);
  EXTEND(SP, 3);
  PUSHs(values_of(aTHX_ self));
  PUSHs(call->value);
  PUSHs(sv_2mortal(newSVuv(call->flags)));
  PUTBACK;
  count = call_method("decode", G_ARRAY);
  SPAGAIN;
  while (count-- > 0) {
    made = POPs;
  }
  PUTBACK;
  return made != NULL ? sv_2mortal(SvREFCNT_inc_simple_NN(made)) : NULL;
}

/* Returns the value of a call that has read one, or NULL if there is none that can be read. */
SV *tvf_decode(pTHX_ SV *self, const tvf_handle *handle, const tvf_call *call) {
  if (call->value == NULL || LIKELY(call->flags == 0)) {
    return call->value;
  }
  if (call->flags >> 24 == TVF_BINDING) {
    if ((call->flags & TVF_KIND_MASK) == TVF_TEXT) {
      sv_utf8_decode(call->value);
    }
    return call->value;
  }
  if (call->flags & (TVF_STORABLE | TVF_COMPRESSED)) {
    return decode_by_perl(aTHX_ self, call);
  }
  if (call->flags & TVF_UTF8 && handle->is_utf8) {
    sv_utf8_decode(call->value);
  }
  return call->value;
}

/* Returns an expiry time: 0 if there is none, which is never. */
int32_t tvf_exptime(pTHX_ SV *seconds) {
  IV time;
  SvGETMAGIC(seconds);
  if (!SvOK(seconds)) {
    return 0;
  }
  time = SvIV_nomg(seconds);
  return time > INT32_MAX ? INT32_MAX : time < 0 ? -1 : (int32_t)time;
}

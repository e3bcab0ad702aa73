/*
 * JSON from Perl data: lists, maps, strings, numbers, booleans and `undef`.
 *
 * A string is written as its characters, with or without the UTF-8 flag, as JSON modules of Perl
 * do. Objects are refused, except the booleans of JSON::PP and its friends.
 */
#include "tvl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 512

static void write_value(pTHX_ SV *out, SV *value, int depth);

static void add(pTHX_ SV *out, const char *data, STRLEN len) {
  STRLEN at = SvCUR(out);
  if (SvLEN(out) < at + len + 1) {
    SvGROW(out, (at + len + 1) * 2);
  }
  memcpy(SvPVX(out) + at, data, len);
  SvCUR_set(out, at + len);
}

/* Adds one byte of a string that cannot stay as it is. Bytes from 128 on are Latin-1 characters. */
static void add_special(pTHX_ SV *out, unsigned char byte) {
  static const char escaped[] = "\bb\ff\nn\rr\tt\"\"\\\\";
  char text[8];
  const char *pair;
  if (byte >= 0x80) {
    text[0] = (char)(0xC0 | (byte >> 6));
    text[1] = (char)(0x80 | (byte & 0x3F));
    add(aTHX_ out, text, 2);
    return;
  }
  for (pair = escaped; *pair != '\0'; pair += 2) {
    if ((unsigned char)pair[0] == byte) {
      text[0] = '\\';
      text[1] = pair[1];
      add(aTHX_ out, text, 2);
      return;
    }
  }
  add(aTHX_ out, text, (STRLEN)snprintf(text, sizeof text, "\\u%04x", byte));
}

static void write_string(pTHX_ SV *out, const char *data, STRLEN len, bool is_utf8) {
  STRLEN start = 0, at;
  if (is_utf8 && !tvl_is_utf8(data, len)) {
    tvl_argument(aTHX_ "the text has characters that Unicode does not have (surrogates, or above "
                       "U+10FFFF); encode it to bytes");
  }
  add(aTHX_ out, "\"", 1);
  for (at = 0; at < len; at++) {
    unsigned char byte = (unsigned char)data[at];
    if (byte < 0x20 || byte == '"' || byte == '\\' || (byte >= 0x80 && !is_utf8)) {
      add(aTHX_ out, data + start, at - start);
      add_special(aTHX_ out, byte);
      start = at + 1;
    }
  }
  add(aTHX_ out, data + start, len - start);
  add(aTHX_ out, "\"", 1);
}

static void write_float(pTHX_ SV *out, double value) {
  char text[40];
  if (isnan(value) || isinf(value)) {
    tvl_argument(aTHX_ "JSON has no infinite numbers and no NaN; store the number alone, or open "
                       "the table with a serializer");
  }
  add(aTHX_ out, text, tvl_write_float(text, value));
}

static void write_list(pTHX_ SV *out, AV *list, int depth) {
  SSize_t count = av_len(list) + 1, i;
  add(aTHX_ out, "[", 1);
  for (i = 0; i < count; i++) {
    SV **item = av_fetch(list, i, 0);
    if (i > 0) {
      add(aTHX_ out, ",", 1);
    }
    write_value(aTHX_ out, item != NULL ? *item : &PL_sv_undef, depth);
  }
  add(aTHX_ out, "]", 1);
}

static void write_map(pTHX_ SV *out, HV *map, int depth) {
  HE *entry;
  bool is_first = true;
  add(aTHX_ out, "{", 1);
  hv_iterinit(map);
  while ((entry = hv_iternext(map)) != NULL) {
    STRLEN len;
    const char *key = HePV(entry, len);
    if (!is_first) {
      add(aTHX_ out, ",", 1);
    }
    is_first = false;
    write_string(aTHX_ out, key, len, HeUTF8(entry) != 0);
    add(aTHX_ out, ":", 1);
    write_value(aTHX_ out, hv_iterval(map, entry), depth);
  }
  add(aTHX_ out, "}", 1);
}

static void write_boolean(pTHX_ SV *out, bool is_true) {
  add(aTHX_ out, is_true ? "true" : "false", is_true ? 4 : 5);
}

static void write_reference(pTHX_ SV *out, SV *body, int depth) {
  if (depth >= MOST_DEPTH) {
    tvl_argument(aTHX_ "the value is nested deeper than %d levels; does it contain itself?",
                 MOST_DEPTH);
  }
  if (SvOBJECT(body)) {
    const char *name = HvNAME_get(SvSTASH(body));
    if (name != NULL && (strEQ(name, "JSON::PP::Boolean") || strEQ(name, "boolean"))) {
      write_boolean(aTHX_ out, SvTRUE(body));
      return;
    }
    tvl_argument(aTHX_ "an object of %s is not JSON; open the table with serializer => 'storable', "
                       "or store a plain copy of its data",
                 name != NULL ? name : "?");
  }
  if (SvTYPE(body) == SVt_PVAV) {
    write_list(aTHX_ out, (AV *)body, depth + 1);
  } else if (SvTYPE(body) == SVt_PVHV) {
    write_map(aTHX_ out, (HV *)body, depth + 1);
  } else {
    tvl_argument(aTHX_ "a reference to a %s is not JSON; open the table with serializer => "
                       "'storable', or store lists, maps, strings and numbers",
                 sv_reftype(body, 0));
  }
}

static void write_value(pTHX_ SV *out, SV *value, int depth) {
  char text[40];
  STRLEN len;
  SvGETMAGIC(value);
  if (SvROK(value)) {
    write_reference(aTHX_ out, SvRV(value), depth);
#ifdef SvIsBOOL
  } else if (SvPOK(value) && SvIOK(value) && SvIsBOOL(value)) {
    write_boolean(aTHX_ out, SvTRUE_nomg_NN(value));
#endif
  } else if (isGV_with_GP(value)) {
    tvl_argument(aTHX_ "a glob is not JSON");
  } else if (SvPOK(value)) {
    const char *data = SvPV_nomg_const(value, len);
    write_string(aTHX_ out, data, len, SvUTF8(value) != 0);
  } else if (SvIOK(value)) {
    add(aTHX_ out, text, tvl_write_integer(text, value));
  } else if (SvNOK(value)) {
    write_float(aTHX_ out, (double)SvNVX(value));
  } else if (SvOK(value)) {
    const char *data = SvPV_nomg_const(value, len);
    write_string(aTHX_ out, data, len, SvUTF8(value) != 0);
  } else {
    add(aTHX_ out, "null", 4);
  }
}

/* Returns a new scalar with the JSON text, as UTF-8 bytes. */
SV *tvl_json_write(pTHX_ SV *value) {
  SV *out = sv_2mortal(newSV(128));
  SvPOK_only(out);
  SvCUR_set(out, 0);
  write_value(aTHX_ out, value, 0);
  *SvEND(out) = '\0';
  return SvREFCNT_inc_simple_NN(out);
}

/*
 * Perl data from JSON. It accepts what RFC 8259 says and nothing else, and throws nothing: a text
 * that is not JSON gives NULL.
 */
#include "tvl.h"

#include <string.h>

#define MOST_DEPTH 512

typedef struct reader {
  const char *at;
  const char *end;
  int depth;
} reader;

static SV *read_value(pTHX_ reader *in);

static void skip_space(reader *in) {
  while (in->at < in->end &&
         (*in->at == ' ' || *in->at == '\n' || *in->at == '\t' || *in->at == '\r')) {
    in->at++;
  }
}

static bool skip(reader *in, char wanted) {
  skip_space(in);
  if (in->at < in->end && *in->at == wanted) {
    in->at++;
    return true;
  }
  return false;
}

static bool skip_word(reader *in, const char *word) {
  size_t len = strlen(word);
  if ((size_t)(in->end - in->at) < len || memcmp(in->at, word, len) != 0) {
    return false;
  }
  in->at += len;
  return true;
}

/* Reads four hexadecimal digits, or returns -1. */
static long read_hex(reader *in) {
  long value = 0;
  int i;
  if (in->end - in->at < 4) {
    return -1;
  }
  for (i = 0; i < 4; i++) {
    char digit = *in->at++;
    if (!isXDIGIT(digit)) {
      return -1;
    }
    value = value * 16 + (isDIGIT(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
  }
  return value;
}

/* Reads what follows `\u`: one character, of which the high ones have two escapes. */
static bool read_unicode(pTHX_ reader *in, SV *out) {
  U8 bytes[UTF8_MAXBYTES + 1];
  U8 *end;
  long code = read_hex(in);
  if (code < 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
    return false;
  }
  if (code >= 0xD800 && code <= 0xDBFF) {
    long low;
    if (!skip_word(in, "\\u")) {
      return false;
    }
    low = read_hex(in);
    if (low < 0xDC00 || low > 0xDFFF) {
      return false;
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  end = uvchr_to_utf8(bytes, (UV)code);
  sv_catpvn_nomg(out, (const char *)bytes, (STRLEN)(end - bytes));
  return true;
}

static bool read_escape(pTHX_ reader *in, SV *out) {
  static const char escaped[] = "b\bf\fn\nr\rt\t\"\"\\\\//";
  const char *pair;
  char letter = in->at < in->end ? *in->at++ : '\0';
  if (letter == 'u') {
    return read_unicode(aTHX_ in, out);
  }
  for (pair = escaped; *pair != '\0'; pair += 2) {
    if (pair[0] == letter) {
      sv_catpvn_nomg(out, pair + 1, 1);
      return true;
    }
  }
  return false;
}

/* Reads a string after its first quote. */
static SV *read_string(pTHX_ reader *in) {
  SV *out = newSVpvs("");
  const char *start = in->at;
  while (in->at < in->end && *in->at != '"') {
    if ((unsigned char)*in->at < 0x20) {
      break;
    }
    if (*in->at++ == '\\') {
      sv_catpvn_nomg(out, start, (STRLEN)(in->at - 1 - start));
      if (!read_escape(aTHX_ in, out)) {
        SvREFCNT_dec(out);
        return NULL;
      }
      start = in->at;
    }
  }
  if (in->at >= in->end || *in->at != '"') {
    SvREFCNT_dec(out);
    return NULL;
  }
  sv_catpvn_nomg(out, start, (STRLEN)(in->at++ - start));
  if (!tvl_is_ascii(SvPVX_const(out), SvCUR(out))) {
    SvUTF8_on(out);
  }
  return out;
}

static bool skip_digits(reader *in) {
  const char *start = in->at;
  while (in->at < in->end && isDIGIT(*in->at)) {
    in->at++;
  }
  return in->at > start;
}

/* Reads a number. A whole number beyond 64 bits stays a string of digits: nothing is lost. */
static SV *read_number(pTHX_ reader *in) {
  const char *start = in->at;
  bool is_whole = true;
  SV *made;
  if (*in->at == '-') {
    in->at++;
  }
  if (in->at < in->end && *in->at == '0') {
    in->at++;
  } else if (!skip_digits(in)) {
    return NULL;
  }
  if (in->at < in->end && *in->at == '.') {
    is_whole = false;
    in->at++;
    if (!skip_digits(in)) {
      return NULL;
    }
  }
  if (in->at < in->end && (*in->at | 0x20) == 'e') {
    is_whole = false;
    in->at++;
    if (in->at < in->end && (*in->at == '+' || *in->at == '-')) {
      in->at++;
    }
    if (!skip_digits(in)) {
      return NULL;
    }
  }
  made = is_whole ? tvl_read_integer(aTHX_ start, (size_t)(in->at - start))
                  : tvl_read_float(aTHX_ start, (size_t)(in->at - start));
  return made != NULL ? made : newSVpvn(start, (STRLEN)(in->at - start));
}

/* Reads a list after its first bracket. */
static SV *read_list(pTHX_ reader *in) {
  AV *list = newAV();
  if (skip(in, ']')) {
    return newRV_noinc((SV *)list);
  }
  do {
    SV *item = read_value(aTHX_ in);
    if (item == NULL) {
      SvREFCNT_dec(list);
      return NULL;
    }
    av_push(list, item);
  } while (skip(in, ','));
  if (!skip(in, ']')) {
    SvREFCNT_dec(list);
    return NULL;
  }
  return newRV_noinc((SV *)list);
}

/* Reads one key and its value into a map. */
static bool read_pair(pTHX_ reader *in, HV *map) {
  SV *key, *value = NULL;
  if (!skip(in, '"')) {
    return false;
  }
  key = read_string(aTHX_ in);
  if (key != NULL && skip(in, ':')) {
    value = read_value(aTHX_ in);
  }
  if (value != NULL && hv_store_ent(map, key, value, 0) == NULL) {
    SvREFCNT_dec(value);
  }
  SvREFCNT_dec(key);
  return value != NULL;
}

/* Reads a map after its first brace. */
static SV *read_map(pTHX_ reader *in) {
  HV *map = newHV();
  if (skip(in, '}')) {
    return newRV_noinc((SV *)map);
  }
  do {
    if (!read_pair(aTHX_ in, map)) {
      SvREFCNT_dec(map);
      return NULL;
    }
  } while (skip(in, ','));
  if (!skip(in, '}')) {
    SvREFCNT_dec(map);
    return NULL;
  }
  return newRV_noinc((SV *)map);
}

static SV *read_nested(pTHX_ reader *in, bool is_list) {
  SV *made;
  if (in->depth >= MOST_DEPTH) {
    return NULL;
  }
  in->depth++;
  made = is_list ? read_list(aTHX_ in) : read_map(aTHX_ in);
  in->depth--;
  return made;
}

static SV *read_value(pTHX_ reader *in) {
  skip_space(in);
  if (in->at >= in->end) {
    return NULL;
  }
  switch (*in->at) {
    case '"':
      in->at++;
      return read_string(aTHX_ in);
    case '[':
    case '{':
      return read_nested(aTHX_ in, *in->at++ == '[');
    case 't':
      return skip_word(in, "true") ? newSVsv(&PL_sv_yes) : NULL;
    case 'f':
      return skip_word(in, "false") ? newSVsv(&PL_sv_no) : NULL;
    case 'n':
      return skip_word(in, "null") ? newSV(0) : NULL;
    default:
      return *in->at == '-' || isDIGIT(*in->at) ? read_number(aTHX_ in) : NULL;
  }
}

/* Returns a new scalar, or NULL if the bytes are not JSON. */
SV *tvl_json_read(pTHX_ const char *data, size_t len) {
  reader in = {data, data + len, 0};
  SV *made;
  if (!tvl_is_utf8(data, len)) {
    return NULL;
  }
  made = read_value(aTHX_ &in);
  skip_space(&in);
  if (made != NULL && in.at != in.end) {
    SvREFCNT_dec(made);
    return NULL;
  }
  return made;
}

/* Integers and floats as decimal text. Perl keeps the C locale for numbers while C code runs. */
#include "tvl.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes the digits of an integer backwards from `end`, and returns where they begin. */
static char *digits_before(char *end, UV value) {
  do {
    *--end = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return end;
}

/* Writes an integer scalar, which has SvIOK or SvIOKp. Returns the length. */
STRLEN tvl_write_integer(char *out, SV *value) {
  char buffer[24];
  char *end = buffer + sizeof buffer;
  bool is_negative = !SvIsUV(value) && SvIVX(value) < 0;
  UV size = SvIsUV(value) ? SvUVX(value) : (UV)SvIVX(value);
  char *begin = digits_before(end, is_negative ? (UV)0 - size : size);
  if (is_negative) {
    *--begin = '-';
  }
  memcpy(out, begin, (size_t)(end - begin));
  return (STRLEN)(end - begin);
}

/* Writes the shortest decimal text that reads back equal. `out` has room for 40 bytes. */
STRLEN tvl_write_float(char *out, double value) {
  int digits;
  if (isnan(value)) {
    memcpy(out, "nan", 3);
    return 3;
  }
  if (isinf(value)) {
    return (STRLEN)snprintf(out, 40, value < 0 ? "-inf" : "inf");
  }
  /* 15 digits hold every decimal text of 15 digits, except those of the smallest numbers. */
  digits = fabs(value) < 2.3e-308 ? 1 : 15;
  for (;; digits++) {
    STRLEN len = (STRLEN)snprintf(out, 40, "%.*g", digits, value);
    if (digits >= 17 || strtod(out, NULL) == value) {
      return len;
    }
  }
}

/* Returns an integer, or NULL if the text is not one or does not fit. */
SV *tvl_read_integer(pTHX_ const char *data, size_t len) {
  bool is_negative = len > 0 && data[0] == '-';
  size_t at = is_negative;
  UV value = 0;
  if (at == len) {
    return NULL;
  }
  for (; at < len; at++) {
    UV digit = (UV)(unsigned char)data[at] - '0';
    if (digit > 9 || value > (UV_MAX - digit) / 10) {
      return NULL;
    }
    value = value * 10 + digit;
  }
  if (!is_negative) {
    return newSVuv(value);
  }
  if (value > (UV)IV_MAX + 1) {
    return NULL;
  }
  return newSViv(value == 0 ? 0 : -(IV)(value - 1) - 1);
}

/* Returns a float, or NULL if the text is not one. */
SV *tvl_read_float(pTHX_ const char *data, size_t len) {
  char text[64];
  char *end = NULL;
  double value;
  size_t at;
  if (len == 0 || len >= sizeof text) {
    return NULL;
  }
  memcpy(text, data, len);
  text[len] = '\0';
  if (strcmp(text, "inf") != 0 && strcmp(text, "-inf") != 0 && strcmp(text, "nan") != 0) {
    for (at = 0; at < len; at++) {
      if (!isdigit((unsigned char)text[at]) && strchr("+-.eE", text[at]) == NULL) {
        return NULL;
      }
    }
  }
  value = strtod(text, &end);
  return end == text + len ? newSVnv(value) : NULL;
}

/* Returns a whole number that an argument must be, or throws. */
IV tvl_integer_argument(pTHX_ SV *value, const char *name) {
  SvGETMAGIC(value);
  if (SvIOK(value) && !SvIsUV(value)) {
    return SvIVX(value);
  }
  if (SvOK(value) && !SvROK(value) && looks_like_number(value)) {
    NV number = SvNV_nomg(value);
    if (number == Perl_floor(number) && number >= (NV)IV_MIN && number < -(NV)IV_MIN) {
      return SvIV_nomg(value);
    }
  }
  tvl_argument(aTHX_ "%s must be a whole number of 64 bits with sign", name);
}

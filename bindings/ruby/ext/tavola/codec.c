// Ruby values as bytes with flags, and back. bindings/README.md says which flags mean what; the
// same values are read and written by the other languages.

#include <math.h>
#include "tavola_ruby.h"

#define FLAGS_BYTES 0u
#define FLAGS_TEXT 0x54010000u
#define FLAGS_FLOAT 0x54030000u
#define FLAGS_JSON 0x54040000u
#define FLAGS_MARSHAL 0x54130000u
// A value that the serializer object of the application has written.
#define FLAGS_OBJECT 0x54ff0000u
// How deep lists and maps may be nested; the JSON library has the same limit.
#define MOST_NESTING 100

static ID id_generate, id_parse, id_dump, id_load, id_to_f, id_JSON;
static VALUE sym_never;
static int utf8_index, us_ascii_index;

static VALUE json_module(void) { return rb_const_get(rb_cObject, id_JSON); }

// Whether JSON returns this value as it is. A symbol or a key that is not a string would come back
// as something else.
static bool is_json(VALUE value, int depth);

// Whether all bytes are ASCII. Ruby's own scan takes three times as long, which is most of the time
// of a read of some KB.
static bool is_ascii(const char *data, size_t len) {
  const uint64_t high = 0x8080808080808080u;
  uint64_t words[4];
  for (; len >= sizeof words; data += sizeof words, len -= sizeof words) {
    memcpy(words, data, sizeof words);
    if ((words[0] | words[1] | words[2] | words[3]) & high) return false;
  }
  uint64_t rest = 0;
  for (; len >= sizeof rest; data += sizeof rest, len -= sizeof rest) {
    memcpy(&rest, data, sizeof rest);
    if (rest & high) return false;
  }
  rest = 0;
  memcpy(&rest, data, len);
  return (rest & high) == 0;
}

// Whether the bytes are valid in the encoding of the string, UTF-8 or US-ASCII. The string keeps
// the answer, as it does when Ruby finds out.
static bool is_valid(VALUE string) {
  int range = ENC_CODERANGE(string);
  if (range == ENC_CODERANGE_UNKNOWN) {
    if (is_ascii(TVL_BYTES(string))) {
      ENC_CODERANGE_SET(string, ENC_CODERANGE_7BIT);
      return true;
    }
    range = rb_enc_str_coderange(string);
  }
  return range != ENC_CODERANGE_BROKEN;
}

static bool is_utf8(VALUE string) {
  int encoding = ENCODING_GET(string);
  return (encoding == utf8_index || encoding == us_ascii_index) && is_valid(string);
}

typedef struct {
  int depth;
  bool is_json;
} map_check;

static int check_pair(VALUE key, VALUE value, VALUE user) {
  map_check *check = (map_check *)user;
  check->is_json = RB_TYPE_P(key, T_STRING) && is_utf8(key) && is_json(value, check->depth);
  return check->is_json ? ST_CONTINUE : ST_STOP;
}

static bool is_json(VALUE value, int depth) {
  if (value == Qnil || value == Qtrue || value == Qfalse || RB_INTEGER_TYPE_P(value)) return true;
  if (RB_FLOAT_TYPE_P(value)) return isfinite(RFLOAT_VALUE(value));
  if (RB_TYPE_P(value, T_STRING)) return is_utf8(value);
  if (depth >= MOST_NESTING) return false;
  if (RB_TYPE_P(value, T_ARRAY)) {
    for (long i = 0; i < RARRAY_LEN(value); i++) {
      if (!is_json(RARRAY_AREF(value, i), depth + 1)) return false;
    }
    return true;
  }
  if (RB_TYPE_P(value, T_HASH)) {
    map_check check = {depth + 1, true};
    rb_hash_foreach(value, check_pair, (VALUE)&check);
    return check.is_json;
  }
  return false;
}

bool tvl_is_text(VALUE string) { return is_utf8(string); }

static void encode_bytes(VALUE string, uint32_t flags, tvl_encoded *out) {
  out->keep = string;
  out->data = RSTRING_PTR(string);
  out->len = (size_t)RSTRING_LEN(string);
  out->flags = flags;
}

static void encode_fixnum(long number, tvl_encoded *out) {
  char *at = out->digits + sizeof out->digits;
  unsigned long rest = number < 0 ? 0ul - (unsigned long)number : (unsigned long)number;
  do {
    *--at = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--at = '-';
  out->data = at;
  out->len = (size_t)(out->digits + sizeof out->digits - at);
  out->flags = TVL_FLAGS_INTEGER;
  out->keep = Qnil;
}

// Ruby writes 1e+20 as 1.0e+20; the other languages leave out the ".0".
static void encode_float(VALUE value, tvl_encoded *out) {
  double number = RFLOAT_VALUE(value);
  out->flags = FLAGS_FLOAT;
  out->keep = Qnil;
  out->data = out->digits;
  if (!isfinite(number)) {
    const char *name = isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
    out->len = strlen(strcpy(out->digits, name));
    return;
  }
  VALUE text = rb_obj_as_string(value);
  const char *from = RSTRING_PTR(text);
  size_t len = (size_t)RSTRING_LEN(text), to = 0;
  for (size_t i = 0; i < len && to < sizeof out->digits; i++) {
    if (from[i] == '.' && i + 2 < len && from[i + 1] == '0' && from[i + 2] == 'e') i += 2;
    out->digits[to++] = from[i];
  }
  out->len = to;
  RB_GC_GUARD(text);
}

NORETURN(static void refuse(VALUE value));
static void refuse(VALUE value) {
  rb_raise(rb_eTypeError,
           "a value of class %" PRIsVALUE
           " cannot be stored: without a serializer a table takes strings, numbers, true, false, "
           "nil, and arrays and hashes of them with strings as keys; open the table with "
           "serializer: :marshal",
           rb_obj_class(value));
}

static void encode_object(tvl_handle *handle, VALUE value, tvl_encoded *out) {
  bool is_list = RB_TYPE_P(value, T_ARRAY) || RB_TYPE_P(value, T_HASH);
  if (value == Qnil || value == Qtrue || value == Qfalse) {
    const char *text = value == Qnil ? "null" : value == Qtrue ? "true" : "false";
    *out = (tvl_encoded){.data = text, .len = strlen(text), .flags = FLAGS_JSON, .keep = Qnil};
  } else if (handle->kind == TVL_MARSHAL) {
    encode_bytes(rb_marshal_dump(value, Qnil), FLAGS_MARSHAL, out);
  } else if (handle->kind == TVL_OBJECT) {
    VALUE bytes = rb_funcall(handle->serializer, id_dump, 1, value);
    encode_bytes(StringValue(bytes), FLAGS_OBJECT, out);
  } else if (is_list && is_json(value, 0)) {
    encode_bytes(rb_funcall(json_module(), id_generate, 1, value), FLAGS_JSON, out);
  } else {
    refuse(value);
  }
}

void tvl_encode(tvl_handle *handle, VALUE value, tvl_encoded *out) {
  if (RB_TYPE_P(value, T_STRING)) {
    encode_bytes(value, is_utf8(value) ? FLAGS_TEXT : FLAGS_BYTES, out);
  } else if (RB_FIXNUM_P(value)) {
    encode_fixnum(FIX2LONG(value), out);
  } else if (RB_FLOAT_TYPE_P(value)) {
    encode_float(value, out);
  } else if (RB_TYPE_P(value, T_BIGNUM)) {
    encode_bytes(rb_big2str(value, 10), TVL_FLAGS_INTEGER, out);
  } else {
    encode_object(handle, value, out);
  }
  if (RB_UNLIKELY(handle->waits) && !NIL_P(out->keep)) {
    // Another thread may change the string while the write waits for the disk.
    out->keep = rb_str_new_frozen(out->keep);
    out->data = RSTRING_PTR(out->keep);
  }
}

// The kind of these flags. The low 16 bits belong to leases.
static uint32_t kind_of(uint32_t flags) {
  return flags >> 24 == 0x54 ? flags & 0xffff0000u : FLAGS_BYTES;
}

static VALUE decode_integer(const char *data, size_t len) {
  size_t i = len != 0 && data[0] == '-';
  if (i == len) return Qundef;
  unsigned long number = 0;
  for (size_t at = i; at < len; at++) {
    if (data[at] < '0' || data[at] > '9') return Qundef;
    number = number * 10 + (unsigned long)(data[at] - '0');
  }
  if (len - i <= 18) return LONG2NUM(i ? -(long)number : (long)number);
  VALUE text = rb_str_new(data, (long)len);
  return rb_str_to_inum(text, 10, 0);
}

// Whether this is a decimal number, which is less than what `strtod` and Ruby accept.
static bool is_decimal(const char *data, size_t len) {
  size_t i = len != 0 && data[0] == '-', digits = 0;
  for (; i < len && data[i] >= '0' && data[i] <= '9'; i++) digits++;
  if (i < len && data[i] == '.') {
    for (i++; i < len && data[i] >= '0' && data[i] <= '9'; i++) digits++;
  }
  if (digits == 0) return false;
  if (i < len && (data[i] == 'e' || data[i] == 'E')) {
    i++;
    if (i < len && (data[i] == '+' || data[i] == '-')) i++;
    size_t first = i;
    for (; i < len && data[i] >= '0' && data[i] <= '9'; i++) continue;
    if (i == first) return false;
  }
  return i == len;
}

static VALUE decode_float(const char *data, size_t len) {
  if (len == 3 && memcmp(data, "inf", 3) == 0) return DBL2NUM(HUGE_VAL);
  if (len == 4 && memcmp(data, "-inf", 4) == 0) return DBL2NUM(-HUGE_VAL);
  if (len == 3 && memcmp(data, "nan", 3) == 0) return DBL2NUM(nan(""));
  if (!is_decimal(data, len)) return Qundef;
  char *end, digits[64];
  if (len >= sizeof digits) return DBL2NUM(rb_str_to_dbl(rb_str_new(data, (long)len), 0));
  memcpy(digits, data, len);
  digits[len] = 0;
  // Ruby's own, which does not depend on the locale.
  return DBL2NUM(ruby_strtod(digits, &end));
}

static VALUE parse_json(VALUE text) { return rb_funcall(json_module(), id_parse, 1, text); }
static VALUE load_marshal(VALUE bytes) { return rb_marshal_load(bytes); }
static VALUE load_object(VALUE pair) {
  return rb_funcall(RARRAY_AREF(pair, 0), id_load, 1, RARRAY_AREF(pair, 1));
}
static VALUE undefined(VALUE ignored, VALUE error) { return Qundef; }

// Calls `decode`, and returns Qundef if it raises a StandardError.
static VALUE attempt(VALUE (*decode)(VALUE), VALUE argument) {
  VALUE raised = rb_errinfo();
  VALUE value = rb_rescue2(decode, argument, undefined, Qnil, rb_eStandardError, (VALUE)0);
  rb_set_errinfo(raised);
  return value;
}

// Marks a string of ours as text, or as bytes if it is not valid UTF-8.
static VALUE as_text(VALUE string) {
  ENCODING_SET(string, utf8_index);
  ENC_CODERANGE_CLEAR(string);
  if (RB_LIKELY(is_valid(string))) return string;
  return rb_enc_associate_index(string, rb_ascii8bit_encindex());
}

static VALUE decode_object(const tvl_handle *handle, uint32_t kind, VALUE string) {
  if (kind == FLAGS_JSON) {
    VALUE text = as_text(rb_str_dup(string));
    return is_utf8(text) ? attempt(parse_json, text) : Qundef;
  }
  if (kind == FLAGS_MARSHAL && handle->kind == TVL_MARSHAL) return attempt(load_marshal, string);
  if (kind == FLAGS_OBJECT && handle->kind == TVL_OBJECT) {
    return attempt(load_object, rb_assoc_new(handle->serializer, string));
  }
  return Qundef;
}

// Decodes a string that was just made from the value, and that nobody else has.
VALUE tvl_decode_string(const tvl_handle *handle, uint32_t flags, VALUE string) {
  uint32_t kind = kind_of(flags);
  VALUE value = Qundef;
  if (kind == FLAGS_BYTES) return string;
  if (kind == FLAGS_TEXT) return as_text(string);
  if (kind == TVL_FLAGS_INTEGER) {
    value = decode_integer(TVL_BYTES(string));
  } else if (kind == FLAGS_FLOAT) {
    value = decode_float(TVL_BYTES(string));
  } else {
    value = decode_object(handle, kind, string);
  }
  RB_GC_GUARD(string);
  return value == Qundef ? string : value;
}

VALUE tvl_decode(const tvl_handle *handle, uint32_t flags, const char *data, size_t len) {
  uint32_t kind = kind_of(flags);
  VALUE value = Qundef;
  if (kind == TVL_FLAGS_INTEGER) value = decode_integer(data, len);
  if (kind == FLAGS_FLOAT) value = decode_float(data, len);
  if (kind == FLAGS_JSON && len == 4 && memcmp(data, "true", 4) == 0) return Qtrue;
  if (kind == FLAGS_JSON && len == 4 && memcmp(data, "null", 4) == 0) return Qnil;
  if (kind == FLAGS_JSON && len == 5 && memcmp(data, "false", 5) == 0) return Qfalse;
  if (value != Qundef) return value;
  VALUE string = rb_str_new(data, (long)len);
  if (RB_LIKELY(kind == FLAGS_TEXT)) return as_text(string);
  if (kind == TVL_FLAGS_INTEGER || kind == FLAGS_FLOAT) return string;
  return tvl_decode_string(handle, flags, string);
}

VALUE tvl_text(const char *data, size_t len) { return as_text(rb_str_new(data, (long)len)); }

VALUE tvl_key(VALUE key) {
  if (RB_LIKELY(RB_TYPE_P(key, T_STRING))) return key;
  if (RB_SYMBOL_P(key)) return rb_sym2str(key);
  if (RB_INTEGER_TYPE_P(key)) return rb_obj_as_string(key);
  VALUE text = rb_check_string_type(key);
  if (!NIL_P(text)) return text;
  rb_raise(rb_eTypeError, "a key is a String, a Symbol or an Integer, not %" PRIsVALUE,
           rb_obj_class(key));
}

static double seconds_of(VALUE value, const char *what) {
  if (RB_FLOAT_TYPE_P(value) || RB_INTEGER_TYPE_P(value)) return NUM2DBL(value);
  VALUE number = RB_TYPE_P(value, T_STRING) ? Qundef : rb_check_funcall(value, id_to_f, 0, NULL);
  if (number == Qundef || NIL_P(value)) {
    rb_raise(rb_eTypeError, "%s is a number of seconds, not %" PRIsVALUE, what,
             rb_obj_class(value));
  }
  return NUM2DBL(number);
}

// Seconds as milliseconds, rounded up.
uint64_t tvl_ms(VALUE value, const char *what) {
  double seconds = seconds_of(value, what);
  if (isnan(seconds) || seconds < 0) rb_raise(rb_eArgError, "%s must not be negative", what);
  double ms = ceil(seconds * 1000);
  return ms >= 9e18 ? TVL_FOREVER : (uint64_t)ms;
}

// How long to wait; nil is no limit.
uint64_t tvl_timeout_ms(VALUE seconds) {
  return NIL_P(seconds) ? TVL_FOREVER : tvl_ms(seconds, "timeout");
}

// nil is the time of the table, and :never or Float::INFINITY is no limit.
void tvl_attributes_of(VALUE ttl, uint32_t flags, tavola_attributes *attributes) {
  *attributes = (tavola_attributes)TAVOLA_INIT(tavola_attributes);
  attributes->flags = flags;
  if (NIL_P(ttl)) return;
  if (ttl == sym_never) {
    attributes->ttl_ms = TAVOLA_TTL_NEVER;
    return;
  }
  uint64_t ms = tvl_ms(ttl, "ttl");
  if (ms == 0) rb_raise(rb_eArgError, "ttl must be more than 0 seconds; use :never for no limit");
  attributes->ttl_ms = ms == TVL_FOREVER ? TAVOLA_TTL_NEVER : (int64_t)ms;
}

void tvl_init_codec(void) {
  utf8_index = rb_utf8_encindex();
  us_ascii_index = rb_usascii_encindex();
  id_generate = rb_intern("generate");
  id_parse = rb_intern("parse");
  id_dump = rb_intern("dump");
  id_load = rb_intern("load");
  id_to_f = rb_intern("to_f");
  id_JSON = rb_intern("JSON");
  sym_never = ID2SYM(rb_intern("never"));
}

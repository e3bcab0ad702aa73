// Reading one key. The value goes straight into memory of its own kind: a short one to the stack,
// and from there to the object that it is; a long one into the string that is returned.

#include "tavola_ruby.h"

#define SHORT 1024
// The most room that a table keeps for the next read.
#define MOST_SPARE (256 * 1024)

// Where a read that changes the time puts what it has found.
typedef struct {
  tavola_buffer *buffer;
  tavola_attributes *has;
  uint64_t *token;
} touched;

static tavola_status call_touch(const tavola_table *table, const tvl_call *call) {
  touched *to = call->out;
  return tavola_get_and_touch(table, call->key, call->key_len, call->how, to->buffer, to->has,
                              to->token);
}

// Reads a value into `buffer`.
static tavola_status read_into(VALUE self, tvl_handle *handle, VALUE key, tavola_buffer *buffer,
                               const tavola_attributes *touch, tavola_attributes *has,
                               uint64_t *token) {
  uint64_t waited = 0;
  tavola_status status;
  if (RB_UNLIKELY(touch != NULL)) {
    touched to = {buffer, has, token};
    tvl_call call = TVL_CALL(key);
    call.how = touch;
    call.out = &to;
    return tvl_write(self, handle, call_touch, &call);
  }
  do {
    status = tavola_get_entry(handle->table, TVL_BYTES(key), buffer, has, token);
  } while (RB_UNLIKELY(status == TAVOLA_ERR_BUSY) && tvl_busy_again(self, handle, &waited));
  return status;
}

// The next long value probably has about the length of the last one.
static void expect(tvl_handle *handle, size_t len) {
  size_t expected = handle->expected;
  handle->expected = len >= expected ? len : expected - (expected - len) / 8;
}

// Returns a string with room for so many bytes, or more.
static VALUE take_room(tvl_handle *handle, size_t *capacity) {
  VALUE spare = handle->spare;
  handle->spare = Qnil;
  if (!NIL_P(spare) && rb_str_capacity(spare) >= *capacity) {
    *capacity = rb_str_capacity(spare);
    return spare;
  }
  return rb_str_buf_new((long)*capacity);
}

// Keeps the room of a read that found no value, or a short one.
static void keep_room(VALUE self, tvl_handle *handle, VALUE string, size_t capacity) {
  if (capacity <= MOST_SPARE) {
    RB_OBJ_WRITE(self, &handle->spare, string);
  } else {
    rb_str_resize(string, 0);
    expect(handle, 0);
  }
}

static VALUE read_long(VALUE self, tvl_handle *handle, VALUE key, size_t capacity,
                       const tavola_attributes *touch, tavola_attributes *has, uint64_t *token) {
  for (;;) {
    VALUE string = take_room(handle, &capacity);
    tavola_buffer buffer = TAVOLA_BUFFER(RSTRING_PTR(string), capacity);
    tavola_status status = read_into(self, handle, key, &buffer, touch, has, token);
    if (status == TAVOLA_ERR_TOO_SMALL) {
      capacity = buffer.len;
      continue;
    }
    if (tvl_check(status) == TAVOLA_NOT_FOUND) {
      keep_room(self, handle, string, capacity);
      return Qundef;
    }
    expect(handle, buffer.len);
    if (buffer.len <= SHORT) {
      VALUE value = tvl_decode(handle, has->flags, RSTRING_PTR(string), buffer.len);
      keep_room(self, handle, string, capacity);
      return value;
    }
    rb_str_set_len(string, (long)buffer.len);
    if (capacity / 2 > buffer.len) rb_str_resize(string, (long)buffer.len);
    return tvl_decode_string(handle, has->flags, string);
  }
}

// Returns the value of a key, or Qundef if it is missing. `touch` may be NULL, else the key gets
// that time. `has` gets its attributes, and `token`, which may be NULL, its token.
VALUE tvl_read(VALUE self, tvl_handle *handle, VALUE key, const tavola_attributes *touch,
               tavola_attributes *has, uint64_t *token) {
  if (handle->expected > SHORT) {
    return read_long(self, handle, key, handle->expected, touch, has, token);
  }
  char bytes[SHORT];
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_status status = read_into(self, handle, key, &buffer, touch, has, token);
  if (RB_LIKELY(status == TAVOLA_OK)) return tvl_decode(handle, has->flags, bytes, buffer.len);
  if (status == TAVOLA_ERR_TOO_SMALL) {
    return read_long(self, handle, key, buffer.len, touch, has, token);
  }
  tvl_check(status);
  return Qundef;
}

static VALUE table_get(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  key = tvl_key(key);
  VALUE value = tvl_read(self, handle, key, NULL, &has, NULL);
  RB_GC_GUARD(key);
  return value == Qundef ? Qnil : value;
}

// Returns the value, or `missing` if the key is missing. Hash#fetch is built on it.
static VALUE table_get_or(VALUE self, VALUE key, VALUE missing) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  key = tvl_key(key);
  VALUE value = tvl_read(self, handle, key, NULL, &has, NULL);
  RB_GC_GUARD(key);
  return value == Qundef ? missing : value;
}

static VALUE table_gets(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  uint64_t token = 0;
  key = tvl_key(key);
  VALUE value = tvl_read(self, handle, key, NULL, &has, &token);
  RB_GC_GUARD(key);
  return value == Qundef ? Qnil : rb_assoc_new(value, ULL2NUM(token));
}

static VALUE table_has_key(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  key = tvl_key(key);
  tavola_status status = tvl_check(tavola_contains(handle->table, TVL_BYTES(key)));
  RB_GC_GUARD(key);
  return TVL_BOOL(status == TAVOLA_OK);
}

// Returns the bytes as they are, whatever their kind, and the flags; and the token, too.
static VALUE get_bytes(VALUE self, VALUE key, bool has_token) {
  tvl_handle *handle = tvl_handle_of(self);
  char bytes[SHORT];
  VALUE string = Qnil;
  uint64_t token = 0;
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  key = tvl_key(key);
  for (;;) {
    tavola_status status = tavola_get_entry(handle->table, TVL_BYTES(key), &buffer, &has,
                                            has_token ? &token : NULL);
    if (tvl_check(status == TAVOLA_ERR_TOO_SMALL ? TAVOLA_OK : status) == TAVOLA_NOT_FOUND) {
      return Qnil;
    }
    if (status == TAVOLA_OK) break;
    string = rb_str_buf_new((long)buffer.len);
    buffer = (tavola_buffer)TAVOLA_BUFFER(RSTRING_PTR(string), buffer.len);
  }
  RB_GC_GUARD(key);
  if (NIL_P(string)) {
    string = rb_str_new(bytes, (long)buffer.len);
  } else {
    rb_str_set_len(string, (long)buffer.len);
  }
  VALUE result = rb_assoc_new(string, UINT2NUM(has.flags));
  return has_token ? rb_ary_push(result, ULL2NUM(token)) : result;
}

static VALUE table_get_bytes(VALUE self, VALUE key) { return get_bytes(self, key, false); }

static VALUE table_gets_bytes(VALUE self, VALUE key) { return get_bytes(self, key, true); }

// Returns a part of the value's bytes.
static VALUE table_get_range(VALUE self, VALUE key, VALUE start, VALUE most) {
  tvl_handle *handle = tvl_handle_of(self);
  uint64_t from = NUM2ULL(start);
  size_t len = 0, max = NUM2SIZET(most);
  key = tvl_key(key);
  if (tvl_check(tavola_value_len(handle->table, TVL_BYTES(key), &len)) == TAVOLA_NOT_FOUND) {
    return Qnil;
  }
  size_t left = from >= len ? 0 : len - (size_t)from;
  size_t capacity = max < left ? max : left;
  VALUE string = rb_str_buf_new((long)capacity);
  tavola_buffer buffer = TAVOLA_BUFFER(RSTRING_PTR(string), capacity);
  tavola_status status =
      tavola_get_range(handle->table, TVL_BYTES(key), from, capacity, &buffer);
  RB_GC_GUARD(key);
  if (tvl_check(status) == TAVOLA_NOT_FOUND) return Qnil;
  rb_str_set_len(string, (long)buffer.len);
  return string;
}

static VALUE table_value_bytesize(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  size_t len = 0;
  key = tvl_key(key);
  tavola_status status = tavola_value_len(handle->table, TVL_BYTES(key), &len);
  RB_GC_GUARD(key);
  return tvl_check(status) == TAVOLA_NOT_FOUND ? Qnil : SIZET2NUM(len);
}

// `compute` without a time stores a value for a thousand years, which is the longest time of a
// lease.
#define AS_GOOD_AS_NEVER_MS (900LL * 365 * 24 * 60 * 60 * 1000)

// Whole seconds, rounded up; nil if the key is missing or never expires.
static VALUE table_ttl(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  int64_t ms = 0;
  key = tvl_key(key);
  tavola_status status = tavola_ttl(handle->table, TVL_BYTES(key), &ms);
  RB_GC_GUARD(key);
  if (tvl_check(status) == TAVOLA_NOT_FOUND || ms == TAVOLA_TTL_NEVER ||
      ms > AS_GOOD_AS_NEVER_MS) {
    return Qnil;
  }
  return LL2NUM(ms / 1000 + (ms % 1000 != 0));
}

// Reads a value and changes its time.
static VALUE table_get_and_touch(VALUE self, VALUE key, VALUE ttl) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes touch, has = TAVOLA_INIT(tavola_attributes);
  tvl_attributes_of(ttl, 0, &touch);
  key = tvl_write_key(handle, key);
  VALUE value = tvl_read(self, handle, key, &touch, &has, NULL);
  RB_GC_GUARD(key);
  return value == Qundef ? Qnil : value;
}

void tvl_init_read(void) {
  rb_define_method(tvl_table_class, "get", table_get, 1);
  rb_define_method(tvl_table_class, "[]", table_get, 1);
  rb_define_private_method(tvl_table_class, "get_or", table_get_or, 2);
  rb_define_method(tvl_table_class, "gets", table_gets, 1);
  rb_define_method(tvl_table_class, "key?", table_has_key, 1);
  rb_define_method(tvl_table_class, "get_bytes", table_get_bytes, 1);
  rb_define_method(tvl_table_class, "gets_bytes", table_gets_bytes, 1);
  rb_define_method(tvl_table_class, "get_range", table_get_range, 3);
  rb_define_method(tvl_table_class, "value_bytesize", table_value_bytesize, 1);
  rb_define_method(tvl_table_class, "ttl", table_ttl, 1);
  rb_define_method(tvl_table_class, "get_and_touch", table_get_and_touch, 2);
}

// Writing and removing one key.

#include "tavola_ruby.h"

enum { KW_TTL, KW_TAGS, KW_COUNT };
static ID keyword_ids[KW_COUNT];

// What a write gets beside key and value.
typedef struct {
  tvl_encoded value;
  tavola_attributes attributes;
  tavola_tags tag_room;
  tavola_store_options how;
} writing;

// `given` is nil or the keywords `ttl:` and `tags:`.
static void prepare(VALUE self, tvl_handle *handle, VALUE value, VALUE given, writing *write) {
  VALUE keywords[KW_COUNT] = {Qundef, Qundef};
  if (!NIL_P(given)) rb_get_kwargs(given, keyword_ids, 0, KW_COUNT, keywords);
  VALUE ttl = keywords[KW_TTL] == Qundef ? Qnil : keywords[KW_TTL];
  VALUE tags = keywords[KW_TAGS] == Qundef ? Qnil : keywords[KW_TAGS];
  tvl_encode(handle, value, &write->value);
  uint32_t flags = tvl_is_fixed(handle) ? 0 : write->value.flags;
  tvl_attributes_of(ttl, flags, &write->attributes);
  write->how = (tavola_store_options)TAVOLA_INIT(tavola_store_options);
  write->how.attributes = &write->attributes;
  write->how.tags = tvl_tags_of(self, handle, tags, &write->tag_room);
}

// The calls of the library, with their arguments in a `tvl_call`.
static tavola_status call_set(const tavola_table *table, const tvl_call *call) {
  return tavola_set(table, call->key, call->key_len, call->data, call->len);
}

static tavola_status call_set_with(const tavola_table *table, const tvl_call *call) {
  return tavola_set_with(table, call->key, call->key_len, call->data, call->len, call->how);
}

static tavola_status call_store(const tavola_table *table, const tvl_call *call) {
  return tavola_store(table, call->key, call->key_len, call->data, call->len, call->how, call->out);
}

static tavola_status call_remove(const tavola_table *table, const tvl_call *call) {
  return tavola_remove(table, call->key, call->key_len);
}

static tavola_status call_compare_and_remove(const tavola_table *table, const tvl_call *call) {
  return tavola_compare_and_remove(table, call->key, call->key_len, call->number);
}

static tavola_status call_append(const tavola_table *table, const tvl_call *call) {
  return tavola_append(table, call->key, call->key_len, call->data, call->len);
}

static tavola_status call_prepend(const tavola_table *table, const tvl_call *call) {
  return tavola_prepend(table, call->key, call->key_len, call->data, call->len);
}

static tavola_status call_touch(const tavola_table *table, const tvl_call *call) {
  return tavola_touch(table, call->key, call->key_len, call->how);
}

static tavola_status call_persist(const tavola_table *table, const tvl_call *call) {
  return tavola_persist(table, call->key, call->key_len);
}

static tavola_status store(VALUE self, VALUE key, writing *write, int32_t condition) {
  tvl_call call = TVL_CALL(key);
  write->how.condition = condition;
  call.data = write->value.data;
  call.len = write->value.len;
  call.how = &write->how;
  tavola_status status = tvl_write(self, tvl_handle_of(self), call_store, &call);
  RB_GC_GUARD(key);
  RB_GC_GUARD(write->value.keep);
  return tvl_check(status);
}

// The fast path of `table[key] = value`.
static VALUE table_assign(VALUE self, VALUE key, VALUE value) {
  tvl_handle *handle = tvl_handle_of(self);
  tvl_encoded encoded;
  tavola_status status;
  key = tvl_write_key(handle, key);
  tvl_encode(handle, value, &encoded);
  tvl_call call = TVL_CALL(key);
  call.data = encoded.data;
  call.len = encoded.len;
  if (encoded.flags == 0 || tvl_is_fixed(handle)) {
    status = tvl_write(self, handle, call_set, &call);
  } else {
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    attributes.flags = encoded.flags;
    call.how = &attributes;
    status = tvl_write(self, handle, call_set_with, &call);
  }
  RB_GC_GUARD(key);
  RB_GC_GUARD(encoded.keep);
  tvl_check(status);
  return value;
}

static tavola_status store_if(int argc, VALUE *argv, VALUE self, int32_t condition) {
  VALUE key, value, given;
  writing write;
  rb_scan_args(argc, argv, "2:", &key, &value, &given);
  key = tvl_write_key(tvl_handle_of(self), key);
  prepare(self, tvl_handle_of(self), value, given, &write);
  tavola_status status = store(self, key, &write, condition);
  RB_GC_GUARD(value);
  return status;
}

static VALUE table_set(int argc, VALUE *argv, VALUE self) {
  if (argc == 2) {
    table_assign(self, argv[0], argv[1]);
  } else {
    store_if(argc, argv, self, TAVOLA_CONDITION_ALWAYS);
  }
  return Qtrue;
}

static VALUE table_add(int argc, VALUE *argv, VALUE self) {
  return TVL_BOOL(store_if(argc, argv, self, TAVOLA_CONDITION_ABSENT) == TAVOLA_OK);
}

static VALUE table_replace(int argc, VALUE *argv, VALUE self) {
  return TVL_BOOL(store_if(argc, argv, self, TAVOLA_CONDITION_PRESENT) == TAVOLA_OK);
}

static VALUE table_cas(int argc, VALUE *argv, VALUE self) {
  VALUE key, value, token, given;
  writing write;
  rb_scan_args(argc, argv, "3:", &key, &value, &token, &given);
  key = tvl_write_key(tvl_handle_of(self), key);
  uint64_t expected = NUM2ULL(token);
  prepare(self, tvl_handle_of(self), value, given, &write);
  write.how.token = expected;
  tavola_status status = store(self, key, &write, TAVOLA_CONDITION_TOKEN);
  RB_GC_GUARD(value);
  return TVL_BOOL(status == TAVOLA_OK);
}

// Sets a key and returns the value that it had.
static VALUE table_swap(int argc, VALUE *argv, VALUE self) {
  VALUE key, value, given;
  writing write;
  rb_scan_args(argc, argv, "2:", &key, &value, &given);
  key = tvl_write_key(tvl_handle_of(self), key);
  prepare(self, tvl_handle_of(self), value, given, &write);
  for (;;) {
    tavola_attributes has = TAVOLA_INIT(tavola_attributes);
    VALUE old = tvl_read(self, tvl_handle_of(self), key, NULL, &has, &write.how.token);
    bool is_missing = old == Qundef;
    if (is_missing) write.how.token = 0;
    int32_t condition = is_missing ? TAVOLA_CONDITION_ABSENT : TAVOLA_CONDITION_TOKEN;
    if (store(self, key, &write, condition) == TAVOLA_OK) {
      RB_GC_GUARD(value);
      return is_missing ? Qnil : old;
    }
  }
}

// Removes a key and returns its value, or `missing`. Hash#delete is built on it.
static VALUE take_or(VALUE self, VALUE key, VALUE missing) {
  key = tvl_write_key(tvl_handle_of(self), key);
  for (;;) {
    tavola_attributes has = TAVOLA_INIT(tavola_attributes);
    tvl_call call = TVL_CALL(key);
    VALUE old = tvl_read(self, tvl_handle_of(self), key, NULL, &has, &call.number);
    if (old == Qundef) return missing;
    tavola_status status =
        tvl_write(self, tvl_handle_of(self), call_compare_and_remove, &call);
    RB_GC_GUARD(key);
    if (tvl_check(status) == TAVOLA_OK) return old;
  }
}

static VALUE table_take(VALUE self, VALUE key) { return take_or(self, key, Qnil); }

static VALUE table_take_or(VALUE self, VALUE key, VALUE missing) {
  return take_or(self, key, missing);
}

static VALUE table_remove(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  key = tvl_write_key(handle, key);
  tvl_call call = TVL_CALL(key);
  tavola_status status = tvl_write(self, handle, call_remove, &call);
  RB_GC_GUARD(key);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

// Removes a key if it has this token still.
static VALUE table_compare_and_remove(VALUE self, VALUE key, VALUE token) {
  tvl_handle *handle = tvl_handle_of(self);
  uint64_t expected = NUM2ULL(token);
  key = tvl_write_key(handle, key);
  tvl_call call = TVL_CALL(key);
  call.number = expected;
  tavola_status status = tvl_write(self, handle, call_compare_and_remove, &call);
  RB_GC_GUARD(key);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static VALUE extend(VALUE self, VALUE key, VALUE more, tvl_write_fn add) {
  tvl_handle *handle = tvl_handle_of(self);
  tvl_encoded encoded;
  key = tvl_write_key(handle, key);
  tvl_encode(handle, more, &encoded);
  tvl_call call = TVL_CALL(key);
  call.data = encoded.data;
  call.len = encoded.len;
  tavola_status status = tvl_write(self, handle, add, &call);
  RB_GC_GUARD(key);
  RB_GC_GUARD(encoded.keep);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static VALUE table_append(VALUE self, VALUE key, VALUE more) {
  return extend(self, key, more, call_append);
}

static VALUE table_prepend(VALUE self, VALUE key, VALUE more) {
  return extend(self, key, more, call_prepend);
}

// `touch(key)` gives the key the time of the table, and `touch(key, nil)` lets it live without a
// limit.
static VALUE table_touch(int argc, VALUE *argv, VALUE self) {
  VALUE key, ttl;
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes attributes;
  rb_scan_args(argc, argv, "11", &key, &ttl);
  tvl_attributes_of(ttl, 0, &attributes);
  if (argc == 2 && NIL_P(ttl)) attributes.ttl_ms = TAVOLA_TTL_NEVER;
  key = tvl_write_key(handle, key);
  tvl_call call = TVL_CALL(key);
  call.how = &attributes;
  tavola_status status = tvl_write(self, handle, call_touch, &call);
  RB_GC_GUARD(key);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static VALUE table_persist(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  key = tvl_write_key(handle, key);
  tvl_call call = TVL_CALL(key);
  tavola_status status = tvl_write(self, handle, call_persist, &call);
  RB_GC_GUARD(key);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

// Stores bytes with these flags, as another program would.
static VALUE store_bytes(VALUE self, VALUE key, VALUE bytes, VALUE flags, VALUE given,
                         int32_t condition, uint64_t token) {
  writing write;
  key = tvl_write_key(tvl_handle_of(self), key);
  StringValue(bytes);
  prepare(self, tvl_handle_of(self), bytes, given, &write);
  write.attributes.flags = NUM2UINT(flags);
  write.how.token = token;
  tavola_status status = store(self, key, &write, condition);
  RB_GC_GUARD(bytes);
  return TVL_BOOL(status == TAVOLA_OK);
}

static VALUE table_set_bytes(int argc, VALUE *argv, VALUE self) {
  VALUE key, bytes, flags, given;
  rb_scan_args(argc, argv, "3:", &key, &bytes, &flags, &given);
  return store_bytes(self, key, bytes, flags, given, TAVOLA_CONDITION_ALWAYS, 0);
}

static VALUE table_add_bytes(int argc, VALUE *argv, VALUE self) {
  VALUE key, bytes, flags, given;
  rb_scan_args(argc, argv, "3:", &key, &bytes, &flags, &given);
  return store_bytes(self, key, bytes, flags, given, TAVOLA_CONDITION_ABSENT, 0);
}

static VALUE table_cas_bytes(int argc, VALUE *argv, VALUE self) {
  VALUE key, bytes, flags, token, given;
  rb_scan_args(argc, argv, "4:", &key, &bytes, &flags, &token, &given);
  return store_bytes(self, key, bytes, flags, given, TAVOLA_CONDITION_TOKEN, NUM2ULL(token));
}

// store_token(key, value, condition, token, ttl) returns the new token; false if the key exists or
// has changed, and nil if it is missing. `condition` is a number of `tavola_condition`.
static VALUE table_store_token(VALUE self, VALUE key, VALUE value, VALUE condition, VALUE token,
                               VALUE ttl) {
  writing write;
  tavola_stored stored = TAVOLA_INIT(tavola_stored);
  tvl_handle *handle = tvl_handle_of(self);
  key = tvl_write_key(handle, key);
  int32_t wanted = NUM2INT(condition);
  prepare(self, handle, value, Qnil, &write);
  tvl_attributes_of(ttl, write.attributes.flags, &write.attributes);
  write.how.condition = wanted;
  if (wanted == TAVOLA_CONDITION_TOKEN) write.how.token = NUM2ULL(token);
  tvl_call call = TVL_CALL(key);
  call.data = write.value.data;
  call.len = write.value.len;
  call.how = &write.how;
  call.out = &stored;
  tavola_status status = tvl_write(self, tvl_handle_of(self), call_store, &call);
  RB_GC_GUARD(key);
  RB_GC_GUARD(value);
  RB_GC_GUARD(write.value.keep);
  if (tvl_check(status) == TAVOLA_OK) return ULL2NUM(stored.token);
  return status == TAVOLA_NOT_FOUND ? Qnil : Qfalse;
}

void tvl_init_write(void) {
  keyword_ids[KW_TTL] = rb_intern("ttl");
  keyword_ids[KW_TAGS] = rb_intern("tags");
  rb_define_method(tvl_table_class, "[]=", table_assign, 2);
  rb_define_method(tvl_table_class, "set", table_set, -1);
  rb_define_method(tvl_table_class, "add", table_add, -1);
  rb_define_method(tvl_table_class, "replace", table_replace, -1);
  rb_define_method(tvl_table_class, "cas", table_cas, -1);
  rb_define_method(tvl_table_class, "swap", table_swap, -1);
  rb_define_method(tvl_table_class, "take", table_take, 1);
  rb_define_private_method(tvl_table_class, "take_or", table_take_or, 2);
  rb_define_method(tvl_table_class, "remove", table_remove, 1);
  rb_define_method(tvl_table_class, "compare_and_remove", table_compare_and_remove, 2);
  rb_define_method(tvl_table_class, "append", table_append, 2);
  rb_define_method(tvl_table_class, "prepend", table_prepend, 2);
  rb_define_method(tvl_table_class, "touch", table_touch, -1);
  rb_define_method(tvl_table_class, "persist", table_persist, 1);
  rb_define_private_method(tvl_table_class, "store_token", table_store_token, 5);
  rb_define_method(tvl_table_class, "set_bytes", table_set_bytes, -1);
  rb_define_method(tvl_table_class, "add_bytes", table_add_bytes, -1);
  rb_define_method(tvl_table_class, "cas_bytes", table_cas_bytes, -1);
}

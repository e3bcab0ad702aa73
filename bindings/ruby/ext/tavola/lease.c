// Leases: one of all processes computes a missing value. Table#compute in Ruby is built on them.

#include "tavola_ruby.h"

typedef struct {
  tavola_lease *lease;
  tavola_lease_outcome outcome;
  uint64_t left_ms;
  bool is_waiting;
} lease_handle;

static VALUE lease_class, id_outcomes[6];

static void release(void *user) {
  lease_handle *handle = user;
  tavola_lease_close(handle->lease);
  xfree(handle);
}

static size_t memory_of(const void *user) { return sizeof(lease_handle); }

static const rb_data_type_t lease_type = {
    .wrap_struct_name = "Tavola::Lease",
    .function = {.dfree = release, .dsize = memory_of},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

typedef struct {
  tavola_lease_options options;
  tavola_buffer *buffer;
  tavola_leased leased;
  tavola_lease *lease;
} asking;

#define SHORT 1024

static VALUE ask_long(VALUE self, VALUE key, size_t capacity, asking *ask);

static tavola_status call_ask(const tavola_table *table, const tvl_call *call) {
  asking *ask = call->out;
  return tavola_get_or_lease(table, call->key, call->key_len, &ask->options, ask->buffer,
                             &ask->leased, &ask->lease);
}

static tavola_status ask_once(VALUE self, tvl_handle *handle, VALUE key, tavola_buffer *buffer,
                              asking *ask) {
  tvl_call call = TVL_CALL(key);
  call.out = ask;
  ask->buffer = buffer;
  ask->lease = NULL;
  ask->leased = (tavola_leased)TAVOLA_INIT(tavola_leased);
  tavola_status status = tvl_write(self, handle, call_ask, &call);
  RB_GC_GUARD(key);
  return status;
}

static bool has_value(const asking *ask) {
  return ask->leased.outcome <= TAVOLA_LEASE_STALE_WON;
}

// The object that takes over the lease. It is made before the value, which may run code of the
// application, so that the lease is never lost.
static VALUE wrap(asking *ask, VALUE object) {
  lease_handle *handle = rb_check_typeddata(object, &lease_type);
  handle->lease = ask->lease;
  handle->outcome = ask->leased.outcome;
  handle->left_ms = ask->leased.left_ms;
  return object;
}

static VALUE result(VALUE self, const asking *ask, VALUE object, const char *data, size_t len) {
  tvl_handle *handle = tvl_handle_of(self);
  VALUE text = Qnil;
  if (ask->leased.outcome <= TAVOLA_LEASE_STALE) {
    return tvl_decode(handle, ask->leased.flags, data, len);
  }
  if (has_value(ask)) text = tvl_decode(handle, ask->leased.flags, data, len);
  if (ask->leased.outcome == TAVOLA_LEASE_FAILED) text = tvl_text(data, len);
  rb_iv_set(object, "@value", text);
  return object;
}

// Returns the value, or a Tavola::Lease that says what to do.
static VALUE ask_short(VALUE self, VALUE key, asking *ask) {
  char bytes[SHORT];
  tvl_handle *handle = tvl_handle_of(self);
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  tavola_status status = ask_once(self, handle, key, &buffer, ask);
  if (status == TAVOLA_ERR_TOO_SMALL) return ask_long(self, key, buffer.len, ask);
  tvl_check(status);
  if (ask->leased.outcome <= TAVOLA_LEASE_STALE) {
    return tvl_decode(handle, ask->leased.flags, bytes, buffer.len);
  }
  lease_handle *made;
  VALUE object = TypedData_Make_Struct(lease_class, lease_handle, &lease_type, made);
  wrap(ask, object);
  return result(self, ask, object, bytes, buffer.len);
}

static VALUE ask_long(VALUE self, VALUE key, size_t capacity, asking *ask) {
  for (;;) {
    lease_handle *made;
    VALUE object = TypedData_Make_Struct(lease_class, lease_handle, &lease_type, made);
    VALUE string = rb_str_buf_new((long)capacity);
    tvl_handle *handle = tvl_handle_of(self);
    tavola_buffer buffer = TAVOLA_BUFFER(RSTRING_PTR(string), capacity);
    tavola_status status = ask_once(self, handle, key, &buffer, ask);
    if (status == TAVOLA_ERR_TOO_SMALL) {
      capacity = buffer.len;
      continue;
    }
    tvl_check(status);
    wrap(ask, object);
    VALUE value = result(self, ask, object, RSTRING_PTR(string), buffer.len);
    RB_GC_GUARD(string);
    return value;
  }
}

static uint64_t ms_or(VALUE seconds, uint64_t otherwise, const char *what) {
  return NIL_P(seconds) ? otherwise : tvl_ms(seconds, what);
}

// get_or_lease(key, fresh, stale, lease, early): seconds, or nil.
static VALUE table_get_or_lease(VALUE self, VALUE key, VALUE fresh, VALUE stale, VALUE lease,
                                VALUE early) {
  asking ask = {.options = TAVOLA_INIT(tavola_lease_options)};
  ask.options.fresh_ms = ms_or(fresh, TVL_FOREVER, "ttl");
  ask.options.stale_ms = ms_or(stale, 0, "stale");
  ask.options.lease_ms = ms_or(lease, 0, "lease");
  ask.options.early_beta = NIL_P(early) ? 0 : NUM2DBL(early);
  return ask_short(self, tvl_write_key(tvl_handle_of(self), key), &ask);
}

static lease_handle *lease_of(VALUE self) {
  lease_handle *handle = rb_check_typeddata(self, &lease_type);
  if (handle->lease == NULL) tvl_raise_closed("lease");
  if (handle->is_waiting) rb_raise(rb_eThreadError, "another thread waits with this lease");
  return handle;
}

static tavola_status call_fill(const tavola_table *table, const tvl_call *call) {
  return tavola_lease_fill_with(call->out, call->data, call->len, (uint32_t)call->number,
                                call->how);
}

// fill(table, value, tags): true if the value was stored.
static VALUE lease_fill(VALUE self, VALUE table, VALUE value, VALUE tags) {
  tvl_handle *handle = tvl_handle_of(table);
  tavola_tags room;
  tvl_encoded encoded;
  const tavola_tags *given = tvl_tags_of(table, handle, tags, &room);
  tvl_encode(handle, value, &encoded);
  tvl_call call = {.data = encoded.data, .len = encoded.len, .number = encoded.flags,
                   .how = given, .out = lease_of(self)->lease};
  tavola_status status = tvl_write(table, handle, call_fill, &call);
  RB_GC_GUARD(encoded.keep);
  RB_GC_GUARD(value);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

// fail(text, seconds): the others get the text until the time has passed.
static VALUE lease_fail(VALUE self, VALUE text, VALUE back_off) {
  uint64_t ms = tvl_ms(back_off, "back_off");
  StringValue(text);
  tavola_status status = tavola_lease_fail(lease_of(self)->lease, ms, TVL_BYTES(text));
  RB_GC_GUARD(text);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static tavola_status wait_slice(void *user, uint64_t slice_ms) {
  return tavola_lease_wait(user, slice_ms);
}

typedef struct {
  lease_handle *handle;
  uint64_t timeout_ms;
} lease_wait;

static VALUE wait_body(VALUE user) {
  lease_wait *wait = (lease_wait *)user;
  tavola_status status = tvl_wait(wait_slice, wait->handle->lease, wait->timeout_ms);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static VALUE wait_end(VALUE user) {
  ((lease_wait *)user)->handle->is_waiting = false;
  return Qnil;
}

static VALUE lease_wait_for(VALUE self, VALUE timeout) {
  lease_wait wait = {lease_of(self), tvl_timeout_ms(timeout)};
  wait.handle->is_waiting = true;
  VALUE has_ended = rb_ensure(wait_body, (VALUE)&wait, wait_end, (VALUE)&wait);
  RB_GC_GUARD(self);
  return has_ended;
}

static VALUE lease_close(VALUE self) {
  lease_handle *handle = rb_check_typeddata(self, &lease_type);
  if (handle->is_waiting) rb_raise(rb_eThreadError, "another thread waits with this lease");
  tavola_lease_close(handle->lease);
  handle->lease = NULL;
  return Qnil;
}

static VALUE lease_outcome(VALUE self) {
  lease_handle *handle = rb_check_typeddata(self, &lease_type);
  return id_outcomes[handle->outcome];
}

static VALUE raise_not_computed(VALUE self, VALUE text) { tvl_raise_not_computed(text); }

void tvl_init_lease(void) {
  static const char *const names[] = {"hit", "stale", "stale_won", "won", "wait", "failed"};
  for (int i = 0; i < 6; i++) id_outcomes[i] = ID2SYM(rb_intern(names[i]));
  lease_class = rb_define_class_under(tvl_module, "Lease", rb_cObject);
  rb_gc_register_mark_object(lease_class);
  rb_undef_alloc_func(lease_class);
  rb_define_attr(lease_class, "value", 1, 0);
  rb_define_method(lease_class, "fill", lease_fill, 3);
  rb_define_method(lease_class, "fail", lease_fail, 2);
  rb_define_method(lease_class, "wait", lease_wait_for, 1);
  rb_define_method(lease_class, "close", lease_close, 0);
  rb_define_method(lease_class, "outcome", lease_outcome, 0);
  rb_define_private_method(tvl_table_class, "get_or_lease", table_get_or_lease, 5);
  rb_define_private_method(tvl_table_class, "raise_not_computed", raise_not_computed, 1);
}

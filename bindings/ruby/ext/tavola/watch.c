// Watches: waiting until a key has changed.

#include "tavola_ruby.h"

typedef struct {
  tavola_key_watch *watch;
  bool is_waiting;
} watch_handle;

static VALUE watch_class;

static void release(void *user) {
  watch_handle *handle = user;
  tavola_key_watch_close(handle->watch);
  xfree(handle);
}

static size_t memory_of(const void *user) { return sizeof(watch_handle); }

static const rb_data_type_t watch_type = {
    .wrap_struct_name = "Tavola::Watch",
    .function = {.dfree = release, .dsize = memory_of},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE table_open_watch(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  watch_handle *watch;
  key = tvl_key(key);
  VALUE object = TypedData_Make_Struct(watch_class, watch_handle, &watch_type, watch);
  tvl_check(tavola_key_watch_open(handle->table, TVL_BYTES(key), &watch->watch));
  RB_GC_GUARD(key);
  return object;
}

static watch_handle *watch_of(VALUE self) {
  watch_handle *handle = rb_check_typeddata(self, &watch_type);
  if (handle->watch == NULL) tvl_raise_closed("watch");
  if (handle->is_waiting) rb_raise(rb_eThreadError, "another thread waits with this watch");
  return handle;
}

static tavola_status wait_slice(void *user, uint64_t slice_ms) {
  return tavola_key_watch_wait(user, slice_ms);
}

typedef struct {
  watch_handle *handle;
  uint64_t timeout_ms;
} watch_wait;

static VALUE wait_body(VALUE user) {
  watch_wait *wait = (watch_wait *)user;
  tavola_status status = tvl_wait(wait_slice, wait->handle->watch, wait->timeout_ms);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static VALUE wait_end(VALUE user) {
  ((watch_wait *)user)->handle->is_waiting = false;
  return Qnil;
}

static VALUE watch_wait_for(int argc, VALUE *argv, VALUE self) {
  VALUE timeout;
  rb_scan_args(argc, argv, "01", &timeout);
  watch_wait wait = {watch_of(self), tvl_timeout_ms(timeout)};
  wait.handle->is_waiting = true;
  VALUE has_changed = rb_ensure(wait_body, (VALUE)&wait, wait_end, (VALUE)&wait);
  RB_GC_GUARD(self);
  return has_changed;
}

static VALUE watch_close(VALUE self) {
  watch_handle *handle = rb_check_typeddata(self, &watch_type);
  if (handle->watch == NULL) return Qnil;
  handle = watch_of(self);
  tavola_key_watch_close(handle->watch);
  handle->watch = NULL;
  return Qnil;
}

void tvl_init_watch(void) {
  watch_class = rb_define_class_under(tvl_module, "Watch", rb_cObject);
  rb_gc_register_mark_object(watch_class);
  rb_undef_alloc_func(watch_class);
  rb_define_method(watch_class, "wait", watch_wait_for, -1);
  rb_define_method(watch_class, "close", watch_close, 0);
  rb_define_private_method(tvl_table_class, "open_watch", table_open_watch, 1);
}

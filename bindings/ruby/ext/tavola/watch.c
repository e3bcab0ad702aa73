// Watches: waiting until a key has changed. Barriers: waiting until others have called, too.

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

typedef struct {
  tvl_handle *handle;
  VALUE key;
  uint32_t count;
  uint64_t timeout_ms;
} barrier;

// Between two slices the caller does not count. The others see it again in the next one.
static tavola_status barrier_slice(void *user, uint64_t slice_ms) {
  const barrier *at = user;
  return tavola_barrier_wait(at->handle->table, TVL_BYTES(at->key), at->count, slice_ms);
}

static VALUE barrier_body(VALUE user) {
  barrier *at = (barrier *)user;
  return TVL_BOOL(tvl_check(tvl_wait(barrier_slice, at, at->timeout_ms)) == TAVOLA_OK);
}

static VALUE barrier_end(VALUE user) {
  tvl_leave(((barrier *)user)->handle);
  return Qnil;
}

static VALUE table_wait_at_barrier(VALUE self, VALUE key, VALUE count, VALUE timeout) {
  long long callers = NUM2LL(count);
  if (callers < 1 || callers > UINT32_MAX) {
    rb_raise(rb_eArgError, "a barrier has 1 to 2^32 - 1 callers, not %lld", callers);
  }
  barrier at = {NULL, rb_str_new_frozen(tvl_key(key)), (uint32_t)callers, tvl_timeout_ms(timeout)};
  at.handle = tvl_handle_of(self);
  tvl_enter(at.handle);
  VALUE have_come = rb_ensure(barrier_body, (VALUE)&at, barrier_end, (VALUE)&at);
  RB_GC_GUARD(at.key);
  RB_GC_GUARD(self);
  return have_come;
}

void tvl_init_watch(void) {
  watch_class = rb_define_class_under(tvl_module, "Watch", rb_cObject);
  rb_gc_register_mark_object(watch_class);
  rb_undef_alloc_func(watch_class);
  rb_define_method(watch_class, "wait", watch_wait_for, -1);
  rb_define_method(watch_class, "close", watch_close, 0);
  rb_define_private_method(tvl_table_class, "open_watch", table_open_watch, 1);
  rb_define_private_method(tvl_table_class, "wait_at_barrier", table_wait_at_barrier, 3);
}

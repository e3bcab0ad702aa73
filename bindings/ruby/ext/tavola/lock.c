// Named locks of a table, which exclude threads of all processes, in all languages.

#include <unistd.h>
#include "tavola_ruby.h"

typedef struct {
  tavola_lock *lock;  // NULL: it is not held, or no longer.
  rb_pid_t pid;       // The process that took it; a forked child does not hold it.
  bool is_shared;
  bool owner_died;
} lock_handle;

static VALUE lock_class;

static void release(void *user) {
  lock_handle *handle = user;
  tavola_lock_close(handle->lock);
  xfree(handle);
}

static size_t memory_of(const void *user) { return sizeof(lock_handle); }

static const rb_data_type_t lock_type = {
    .wrap_struct_name = "Tavola::Lock",
    .function = {.dfree = release, .dsize = memory_of},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static tavola_status call_open(const tavola_table *table, const tvl_call *call) {
  return tavola_lock_open(table, call->key, call->out);
}

// Opens the lock of a name. The string is a copy, as another thread may change the one that was
// given while this one waits.
static tavola_lock *open_lock(VALUE self, VALUE name) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_lock *lock = NULL;
  StringValue(name);
  VALUE copy = rb_str_new(RSTRING_PTR(name), RSTRING_LEN(name));
  tvl_call call = {.key = StringValueCStr(copy), .out = &lock};
  tavola_status status = tvl_write(self, handle, call_open, &call);
  RB_GC_GUARD(copy);
  tvl_check(status);
  return lock;
}

static tavola_status wait_slice(void *user, uint64_t slice_ms) {
  const lock_handle *handle = user;
  return handle->is_shared ? tavola_lock_shared_wait(handle->lock, slice_ms)
                           : tavola_lock_wait(handle->lock, slice_ms);
}

typedef struct {
  lock_handle *handle;
  uint64_t timeout_ms;
  bool is_held;
} taking;

static VALUE take_body(VALUE user) {
  taking *take = (taking *)user;
  // A lock that is free is taken without releasing the GVL.
  tavola_status status = wait_slice(take->handle, 0);
  if (status == TAVOLA_TIMEOUT && take->timeout_ms != 0) {
    status = tvl_wait(wait_slice, take->handle, take->timeout_ms);
  }
  tvl_check(status);
  take->is_held = status != TAVOLA_TIMEOUT;
  take->handle->owner_died = status == TAVOLA_OWNER_DIED;
  // After a death it is held exclusively.
  if (take->handle->owner_died) take->handle->is_shared = false;
  return Qnil;
}

static VALUE take_end(VALUE user) {
  taking *take = (taking *)user;
  if (!take->is_held) {
    tavola_lock_close(take->handle->lock);
    take->handle->lock = NULL;
  }
  return Qnil;
}

// take_lock(name, timeout, shared): the guard, or nil if the lock was not free in time.
static VALUE table_take_lock(VALUE self, VALUE name, VALUE timeout, VALUE shared) {
  taking take = {NULL, tvl_timeout_ms(timeout), false};
  VALUE guard = TypedData_Make_Struct(lock_class, lock_handle, &lock_type, take.handle);
  take.handle->lock = open_lock(self, name);
  take.handle->pid = getpid();
  take.handle->is_shared = RTEST(shared);
  rb_ensure(take_body, (VALUE)&take, take_end, (VALUE)&take);
  return take.is_held ? guard : Qnil;
}

static void note_alive(void *user, const tavola_holder *holder) {
  if (holder->is_alive) *(bool *)user = true;
}

// locked?(name): the lock is not taken for that, so the next holder still learns of a death.
static VALUE table_is_locked(VALUE self, VALUE name) {
  bool is_held = false;
  tavola_lock *lock = open_lock(self, rb_obj_as_string(name));
  tavola_status status = tavola_lock_holders_of(lock, note_alive, &is_held);
  tavola_lock_close(lock);
  tvl_check(status);
  return TVL_BOOL(is_held);
}

static const lock_handle *lock_of(VALUE self) { return rb_check_typeddata(self, &lock_type); }

static bool is_held(const lock_handle *handle) {
  return handle->lock != NULL && handle->pid == getpid();
}

static VALUE lock_unlock(VALUE self) {
  lock_handle *handle = rb_check_typeddata(self, &lock_type);
  bool was_held = is_held(handle);
  tavola_lock_close(handle->lock);
  handle->lock = NULL;
  return TVL_BOOL(was_held);
}

static VALUE lock_is_held(VALUE self) { return TVL_BOOL(is_held(lock_of(self))); }

static VALUE lock_is_shared(VALUE self) { return TVL_BOOL(lock_of(self)->is_shared); }

static VALUE lock_owner_died(VALUE self) { return TVL_BOOL(lock_of(self)->owner_died); }

void tvl_init_lock(void) {
  lock_class = rb_define_class_under(tvl_module, "Lock", rb_cObject);
  rb_gc_register_mark_object(lock_class);
  rb_undef_alloc_func(lock_class);
  rb_define_method(lock_class, "unlock", lock_unlock, 0);
  rb_define_method(lock_class, "held?", lock_is_held, 0);
  rb_define_method(lock_class, "shared?", lock_is_shared, 0);
  rb_define_method(lock_class, "owner_died?", lock_owner_died, 0);
  rb_define_private_method(tvl_table_class, "take_lock", table_take_lock, 3);
  rb_define_method(tvl_table_class, "locked?", table_is_locked, 1);
}

// Durable tables: when changes are on disk.

#include "tavola_ruby.h"

static tavola_status call_sync(const tavola_table *table, const tvl_call *call) {
  return tavola_sync(table);
}

static tavola_status call_snapshot(const tavola_table *table, const tvl_call *call) {
  return tavola_snapshot(table, call->out);
}

static VALUE table_is_durable(VALUE self) {
  return TVL_BOOL(tavola_is_durable(tvl_handle_of(self)->table));
}

// Returns the policy as `durable:` names it, or nil.
static VALUE table_durability(VALUE self) {
  uint32_t ms = 0;
  switch (tavola_durability(tvl_handle_of(self)->table, &ms)) {
    case TAVOLA_DURABLE_COMMIT: return ID2SYM(rb_intern("commit"));
    case TAVOLA_DURABLE_WITHIN: return DBL2NUM(ms / 1000.0);
    case TAVOLA_DURABLE_OS: return ID2SYM(rb_intern("os"));
    default: return Qnil;
  }
}

static VALUE table_sync(VALUE self) {
  tvl_call call = {0};
  tvl_check(tvl_write_waiting(self, tvl_handle_of(self), call_sync, call));
  return self;
}

// Returns false if another process is just writing a snapshot.
static VALUE table_snapshot(VALUE self) {
  uint32_t made = 0;
  tvl_call call = {.out = &made};
  tvl_check(tvl_write_waiting(self, tvl_handle_of(self), call_snapshot, call));
  return TVL_BOOL(made);
}

void tvl_init_durable(void) {
  rb_define_method(tvl_table_class, "durable?", table_is_durable, 0);
  rb_define_method(tvl_table_class, "durability", table_durability, 0);
  rb_define_method(tvl_table_class, "sync", table_sync, 0);
  rb_define_method(tvl_table_class, "snapshot", table_snapshot, 0);
}

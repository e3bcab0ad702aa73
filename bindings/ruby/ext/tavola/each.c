// Iteration. The library is asked for a group of keys without the GVL, and then each of them is
// yielded.

#include "tavola_ruby.h"

#define GROUP_KEYS 256
#define GROUP_BYTES (256 * 1024)

typedef struct {
  size_t key_len, value_len;
  uint32_t flags;
} item_head;

typedef struct {
  VALUE self;
  tvl_handle *handle;
  tavola_iter *iter;
  tvl_arena group;
  tavola_status status;
  bool has_values;
} scan;

static void *fill_group(void *user) {
  scan *one = user;
  tavola_bytes key, value = {NULL, 0};
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  one->group.len = 0;
  for (int i = 0; i < GROUP_KEYS && one->group.len < GROUP_BYTES; i++) {
    one->status = one->has_values
                      ? tavola_iter_next_with_attributes(one->iter, &key, &value, &has)
                      : tavola_iter_next(one->iter, &key, NULL);
    if (one->status != TAVOLA_OK) break;
    item_head head = {key.len, value.len, has.flags};
    tvl_arena_add(&one->group, &head, sizeof head);
    tvl_arena_add(&one->group, key.data, key.len);
    tvl_arena_add(&one->group, value.data, value.len);
  }
  return NULL;
}

static void yield_group(scan *one) {
  item_head head;
  for (size_t at = 0; at < one->group.len; at += sizeof head + head.key_len + head.value_len) {
    memcpy(&head, one->group.bytes + at, sizeof head);
    const char *data = one->group.bytes + at + sizeof head;
    VALUE key = tvl_text(data, head.key_len);
    if (!one->has_values) {
      rb_yield(key);
      continue;
    }
    VALUE value = tvl_decode(one->handle, head.flags, data + head.key_len, head.value_len);
    // One array, as Hash yields it: `each { |pair| }` and `each { |key, value| }` both work.
    rb_yield(rb_assoc_new(key, value));
  }
}

static VALUE scan_body(VALUE user) {
  scan *one = (scan *)user;
  do {
    tvl_enter(one->handle);
    tvl_without_gvl(fill_group, one);
    tvl_leave(one->handle);
    if (one->group.has_failed) rb_memerror();
    yield_group(one);
    rb_thread_check_ints();
  } while (one->status == TAVOLA_OK);
  tvl_check(one->status);
  return one->self;
}

static VALUE scan_end(VALUE user) {
  scan *one = (scan *)user;
  tavola_iter_close(one->iter);
  tvl_arena_free(&one->group);
  return Qnil;
}

static VALUE scan_table(VALUE self, VALUE prefix, bool has_values) {
  scan one = {.self = self, .handle = tvl_handle_of(self), .has_values = has_values};
  if (NIL_P(prefix)) {
    tvl_check(tavola_iter_open(one.handle->table, &one.iter));
  } else {
    tvl_check(tavola_iter_open_prefix(one.handle->table, TVL_BYTES(prefix), &one.iter));
  }
  VALUE result = rb_ensure(scan_body, (VALUE)&one, scan_end, (VALUE)&one);
  RB_GC_GUARD(self);
  RB_GC_GUARD(prefix);
  return result;
}

static VALUE enum_size(VALUE self, VALUE args, VALUE eobj) {
  return rb_funcall(self, rb_intern("size"), 0);
}

static VALUE table_each(VALUE self) {
  RETURN_SIZED_ENUMERATOR(self, 0, NULL, enum_size);
  return scan_table(self, Qnil, true);
}

static VALUE table_each_key(VALUE self) {
  RETURN_SIZED_ENUMERATOR(self, 0, NULL, enum_size);
  return scan_table(self, Qnil, false);
}

static VALUE table_each_prefix(VALUE self, VALUE prefix) {
  RETURN_ENUMERATOR(self, 1, &prefix);
  return scan_table(self, rb_str_new_frozen(tvl_key(prefix)), true);
}

static VALUE table_each_key_prefix(VALUE self, VALUE prefix) {
  RETURN_ENUMERATOR(self, 1, &prefix);
  return scan_table(self, rb_str_new_frozen(tvl_key(prefix)), false);
}

void tvl_init_each(void) {
  rb_define_method(tvl_table_class, "each", table_each, 0);
  rb_define_method(tvl_table_class, "each_pair", table_each, 0);
  rb_define_method(tvl_table_class, "each_key", table_each_key, 0);
  rb_define_method(tvl_table_class, "each_prefix", table_each_prefix, 1);
  rb_define_method(tvl_table_class, "each_key_prefix", table_each_key_prefix, 1);
}

// Tags: names that keys have, and that are invalidated all at once.

#include "tavola_ruby.h"

static VALUE tags_class;

static size_t memory_of(const void *user) { return sizeof(tavola_tags); }

static const rb_data_type_t tags_type = {
    .wrap_struct_name = "Tavola::Tags",
    .function = {.dfree = RUBY_DEFAULT_FREE, .dsize = memory_of},
    .flags =
        RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

// The calls of the library, with their arguments in a `tvl_call`.
static tavola_status call_fetch(const tavola_table *table, const tvl_call *call) {
  return tavola_fetch_tags(table, call->how, (size_t)call->number, call->out);
}

static tavola_status call_invalidate(const tavola_table *table, const tvl_call *call) {
  return tavola_invalidate_tag(table, call->key, call->key_len);
}

// Fetches the handles of tags by their names.
static void fetch(VALUE self, VALUE names, tavola_tags *tags) {
  tvl_handle *handle = tvl_handle_of(self);
  names = rb_ary_dup(names);
  long count = RARRAY_LEN(names);
  VALUE room;
  tavola_bytes *bytes = ALLOCV_N(tavola_bytes, room, count + 1);
  for (long i = 0; i < count; i++) {
    rb_ary_store(names, i, tvl_write_key(handle, RARRAY_AREF(names, i)));
    bytes[i] = (tavola_bytes){TVL_BYTES(RARRAY_AREF(names, i))};
  }
  *tags = (tavola_tags)TAVOLA_INIT(tavola_tags);
  tvl_call call = {.how = bytes, .number = (uint64_t)count, .out = tags};
  tavola_status status = tvl_write(self, handle, call_fetch, &call);
  RB_GC_GUARD(names);
  ALLOCV_END(room);
  tvl_check(status);
}

// `tags` is nil, a Tavola::Tags, a name, or an array of names. NULL means no tags.
const tavola_tags *tvl_tags_of(VALUE self, tvl_handle *handle, VALUE tags, tavola_tags *room) {
  if (NIL_P(tags)) return NULL;
  if (rb_typeddata_is_kind_of(tags, &tags_type)) {
    *room = *(tavola_tags *)rb_check_typeddata(tags, &tags_type);
  } else {
    fetch(self, rb_Array(tags), room);
  }
  return room;
}

static VALUE table_fetch_tags(int argc, VALUE *argv, VALUE self) {
  tavola_tags *tags;
  VALUE object = TypedData_Make_Struct(tags_class, tavola_tags, &tags_type, tags);
  VALUE names = rb_funcall(rb_ary_new_from_values(argc, argv), rb_intern("flatten"), 0);
  fetch(self, names, tags);
  return rb_obj_freeze(object);
}

static VALUE tags_size(VALUE self) {
  tavola_tags *tags = rb_check_typeddata(self, &tags_type);
  return ULL2NUM(tags->count);
}

// Names come one after the other, each with its length before it.
static void add_name(void *user, const void *name, size_t len) {
  tvl_arena_add(user, &len, sizeof len);
  tvl_arena_add(user, name, len);
}

static VALUE names_in(const tvl_arena *arena) {
  VALUE names = rb_ary_new();
  for (size_t at = 0, len; at < arena->len; at += sizeof len + len) {
    memcpy(&len, arena->bytes + at, sizeof len);
    rb_ary_push(names, tvl_text(arena->bytes + at + sizeof len, len));
  }
  return names;
}

static VALUE table_tags(VALUE self, VALUE key) {
  tvl_handle *handle = tvl_handle_of(self);
  tvl_arena arena = {0};
  key = tvl_key(key);
  tavola_status status = tavola_tags_of(handle->table, TVL_BYTES(key), add_name, &arena);
  RB_GC_GUARD(key);
  VALUE names = status == TAVOLA_OK && !arena.has_failed ? names_in(&arena) : Qnil;
  bool has_failed = arena.has_failed;
  tvl_arena_free(&arena);
  if (has_failed) rb_memerror();
  tvl_check(status);
  return names;
}

static VALUE table_invalidate(int argc, VALUE *argv, VALUE self) {
  bool has_some = false;
  rb_check_arity(argc, 1, UNLIMITED_ARGUMENTS);
  for (int i = 0; i < argc; i++) {
    tvl_handle *handle = tvl_handle_of(self);
    VALUE name = tvl_write_key(handle, argv[i]);
    tvl_call call = TVL_CALL(name);
    tavola_status status = tvl_write(self, handle, call_invalidate, &call);
    RB_GC_GUARD(name);
    has_some = tvl_check(status) == TAVOLA_OK || has_some;
  }
  return TVL_BOOL(has_some);
}

void tvl_init_tags(void) {
  tags_class = rb_define_class_under(tvl_module, "Tags", rb_cObject);
  rb_gc_register_mark_object(tags_class);
  rb_undef_alloc_func(tags_class);
  rb_define_method(tags_class, "size", tags_size, 0);
  rb_define_method(tvl_table_class, "fetch_tags", table_fetch_tags, -1);
  rb_define_method(tvl_table_class, "tags", table_tags, 1);
  rb_define_method(tvl_table_class, "invalidate", table_invalidate, -1);
}

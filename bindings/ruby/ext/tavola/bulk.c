// Many keys in one call. More than TVL_SHORT_BATCH keys run without the GVL, and so do writes that
// wait for the disk. Then the strings are frozen copies, which share their bytes with the originals.

#include "tavola_ruby.h"

// Keys as the library takes them. `strings` keeps them alive.
typedef struct {
  size_t count;
  VALUE strings;
  VALUE room;
  tavola_bytes *keys;
} key_list;

static VALUE kept(VALUE string, bool is_long) {
  return is_long ? rb_str_new_frozen(string) : string;
}

static key_list list_keys(VALUE keys, bool waits) {
  key_list list = {(size_t)RARRAY_LEN(keys), rb_ary_dup(keys), Qnil, NULL};
  bool is_long = waits || list.count > TVL_SHORT_BATCH;
  list.keys = rb_alloc_tmp_buffer(&list.room, (long)(list.count * sizeof *list.keys + 1));
  for (size_t i = 0; i < list.count; i++) {
    VALUE key = kept(tvl_key(RARRAY_AREF(list.strings, (long)i)), is_long);
    rb_ary_store(list.strings, (long)i, key);
    list.keys[i] = (tavola_bytes){TVL_BYTES(key)};
  }
  return list;
}

// A call of the library that runs with or without the GVL.
typedef struct {
  tvl_handle *handle;
  tavola_status status;
  tvl_arena arena;
  union {
    const key_list *list;
    struct {
      const tavola_entry *entries;
      const tavola_pair *pairs;
      size_t count;
      const tavola_tags *tags;
    } set;
    struct {
      const char *prefix;
      size_t len;
    };
  };
  uint64_t removed;
} bulk;

// What was read of a key, before its bytes.
typedef struct {
  size_t index, len;
  uint32_t flags;
} found_head;

static void add_found(void *user, size_t index, const void *value, size_t len,
                      const tavola_attributes *has) {
  if (value == NULL) return;
  found_head head = {index, len, has->flags};
  tvl_arena_add(user, &head, sizeof head);
  tvl_arena_add(user, value, len);
}

static void *work_get(void *user) {
  bulk *call = user;
  call->status = tavola_get_many_entries(call->handle->table, call->list->keys, call->list->count,
                                         add_found, &call->arena);
  return NULL;
}

static void run(VALUE self, bulk *call, void *(*work)(void *), size_t count) {
  if (work != work_get && call->handle->waits) {
    tvl_wait_for_disk(self, call->handle, work, call);
    return;
  }
  if (count <= TVL_SHORT_BATCH) {
    work(call);
    return;
  }
  tvl_enter(call->handle);
  tvl_without_gvl(work, call);
  tvl_leave(call->handle);
}

typedef struct {
  VALUE self;
  bulk *call;
  VALUE keys;
  VALUE found;
  bool is_bytes;
} decoding;

static VALUE decode_all(VALUE user) {
  decoding *one = (decoding *)user;
  bulk *call = one->call;
  if (call->arena.has_failed) rb_memerror();
  tvl_check(call->status);
  found_head head;
  for (size_t at = 0; at < call->arena.len; at += sizeof head + head.len) {
    memcpy(&head, call->arena.bytes + at, sizeof head);
    const char *data = call->arena.bytes + at + sizeof head;
    VALUE value = one->is_bytes
                      ? rb_assoc_new(rb_str_new(data, (long)head.len), UINT2NUM(head.flags))
                      : tvl_decode(call->handle, head.flags, data, head.len);
    rb_hash_aset(one->found, RARRAY_AREF(one->keys, (long)head.index), value);
  }
  return one->found;
}

static VALUE free_arena(VALUE user) {
  tvl_arena_free(&((decoding *)user)->call->arena);
  return Qnil;
}

// Returns a hash of the keys that exist, by the keys as they were given.
static VALUE get_multi(int argc, VALUE *argv, VALUE self, bool is_bytes) {
  VALUE keys = rb_funcall(rb_ary_new_from_values(argc, argv), rb_intern("flatten"), 0);
  key_list list = list_keys(keys, false);
  bulk call = {.handle = tvl_handle_of(self), .list = &list};
  decoding one = {self, &call, keys, rb_hash_new(), is_bytes};
  run(self, &call, work_get, list.count);
  VALUE found = rb_ensure(decode_all, (VALUE)&one, free_arena, (VALUE)&one);
  rb_free_tmp_buffer(&list.room);
  RB_GC_GUARD(list.strings);
  RB_GC_GUARD(keys);
  return found;
}

static VALUE table_get_multi(int argc, VALUE *argv, VALUE self) {
  return get_multi(argc, argv, self, false);
}

static VALUE table_get_multi_bytes(int argc, VALUE *argv, VALUE self) {
  return get_multi(argc, argv, self, true);
}

typedef struct {
  tvl_handle *handle;
  bool is_long, is_fixed;
  size_t at;
  VALUE strings;
  tavola_entry *entries;
  tavola_pair *pairs;
  tavola_attributes *attributes;
  tavola_attributes common;
} preparing;

static int prepare_pair(VALUE key, VALUE value, VALUE user) {
  preparing *one = (preparing *)user;
  tvl_encoded encoded;
  tvl_encode(one->handle, value, &encoded);
  key = kept(tvl_key(key), one->is_long);
  VALUE bytes = NIL_P(encoded.keep) ? rb_str_new(encoded.data, (long)encoded.len)
                                    : kept(encoded.keep, one->is_long);
  rb_ary_push(one->strings, key);
  rb_ary_push(one->strings, bytes);
  size_t at = one->at++;
  tavola_pair pair = {{TVL_BYTES(key)}, {TVL_BYTES(bytes)}};
  if (one->is_fixed) {
    one->pairs[at] = pair;
    return ST_CONTINUE;
  }
  one->attributes[at] = one->common;
  one->attributes[at].flags = encoded.flags;
  one->entries[at] = (tavola_entry){pair.key, pair.value, &one->attributes[at]};
  return ST_CONTINUE;
}

static void *work_set(void *user) {
  bulk *call = user;
  if (call->set.pairs != NULL) {
    call->status = tavola_set_many(call->handle->table, call->set.pairs, call->set.count);
  } else if (call->set.tags != NULL) {
    call->status = tavola_set_many_tagged(call->handle->table, call->set.entries, call->set.count,
                                          call->set.tags);
  } else {
    call->status = tavola_set_many_entries(call->handle->table, call->set.entries, call->set.count);
  }
  return NULL;
}

// The keywords `ttl:` and `tags:`; nil if they are missing.
typedef struct {
  VALUE ttl, tags;
} keywords;

static keywords keywords_of(VALUE given) {
  ID ids[2] = {rb_intern("ttl"), rb_intern("tags")};
  VALUE values[2] = {Qundef, Qundef};
  if (!NIL_P(given)) rb_get_kwargs(given, ids, 0, 2, values);
  return (keywords){values[0] == Qundef ? Qnil : values[0], values[1] == Qundef ? Qnil : values[1]};
}

static VALUE table_set_multi(int argc, VALUE *argv, VALUE self) {
  VALUE pairs, given, rooms[2] = {Qnil, Qnil};
  rb_scan_args(argc, argv, "1:", &pairs, &given);
  // A copy, which no other thread can make longer meanwhile.
  pairs = rb_hash_dup(rb_Hash(pairs));
  size_t count = RHASH_SIZE(pairs);
  preparing one = {.handle = tvl_handle_of(self)};
  keywords with = keywords_of(given);
  tavola_tags room;
  const tavola_tags *tags = tvl_tags_of(self, one.handle, with.tags, &room);
  one.is_long = one.handle->waits || count > TVL_SHORT_BATCH;
  tvl_attributes_of(with.ttl, 0, &one.common);
  one.is_fixed = tvl_is_fixed(one.handle) && one.common.ttl_ms == 0 && tags == NULL;
  one.strings = rb_ary_new_capa((long)count * 2);
  size_t size = one.is_fixed ? sizeof(tavola_pair) : sizeof(tavola_entry);
  void *list = rb_alloc_tmp_buffer(&rooms[0], (long)(count * size + 1));
  one.attributes = rb_alloc_tmp_buffer(&rooms[1], (long)(count * sizeof *one.attributes + 1));
  one.pairs = list;
  one.entries = list;
  rb_hash_foreach(pairs, prepare_pair, (VALUE)&one);
  bulk call = {.handle = tvl_handle_of(self), .set = {.count = count, .tags = tags}};
  if (one.is_fixed) call.set.pairs = one.pairs;
  else call.set.entries = one.entries;
  uint64_t waited = 0;
  do {
    run(self, &call, work_set, count);
  } while (call.status == TAVOLA_ERR_BUSY && tvl_busy_again(self, one.handle, &waited));
  rb_free_tmp_buffer(&rooms[0]);
  rb_free_tmp_buffer(&rooms[1]);
  RB_GC_GUARD(one.strings);
  RB_GC_GUARD(pairs);
  tvl_check(call.status);
  return Qtrue;
}

// After `TAVOLA_ERR_BUSY` it is called again. The keys that it has removed are missing then.
static void *work_remove(void *user) {
  bulk *call = user;
  uint64_t removed = 0;
  call->status = tavola_remove_many(call->handle->table, call->list->keys, call->list->count,
                                    &removed);
  call->removed += removed;
  return NULL;
}

static VALUE table_delete_multi(int argc, VALUE *argv, VALUE self) {
  VALUE keys = rb_funcall(rb_ary_new_from_values(argc, argv), rb_intern("flatten"), 0);
  key_list list = list_keys(keys, tvl_handle_of(self)->waits);
  bulk call = {.handle = tvl_handle_of(self), .list = &list};
  uint64_t waited = 0;
  do {
    run(self, &call, work_remove, list.count);
  } while (call.status == TAVOLA_ERR_BUSY && tvl_busy_again(self, call.handle, &waited));
  rb_free_tmp_buffer(&list.room);
  RB_GC_GUARD(list.strings);
  tvl_check(call.status);
  return ULL2NUM(call.removed);
}

static void *work_remove_prefix(void *user) {
  bulk *call = user;
  uint64_t removed = 0;
  call->status = tavola_remove_prefix(call->handle->table, call->prefix, call->len, &removed);
  if (call->status == TAVOLA_OK) call->removed += removed;
  return NULL;
}

static VALUE table_delete_prefix(VALUE self, VALUE prefix) {
  bulk call = {.handle = tvl_handle_of(self)};
  uint64_t waited = 0;
  prefix = rb_str_new_frozen(tvl_key(prefix));
  call.prefix = RSTRING_PTR(prefix);
  call.len = (size_t)RSTRING_LEN(prefix);
  do {
    run(self, &call, work_remove_prefix, SIZE_MAX);
  } while (call.status == TAVOLA_ERR_BUSY && tvl_busy_again(self, call.handle, &waited));
  RB_GC_GUARD(prefix);
  tvl_check(call.status);
  return ULL2NUM(call.removed);
}

static void *work_clear(void *user) {
  bulk *call = user;
  call->status = tavola_clear(call->handle->table);
  return NULL;
}

static VALUE table_clear(VALUE self) {
  bulk call = {.handle = tvl_handle_of(self)};
  uint64_t waited = 0;
  do {
    run(self, &call, work_clear, SIZE_MAX);
  } while (call.status == TAVOLA_ERR_BUSY && tvl_busy_again(self, call.handle, &waited));
  tvl_check(call.status);
  return self;
}

static VALUE table_size(VALUE self) {
  uint64_t keys = 0;
  tvl_check(tavola_len(tvl_handle_of(self)->table, &keys));
  return ULL2NUM(keys);
}

void tvl_init_bulk(void) {
  rb_define_method(tvl_table_class, "get_multi", table_get_multi, -1);
  rb_define_method(tvl_table_class, "get_multi_bytes", table_get_multi_bytes, -1);
  rb_define_method(tvl_table_class, "set_multi", table_set_multi, -1);
  rb_define_method(tvl_table_class, "delete_multi", table_delete_multi, -1);
  rb_define_method(tvl_table_class, "delete_prefix", table_delete_prefix, 1);
  rb_define_method(tvl_table_class, "clear", table_clear, 0);
  rb_define_method(tvl_table_class, "size", table_size, 0);
}

// The directory of named tables, and the version.

#include "tavola_ruby.h"

VALUE tvl_module, tvl_table_class;

static const char *name_of(VALUE *name) {
  *name = rb_get_path(*name);
  return StringValueCStr(*name);
}

// Returns a path of the library. `read` gets a buffer that is large enough in the end.
static VALUE path_from(tavola_status (*read)(const char *, tavola_buffer *), const char *name) {
  size_t capacity = 512;
  for (;;) {
    VALUE path = rb_str_buf_new((long)capacity);
    tavola_buffer buffer = TAVOLA_BUFFER(RSTRING_PTR(path), capacity);
    tavola_status status = read(name, &buffer);
    if (status == TAVOLA_ERR_TOO_SMALL) {
      capacity = buffer.len;
      continue;
    }
    if (tvl_check(status) == TAVOLA_NOT_FOUND) return Qnil;
    rb_str_set_len(path, (long)buffer.len);
    return rb_enc_associate(path, rb_filesystem_encoding());
  }
}

static tavola_status read_directory(const char *name, tavola_buffer *path) {
  return tavola_names_directory(path);
}

static VALUE names_directory(VALUE self) { return path_from(read_directory, NULL); }

static VALUE names_path_of(VALUE self, VALUE name) {
  return path_from(tavola_names_path_of, name_of(&name));
}

static VALUE names_warning(VALUE self, VALUE name) {
  return path_from(tavola_names_warning, name_of(&name));
}

// Paths come one after the other, each with its NUL.
static void add_path(void *user, const char *path, size_t len) {
  tvl_arena_add(user, path, len + 1);
}

static VALUE names_tables(VALUE self) {
  tvl_arena arena = {0};
  VALUE paths = rb_ary_new();
  tavola_status status = tavola_names_list(add_path, &arena);
  if (status == TAVOLA_OK && !arena.has_failed) {
    for (size_t at = 0; at < arena.len; at += strlen(arena.bytes + at) + 1) {
      rb_ary_push(paths, rb_filesystem_str_new_cstr(arena.bytes + at));
    }
  }
  bool has_failed = arena.has_failed;
  tvl_arena_free(&arena);
  if (has_failed) rb_memerror();
  tvl_check(status);
  return paths;
}

static VALUE names_remove(int argc, VALUE *argv, VALUE self) {
  VALUE name, options, any_owner;
  ID id = rb_intern("any_owner");
  rb_scan_args(argc, argv, "1:", &name, &options);
  rb_get_kwargs(NIL_P(options) ? rb_hash_new() : options, &id, 0, 1, &any_owner);
  const char *path = name_of(&name);
  bool is_any = any_owner != Qundef && RTEST(any_owner);
  tavola_status status = is_any ? tavola_names_remove_any_owner(path) : tavola_names_remove(path);
  if (status == TAVOLA_ERR_NO_TABLE) return Qfalse;
  tvl_check(status);
  return Qtrue;
}

static VALUE names_rename(VALUE self, VALUE from, VALUE to) {
  const char *old = name_of(&from);
  tvl_check(tavola_names_rename(old, name_of(&to)));
  RB_GC_GUARD(from);
  return Qnil;
}

void tvl_init_names(void) {
  rb_define_singleton_method(tvl_module, "directory", names_directory, 0);
  rb_define_singleton_method(tvl_module, "path_of", names_path_of, 1);
  rb_define_singleton_method(tvl_module, "warning", names_warning, 1);
  rb_define_singleton_method(tvl_module, "tables", names_tables, 0);
  rb_define_singleton_method(tvl_module, "remove", names_remove, -1);
  rb_define_singleton_method(tvl_module, "rename", names_rename, 2);
  rb_define_const(tvl_module, "LIBRARY_VERSION",
                  rb_obj_freeze(rb_utf8_str_new_cstr(tavola_version())));
}

RUBY_FUNC_EXPORTED void Init_tavola(void);

void Init_tavola(void) {
  // Each Ractor may open handles of its own; a handle belongs to the Ractor that opened it.
  rb_ext_ractor_safe(true);
  tvl_module = rb_define_module("Tavola");
  rb_gc_register_mark_object(tvl_module);
  tvl_init_errors();
  tvl_init_codec();
  tvl_init_handle();
  tvl_init_names();
  tvl_init_read();
  tvl_init_write();
  tvl_init_number();
  tvl_init_bulk();
  tvl_init_each();
  tvl_init_tags();
  tvl_init_lease();
  tvl_init_txn();
  tvl_init_watch();
  tvl_init_lock();
  tvl_init_stats();
  tvl_init_durable();
  tvl_init_queue();
  tvl_init_log();
}

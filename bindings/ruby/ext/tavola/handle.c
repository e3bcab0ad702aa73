// Opening and closing tables, and the Ruby object that holds one.

#include <sys/stat.h>
#include "tavola_ruby.h"

static void mark(void *user) {
  tvl_handle *handle = user;
  rb_gc_mark_movable(handle->serializer);
  rb_gc_mark_movable(handle->spare);
}

static void compact(void *user) {
  tvl_handle *handle = user;
  handle->serializer = rb_gc_location(handle->serializer);
  handle->spare = rb_gc_location(handle->spare);
}

static void release(void *user) {
  tvl_handle *handle = user;
  tavola_close(handle->table);
  xfree(handle);
}

static size_t memory_of(const void *user) { return sizeof(tvl_handle); }

const rb_data_type_t tvl_table_type = {
    .wrap_struct_name = "Tavola::Table",
    .function = {.dmark = mark, .dfree = release, .dsize = memory_of, .dcompact = compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

// The handle of an open table.
tvl_handle *tvl_handle_of(VALUE self) {
  tvl_handle *handle = rb_check_typeddata(self, &tvl_table_type);
  if (RB_UNLIKELY(handle->table == NULL || handle->is_closing)) tvl_raise_closed("table");
  return handle;
}

void tvl_enter(tvl_handle *handle) { handle->users++; }

static void *close_now(void *user) {
  tavola_close(user);
  return NULL;
}

// The thread of a durable table may be writing to the disk, and is waited for.
void tvl_leave(tvl_handle *handle) {
  handle->users--;
  if (handle->is_closing && handle->users == 0) {
    tavola_table *table = handle->table;
    handle->table = NULL;
    if (handle->is_durable) {
      tvl_without_gvl(close_now, table);
    } else {
      tavola_close(table);
    }
  }
}

// Whether the table has fixed lengths, and so no flags.
bool tvl_is_fixed(tvl_handle *handle) {
  if (RB_UNLIKELY(handle->fixed < 0)) {
    tavola_stats stats = TAVOLA_INIT(tavola_stats);
    tvl_check(tavola_get_stats(handle->table, &stats));
    handle->fixed = stats.fixed_key != 0 || stats.fixed_value != 0;
  }
  return handle->fixed;
}

// After TAVOLA_ERR_BUSY, with which nothing was done: lets other threads and signals come, and says
// whether to try again.
bool tvl_busy_again(VALUE self, tvl_handle *handle, uint64_t *waited_ms) {
  *waited_ms += TVL_BUSY_MS;
  if (*waited_ms >= handle->busy_ms) return false;
  rb_thread_schedule();
  rb_thread_check_ints();
  tvl_handle_of(self);
  return true;
}

enum {
  OPT_CAPACITY,
  OPT_MAX_SIZE,
  OPT_TTL,
  OPT_SERIALIZER,
  OPT_MODE,
  OPT_SHARDS,
  OPT_FIXED_KEY,
  OPT_FIXED_VALUE,
  OPT_VERSIONS,
  OPT_BACKGROUND,
  OPT_CORE_DUMPS,
  OPT_ANY_OWNER,
  OPT_GROUP_ID,
  OPT_LOCK_TIMEOUT,
  OPT_DURABLE,
  OPT_COUNT
};

static ID option_ids[OPT_COUNT];
static VALUE sym_marshal, sym_commit, sym_os;

typedef struct {
  tavola_options options;
  VALUE serializer;
  tvl_serializer kind;
  uint64_t busy_ms;
} opening;

// A serializer is an object that responds to `dump` and `load`, as Marshal does.
static void read_serializer(VALUE serializer, opening *how) {
  how->serializer = Qnil;
  how->kind = TVL_PLAIN;
  if (serializer == Qundef || NIL_P(serializer)) return;
  if (serializer == sym_marshal || serializer == rb_const_get(rb_cObject, rb_intern("Marshal"))) {
    how->kind = TVL_MARSHAL;
  } else if (rb_respond_to(serializer, rb_intern("dump")) &&
             rb_respond_to(serializer, rb_intern("load"))) {
    how->kind = TVL_OBJECT;
    how->serializer = serializer;
  } else {
    rb_raise(rb_eArgError, "serializer is nil, :marshal, or an object with dump and load");
  }
}

static bool is_word(VALUE value, VALUE symbol) {
  return value == symbol || (RB_TYPE_P(value, T_STRING) && rb_str_intern(value) == symbol);
}

// `durable:` is :commit, :os, or a number of seconds.
static void read_durable(VALUE value, tavola_options *options) {
  if (is_word(value, sym_commit)) {
    options->durable = TAVOLA_DURABLE_COMMIT;
  } else if (is_word(value, sym_os)) {
    options->durable = TAVOLA_DURABLE_OS;
  } else if (RTEST(rb_obj_is_kind_of(value, rb_cNumeric))) {
    uint64_t ms = tvl_ms(value, "durable");
    if (ms == 0 || ms > UINT32_MAX) {
      rb_raise(rb_eArgError, "durable must be more than 0 seconds, and at most 49 days");
    }
    options->durable = TAVOLA_DURABLE_WITHIN;
    options->sync_ms = (uint32_t)ms;
  } else {
    rb_raise(rb_eArgError, "durable is nil, :commit, :os, or a number of seconds");
  }
}

static void read_options(VALUE given, opening *how) {
  VALUE values[OPT_COUNT];
  how->options = (tavola_options)TAVOLA_INIT(tavola_options);
  rb_get_kwargs(given, option_ids, 0, OPT_COUNT, values);
#define GIVEN(option) (values[option] != Qundef && !NIL_P(values[option]))
  if (GIVEN(OPT_CAPACITY)) how->options.capacity = NUM2ULL(values[OPT_CAPACITY]);
  if (GIVEN(OPT_MAX_SIZE)) how->options.max_size = NUM2ULL(values[OPT_MAX_SIZE]);
  if (GIVEN(OPT_MODE)) how->options.mode = NUM2UINT(values[OPT_MODE]);
  if (GIVEN(OPT_SHARDS)) how->options.shards = NUM2UINT(values[OPT_SHARDS]);
  if (GIVEN(OPT_FIXED_KEY)) how->options.fixed_key = NUM2UINT(values[OPT_FIXED_KEY]);
  if (GIVEN(OPT_FIXED_VALUE)) how->options.fixed_value = NUM2UINT(values[OPT_FIXED_VALUE]);
  if (GIVEN(OPT_GROUP_ID)) how->options.group_id = NUM2UINT(values[OPT_GROUP_ID]);
  if (GIVEN(OPT_TTL)) {
    tavola_attributes attributes;
    tvl_attributes_of(values[OPT_TTL], 0, &attributes);
    if (attributes.ttl_ms > 0) how->options.ttl_ms = (uint64_t)attributes.ttl_ms;
  }
  if (GIVEN(OPT_DURABLE)) read_durable(values[OPT_DURABLE], &how->options);
  how->busy_ms = GIVEN(OPT_LOCK_TIMEOUT) ? tvl_ms(values[OPT_LOCK_TIMEOUT], "lock_timeout")
                                         : TVL_FOREVER;
#undef GIVEN
#define IS_SET(option) (values[option] != Qundef && RTEST(values[option]))
  how->options.versions = IS_SET(OPT_VERSIONS);
  how->options.background = IS_SET(OPT_BACKGROUND);
  how->options.core_dumps = IS_SET(OPT_CORE_DUMPS);
  how->options.any_owner = IS_SET(OPT_ANY_OWNER);
#undef IS_SET
  read_serializer(values[OPT_SERIALIZER], how);
}

typedef tavola_status (*open_fn)(const char *, const tavola_options *, tavola_table **);

static tavola_status open_private(const char *name, const tavola_options *options,
                                  tavola_table **table) {
  return tavola_open_private(options, table);
}

static VALUE close_table(VALUE self);

typedef struct {
  open_fn open;
  const char *path;
  const tavola_options *options;
  tvl_handle *handle;
  tavola_status status;
} open_call;

static void *open_now(void *user) {
  open_call *call = user;
  call->status = call->open(call->path, call->options, &call->handle->table);
  return NULL;
}

// Notes whether the table is durable, and whether writes wait for the disk. Nothing is asked of
// other tables, as that would map them.
static void note_durability(tvl_handle *handle) {
  struct stat found;
  const char *path = tavola_path(handle->table);
  handle->is_durable = stat(path, &found) == 0 && S_ISDIR(found.st_mode) &&
                       tavola_is_durable(handle->table);
  handle->waits = handle->is_durable &&
                  tavola_durability(handle->table, NULL) == TAVOLA_DURABLE_COMMIT;
}

// Opens a table. To rebuild a durable one may take seconds; its name is a path.
static void open_into(tvl_handle *handle, open_fn open, VALUE name, const tavola_options *options) {
  open_call call = {open, NULL, options, handle, TAVOLA_OK};
  if (!NIL_P(name)) {
    name = rb_str_new_frozen(rb_get_path(name));
    call.path = StringValueCStr(name);
  }
  bool is_path = call.path != NULL && strchr(call.path, '/') != NULL;
  if (is_path) {
    tvl_blocking(open_now, &call);
  } else {
    open_now(&call);
  }
  RB_GC_GUARD(name);
  tvl_check(call.status);
  if (is_path) note_durability(handle);
}

static VALUE open_with(VALUE class, open_fn open, VALUE name, VALUE given) {
  opening how;
  read_options(NIL_P(given) ? rb_hash_new() : given, &how);
  tvl_handle *handle;
  VALUE self = TypedData_Make_Struct(class, tvl_handle, &tvl_table_type, handle);
  handle->kind = how.kind;
  handle->fixed = -1;
  handle->busy_ms = how.busy_ms;
  RB_OBJ_WRITE(self, &handle->serializer, how.serializer);
  handle->spare = Qnil;
  open_into(handle, open, name, &how.options);
  tvl_check(tavola_set_lock_timeout(handle->table, TVL_BUSY_MS));
  return rb_block_given_p() ? rb_ensure(rb_yield, self, close_table, self) : self;
}

static VALUE open_named(int argc, VALUE *argv, VALUE class, open_fn open) {
  VALUE name, given;
  rb_scan_args(argc, argv, "1:", &name, &given);
  return open_with(class, open, name, given);
}

static VALUE table_s_open(int argc, VALUE *argv, VALUE class) {
  return open_named(argc, argv, class, tavola_open);
}

static VALUE table_s_open_existing(int argc, VALUE *argv, VALUE class) {
  return open_named(argc, argv, class, tavola_open_existing);
}

static VALUE table_s_create(int argc, VALUE *argv, VALUE class) {
  return open_named(argc, argv, class, tavola_create);
}

static VALUE table_s_open_read_only(int argc, VALUE *argv, VALUE class) {
  return open_named(argc, argv, class, tavola_open_read_only);
}

static VALUE table_s_open_private(int argc, VALUE *argv, VALUE class) {
  VALUE given;
  rb_scan_args(argc, argv, "0:", &given);
  return open_with(class, open_private, Qnil, given);
}

static VALUE close_table(VALUE self) {
  tvl_handle *handle = rb_check_typeddata(self, &tvl_table_type);
  if (handle->table == NULL) return Qnil;
  handle->is_closing = true;
  tvl_enter(handle);
  tvl_leave(handle);
  return Qnil;
}

static VALUE table_is_closed(VALUE self) {
  tvl_handle *handle = rb_check_typeddata(self, &tvl_table_type);
  return TVL_BOOL(handle->table == NULL || handle->is_closing);
}

static VALUE table_path(VALUE self) {
  return rb_filesystem_str_new_cstr(tavola_path(tvl_handle_of(self)->table));
}

static VALUE table_is_read_only(VALUE self) {
  return TVL_BOOL(tavola_is_read_only(tvl_handle_of(self)->table));
}

static VALUE table_serializer(VALUE self) {
  tvl_handle *handle = tvl_handle_of(self);
  return handle->kind == TVL_MARSHAL ? sym_marshal : handle->serializer;
}

static VALUE table_set_lock_timeout(VALUE self, VALUE seconds) {
  tvl_handle_of(self)->busy_ms = NIL_P(seconds) ? TVL_FOREVER : tvl_ms(seconds, "lock_timeout");
  return seconds;
}

static VALUE table_refresh(VALUE self) {
  tvl_handle *handle = tvl_handle_of(self);
  int has_moved = 0;
  if (handle->users != 0) {
    rb_raise(rb_eThreadError, "another thread is inside a call with this table");
  }
  tvl_check(tavola_refresh(&handle->table, &has_moved));
  if (has_moved) {
    handle->fixed = -1;
    note_durability(handle);
    tvl_check(tavola_set_lock_timeout(handle->table, TVL_BUSY_MS));
  }
  return TVL_BOOL(has_moved);
}

void tvl_init_handle(void) {
  static const char *const names[OPT_COUNT] = {
      "capacity",     "max_size", "ttl",        "serializer", "mode",      "shards",   "fixed_key",
      "fixed_value",  "versions", "background", "core_dumps", "any_owner", "group_id",
      "lock_timeout", "durable",
  };
  for (int i = 0; i < OPT_COUNT; i++) option_ids[i] = rb_intern(names[i]);
  sym_marshal = ID2SYM(rb_intern("marshal"));
  sym_commit = ID2SYM(rb_intern("commit"));
  sym_os = ID2SYM(rb_intern("os"));
  tvl_table_class = rb_define_class_under(tvl_module, "Table", rb_cObject);
  rb_gc_register_mark_object(tvl_table_class);
  rb_undef_alloc_func(tvl_table_class);
  rb_define_singleton_method(tvl_table_class, "open", table_s_open, -1);
  rb_define_singleton_method(tvl_table_class, "open_existing", table_s_open_existing, -1);
  rb_define_singleton_method(tvl_table_class, "create", table_s_create, -1);
  rb_define_singleton_method(tvl_table_class, "open_read_only", table_s_open_read_only, -1);
  rb_define_singleton_method(tvl_table_class, "open_private", table_s_open_private, -1);
  rb_define_method(tvl_table_class, "close", close_table, 0);
  rb_define_method(tvl_table_class, "closed?", table_is_closed, 0);
  rb_define_method(tvl_table_class, "path", table_path, 0);
  rb_define_method(tvl_table_class, "read_only?", table_is_read_only, 0);
  rb_define_method(tvl_table_class, "serializer", table_serializer, 0);
  rb_define_method(tvl_table_class, "lock_timeout=", table_set_lock_timeout, 1);
  rb_define_method(tvl_table_class, "refresh", table_refresh, 0);
}

// Logs in shared memory: writing lines, reading them, and writing them out to a file.

#include "tavola_ruby.h"

typedef struct {
  tavola_log *log;
  size_t users;  // Lines that are under way without the GVL.
} log_handle;

typedef struct {
  tavola_log_reader *reader;
} reader_handle;

typedef struct {
  tavola_log_drain *drain;
  bool is_busy;  // A thread writes lines out without the GVL.
} drain_handle;

static VALUE log_class, reader_class, drain_class, line_class, id_overloads[3];

static void release_log(void *user) {
  tavola_log_close(((log_handle *)user)->log);
  xfree(user);
}

static void release_reader(void *user) {
  tavola_log_reader_close(((reader_handle *)user)->reader);
  xfree(user);
}

static void release_drain(void *user) {
  tavola_log_drain_close(((drain_handle *)user)->drain);
  xfree(user);
}

static size_t memory_of(const void *user) { return sizeof(log_handle); }

#define HANDLE_TYPE(type, name, release)                         \
  static const rb_data_type_t type = {                           \
      .wrap_struct_name = name,                                  \
      .function = {.dfree = release, .dsize = memory_of},        \
      .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED, \
  }
HANDLE_TYPE(log_type, "Tavola::Log", release_log);
HANDLE_TYPE(reader_type, "Tavola::Log::Reader", release_reader);
HANDLE_TYPE(drain_type, "Tavola::Log::Drain", release_drain);

static tavola_log *log_of(VALUE self) {
  log_handle *handle = rb_check_typeddata(self, &log_type);
  if (handle->log == NULL) tvl_raise_closed("log");
  return handle->log;
}

// open_log(name, bytes, overload, mode, how): `how` is :open, :existing or :read_only.
static VALUE log_s_open(VALUE class, VALUE name, VALUE bytes, VALUE overload, VALUE mode,
                        VALUE how) {
  tavola_log_options options = TAVOLA_INIT(tavola_log_options);
  log_handle *handle;
  if (!NIL_P(bytes)) options.bytes = NUM2ULL(bytes);
  if (!NIL_P(mode)) options.mode = NUM2UINT(mode);
  for (int i = 0; i < 3; i++) {
    if (overload == id_overloads[i]) options.overload = i;
  }
  name = rb_get_path(name);
  const char *path = StringValueCStr(name);
  VALUE self = TypedData_Make_Struct(class, log_handle, &log_type, handle);
  if (how == ID2SYM(rb_intern("existing"))) {
    tvl_check(tavola_log_open_existing(path, &handle->log));
  } else if (how == ID2SYM(rb_intern("read_only"))) {
    tvl_check(tavola_log_open_read_only(path, &handle->log));
  } else {
    tvl_check(tavola_log_open(path, &options, &handle->log));
  }
  RB_GC_GUARD(name);
  return self;
}

typedef struct {
  tavola_log *log;
  int32_t level;
  const char *text;
  size_t len;
  tavola_status status;
} line_call;

static void *write_line(void *user) {
  line_call *call = user;
  call->status = tavola_log_line(call->log, call->level, call->text, call->len);
  return NULL;
}

static VALUE line_body(VALUE user) {
  tvl_blocking(write_line, (void *)user);
  return Qnil;
}

static VALUE line_end(VALUE user) {
  ((log_handle *)user)->users--;
  return Qnil;
}

// line(level, text). A log with the policy `block` may wait for its drain, which may be a thread of
// this process, so the GVL is released.
static VALUE log_line(VALUE self, VALUE level, VALUE text) {
  line_call call = {.log = log_of(self), .level = NUM2INT(level)};
  log_handle *handle = rb_check_typeddata(self, &log_type);
  StringValue(text);
  if (tavola_log_overload(call.log) == TAVOLA_OVERLOAD_BLOCK) {
    text = rb_str_new_frozen(text);
    call.text = RSTRING_PTR(text);
    call.len = (size_t)RSTRING_LEN(text);
    handle->users++;
    rb_ensure(line_body, (VALUE)&call, line_end, (VALUE)handle);
  } else {
    call.text = RSTRING_PTR(text);
    call.len = (size_t)RSTRING_LEN(text);
    write_line(&call);
  }
  RB_GC_GUARD(text);
  RB_GC_GUARD(self);
  tvl_check(call.status);
  return self;
}

static VALUE log_show_on_stderr(VALUE self, VALUE is_shown) {
  tvl_check(tavola_log_show_on_stderr(log_of(self), RTEST(is_shown)));
  return is_shown;
}

static VALUE log_dropped(VALUE self) { return ULL2NUM(tavola_log_dropped(log_of(self))); }

static VALUE log_bytes(VALUE self) { return ULL2NUM(tavola_log_bytes(log_of(self))); }

static VALUE log_path(VALUE self) {
  return rb_filesystem_str_new_cstr(tavola_log_path(log_of(self)));
}

static VALUE log_stats(VALUE self) {
  tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
  tvl_check(tavola_log_get_stats(log_of(self), &stats));
  VALUE hash = rb_hash_new();
#define NUMBER(field) rb_hash_aset(hash, ID2SYM(rb_intern(#field)), ULL2NUM(stats.field))
  NUMBER(bytes);
  NUMBER(used_bytes);
  NUMBER(pieces);
  NUMBER(pieces_in_hand);
  NUMBER(lines);
  NUMBER(awaiting);
  NUMBER(dropped);
#undef NUMBER
  rb_hash_aset(hash, ID2SYM(rb_intern("has_drain")), TVL_BOOL(stats.has_drain));
  rb_hash_aset(hash, ID2SYM(rb_intern("overload")), id_overloads[stats.overload % 3]);
  return hash;
}

static VALUE log_close(VALUE self) {
  log_handle *handle = rb_check_typeddata(self, &log_type);
  if (handle->users != 0) rb_raise(rb_eThreadError, "another thread writes a line to this log");
  tavola_log_close(handle->log);
  handle->log = NULL;
  return Qnil;
}

static VALUE log_is_closed(VALUE self) {
  return TVL_BOOL(((log_handle *)rb_check_typeddata(self, &log_type))->log == NULL);
}

// A line, before its text and the text as `tavola log show` prints it.
typedef struct {
  tavola_line line;
  size_t printed_len;
} line_head;

static void add_line(void *user, const tavola_line *line) {
  tvl_arena printed = {0};
  size_t capacity = line->len * 4 + 256;
  char *room = tvl_arena_add(&printed, NULL, capacity);
  tavola_buffer buffer = TAVOLA_BUFFER(room, room ? capacity : 0);
  line_head head = {*line, 0};
  if (room != NULL && tavola_line_print(line, &buffer) == TAVOLA_OK) head.printed_len = buffer.len;
  tvl_arena_add(user, &head, sizeof head);
  tvl_arena_add(user, line->text, line->len);
  tvl_arena_add(user, room, head.printed_len);
  tvl_arena_free(&printed);
}

static VALUE lines_in(VALUE user) {
  const tvl_arena *arena = (const tvl_arena *)user;
  VALUE lines = rb_ary_new();
  line_head head;
  if (arena->has_failed) rb_memerror();
  for (size_t at = 0; at < arena->len; at += sizeof head + head.line.len + head.printed_len) {
    memcpy(&head, arena->bytes + at, sizeof head);
    const char *text = arena->bytes + at + sizeof head;
    rb_ary_push(lines, rb_struct_new(line_class, ULL2NUM(head.line.unix_ns),
                                     UINT2NUM(head.line.pid), UINT2NUM(head.line.tid),
                                     INT2NUM(head.line.level), tvl_text(text, head.line.len),
                                     UINT2NUM(head.line.cut),
                                     tvl_text(text + head.line.len, head.printed_len)));
  }
  return lines;
}

static VALUE free_lines(VALUE user) {
  tvl_arena_free((tvl_arena *)user);
  return Qnil;
}

static VALUE log_reader(VALUE self) {
  reader_handle *handle;
  VALUE reader = TypedData_Make_Struct(reader_class, reader_handle, &reader_type, handle);
  tvl_check(tavola_log_reader_open(log_of(self), &handle->reader));
  return reader;
}

static tavola_log_reader *reader_of(VALUE self) {
  reader_handle *handle = rb_check_typeddata(self, &reader_type);
  if (handle->reader == NULL) tvl_raise_closed("reader");
  return handle->reader;
}

static VALUE reader_lines(VALUE self) {
  tvl_arena arena = {0};
  tavola_status status = tavola_log_reader_lines(reader_of(self), add_line, &arena);
  if (status < 0) tvl_arena_free(&arena);
  tvl_check(status);
  return rb_ensure(lines_in, (VALUE)&arena, free_lines, (VALUE)&arena);
}

static VALUE reader_skip(VALUE self) {
  tvl_check(tavola_log_reader_skip(reader_of(self)));
  return self;
}

static VALUE reader_missed(VALUE self) {
  return ULL2NUM(tavola_log_reader_missed(reader_of(self)));
}

static VALUE reader_close(VALUE self) {
  reader_handle *handle = rb_check_typeddata(self, &reader_type);
  tavola_log_reader_close(handle->reader);
  handle->reader = NULL;
  return Qnil;
}

static VALUE log_drain(VALUE self) {
  drain_handle *handle;
  VALUE drain = TypedData_Make_Struct(drain_class, drain_handle, &drain_type, handle);
  tvl_check(tavola_log_drain_open(log_of(self), &handle->drain));
  return drain;
}

static drain_handle *drain_of(VALUE self) {
  drain_handle *handle = rb_check_typeddata(self, &drain_type);
  if (handle->drain == NULL) tvl_raise_closed("drain");
  if (handle->is_busy) rb_raise(rb_eThreadError, "another thread uses this drain");
  return handle;
}

static int fd_of(VALUE io) {
  return RB_INTEGER_TYPE_P(io) ? NUM2INT(io) : NUM2INT(rb_funcall(io, rb_intern("fileno"), 0));
}

typedef struct {
  tavola_log_drain *drain;
  void *(*work)(void *);
  int fd;
  size_t lines;
  tavola_status status;
} drain_call;

static void *work_pass(void *user) {
  drain_call *call = user;
  call->status = tavola_log_drain_pass_fd(call->drain, call->fd, &call->lines);
  return NULL;
}

static void *work_finish(void *user) {
  drain_call *call = user;
  call->status = tavola_log_drain_finish_fd(call->drain, call->fd, &call->lines);
  return NULL;
}

static VALUE write_out_body(VALUE user) {
  tvl_blocking(((drain_call *)user)->work, (void *)user);
  return Qnil;
}

static VALUE write_out_end(VALUE user) {
  ((drain_handle *)user)->is_busy = false;
  return Qnil;
}

// Writes lines to a descriptor without the GVL, and returns how many.
static VALUE write_out(VALUE self, VALUE io, void *(*work)(void *)) {
  drain_handle *handle = drain_of(self);
  drain_call call = {.drain = handle->drain, .work = work, .fd = fd_of(io)};
  handle->is_busy = true;
  rb_ensure(write_out_body, (VALUE)&call, write_out_end, (VALUE)handle);
  RB_GC_GUARD(io);
  RB_GC_GUARD(self);
  tvl_check(call.status);
  return SIZET2NUM(call.lines);
}

static VALUE drain_pass(VALUE self, VALUE io) { return write_out(self, io, work_pass); }

static VALUE drain_finish(VALUE self, VALUE io) { return write_out(self, io, work_finish); }

static VALUE drain_close(VALUE self) {
  drain_handle *handle = rb_check_typeddata(self, &drain_type);
  if (handle->drain != NULL) handle = drain_of(self);
  tavola_log_drain_close(handle->drain);
  handle->drain = NULL;
  return Qnil;
}

void tvl_init_log(void) {
  static const char *const overloads[] = {"drop_oldest", "drop_newest", "block"};
  for (int i = 0; i < 3; i++) id_overloads[i] = ID2SYM(rb_intern(overloads[i]));
  log_class = rb_define_class_under(tvl_module, "Log", rb_cObject);
  reader_class = rb_define_class_under(log_class, "Reader", rb_cObject);
  drain_class = rb_define_class_under(log_class, "Drain", rb_cObject);
  line_class = rb_struct_define_under(log_class, "Line", "unix_ns", "pid", "tid", "level", "text",
                                      "cut", "printed", NULL);
  VALUE all[] = {log_class, reader_class, drain_class};
  for (int i = 0; i < 3; i++) {
    rb_gc_register_mark_object(all[i]);
    rb_undef_alloc_func(all[i]);
  }
  rb_gc_register_mark_object(line_class);
  rb_define_private_method(rb_singleton_class(log_class), "open_log", log_s_open, 5);
  rb_define_method(log_class, "line", log_line, 2);
  rb_define_method(log_class, "show_on_stderr=", log_show_on_stderr, 1);
  rb_define_method(log_class, "dropped", log_dropped, 0);
  rb_define_method(log_class, "bytes", log_bytes, 0);
  rb_define_method(log_class, "path", log_path, 0);
  rb_define_method(log_class, "stats", log_stats, 0);
  rb_define_method(log_class, "close", log_close, 0);
  rb_define_method(log_class, "closed?", log_is_closed, 0);
  rb_define_method(log_class, "reader", log_reader, 0);
  rb_define_method(log_class, "drain", log_drain, 0);
  rb_define_method(reader_class, "lines", reader_lines, 0);
  rb_define_method(reader_class, "skip", reader_skip, 0);
  rb_define_method(reader_class, "missed", reader_missed, 0);
  rb_define_method(reader_class, "close", reader_close, 0);
  rb_define_method(drain_class, "pass", drain_pass, 1);
  rb_define_method(drain_class, "finish", drain_finish, 1);
  rb_define_method(drain_class, "close", drain_close, 0);
}

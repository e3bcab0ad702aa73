// Queues of jobs, in the form of `tavola queue`: a pool with the queues `free` and `jobs`. An
// element begins with the length of the job plus 1 as 4 bytes, little-endian (0: no job); the job
// follows. The word of an element that a dead process held says where the element belongs. A job
// that is not text has bit 31 set in that word, and 4 bytes of flags between the word and the job.
//
// Only the primitives are here; Tavola::Queue in Ruby is built on them.

#include "tavola_ruby.h"

#define PREFIX 4
// Set in the word of a job that is not text: flags follow the word, and the value follows them.
#define HAS_FLAGS 0x80000000u

typedef struct {
  tavola_pool *pool;
  tavola_queue *free, *jobs;
  size_t users;
  bool is_closing;
  atomic_bool is_closed;
} queue_handle;

static VALUE pool_class;
static ID id_Marshal;

static void close_now(queue_handle *handle) {
  tavola_queue_close(handle->jobs);
  tavola_queue_close(handle->free);
  tavola_pool_close(handle->pool);
  handle->pool = NULL;
  handle->jobs = handle->free = NULL;
}

static void release(void *user) {
  close_now(user);
  xfree(user);
}

static size_t memory_of(const void *user) { return sizeof(queue_handle); }

static const rb_data_type_t queue_type = {
    .wrap_struct_name = "Tavola::Queue",
    .function = {.dfree = release, .dsize = memory_of},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static queue_handle *queue_of(VALUE self) {
  queue_handle *handle = rb_check_typeddata(self, &queue_type);
  if (handle->pool == NULL || handle->is_closing) tvl_raise_closed("queue");
  return handle;
}

// The handle of a caller that holds an element.
static queue_handle *holder_of(VALUE self) {
  queue_handle *handle = rb_check_typeddata(self, &queue_type);
  if (handle->pool == NULL) tvl_raise_closed("queue");
  return handle;
}

// open(name, places, job_bytes, mode, is_existing, table)
static VALUE queue_s_open(VALUE class, VALUE name, VALUE places, VALUE job_bytes, VALUE mode,
                          VALUE is_existing, VALUE table) {
  static const char *const names[] = {"free", "jobs"};
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  queue_handle *handle;
  uint64_t bytes = NUM2ULL(job_bytes) + 2 * PREFIX;
  if (bytes > UINT32_MAX) rb_raise(rb_eArgError, "a job must be smaller than 4 GiB");
  options.elements = NUM2UINT(places);
  options.element_bytes = (uint32_t)bytes;
  options.queues = names;
  options.queue_count = 2;
  options.mode = NIL_P(mode) ? 0 : NUM2UINT(mode);
  name = rb_get_path(name);
  const char *path = StringValueCStr(name);
  VALUE self = TypedData_Make_Struct(class, queue_handle, &queue_type, handle);
  if (!NIL_P(table)) {
    tvl_check(tavola_pool_open_in(tvl_handle_of(table)->table, path, &options, &handle->pool));
  } else if (RTEST(is_existing)) {
    tvl_check(tavola_pool_open_existing(path, &handle->pool));
  } else {
    tvl_check(tavola_pool_open(path, &options, &handle->pool));
  }
  RB_GC_GUARD(name);
  tvl_check(tavola_pool_set_lock_timeout(handle->pool, TVL_BUSY_MS));
  tvl_check(tavola_queue_open(handle->pool, "free", &handle->free));
  tvl_check(tavola_queue_open(handle->pool, "jobs", &handle->jobs));
  return self;
}

// Returns how many bytes an element has from this place on.
static uint32_t bytes_from(const queue_handle *handle, uint32_t start) {
  uint32_t bytes = tavola_pool_element_bytes(handle->pool);
  return bytes < start ? 0 : bytes - start;
}

typedef struct {
  queue_handle *handle;
  const tavola_queue *from;
  uint64_t timeout_ms;
  uint32_t element;
  tavola_status status;
} popping;

static tavola_status pop_slice(void *user, uint64_t slice_ms) {
  popping *pop = user;
  if (atomic_load(&pop->handle->is_closed)) return TAVOLA_EMPTY;
  tavola_status status = tavola_queue_pop_wait(pop->from, slice_ms, &pop->element);
  return status == TAVOLA_ERR_BUSY ? TAVOLA_TIMEOUT : status;
}

static VALUE pop_body(VALUE user) {
  popping *pop = (popping *)user;
  pop->status = tvl_wait(pop_slice, pop, pop->timeout_ms);
  return Qnil;
}

static void leave(queue_handle *handle) {
  handle->users--;
  if (handle->is_closing && handle->users == 0) close_now(handle);
}

static VALUE pop_end(VALUE user) {
  leave(((popping *)user)->handle);
  return Qnil;
}

// Pops an element of one of the two queues. Returns nil if none came in time. A handle that holds
// an element stays open until `put`, `finish` or `give_back`, even if it is closed meanwhile.
static VALUE pop_from(VALUE self, VALUE timeout, bool is_jobs) {
  queue_handle *handle = queue_of(self);
  popping pop = {handle, is_jobs ? handle->jobs : handle->free, 0, 0, TAVOLA_EMPTY};
  pop.timeout_ms = tvl_timeout_ms(timeout);
  while ((pop.status = tavola_queue_pop(pop.from, &pop.element)) == TAVOLA_ERR_BUSY) {
    rb_thread_schedule();
    rb_thread_check_ints();
    queue_of(self);
  }
  if (pop.status == TAVOLA_EMPTY && pop.timeout_ms != 0) {
    handle->users++;
    rb_ensure(pop_body, (VALUE)&pop, pop_end, (VALUE)&pop);
  }
  RB_GC_GUARD(self);
  if (tvl_check(pop.status) != TAVOLA_OK) return Qnil;
  handle->users++;
  return UINT2NUM(pop.element);
}

static VALUE queue_pop_free(VALUE self, VALUE timeout) { return pop_from(self, timeout, false); }

static VALUE queue_pop_job(VALUE self, VALUE timeout) { return pop_from(self, timeout, true); }

static uint32_t word_at(const queue_handle *handle, uint32_t element, uint32_t at) {
  unsigned char word[PREFIX] = {0};
  tvl_check(tavola_pool_read(handle->pool, element, at, word, PREFIX));
  return word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 | (uint32_t)word[3] << 24;
}

static void set_word(const queue_handle *handle, uint32_t element, uint32_t at, uint32_t value) {
  unsigned char word[PREFIX] = {(unsigned char)value, (unsigned char)(value >> 8),
                                (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  tvl_check(tavola_pool_write(handle->pool, element, at, word, PREFIX));
}

// Pushes an element that this process holds. While a process that was stopped in a push or pop has
// the lock of the queue, other threads run; nothing is raised, because the element would be lost.
static void push_to(const tavola_queue *queue, uint32_t element) {
  tavola_status status;
  while ((status = tavola_queue_push(queue, element)) == TAVOLA_ERR_BUSY) rb_thread_schedule();
  tvl_check(status);
}

// Writes a job to an element that this process holds, and pushes it to `jobs`. Text has no flags.
static VALUE queue_put(VALUE self, VALUE element, VALUE job, VALUE flags) {
  queue_handle *handle = holder_of(self);
  uint32_t number = NUM2UINT(element), start = PREFIX, word;
  StringValue(job);
  word = (uint32_t)RSTRING_LEN(job) + 1;
  if (!NIL_P(flags)) {
    set_word(handle, number, PREFIX, NUM2UINT(flags));
    start += PREFIX;
    word |= HAS_FLAGS;
  }
  tvl_check(tavola_pool_write(handle->pool, number, start, TVL_BYTES(job)));
  set_word(handle, number, 0, word);
  push_to(handle->jobs, number);
  RB_GC_GUARD(job);
  leave(handle);
  return self;
}

// Returns the flags that a job without a serializer is stored with: nil if the string is text.
static VALUE queue_flags_of(VALUE self, VALUE job) {
  return tvl_is_text(job) ? Qnil : INT2FIX(0);
}

// Returns a list with the job of an element that this process holds, or nil if it has no job. What
// the serializer cannot decode is a string.
static VALUE queue_read(VALUE self, VALUE element, VALUE serializer) {
  queue_handle *handle = holder_of(self);
  uint32_t number = NUM2UINT(element);
  uint32_t word = word_at(handle, number, 0), start = PREFIX, flags = 0;
  tvl_handle codec = {.kind = TVL_PLAIN, .serializer = serializer};
  if (serializer == rb_const_get(rb_cObject, id_Marshal)) {
    codec.kind = TVL_MARSHAL;
  } else if (!NIL_P(serializer)) {
    codec.kind = TVL_OBJECT;
  }
  if ((word & HAS_FLAGS) != 0 && bytes_from(handle, PREFIX) >= PREFIX) {
    flags = word_at(handle, number, PREFIX);
    start += PREFIX;
    word &= ~HAS_FLAGS;
  }
  if (word == 0 || word - 1 > bytes_from(handle, start)) return Qnil;
  VALUE job = rb_str_buf_new((long)word);
  tvl_check(tavola_pool_read(handle->pool, number, start, RSTRING_PTR(job), word - 1));
  VALUE value = start == PREFIX ? tvl_text(RSTRING_PTR(job), word - 1)
                                : tvl_decode(&codec, flags, RSTRING_PTR(job), word - 1);
  RB_GC_GUARD(job);
  return rb_ary_new_from_args(1, value);
}

// Ends a job: its place is free again.
static VALUE queue_finish(VALUE self, VALUE element) {
  queue_handle *handle = holder_of(self);
  uint32_t number = NUM2UINT(element);
  set_word(handle, number, 0, 0);
  push_to(handle->free, number);
  leave(handle);
  return Qnil;
}

// Returns a job to the end of the queue.
static VALUE queue_give_back(VALUE self, VALUE element) {
  queue_handle *handle = holder_of(self);
  push_to(handle->jobs, NUM2UINT(element));
  leave(handle);
  return Qnil;
}

typedef struct {
  queue_handle *handle;
  uint64_t jobs;
  tavola_status status;
} reclaiming;

// An element of a dead process goes where its word says it belongs.
static void sort_element(void *user, uint32_t element) {
  reclaiming *one = user;
  unsigned char word[PREFIX] = {0};
  tavola_status status = tavola_pool_read(one->handle->pool, element, 0, word, PREFIX);
  if (status == TAVOLA_OK) {
    bool is_job = (word[0] | word[1] | word[2] | word[3]) != 0;
    status = tavola_queue_push(is_job ? one->handle->jobs : one->handle->free, element);
    one->jobs += is_job && status == TAVOLA_OK;
  }
  if (status < 0) one->status = status;
}

// Returns how many jobs of dead processes are in the queue again. While a stopped process has a
// lock of the queue, it returns 0; the next call tries again.
static VALUE queue_reclaim(VALUE self) {
  reclaiming one = {queue_of(self), 0, TAVOLA_OK};
  tavola_status status = tavola_pool_reclaim(one.handle->pool, sort_element, &one);
  if (status == TAVOLA_ERR_BUSY) return INT2FIX(0);
  tvl_check(status);
  tvl_check(one.status);
  return ULL2NUM(one.jobs);
}

static VALUE queue_size(VALUE self) { return SIZET2NUM(tavola_queue_len(queue_of(self)->jobs)); }

static VALUE queue_places(VALUE self) {
  return UINT2NUM(tavola_pool_elements(queue_of(self)->pool));
}

static VALUE queue_job_bytes(VALUE self) {
  return UINT2NUM(bytes_from(queue_of(self), 2 * PREFIX));
}

// Returns how many bytes a job may have that is stored with these flags.
static VALUE queue_most_bytes(VALUE self, VALUE flags) {
  return UINT2NUM(bytes_from(queue_of(self), NIL_P(flags) ? PREFIX : 2 * PREFIX));
}

static VALUE queue_path(VALUE self) {
  return rb_filesystem_str_new_cstr(tavola_pool_path(queue_of(self)->pool));
}

static VALUE queue_close(VALUE self) {
  queue_handle *handle = rb_check_typeddata(self, &queue_type);
  if (handle->pool == NULL) return self;
  handle->is_closing = true;
  atomic_store(&handle->is_closed, true);
  if (handle->users == 0) close_now(handle);
  return self;
}

static VALUE queue_is_closed(VALUE self) {
  queue_handle *handle = rb_check_typeddata(self, &queue_type);
  return TVL_BOOL(handle->pool == NULL || handle->is_closing);
}

void tvl_init_queue(void) {
  id_Marshal = rb_intern("Marshal");
  pool_class = rb_define_class_under(tvl_module, "Queue", rb_cObject);
  rb_gc_register_mark_object(pool_class);
  rb_undef_alloc_func(pool_class);
  rb_define_private_method(rb_singleton_class(pool_class), "open_pool", queue_s_open, 6);
  rb_define_private_method(pool_class, "pop_free", queue_pop_free, 1);
  rb_define_private_method(pool_class, "pop_job", queue_pop_job, 1);
  rb_define_private_method(pool_class, "put", queue_put, 3);
  rb_define_private_method(pool_class, "flags_of", queue_flags_of, 1);
  rb_define_private_method(pool_class, "most_bytes", queue_most_bytes, 1);
  rb_define_private_method(pool_class, "read", queue_read, 2);
  rb_define_private_method(pool_class, "finish", queue_finish, 1);
  rb_define_private_method(pool_class, "give_back", queue_give_back, 1);
  rb_define_method(pool_class, "reclaim", queue_reclaim, 0);
  rb_define_method(pool_class, "size", queue_size, 0);
  rb_define_method(pool_class, "max", queue_places, 0);
  rb_define_method(pool_class, "job_bytes", queue_job_bytes, 0);
  rb_define_method(pool_class, "path", queue_path, 0);
  rb_define_method(pool_class, "close", queue_close, 0);
  rb_define_method(pool_class, "closed?", queue_is_closed, 0);
}

// Transactions: changes of several keys that happen at once. Table#transaction is built on them.
//
// A transaction is begun and ended between `rb_ensure` and its end, so nothing that leaves the
// block can lose it: neither an exception nor `break`, `return`, `throw` or Thread#kill.

#include <unistd.h>
#include "tavola_ruby.h"

#define SHORT 1024
// After this many conflicts, a transaction waits for the turn of the table.
#define CONFLICTS 8

typedef struct {
  tavola_txn *txn;  // NULL: it has ended.
  VALUE table, thread;
  pid_t pid;
  size_t changes;   // Calls that have changed something.
  bool is_aborted;
} txn_handle;

static VALUE txn_class;
static ID id_ttl_tags[2], id_counting[3], id_timeout;

static void mark(void *user) {
  txn_handle *handle = user;
  rb_gc_mark_movable(handle->table);
  rb_gc_mark_movable(handle->thread);
}

static void compact(void *user) {
  txn_handle *handle = user;
  handle->table = rb_gc_location(handle->table);
  handle->thread = rb_gc_location(handle->thread);
}

// A block that a fiber has left for ever never ends; its transaction goes with its object.
static void release(void *user) {
  txn_handle *handle = user;
  tavola_txn_abort(handle->txn);
  xfree(handle);
}

static size_t memory_of(const void *user) { return sizeof(txn_handle); }

static const rb_data_type_t txn_type = {
    .wrap_struct_name = "Tavola::Transaction",
    .function = {.dmark = mark, .dfree = release, .dsize = memory_of, .dcompact = compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

NORETURN(static void raise_ended(void));
static void raise_ended(void) {
  rb_raise(tvl_closed_error, "the transaction has ended; begin another one");
}

// The handle of a transaction that is under way in this thread.
static txn_handle *txn_of(VALUE self) {
  txn_handle *handle = rb_check_typeddata(self, &txn_type);
  if (handle->txn == NULL) raise_ended();
  if (handle->thread != rb_thread_current()) {
    rb_raise(rb_eThreadError, "a transaction belongs to the thread that began it");
  }
  return handle;
}

// Does the same, for a change.
static txn_handle *changing(VALUE self) {
  txn_handle *handle = txn_of(self);
  handle->changes++;
  return handle;
}

// One run of the block.
typedef struct {
  VALUE table, object;
  tvl_handle *handle;
  txn_handle *txn;
  int32_t begin;
  uint64_t waited_ms;
  tavola_status status;
} running;

static void *begin_now(void *user) {
  running *run = user;
  run->status = tavola_txn_begin(run->handle->table, run->begin, &run->txn->txn);
  return NULL;
}

// Another thread of this process may have the turn, and needs the GVL to give it away.
static void begin_with_turn(running *run) {
#ifdef HAVE_RB_THREAD_LOCK_NATIVE_THREAD
  // The library notes the turn in the native thread.
  rb_thread_lock_native_thread();
#endif
  do {
    tvl_blocking(begin_now, run);
  } while (run->status == TAVOLA_ERR_BUSY &&
           tvl_busy_again(run->table, run->handle, &run->waited_ms));
}

static void *commit_now(void *user) {
  running *run = user;
  run->status = tavola_txn_try_commit(run->txn->txn);
  return NULL;
}

// Commits, also when another process keeps a lock for some time.
static void commit(running *run) {
  do {
    if (run->handle->waits) {
      tvl_wait_for_disk(run->table, run->handle, commit_now, run);
    } else if (run->txn->changes > TVL_SHORT_BATCH) {
      tvl_without_gvl(commit_now, run);
    } else {
      commit_now(run);
    }
  } while (run->status == TAVOLA_ERR_BUSY &&
           tvl_busy_again(run->table, run->handle, &run->waited_ms));
  tvl_check(run->status);
}

// How a block is left, of which Ruby's headers for extensions say nothing.
enum { BY_RETURN = 1, BY_BREAK = 2, BY_RAISE = 6 };

static bool is_timeout(VALUE error) {
  if (!rb_const_defined(rb_cObject, id_timeout)) return false;
  return RTEST(rb_obj_is_kind_of(error, rb_path2class("Timeout::Error")));
}

// Whether the block was left for what it has read. Signals, `exit`, Thread#kill and Timeout come
// from elsewhere; Timeout also by `throw`.
static bool is_own_decision(int state) {
  if (state != BY_RAISE) return state == 0 || state == BY_RETURN || state == BY_BREAK;
  VALUE error = rb_errinfo();
  return (RTEST(rb_obj_is_kind_of(error, rb_eStandardError)) && !is_timeout(error)) ||
         RTEST(rb_obj_is_kind_of(error, rb_eSysStackError)) ||
         RTEST(rb_obj_is_kind_of(error, rb_eScriptError));
}

// Whether a block that changes nothing has seen keys as they were at one moment. If it is not known
// because a lock is not free, the block counts.
static bool is_valid(running *run, int state) {
  tavola_status status;
  VALUE error = state == BY_RAISE ? rb_errinfo() : Qnil;
  bool may_wait = state == 0 || state == BY_RAISE;
  do {
    status = tavola_txn_validate(run->txn->txn);
  } while (status == TAVOLA_ERR_BUSY && may_wait &&
           tvl_busy_again(run->table, run->handle, &run->waited_ms));
  if (state == BY_RAISE) rb_set_errinfo(error);
  RB_GC_GUARD(error);
  return status != TAVOLA_CONFLICT;
}

static VALUE run_block(VALUE user) {
  running *run = (running *)user;
  if (run->begin == TAVOLA_BEGIN_TURN) {
    begin_with_turn(run);
  } else {
    begin_now(run);
  }
  tvl_check(run->status);
  int state = 0;
  VALUE value = rb_protect(rb_yield, run->object, &state);
  bool is_own = run->txn->pid == getpid();
  if (state == 0 && !run->txn->is_aborted) {
    // A child that was forked in the block has a copy, which is not to be done a second time.
    if (!is_own) raise_ended();
    commit(run);
    return value;
  }
  if (is_own && is_own_decision(state) && !is_valid(run, state)) {
    run->status = TAVOLA_CONFLICT;
    // With the turn, it becomes the cause of the conflict's exception.
    if (run->begin != TAVOLA_BEGIN_TURN || state != BY_RAISE) rb_set_errinfo(Qnil);
    return Qnil;
  }
  if (state != 0) rb_jump_tag(state);
  return Qnil;
}

static VALUE end_block(VALUE user) {
  running *run = (running *)user;
  tavola_txn *txn = run->txn->txn;
  run->txn->txn = NULL;
  // Without one, the call would only forget the sentence of the last error.
  if (txn != NULL) tavola_txn_abort(txn);
  tvl_leave(run->handle);
  return Qnil;
}

static VALUE run_once(running *run) {
  run->object = TypedData_Make_Struct(txn_class, txn_handle, &txn_type, run->txn);
  RB_OBJ_WRITE(run->object, &run->txn->table, run->table);
  RB_OBJ_WRITE(run->object, &run->txn->thread, rb_thread_current());
  run->txn->pid = getpid();
  run->handle = tvl_handle_of(run->table);
  tvl_enter(run->handle);
  return rb_ensure(run_block, (VALUE)run, end_block, (VALUE)run);
}

// run_transaction(begin) { |t| ... }: `begin` is a number of `tavola_begin`. One that begins with
// the turn runs once; the others run again after a conflict.
static VALUE table_run_transaction(VALUE self, VALUE begin) {
  int32_t wanted = NUM2INT(begin);
  running run = {.table = self};
  for (int conflicts = 0;; conflicts += conflicts < CONFLICTS) {
    bool has_waited = wanted == TAVOLA_BEGIN_OPTIMISTIC && conflicts >= CONFLICTS;
    run.begin = has_waited ? TAVOLA_BEGIN_TURN : wanted;
    VALUE value = run_once(&run);
    RB_GC_GUARD(run.object);
    if (run.status == TAVOLA_OK) return value;
    if (wanted == TAVOLA_BEGIN_TURN) tvl_raise_conflict();
    rb_set_errinfo(Qnil);
    rb_thread_check_ints();
  }
}

// Returns the value of a key, or Qundef if it is missing.
static VALUE read_value(VALUE self, VALUE key) {
  char bytes[SHORT];
  VALUE string = Qnil, value;
  tavola_attributes has = TAVOLA_INIT(tavola_attributes);
  tavola_buffer buffer = TAVOLA_BUFFER(bytes, sizeof bytes);
  txn_handle *txn = txn_of(self);
  tvl_handle *handle = tvl_handle_of(txn->table);
  tavola_status status = tavola_txn_get(txn->txn, TVL_BYTES(key), &buffer, &has);
  while (status == TAVOLA_ERR_TOO_SMALL) {
    size_t len = buffer.len;
    string = rb_str_buf_new((long)len);
    buffer = (tavola_buffer)TAVOLA_BUFFER(RSTRING_PTR(string), len);
    status = tavola_txn_get(txn_of(self)->txn, TVL_BYTES(key), &buffer, &has);
  }
  RB_GC_GUARD(key);
  if (tvl_check(status) == TAVOLA_NOT_FOUND) return Qundef;
  if (NIL_P(string)) {
    value = tvl_decode(handle, has.flags, bytes, buffer.len);
  } else {
    rb_str_set_len(string, (long)buffer.len);
    value = tvl_decode_string(handle, has.flags, string);
  }
  RB_GC_GUARD(txn->table);
  return value;
}

static VALUE txn_get(VALUE self, VALUE key) {
  VALUE value = read_value(self, tvl_key(key));
  return value == Qundef ? Qnil : value;
}

static bool has_key(VALUE self, VALUE key) {
  tavola_status status = tavola_txn_contains(txn_of(self)->txn, TVL_BYTES(key));
  RB_GC_GUARD(key);
  return tvl_check(status) == TAVOLA_OK;
}

static VALUE txn_has_key(VALUE self, VALUE key) { return TVL_BOOL(has_key(self, tvl_key(key))); }

typedef enum { ALWAYS, IF_MISSING, IF_THERE } condition;

// Stores a value with its flags, which the library's own calls for `add` and `replace` do not take.
static bool store(VALUE self, VALUE key, VALUE value, VALUE given, condition when) {
  VALUE keywords[2] = {Qundef, Qundef};
  tvl_encoded encoded;
  tavola_attributes attributes;
  tavola_tags room;
  VALUE table = txn_of(self)->table;
  tvl_handle *handle = tvl_handle_of(table);
  key = tvl_key(key);
  if (!NIL_P(given)) rb_get_kwargs(given, id_ttl_tags, 0, 2, keywords);
  tvl_encode(handle, value, &encoded);
  tvl_attributes_of(keywords[0] == Qundef ? Qnil : keywords[0],
                    tvl_is_fixed(handle) ? 0 : encoded.flags, &attributes);
  const tavola_tags *tags =
      tvl_tags_of(table, handle, keywords[1] == Qundef ? Qnil : keywords[1], &room);
  if (when != ALWAYS && has_key(self, key) != (when == IF_THERE)) return false;
  tvl_check(tavola_txn_set_with(changing(self)->txn, TVL_BYTES(key), encoded.data, encoded.len,
                                &attributes, tags));
  RB_GC_GUARD(key);
  RB_GC_GUARD(value);
  RB_GC_GUARD(table);
  RB_GC_GUARD(encoded.keep);
  return true;
}

// put_bytes(key, bytes, flags): stores bytes that Ruby has encoded.
static VALUE txn_put_bytes(VALUE self, VALUE key, VALUE bytes, VALUE flags) {
  VALUE table = txn_of(self)->table;
  tavola_attributes attributes;
  uint32_t kind = tvl_is_fixed(tvl_handle_of(table)) ? 0 : NUM2UINT(flags);
  tvl_attributes_of(Qnil, kind, &attributes);
  key = tvl_key(key);
  StringValue(bytes);
  tvl_check(tavola_txn_set_with(changing(self)->txn, TVL_BYTES(key), TVL_BYTES(bytes),
                                &attributes, NULL));
  RB_GC_GUARD(key);
  RB_GC_GUARD(bytes);
  RB_GC_GUARD(table);
  return Qnil;
}

static VALUE store_if(int argc, VALUE *argv, VALUE self, condition when) {
  VALUE key, value, given;
  rb_scan_args(argc, argv, "2:", &key, &value, &given);
  return TVL_BOOL(store(self, key, value, given, when));
}

static VALUE txn_assign(VALUE self, VALUE key, VALUE value) {
  store(self, key, value, Qnil, ALWAYS);
  return value;
}

static VALUE txn_set(int argc, VALUE *argv, VALUE self) {
  return store_if(argc, argv, self, ALWAYS);
}

static VALUE txn_add(int argc, VALUE *argv, VALUE self) {
  return store_if(argc, argv, self, IF_MISSING);
}

static VALUE txn_replace(int argc, VALUE *argv, VALUE self) {
  return store_if(argc, argv, self, IF_THERE);
}

static VALUE txn_append(VALUE self, VALUE key, VALUE more) {
  tvl_encoded encoded;
  VALUE table = txn_of(self)->table;
  key = tvl_key(key);
  tvl_encode(tvl_handle_of(table), more, &encoded);
  tavola_status status =
      tavola_txn_append(changing(self)->txn, TVL_BYTES(key), encoded.data, encoded.len);
  RB_GC_GUARD(key);
  RB_GC_GUARD(more);
  RB_GC_GUARD(table);
  RB_GC_GUARD(encoded.keep);
  return TVL_BOOL(tvl_check(status) == TAVOLA_OK);
}

static bool remove_key(VALUE self, VALUE key) {
  tavola_status status = tavola_txn_remove(changing(self)->txn, TVL_BYTES(key));
  RB_GC_GUARD(key);
  return tvl_check(status) == TAVOLA_OK;
}

static VALUE txn_remove(VALUE self, VALUE key) { return TVL_BOOL(remove_key(self, tvl_key(key))); }

// Removes a key and returns its value, or `missing`. Transaction#delete is built on it.
static VALUE txn_take_or(VALUE self, VALUE key, VALUE missing) {
  key = tvl_key(key);
  VALUE value = read_value(self, key);
  if (value == Qundef) return missing;
  remove_key(self, key);
  return value;
}

static VALUE txn_take(VALUE self, VALUE key) { return txn_take_or(self, key, Qnil); }

// Sets a number that did not exist. The library's own call would leave out its flags.
static int64_t first_number(VALUE self, VALUE key, int64_t number, VALUE ttl) {
  tavola_attributes attributes;
  char text[32];
  VALUE table = txn_of(self)->table;
  uint32_t flags = tvl_is_fixed(tvl_handle_of(table)) ? 0 : TVL_FLAGS_INTEGER;
  int len = snprintf(text, sizeof text, "%lld", (long long)number);
  tvl_attributes_of(ttl, flags, &attributes);
  tvl_check(tavola_txn_set_with(changing(self)->txn, TVL_BYTES(key), text, (size_t)len,
                                &attributes, NULL));
  RB_GC_GUARD(key);
  RB_GC_GUARD(table);
  return number;
}

static VALUE count_by(int argc, VALUE *argv, VALUE self, bool is_down) {
  VALUE key, by, given, keywords[3] = {Qundef, Qundef, Qundef};
  rb_scan_args(argc, argv, "11:", &key, &by, &given);
  if (!NIL_P(given)) rb_get_kwargs(given, id_counting, 0, 3, keywords);
  for (int i = 0; i < 3; i++) {
    if (keywords[i] == Qundef) keywords[i] = Qnil;
  }
  int64_t amount = NIL_P(by) ? 1 : NUM2LL(by), now = 0;
  int64_t initial = NIL_P(keywords[0]) ? 0 : NUM2LL(keywords[0]);
  if (is_down && __builtin_sub_overflow((int64_t)0, amount, &amount)) {
    rb_raise(rb_eRangeError, "the number does not fit in 64 bits");
  }
  if (initial != 0 && RTEST(keywords[2])) {
    rb_raise(rb_eArgError, "initial: and remove_zero: exclude each other");
  }
  key = tvl_key(key);
  if (has_key(self, key)) {
    tvl_check(tavola_txn_add_number(changing(self)->txn, TVL_BYTES(key), amount, &now));
    RB_GC_GUARD(key);
  } else if (__builtin_add_overflow(initial, amount, &now)) {
    rb_raise(rb_eRangeError, "the sum does not fit in 64 bits");
  } else {
    first_number(self, key, now, keywords[1]);
  }
  if (now == 0 && RTEST(keywords[2])) remove_key(self, key);
  return LL2NUM(now);
}

static VALUE txn_increment(int argc, VALUE *argv, VALUE self) {
  return count_by(argc, argv, self, false);
}

static VALUE txn_decrement(int argc, VALUE *argv, VALUE self) {
  return count_by(argc, argv, self, true);
}

static VALUE txn_savepoint(VALUE self) {
  uint32_t savepoint = 0;
  tvl_check(tavola_txn_savepoint(txn_of(self)->txn, &savepoint));
  return UINT2NUM(savepoint);
}

static VALUE txn_roll_back_to(VALUE self, VALUE savepoint) {
  uint32_t number = NUM2UINT(savepoint);
  tvl_check(tavola_txn_roll_back_to(txn_of(self)->txn, number));
  return Qnil;
}

// Leaves the block, which is inside a `catch` of this object.
static VALUE txn_abort(VALUE self) {
  txn_of(self)->is_aborted = true;
  rb_throw_obj(self, Qnil);
  return Qnil;
}

static VALUE txn_is_ended(VALUE self) {
  txn_handle *handle = rb_check_typeddata(self, &txn_type);
  return TVL_BOOL(handle->txn == NULL);
}

void tvl_init_txn(void) {
  id_ttl_tags[0] = rb_intern("ttl");
  id_ttl_tags[1] = rb_intern("tags");
  id_timeout = rb_intern("Timeout");
  id_counting[0] = rb_intern("initial");
  id_counting[1] = rb_intern("ttl");
  id_counting[2] = rb_intern("remove_zero");
  txn_class = rb_define_class_under(tvl_module, "Transaction", rb_cObject);
  rb_gc_register_mark_object(txn_class);
  rb_undef_alloc_func(txn_class);
  rb_define_private_method(tvl_table_class, "run_transaction", table_run_transaction, 1);
  rb_define_method(txn_class, "get", txn_get, 1);
  rb_define_method(txn_class, "[]", txn_get, 1);
  rb_define_method(txn_class, "key?", txn_has_key, 1);
  rb_define_method(txn_class, "[]=", txn_assign, 2);
  rb_define_method(txn_class, "set", txn_set, -1);
  rb_define_private_method(txn_class, "put_bytes", txn_put_bytes, 3);
  rb_define_method(txn_class, "add", txn_add, -1);
  rb_define_method(txn_class, "replace", txn_replace, -1);
  rb_define_method(txn_class, "append", txn_append, 2);
  rb_define_method(txn_class, "remove", txn_remove, 1);
  rb_define_method(txn_class, "take", txn_take, 1);
  rb_define_private_method(txn_class, "take_or", txn_take_or, 2);
  rb_define_method(txn_class, "increment", txn_increment, -1);
  rb_define_method(txn_class, "decrement", txn_decrement, -1);
  rb_define_method(txn_class, "savepoint", txn_savepoint, 0);
  rb_define_method(txn_class, "roll_back_to", txn_roll_back_to, 1);
  rb_define_method(txn_class, "abort", txn_abort, 0);
  rb_define_method(txn_class, "ended?", txn_is_ended, 0);
}

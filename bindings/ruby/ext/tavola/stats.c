// What a table reports about itself, and its maintenance. All of it runs without the GVL.

#include "tavola_ruby.h"

static void put(VALUE hash, const char *name, VALUE value) {
  rb_hash_aset(hash, ID2SYM(rb_intern(name)), value);
}

// A call of the library on a whole table.
typedef struct {
  tvl_handle *handle;
  tavola_status status;
  tvl_arena texts;
  union {
    tavola_stats stats;
    tavola_live_keys live;
    tavola_durable_stats journal;
    tavola_check_report report;
    tavola_maintained maintained;
    uint64_t number;
  };
  const char *name;
  uint64_t budget;
  uint32_t freed;
} table_call;

static void run(VALUE self, table_call *call, void *(*work)(void *)) {
  uint64_t waited = 0;
  call->handle = tvl_handle_of(self);
  do {
    tvl_enter(call->handle);
    tvl_without_gvl(work, call);
    tvl_leave(call->handle);
  } while (call->status == TAVOLA_ERR_BUSY && tvl_busy_again(self, call->handle, &waited));
  if (call->status < 0) tvl_arena_free(&call->texts);
  tvl_check(call->status);
}

static void *work_stats(void *user) {
  table_call *call = user;
  call->stats = (tavola_stats)TAVOLA_INIT(tavola_stats);
  call->status = tavola_get_stats(call->handle->table, &call->stats);
  return NULL;
}

static void *work_journal(void *user) {
  table_call *call = user;
  call->journal = (tavola_durable_stats)TAVOLA_INIT(tavola_durable_stats);
  call->status = tavola_get_durable_stats(call->handle->table, &call->journal);
  return NULL;
}

// Of a durable table: the state of its journal.
static void put_journal(VALUE self, VALUE hash) {
  table_call call = {0};
  run(self, &call, work_journal);
  if (call.status != TAVOLA_OK) return;
  put(hash, "journal_bytes", ULL2NUM(call.journal.journal_bytes));
  put(hash, "unsynced_bytes", ULL2NUM(call.journal.unsynced_bytes));
  put(hash, "syncs", ULL2NUM(call.journal.syncs));
  put(hash, "snapshot_unix_ms", ULL2NUM(call.journal.snapshot_unix_ms));
}

static VALUE table_stats(VALUE self) {
  table_call call = {0};
  run(self, &call, work_stats);
  VALUE hash = rb_hash_new();
  if (tvl_handle_of(self)->is_durable) put_journal(self, hash);
#define NUMBER(field) put(hash, #field, ULL2NUM(call.stats.field))
  NUMBER(keys);
  NUMBER(payload_bytes);
  NUMBER(resident_bytes);
  NUMBER(max_size);
  NUMBER(capacity);
  NUMBER(ttl_ms);
  NUMBER(fixed_key);
  NUMBER(fixed_value);
  NUMBER(hits);
  NUMBER(misses);
  NUMBER(writes);
  NUMBER(sets);
  NUMBER(removes);
  NUMBER(expired);
  NUMBER(evicted_new);
  NUMBER(evicted_old);
  NUMBER(ghost_hits);
  NUMBER(probationary_bytes);
  NUMBER(uids);
  NUMBER(tags);
  NUMBER(segments);
  put(hash, "index_load", DBL2NUM(call.stats.index_load));
  NUMBER(index_bytes);
  NUMBER(slab_bytes);
  NUMBER(uid_bytes);
  NUMBER(large_bytes);
  NUMBER(queue_and_log_bytes);
  NUMBER(free_bytes);
  NUMBER(shards);
  NUMBER(participants);
  NUMBER(recoveries);
  NUMBER(created_unix_s);
  NUMBER(format_version);
#undef NUMBER
  return hash;
}

static void *work_live(void *user) {
  table_call *call = user;
  call->live = (tavola_live_keys)TAVOLA_INIT(tavola_live_keys);
  call->status = tavola_get_live_keys(call->handle->table, &call->live);
  return NULL;
}

static VALUE table_live_keys(VALUE self) {
  table_call call = {0};
  run(self, &call, work_live);
  VALUE hash = rb_hash_new();
  put(hash, "live", ULL2NUM(call.live.live));
  put(hash, "unreclaimed", ULL2NUM(call.live.unreclaimed));
  put(hash, "is_estimate", TVL_BOOL(call.live.is_estimate));
  return hash;
}

// Sentences come one after the other, each with its NUL.
static void add_text(void *user, const char *text, size_t len) {
  tvl_arena_add(user, text, len + 1);
}

static void *work_check(void *user) {
  table_call *call = user;
  call->report = (tavola_check_report)TAVOLA_INIT(tavola_check_report);
  call->status = tavola_check(call->handle->table, &call->report, add_text, &call->texts);
  return NULL;
}

static void *work_repair(void *user) {
  table_call *call = user;
  call->report = (tavola_check_report)TAVOLA_INIT(tavola_check_report);
  call->status = tavola_repair(call->handle->table, &call->report, add_text, &call->texts);
  return NULL;
}

static VALUE report_of(VALUE self, void *(*work)(void *)) {
  table_call call = {0};
  run(self, &call, work);
  VALUE hash = rb_hash_new(), texts = rb_ary_new();
  for (size_t at = 0; at < call.texts.len; at += strlen(call.texts.bytes + at) + 1) {
    rb_ary_push(texts, rb_utf8_str_new_cstr(call.texts.bytes + at));
  }
  tvl_arena_free(&call.texts);
  put(hash, "problems", ULL2NUM(call.report.problems));
  put(hash, "keys", ULL2NUM(call.report.keys));
  put(hash, "bytes_reachable", ULL2NUM(call.report.bytes_reachable));
  put(hash, "bytes_in_use", ULL2NUM(call.report.bytes_in_use));
  put(hash, "copied_in_use", TVL_BOOL(call.report.copied_in_use));
  put(hash, "texts", texts);
  return hash;
}

static VALUE table_check(VALUE self) { return report_of(self, work_check); }

static VALUE table_repair(VALUE self) { return report_of(self, work_repair); }

static void *work_compact(void *user) {
  table_call *call = user;
  call->status = tavola_compact(call->handle->table, &call->number);
  return NULL;
}

static VALUE table_compact(VALUE self) {
  table_call call = {0};
  run(self, &call, work_compact);
  return ULL2NUM(call.number);
}

static void *work_maintain(void *user) {
  table_call *call = user;
  call->maintained = (tavola_maintained)TAVOLA_INIT(tavola_maintained);
  call->status = tavola_maintain(call->handle->table, call->budget, &call->maintained);
  return NULL;
}

// Returns whether nothing was left to do.
static VALUE table_maintain(int argc, VALUE *argv, VALUE self) {
  VALUE budget;
  table_call call = {0};
  rb_scan_args(argc, argv, "01", &budget);
  call.budget = NIL_P(budget) ? 64u << 20 : NUM2ULL(budget);
  run(self, &call, work_maintain);
  return TVL_BOOL(call.maintained.done);
}

static void *work_remove_expired(void *user) {
  table_call *call = user;
  call->status = tavola_remove_expired(call->handle->table);
  return NULL;
}

static VALUE table_remove_expired(VALUE self) {
  table_call call = {0};
  run(self, &call, work_remove_expired);
  return self;
}

static void *work_reclaim(void *user) {
  table_call *call = user;
  call->status = tavola_reclaim(call->handle->table, &call->freed);
  return NULL;
}

static VALUE table_reclaim(VALUE self) {
  table_call call = {0};
  run(self, &call, work_reclaim);
  return UINT2NUM(call.freed);
}

static void *work_copy(void *user) {
  table_call *call = user;
  call->status = tavola_copy_to(call->handle->table, call->name, &call->number);
  return NULL;
}

static VALUE table_copy_to(VALUE self, VALUE name) {
  table_call call = {0};
  name = rb_str_new_frozen(rb_get_path(name));
  call.name = StringValueCStr(name);
  run(self, &call, work_copy);
  RB_GC_GUARD(name);
  return ULL2NUM(call.number);
}

static VALUE table_capacity(VALUE self) {
  uint64_t bytes = 0;
  tvl_check(tavola_capacity(tvl_handle_of(self)->table, &bytes));
  return ULL2NUM(bytes);
}

static VALUE table_set_capacity(VALUE self, VALUE bytes) {
  tvl_check(tavola_set_capacity(tvl_handle_of(self)->table, NUM2ULL(bytes)));
  return bytes;
}

static VALUE table_set_max_size(VALUE self, VALUE bytes) {
  tvl_check(tavola_set_max_size(tvl_handle_of(self)->table, NUM2ULL(bytes)));
  return bytes;
}

// A process, before its command line.
typedef struct {
  uint32_t pid;
  bool is_alive, has_command;
  uint64_t attached_unix_s;
} process_head;

static void add_process(void *user, const tavola_participant *one) {
  const char *command = one->command ? one->command : "";
  process_head head = {one->pid, one->alive != 0, one->command != NULL, one->attached_unix_s};
  tvl_arena_add(user, &head, sizeof head);
  tvl_arena_add(user, command, strlen(command) + 1);
}

static void *work_processes(void *user) {
  table_call *call = user;
  call->status = tavola_participants(call->handle->table, add_process, &call->texts);
  return NULL;
}

static VALUE table_processes(VALUE self) {
  table_call call = {0};
  VALUE list = rb_ary_new();
  run(self, &call, work_processes);
  for (size_t at = 0; at < call.texts.len;) {
    process_head head;
    memcpy(&head, call.texts.bytes + at, sizeof head);
    const char *command = call.texts.bytes + at + sizeof head;
    VALUE hash = rb_hash_new();
    put(hash, "pid", UINT2NUM(head.pid));
    put(hash, "alive", TVL_BOOL(head.is_alive));
    put(hash, "attached_unix_s", ULL2NUM(head.attached_unix_s));
    put(hash, "command", head.has_command ? tvl_text(command, strlen(command)) : Qnil);
    rb_ary_push(list, hash);
    at += sizeof head + strlen(command) + 1;
  }
  tvl_arena_free(&call.texts);
  return list;
}

void tvl_init_stats(void) {
  rb_define_method(tvl_table_class, "stats", table_stats, 0);
  rb_define_method(tvl_table_class, "live_keys", table_live_keys, 0);
  rb_define_method(tvl_table_class, "check", table_check, 0);
  rb_define_method(tvl_table_class, "repair", table_repair, 0);
  rb_define_method(tvl_table_class, "compact", table_compact, 0);
  rb_define_method(tvl_table_class, "maintain", table_maintain, -1);
  rb_define_method(tvl_table_class, "remove_expired", table_remove_expired, 0);
  rb_define_method(tvl_table_class, "reclaim", table_reclaim, 0);
  rb_define_method(tvl_table_class, "copy_to", table_copy_to, 1);
  rb_define_method(tvl_table_class, "capacity", table_capacity, 0);
  rb_define_method(tvl_table_class, "capacity=", table_set_capacity, 1);
  rb_define_method(tvl_table_class, "max_size=", table_set_max_size, 1);
  rb_define_method(tvl_table_class, "processes", table_processes, 0);
}

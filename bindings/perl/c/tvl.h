/*
 * Declarations for all C files of the binding: handles, values, errors and options.
 *
 * Perl calls `croak` by `longjmp`, and a callback of the library must return. So callbacks here
 * use plain `malloc` and call nothing of Perl; the values are built when the library has returned.
 */
#ifndef TVL_H
#define TVL_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <tavola.h>

/* Kinds of values: the high 16 bits of the flags. */
#define TVL_KIND_MASK 0xFFFF0000u
#define TVL_BYTES 0u
#define TVL_TEXT 0x54010000u
#define TVL_INTEGER 0x54020000u
#define TVL_FLOAT 0x54030000u
#define TVL_JSON 0x54040000u
#define TVL_STORABLE 0x54140000u
/* What the caller's own serializer wrote, and what marked it before: "PE", which is still read. */
#define TVL_OBJECT 0x54FF0000u
#define TVL_OBJECT_BEFORE 0x50450000u

enum tvl_serializer { TVL_NONE, TVL_USE_STORABLE, TVL_USE_OBJECT };

/* A table that all threads of the process share. The last one closes it. */
typedef struct tvl_shared {
  tavola_table *table;
  unsigned refs;
} tvl_shared;

/* A handle of one interpreter. */
typedef struct tvl_handle {
  tavola_table *table; /* That of `shared`, or NULL when the handle is closed. */
  tvl_shared *shared;
  SV *serializer;
  tavola_iter *iter; /* Of `each %hash` and `keys %hash`. */
  uint8_t uses; /* One of `tvl_serializer`. */
  bool has_text_keys;
  bool has_fixed_lengths; /* Learned from the first refused flags. */
} tvl_handle;

/* Bytes to store, with their kind. They live as long as the caller's scalar or the statement. */
typedef struct tvl_bytes {
  const char *data;
  STRLEN len;
  uint32_t flags;
  char digits[40];
} tvl_bytes;

/* Where the library writes a result: short ones here, long ones to memory that Perl will own. */
typedef struct tvl_result {
  char *heap;
  size_t len;
  char small[64];
} tvl_result;

/* How a key is written. */
typedef struct tvl_write {
  bool has_time;
  bool has_tags;
  tavola_attributes attributes;
  tavola_tags tags;
} tvl_write;

/* handle.c */
extern MGVTBL tvl_table_vtbl;
tvl_handle *tvl_handle_found(pTHX_ SV *self);
SV *tvl_new(pTHX_ const char *class_name, MGVTBL *vtbl, void *pointer);
void *tvl_pointer(pTHX_ SV *self, MGVTBL *vtbl, const char *what);
void *tvl_take_pointer(pTHX_ SV *self, MGVTBL *vtbl);
SV *tvl_new_table(pTHX_ const char *class_name, tavola_table *table);
void tvl_close(pTHX_ tvl_handle *handle);
int tvl_forget_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param);

/* What threads share of a queue or a log. The last one closes it. */
typedef struct tvl_common {
  void *pointer;
  void (*close)(void *pointer);
  unsigned refs;
} tvl_common;
SV *tvl_new_common(pTHX_ const char *class_name, MGVTBL *vtbl, void *pointer,
                   void (*close)(void *pointer));
void *tvl_common_pointer(pTHX_ SV *self, MGVTBL *vtbl, const char *what);
int tvl_common_free(pTHX_ SV *sv, MAGIC *mg);
int tvl_common_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param);
void tvl_common_drop(tvl_common *common);

/* error.c */
void tvl_throw(pTHX_ int32_t status) __attribute__((noreturn));
void tvl_argument(pTHX_ const char *pattern, ...) __attribute__((noreturn))
__attribute__((format(printf, pTHX_1, pTHX_2)));
void tvl_bad_option(pTHX_ const char *pattern, ...) __attribute__((noreturn))
__attribute__((format(printf, pTHX_1, pTHX_2)));
void tvl_unknown_option(pTHX_ SV *name) __attribute__((noreturn));

/* value.c */
void tvl_encode(pTHX_ tvl_handle *handle, SV *value, tvl_bytes *out);
void tvl_encode_plain(pTHX_ SV *value, tvl_bytes *out);
SV *tvl_decode(pTHX_ tvl_handle *handle, tvl_result *result, uint32_t flags);
SV *tvl_decode_copy(pTHX_ tvl_handle *handle, const char *data, size_t len, uint32_t flags);
SV *tvl_string(pTHX_ tvl_result *result);
void *tvl_alloc(void *user, size_t len);
void tvl_key_slow(pTHX_ const tvl_handle *handle, SV *key, const char **data, STRLEN *len);
SV *tvl_key_sv(pTHX_ const tvl_handle *handle, const char *data, size_t len);

/* number.c */
STRLEN tvl_write_integer(char *out, SV *value);
STRLEN tvl_write_float(char *out, double value);
SV *tvl_read_integer(pTHX_ const char *data, size_t len);
SV *tvl_read_float(pTHX_ const char *data, size_t len);
IV tvl_integer_argument(pTHX_ SV *value, const char *name);

/* json_write.c, json_read.c */
SV *tvl_json_write(pTHX_ SV *value);
SV *tvl_json_read(pTHX_ const char *data, size_t len);

/* options.c */
int64_t tvl_ttl_ms(pTHX_ SV *seconds);
uint64_t tvl_wait_ms(pTHX_ SV *seconds);
void tvl_read_write_options(pTHX_ tvl_handle *handle, SV **args, I32 count, tvl_write *to);
void tvl_fetch_tags(pTHX_ tvl_handle *handle, SV *tags, tavola_tags *to);
bool tvl_has_fixed_lengths(tvl_handle *handle, const tvl_write *write);
tavola_status tvl_store(pTHX_ tvl_handle *handle, SV *key, SV *value, int32_t condition,
                        uint64_t token, const tvl_write *write);

/* take.c */
SV *tvl_take(pTHX_ tvl_handle *handle, SV *key);
SV *tvl_swap(pTHX_ tvl_handle *handle, SV *key, SV *value, const tvl_write *write);

/* compute.c */
SV *tvl_fresh(pTHX_ tvl_handle *handle, SV *key, SV **args, I32 count);

/* transaction.c */
typedef struct tvl_transaction {
  tavola_txn *txn; /* NULL when it has ended. */
  SV *table;
  pid_t pid;
  bool has_conflict; /* It has failed, and has seen keys as they were at different moments. */
} tvl_transaction;
extern MGVTBL tvl_transaction_vtbl;
SV *tvl_transaction_begin(pTHX_ SV *table, int32_t begin);
tvl_transaction *tvl_transaction_of(pTHX_ SV *self);
tavola_txn *tvl_transaction_open(pTHX_ const tvl_transaction *transaction);
tavola_txn *tvl_transaction_take(pTHX_ SV *self);
bool tvl_transaction_fail(pTHX_ SV *self);
tavola_status tvl_transaction_commit(pTHX_ SV *self);
void tvl_watch_signals(pTHX);
bool tvl_transaction_set(pTHX_ tvl_transaction *transaction, SV *key, SV *value, int32_t condition,
                         SV **args, I32 count);
SV *tvl_transaction_get(pTHX_ tvl_transaction *transaction, SV *key, bool removes);
IV tvl_transaction_count(pTHX_ tvl_transaction *transaction, SV *key, IV by, SV **args, I32 count);

/* batch.c */
HV *tvl_get_many(pTHX_ tvl_handle *handle, SV **keys, I32 count);
void tvl_get_list(pTHX_ tvl_handle *handle, SV **keys, SV **values, I32 count);
uint64_t tvl_delete_many(pTHX_ tvl_handle *handle, SV **keys, I32 count);
void tvl_set_many(pTHX_ tvl_handle *handle, SV *values, const tvl_write *write);

/* counter.c */
IV tvl_number_options(pTHX_ SV **args, I32 count, IV by, tavola_attributes *attributes,
                      bool *has_time);
IV tvl_count(pTHX_ tvl_handle *handle, SV *key, IV by, SV **args, I32 count);

/* stats.c */
HV *tvl_stats(pTHX_ tvl_handle *handle);
AV *tvl_participants(pTHX_ tvl_handle *handle);
HV *tvl_check(pTHX_ tvl_handle *handle, bool repairs);

/* queue.c */
typedef struct tvl_queue {
  tavola_pool *pool;
  tavola_queue *free;
  tavola_queue *jobs;
  bool is_json;
} tvl_queue;
typedef struct tvl_job {
  tvl_common *queue;
  uint32_t element;
  pid_t pid;
} tvl_job;
extern MGVTBL tvl_queue_vtbl;
extern MGVTBL tvl_job_vtbl;
SV *tvl_queue_open(pTHX_ const char *class_name, SV **args, I32 count);
tvl_queue *tvl_queue_of(pTHX_ SV *self);
bool tvl_queue_push(pTHX_ tvl_queue *queue, SV *value, uint64_t timeout_ms);
bool tvl_queue_pop(pTHX_ tvl_queue *queue, uint64_t timeout_ms, uint32_t *element);
SV *tvl_queue_value(pTHX_ tvl_queue *queue, uint32_t element);
tavola_status tvl_queue_finish(tvl_queue *queue, uint32_t element);
UV tvl_queue_reclaim(pTHX_ tvl_queue *queue);
SV *tvl_queue_new_job(pTHX_ SV *self, uint32_t element);
bool tvl_job_end(pTHX_ SV *self, bool is_done);

/* log.c */
extern MGVTBL tvl_log_vtbl;
extern MGVTBL tvl_reader_vtbl;
extern MGVTBL tvl_drain_vtbl;
SV *tvl_log_open(pTHX_ const char *class_name, SV **args, I32 count);
AV *tvl_log_lines(pTHX_ tavola_log_reader *reader, bool follows);
HV *tvl_log_stats(pTHX_ tavola_log *log);

/* lease.c */
extern MGVTBL tvl_lease_vtbl;
extern MGVTBL tvl_watch_vtbl;
extern MGVTBL tvl_iter_vtbl;
typedef struct tvl_iterator {
  tavola_iter *iter;
  SV *table;
} tvl_iterator;
extern MGVTBL tvl_lock_vtbl;
typedef struct tvl_lock {
  tavola_lock *lock;
  pid_t pid; /* The process that holds it; a forked child does not. */
  bool is_shared;
  bool owner_died;
} tvl_lock;
SV *tvl_lock_take(pTHX_ SV *self, SV *name, SV **args, I32 count);
void tvl_lock_close(tvl_lock *lock);
bool tvl_barrier(pTHX_ SV *self, SV *key, IV count, SV *timeout);
tavola_status tvl_lease_wait(void *lease, uint64_t timeout_ms);
tavola_status tvl_watch_wait(void *watch, uint64_t timeout_ms);

/* cdb.c */
extern MGVTBL tvl_cdb_vtbl;
extern MGVTBL tvl_cdb_iter_vtbl;
extern MGVTBL tvl_cdb_writer_vtbl;
AV *tvl_cdb_all(pTHX_ tavola_cdb *cdb, const char *key, STRLEN len);

/* open.c */
SV *tvl_durability(pTHX_ const tvl_handle *handle);
SV *tvl_open(pTHX_ const char *class_name, SV *name, SV **args, I32 count);
uint64_t tvl_size(pTHX_ SV *value, const char *name);

/* wait.c */
typedef tavola_status (*tvl_wait_fn)(void *what, uint64_t timeout_ms);
tavola_status tvl_wait(pTHX_ tvl_wait_fn wait, void *what, uint64_t timeout_ms);

/* Perl's own tests take a length of 0 for "up to the NUL". */
static inline bool tvl_is_utf8(const char *data, size_t len) {
  return len == 0 || is_c9strict_utf8_string((const U8 *)data, len);
}

static inline bool tvl_is_ascii(const char *data, size_t len) {
  return len == 0 || is_utf8_invariant_string((const U8 *)data, len);
}

/* Returns the handle of an object, or throws. The check is by the address of a table of functions,
 * so an object of any subclass is accepted, and a forged one is not. */
static inline tvl_handle *tvl_handle_of(pTHX_ SV *self) {
  if (LIKELY(SvROK(self))) {
    SV *body = SvRV(self);
    if (LIKELY(SvTYPE(body) >= SVt_PVMG)) {
      MAGIC *mg = SvMAGIC(body);
      if (LIKELY(mg != NULL && mg->mg_virtual == &tvl_table_vtbl)) {
        tvl_handle *handle = (tvl_handle *)mg->mg_ptr;
        if (LIKELY(handle->table != NULL)) {
          return handle;
        }
      }
    }
  }
  return tvl_handle_found(aTHX_ self);
}

/* Returns whether a value is a string of bytes that nothing has to be done for. */
static inline bool tvl_is_plain_bytes(const SV *value) {
  return (SvFLAGS(value) & (SVf_POK | SVf_IOK | SVs_GMG | SVf_ROK | SVf_UTF8)) == SVf_POK;
}

/* Sets the bytes of a key: the UTF-8 bytes of a string with Perl's UTF-8 flag, else its bytes. */
static inline void tvl_key(pTHX_ const tvl_handle *handle, SV *key, const char **data,
                           STRLEN *len) {
  if (LIKELY((SvFLAGS(key) & (SVf_POK | SVs_GMG | SVf_ROK)) == SVf_POK &&
             !handle->has_text_keys)) {
    *data = SvPVX_const(key);
    *len = SvCUR(key);
    return;
  }
  tvl_key_slow(aTHX_ handle, key, data, len);
}

#endif

/*
 * What the files of the extension share.
 *
 * Three rules hold everywhere:
 *
 * - No Ruby exception passes through the library. Its callbacks do not call Ruby: they copy bytes
 *   to memory of ours, and the Ruby objects are built after the call.
 * - A call that may take long runs without the GVL. It gets copies of what it needs, and holds the
 *   handle with `tvl_enter` and `tvl_leave`, so that a `close` in another thread waits for it.
 * - All fields of a handle are read and written with the GVL held.
 */
#ifndef TAVOLA_RUBY_H
#define TAVOLA_RUBY_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>
#include <ruby/util.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <tavola.h>

// Batches of more keys than this run without the GVL.
#define TVL_SHORT_BATCH 64
// A wait without the GVL looks this often whether it is to end.
#define TVL_SLICE_MS 50
// A call with the GVL waits this long for a lock of the table before it lets other threads run.
#define TVL_BUSY_MS 50
#define TVL_FOREVER UINT64_MAX
#define TVL_BOOL(condition) ((condition) ? Qtrue : Qfalse)

// What `serializer:` says.
typedef enum { TVL_PLAIN, TVL_MARSHAL, TVL_OBJECT } tvl_serializer;

// A table that a Ruby object holds.
typedef struct {
  tavola_table *table;  // NULL: closed.
  VALUE serializer;     // For TVL_OBJECT, else nil.
  VALUE spare;          // Room for a long value that a read did not need, or nil.
  tvl_serializer kind;
  int fixed;            // 1: fixed lengths, so no flags; 0: not; -1: not known yet.
  bool is_durable;
  bool waits;           // Its writes wait for the disk, so they run without the GVL.
  size_t users;         // Calls that are under way without the GVL.
  bool is_closing;      // The last user closes the table.
  size_t expected;      // The length that the next long value probably has.
  uint64_t busy_ms;     // How long to wait for a lock in all.
} tvl_handle;

// A value as bytes with flags. `keep` keeps the bytes alive.
typedef struct {
  const char *data;
  size_t len;
  uint32_t flags;
  VALUE keep;
  char digits[40];
} tvl_encoded;

// Bytes that callbacks of the library have copied, without Ruby.
typedef struct {
  char *bytes;
  size_t len, capacity;
  bool has_failed;
} tvl_arena;

extern VALUE tvl_module, tvl_table_class, tvl_error, tvl_closed_error;
extern const rb_data_type_t tvl_table_type;

// error.c
void tvl_init_errors(void);
NORETURN(void tvl_raise(tavola_status status));
NORETURN(void tvl_raise_closed(const char *what));
NORETURN(void tvl_raise_not_computed(VALUE text));
NORETURN(void tvl_raise_conflict(void));
// Raises if the status is an error, and returns it otherwise.
static inline tavola_status tvl_check(tavola_status status) {
  if (RB_UNLIKELY(status < 0)) tvl_raise(status);
  return status;
}

// codec.c
void tvl_init_codec(void);
void tvl_encode(tvl_handle *handle, VALUE value, tvl_encoded *out);
VALUE tvl_decode(const tvl_handle *handle, uint32_t flags, const char *data, size_t len);
VALUE tvl_decode_string(const tvl_handle *handle, uint32_t flags, VALUE string);
// A string of any bytes as text if it is valid UTF-8, else as bytes: keys, names, jobs.
VALUE tvl_text(const char *data, size_t len);
// Whether a string is stored as text, and not as bytes.
bool tvl_is_text(VALUE string);
VALUE tvl_key(VALUE key);
uint64_t tvl_ms(VALUE seconds, const char *what);
uint64_t tvl_timeout_ms(VALUE seconds);
void tvl_attributes_of(VALUE ttl, uint32_t flags, tavola_attributes *attributes);
#define TVL_FLAGS_INTEGER 0x54020000u

// handle.c
void tvl_init_handle(void);
tvl_handle *tvl_handle_of(VALUE self);
void tvl_enter(tvl_handle *handle);
void tvl_leave(tvl_handle *handle);
bool tvl_is_fixed(tvl_handle *handle);
bool tvl_busy_again(VALUE self, tvl_handle *handle, uint64_t *waited_ms);

// The arguments of a write of the library; each uses those that it needs.
typedef struct {
  const char *key;
  size_t key_len;
  const char *data;
  size_t len;
  const void *how;      // Attributes, options or tags.
  const void *initial;
  uint64_t number;
  void *out;            // What the call returns besides its status.
} tvl_call;
#define TVL_CALL(string) {.key = RSTRING_PTR(string), .key_len = (size_t)RSTRING_LEN(string)}
typedef tavola_status (*tvl_write_fn)(const tavola_table *table, const tvl_call *call);

// Takes the call by value, so that the others need not have it in memory.
tavola_status tvl_write_waiting(VALUE self, tvl_handle *handle, tvl_write_fn write, tvl_call call);
// Makes a write. Calls the library again while another process holds a lock, and lets other threads
// run meanwhile; those of a handle that waits for the disk run during the call, too, so its strings
// come from `tvl_write_key` and `tvl_encode`. Otherwise the call is inlined.
static inline __attribute__((always_inline)) tavola_status tvl_write(VALUE self, tvl_handle *handle,
                                                                     tvl_write_fn write,
                                                                     const tvl_call *call) {
  uint64_t waited_ms = 0;
  tavola_status status;
  if (RB_UNLIKELY(handle->waits)) return tvl_write_waiting(self, handle, write, *call);
  do {
    status = write(handle->table, call);
  } while (RB_UNLIKELY(status == TAVOLA_ERR_BUSY) && tvl_busy_again(self, handle, &waited_ms));
  return status;
}
// The key of a write: one that no other thread can change meanwhile.
static inline VALUE tvl_write_key(const tvl_handle *handle, VALUE key) {
  key = tvl_key(key);
  return RB_UNLIKELY(handle->waits) ? rb_str_new_frozen(key) : key;
}

// wait.c
typedef tavola_status (*tvl_wait_fn)(void *user, uint64_t slice_ms);
tavola_status tvl_wait(tvl_wait_fn wait, void *user, uint64_t timeout_ms);
void tvl_without_gvl(void *(*work)(void *), void *user);
void tvl_blocking(void *(*work)(void *), void *user);
void tvl_wait_for_disk(VALUE self, tvl_handle *handle, void *(*work)(void *), void *user);

// arena.c
char *tvl_arena_add(tvl_arena *arena, const void *data, size_t len);
void tvl_arena_free(tvl_arena *arena);

// Each file defines the methods of its part.
void tvl_init_names(void);
void tvl_init_read(void);
void tvl_init_write(void);
void tvl_init_number(void);
void tvl_init_bulk(void);
void tvl_init_each(void);
void tvl_init_tags(void);
void tvl_init_lease(void);
void tvl_init_txn(void);
void tvl_init_watch(void);
void tvl_init_lock(void);
void tvl_init_stats(void);
void tvl_init_durable(void);
void tvl_init_queue(void);
void tvl_init_log(void);

// read.c
VALUE tvl_read(VALUE self, tvl_handle *handle, VALUE key, const tavola_attributes *touch,
               tavola_attributes *has, uint64_t *token);

// tags.c
const tavola_tags *tvl_tags_of(VALUE self, tvl_handle *handle, VALUE tags, tavola_tags *room);

// The bytes of a key, for the arguments of a call.
#define TVL_BYTES(string) RSTRING_PTR(string), (size_t)RSTRING_LEN(string)

#endif

/* The methods of Tavola, as far as they are C. Each one converts, calls the library once, and
 * builds its result once. The work is in the folder `c`, the methods are in the folder `xs`. */
#include "c/tvl.h"

#include <string.h>
#include <unistd.h>

/* The one symbol that Perl looks for; all others are hidden. */
__attribute__((visibility("default"))) XS_EXTERNAL(boot_Tavola);

/* Sets `handle`, `data` and `len` from the first two arguments of a method. */
#define HANDLE_AND_KEY                                    \
  tvl_handle *handle = tvl_handle_of(aTHX_ self);         \
  const char *data;                                       \
  STRLEN len;                                             \
  tvl_key(aTHX_ handle, key, &data, &len)

/* Sets `txn`, `data` and `len` from the first two arguments of a method of a transaction. */
#define TRANSACTION_AND_KEY                                                 \
  tvl_transaction *transaction = tvl_transaction_of(aTHX_ self);            \
  const char *data;                                                         \
  STRLEN len;                                                               \
  tavola_txn *txn;                                                          \
  tvl_key(aTHX_ tvl_handle_of(aTHX_ transaction->table), key, &data, &len); \
  txn = tvl_transaction_open(aTHX_ transaction)

/* Throws errors; answers pass. */
static inline tavola_status checked(pTHX_ tavola_status status) {
  if (UNLIKELY(status < 0)) {
    tvl_throw(aTHX_ status);
  }
  return status;
}

/* Returns what the arguments of a call are from the third or fourth on. */
#define OPTIONS(first) (items > (first) ? &ST(first) : NULL), \
                       (items > (first) ? (I32)(items - (first)) : 0)

/* Reads a key. Returns a new scalar, or NULL if it is missing. */
static inline SV *read_key(pTHX_ SV *self, SV *key) {
  HANDLE_AND_KEY;
  tvl_result result;
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  tavola_status status =
      tavola_get_entry(handle->table, data, len, &buffer, &attributes, NULL);
  if (status == TAVOLA_OK) {
    return tvl_decode(aTHX_ handle, &result, attributes.flags);
  }
  checked(aTHX_ status);
  return NULL;
}

/* Sets a key as `set` and `STORE` do. The short way is for bytes without options. */
static inline void set_key(pTHX_ SV *self, SV *key, SV *value, SV **args, I32 count) {
  tvl_handle *handle = tvl_handle_of(aTHX_ self);
  tvl_write write;
  if (count == 0 && tvl_is_plain_bytes(value)) {
    const char *data;
    STRLEN len;
    tvl_key(aTHX_ handle, key, &data, &len);
    checked(aTHX_ tavola_set(handle->table, data, len, SvPVX_const(value), SvCUR(value)));
    return;
  }
  tvl_read_write_options(aTHX_ handle, args, count, &write);
  tvl_store(aTHX_ handle, key, value, TAVOLA_CONDITION_ALWAYS, 0, &write);
}

/* Returns what a counter is changed by: 1 if no number is given. */
static IV signed_step(pTHX_ SV *by, bool is_down) {
  IV number = SvOK(by) ? tvl_integer_argument(aTHX_ by, "by") : 1;
  if (is_down && number == IV_MIN) {
    tvl_argument(aTHX_ "by is too small to be subtracted");
  }
  return is_down ? -number : number;
}

/* Returns the next key of the tied hash, or `undef`. */
static SV *next_key(pTHX_ tvl_handle *handle) {
  tavola_bytes key;
  tavola_status status;
  if (handle->iter == NULL) {
    return &PL_sv_undef;
  }
  status = tavola_iter_next(handle->iter, &key, NULL);
  if (status == TAVOLA_OK) {
    return sv_2mortal(tvl_key_sv(aTHX_ handle, key.data, key.len));
  }
  tavola_iter_close(handle->iter);
  handle->iter = NULL;
  checked(aTHX_ status);
  return &PL_sv_undef;
}

typedef struct tag_names {
  char *bytes;
  size_t used;
  size_t room;
} tag_names;

/* Copies the name of a tag, after its length. */
static void gather_tag(void *user, const void *name, size_t len) {
  tag_names *all = (tag_names *)user;
  if (all->room - all->used < sizeof len + len) {
    size_t room = (all->room + sizeof len + len) * 2;
    char *bytes = realloc(all->bytes, room);
    if (bytes == NULL) {
      return;
    }
    all->bytes = bytes;
    all->room = room;
  }
  memcpy(all->bytes + all->used, &len, sizeof len);
  memcpy(all->bytes + all->used + sizeof len, name, len);
  all->used += sizeof len + len;
}

/* Copies a path and the NUL after it. */
static void gather_path(void *user, const char *path, size_t len) {
  gather_tag(user, path, len);
}

/* Pushes the texts that were gathered on a list, and frees them. */
static void push_texts(pTHX_ tag_names *all, AV *to) {
  size_t at = 0, len;
  while (at < all->used) {
    memcpy(&len, all->bytes + at, sizeof len);
    av_push(to, newSVpvn(all->bytes + at + sizeof len, len));
    at += sizeof len + len;
  }
  free(all->bytes);
}

/* Returns the keys that were given: the arguments, or the items of the only one, a list. */
static SV **keys_of(pTHX_ SV **args, I32 *count) {
  if (*count == 1 && SvROK(args[0]) && SvTYPE(SvRV(args[0])) == SVt_PVAV) {
    AV *list = (AV *)SvRV(args[0]);
    SSize_t i, all = av_len(list) + 1;
    for (i = 0; i < all; i++) {
      (void)!av_fetch(list, i, 1);
    }
    *count = (I32)all;
    return AvARRAY(list);
  }
  return args;
}

MODULE = Tavola    PACKAGE = Tavola

PROTOTYPES: DISABLE

INCLUDE: xs/open.xs
INCLUDE: xs/read.xs
INCLUDE: xs/write.xs
INCLUDE: xs/iterate.xs
INCLUDE: xs/lease.xs
INCLUDE: xs/state.xs
INCLUDE: xs/queue.xs
INCLUDE: xs/log.xs
INCLUDE: xs/transaction.xs
INCLUDE: xs/cdb.xs

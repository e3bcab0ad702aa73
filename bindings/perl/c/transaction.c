/*
 * Transactions: begun and ended by hand, so that no callback of the library calls Perl.
 *
 * The object keeps its table. What it holds in the library is closed exactly once: by the commit,
 * by the guard of the function that runs, or when the object is gone. After that it is empty, and
 * its methods throw. Code of the caller may run while a value is converted, and may end the
 * transaction; so the pointer is read after that.
 */
#include "tvl.h"

#include <unistd.h>

/* A signal handler runs, or was left by `die`. */
static __thread bool is_in_handler;
static void (*run_handlers)(pTHX);

static void note_handlers(pTHX) {
  bool before = is_in_handler;
  is_in_handler = true;
  run_handlers(aTHX);
  is_in_handler = before;
}

/* From now on, notes when a signal handler runs: what it throws is not thrown by what a function
 * has read, as in `local $SIG{ALRM} = sub { die }`. Threads inherit this. */
void tvl_watch_signals(pTHX) {
  if (PL_signalhook != note_handlers) {
    run_handlers = PL_signalhook;
    PL_signalhook = note_handlers;
  }
}

static int free_transaction(pTHX_ SV *sv, MAGIC *mg) {
  tvl_transaction *transaction = (tvl_transaction *)mg->mg_ptr;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (transaction != NULL) {
    tavola_txn_abort(transaction->txn);
    SvREFCNT_dec(transaction->table);
    free(transaction);
  }
  return 0;
}

MGVTBL tvl_transaction_vtbl = {NULL,             NULL, NULL,           NULL,
                               free_transaction, NULL, tvl_forget_dup, NULL};

/* Begins a transaction and returns its object. */
SV *tvl_transaction_begin(pTHX_ SV *table, int32_t begin) {
  tvl_handle *handle = tvl_handle_of(aTHX_ table);
  tvl_transaction *made;
  tavola_txn *txn = NULL;
  tavola_status status = tavola_txn_begin(handle->table, begin, &txn);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = malloc(sizeof *made);
  if (made == NULL) {
    tavola_txn_abort(txn);
    croak("Tavola: no memory for a transaction");
  }
  made->txn = txn;
  made->pid = getpid();
  made->has_conflict = false;
  is_in_handler = false;
  made->table = newSVsv(table);
  return tvl_new(aTHX_ "Tavola::Transaction", &tvl_transaction_vtbl, made);
}

/* Returns the transaction of an object, or throws if it has ended. */
tvl_transaction *tvl_transaction_of(pTHX_ SV *self) {
  tvl_transaction *transaction =
      tvl_pointer(aTHX_ self, &tvl_transaction_vtbl, "Tavola::Transaction");
  (void)tvl_transaction_open(aTHX_ transaction);
  return transaction;
}

/* Returns what the library has of a transaction, or throws if it has ended. */
tavola_txn *tvl_transaction_open(pTHX_ const tvl_transaction *transaction) {
  if (transaction->txn == NULL) {
    tvl_argument(aTHX_ "the transaction is closed, because its function has ended or has aborted "
                       "it; use the one that the function is called with");
  }
  return transaction->txn;
}

static tvl_transaction *transaction_found(SV *self) {
  MAGIC *mg = SvROK(self) && SvTYPE(SvRV(self)) >= SVt_PVMG
                  ? mg_findext(SvRV(self), PERL_MAGIC_ext, &tvl_transaction_vtbl)
                  : NULL;
  return mg != NULL ? (tvl_transaction *)mg->mg_ptr : NULL;
}

/* Takes what the library has of a transaction from its object. Returns NULL if it has ended, or if
 * the object is the copy of another thread. It never throws, because destructors call it. */
tavola_txn *tvl_transaction_take(pTHX_ SV *self) {
  tvl_transaction *transaction = transaction_found(self);
  tavola_txn *txn = transaction != NULL ? transaction->txn : NULL;
  if (txn != NULL) {
    transaction->txn = NULL;
  }
  return txn;
}

/* Ends a transaction without changes, because its function has failed. Returns whether that counts:
 * not if the function has seen keys as they were at different moments. */
bool tvl_transaction_fail(pTHX_ SV *self) {
  tvl_transaction *transaction = transaction_found(self);
  tavola_txn *txn = tvl_transaction_take(aTHX_ self);
  if (txn != NULL) {
    /* A child that was forked in the function has a copy only. */
    transaction->has_conflict = !is_in_handler && transaction->pid == getpid() &&
                                tavola_txn_validate(txn) == TAVOLA_CONFLICT;
    tavola_txn_abort(txn);
  }
  return transaction == NULL || !transaction->has_conflict;
}

/* Commits a transaction and ends it. Returns `TAVOLA_ABORTED` if it has ended before. */
tavola_status tvl_transaction_commit(pTHX_ SV *self) {
  tvl_transaction *transaction = transaction_found(self);
  tavola_txn *txn = tvl_transaction_take(aTHX_ self);
  tavola_status status;
  if (txn == NULL) {
    return transaction != NULL && transaction->has_conflict ? TAVOLA_CONFLICT : TAVOLA_ABORTED;
  }
  if (transaction->pid != getpid()) {
    tavola_txn_abort(txn);
    tvl_argument(aTHX_ "a forked child cannot commit the transaction of its parent; end the child "
                       "in the function, or fork outside of it");
  }
  status = tavola_txn_commit(txn);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return status;
}

static tavola_status checked(pTHX_ tavola_status status) {
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return status;
}

/* Sets a key to bytes. A table of fixed lengths has no flags, and gets none. */
static void set_bytes(pTHX_ tvl_handle *handle, tavola_txn *txn, const char *key, STRLEN len,
                      const tvl_bytes *bytes, const tvl_write *write) {
  tavola_attributes attributes = write->attributes;
  const tavola_tags *tags = write->has_tags ? &write->tags : NULL;
  tavola_status status;
  attributes.flags = bytes->flags;
  for (;;) {
    bool has_any = write->has_time || attributes.flags != 0;
    status = tavola_txn_set_with(txn, key, len, bytes->data, bytes->len,
                                 has_any ? &attributes : NULL, tags);
    if (status != TAVOLA_ERR_BAD_OPTION || attributes.flags == 0 ||
        !tvl_has_fixed_lengths(handle, write)) {
      break;
    }
    attributes.flags = 0;
  }
  checked(aTHX_ status);
}

/* Sets a key under a condition, one of `tavola_condition`, and returns whether it did. */
bool tvl_transaction_set(pTHX_ tvl_transaction *transaction, SV *key, SV *value, int32_t condition,
                         SV **args, I32 count) {
  tvl_handle *handle = tvl_handle_of(aTHX_ transaction->table);
  tvl_write write;
  tvl_bytes bytes;
  const char *data;
  STRLEN len;
  tavola_txn *txn;
  tvl_read_write_options(aTHX_ handle, args, count, &write);
  tvl_encode(aTHX_ handle, value, &bytes);
  tvl_key(aTHX_ handle, key, &data, &len);
  txn = tvl_transaction_open(aTHX_ transaction);
  if (condition != TAVOLA_CONDITION_ALWAYS) {
    bool exists = checked(aTHX_ tavola_txn_contains(txn, data, len)) == TAVOLA_OK;
    if (exists != (condition == TAVOLA_CONDITION_PRESENT)) {
      return false;
    }
  }
  set_bytes(aTHX_ handle, txn, data, len, &bytes, &write);
  return true;
}

/* Returns a new scalar with the value of a key, or NULL if it is missing. Removes it if asked. */
SV *tvl_transaction_get(pTHX_ tvl_transaction *transaction, SV *key, bool removes) {
  tvl_handle *handle = tvl_handle_of(aTHX_ transaction->table);
  tvl_result result;
  tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  const char *data;
  STRLEN len;
  tavola_txn *txn;
  tvl_key(aTHX_ handle, key, &data, &len);
  txn = tvl_transaction_open(aTHX_ transaction);
  if (checked(aTHX_ tavola_txn_get(txn, data, len, &buffer, &attributes)) != TAVOLA_OK) {
    return NULL;
  }
  if (removes) {
    tavola_status status = tavola_txn_remove(txn, data, len);
    if (status < 0) {
      PerlMem_free(result.heap);
      tvl_throw(aTHX_ status);
    }
  }
  return tvl_decode(aTHX_ handle, &result, attributes.flags);
}

/* Adds to a number and returns the sum. A number that is created has the kind of a number. */
IV tvl_transaction_count(pTHX_ tvl_transaction *transaction, SV *key, IV by, SV **args, I32 count) {
  tvl_handle *handle = tvl_handle_of(aTHX_ transaction->table);
  tvl_write write;
  tvl_bytes bytes;
  const char *data;
  STRLEN len;
  tavola_txn *txn;
  IV first;
  int64_t now = 0;
  tvl_read_write_options(aTHX_ handle, NULL, 0, &write);
  first = tvl_number_options(aTHX_ args, count, by, &write.attributes, &write.has_time);
  tvl_key(aTHX_ handle, key, &data, &len);
  txn = tvl_transaction_open(aTHX_ transaction);
  if (checked(aTHX_ tavola_txn_contains(txn, data, len)) == TAVOLA_OK) {
    checked(aTHX_ tavola_txn_add_number(txn, data, len, by, &now));
    return (IV)now;
  }
  bytes.data = bytes.digits;
  bytes.len = tvl_write_integer(bytes.digits, sv_2mortal(newSViv(first)));
  bytes.flags = handle->has_fixed_lengths ? 0 : TVL_INTEGER;
  set_bytes(aTHX_ handle, txn, data, len, &bytes, &write);
  return first;
}

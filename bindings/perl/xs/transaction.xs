MODULE = Tavola    PACKAGE = Tavola

SV *
_begin(SV *self, IV begin)
  CODE:
    RETVAL = tvl_transaction_begin(aTHX_ self, (int32_t)begin);
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::Transaction

void
get(SV *self, SV *key)
  ALIAS:
    take = 1
  PREINIT:
    SV *value;
  PPCODE:
    value = tvl_transaction_get(aTHX_ tvl_transaction_of(aTHX_ self), key, ix == 1);
    PUSHs(value != NULL ? sv_2mortal(value) : &PL_sv_undef);

bool
exists(SV *self, SV *key)
  INIT:
    TRANSACTION_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_txn_contains(txn, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
set(SV *self, SV *key, SV *value, ...)
  ALIAS:
    add = TAVOLA_CONDITION_ABSENT
    replace = TAVOLA_CONDITION_PRESENT
  CODE:
    RETVAL = tvl_transaction_set(aTHX_ tvl_transaction_of(aTHX_ self), key, value, ix, OPTIONS(3));
  OUTPUT:
    RETVAL

bool
append(SV *self, SV *key, SV *more)
  PREINIT:
    tvl_bytes bytes;
  INIT:
    SvGETMAGIC(more);
    tvl_encode_plain(aTHX_ more, &bytes);
    TRANSACTION_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_txn_append(txn, data, len, bytes.data, bytes.len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
delete(SV *self, SV *key)
  INIT:
    TRANSACTION_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_txn_remove(txn, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

IV
incr(SV *self, SV *key, SV *by = &PL_sv_undef, ...)
  ALIAS:
    decr = 1
  CODE:
    RETVAL = tvl_transaction_count(aTHX_ tvl_transaction_of(aTHX_ self), key,
                                   signed_step(aTHX_ by, ix == 1), OPTIONS(3));
  OUTPUT:
    RETVAL

UV
savepoint(SV *self)
  PREINIT:
    uint32_t savepoint = 0;
  CODE:
    checked(aTHX_ tavola_txn_savepoint(tvl_transaction_of(aTHX_ self)->txn, &savepoint));
    RETVAL = savepoint;
  OUTPUT:
    RETVAL

void
roll_back_to(SV *self, SV *savepoint)
  PREINIT:
    IV number;
  PPCODE:
    number = tvl_integer_argument(aTHX_ savepoint, "the savepoint");
    if (number < 0 || number > (IV)UINT32_MAX) {
      tvl_bad_option(aTHX_ "the transaction has no savepoint %" IVdf, number);
    }
    checked(aTHX_ tavola_txn_roll_back_to(tvl_transaction_of(aTHX_ self)->txn,
                                          (uint32_t)number));
    XSRETURN_YES;

void
_check(SV *self)
  CODE:
    (void)tvl_transaction_of(aTHX_ self);

bool
_fail(SV *self)
  CODE:
    RETVAL = tvl_transaction_fail(aTHX_ self);
  OUTPUT:
    RETVAL

IV
_commit(SV *self)
  CODE:
    RETVAL = tvl_transaction_commit(aTHX_ self);
  OUTPUT:
    RETVAL

BOOT:
    tvl_watch_signals(aTHX);

MODULE = Tavola    PACKAGE = Tavola::Transaction::Guard

void
DESTROY(SV *self)
  CODE:
    if (SvROK(self)) {
      tavola_txn_abort(tvl_transaction_take(aTHX_ SvRV(self)));
    }

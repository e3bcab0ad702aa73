MODULE = Tavola    PACKAGE = Tavola

void
_lease(SV *self, SV *key, UV fresh_ms, UV stale_ms, UV lease_ms, NV early)
  PREINIT:
    tavola_lease_options how = TAVOLA_INIT(tavola_lease_options);
    tavola_leased leased = TAVOLA_INIT(tavola_leased);
    tavola_lease *lease = NULL;
    tvl_result result = {NULL, 0, {0}};
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    SV *value;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    how.fresh_ms = fresh_ms;
    how.stale_ms = stale_ms;
    how.lease_ms = lease_ms;
    how.early_beta = early;
    checked(aTHX_ tavola_get_or_lease(handle->table, data, len, &how, &buffer, &leased, &lease));
    EXTEND(SP, 4);
    mPUSHi(leased.outcome);
    if (lease != NULL) {
      SV *object = sv_2mortal(tvl_new(aTHX_ "Tavola::Lease", &tvl_lease_vtbl, lease));
      value = leased.outcome == TAVOLA_LEASE_STALE_WON
                  ? sv_2mortal(tvl_decode(aTHX_ handle, &result, leased.flags))
                  : &PL_sv_undef;
      PUSHs(value);
      PUSHs(object);
    } else {
      PUSHs(sv_2mortal(tvl_decode(aTHX_ handle, &result, leased.flags)));
      PUSHs(&PL_sv_undef);
    }
    mPUSHu((UV)leased.left_ms);

void
compute(SV *self, SV *key, ...)
  PREINIT:
    SV *value;
    I32 i;
  PPCODE:
    value = tvl_fresh(aTHX_ tvl_handle_of(aTHX_ self), key, OPTIONS(2));
    if (value != NULL) {
      PUSHs(sv_2mortal(value));
      XSRETURN(1);
    }
    /* The arguments are still on the stack, below the place where the results go. */
    SP += items;
    PUSHMARK(SP);
    EXTEND(SP, items);
    for (i = 0; i < items; i++) {
      PUSHs(ST(i));
    }
    PUTBACK;
    call_pv("Tavola::_compute", G_SCALAR);
    SPAGAIN;
    value = POPs;
    ST(0) = value;
    XSRETURN(1);

SV *
lock(SV *self, SV *name, ...)
  CODE:
    RETVAL = tvl_lock_take(aTHX_ self, name, OPTIONS(2));
  OUTPUT:
    RETVAL

bool
barrier(SV *self, SV *key, IV count, SV *timeout = &PL_sv_undef)
  CODE:
    RETVAL = tvl_barrier(aTHX_ self, key, count, timeout);
  OUTPUT:
    RETVAL

SV *
watch(SV *self, SV *key)
  PREINIT:
    tavola_key_watch *watch = NULL;
  INIT:
    HANDLE_AND_KEY;
  CODE:
    checked(aTHX_ tavola_key_watch_open(handle->table, data, len, &watch));
    RETVAL = tvl_new(aTHX_ "Tavola::Watch", &tvl_watch_vtbl, watch);
  OUTPUT:
    RETVAL

bool
_fill(SV *self, SV *lease, SV *value, SV *tags)
  PREINIT:
    tvl_handle *handle;
    tvl_bytes bytes;
    tavola_tags fetched = TAVOLA_INIT(tavola_tags);
    tavola_lease *mine;
    tavola_status status;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    mine = tvl_pointer(aTHX_ lease, &tvl_lease_vtbl, "lease");
    tvl_encode(aTHX_ handle, value, &bytes);
    if (SvOK(tags)) {
      tvl_fetch_tags(aTHX_ handle, tags, &fetched);
    }
    status = tavola_lease_fill_with(mine, bytes.data, bytes.len, bytes.flags,
                                    SvOK(tags) ? &fetched : NULL);
    RETVAL = checked(aTHX_ status) == TAVOLA_OK;
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::Lease

bool
wait(SV *self, SV *timeout = &PL_sv_undef)
  PREINIT:
    uint64_t timeout_ms;
    void *lease;
  CODE:
    timeout_ms = tvl_wait_ms(aTHX_ timeout);
    lease = tvl_pointer(aTHX_ self, &tvl_lease_vtbl, "lease");
    RETVAL = checked(aTHX_ tvl_wait(aTHX_ tvl_lease_wait, lease, timeout_ms)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
fail(SV *self, UV back_off_ms, SV *error)
  PREINIT:
    const char *text;
    STRLEN len;
    tavola_lease *lease;
  CODE:
    lease = tvl_pointer(aTHX_ self, &tvl_lease_vtbl, "lease");
    text = SvPV_const(error, len);
    checked(aTHX_ tavola_lease_fail(lease, back_off_ms, text, len));

void
close(SV *self)
  CODE:
    tavola_lease_close((tavola_lease *)tvl_take_pointer(aTHX_ self, &tvl_lease_vtbl));

MODULE = Tavola    PACKAGE = Tavola::Lock

bool
unlock(SV *self)
  PREINIT:
    tvl_lock *lock;
  CODE:
    lock = tvl_take_pointer(aTHX_ self, &tvl_lock_vtbl);
    RETVAL = lock != NULL && lock->pid == getpid();
    tvl_lock_close(lock);
  OUTPUT:
    RETVAL

bool
is_held(SV *self)
  PREINIT:
    const tvl_lock *lock;
  CODE:
    lock = tvl_pointer(aTHX_ self, &tvl_lock_vtbl, "Tavola::Lock");
    RETVAL = lock->pid == getpid();
  OUTPUT:
    RETVAL

bool
is_shared(SV *self)
  PREINIT:
    const tvl_lock *lock;
  CODE:
    lock = tvl_pointer(aTHX_ self, &tvl_lock_vtbl, "Tavola::Lock");
    RETVAL = lock->is_shared;
  OUTPUT:
    RETVAL

bool
owner_died(SV *self)
  PREINIT:
    const tvl_lock *lock;
  CODE:
    lock = tvl_pointer(aTHX_ self, &tvl_lock_vtbl, "Tavola::Lock");
    RETVAL = lock->owner_died;
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::Watch

bool
wait(SV *self, SV *timeout = &PL_sv_undef)
  PREINIT:
    uint64_t timeout_ms;
    void *watch;
  CODE:
    timeout_ms = tvl_wait_ms(aTHX_ timeout);
    watch = tvl_pointer(aTHX_ self, &tvl_watch_vtbl, "Tavola::Watch");
    RETVAL = checked(aTHX_ tvl_wait(aTHX_ tvl_watch_wait, watch, timeout_ms)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

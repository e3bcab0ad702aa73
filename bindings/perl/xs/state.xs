MODULE = Tavola    PACKAGE = Tavola

SV *
stats(SV *self)
  CODE:
    RETVAL = newRV_noinc((SV *)tvl_stats(aTHX_ tvl_handle_of(aTHX_ self)));
  OUTPUT:
    RETVAL

SV *
check(SV *self)
  ALIAS:
    repair = 1
  CODE:
    RETVAL = newRV_noinc((SV *)tvl_check(aTHX_ tvl_handle_of(aTHX_ self), ix == 1));
  OUTPUT:
    RETVAL

SV *
participants(SV *self)
  CODE:
    RETVAL = newRV_noinc((SV *)tvl_participants(aTHX_ tvl_handle_of(aTHX_ self)));
  OUTPUT:
    RETVAL

bool
is_durable(SV *self)
  CODE:
    RETVAL = tavola_is_durable(tvl_handle_of(aTHX_ self)->table);
  OUTPUT:
    RETVAL

SV *
durability(SV *self)
  CODE:
    RETVAL = tvl_durability(aTHX_ tvl_handle_of(aTHX_ self));
  OUTPUT:
    RETVAL

void
sync(SV *self)
  PPCODE:
    checked(aTHX_ tavola_sync(tvl_handle_of(aTHX_ self)->table));
    XSRETURN_YES;

bool
snapshot(SV *self)
  PREINIT:
    uint32_t made = 0;
  CODE:
    checked(aTHX_ tavola_snapshot(tvl_handle_of(aTHX_ self)->table, &made));
    RETVAL = made != 0;
  OUTPUT:
    RETVAL

UV
copy_to(SV *self, const char *name)
  PREINIT:
    uint64_t keys = 0;
  CODE:
    checked(aTHX_ tavola_copy_to(tvl_handle_of(aTHX_ self)->table, name, &keys));
    RETVAL = (UV)keys;
  OUTPUT:
    RETVAL

UV
compact(SV *self)
  PREINIT:
    uint64_t bytes = 0;
  CODE:
    checked(aTHX_ tavola_compact(tvl_handle_of(aTHX_ self)->table, &bytes));
    RETVAL = (UV)bytes;
  OUTPUT:
    RETVAL

void
remove_expired(SV *self)
  PPCODE:
    checked(aTHX_ tavola_remove_expired(tvl_handle_of(aTHX_ self)->table));
    XSRETURN_YES;

void
maintain(SV *self, SV *budget = &PL_sv_undef)
  PREINIT:
    tavola_maintained did = TAVOLA_INIT(tavola_maintained);
    uint64_t bytes = 64 << 20;
  PPCODE:
    if (SvOK(budget)) {
      bytes = tvl_size(aTHX_ budget, "the budget");
    }
    checked(aTHX_ tavola_maintain(tvl_handle_of(aTHX_ self)->table, bytes, &did));
    PUSHs(boolSV(did.done));

UV
reclaim(SV *self)
  PREINIT:
    uint32_t freed = 0;
  CODE:
    checked(aTHX_ tavola_reclaim(tvl_handle_of(aTHX_ self)->table, &freed));
    RETVAL = freed;
  OUTPUT:
    RETVAL

UV
capacity(SV *self, SV *bytes = &PL_sv_undef)
  PREINIT:
    tavola_table *table;
    uint64_t now = 0;
  CODE:
    table = tvl_handle_of(aTHX_ self)->table;
    if (SvOK(bytes)) {
      checked(aTHX_ tavola_set_capacity(table, tvl_size(aTHX_ bytes, "the capacity")));
    }
    checked(aTHX_ tavola_capacity(table, &now));
    RETVAL = (UV)now;
  OUTPUT:
    RETVAL

void
set_max_size(SV *self, SV *bytes)
  CODE:
    checked(aTHX_ tavola_set_max_size(tvl_handle_of(aTHX_ self)->table,
                                      tvl_size(aTHX_ bytes, "max_size")));

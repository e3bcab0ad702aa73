MODULE = Tavola    PACKAGE = Tavola

void
get(SV *self, SV *key)
  ALIAS:
    FETCH = 1
  PREINIT:
    SV *value;
  PPCODE:
    PERL_UNUSED_VAR(ix);
    value = read_key(aTHX_ self, key);
    PUSHs(value != NULL ? sv_2mortal(value) : &PL_sv_undef);

bool
exists(SV *self, SV *key)
  ALIAS:
    EXISTS = 1
  INIT:
    HANDLE_AND_KEY;
  CODE:
    PERL_UNUSED_VAR(ix);
    RETVAL = checked(aTHX_ tavola_contains(handle->table, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
gets(SV *self, SV *key)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    uint64_t token = 0;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_get_entry(handle->table, data, len, &buffer, &attributes, &token)) ==
        TAVOLA_OK) {
      SV *value = sv_2mortal(tvl_decode(aTHX_ handle, &result, attributes.flags));
      EXTEND(SP, 2);
      PUSHs(value);
      mPUSHu((UV)token);
    }

void
_raw(SV *self, SV *key)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    uint64_t token = 0;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_get_entry(handle->table, data, len, &buffer, &attributes, &token)) ==
        TAVOLA_OK) {
      EXTEND(SP, 3);
      PUSHs(sv_2mortal(tvl_string(aTHX_ &result)));
      mPUSHu(attributes.flags);
      mPUSHu((UV)token);
    }

void
entry(SV *self, SV *key)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    uint64_t token = 0;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_get_entry(handle->table, data, len, &buffer, &attributes, &token)) !=
        TAVOLA_OK) {
      XSRETURN_UNDEF;
    } else {
      HV *made = (HV *)sv_2mortal((SV *)newHV());
      SV *bytes = tvl_string(aTHX_ &result);
      (void)hv_stores(made, "bytes", bytes);
      (void)hv_stores(made, "flags", newSVuv(attributes.flags));
      (void)hv_stores(made, "token", newSVuv((UV)token));
      (void)hv_stores(made, "ttl", attributes.ttl_ms < 0
                                       ? newSV(0)
                                       : newSVnv((NV)attributes.ttl_ms / 1000));
      (void)hv_stores(made, "expires_at", attributes.expires_unix_ms == 0
                                              ? newSV(0)
                                              : newSVnv((NV)attributes.expires_unix_ms / 1000));
      (void)hv_stores(made, "value", tvl_decode_copy(aTHX_ handle, SvPVX_const(bytes),
                                                     SvCUR(bytes), attributes.flags));
      XPUSHs(sv_2mortal(newRV_inc((SV *)made)));
    }

void
length(SV *self, SV *key)
  PREINIT:
    size_t bytes = 0;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_value_len(handle->table, data, len, &bytes)) != TAVOLA_OK) {
      XSRETURN_UNDEF;
    }
    mXPUSHu((UV)bytes);

void
get_range(SV *self, SV *key, UV start, UV most)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_get_range(handle->table, data, len, start, most, &buffer)) !=
        TAVOLA_OK) {
      XSRETURN_UNDEF;
    }
    XPUSHs(sv_2mortal(tvl_string(aTHX_ &result)));

SV *
get_multi(SV *self, ...)
  PREINIT:
    I32 count = (I32)items - 1;
    SV **keys;
  CODE:
    keys = keys_of(aTHX_ &ST(1), &count);
    RETVAL = newRV_noinc((SV *)tvl_get_many(aTHX_ tvl_handle_of(aTHX_ self), keys, count));
  OUTPUT:
    RETVAL

void
get_list(SV *self, ...)
  PREINIT:
    I32 count = (I32)items - 1;
    SV **keys;
    SV *holder;
    I32 i;
  PPCODE:
    keys = keys_of(aTHX_ &ST(1), &count);
    /* A serializer may move the stack, so the values come to it at the end. */
    holder = sv_2mortal(newSV((STRLEN)(count + 1) * sizeof(SV *)));
    tvl_get_list(aTHX_ tvl_handle_of(aTHX_ self), keys, (SV **)SvPVX(holder), count);
    EXTEND(SP, count);
    for (i = 0; i < count; i++) {
      PUSHs(((SV **)SvPVX(holder))[i]);
    }

void
ttl(SV *self, SV *key)
  PREINIT:
    int64_t ttl_ms = 0;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (checked(aTHX_ tavola_ttl(handle->table, data, len, &ttl_ms)) != TAVOLA_OK || ttl_ms < 0) {
      XSRETURN_UNDEF;
    }
    mXPUSHn((NV)ttl_ms / 1000);

void
tags_of(SV *self, SV *key)
  PREINIT:
    tag_names all = {NULL, 0, 0};
    AV *names;
    SSize_t i;
    tavola_status status;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    names = (AV *)sv_2mortal((SV *)newAV());
    status = tavola_tags_of(handle->table, data, len, gather_tag, &all);
    push_texts(aTHX_ &all, names);
    checked(aTHX_ status);
    for (i = 0; i <= av_len(names); i++) {
      XPUSHs(sv_mortalcopy(*av_fetch(names, i, 0)));
    }

UV
size(SV *self)
  ALIAS:
    SCALAR = 1
  PREINIT:
    uint64_t keys = 0;
  CODE:
    PERL_UNUSED_VAR(ix);
    checked(aTHX_ tavola_len(tvl_handle_of(aTHX_ self)->table, &keys));
    RETVAL = (UV)keys;
  OUTPUT:
    RETVAL

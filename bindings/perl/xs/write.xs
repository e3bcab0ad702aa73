MODULE = Tavola    PACKAGE = Tavola

void
set(SV *self, SV *key, SV *value, ...)
  PPCODE:
    set_key(aTHX_ self, key, value, OPTIONS(3));
    XSRETURN_YES;

void
STORE(SV *self, SV *key, SV *value)
  PPCODE:
    set_key(aTHX_ self, key, value, NULL, 0);
    XSRETURN_EMPTY;

bool
add(SV *self, SV *key, SV *value, ...)
  ALIAS:
    replace = 1
  PREINIT:
    tvl_handle *handle;
    tvl_write write;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    tvl_read_write_options(aTHX_ handle, OPTIONS(3), &write);
    RETVAL = tvl_store(aTHX_ handle, key, value,
                       ix == 0 ? TAVOLA_CONDITION_ABSENT : TAVOLA_CONDITION_PRESENT, 0,
                       &write) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
cas(SV *self, SV *key, SV *token, SV *value, ...)
  PREINIT:
    tvl_handle *handle;
    tvl_write write;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    tvl_read_write_options(aTHX_ handle, OPTIONS(4), &write);
    RETVAL = tvl_store(aTHX_ handle, key, value, TAVOLA_CONDITION_TOKEN, SvUV(token), &write) ==
             TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
append(SV *self, SV *key, SV *more)
  ALIAS:
    prepend = 1
  PREINIT:
    tvl_bytes bytes;
  INIT:
    HANDLE_AND_KEY;
  CODE:
    SvGETMAGIC(more);
    tvl_encode_plain(aTHX_ more, &bytes);
    RETVAL = checked(aTHX_ ix == 0
                               ? tavola_append(handle->table, data, len, bytes.data, bytes.len)
                               : tavola_prepend(handle->table, data, len, bytes.data,
                                                bytes.len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
delete(SV *self, SV *key)
  INIT:
    HANDLE_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_remove(handle->table, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
delete_token(SV *self, SV *key, SV *token)
  INIT:
    HANDLE_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_compare_and_remove(handle->table, data, len, SvUV(token))) ==
             TAVOLA_OK;
  OUTPUT:
    RETVAL

void
take(SV *self, SV *key)
  PREINIT:
    SV *value;
  PPCODE:
    value = tvl_take(aTHX_ tvl_handle_of(aTHX_ self), key);
    PUSHs(value != NULL ? sv_2mortal(value) : &PL_sv_undef);

void
DELETE(SV *self, SV *key)
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    if (GIMME_V == G_VOID) {
      checked(aTHX_ tavola_remove(handle->table, data, len));
    } else {
      SV *value = tvl_take(aTHX_ handle, key);
      PUSHs(value != NULL ? sv_2mortal(value) : &PL_sv_undef);
    }

void
swap(SV *self, SV *key, SV *value, ...)
  PREINIT:
    tvl_handle *handle;
    tvl_write write;
    SV *old;
  PPCODE:
    handle = tvl_handle_of(aTHX_ self);
    tvl_read_write_options(aTHX_ handle, OPTIONS(3), &write);
    old = tvl_swap(aTHX_ handle, key, value, &write);
    PUSHs(old != NULL ? sv_2mortal(old) : &PL_sv_undef);

IV
incr(SV *self, SV *key, SV *by = &PL_sv_undef, ...)
  ALIAS:
    decr = 1
  CODE:
    RETVAL = tvl_count(aTHX_ tvl_handle_of(aTHX_ self), key, signed_step(aTHX_ by, ix == 1),
                       OPTIONS(3));
  OUTPUT:
    RETVAL

bool
touch(SV *self, SV *key, ...)
  PREINIT:
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  INIT:
    HANDLE_AND_KEY;
  CODE:
    if (items > 2) {
      attributes.ttl_ms = tvl_ttl_ms(aTHX_ ST(items - 1));
    }
    RETVAL = checked(aTHX_ tavola_touch(handle->table, data, len,
                                        items > 2 ? &attributes : NULL)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

bool
persist(SV *self, SV *key)
  INIT:
    HANDLE_AND_KEY;
  CODE:
    RETVAL = checked(aTHX_ tavola_persist(handle->table, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
get_and_touch(SV *self, SV *key, SV *ttl)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    tavola_attributes had = TAVOLA_INIT(tavola_attributes);
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    attributes.ttl_ms = tvl_ttl_ms(aTHX_ ttl);
    if (checked(aTHX_ tavola_get_and_touch(handle->table, data, len, &attributes, &buffer, &had,
                                           NULL)) != TAVOLA_OK) {
      XSRETURN_UNDEF;
    }
    XPUSHs(sv_2mortal(tvl_decode(aTHX_ handle, &result, had.flags)));

void
set_multi(SV *self, SV *values, ...)
  PREINIT:
    tvl_handle *handle;
    tvl_write write;
  PPCODE:
    handle = tvl_handle_of(aTHX_ self);
    tvl_read_write_options(aTHX_ handle, OPTIONS(2), &write);
    SvGETMAGIC(values);
    tvl_set_many(aTHX_ handle, values, &write);
    XSRETURN_YES;

UV
delete_multi(SV *self, ...)
  PREINIT:
    I32 count = (I32)items - 1;
    SV **keys;
  CODE:
    keys = keys_of(aTHX_ &ST(1), &count);
    RETVAL = (UV)tvl_delete_many(aTHX_ tvl_handle_of(aTHX_ self), keys, count);
  OUTPUT:
    RETVAL

UV
delete_prefix(SV *self, SV *key)
  PREINIT:
    uint64_t removed = 0;
  INIT:
    HANDLE_AND_KEY;
  CODE:
    checked(aTHX_ tavola_remove_prefix(handle->table, data, len, &removed));
    RETVAL = (UV)removed;
  OUTPUT:
    RETVAL

void
clear(SV *self)
  ALIAS:
    CLEAR = 1
  PPCODE:
    PERL_UNUSED_VAR(ix);
    checked(aTHX_ tavola_clear(tvl_handle_of(aTHX_ self)->table));
    XSRETURN_YES;

void
invalidate(SV *self, SV *key)
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    checked(aTHX_ tavola_invalidate_tag(handle->table, data, len));
    XSRETURN_YES;

SV *
tags(SV *self, ...)
  PREINIT:
    tavola_tags tags = TAVOLA_INIT(tavola_tags);
    tvl_handle *handle;
    AV *names;
    I32 i;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    names = (AV *)sv_2mortal((SV *)newAV());
    for (i = 1; i < items; i++) {
      av_push(names, newSVsv(ST(i)));
    }
    tvl_fetch_tags(aTHX_ handle, sv_2mortal(newRV_inc((SV *)names)), &tags);
    RETVAL = newRV_noinc(newSVpvn((const char *)&tags, sizeof tags));
    sv_bless(RETVAL, gv_stashpvs("Tavola::Tags", GV_ADD));
  OUTPUT:
    RETVAL

void
_store_raw(SV *self, SV *key, SV *bytes, UV flags)
  PREINIT:
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    const char *value;
    STRLEN value_len;
  INIT:
    HANDLE_AND_KEY;
  CODE:
    value = SvPVbyte(bytes, value_len);
    attributes.flags = (uint32_t)flags;
    checked(aTHX_ tavola_set_with(handle->table, data, len, value, value_len, &attributes));

bool
_store_flags(SV *self, SV *key, SV *bytes, UV flags, SV *ttl, IV condition, UV token)
  PREINIT:
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    tavola_store_options how = TAVOLA_INIT(tavola_store_options);
    const char *value;
    STRLEN value_len;
  INIT:
    HANDLE_AND_KEY;
  CODE:
    value = SvPVbyte(bytes, value_len);
    attributes.flags = (uint32_t)flags;
    attributes.ttl_ms = tvl_ttl_ms(aTHX_ ttl);
    how.attributes = &attributes;
    how.condition = (int32_t)condition;
    how.token = token;
    RETVAL = checked(aTHX_ tavola_store(handle->table, data, len, value, value_len, &how,
                                        NULL)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
_count_unsigned(SV *self, SV *key, UV by, bool is_down)
  PREINIT:
    uint64_t now = 0;
    tavola_status status;
  INIT:
    HANDLE_AND_KEY;
  PPCODE:
    status = is_down ? tavola_decr_from(handle->table, data, len, by, NULL, &now)
                     : tavola_incr_from(handle->table, data, len, by, NULL, &now);
    if (checked(aTHX_ status) != TAVOLA_OK) {
      XSRETURN_UNDEF;
    }
    mXPUSHu((UV)now);

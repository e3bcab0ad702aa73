MODULE = Tavola    PACKAGE = Tavola

SV *
iterator(SV *self, SV *prefix = &PL_sv_undef)
  PREINIT:
    tvl_handle *handle;
    tavola_iter *iter = NULL;
    tvl_iterator *made;
    const char *data;
    STRLEN len;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    if (SvOK(prefix)) {
      tvl_key(aTHX_ handle, prefix, &data, &len);
      checked(aTHX_ tavola_iter_open_prefix(handle->table, data, len, &iter));
    } else {
      checked(aTHX_ tavola_iter_open(handle->table, &iter));
    }
    made = malloc(sizeof *made);
    if (made == NULL) {
      tavola_iter_close(iter);
      croak("Tavola: no memory for an iterator");
    }
    made->iter = iter;
    made->table = newSVsv(self);
    RETVAL = tvl_new(aTHX_ "Tavola::Iterator", &tvl_iter_vtbl, made);
  OUTPUT:
    RETVAL

void
keys(SV *self, SV *prefix = &PL_sv_undef)
  PREINIT:
    tvl_handle *handle;
    tavola_iter *iter = NULL;
    tavola_bytes key;
    tavola_status status;
    const char *data;
    STRLEN len;
    HV *seen;
  PPCODE:
    handle = tvl_handle_of(aTHX_ self);
    seen = (HV *)sv_2mortal((SV *)newHV());
    if (SvOK(prefix)) {
      tvl_key(aTHX_ handle, prefix, &data, &len);
      checked(aTHX_ tavola_iter_open_prefix(handle->table, data, len, &iter));
    } else {
      checked(aTHX_ tavola_iter_open(handle->table, &iter));
    }
    while ((status = tavola_iter_next(iter, &key, NULL)) == TAVOLA_OK) {
      SV *name = sv_2mortal(tvl_key_sv(aTHX_ handle, key.data, key.len));
      if (!hv_exists_ent(seen, name, 0)) {
        (void)hv_store_ent(seen, name, &PL_sv_yes, 0);
        XPUSHs(name);
      }
    }
    tavola_iter_close(iter);
    checked(aTHX_ status);

void
FIRSTKEY(SV *self)
  PREINIT:
    tvl_handle *handle;
  PPCODE:
    handle = tvl_handle_of(aTHX_ self);
    tavola_iter_close(handle->iter);
    handle->iter = NULL;
    checked(aTHX_ tavola_iter_open(handle->table, &handle->iter));
    XPUSHs(next_key(aTHX_ handle));

void
NEXTKEY(SV *self, SV *last)
  PPCODE:
    PERL_UNUSED_VAR(last);
    XPUSHs(next_key(aTHX_ tvl_handle_of(aTHX_ self)));

MODULE = Tavola    PACKAGE = Tavola::Iterator

void
next(SV *self)
  PREINIT:
    tvl_iterator *iterator;
    tvl_handle *handle;
    tavola_bytes key, value;
    tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
    tavola_status status;
  PPCODE:
    iterator = tvl_pointer(aTHX_ self, &tvl_iter_vtbl, "Tavola::Iterator");
    handle = tvl_handle_of(aTHX_ iterator->table);
    status = checked(aTHX_ tavola_iter_next_with_attributes(iterator->iter, &key, &value,
                                                            &attributes));
    if (status == TAVOLA_OK) {
      EXTEND(SP, 2);
      PUSHs(sv_2mortal(tvl_key_sv(aTHX_ handle, key.data, key.len)));
      if (GIMME_V == G_LIST) {
        PUSHs(sv_2mortal(tvl_decode_copy(aTHX_ handle, value.data, value.len,
                                         attributes.flags)));
      }
    } else if (GIMME_V == G_SCALAR) {
      XSRETURN_UNDEF;
    }

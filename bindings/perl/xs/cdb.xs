MODULE = Tavola    PACKAGE = Tavola::CDB

SV *
_open(const char *path, SV *follow)
  PREINIT:
    tavola_cdb *cdb = NULL;
  CODE:
    if (SvOK(follow)) {
      checked(aTHX_ tavola_cdb_open_followed(path, tvl_wait_ms(aTHX_ follow), &cdb));
    } else {
      checked(aTHX_ tavola_cdb_open(path, &cdb));
    }
    RETVAL = tvl_new(aTHX_ "Tavola::CDB::File", &tvl_cdb_vtbl, cdb);
  OUTPUT:
    RETVAL

SV *
_create(const char *path, I32 format, U32 mode, bool sync)
  PREINIT:
    tavola_cdb_options options = TAVOLA_INIT(tavola_cdb_options);
    tavola_cdb_writer *writer = NULL;
  CODE:
    options.format = format;
    options.mode = mode;
    options.keep_first = 1;
    options.unsynced = !sync;
    checked(aTHX_ tavola_cdb_writer_open(path, &options, &writer));
    RETVAL = tvl_new(aTHX_ "Tavola::CDB::Writer", &tvl_cdb_writer_vtbl, writer);
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::CDB::File

void
get(SV *self, SV *key)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
    const char *data;
    STRLEN len;
  PPCODE:
    data = SvPV_const(key, len);
    if (checked(aTHX_ tavola_cdb_get(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"), data,
                                     len, &buffer)) == TAVOLA_OK) {
      PUSHs(sv_2mortal(tvl_string(aTHX_ &result)));
    } else {
      PUSHs(&PL_sv_undef);
    }

bool
exists(SV *self, SV *key)
  PREINIT:
    const char *data;
    STRLEN len;
  CODE:
    data = SvPV_const(key, len);
    RETVAL = checked(aTHX_ tavola_cdb_contains(
                 tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"), data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
position(SV *self, SV *key)
  PREINIT:
    uint64_t position = 0, value_len = 0;
    const char *data;
    STRLEN len;
  PPCODE:
    data = SvPV_const(key, len);
    if (checked(aTHX_ tavola_cdb_position(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"),
                                          data, len, &position, &value_len)) == TAVOLA_OK) {
      EXTEND(SP, 2);
      mPUSHu((UV)position);
      mPUSHu((UV)value_len);
    }

SV *
all(SV *self, SV *key)
  PREINIT:
    const char *data;
    STRLEN len;
  CODE:
    data = SvPV_const(key, len);
    RETVAL = newRV_inc((SV *)tvl_cdb_all(
        aTHX_ tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"), data, len));
  OUTPUT:
    RETVAL

UV
records(SV *self)
  CODE:
    RETVAL = (UV)tavola_cdb_len(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"));
  OUTPUT:
    RETVAL

IV
format(SV *self)
  CODE:
    RETVAL = tavola_cdb_format_of(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"));
  OUTPUT:
    RETVAL

bool
refresh(SV *self)
  PREINIT:
    int moved = 0;
  CODE:
    checked(aTHX_ tavola_cdb_refresh(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"),
                                     &moved));
    RETVAL = moved;
  OUTPUT:
    RETVAL

UV
check(SV *self)
  PREINIT:
    uint64_t records = 0;
  CODE:
    checked(aTHX_ tavola_cdb_check(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"),
                                   &records));
    RETVAL = (UV)records;
  OUTPUT:
    RETVAL

SV *
iterator(SV *self)
  PREINIT:
    tavola_cdb_iter *iter = NULL;
  CODE:
    checked(aTHX_ tavola_cdb_iter_open(tvl_pointer(aTHX_ self, &tvl_cdb_vtbl, "constant file"),
                                       &iter));
    RETVAL = tvl_new(aTHX_ "Tavola::CDB::Iterator", &tvl_cdb_iter_vtbl, iter);
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::CDB::Iterator

void
next(SV *self)
  PREINIT:
    tavola_bytes key, value;
  PPCODE:
    if (checked(aTHX_ tavola_cdb_iter_next(
            tvl_pointer(aTHX_ self, &tvl_cdb_iter_vtbl, "iterator"), &key, &value)) == TAVOLA_OK) {
      EXTEND(SP, 2);
      mPUSHp((const char *)key.data, key.len);
      mPUSHp((const char *)value.data, value.len);
    }

MODULE = Tavola    PACKAGE = Tavola::CDB::Writer

void
put(SV *self, SV *key, SV *value, I32 mode)
  PREINIT:
    tavola_cdb_writer *writer;
    const char *data, *bytes;
    STRLEN len, value_len;
    tavola_status status;
    int existed = 0;
  PPCODE:
    writer = tvl_pointer(aTHX_ self, &tvl_cdb_writer_vtbl, "maker of a constant file");
    data = SvPV_const(key, len);
    bytes = SvPV_const(value, value_len);
    status = checked(aTHX_ tavola_cdb_writer_put(writer, data, len, bytes, value_len, mode,
                                                 &existed));
    EXTEND(SP, 2);
    PUSHs(boolSV(status == TAVOLA_OK));
    PUSHs(boolSV(existed || status == TAVOLA_EXISTS));

bool
exists(SV *self, SV *key)
  PREINIT:
    tavola_cdb_writer *writer;
    const char *data;
    STRLEN len;
  CODE:
    writer = tvl_pointer(aTHX_ self, &tvl_cdb_writer_vtbl, "maker of a constant file");
    data = SvPV_const(key, len);
    RETVAL = checked(aTHX_ tavola_cdb_writer_contains(writer, data, len)) == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
finish(SV *self)
  PREINIT:
    tavola_cdb_writer *writer;
    tavola_status status;
  CODE:
    writer = tvl_pointer(aTHX_ self, &tvl_cdb_writer_vtbl, "maker of a constant file");
    status = tavola_cdb_writer_finish(writer);
    if (status < 0) {
      tvl_throw(aTHX_ status);
    }
    tavola_cdb_writer_close((tavola_cdb_writer *)tvl_take_pointer(aTHX_ self, &tvl_cdb_writer_vtbl));

MODULE = Tavola    PACKAGE = Tavola

SV *
open(const char *class_name, SV *name = &PL_sv_undef, ...)
  ALIAS:
    TIEHASH = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    RETVAL = tvl_open(aTHX_ class_name, name, OPTIONS(2));
  OUTPUT:
    RETVAL

void
DESTROY(SV *self)
  PREINIT:
    MAGIC *mg;
  CODE:
    mg = SvROK(self) ? mg_findext(SvRV(self), PERL_MAGIC_ext, &tvl_table_vtbl) : NULL;
    if (mg != NULL && mg->mg_ptr != NULL) {
      tvl_close(aTHX_ (tvl_handle *)mg->mg_ptr);
    }

void
close(SV *self)
  CODE:
    tvl_close(aTHX_ (tvl_handle *)tvl_pointer(aTHX_ self, &tvl_table_vtbl, "Tavola table"));

void
UNTIE(SV *self, ...)
  CODE:
    PERL_UNUSED_VAR(self);

void
path(SV *self)
  PPCODE:
    mXPUSHp(tavola_path(tvl_handle_of(aTHX_ self)->table),
            strlen(tavola_path(tvl_handle_of(aTHX_ self)->table)));

bool
is_read_only(SV *self)
  CODE:
    RETVAL = tavola_is_read_only(tvl_handle_of(aTHX_ self)->table);
  OUTPUT:
    RETVAL

bool
refresh(SV *self)
  PREINIT:
    tvl_handle *handle;
    int moved = 0;
  CODE:
    handle = tvl_handle_of(aTHX_ self);
    if (__atomic_load_n(&handle->shared->refs, __ATOMIC_ACQUIRE) != 1) {
      tvl_argument(aTHX_ "another thread uses this table; open it again in each thread");
    }
    tavola_iter_close(handle->iter);
    handle->iter = NULL;
    checked(aTHX_ tavola_refresh(&handle->table, &moved));
    handle->shared->table = handle->table;
    RETVAL = moved != 0;
  OUTPUT:
    RETVAL

void
_list()
  PREINIT:
    tag_names all = {NULL, 0, 0};
    AV *paths;
    SSize_t i;
    tavola_status status;
  PPCODE:
    paths = (AV *)sv_2mortal((SV *)newAV());
    status = tavola_names_list(gather_path, &all);
    push_texts(aTHX_ &all, paths);
    checked(aTHX_ status);
    for (i = 0; i <= av_len(paths); i++) {
      XPUSHs(sv_mortalcopy(*av_fetch(paths, i, 0)));
    }

bool
_remove(const char *name)
  PREINIT:
    tavola_status status;
  CODE:
    status = tavola_names_remove(name);
    if (status != TAVOLA_ERR_NO_TABLE) {
      checked(aTHX_ status);
    }
    RETVAL = status == TAVOLA_OK;
  OUTPUT:
    RETVAL

void
_rename(const char *from, const char *to)
  CODE:
    checked(aTHX_ tavola_names_rename(from, to));

SV *
_directory()
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  CODE:
    checked(aTHX_ tavola_names_directory(&buffer));
    RETVAL = tvl_string(aTHX_ &result);
  OUTPUT:
    RETVAL

SV *
_path_of(const char *name)
  PREINIT:
    tvl_result result;
    tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(tvl_alloc, &result);
  CODE:
    checked(aTHX_ tavola_names_path_of(name, &buffer));
    RETVAL = tvl_string(aTHX_ &result);
  OUTPUT:
    RETVAL

const char *
_library_version()
  CODE:
    RETVAL = tavola_version();
  OUTPUT:
    RETVAL

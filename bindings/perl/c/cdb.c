/* Constant files: their handles, iterators and writers, objects of one thread. */
#include "tvl.h"

static int free_file(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_cdb_close((tavola_cdb *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

static int free_records(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_cdb_iter_close((tavola_cdb_iter *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

static int free_writer(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_cdb_writer_close((tavola_cdb_writer *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

MGVTBL tvl_cdb_vtbl = {NULL, NULL, NULL, NULL, free_file, NULL, tvl_forget_dup, NULL};
MGVTBL tvl_cdb_iter_vtbl = {NULL, NULL, NULL, NULL, free_records, NULL, tvl_forget_dup, NULL};
MGVTBL tvl_cdb_writer_vtbl = {NULL, NULL, NULL, NULL, free_writer, NULL, tvl_forget_dup, NULL};

/* Returns all values of a key: new scalars, which are mortal, in a list. */
AV *tvl_cdb_all(pTHX_ tavola_cdb *cdb, const char *key, STRLEN len) {
  AV *all = (AV *)sv_2mortal((SV *)newAV());
  tavola_cdb_find *find = NULL;
  tavola_bytes value;
  tavola_status status = tavola_cdb_find_open(cdb, key, len, &find);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  while ((status = tavola_cdb_find_next(find, &value)) == TAVOLA_OK) {
    av_push(all, newSVpvn((const char *)value.data, value.len));
  }
  tavola_cdb_find_close(find);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return all;
}

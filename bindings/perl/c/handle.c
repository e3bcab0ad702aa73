/*
 * Objects: a blessed hash with a pointer in its magic.
 *
 * Magic of the type `ext` can only be made by C, so no Perl code can forge a pointer. The magic
 * also gets a call when a thread copies the interpreter. A table is shared by all threads: each
 * copy counts, and the last one closes the table. Everything else belongs to one thread, and its
 * copy in another thread is empty.
 */
#include "tvl.h"

static void drop_shared(tvl_shared *shared) {
  /* Pairs with the increment in `table_dup`: the thread that sees 0 is the last one. */
  if (__atomic_sub_fetch(&shared->refs, 1, __ATOMIC_ACQ_REL) == 0) {
    tavola_close(shared->table);
    free(shared);
  }
}

/* Closes the handle. It can be called twice. */
void tvl_close(pTHX_ tvl_handle *handle) {
  tvl_shared *shared = handle->shared;
  tavola_iter *iter = handle->iter;
  handle->table = NULL;
  handle->shared = NULL;
  handle->iter = NULL;
  tavola_iter_close(iter);
  if (shared != NULL) {
    drop_shared(shared);
  }
  if (handle->serializer != NULL) {
    SV *serializer = handle->serializer;
    handle->serializer = NULL;
    SvREFCNT_dec(serializer);
  }
}

static int table_free(pTHX_ SV *sv, MAGIC *mg) {
  tvl_handle *handle = (tvl_handle *)mg->mg_ptr;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (handle != NULL) {
    tvl_close(aTHX_ handle);
    free(handle);
  }
  return 0;
}

#ifdef USE_ITHREADS
static int table_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param) {
  const tvl_handle *from = (const tvl_handle *)mg->mg_ptr;
  tvl_handle *made = calloc(1, sizeof *made);
  if (made == NULL) {
    croak("Tavola: no memory for a handle of a thread");
  }
  *made = *from;
  made->iter = NULL;
  made->serializer = from->serializer ? sv_dup_inc(from->serializer, param) : NULL;
  if (made->shared != NULL) {
    __atomic_add_fetch(&made->shared->refs, 1, __ATOMIC_RELAXED);
  }
  mg->mg_ptr = (char *)made;
  return 0;
}
#else
#define table_dup NULL
#endif

/* For objects of one thread: their copies are empty. */
int tvl_forget_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(param);
  mg->mg_ptr = NULL;
  return 0;
}

MGVTBL tvl_table_vtbl = {NULL, NULL, NULL, NULL, table_free, NULL, table_dup, NULL};

/* Returns a new object of a class that owns a pointer. */
SV *tvl_new(pTHX_ const char *class_name, MGVTBL *vtbl, void *pointer) {
  HV *body = newHV();
  MAGIC *mg = sv_magicext((SV *)body, NULL, PERL_MAGIC_ext, vtbl, (char *)pointer, 0);
  mg->mg_flags |= MGf_DUP;
  return sv_bless(newRV_noinc((SV *)body), gv_stashpv(class_name, GV_ADD));
}

static MAGIC *find(pTHX_ SV *self, MGVTBL *vtbl) {
  if (SvROK(self) && SvTYPE(SvRV(self)) >= SVt_PVMG) {
    return mg_findext(SvRV(self), PERL_MAGIC_ext, vtbl);
  }
  return NULL;
}

/* Returns the pointer of an object, or throws. */
void *tvl_pointer(pTHX_ SV *self, MGVTBL *vtbl, const char *what) {
  MAGIC *mg = find(aTHX_ self, vtbl);
  if (mg == NULL) {
    tvl_argument(aTHX_ "this is not a %s; call the method on the object that was returned", what);
  }
  if (mg->mg_ptr == NULL) {
    tvl_argument(aTHX_ "the %s is closed, or belongs to another thread; open another one", what);
  }
  return mg->mg_ptr;
}

/* Returns the pointer and takes it from the object, so that nothing is closed twice; or NULL. */
void *tvl_take_pointer(pTHX_ SV *self, MGVTBL *vtbl) {
  MAGIC *mg = find(aTHX_ self, vtbl);
  void *pointer = mg != NULL ? mg->mg_ptr : NULL;
  if (mg != NULL) {
    mg->mg_ptr = NULL;
  }
  return pointer;
}

/* The slow way of `tvl_handle_of`: other magic comes first, or it is an error. */
tvl_handle *tvl_handle_found(pTHX_ SV *self) {
  tvl_handle *handle;
  SvGETMAGIC(self);
  handle = tvl_pointer(aTHX_ self, &tvl_table_vtbl, "Tavola table");
  if (handle->table == NULL) {
    tvl_argument(aTHX_ "the table is closed; open it again with Tavola->open");
  }
  return handle;
}

/* Returns an object for a table, which it closes. */
SV *tvl_new_table(pTHX_ const char *class_name, tavola_table *table) {
  tvl_handle *handle = calloc(1, sizeof *handle);
  tvl_shared *shared = calloc(1, sizeof *shared);
  if (handle == NULL || shared == NULL) {
    free(handle);
    free(shared);
    tavola_close(table);
    croak("Tavola: no memory for a handle");
  }
  shared->table = table;
  shared->refs = 1;
  handle->shared = shared;
  handle->table = table;
  return tvl_new(aTHX_ class_name, &tvl_table_vtbl, handle);
}

/* Drops one share of a queue or log. */
void tvl_common_drop(tvl_common *common) {
  /* Pairs with the increment in `tvl_common_dup`, as for tables. */
  if (__atomic_sub_fetch(&common->refs, 1, __ATOMIC_ACQ_REL) == 0) {
    common->close(common->pointer);
    free(common);
  }
}

int tvl_common_free(pTHX_ SV *sv, MAGIC *mg) {
  tvl_common *common = (tvl_common *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (common != NULL) {
    tvl_common_drop(common);
  }
  return 0;
}

int tvl_common_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param) {
  tvl_common *common = (tvl_common *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(param);
  if (common != NULL) {
    __atomic_add_fetch(&common->refs, 1, __ATOMIC_RELAXED);
  }
  return 0;
}

/* Returns an object for something that threads may share. It closes `pointer` if it throws. */
SV *tvl_new_common(pTHX_ const char *class_name, MGVTBL *vtbl, void *pointer,
                   void (*close)(void *pointer)) {
  tvl_common *common = calloc(1, sizeof *common);
  if (common == NULL) {
    close(pointer);
    croak("Tavola: no memory for a handle");
  }
  common->pointer = pointer;
  common->close = close;
  common->refs = 1;
  return tvl_new(aTHX_ class_name, vtbl, common);
}

void *tvl_common_pointer(pTHX_ SV *self, MGVTBL *vtbl, const char *what) {
  return ((tvl_common *)tvl_pointer(aTHX_ self, vtbl, what))->pointer;
}

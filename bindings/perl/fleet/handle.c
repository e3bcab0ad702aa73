/*
 * Objects: hashes with a pointer in their magic, which no Perl code can forge.
 *
 * Threads share a client. A copy of a handle in another thread has a batch of its own, and begins
 * without it.
 */
#include "fleet.h"

#include <string.h>

void tvf_client_drop(tvf_client *client) {
  /* Pairs with the increments in `tvf_use` and `client_dup`: who sees 0 is the last one. */
  if (client != NULL && __atomic_sub_fetch(&client->refs, 1, __ATOMIC_ACQ_REL) == 0) {
    tavola_mc_close(client->client);
    free(client);
  }
}

/* Makes a handle use another client, and sends what it may hold for the old one. */
void tvf_use(tvf_handle *handle, tvf_client *client) {
  tvf_client *old = handle->client;
  __atomic_add_fetch(&client->refs, 1, __ATOMIC_RELAXED);
  if (old != NULL && handle->may_hold) {
    tavola_mc_flush(old->client);
  }
  handle->may_hold = false;
  tavola_mc_batch_free(handle->batch);
  handle->batch = NULL;
  handle->client = client;
  tvf_client_drop(old);
}

tvf_handle *tvf_handle_make(tvf_client *client) {
  tvf_handle *handle = calloc(1, sizeof *handle);
  if (handle != NULL) {
    tvf_use(handle, client);
  }
  return handle;
}

static int handle_free(pTHX_ SV *sv, MAGIC *mg) {
  tvf_handle *handle = (tvf_handle *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  mg->mg_ptr = NULL;
  if (handle != NULL) {
    /* Another thread may keep the client open, and what this one holds would stay held. */
    if (handle->may_hold) {
      tavola_mc_flush(handle->client->client);
    }
    tavola_mc_batch_free(handle->batch);
    tvf_client_drop(handle->client);
    free(handle->answers);
    free(handle->keys);
    free(handle->prefix);
    free(handle->why);
    free(handle);
  }
  return 0;
}

static int client_free(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tvf_client_drop((tvf_client *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

#ifdef USE_ITHREADS
static int client_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param) {
  tvf_client *client = (tvf_client *)mg->mg_ptr;
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(param);
  if (client != NULL) {
    __atomic_add_fetch(&client->refs, 1, __ATOMIC_RELAXED);
  }
  return 0;
}

static int handle_dup(pTHX_ MAGIC *mg, CLONE_PARAMS *param) {
  const tvf_handle *from = (const tvf_handle *)mg->mg_ptr;
  tvf_handle *made;
  PERL_UNUSED_ARG(param);
  if (from == NULL) {
    return 0;
  }
  made = tvf_handle_make(from->client);
  if (made != NULL && from->prefix != NULL) {
    made->prefix = malloc(from->prefix_len + 1);
    if (made->prefix != NULL) {
      memcpy(made->prefix, from->prefix, from->prefix_len);
      made->prefix_len = from->prefix_len;
    }
  }
  if (made == NULL || (from->prefix != NULL && made->prefix == NULL)) {
    croak("Tavola::Memcached: no memory for a handle of a thread");
  }
  made->threshold = from->threshold;
  made->max_size = from->max_size;
  made->is_utf8 = from->is_utf8;
  made->is_nowait = from->is_nowait;
  mg->mg_ptr = (char *)made;
  return 0;
}
#else
#define client_dup NULL
#define handle_dup NULL
#endif

MGVTBL tvf_client_vtbl = {NULL, NULL, NULL, NULL, client_free, NULL, client_dup, NULL};
MGVTBL tvf_handle_vtbl = {NULL, NULL, NULL, NULL, handle_free, NULL, handle_dup, NULL};

/* Gives a pointer to the hash of an object, which owns it from now on. */
void tvf_attach(pTHX_ SV *body, MGVTBL *vtbl, void *pointer) {
  MAGIC *mg = sv_magicext(body, NULL, PERL_MAGIC_ext, vtbl, (char *)pointer, 0);
  mg->mg_flags |= MGf_DUP;
}

static void *pointer_of(pTHX_ SV *self, MGVTBL *vtbl) {
  MAGIC *mg = NULL;
  if (SvROK(self) && SvTYPE(SvRV(self)) >= SVt_PVMG) {
    mg = mg_findext(SvRV(self), PERL_MAGIC_ext, vtbl);
  }
  if (mg == NULL || mg->mg_ptr == NULL) {
    croak("this is not the client of a fleet; call the method on what new has returned");
  }
  return mg->mg_ptr;
}

tvf_client *tvf_client_of(pTHX_ SV *self) {
  return (tvf_client *)pointer_of(aTHX_ self, &tvf_client_vtbl);
}

/* Returns the handle of an object, and keeps the object until the end of the statement: a
 * serializer may drop the last reference to it. */
tvf_handle *tvf_handle_of(pTHX_ SV *self) {
  tvf_handle *handle = (tvf_handle *)pointer_of(aTHX_ self, &tvf_handle_vtbl);
  sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(self)));
  return handle;
}

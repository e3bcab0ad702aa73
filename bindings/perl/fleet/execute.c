/*
 * The second step of a method: all its requests are one batch, which the library executes.
 *
 * Nothing here calls Perl code, and the callbacks call nothing of Perl at all: Perl throws by
 * `longjmp`, and a callback must return.
 */
#include "fleet.h"

#include <string.h>

/* Gives the library memory for a value, which a scalar takes over if it is long. */
static void *room(void *user, size_t index, size_t len, uint32_t flags) {
  tvf_answer *answer = &((tvf_handle *)user)->answers[index];
  PERL_UNUSED_ARG(flags);
  answer->len = len;
  if (len <= sizeof answer->small) {
    return answer->small;
  }
  answer->heap = len < SIZE_MAX ? (char *)PerlMem_malloc(len + 1) : NULL;
  return answer->heap;
}

static void keep_why(tvf_handle *handle, const char *why) {
  if (handle->why == NULL) {
    handle->why = strdup(why);
  }
}

static void done(void *user, size_t index, const tavola_mc_result *result) {
  tvf_handle *handle = (tvf_handle *)user;
  tvf_answer *answer = &handle->answers[index];
  answer->status = result->status;
  answer->flags = result->flags;
  answer->number = result->status == TAVOLA_MC_COUNT ? result->number : result->cas;
  if (result->status < 0) {
    keep_why(handle, result->why);
  }
}

/* Makes room for the answers of so many requests, and empties it. */
static void expect(pTHX_ tvf_handle *handle, size_t count) {
  size_t i;
  if (count > handle->answers_room) {
    size_t more = count < 8 ? 8 : count;
    free(handle->answers);
    handle->answers = calloc(more, sizeof *handle->answers);
    handle->answers_room = handle->answers != NULL ? more : 0;
    if (handle->answers == NULL) {
      croak("Tavola::Memcached: no memory for %lu answers", (unsigned long)count);
    }
  }
  for (i = 0; i < count; i++) {
    handle->answers[i].heap = NULL;
    handle->answers[i].status = TAVOLA_MC_ERR_OTHER;
  }
}

/* Makes room for the keys with their prefix. */
static void make_keys_room(pTHX_ tvf_handle *handle, const tvf_call *calls, size_t count) {
  size_t i, needed = 0;
  for (i = 0; i < count; i++) {
    needed += handle->prefix_len + SvCUR(calls[i].key);
  }
  if (needed > handle->keys_room) {
    free(handle->keys);
    handle->keys = malloc(needed);
    handle->keys_room = handle->keys != NULL ? needed : 0;
    if (handle->keys == NULL) {
      croak("Tavola::Memcached: no memory for keys of %lu bytes", (unsigned long)needed);
    }
  }
}

/* Returns the key as it is handed to the library. */
static const char *whole_key(const tvf_handle *handle, const SV *key, size_t *used, size_t *len) {
  char *to = handle->keys + *used;
  *len = SvCUR(key);
  if (handle->prefix_len == 0) {
    return SvPVX_const(key);
  }
  memcpy(to, handle->prefix, handle->prefix_len);
  memcpy(to + handle->prefix_len, SvPVX_const(key), *len);
  *len += handle->prefix_len;
  *used += *len;
  return to;
}

/* Returns whether a request needs no answer. */
static bool is_silent(const tvf_handle *handle, const char *key, size_t len) {
  const tvf_client *client = handle->client;
  size_t server;
  if (handle->is_nowait) {
    return true;
  }
  return client->has_silent &&
         tavola_mc_server_of(client->client, key, len, &server) == TAVOLA_MC_OK &&
         client->is_silent[server];
}

static tavola_mc_status add_count(tavola_mc_batch *batch, enum tvf_verb verb, const char *key,
                                  size_t len, uint64_t by, bool silent) {
  tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
  how.no_reply = silent;
  return verb == TVF_INCR ? tavola_mc_batch_incr(batch, key, len, by, &how)
                          : tavola_mc_batch_decr(batch, key, len, by, &how);
}

static tavola_mc_status add_read(tavola_mc_batch *batch, enum tvf_verb verb, const char *key,
                                 size_t len, int32_t exptime) {
  switch (verb) {
    case TVF_GET:
      return tavola_mc_batch_get(batch, key, len);
    case TVF_GAT:
      return tavola_mc_batch_get_and_touch(batch, key, len, exptime);
    case TVF_GATS:
      return tavola_mc_batch_gets_and_touch(batch, key, len, exptime);
    default:
      return tavola_mc_batch_gets(batch, key, len);
  }
}

static tavola_mc_status add_store(tavola_mc_batch *batch, enum tvf_verb verb, const char *key,
                                  size_t len, const tvf_call *call, bool silent) {
  tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
  const char *value = SvPVX_const(call->value);
  size_t value_len = SvCUR(call->value);
  how.flags = call->flags;
  how.exptime = call->exptime;
  how.no_reply = silent;
  switch (verb) {
    case TVF_SET:
      return tavola_mc_batch_set(batch, key, len, value, value_len, &how);
    case TVF_ADD:
      return tavola_mc_batch_add(batch, key, len, value, value_len, &how);
    case TVF_REPLACE:
      return tavola_mc_batch_replace(batch, key, len, value, value_len, &how);
    case TVF_APPEND:
      return tavola_mc_batch_append(batch, key, len, value, value_len, &how);
    case TVF_PREPEND:
      return tavola_mc_batch_prepend(batch, key, len, value, value_len, &how);
    default:
      return tavola_mc_batch_cas(batch, key, len, value, value_len, call->number, &how);
  }
}

/* Adds the request of a call to the batch. */
static tavola_mc_status add(tvf_handle *handle, enum tvf_verb verb, const tvf_call *call,
                            size_t *used, bool is_void) {
  size_t len;
  const char *key = whole_key(handle, call->key, used, &len);
  bool silent = is_void && verb < TVF_GET && is_silent(handle, key, len);
  handle->may_hold |= silent;
  if (verb >= TVF_GET) {
    return add_read(handle->batch, verb, key, len, call->exptime);
  }
  if (verb <= TVF_CAS) {
    return add_store(handle->batch, verb, key, len, call, silent);
  }
  if (verb == TVF_DELETE) {
    return tavola_mc_batch_delete(handle->batch, key, len, silent);
  }
  if (verb == TVF_TOUCH) {
    return tavola_mc_batch_touch(handle->batch, key, len, call->exptime, silent);
  }
  return add_count(handle->batch, verb, key, len, call->number, silent);
}

/* Returns a new scalar with the bytes of an answer. Long ones are not copied. */
static SV *string_of(pTHX_ tvf_answer *answer) {
  SV *made;
  if (answer->heap == NULL) {
    return newSVpvn(answer->small, answer->len);
  }
#if defined(PERL_TRACK_MEMPOOL) || defined(MYMALLOC)
  made = newSVpvn(answer->heap, answer->len);
  PerlMem_free(answer->heap);
#else
  made = newSV_type(SVt_PV);
  answer->heap[answer->len] = '\0';
  SvPV_set(made, answer->heap);
  SvCUR_set(made, answer->len);
  SvLEN_set(made, answer->len + 1);
  SvPOK_only(made);
#endif
  answer->heap = NULL;
  return made;
}

/* Moves what was answered from the handle to the calls. */
static void collect(pTHX_ tvf_handle *handle, tvf_call *calls, size_t count, bool reads) {
  size_t i;
  for (i = 0; i < count; i++) {
    tvf_call *call = &calls[i];
    tvf_answer *answer;
    if (reads) {
      call->value = NULL;
    }
    if (call->is_left_out) {
      continue;
    }
    answer = &handle->answers[call->request];
    call->status = answer->status;
    call->flags = answer->flags;
    call->number = answer->number;
    if (reads && answer->status == TAVOLA_MC_HIT) {
      call->value = sv_2mortal(string_of(aTHX_ answer));
    }
    PerlMem_free(answer->heap);
    answer->heap = NULL;
  }
}

static void prepare(pTHX_ tvf_handle *handle, const tvf_call *calls, size_t count) {
  free(handle->why);
  handle->why = NULL;
  if (handle->batch == NULL &&
      tavola_mc_batch_new(handle->client->client, &handle->batch) != TAVOLA_MC_OK) {
    croak("%s", tavola_mc_last_error());
  }
  tavola_mc_batch_clear(handle->batch);
  if (handle->prefix_len > 0) {
    make_keys_room(aTHX_ handle, calls, count);
  }
}

/* Executes calls, and writes to them what was answered. */
void tvf_execute(pTHX_ tvf_handle *handle, enum tvf_verb verb, tvf_call *calls, size_t count,
                 bool is_void) {
  tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
  size_t i, used = 0;
  prepare(aTHX_ handle, calls, count);
  for (i = 0; i < count; i++) {
    tavola_mc_status status;
    if (calls[i].is_left_out) {
      keep_why(handle, calls[i].why);
      continue;
    }
    status = add(handle, verb, &calls[i], &used, is_void);
    if (status < 0) {
      calls[i].is_left_out = true;
      calls[i].status = status;
      keep_why(handle, tavola_mc_last_error());
      continue;
    }
    calls[i].request = tavola_mc_batch_len(handle->batch) - 1;
  }
  expect(aTHX_ handle, tavola_mc_batch_len(handle->batch));
  sink.room = room;
  sink.done = done;
  sink.user = handle;
  if (tavola_mc_batch_len(handle->batch) > 0 &&
      tavola_mc_batch_execute(handle->batch, &sink) < 0) {
    keep_why(handle, tavola_mc_last_error());
  }
  collect(aTHX_ handle, calls, count, verb >= TVF_GET);
}

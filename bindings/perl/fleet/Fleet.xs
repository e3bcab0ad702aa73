/* The methods of Tavola::Memcached::Fleet that are C: see fleet.h for how they work. */
#include "fleet.h"

#include <string.h>

/* The one symbol that Perl looks for; all others are hidden. */
__attribute__((visibility("default"))) XS_EXTERNAL(boot_Tavola__Memcached__Fleet);

/* Returns what a method that changes something returns: 1, a number, '' or undef. */
static SV *result_of(pTHX_ const tvf_call *call) {
  switch (call->status) {
    case TAVOLA_MC_STORED:
    case TAVOLA_MC_DELETED:
    case TAVOLA_MC_TOUCHED:
    case TAVOLA_MC_QUEUED:
      return newSViv(1);
    case TAVOLA_MC_COUNT:
      return call->number != 0 ? newSVuv((UV)call->number) : newSVpvs("0E0");
    case TAVOLA_MC_NOT_STORED:
    case TAVOLA_MC_EXISTS:
    case TAVOLA_MC_MISS:
      return newSVpvs("");
    default:
      return newSV(0);
  }
}

/* Returns what a method that reads returns as a new scalar, or NULL for nothing. */
static SV *value_of(pTHX_ SV *self, const tvf_handle *handle, enum tvf_verb verb,
                    const tvf_call *call) {
  SV *value = tvf_decode(aTHX_ self, handle, call);
  AV *both;
  if (value == NULL || verb == TVF_GET || verb == TVF_GAT) {
    return SvREFCNT_inc(value);
  }
  both = newAV();
  av_push(both, newSVuv((UV)call->number));
  av_push(both, SvREFCNT_inc_simple_NN(value));
  return newRV_noinc((SV *)both);
}

/* Returns memory for so many calls, which is freed with the statement. */
static tvf_call *calls_for(pTHX_ size_t count) {
  SV *memory = sv_2mortal(newSV(count * sizeof(tvf_call) + 1));
  memset(SvPVX(memory), 0, count * sizeof(tvf_call));
  return (tvf_call *)SvPVX(memory);
}

/* Sets by how much a call counts. */
static void read_step(pTHX_ tvf_call *call, SV *by) {
  SvGETMAGIC(by);
  if (!SvOK(by)) {
    call->number = 1;
    return;
  }
  if (SvNV_nomg(by) < 0) {
    call->is_left_out = true;
    call->status = TAVOLA_MC_ERR_ARGUMENT;
    call->why = "a counter changes by a positive number; call decr to subtract";
    return;
  }
  call->number = (uint64_t)SvUV_nomg(by);
}

/* The least number of items in the list that is an argument of a method for many keys. */
static size_t least_items(enum tvf_verb verb) {
  return verb == TVF_CAS ? 3 : verb < TVF_CAS ? 2 : 1;
}

/* Sets a call from the items after the key. */
static void read_items(pTHX_ SV *self, const tvf_handle *handle, enum tvf_verb verb,
                       tvf_call *call, SV **items, size_t count) {
  SV *last = count > least_items(verb) ? items[least_items(verb)] : &PL_sv_undef;
  tvf_key(aTHX_ call, items[0]);
  if (verb == TVF_CAS) {
    call->number = (uint64_t)SvUV(items[1]);
  }
  if (verb <= TVF_CAS) {
    call->exptime = tvf_exptime(aTHX_ last);
    tvf_encode(aTHX_ self, handle, verb, call, items[least_items(verb) - 1]);
  } else if (verb == TVF_TOUCH) {
    call->exptime = tvf_exptime(aTHX_ last);
  } else if (verb != TVF_DELETE) {
    read_step(aTHX_ call, last);
  }
}

/* Sets a call from an argument of a method for many keys: a list, or a key alone. The list is
 * copied, because what Perl code does with it meanwhile must not free its items. */
static void read_argument(pTHX_ SV *self, const tvf_handle *handle, enum tvf_verb verb,
                          tvf_call *call, SV *argument) {
  SV *items[4];
  AV *list;
  SSize_t i, count;
  SvGETMAGIC(argument);
  if (!SvROK(argument) || SvTYPE(SvRV(argument)) != SVt_PVAV) {
    if (verb <= TVF_CAS) {
      tvf_wrong(aTHX_ "each argument must be a list of a key, a value and perhaps more");
    }
    read_items(aTHX_ self, handle, verb, call, &argument, 1);
    return;
  }
  list = (AV *)SvRV(argument);
  count = av_len(list) + 1;
  if (count < (SSize_t)least_items(verb)) {
    tvf_wrong(aTHX_ "a list must have a key, and a value if one is stored");
  }
  count = count > 4 ? 4 : count;
  for (i = 0; i < count; i++) {
    SV **item = av_fetch(list, i, 0);
    items[i] = item != NULL ? sv_2mortal(SvREFCNT_inc_simple_NN(*item)) : &PL_sv_undef;
  }
  read_items(aTHX_ self, handle, verb, call, items, (size_t)count);
}

/* Returns the results by key. */
static SV *results_by_key(pTHX_ const tvf_call *calls, size_t count) {
  HV *made = (HV *)sv_2mortal((SV *)newHV());
  size_t i;
  for (i = 0; i < count; i++) {
    SV *result = result_of(aTHX_ &calls[i]);
    if (hv_store_ent(made, calls[i].key, result, 0) == NULL) {
      SvREFCNT_dec(result);
    }
  }
  return sv_2mortal(newRV_inc((SV *)made));
}

/* Reads the keys, and returns the values that there are by key. */
static SV *values_by_key(pTHX_ SV *self, tvf_handle *handle, enum tvf_verb verb, tvf_call *calls,
                         size_t count) {
  HV *made = (HV *)sv_2mortal((SV *)newHV());
  size_t i;
  tvf_execute(aTHX_ handle, verb, calls, count, false);
  for (i = 0; i < count; i++) {
    SV *value = value_of(aTHX_ self, handle, verb, &calls[i]);
    if (value != NULL && hv_store_ent(made, calls[i].key, value, 0) == NULL) {
      SvREFCNT_dec(value);
    }
  }
  return sv_2mortal(newRV_inc((SV *)made));
}

/* Writes what each server answered to a hash: undef if it has failed. */
typedef struct tvf_answers {
  char **texts;
  size_t count;
  tvf_handle *handle;
} tvf_answers;

static void keep_answer(void *user, size_t server, const char *name, int32_t status,
                        const char *text) {
  tvf_answers *answers = (tvf_answers *)user;
  PERL_UNUSED_ARG(name);
  if (server < answers->count && status == TAVOLA_MC_OK) {
    answers->texts[server] = strdup(text);
  } else if (answers->handle->why == NULL) {
    answers->handle->why = strdup(text);
  }
}

/* Calls a function of the library that asks all servers. Returns a list of what they answered. */
static SV *ask_servers(pTHX_ tvf_handle *handle, bool is_flush, uint32_t delay_s) {
  tavola_mc_client *client = handle->client->client;
  size_t i, count = tavola_mc_server_count(client);
  SV *memory = sv_2mortal(newSV(count * sizeof(char *) + 1));
  tvf_answers answers = {(char **)SvPVX(memory), count, handle};
  AV *made = (AV *)sv_2mortal((SV *)newAV());
  free(handle->why);
  handle->why = NULL;
  memset(answers.texts, 0, count * sizeof(char *));
  if (is_flush) {
    tavola_mc_flush_all(client, delay_s, keep_answer, &answers);
  } else {
    tavola_mc_versions(client, keep_answer, &answers);
  }
  for (i = 0; i < count; i++) {
    av_push(made, answers.texts[i] != NULL ? newSVpv(answers.texts[i], 0) : newSV(0));
    free(answers.texts[i]);
  }
  return sv_2mortal(newRV_inc((SV *)made));
}

static uint32_t milliseconds(UV number) {
  return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* Makes a client, or throws the sentence of the library. `silent` says of each server whether calls
 * in void context need no answer. */
static tvf_client *open_client(pTHX_ const char *servers, const tavola_mc_options *options,
                               AV *silent) {
  size_t i, count = (size_t)(av_len(silent) + 1);
  tvf_client *made = calloc(1, sizeof *made + count * sizeof(bool));
  if (made == NULL) {
    croak("Tavola::Memcached: no memory for a client");
  }
  made->refs = 1;
  if (tavola_mc_open(servers, options, &made->client) != TAVOLA_MC_OK) {
    free(made);
    tvf_wrong(aTHX_ tavola_mc_last_error());
  }
  for (i = 0; i < count; i++) {
    SV **one = av_fetch(silent, (SSize_t)i, 0);
    made->is_silent[i] = one != NULL && SvTRUE(*one);
    made->has_silent |= made->is_silent[i];
  }
  return made;
}

MODULE = Tavola::Memcached::Fleet    PACKAGE = Tavola::Memcached::Client

PROTOTYPES: DISABLE

SV *
_open(const char *class_name, const char *servers, SV *name_space, bool is_hashed, UV points, \
      UV connect_ms, UV io_ms, UV max_failures, UV failure_ms, SV *near, UV near_ms, AV *silent)
  PREINIT:
    tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
    STRLEN len;
  CODE:
    options.placement = TAVOLA_MC_PLACEMENT_FAST;
    options.points = milliseconds(points);
    options.name_space = SvPV_const(name_space, len);
    options.name_space_len = len;
    options.hash_name_space = is_hashed;
    options.connect_timeout_ms = milliseconds(connect_ms);
    options.io_timeout_ms = milliseconds(io_ms);
    options.max_failures = milliseconds(max_failures);
    options.failure_timeout_ms = milliseconds(failure_ms);
    options.retry_ms = milliseconds(failure_ms);
    options.near = SvPV_nolen_const(near);
    options.near_ttl_ms = milliseconds(near_ms);
    RETVAL = newRV_noinc((SV *)newHV());
    tvf_attach(aTHX_ SvRV(RETVAL), &tvf_client_vtbl,
               open_client(aTHX_ servers, &options, silent));
    sv_bless(RETVAL, gv_stashpv(class_name, GV_ADD));
  OUTPUT:
    RETVAL

MODULE = Tavola::Memcached::Fleet    PACKAGE = Tavola::Memcached::Fleet

void
_begin(SV *self, SV *client)
  PREINIT:
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_make(tvf_client_of(aTHX_ client));
    if (handle == NULL) {
      croak("Tavola::Memcached: no memory for a handle");
    }
    tvf_attach(aTHX_ SvRV(self), &tvf_handle_vtbl, handle);

void
_use(SV *self, SV *client)
  CODE:
    tvf_use(tvf_handle_of(aTHX_ self), tvf_client_of(aTHX_ client));

void
_set_prefix(SV *self, SV *prefix)
  PREINIT:
    tvf_handle *handle;
    const char *data;
    STRLEN len;
    char *copy;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    data = SvPV_const(prefix, len);
    copy = malloc(len + 1);
    if (copy == NULL) {
      croak("Tavola::Memcached: no memory for a name space");
    }
    memcpy(copy, data, len);
    free(handle->prefix);
    handle->prefix = copy;
    handle->prefix_len = len;

void
_set_limits(SV *self, IV threshold, UV max_size, bool is_utf8, bool is_nowait)
  PREINIT:
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    handle->threshold = threshold > 0 ? (size_t)threshold : SIZE_MAX;
    handle->max_size = max_size;
    handle->is_utf8 = is_utf8;
    handle->is_nowait = is_nowait;

void
set(SV *self, SV *key, SV *value, SV *exptime = &PL_sv_undef)
  ALIAS:
    add = TVF_ADD
    replace = TVF_REPLACE
    append = TVF_APPEND
    prepend = TVF_PREPEND
  PREINIT:
    tvf_call call = {0};
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    tvf_key(aTHX_ &call, key);
    call.exptime = tvf_exptime(aTHX_ exptime);
    tvf_encode(aTHX_ self, handle, (enum tvf_verb)ix, &call, value);
    tvf_execute(aTHX_ handle, (enum tvf_verb)ix, &call, 1, GIMME_V == G_VOID);
    ST(0) = sv_2mortal(result_of(aTHX_ &call));
    XSRETURN(1);

void
cas(SV *self, SV *key, SV *token, SV *value, SV *exptime = &PL_sv_undef)
  PREINIT:
    tvf_call call = {0};
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    tvf_key(aTHX_ &call, key);
    call.number = (uint64_t)SvUV(token);
    call.exptime = tvf_exptime(aTHX_ exptime);
    tvf_encode(aTHX_ self, handle, TVF_CAS, &call, value);
    tvf_execute(aTHX_ handle, TVF_CAS, &call, 1, GIMME_V == G_VOID);
    ST(0) = sv_2mortal(result_of(aTHX_ &call));
    XSRETURN(1);

void
incr(SV *self, SV *key, SV *option = &PL_sv_undef)
  ALIAS:
    incr = TVF_INCR
    decr = TVF_DECR
    touch = TVF_TOUCH
    delete = TVF_DELETE
  PREINIT:
    tvf_call call = {0};
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    tvf_key(aTHX_ &call, key);
    if (ix == TVF_TOUCH) {
      call.exptime = tvf_exptime(aTHX_ option);
    } else if (ix != TVF_DELETE) {
      read_step(aTHX_ &call, option);
    }
    tvf_execute(aTHX_ handle, (enum tvf_verb)ix, &call, 1, GIMME_V == G_VOID);
    ST(0) = sv_2mortal(result_of(aTHX_ &call));
    XSRETURN(1);

void
set_multi(SV *self, ...)
  ALIAS:
    add_multi = TVF_ADD
    replace_multi = TVF_REPLACE
    append_multi = TVF_APPEND
    prepend_multi = TVF_PREPEND
    cas_multi = TVF_CAS
    incr_multi = TVF_INCR
    decr_multi = TVF_DECR
    delete_multi = TVF_DELETE
    touch_multi = TVF_TOUCH
  PREINIT:
    tvf_handle *handle;
    tvf_call *calls;
    size_t i, count;
    U8 context = GIMME_V;
  PPCODE:
    handle = tvf_handle_of(aTHX_ self);
    count = (size_t)items - 1;
    calls = calls_for(aTHX_ count);
    for (i = 0; i < count; i++) {
      read_argument(aTHX_ self, handle, (enum tvf_verb)ix, &calls[i], ST(i + 1));
    }
    tvf_execute(aTHX_ handle, (enum tvf_verb)ix, calls, count, context == G_VOID);
    /* Perl code may have moved the stack. */
    SP = PL_stack_base + ax - 1;
    if (context == G_ARRAY) {
      EXTEND(SP, (SSize_t)count);
      for (i = 0; i < count; i++) {
        mPUSHs(result_of(aTHX_ &calls[i]));
      }
    } else if (context != G_VOID) {
      XPUSHs(results_by_key(aTHX_ calls, count));
    }

void
get(SV *self, SV *key)
  ALIAS:
    get = TVF_GET
    gets = TVF_GETS
  PREINIT:
    tvf_call call = {0};
    tvf_handle *handle;
    SV *value;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    tvf_key(aTHX_ &call, key);
    tvf_execute(aTHX_ handle, (enum tvf_verb)ix, &call, 1, false);
    value = value_of(aTHX_ self, handle, (enum tvf_verb)ix, &call);
    if (value == NULL) {
      XSRETURN_EMPTY;
    }
    ST(0) = sv_2mortal(value);
    XSRETURN(1);

void
gat(SV *self, SV *exptime, SV *key)
  ALIAS:
    gat = TVF_GAT
    gats = TVF_GATS
  PREINIT:
    tvf_call call = {0};
    tvf_handle *handle;
    SV *value;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    call.exptime = tvf_exptime(aTHX_ exptime);
    tvf_key(aTHX_ &call, key);
    tvf_execute(aTHX_ handle, (enum tvf_verb)ix, &call, 1, false);
    value = value_of(aTHX_ self, handle, (enum tvf_verb)ix, &call);
    if (value == NULL) {
      XSRETURN_EMPTY;
    }
    ST(0) = sv_2mortal(value);
    XSRETURN(1);

SV *
get_multi(SV *self, ...)
  ALIAS:
    get_multi = TVF_GET
    gets_multi = TVF_GETS
    gat_multi = TVF_GAT
    gats_multi = TVF_GATS
  PREINIT:
    tvf_handle *handle;
    tvf_call *calls;
    size_t i, count, first;
    int32_t exptime = 0;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    first = ix == TVF_GAT || ix == TVF_GATS ? 2 : 1;
    count = (size_t)items > first ? (size_t)items - first : 0;
    if (first == 2 && items > 1) {
      exptime = tvf_exptime(aTHX_ ST(1));
    }
    calls = calls_for(aTHX_ count);
    for (i = 0; i < count; i++) {
      tvf_key(aTHX_ &calls[i], ST(i + first));
      calls[i].exptime = exptime;
    }
    RETVAL = SvREFCNT_inc(values_by_key(aTHX_ self, handle, (enum tvf_verb)ix, calls, count));
  OUTPUT:
    RETVAL

void
_flush_all(SV *self, UV delay_s)
  PPCODE:
    XPUSHs(ask_servers(aTHX_ tvf_handle_of(aTHX_ self), true, milliseconds(delay_s)));

void
_versions(SV *self)
  PPCODE:
    XPUSHs(ask_servers(aTHX_ tvf_handle_of(aTHX_ self), false, 0));

void
nowait_push(SV *self)
  PREINIT:
    tvf_handle *handle;
  CODE:
    handle = tvf_handle_of(aTHX_ self);
    if (handle->may_hold) {
      handle->may_hold = tavola_mc_flush(handle->client->client) != TAVOLA_MC_OK;
    }

void
last_error(SV *self)
  PREINIT:
    tvf_handle *handle;
  PPCODE:
    handle = tvf_handle_of(aTHX_ self);
    if (handle->why != NULL) {
      mXPUSHs(newSVpvn_utf8(handle->why, strlen(handle->why), 1));
    } else {
      XPUSHs(&PL_sv_undef);
    }

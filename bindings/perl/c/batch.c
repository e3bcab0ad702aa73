/*
 * Many keys in one call.
 *
 * The callback of the library only copies bytes to plain memory. The Perl values are built when the
 * library has returned, because a serializer may throw.
 */
#include "tvl.h"

#include <string.h>

typedef struct found {
  size_t at;
  size_t len;
  uint32_t flags;
  bool is_there;
} found;

typedef struct gathered {
  found *values;
  char *bytes;
  size_t used;
  size_t room;
  bool has_failed;
} gathered;

static void free_gathered(pTHX_ void *user) {
  gathered *all = (gathered *)user;
  PERL_UNUSED_CONTEXT;
  free(all->bytes);
  free(all->values);
  free(all);
}

static bool make_room(gathered *all, size_t len) {
  size_t room = all->room;
  char *bytes;
  if (all->room - all->used >= len) {
    return true;
  }
  while (room - all->used < len) {
    room = room < 4096 ? 4096 : room * 2;
  }
  bytes = realloc(all->bytes, room);
  if (bytes == NULL) {
    return false;
  }
  all->bytes = bytes;
  all->room = room;
  return true;
}

static void gather(void *user, size_t index, const void *value, size_t len,
                   const tavola_attributes *attributes) {
  gathered *all = (gathered *)user;
  if (value == NULL) {
    return;
  }
  if (!make_room(all, len)) {
    all->has_failed = true;
    return;
  }
  if (len != 0) {
    memcpy(all->bytes + all->used, value, len);
  }
  all->values[index].at = all->used;
  all->values[index].len = len;
  all->values[index].flags = attributes->flags;
  all->values[index].is_there = true;
  all->used += len;
}

static gathered *new_gathered(pTHX_ size_t count) {
  gathered *all = calloc(1, sizeof *all);
  if (all != NULL) {
    all->values = calloc(count + 1, sizeof *all->values);
  }
  if (all == NULL || all->values == NULL) {
    free(all);
    croak("Tavola: no memory for the values of %lu keys", (unsigned long)count);
  }
  SAVEDESTRUCTOR_X(free_gathered, all);
  return all;
}

/* Returns memory that is freed at the end of the statement. */
static void *scratch(pTHX_ size_t bytes) {
  return SvPVX(sv_2mortal(newSV(bytes + 1)));
}

/* Returns the bytes of keys, until the end of the statement. */
static tavola_bytes *bytes_of_keys(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  tavola_bytes *names = scratch(aTHX_ (size_t)(count + 1) * sizeof *names);
  I32 i;
  for (i = 0; i < count; i++) {
    const char *data;
    STRLEN len;
    tvl_key(aTHX_ handle, keys[i], &data, &len);
    names[i].data = data;
    names[i].len = len;
  }
  return names;
}

/* Reads all keys into plain memory, which is freed by the caller's LEAVE. */
static gathered *read_all(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  gathered *all = new_gathered(aTHX_ (size_t)count);
  tavola_bytes *names = bytes_of_keys(aTHX_ handle, keys, count);
  tavola_status status =
      tavola_get_many_entries(handle->table, names, (size_t)count, gather, all);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  if (all->has_failed) {
    croak("Tavola: no memory for the values of %ld keys", (long)count);
  }
  return all;
}

/* Returns a new scalar with a value that was read, or NULL. */
static SV *value_of(pTHX_ tvl_handle *handle, const gathered *all, I32 index) {
  const found *one = &all->values[index];
  if (!one->is_there) {
    return NULL;
  }
  return tvl_decode_copy(aTHX_ handle, all->bytes != NULL ? all->bytes + one->at : "", one->len,
                         one->flags);
}

/* Returns a new hash of the keys that exist. */
HV *tvl_get_many(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  HV *made = (HV *)sv_2mortal((SV *)newHV());
  gathered *all;
  I32 i;
  ENTER;
  all = read_all(aTHX_ handle, keys, count);
  if (count > 8) {
    hv_ksplit(made, (IV)count);
  }
  for (i = 0; i < count; i++) {
    SV *value = value_of(aTHX_ handle, all, i);
    if (value != NULL && hv_store_ent(made, keys[i], value, 0) == NULL) {
      SvREFCNT_dec(value);
    }
  }
  LEAVE;
  return (HV *)SvREFCNT_inc_simple_NN((SV *)made);
}

/* Replaces each key of a list by a mortal with its value, or by `undef`. */
void tvl_get_list(pTHX_ tvl_handle *handle, SV **keys, SV **values, I32 count) {
  gathered *all;
  I32 i;
  ENTER;
  all = read_all(aTHX_ handle, keys, count);
  for (i = 0; i < count; i++) {
    SV *value = value_of(aTHX_ handle, all, i);
    values[i] = value != NULL ? sv_2mortal(value) : &PL_sv_undef;
  }
  LEAVE;
}

/* Removes keys, and returns how many existed. */
uint64_t tvl_delete_many(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  tavola_bytes *names = bytes_of_keys(aTHX_ handle, keys, count);
  uint64_t removed = 0;
  tavola_status status = tavola_remove_many(handle->table, names, (size_t)count, &removed);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
  return removed;
}

/* Sets the bytes of a key of a hash. Perl keeps some text keys as Latin-1, and notes that. */
static void key_of_entry(pTHX_ const tvl_handle *handle, HE *entry, const char **data,
                         STRLEN *len) {
  if (HeKLEN(entry) != HEf_SVKEY && !HeKWASUTF8(entry) && !handle->has_text_keys) {
    *data = HeKEY(entry);
    *len = (STRLEN)HeKLEN(entry);
    return;
  }
  tvl_key(aTHX_ handle, sv_2mortal(newSVsv(hv_iterkeysv(entry))), data, len);
}

/* The longest number that is written. */
#define DIGITS sizeof(((tvl_bytes *)NULL)->digits)

/* The keys and values of one call, and the kinds of the values. */
typedef struct batch {
  tvl_handle *handle;
  tavola_pair *pairs;
  uint32_t *kinds;
  char (*digits)[DIGITS]; /* Of numbers; NULL until the first one. */
  size_t room;
  size_t count;
  bool is_mixed; /* The values are of several kinds. */
} batch;

static void begin(pTHX_ batch *all, size_t room) {
  all->pairs = scratch(aTHX_ (room + 1) * sizeof *all->pairs);
  all->kinds = scratch(aTHX_ (room + 1) * sizeof *all->kinds);
  all->room = room;
}

/* Sets the bytes of the last pair to those of a value, and returns its kind. */
static uint32_t set_value(pTHX_ batch *all, SV *value) {
  size_t last = all->count - 1;
  tavola_bytes *to = &all->pairs[last].value;
  tvl_bytes bytes;
  tvl_encode(aTHX_ all->handle, value, &bytes);
  to->data = bytes.data;
  to->len = bytes.len;
  if (bytes.data == bytes.digits) {
    if (all->digits == NULL) {
      all->digits = scratch(aTHX_ all->room * sizeof *all->digits);
    }
    to->data = memcpy(all->digits[last], bytes.digits, bytes.len);
  }
  return bytes.flags;
}

static inline void add_pair(pTHX_ batch *all, const char *key, STRLEN len, SV *value) {
  tavola_pair *pair = &all->pairs[all->count];
  uint32_t *kind = &all->kinds[all->count++];
  pair->key.data = key;
  pair->key.len = len;
  if (LIKELY(tvl_is_plain_bytes(value))) {
    pair->value.data = SvPVX_const(value);
    pair->value.len = SvCUR(value);
    *kind = TVL_BYTES;
  } else {
    *kind = set_value(aTHX_ all, value);
  }
  all->is_mixed |= *kind != all->kinds[0];
}

static void add_hash(pTHX_ batch *all, HV *values) {
  HE *entry;
  size_t room;
  if (SvRMAGICAL(values)) {
    /* A tied hash does not know how many keys it has. */
    values = (HV *)sv_2mortal((SV *)newHVhv(values));
  }
  room = (size_t)HvUSEDKEYS(values);
  begin(aTHX_ all, room);
  hv_iterinit(values);
  while (all->count < room && (entry = hv_iternext(values)) != NULL) {
    const char *data;
    STRLEN len;
    key_of_entry(aTHX_ all->handle, entry, &data, &len);
    add_pair(aTHX_ all, data, len, hv_iterval(values, entry));
  }
}

/* Returns an item of a list. A serializer, or the magic of an item, may change the list. */
static inline SV *item_of(pTHX_ AV *list, SSize_t i) {
  SV **item;
  if (LIKELY(!SvRMAGICAL(list) && i <= AvFILLp(list))) {
    return AvARRAY(list)[i];
  }
  item = av_fetch(list, i, 0);
  return item != NULL ? *item : NULL;
}

static void add_list(pTHX_ batch *all, AV *pairs) {
  SSize_t count = av_len(pairs) + 1, i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "a list of keys and values has a value for each key");
  }
  begin(aTHX_ all, (size_t)count / 2);
  for (i = 0; i < count; i += 2) {
    SV *key = item_of(aTHX_ pairs, i), *value = item_of(aTHX_ pairs, i + 1);
    const char *data = "";
    STRLEN len = 0;
    if (key != NULL) {
      tvl_key(aTHX_ all->handle, key, &data, &len);
    }
    add_pair(aTHX_ all, data, len, value != NULL ? value : &PL_sv_undef);
  }
}

/* Stores pairs of several kinds, or with tags. Returns the status of the library. */
static tavola_status store_entries(pTHX_ const batch *all, const tvl_write *write) {
  tavola_entry *entries = scratch(aTHX_ (all->count + 1) * sizeof *entries);
  tavola_attributes *attributes = scratch(aTHX_ (all->count + 1) * sizeof *attributes);
  size_t i;
  for (i = 0; i < all->count; i++) {
    entries[i].key = all->pairs[i].key;
    entries[i].value = all->pairs[i].value;
    entries[i].attributes = NULL;
    if (write->has_time || all->kinds[i] != TVL_BYTES) {
      attributes[i] = write->attributes;
      attributes[i].flags = all->kinds[i];
      entries[i].attributes = &attributes[i];
    }
  }
  return write->has_tags
             ? tavola_set_many_tagged(all->handle->table, entries, all->count, &write->tags)
             : tavola_set_many_entries(all->handle->table, entries, all->count);
}

/* Stores pairs of one kind. Returns the status of the library. */
static tavola_status store_pairs(const batch *all, const tvl_write *write) {
  tavola_attributes attributes = write->attributes;
  attributes.flags = all->count != 0 ? all->kinds[0] : TVL_BYTES;
  return tavola_set_many_with(all->handle->table, all->pairs, all->count,
                              write->has_time || attributes.flags != TVL_BYTES ? &attributes
                                                                               : NULL);
}

/* Sets the keys of a hash, or of a list of keys and values, all with the same time and tags. */
void tvl_set_many(pTHX_ tvl_handle *handle, SV *values, const tvl_write *write) {
  batch all = {0};
  tavola_status status;
  all.handle = handle;
  if (SvROK(values) && SvTYPE(SvRV(values)) == SVt_PVHV) {
    add_hash(aTHX_ &all, (HV *)SvRV(values));
  } else if (SvROK(values) && SvTYPE(SvRV(values)) == SVt_PVAV) {
    add_list(aTHX_ &all, (AV *)SvRV(values));
  } else {
    tvl_argument(aTHX_ "set_multi needs a reference to a hash, or to a list of keys and values");
  }
  status = all.is_mixed || write->has_tags ? store_entries(aTHX_ &all, write)
                                           : store_pairs(&all, write);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
}

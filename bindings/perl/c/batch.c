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

/* The keys and values of one call. */
typedef struct batch {
  tvl_handle *handle;
  const tvl_write *write;
  tavola_entry *entries;
  tavola_attributes *attributes;
  size_t count;
} batch;

static void begin(pTHX_ batch *all, size_t room) {
  all->entries = scratch(aTHX_ (room + 1) * sizeof *all->entries);
  all->attributes = scratch(aTHX_ (room + 1) * sizeof *all->attributes);
  all->count = 0;
}

static void add_pair(pTHX_ batch *all, const char *key, STRLEN len, SV *value) {
  tavola_entry *entry = &all->entries[all->count];
  tavola_attributes *attributes = &all->attributes[all->count++];
  tvl_bytes bytes;
  tvl_encode(aTHX_ all->handle, value, &bytes);
  if (bytes.data == bytes.digits) {
    bytes.data = SvPVX(newSVpvn_flags(bytes.data, bytes.len, SVs_TEMP));
  }
  entry->key.data = key;
  entry->key.len = len;
  entry->value.data = bytes.data;
  entry->value.len = bytes.len;
  entry->attributes = NULL;
  if (all->write->has_time || bytes.flags != 0) {
    *attributes = all->write->attributes;
    attributes->flags = bytes.flags;
    entry->attributes = attributes;
  }
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

static void add_list(pTHX_ batch *all, AV *pairs) {
  SSize_t count = av_len(pairs) + 1, i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "a list of keys and values has a value for each key");
  }
  begin(aTHX_ all, (size_t)count / 2);
  for (i = 0; i < count; i += 2) {
    SV **key = av_fetch(pairs, i, 0), **value = av_fetch(pairs, i + 1, 0);
    const char *data = "";
    STRLEN len = 0;
    if (key != NULL) {
      tvl_key(aTHX_ all->handle, *key, &data, &len);
    }
    add_pair(aTHX_ all, data, len, value != NULL ? *value : &PL_sv_undef);
  }
}

/* Sets the keys of a hash, or of a list of keys and values, all with the same time and tags. */
void tvl_set_many(pTHX_ tvl_handle *handle, SV *values, const tvl_write *write) {
  batch all = {handle, write, NULL, NULL, 0};
  tavola_status status;
  if (SvROK(values) && SvTYPE(SvRV(values)) == SVt_PVHV) {
    add_hash(aTHX_ &all, (HV *)SvRV(values));
  } else if (SvROK(values) && SvTYPE(SvRV(values)) == SVt_PVAV) {
    add_list(aTHX_ &all, (AV *)SvRV(values));
  } else {
    tvl_argument(aTHX_ "set_multi needs a reference to a hash, or to a list of keys and values");
  }
  status = write->has_tags
               ? tavola_set_many_tagged(handle->table, all.entries, all.count, &write->tags)
               : tavola_set_many_entries(handle->table, all.entries, all.count);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
}

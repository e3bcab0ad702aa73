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

/* Reads all keys into plain memory, which is freed by the caller's LEAVE. */
static gathered *read_all(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  gathered *all = new_gathered(aTHX_ (size_t)count);
  tavola_bytes *names = scratch(aTHX_ (size_t)(count + 1) * sizeof *names);
  tavola_status status;
  I32 i;
  for (i = 0; i < count; i++) {
    const char *data;
    STRLEN len;
    tvl_key(aTHX_ handle, keys[i], &data, &len);
    names[i].data = data;
    names[i].len = len;
  }
  status = tavola_get_many_entries(handle->table, names, (size_t)count, gather, all);
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

/* Sets the keys of a hash, all with the same time. */
void tvl_set_many(pTHX_ tvl_handle *handle, HV *values, const tvl_write *write) {
  size_t count, at = 0;
  tavola_entry *entries;
  tavola_attributes *each;
  HE *entry;
  tavola_status status;
  if (SvRMAGICAL(values)) {
    /* A tied hash does not know how many keys it has. */
    values = (HV *)sv_2mortal((SV *)newHVhv(values));
  }
  count = (size_t)HvUSEDKEYS(values);
  entries = scratch(aTHX_ (count + 1) * sizeof *entries);
  each = scratch(aTHX_ (count + 1) * sizeof *each);
  hv_iterinit(values);
  while (at < count && (entry = hv_iternext(values)) != NULL) {
    tvl_bytes bytes;
    const char *data;
    STRLEN len;
    key_of_entry(aTHX_ handle, entry, &data, &len);
    tvl_encode(aTHX_ handle, hv_iterval(values, entry), &bytes);
    if (bytes.data == bytes.digits) {
      bytes.data = SvPVX(newSVpvn_flags(bytes.data, bytes.len, SVs_TEMP));
    }
    entries[at].key.data = data;
    entries[at].key.len = len;
    entries[at].value.data = bytes.data;
    entries[at].value.len = bytes.len;
    each[at] = write->attributes;
    each[at].flags = bytes.flags;
    entries[at].attributes = write->has_time || bytes.flags != 0 ? &each[at] : NULL;
    at++;
  }
  status = tavola_set_many_entries(handle->table, entries, at);
  if (status < 0) {
    tvl_throw(aTHX_ status);
  }
}

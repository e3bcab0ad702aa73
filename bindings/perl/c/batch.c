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

/* Returns a new hash of the keys that exist. */
HV *tvl_get_many(pTHX_ tvl_handle *handle, SV **keys, I32 count) {
  HV *made = (HV *)sv_2mortal((SV *)newHV());
  gathered *all;
  tavola_bytes *names;
  tavola_status status;
  I32 i;
  ENTER;
  all = new_gathered(aTHX_ (size_t)count);
  names = scratch(aTHX_ (size_t)(count + 1) * sizeof *names);
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
  for (i = 0; i < count; i++) {
    const found *one = &all->values[i];
    if (one->is_there) {
      SV *value = tvl_decode_copy(aTHX_ handle, all->bytes != NULL ? all->bytes + one->at : "",
                                  one->len, one->flags);
      if (hv_store_ent(made, keys[i], value, 0) == NULL) {
        SvREFCNT_dec(value);
      }
    }
  }
  LEAVE;
  return (HV *)SvREFCNT_inc_simple_NN((SV *)made);
}

/* Sets the keys of a hash, all with the same time. */
void tvl_set_many(pTHX_ tvl_handle *handle, HV *values, const tvl_write *write) {
  size_t count = (size_t)HvUSEDKEYS(values), at = 0;
  tavola_entry *entries = scratch(aTHX_ (count + 1) * sizeof *entries);
  tavola_attributes *each = scratch(aTHX_ (count + 1) * sizeof *each);
  HE *entry;
  tavola_status status;
  hv_iterinit(values);
  while (at < count && (entry = hv_iternext(values)) != NULL) {
    tvl_bytes bytes;
    SV *key = sv_2mortal(newSVsv(hv_iterkeysv(entry)));
    const char *data;
    STRLEN len;
    tvl_key(aTHX_ handle, key, &data, &len);
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

/* Opening a table: its options. */
#include "tvl.h"

#include <grp.h>
#include <math.h>
#include <string.h>

/* Returns a number of bytes, from a number or from text such as `64M`. */
uint64_t tvl_size(pTHX_ SV *value, const char *name) {
  static const char units[] = "KMGT";
  STRLEN len;
  const char *text = SvPV_const(value, len);
  const char *unit = NULL;
  UV number = 0;
  if (len > 1) {
    unit = strchr(units, toUPPER(text[len - 1]));
  }
  if (grok_number(text, unit != NULL ? len - 1 : len, &number) != IS_NUMBER_IN_UV) {
    /* A whole number may be written as a float, such as 1e6. */
    NV float_value = unit == NULL && looks_like_number(value) ? SvNV(value) : -1;
    if (!(float_value >= 0 && float_value < 18446744073709551616.0)) {
      tvl_argument(aTHX_ "%s is a number of bytes, such as 1048576 or 64M, and not '%" SVf "'",
                   name, SVfARG(value));
    }
    return (uint64_t)float_value;
  }
  if (unit != NULL) {
    int shift = 10 * (int)(unit - units + 1);
    if (number > UV_MAX >> shift) {
      tvl_argument(aTHX_ "%s is too large: '%" SVf "'", name, SVfARG(value));
    }
    number <<= shift;
  }
  return number;
}

typedef struct open_options {
  tavola_options table;
  SV *serializer;
  SV *lock_timeout;
  bool is_read_only;
  bool is_private;
  bool has_text_keys;
  bool creates;
  bool must_create;
} open_options;

static uint32_t group_of(pTHX_ SV *group) {
  const struct group *found;
  if (looks_like_number(group)) {
    return (uint32_t)SvUV(group);
  }
  found = getgrnam(SvPV_nolen_const(group));
  if (found == NULL) {
    tvl_argument(aTHX_ "there is no group '%" SVf "'", SVfARG(group));
  }
  return (uint32_t)found->gr_gid;
}

static void read_create(pTHX_ open_options *to, SV *value) {
  to->must_create = SvOK(value) && strEQ(SvPV_nolen_const(value), "new");
  to->creates = cBOOL(SvTRUE(value));
}

/* The option `durable`: `commit`, `os`, or a number of seconds. */
static void read_durable(pTHX_ tavola_options *to, SV *value) {
  if (!SvOK(value)) {
    to->durable = TAVOLA_DURABLE_NONE;
  } else if (looks_like_number(value)) {
    NV seconds = SvNV_nomg(value);
    if (!(seconds > 0 && seconds <= UINT32_MAX / 1000)) {
      tvl_argument(aTHX_ "durable is a number of seconds above 0, at most 49 days, and not '%" SVf
                         "'", SVfARG(value));
    }
    to->durable = TAVOLA_DURABLE_WITHIN;
    to->sync_ms = (uint32_t)Perl_ceil(seconds * 1000);
  } else if (strEQ(SvPV_nolen_const(value), "commit")) {
    to->durable = TAVOLA_DURABLE_COMMIT;
  } else if (strEQ(SvPV_nolen_const(value), "os")) {
    to->durable = TAVOLA_DURABLE_OS;
  } else {
    tvl_argument(aTHX_ "durable is 'commit', 'os', or a number of seconds, and not '%" SVf "'",
                 SVfARG(value));
  }
}

/* Returns the policy of a handle as the option `durable` names it; `undef` if it has none. */
SV *tvl_durability(pTHX_ const tvl_handle *handle) {
  uint32_t ms = 0;
  switch (tavola_durability(handle->table, &ms)) {
    case TAVOLA_DURABLE_COMMIT:
      return newSVpvs("commit");
    case TAVOLA_DURABLE_WITHIN:
      return newSVnv(ms / 1000.0);
    case TAVOLA_DURABLE_OS:
      return newSVpvs("os");
    default:
      return newSV(0);
  }
}

/* Options of the table itself. Returns false if the name is not one of them. */
static bool read_table_option(pTHX_ tavola_options *to, const char *name, SV *value) {
  if (strEQ(name, "capacity")) {
    to->capacity = SvOK(value) ? tvl_size(aTHX_ value, name) : 0;
  } else if (strEQ(name, "max_size")) {
    to->max_size = SvOK(value) ? tvl_size(aTHX_ value, name) : 0;
  } else if (strEQ(name, "ttl")) {
    int64_t ttl_ms = tvl_ttl_ms(aTHX_ value);
    to->ttl_ms = ttl_ms < 0 ? 0 : (uint64_t)ttl_ms;
  } else if (strEQ(name, "mode")) {
    to->mode = (uint32_t)SvUV(value);
  } else if (strEQ(name, "shards")) {
    to->shards = (uint32_t)SvUV(value);
  } else if (strEQ(name, "fixed_key")) {
    to->fixed_key = (uint32_t)SvUV(value);
  } else if (strEQ(name, "fixed_value")) {
    to->fixed_value = (uint32_t)SvUV(value);
  } else if (strEQ(name, "versions")) {
    to->versions = SvTRUE(value);
  } else if (strEQ(name, "background")) {
    to->background = SvTRUE(value);
  } else if (strEQ(name, "core_dumps")) {
    to->core_dumps = SvTRUE(value);
  } else if (strEQ(name, "any_owner")) {
    to->any_owner = SvTRUE(value);
  } else if (strEQ(name, "durable")) {
    read_durable(aTHX_ to, value);
  } else if (strEQ(name, "group")) {
    to->group_id = group_of(aTHX_ value);
  } else {
    return false;
  }
  return true;
}

static void read_options(pTHX_ open_options *to, SV **args, I32 count) {
  I32 i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i < count; i += 2) {
    const char *name = SvPV_nolen_const(args[i]);
    SV *value = args[i + 1];
    SvGETMAGIC(value);
    if (strEQ(name, "serializer")) {
      to->serializer = SvOK(value) ? value : NULL;
    } else if (strEQ(name, "read_only")) {
      to->is_read_only = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "private")) {
      to->is_private = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "utf8_keys")) {
      to->has_text_keys = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "create")) {
      read_create(aTHX_ to, value);
    } else if (strEQ(name, "lock_timeout")) {
      to->lock_timeout = value;
    } else if (!read_table_option(aTHX_ &to->table, name, value)) {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
}

/* Sets the serializer of a handle, of which `open_options` has only a scalar. */
static void set_serializer(pTHX_ tvl_handle *handle, SV *serializer) {
  if (serializer == NULL) {
    return;
  }
  if (sv_isobject(serializer)) {
    HV *stash = SvSTASH(SvRV(serializer));
    if (gv_fetchmethod_autoload(stash, "serialize", 1) == NULL ||
        gv_fetchmethod_autoload(stash, "deserialize", 1) == NULL) {
      tvl_argument(aTHX_ "a serializer has the methods serialize and deserialize");
    }
    handle->uses = TVL_USE_OBJECT;
    handle->serializer = newSVsv(serializer);
    return;
  }
  if (SvROK(serializer) || strNE(SvPV_nolen_const(serializer), "storable")) {
    tvl_argument(aTHX_ "serializer is undef, 'storable', or an object with the methods serialize "
                       "and deserialize");
  }
  load_module(PERL_LOADMOD_NOIMPORT, newSVpvs("Storable"), NULL);
  handle->uses = TVL_USE_STORABLE;
}

static tavola_status open_table(const char *name, const open_options *options,
                                tavola_table **table) {
  if (options->is_private) {
    return tavola_open_private(&options->table, table);
  }
  if (options->is_read_only) {
    return tavola_open_read_only(name, &options->table, table);
  }
  if (options->must_create) {
    return tavola_create(name, &options->table, table);
  }
  return options->creates ? tavola_open(name, &options->table, table)
                          : tavola_open_existing(name, &options->table, table);
}

/* Opens a table and returns its object. */
SV *tvl_open(pTHX_ const char *class_name, SV *name, SV **args, I32 count) {
  open_options options = {.table = TAVOLA_INIT(tavola_options), .creates = true};
  tavola_table *table = NULL;
  tvl_handle *handle;
  SV *made;
  tavola_status status;
  read_options(aTHX_ &options, args, count);
  if (!SvOK(name) && !options.is_private) {
    tvl_argument(aTHX_ "a table needs a name");
  }
  if (options.is_private && options.table.max_size == 0) {
    options.table.max_size = 16 << 20;
  }
  status = open_table(SvOK(name) ? SvPV_nolen_const(name) : "", &options, &table);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = sv_2mortal(tvl_new_table(aTHX_ class_name, table));
  handle = tvl_handle_of(aTHX_ made);
  handle->has_text_keys = options.has_text_keys;
  set_serializer(aTHX_ handle, options.serializer);
  if (options.lock_timeout != NULL) {
    tavola_set_lock_timeout(table, tvl_wait_ms(aTHX_ options.lock_timeout));
  }
  return SvREFCNT_inc_simple_NN(made);
}

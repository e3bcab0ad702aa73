/* Logs, their readers and their drains. */
#include "tvl.h"

#include <string.h>

static void close_log(void *pointer) {
  tavola_log_close((tavola_log *)pointer);
}

static int free_reader(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_log_reader_close((tavola_log_reader *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

static int free_drain(pTHX_ SV *sv, MAGIC *mg) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(sv);
  tavola_log_drain_close((tavola_log_drain *)mg->mg_ptr);
  mg->mg_ptr = NULL;
  return 0;
}

MGVTBL tvl_log_vtbl = {NULL, NULL, NULL, NULL, tvl_common_free, NULL, tvl_common_dup, NULL};
MGVTBL tvl_reader_vtbl = {NULL, NULL, NULL, NULL, free_reader, NULL, tvl_forget_dup, NULL};
MGVTBL tvl_drain_vtbl = {NULL, NULL, NULL, NULL, free_drain, NULL, tvl_forget_dup, NULL};

static int32_t overload_of(pTHX_ SV *name) {
  const char *text = SvPV_nolen_const(name);
  if (strEQ(text, "drop_oldest")) {
    return TAVOLA_OVERLOAD_DROP_OLDEST;
  }
  if (strEQ(text, "drop_newest")) {
    return TAVOLA_OVERLOAD_DROP_NEWEST;
  }
  if (strEQ(text, "block")) {
    return TAVOLA_OVERLOAD_BLOCK;
  }
  tvl_argument(aTHX_ "overload is 'drop_oldest', 'drop_newest' or 'block'");
}

typedef struct log_options {
  tavola_log_options log;
  SV *in;
  bool creates;
  bool is_read_only;
  bool is_shown;
} log_options;

static void read_options(pTHX_ log_options *to, SV **args, I32 count) {
  I32 i;
  if (count % 2 != 0) {
    tvl_argument(aTHX_ "options are pairs of a name and a value");
  }
  for (i = 0; i < count; i += 2) {
    const char *name = SvPV_nolen_const(args[i]);
    SV *value = args[i + 1];
    if (strEQ(name, "bytes")) {
      to->log.bytes = tvl_size(aTHX_ value, name);
    } else if (strEQ(name, "overload")) {
      to->log.overload = overload_of(aTHX_ value);
    } else if (strEQ(name, "mode")) {
      to->log.mode = (uint32_t)SvUV(value);
    } else if (strEQ(name, "any_owner")) {
      to->log.any_owner = SvTRUE(value);
    } else if (strEQ(name, "create")) {
      to->creates = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "read_only")) {
      to->is_read_only = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "stderr")) {
      to->is_shown = cBOOL(SvTRUE(value));
    } else if (strEQ(name, "in")) {
      to->in = value;
    } else {
      tvl_unknown_option(aTHX_ args[i]);
    }
  }
}

/* Opens a log: its name, and pairs of options. */
SV *tvl_log_open(pTHX_ const char *class_name, SV **args, I32 count) {
  log_options options = {.log = TAVOLA_INIT(tavola_log_options), .creates = true,
                         .is_shown = true};
  const char *name = SvPV_nolen_const(args[0]);
  tavola_log *log = NULL;
  tavola_status status;
  read_options(aTHX_ &options, args + 1, count - 1);
  if (options.in != NULL) {
    tavola_table *table = tvl_handle_of(aTHX_ options.in)->table;
    status = options.creates && !options.is_read_only
                 ? tavola_log_open_in(table, name, &options.log, &log)
                 : tavola_log_open_existing_in(table, name, &log);
  } else if (options.is_read_only) {
    status = tavola_log_open_read_only(name, &log);
  } else if (options.creates) {
    status = tavola_log_open(name, &options.log, &log);
  } else {
    status = tavola_log_open_existing(name, &log);
  }
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  tavola_log_show_on_stderr(log, options.is_shown);
  return tvl_new_common(aTHX_ class_name, &tvl_log_vtbl, log, close_log);
}

/* Lines in plain memory, until the library has returned. */
typedef struct lines {
  char *bytes;
  size_t used;
  size_t room;
} lines;

static void free_lines(pTHX_ void *user) {
  lines *all = (lines *)user;
  PERL_UNUSED_CONTEXT;
  free(all->bytes);
  free(all);
}

static void gather_line(void *user, const tavola_line *line) {
  lines *all = (lines *)user;
  size_t len = sizeof *line + line->len;
  if (all->room - all->used < len) {
    size_t room = (all->room + len) * 2;
    char *bytes = realloc(all->bytes, room);
    if (bytes == NULL) {
      return;
    }
    all->bytes = bytes;
    all->room = room;
  }
  memcpy(all->bytes + all->used, line, sizeof *line);
  memcpy(all->bytes + all->used + sizeof *line, line->text, line->len);
  all->used += len;
}

static void put(pTHX_ HV *to, const char *name, SV *value) {
  if (hv_store(to, name, (I32)strlen(name), value, 0) == NULL) {
    SvREFCNT_dec(value);
  }
}

static SV *line_of(pTHX_ const tavola_line *line, const char *text) {
  static const char *const levels[] = {"?", "error", "warn", "info", "debug", "trace"};
  HV *made = newHV();
  int32_t level = line->level >= 1 && line->level <= 5 ? line->level : 0;
  bool is_text = tvl_is_utf8(text, line->len) &&
                 !tvl_is_ascii(text, line->len);
  put(aTHX_ made, "text", newSVpvn_flags(text, line->len, is_text ? SVf_UTF8 : 0));
  put(aTHX_ made, "level", newSVpv(levels[level], 0));
  put(aTHX_ made, "time", newSVnv((NV)line->unix_ns / 1e9));
  put(aTHX_ made, "pid", newSVuv(line->pid));
  put(aTHX_ made, "tid", newSVuv(line->tid));
  put(aTHX_ made, "cut", newSVuv(line->cut));
  return newRV_noinc((SV *)made);
}

/* Returns a new list of the lines that a reader has not returned before. */
AV *tvl_log_lines(pTHX_ tavola_log_reader *reader, bool follows) {
  tavola_status status;
  AV *made;
  size_t at = 0;
  lines *all;
  ENTER;
  all = calloc(1, sizeof *all);
  if (all == NULL) {
    croak("Tavola: no memory for lines");
  }
  SAVEDESTRUCTOR_X(free_lines, all);
  status = follows ? tavola_log_reader_follow(reader, gather_line, all)
                   : tavola_log_reader_lines(reader, gather_line, all);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = newAV();
  while (at < all->used) {
    tavola_line line;
    memcpy(&line, all->bytes + at, sizeof line);
    av_push(made, line_of(aTHX_ &line, all->bytes + at + sizeof line));
    at += sizeof line + line.len;
  }
  LEAVE;
  return made;
}

/* Returns a new hash with the state of a log. */
HV *tvl_log_stats(pTHX_ tavola_log *log) {
  static const char *const overloads[] = {"drop_oldest", "drop_newest", "block"};
  tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
  tavola_status status = tavola_log_get_stats(log, &stats);
  HV *made;
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = newHV();
  put(aTHX_ made, "bytes", newSVuv(stats.bytes));
  put(aTHX_ made, "used_bytes", newSVuv(stats.used_bytes));
  put(aTHX_ made, "pieces", newSVuv(stats.pieces));
  put(aTHX_ made, "pieces_in_hand", newSVuv(stats.pieces_in_hand));
  put(aTHX_ made, "lines", newSVuv(stats.lines));
  put(aTHX_ made, "awaiting", newSVuv(stats.awaiting));
  put(aTHX_ made, "dropped", newSVuv(stats.dropped));
  put(aTHX_ made, "has_drain", newSVsv(boolSV(stats.has_drain)));
  put(aTHX_ made, "overload",
      newSVpv(stats.overload >= 0 && stats.overload <= 2 ? overloads[stats.overload] : "?", 0));
  return made;
}

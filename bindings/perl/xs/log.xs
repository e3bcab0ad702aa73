MODULE = Tavola    PACKAGE = Tavola::Log

SV *
open(const char *class_name, SV *name, ...)
  CODE:
    PERL_UNUSED_VAR(name);
    RETVAL = tvl_log_open(aTHX_ class_name, &ST(1), (I32)items - 1);
  OUTPUT:
    RETVAL

void
error(SV *self, ...)
  ALIAS:
    warn = TAVOLA_LEVEL_WARN
    info = TAVOLA_LEVEL_INFO
    debug = TAVOLA_LEVEL_DEBUG
    trace = TAVOLA_LEVEL_TRACE
  PREINIT:
    tavola_log *log;
    SV *line;
    const char *text;
    STRLEN len;
    int32_t level = ix == 0 ? TAVOLA_LEVEL_ERROR : (int32_t)ix;
    I32 i;
  CODE:
    log = tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log");
    if (tavola_log_is_on(log, level)) {
      line = items == 2 ? ST(1) : newSVpvn_flags("", 0, SVs_TEMP);
      for (i = 1; i < items && items != 2; i++) {
        sv_catsv(line, ST(i));
      }
      text = SvPV_const(line, len);
      while (len > 0 && text[len - 1] == '\n') {
        len--;
      }
      checked(aTHX_ tavola_log_line(log, level, text, len));
    }

void
set_level(SV *self, const char *name)
  PREINIT:
    static const char *const names[] = {"none", "error", "warn", "info", "debug", "trace"};
    tavola_log *log;
    int32_t level = 0;
  CODE:
    log = tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log");
    while (level < 6 && strNE(names[level], name)) {
      level++;
    }
    if (level == 6) {
      tvl_argument(aTHX_ "a level is none, error, warn, info, debug or trace, and not '%s'", name);
    }
    checked(aTHX_ tavola_log_set_level(log, level));

SV *
stats(SV *self)
  CODE:
    RETVAL = newRV_noinc((SV *)tvl_log_stats(
        aTHX_ tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log")));
  OUTPUT:
    RETVAL

void
path(SV *self)
  PREINIT:
    const char *path;
  PPCODE:
    path = tavola_log_path(tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log"));
    mXPUSHp(path, strlen(path));

SV *
reader(SV *self)
  PREINIT:
    tavola_log_reader *reader = NULL;
  CODE:
    checked(aTHX_ tavola_log_reader_open(
                tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log"), &reader));
    RETVAL = tvl_new(aTHX_ "Tavola::LogReader", &tvl_reader_vtbl, reader);
  OUTPUT:
    RETVAL

SV *
drain(SV *self)
  PREINIT:
    tavola_log_drain *drain = NULL;
  CODE:
    checked(aTHX_ tavola_log_drain_open(
                tvl_common_pointer(aTHX_ self, &tvl_log_vtbl, "Tavola::Log"), &drain));
    RETVAL = tvl_new(aTHX_ "Tavola::LogDrain", &tvl_drain_vtbl, drain);
  OUTPUT:
    RETVAL

void
close(SV *self)
  PREINIT:
    tvl_common *common;
  CODE:
    common = tvl_take_pointer(aTHX_ self, &tvl_log_vtbl);
    if (common != NULL) {
      tvl_common_drop(common);
    }

MODULE = Tavola    PACKAGE = Tavola::LogReader

void
lines(SV *self)
  ALIAS:
    follow = 1
  PREINIT:
    AV *lines;
    SSize_t i;
  PPCODE:
    lines = tvl_log_lines(aTHX_ tvl_pointer(aTHX_ self, &tvl_reader_vtbl, "Tavola::LogReader"),
                          ix == 1);
    sv_2mortal((SV *)lines);
    for (i = 0; i <= av_len(lines); i++) {
      XPUSHs(sv_mortalcopy(*av_fetch(lines, i, 0)));
    }

void
skip(SV *self)
  CODE:
    checked(aTHX_ tavola_log_reader_skip(
                tvl_pointer(aTHX_ self, &tvl_reader_vtbl, "Tavola::LogReader")));

UV
missed(SV *self)
  CODE:
    RETVAL = (UV)tavola_log_reader_missed(
        tvl_pointer(aTHX_ self, &tvl_reader_vtbl, "Tavola::LogReader"));
  OUTPUT:
    RETVAL

MODULE = Tavola    PACKAGE = Tavola::LogDrain

UV
pass(SV *self, PerlIO *to)
  ALIAS:
    finish = 1
  PREINIT:
    tavola_log_drain *drain;
    size_t lines = 0;
  CODE:
    drain = tvl_pointer(aTHX_ self, &tvl_drain_vtbl, "Tavola::LogDrain");
    PerlIO_flush(to);
    checked(aTHX_ ix == 0 ? tavola_log_drain_pass_fd(drain, PerlIO_fileno(to), &lines)
                          : tavola_log_drain_finish_fd(drain, PerlIO_fileno(to), &lines));
    RETVAL = lines;
  OUTPUT:
    RETVAL

void
wait(SV *self, SV *timeout = &PL_sv_undef)
  CODE:
    checked(aTHX_ tavola_log_drain_wait(
                tvl_pointer(aTHX_ self, &tvl_drain_vtbl, "Tavola::LogDrain"),
                tvl_wait_ms(aTHX_ timeout)));

void
close(SV *self)
  CODE:
    tavola_log_drain_close(
        (tavola_log_drain *)tvl_take_pointer(aTHX_ self, &tvl_drain_vtbl));

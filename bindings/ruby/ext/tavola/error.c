// Errors: a class for each status that a caller can act on, with the library's sentence.

#include "tavola_ruby.h"

VALUE tvl_error, tvl_closed_error;

static VALUE not_computed;
static ID id_status;

static struct {
  tavola_status status;
  const char *name;
  VALUE error;
} classes[] = {
    {TAVOLA_ERR_ARGUMENT, "InvalidArgumentError", 0},
    {TAVOLA_ERR_NO_TABLE, "NoTableError", 0},
    {TAVOLA_ERR_TABLE_EXISTS, "TableExistsError", 0},
    {TAVOLA_ERR_FULL, "FullError", 0},
    {TAVOLA_ERR_CORRUPT, "CorruptError", 0},
    {TAVOLA_ERR_NOT_A_TABLE, "NotATableError", 0},
    {TAVOLA_ERR_VERSION, "VersionError", 0},
    {TAVOLA_ERR_ENDIANNESS, "EndiannessError", 0},
    {TAVOLA_ERR_PERMISSION, "PermissionError", 0},
    {TAVOLA_ERR_READ_ONLY, "ReadOnlyError", 0},
    {TAVOLA_ERR_BAD_NAME, "BadNameError", 0},
    {TAVOLA_ERR_BAD_OPTION, "BadOptionError", 0},
    {TAVOLA_ERR_TOO_MANY_PARTICIPANTS, "TooManyParticipantsError", 0},
    {TAVOLA_ERR_TOO_LARGE, "TooLargeError", 0},
    {TAVOLA_ERR_LENGTHS, "LengthsError", 0},
    {TAVOLA_ERR_NO_UIDS, "NoUidsError", 0},
    {TAVOLA_ERR_NO_OBJECT, "NoObjectError", 0},
    {TAVOLA_ERR_OBJECT_EXISTS, "ObjectExistsError", 0},
    {TAVOLA_ERR_NOT_HELD, "NotHeldError", 0},
    {TAVOLA_ERR_NOT_A_COUNTER, "NotACounterError", 0},
    {TAVOLA_ERR_REENTRANT, "ReentrantError", 0},
    {TAVOLA_ERR_IO, "SystemError", 0},
    {TAVOLA_ERR_ALREADY_DRAINED, "AlreadyDrainedError", 0},
    {TAVOLA_ERR_SINK, "SinkError", 0},
    {TAVOLA_ERR_COMPUTE, "NotComputedError", 0},
    {TAVOLA_ERR_BUSY, "BusyError", 0},
    {TAVOLA_ERR_TOO_MANY_CHANGES, "TooManyChangesError", 0},
    {TAVOLA_ERR_NOT_DURABLE, "NotDurableError", 0},
    {TAVOLA_ERR_KEY_TOO_LONG, "KeyTooLongError", 0},
    {TAVOLA_ERR_DAMAGED_JOURNAL, "DamagedJournalError", 0},
    {TAVOLA_ERR_IN_USE_ELSEWHERE, "InUseElsewhereError", 0},
    {TAVOLA_CONFLICT, "ConflictError", 0},
};

#define CLASS_COUNT (sizeof classes / sizeof classes[0])

static VALUE class_of(tavola_status status) {
  for (size_t i = 0; i < CLASS_COUNT; i++) {
    if (classes[i].status == status) return classes[i].error;
  }
  return tvl_error;
}

// `TAVOLA_ERR_FULL` is the symbol :FULL, and `TAVOLA_CONFLICT` is :CONFLICT.
static VALUE symbol_of(tavola_status status) {
  static const char *const prefixes[] = {"TAVOLA_ERR_", "TAVOLA_"};
  const char *name = tavola_status_name(status);
  for (size_t i = 0; i < 2; i++) {
    size_t len = strlen(prefixes[i]);
    if (strncmp(name, prefixes[i], len) == 0) name += len;
  }
  return ID2SYM(rb_intern(name));
}

static VALUE error_with(VALUE class, tavola_status status, VALUE message) {
  VALUE error = rb_exc_new_str(class, message);
  rb_ivar_set(error, id_status, symbol_of(status));
  return error;
}

void tvl_raise(tavola_status status) {
  VALUE message = rb_utf8_str_new_cstr(tavola_last_error());
  rb_exc_raise(error_with(class_of(status), status, message));
}

void tvl_raise_closed(const char *what) {
  rb_raise(tvl_closed_error, "the %s is closed; open it again", what);
}

void tvl_raise_not_computed(VALUE text) {
  rb_exc_raise(error_with(not_computed, TAVOLA_ERR_COMPUTE, text));
}

// A conflict is an answer of the library and no error of it, so it has no sentence there.
void tvl_raise_conflict(void) {
  static const char text[] =
      "another process has changed a key that the transaction has read; begin it again";
  rb_exc_raise(error_with(class_of(TAVOLA_CONFLICT), TAVOLA_CONFLICT, rb_utf8_str_new_cstr(text)));
}

void tvl_init_errors(void) {
  id_status = rb_intern("@status");
  tvl_error = rb_define_class_under(tvl_module, "Error", rb_eStandardError);
  rb_define_attr(tvl_error, "status", 1, 0);
  for (size_t i = 0; i < CLASS_COUNT; i++) {
    classes[i].error = rb_define_class_under(tvl_module, classes[i].name, tvl_error);
    rb_gc_register_mark_object(classes[i].error);
  }
  tvl_closed_error = rb_define_class_under(tvl_module, "ClosedError", tvl_error);
  not_computed = class_of(TAVOLA_ERR_COMPUTE);
  rb_gc_register_mark_object(tvl_error);
  rb_gc_register_mark_object(tvl_closed_error);
}

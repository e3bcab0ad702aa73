/* Logs in shared memory. */

#include "php_tavola.h"
#include "lists.h"

#include "zend_exceptions.h"

typedef struct {
	tavola_log *log;
	/* Opened by the first call that needs it. */
	tavola_log_reader *reader;
	tavola_log_drain *drain;
	zend_object std;
} tavola_php_log;

static zend_object_handlers handlers;

#define THIS_LOG() \
	tavola_php_log *self = TAVOLA_OBJECT(tavola_php_log, Z_OBJ_P(ZEND_THIS)); \
	if (self->log == NULL) { \
		tavola_throw_closed(); \
		RETURN_THROWS(); \
	}

static void free_log(zend_object *object)
{
	tavola_php_log *self = TAVOLA_OBJECT(tavola_php_log, object);
	tavola_log_drain_close(self->drain);
	tavola_log_reader_close(self->reader);
	tavola_log_close(self->log);
	zend_object_std_dtor(object);
}

/* {{{ Opening */

static bool read_overload(tavola_reader *reader, int32_t *overload)
{
	zend_string *name = tavola_read_text(reader, "overload");
	if (name == NULL) {
		return EG(exception) == NULL;
	}
	if (zend_string_equals_literal(name, "drop_oldest")) {
		*overload = TAVOLA_OVERLOAD_DROP_OLDEST;
	} else if (zend_string_equals_literal(name, "drop_newest")) {
		*overload = TAVOLA_OVERLOAD_DROP_NEWEST;
	} else if (zend_string_equals_literal(name, "block")) {
		*overload = TAVOLA_OVERLOAD_BLOCK;
	} else {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"the option 'overload' must be 'drop_oldest', 'drop_newest' or 'block'");
		return false;
	}
	return true;
}

static bool read_options(HashTable *given, tavola_log_options *options)
{
	tavola_reader reader = {given, 0};
	uint64_t mode = (uint64_t)TAVOLA_G(mode);
	bool is_read = tavola_read_size(&reader, "bytes", &options->bytes)
		&& tavola_read_number(&reader, "mode", 07777, &mode)
		&& tavola_read_flag(&reader, "any_owner", &options->any_owner)
		&& read_overload(&reader, &options->overload)
		&& tavola_read_all(&reader);
	options->mode = (uint32_t)mode;
	return is_read;
}

static void open_into(zval *object, tavola_how how, const char *name, HashTable *given)
{
	tavola_php_log *self = TAVOLA_OBJECT(tavola_php_log, Z_OBJ_P(object));
	tavola_log_options options = TAVOLA_INIT(tavola_log_options);
	if (self->log != NULL) {
		zend_throw_error(NULL, "the log is open already");
		return;
	}
	if (!read_options(given, &options)) {
		return;
	}
	switch (how) {
		case TAVOLA_CREATE:
			tavola_did(tavola_log_create(name, &options, &self->log));
			return;
		case TAVOLA_EXISTING:
			tavola_did(tavola_log_open_existing(name, &self->log));
			return;
		case TAVOLA_READ_ONLY:
			tavola_did(tavola_log_open_read_only(name, &self->log));
			return;
		default:
			tavola_did(tavola_log_open(name, &options, &self->log));
	}
}

TAVOLA_CONSTRUCTOR(Tavola_Log)
TAVOLA_OPENER(Tavola_Log, open, tavola_log_ce, TAVOLA_OPEN, 2)
TAVOLA_OPENER(Tavola_Log, create, tavola_log_ce, TAVOLA_CREATE, 2)
TAVOLA_OPENER(Tavola_Log, openExisting, tavola_log_ce, TAVOLA_EXISTING, 1)
TAVOLA_OPENER(Tavola_Log, readOnly, tavola_log_ce, TAVOLA_READ_ONLY, 1)

/* }}} */

/* {{{ Writing */

ZEND_METHOD(Tavola_Log, line)
{
	zend_long level;
	zend_string *text;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_LONG(level)
		Z_PARAM_STR(text)
	ZEND_PARSE_PARAMETERS_END();
	THIS_LOG();
	if (level < TAVOLA_LEVEL_ERROR || level > TAVOLA_LEVEL_TRACE) {
		zend_argument_value_error(1, "must be a level from Tavola\\Log::ERROR to TRACE");
		RETURN_THROWS();
	}
	tavola_did(tavola_log_line(self->log, (int32_t)level, ZSTR_VAL(text), ZSTR_LEN(text)));
}

static void write_line(INTERNAL_FUNCTION_PARAMETERS, tavola_level level)
{
	zend_string *text;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(text)
	ZEND_PARSE_PARAMETERS_END();
	(void)return_value;
	THIS_LOG();
	tavola_did(tavola_log_line(self->log, level, ZSTR_VAL(text), ZSTR_LEN(text)));
}

ZEND_METHOD(Tavola_Log, error)
{
	write_line(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_LEVEL_ERROR);
}

ZEND_METHOD(Tavola_Log, warn)
{
	write_line(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_LEVEL_WARN);
}

ZEND_METHOD(Tavola_Log, info)
{
	write_line(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_LEVEL_INFO);
}

ZEND_METHOD(Tavola_Log, debug)
{
	write_line(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_LEVEL_DEBUG);
}

ZEND_METHOD(Tavola_Log, trace)
{
	write_line(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_LEVEL_TRACE);
}

ZEND_METHOD(Tavola_Log, showOnStderr)
{
	bool shown;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_BOOL(shown)
	ZEND_PARSE_PARAMETERS_END();
	THIS_LOG();
	tavola_did(tavola_log_show_on_stderr(self->log, shown));
}

/* }}} */

/* {{{ Reading */

/* Appends a line to `user`: its struct, then its text. */
static void add_line(void *user, const tavola_line *line)
{
	tavola_texts *lines = user;
	size_t before = lines->len;
	if (!tavola_add_bytes(lines, line, sizeof(*line))
			|| !tavola_add_bytes(lines, line->text, line->len)) {
		lines->len = before;
	}
}

static void put_line(zval *row, const tavola_line *line, const char *text)
{
	array_init(row);
	add_assoc_stringl(row, "text", text, line->len);
	add_assoc_long(row, "level", line->level);
	add_assoc_double(row, "time", (double)line->unix_ns / 1e9);
	add_assoc_long(row, "pid", line->pid);
	add_assoc_long(row, "tid", line->tid);
	add_assoc_long(row, "cut", line->cut);
}

static bool need_reader(tavola_php_log *self)
{
	return self->reader || tavola_did(tavola_log_reader_open(self->log, &self->reader));
}

ZEND_METHOD(Tavola_Log, lines)
{
	tavola_texts lines = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_LOG();
	if (!need_reader(self)
			|| !tavola_did(tavola_log_reader_lines(self->reader, add_line, &lines))) {
		free(lines.bytes);
		RETURN_THROWS();
	}
	array_init(return_value);
	for (size_t at = 0; at < lines.len;) {
		tavola_line line;
		zval row;
		memcpy(&line, lines.bytes + at, sizeof(line));
		put_line(&row, &line, lines.bytes + at + sizeof(line));
		add_next_index_zval(return_value, &row);
		at += sizeof(line) + line.len;
	}
	free(lines.bytes);
}

ZEND_METHOD(Tavola_Log, skip)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_LOG();
	if (need_reader(self)) {
		tavola_did(tavola_log_reader_skip(self->reader));
	}
}

/* }}} */

/* {{{ Draining */

static bool need_drain(tavola_php_log *self)
{
	return self->drain || tavola_did(tavola_log_drain_open(self->log, &self->drain));
}

static void drain_to_stream(INTERNAL_FUNCTION_PARAMETERS, bool is_last)
{
	zval *resource;
	php_stream *stream;
	int fd;
	size_t lines = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_RESOURCE(resource)
	ZEND_PARSE_PARAMETERS_END();
	THIS_LOG();
	php_stream_from_zval(stream, resource);
	php_stream_flush(stream);
	if (php_stream_cast(stream, PHP_STREAM_AS_FD, (void **)&fd, 0) == FAILURE) {
		zend_argument_value_error(1, "must be a stream with a descriptor, such as a file");
		RETURN_THROWS();
	}
	if (need_drain(self) && tavola_did(is_last
			? tavola_log_drain_finish_fd(self->drain, fd, &lines)
			: tavola_log_drain_pass_fd(self->drain, fd, &lines))) {
		RETURN_LONG((zend_long)lines);
	}
}

ZEND_METHOD(Tavola_Log, drain)
{
	drain_to_stream(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Log, finish)
{
	drain_to_stream(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

/* What the sink of `drainTo` needs. */
typedef struct {
	zend_fcall_info call;
	zend_fcall_info_cache cache;
	bool has_bailed_out;
} taking;

/* Passes a line to the function of the caller. PHP may end the script by a longjmp in here, which
 * must not leave the library. */
static int take_line(void *user, const tavola_line *line)
{
	taking *with = user;
	zval row, result;
	volatile bool is_taken = false;
	if (with->has_bailed_out || EG(exception)) {
		return ECANCELED;
	}
	zend_try {
		put_line(&row, line, line->text);
		ZVAL_UNDEF(&result);
		with->call.retval = &result;
		with->call.params = &row;
		with->call.param_count = 1;
		is_taken = zend_call_function(&with->call, &with->cache) == SUCCESS && !EG(exception);
		zval_ptr_dtor(&result);
		zval_ptr_dtor(&row);
	} zend_catch {
		with->has_bailed_out = true;
	} zend_end_try();
	return is_taken ? 0 : ECANCELED;
}

ZEND_METHOD(Tavola_Log, drainTo)
{
	taking with = {.has_bailed_out = false};
	size_t lines = 0;
	tavola_log_sink sink = TAVOLA_INIT(tavola_log_sink);
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_FUNC(with.call, with.cache)
	ZEND_PARSE_PARAMETERS_END();
	THIS_LOG();
	sink.user = &with;
	sink.line = take_line;
	if (!need_drain(self)) {
		RETURN_THROWS();
	}
	tavola_status status = tavola_log_drain_finish(self->drain, &sink, &lines);
	if (with.has_bailed_out) {
		zend_bailout();
	}
	/* After an exception of the function, the lines come again. */
	if (!EG(exception) && tavola_did(status)) {
		RETURN_LONG((zend_long)lines);
	}
}

ZEND_METHOD(Tavola_Log, endDrain)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_LOG();
	tavola_log_drain_close(self->drain);
	self->drain = NULL;
}

/* }}} */

ZEND_METHOD(Tavola_Log, stats)
{
	static const char *const overloads[] = {"drop_oldest", "drop_newest", "block"};
	tavola_log_stats stats = TAVOLA_INIT(tavola_log_stats);
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_LOG();
	if (!tavola_did(tavola_log_get_stats(self->log, &stats))) {
		RETURN_THROWS();
	}
	array_init(return_value);
	add_assoc_long(return_value, "bytes", (zend_long)stats.bytes);
	add_assoc_long(return_value, "used_bytes", (zend_long)stats.used_bytes);
	add_assoc_long(return_value, "pieces", stats.pieces);
	add_assoc_long(return_value, "pieces_in_hand", stats.pieces_in_hand);
	add_assoc_long(return_value, "lines", (zend_long)stats.lines);
	add_assoc_long(return_value, "awaiting", (zend_long)stats.awaiting);
	add_assoc_long(return_value, "dropped", (zend_long)stats.dropped);
	add_assoc_bool(return_value, "has_drain", stats.has_drain != 0);
	if (stats.overload >= 0 && stats.overload <= TAVOLA_OVERLOAD_BLOCK) {
		add_assoc_string(return_value, "overload", overloads[stats.overload]);
	}
}

ZEND_METHOD(Tavola_Log, path)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_LOG();
	RETURN_STRING(tavola_log_path(self->log));
}

TAVOLA_NEW_OBJECT(tavola_php_log, new_log, &handlers)

void tavola_init_log(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_log, std);
	handlers.free_obj = free_log;
	handlers.clone_obj = NULL;
	tavola_log_ce->create_object = new_log;
}

/* Opening tables, and what concerns a table as a whole. */

#include "php_tavola.h"

#include "zend_exceptions.h"

static zend_object_handlers handlers;

static void free_table(zend_object *object)
{
	tavola_release(TAVOLA_OBJECT(tavola_php_table, object)->handle);
	zend_object_std_dtor(object);
}

ZEND_COLD void tavola_throw_closed(void)
{
	zend_throw_error(NULL, "the object is not open, because its constructor did not run");
}

/* {{{ Opening */

/* Opens a table into an object that is new. */
static void open_into(zval *object, tavola_how how, const char *name, HashTable *given)
{
	tavola_php_table *table = TAVOLA_OBJECT(tavola_php_table, Z_OBJ_P(object));
	tavola_options options = TAVOLA_INIT(tavola_options);
	double lock_timeout = -1;
	if (table->handle != NULL) {
		zend_throw_error(NULL, "the table is open already");
		return;
	}
	if (!tavola_read_options(given, &options, &table->serializer, &lock_timeout)) {
		return;
	}
	if (how == TAVOLA_PRIVATE && options.max_size == 0) {
		/* All of it is allocated at once, so the library's default would be too much. */
		options.max_size = options.capacity ? 2 * options.capacity : 64 << 20;
	}
	table->is_private = how == TAVOLA_PRIVATE;
	table->is_read_only = how == TAVOLA_READ_ONLY;
	table->handle = tavola_acquire(how, name, &options);
	if (table->handle && lock_timeout >= 0) {
		tavola_did(tavola_set_lock_timeout(
			table->handle->table, (uint64_t)ceil(lock_timeout * 1000)));
	}
}

TAVOLA_CONSTRUCTOR(Tavola_Table)
TAVOLA_OPENER(Tavola_Table, open, tavola_table_ce, TAVOLA_OPEN, 2)
TAVOLA_OPENER(Tavola_Table, create, tavola_table_ce, TAVOLA_CREATE, 2)
TAVOLA_OPENER(Tavola_Table, openExisting, tavola_table_ce, TAVOLA_EXISTING, 2)
TAVOLA_OPENER(Tavola_Table, readOnly, tavola_table_ce, TAVOLA_READ_ONLY, 2)

ZEND_METHOD(Tavola_Table, private)
{
	HashTable *options = (HashTable *)&zend_empty_array;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT(options)
	ZEND_PARSE_PARAMETERS_END();
	object_init_ex(return_value, tavola_table_ce);
	open_into(return_value, TAVOLA_PRIVATE, NULL, options);
}

/* Opens the file that has the name now, if it is another one. */
ZEND_METHOD(Tavola_Table, refresh)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (self->is_private || !tavola_has_moved(self->handle)) {
		RETURN_FALSE;
	}
	tavola_options options = TAVOLA_INIT(tavola_options);
	char *path = estrdup(tavola_path(self->handle->table));
	tavola_how how = self->is_read_only ? TAVOLA_READ_ONLY : TAVOLA_EXISTING;
	tavola_handle *now = tavola_acquire(how, path, &options);
	efree(path);
	if (now == NULL) {
		RETURN_THROWS();
	}
	tavola_release(self->handle);
	self->handle = now;
	RETURN_TRUE;
}

/* }}} */

/* {{{ The table as an array */

ZEND_METHOD(Tavola_Table, offsetGet)
{
	zend_string *key;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	tavola_answered(tavola_read_value(self, key, return_value, &has, NULL));
}

ZEND_METHOD(Tavola_Table, offsetExists)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(
		tavola_contains(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key))));
}

ZEND_METHOD(Tavola_Table, offsetSet)
{
	zend_string *key;
	zval *value;
	tavola_encoded encoded;
	tavola_writing how = {.condition = TAVOLA_CONDITION_ALWAYS};
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR_OR_NULL(key)
		Z_PARAM_ZVAL(value)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (key == NULL) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a table has no next key; write $table['name'] = ... with a key");
		RETURN_THROWS();
	}
	if (tavola_encode_for(self, &encoded, value)) {
		tavola_did(tavola_write_encoded(self, key, &encoded, &how));
		tavola_encoded_free(&encoded);
	}
}

ZEND_METHOD(Tavola_Table, offsetUnset)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	tavola_answered(tavola_remove(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key)));
}

ZEND_METHOD(Tavola_Table, count)
{
	uint64_t keys = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_len(self->handle->table, &keys))) {
		RETURN_LONG((zend_long)keys);
	}
}

/* }}} */

ZEND_METHOD(Tavola_Table, clear)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_did(tavola_clear(self->handle->table)));
}

ZEND_METHOD(Tavola_Table, deletePrefix)
{
	zend_string *prefix;
	uint64_t removed = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_remove_prefix(
			self->handle->table, ZSTR_VAL(prefix), ZSTR_LEN(prefix), &removed))) {
		RETURN_LONG((zend_long)removed);
	}
}

/* An argument `int|string` of a size. */
static bool size_argument(zend_execute_data *execute_data, uint64_t *bytes)
{
	zend_string *text = NULL;
	zend_long number = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR_OR_LONG(text, number)
	ZEND_PARSE_PARAMETERS_END_EX(return false);
	return tavola_size_of(text, number, "bytes", bytes);
}

ZEND_METHOD(Tavola_Table, setCapacity)
{
	uint64_t bytes;
	if (!size_argument(execute_data, &bytes)) {
		RETURN_THROWS();
	}
	TAVOLA_THIS_TABLE();
	tavola_did(tavola_set_capacity(self->handle->table, bytes));
}

ZEND_METHOD(Tavola_Table, setMaxSize)
{
	uint64_t bytes;
	if (!size_argument(execute_data, &bytes)) {
		RETURN_THROWS();
	}
	TAVOLA_THIS_TABLE();
	tavola_did(tavola_set_max_size(self->handle->table, bytes));
}

ZEND_METHOD(Tavola_Table, setLockTimeout)
{
	zval *seconds;
	uint64_t limit_ms = UINT64_MAX;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_NUMBER_OR_NULL(seconds)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (seconds && !tavola_duration_ms(seconds, "the time limit", &limit_ms)) {
		RETURN_THROWS();
	}
	tavola_did(tavola_set_lock_timeout(self->handle->table, limit_ms));
}

ZEND_METHOD(Tavola_Table, compact)
{
	uint64_t given_back = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_compact(self->handle->table, &given_back))) {
		RETURN_LONG((zend_long)given_back);
	}
}

ZEND_METHOD(Tavola_Table, removeExpired)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	tavola_did(tavola_remove_expired(self->handle->table));
}

ZEND_METHOD(Tavola_Table, reclaim)
{
	uint32_t freed = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_reclaim(self->handle->table, &freed))) {
		RETURN_LONG(freed);
	}
}

ZEND_METHOD(Tavola_Table, sync)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	tavola_did(tavola_sync(self->handle->table));
}

ZEND_METHOD(Tavola_Table, snapshot)
{
	uint32_t made = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_snapshot(self->handle->table, &made))) {
		RETURN_BOOL(made != 0);
	}
}

ZEND_METHOD(Tavola_Table, isDurable)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_is_durable(self->handle->table));
}

ZEND_METHOD(Tavola_Table, durability)
{
	uint32_t ms = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	switch (tavola_durability(self->handle->table, &ms)) {
		case TAVOLA_DURABLE_COMMIT:
			RETURN_STRING("commit");
		case TAVOLA_DURABLE_WITHIN:
			RETURN_DOUBLE(ms / 1000.0);
		case TAVOLA_DURABLE_OS:
			RETURN_STRING("os");
		default:
			RETURN_NULL();
	}
}

ZEND_METHOD(Tavola_Table, copyTo)
{
	zend_string *name;
	uint64_t keys = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_PATH_STR(name)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (strchr(ZSTR_VAL(name), '/') != NULL && php_check_open_basedir(ZSTR_VAL(name))) {
		tavola_throw_text(TAVOLA_ERR_PERMISSION,
			"%s is outside of open_basedir; use a path inside of it", ZSTR_VAL(name));
		RETURN_THROWS();
	}
	if (tavola_did(tavola_copy_to(self->handle->table, ZSTR_VAL(name), &keys))) {
		RETURN_LONG((zend_long)keys);
	}
}

ZEND_METHOD(Tavola_Table, path)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	RETURN_STRING(tavola_path(self->handle->table));
}

ZEND_METHOD(Tavola_Table, isReadOnly)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_is_read_only(self->handle->table));
}

TAVOLA_NEW_OBJECT(tavola_php_table, new_table, &handlers)

void tavola_init_table(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_table, std);
	handlers.free_obj = free_table;
	handlers.clone_obj = NULL;
	tavola_table_ce->create_object = new_table;
}
